"""The commands `simplipy mine` and `simplipy verify`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from simplipy.cli.terminal import AsJson, console
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_parent, write_whole

if TYPE_CHECKING:
    from simplipy.mining.discovery import Mined

_VERIFY_SEED = 7_654_321

Threads = Annotated[int | None, typer.Option(min=1, help="Threads and processes; the result does not depend on it.")]


def mine(
    out: Annotated[Path, typer.Option(help="JSON file of the rules; its provenance is written beside it.")],
    max_length: Annotated[int, typer.Option(help="Tokens of the longest pattern.")] = 4,
    max_replacement: Annotated[int, typer.Option(help="Tokens of the longest replacement.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the points on which terms are compared.")] = 0,
    variables: Annotated[int, typer.Option(help="Metavariables of a pattern at most.")] = 4,
    constants: Annotated[int, typer.Option(help="Free constants of a pattern at most.")] = 2,
    literals: Annotated[bool, typer.Option(help="Patterns with 0, 1, -1, pi, e, inf, -inf and nan.")] = True,
    operators: Annotated[str | None, typer.Option(help="Tokens with spaces between them; all by default.")] = None,
    method: Annotated[
        Literal["join", "paper"], typer.Option(help="By joins on values, or the published search by fits.")
    ] = "join",
    resume: Annotated[bool, typer.Option("--resume", help="Take up the shards of an earlier run.")] = False,
    threads: Threads = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the search ends at half of them.")] = None,
    memory: Annotated[float, typer.Option(help="Gigabytes that terms may take; the run ends before more.")] = 4.0,
    rule_file: Annotated[Path | None, typer.Option(help="Also write the rules as the text the engine loads.")] = None,
    hand: Annotated[Path | None, typer.Option(help="Hand-written rules to add to --rule-file.")] = None,
) -> None:
    """Discover the rules of the simplifier: all that shorten, up to a length.

    Example: simplipy mine --max-length 4 --out rules.json
    """
    from simplipy.cli.mining_bar import MiningBar
    from simplipy.expression.operators import DEFAULT_OPERATORS
    from simplipy.mining.config import MineConfig
    from simplipy.mining.discovery import Discovery
    from simplipy.mining.rule_file import engine_text, read_rules
    from simplipy.paper.mining_method import mine_by_fits

    if method == "paper" and resume:
        raise SimplipyError("--resume needs --method join: the paper's method keeps no shards")
    if out.is_dir():
        raise SimplipyError(f"--out must be a file, got the folder {out}")
    config = MineConfig(
        max_length=max_length,
        max_replacement=max_replacement,
        n_variables=variables,
        n_constants=constants,
        literals=literals,
        operators=DEFAULT_OPERATORS if operators is None else tuple(operators.split()),
        seed=seed,
    )
    for path in (out, rule_file):
        if path is not None:
            make_parent(path)
    n_threads = threads or os.cpu_count() or 1
    hand_rules = read_rules(hand) if hand else []
    with MiningBar() as bar:
        if method == "paper":
            mined = mine_by_fits(config, time_limit, bar.show)
        else:
            folder = out.with_name(f"{out.stem}.shards")
            mined = Discovery(config, folder, resume, n_threads, time_limit, int(memory * 1e9), bar.show).run()
    write_whole(out, mined.text())
    # the command line, without the folder of the program, which differs from machine to machine
    provenance = mined.provenance(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))
    write_whole(out.with_name(f"{out.stem}.provenance.json"), json.dumps(provenance, indent=1) + "\n")
    if rule_file is not None:
        write_whole(rule_file, engine_text(mined.rules, hand_rules))
    _show(mined)
    print(f"{len(mined.rules)} rules written to {out}")
    if mined.stopped:
        goes_on = "" if method == "paper" else "; the same command with --resume goes on"
        print(f"stopped early: {mined.stopped}{goes_on}", file=sys.stderr)


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rules: JSON of `simplipy mine`, or a rule file.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the points; another one than mining had.")] = _VERIFY_SEED,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Check every rule of a file on fresh points and in multiprecision: exit code 0 if all hold, 1 if not.

    Example: simplipy verify rules.json
    """
    from rich.console import Console
    from rich.progress import Progress

    from simplipy.mining.rule_file import read_rules
    from simplipy.mining.verifier import Verifier

    rules = read_rules(file)
    with (
        Verifier(threads or os.cpu_count() or 1, seed) as run,
        Progress(console=Console(stderr=True), transient=True) as bar,
    ):
        task = bar.add_task("rules verified", total=len(rules))
        found = run(rules, lambda n: bar.advance(task, n))
    findings = [finding for finding in found if finding is not None]
    if len(findings) < len(rules):
        raise SimplipyError(f"{run.stopped} after {len(findings)} of {len(rules)} rules; no verdict")
    counts: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    seen: set[tuple[object, ...]] = set()
    for rule, finding in zip(rules, findings, strict=True):
        reason = finding.reason
        if finding.holds and finding.extends and not rule.extends:
            reason = "the replacement is defined in more places, and [extends] is missing"
        elif finding.holds and (rule.pattern, rule.conditions) in seen:
            reason = "an earlier rule has the same pattern and conditions"
        seen.add((rule.pattern, rule.conditions))
        counts["rejected" if reason else rule.kind] += 1
        failures += [{"rule": rule.line(), "reason": reason, "at": finding.counterexample}] if reason else []
    if as_json:
        print(json.dumps({"n_rules": len(rules), "counts": counts, "failures": failures}, ensure_ascii=False))
    else:
        for failure in failures:
            where = ", ".join(f"{k} = {v}" for k, v in (failure["at"] or {}).items())
            print(f"rejected: {failure['rule']}\n  {failure['reason']}" + (f" at {where}" if where else ""))
        listed = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
        print(f"{len(rules) - len(failures)} of {len(rules)} rules hold ({listed}), seed {seed}")
    if failures:
        raise typer.Exit(1)


def _show(mined: Mined) -> None:
    """Print what happened at each length."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0))
    for name in ("length", "terms", "tested", "rules", "unused", "rejected", "search s", "verify s"):
        table.add_column(name, justify="right", no_wrap=True)
    for r in mined.lengths:
        tested = f"{100 * r.counts['tested'] / max(r.existing, 1):.4g} %"
        found = (f"{n:,}" for n in (r.n_rules, r.n_unused, r.n_rejected + r.n_implied))
        table.add_row(
            f"{r.length}", f"{r.existing:,}", tested, *found, f"{r.seconds_search:.1f}", f"{r.seconds_verify:.1f}"
        )
    console().print(table)
    kinds = Counter(rule.kind for rule in mined.rules)
    listed = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    print(f"{len(mined.pruned)} rules left out that others make unnecessary; left: {listed or 'none'}")

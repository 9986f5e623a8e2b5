"""Whether simplification is right: every row of a corpus checked against its output, at many points.

    python benchmarks/soundness.py rows.jsonl [--domain extend preserve] [--limit N] [--seed S] [--processes 2]
                                   [--engine canonical|paper|identity] [--json FILE]

Rows are prefix token lists, one JSON list a line; without a file, random expressions of the operator table's weights.
For each row and domain: not longer; equal values wherever both are defined, on 96 points and with random constants
through the map that `Engine.explain` returns; the domain is never narrowed, and in `preserve` not widened, up to null
sets; simplifying again changes nothing; 10 shuffles of the operands of + and * give the same result.

Doubles come first. Where they disagree, and at two points a row where they agree, numbers with proved error bounds
decide, at 50 and then 120 digits: a wrong value or domain that is reported is proved at that point, and for a domain
at a random neighbour too. Exit status 1 if there is an offence.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from _soundness import Offence, RowReport, Simplifier, Tokens, check_rows
from rich.console import Console
from rich.progress import track
from rich.table import Table

import simplipy
from simplipy import OPERATORS, Expression
from simplipy.expression.operators import CONSTANT

CHUNK = 25
KINDS = ("error", "longer", "wrong value", "narrowed", "widened", "no constants", "not idempotent", "order matters")


class CanonicalSimplifier:
    """The engine of this package."""

    def simplify(self, rows: Sequence[Tokens], domain: str) -> list[Tokens]:
        return [list(row) for row in simplipy.simplify_many(list(rows), domain=domain)]

    def constants(self, tokens: Tokens, domain: str) -> Sequence[Expression] | None:
        explained = simplipy.Engine().explain(tokens, domain=domain)
        result = explained.expression.tokens
        if [result] != self.simplify([tokens], domain):
            raise ValueError(f"explain gives another result than simplify_many: {' '.join(result)}")
        return explained.constants


class PaperSimplifier:
    """The paper's engine; it gives no map of constants, and promises neither idempotence nor order."""

    def simplify(self, rows: Sequence[Tokens], domain: str) -> list[Tokens]:
        engine = simplipy.Engine(method="paper")
        return [list(engine.simplify(row)) for row in rows]

    def constants(self, tokens: Tokens, domain: str) -> Sequence[Expression] | None:
        return None


class IdentitySimplifier:
    """Changes nothing: a wrong value here is the checker's own. Order matters to it, of course."""

    def simplify(self, rows: Sequence[Tokens], domain: str) -> list[Tokens]:
        return [list(row) for row in rows]

    def constants(self, tokens: Tokens, domain: str) -> Sequence[Expression] | None:
        return [simplipy.parse(f"c{k + 1}") for k in range(tokens.count(CONSTANT))]


SIMPLIFIERS: dict[str, type[Simplifier]] = {
    "canonical": CanonicalSimplifier,
    "paper": PaperSimplifier,
    "identity": IdentitySimplifier,
}


def _job(job: tuple[int, list[Tokens], str, str, int]) -> list[RowReport]:
    """One chunk; a row that raises is checked alone, so that one error is one offence."""
    first, rows, engine, domain, seed = job
    simplifier = SIMPLIFIERS[engine]()
    try:
        return check_rows(rows, simplifier, domain, seed, first)
    except Exception as error:
        if len(rows) == 1:
            offence = Offence("error", domain, first, rows[0], [], note=f"{type(error).__name__}: {error}")
            return [RowReport(domain, offences=[offence])]
        return [r for k, row in enumerate(rows) for r in _job((first + k, [row], engine, domain, seed))]


def random_rows(n: int, seed: int) -> list[Tokens]:
    """Random expressions of the table's weights, with variables, constants and a few numbers."""
    rng = np.random.default_rng(seed)
    names = list(OPERATORS)
    weights = np.array([OPERATORS[name].weight for name in names])
    leaves = [*(f"x{k}" for k in range(1, 6)), CONSTANT, "1", "2", "-3", "0.5", "pi"]
    chances = np.array([3.0] * 5 + [2.0, 0.5, 0.5, 0.5, 0.5, 0.3])
    rows = []
    for _ in range(n):
        tokens: Tokens = []
        pending = [int(rng.integers(2, 14))]  # operators still to place in each open operand, the nearest last
        while pending:
            left = pending.pop()
            if left == 0:
                tokens.append(str(rng.choice(leaves, p=chances / chances.sum())))
                continue
            token = str(rng.choice(names, p=weights / weights.sum()))
            tokens.append(token)
            split = int(rng.integers(left)) if OPERATORS[token].arity == 2 else 0
            pending += [split, left - 1 - split] if OPERATORS[token].arity == 2 else [left - 1]
        rows.append(tokens)
    return rows


def summary(reports: Iterable[RowReport]) -> dict[str, dict[str, float]]:
    """Counts by domain: rows with each kind of offence, and how much was checked."""
    result: dict[str, dict[str, float]] = {}
    for domain in ("extend", "preserve"):
        own = [r for r in reports if r.domain == domain]
        if not own:
            continue
        kinds = Counter(kind for r in own for kind in {o.kind for o in r.offences})
        result[domain] = {
            "rows": len(own),
            "mean length ratio": round(float(np.mean([r.ratio for r in own])), 4),
            **{kind: kinds[kind] for kind in KINDS},
            "rows without a common point": sum(r.n_common == 0 for r in own),
            "points compared": sum(r.n_common for r in own),
            "points in multiprecision": sum(r.n_precise for r in own),
            "points undecided": sum(r.n_undecided for r in own),
        }
    return result


def show(reports: list[RowReport], n_shown: int) -> None:
    """Print the table of counts and the first offences of each kind."""
    console = Console()
    counts = summary(reports)
    table = Table("", *counts)
    for name in next(iter(counts.values()), {}):
        table.add_row(name, *(f"{column[name]:,}" for column in counts.values()))
    console.print(table)
    for kind in KINDS:
        found = [o for r in reports for o in r.offences if o.kind == kind]
        for o in found[:n_shown]:
            console.print(f"[bold]{kind}[/bold] ({o.domain}, row {o.row})", highlight=False)
            for what in ("tokens_in", "tokens_out", "point", "constants", "values", "note"):
                value = getattr(o, what)
                if value:
                    text = " ".join(value) if what.startswith("tokens") else value
                    console.print(f"  {what}: {text}", markup=False, highlight=False, soft_wrap=True)


def jobs(rows: list[Tokens], options: argparse.Namespace) -> Iterator[tuple[int, list[Tokens], str, str, int]]:
    """Chunks of the corpus for each domain."""
    for domain in options.domain:
        for first in range(0, len(rows), CHUNK):
            yield first, rows[first : first + CHUNK], options.engine, domain, options.seed


def main() -> int:
    """Check a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="?", help="JSONL of prefix token lists; random rows without it")
    parser.add_argument("--limit", type=int, help="first so many rows; 300 random ones without a file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--domain", nargs="+", choices=("extend", "preserve"), default=["extend", "preserve"])
    parser.add_argument("--engine", choices=sorted(SIMPLIFIERS), default="canonical")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", type=int, default=3, help="offences of each kind to print")
    parser.add_argument("--json", type=Path, help="write counts and offences here")
    options = parser.parse_args()
    if options.rows:
        rows = [json.loads(line) for line in options.rows.read_text().splitlines() if line.strip()][: options.limit]
    else:
        rows = random_rows(options.limit or 300, options.seed)
    work = list(jobs(rows, options))
    if options.processes > 1:
        with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
            parts = list(track(pool.imap(_job, work), "checking", total=len(work)))
    else:
        parts = [_job(job) for job in track(work, "checking")]
    reports = [report for part in parts for report in part]
    show(reports, options.show)
    if options.json:
        offences = [asdict(o) for r in reports for o in r.offences]
        options.json.write_text(json.dumps({"summary": summary(reports), "offences": offences}, indent=1))
    return int(any(r.offences for r in reports))


if __name__ == "__main__":
    sys.exit(main())

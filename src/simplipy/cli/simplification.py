"""The command `simplipy simplify`."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

import simplipy
from simplipy.cli.terminal import AsJson
from simplipy.errors import SimplipyError

_MAX_TOKENS = 20_000  # of the simplifier
_LINES_PER_REFRESH = 256


def simplify(
    expr: Annotated[str, typer.Argument(metavar="EXPR", help="Infix text, or - for a formula on each line of stdin.")],
    domain: Annotated[
        Literal["extend", "preserve"],
        typer.Option(
            help="extend: may be defined in more places than the input; preserve: only on a null set more, as x/x at 0."
        ),
    ] = "extend",
    max_pattern_length: Annotated[
        int | None, typer.Option(min=0, help="Longest rule to use; 0 for the canonical form alone.")
    ] = None,
    mask_numbers: Annotated[bool, typer.Option("--mask-numbers", help="Count numbers as free constants.")] = False,
    fold_numbers: Annotated[
        bool, typer.Option("--fold-numbers", help="Round parts without variables to the nearest double.")
    ] = False,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", metavar="NAME=LOW:HIGH", help="Promised bounds, as in x1=0:inf.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the rewrites with their rules, and where the constants come from.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Shortest form of a formula, or of a formula on each line of stdin.

    Example: simplipy simplify "x1*sin(1 + <constant>)/(x1*x1)"
    """
    options = (domain, max_pattern_length, mask_numbers, fold_numbers)
    bounds = parse_ranges(ranges or [])
    if explain and bounds:
        raise SimplipyError("--explain does not take --range; drop one of them")

    def result(text: str, **more: object) -> str:
        e = simplipy.parse(text)
        unknown = [name for name in bounds if name not in e.variables]
        if unknown and expr != "-":  # of many formulas each may have some of the variables
            name, known = unknown[0], ", ".join(e.variables) or "none"
            raise SimplipyError(f"--range {name}=...: the formula has no variable {name!r}; it has: {known}")
        facts = _explained(e, options) if explain else _facts(e, simplipy.simplify(e, *options, ranges=bounds))
        if len(e) > _MAX_TOKENS:
            print(f"note: {simplipy.StopReason.SIZE_LIMIT.value}", file=sys.stderr)
        if as_json:
            return json.dumps(more | facts, ensure_ascii=False)
        return _explanation(facts) if explain else str(facts["infix"])

    if expr != "-":
        print(result(expr))
        return
    n_bad = 0
    for number, line in _numbered_lines():
        try:
            print(result(line.decode("utf-8-sig" if number == 1 else "utf-8"), line=number))
        except (SimplipyError, UnicodeDecodeError) as error:
            n_bad += 1
            print(f"line {number}: error: {error}", file=sys.stderr)
    if n_bad:
        raise typer.Exit(2)


def parse_ranges(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Promises such as `x1=0:inf`; a missing bound is infinite."""
    ranges = {}
    for text in texts:
        name, equals, bounds = text.rpartition("=")  # the last one: a name may hold the sign
        low, colon, high = bounds.partition(":")
        try:
            if not (name and equals and colon):
                raise ValueError
            ranges[name] = (float(low or "-inf"), float(high or "inf"))
        except ValueError:
            raise SimplipyError(f"--range must be NAME=LOW:HIGH, as in x1=0:inf, got {text!r}") from None
    return ranges


def _explained(e: simplipy.Expression, options: tuple[Any, ...]) -> dict[str, Any]:
    """A simplification with its steps as JSON holds it."""
    found = simplipy.Engine().explain(e, *options)
    return _facts(e, found.expression) | {
        "steps": [
            {"rules": list(step.rules), "before": step.before.infix(), "after": step.after.infix()}
            for step in found.steps
        ],
        "stop": found.stop.name,
        "stop_reason": found.stop.value,
        # "preserve": a constant that the input leaves undefined is not to get a value here
        "constants": [simplipy.simplify(c, domain="preserve").infix() for c in found.constants],
    }


def _facts(before: simplipy.Expression, after: simplipy.Expression) -> dict[str, Any]:
    return {
        "input": before.infix(),
        "infix": after.infix(),
        "tokens": after.tokens,
        "input_length": len(before),
        "length": len(after),
        "n_constants": after.n_constants,
    }


def _explanation(facts: dict[str, Any]) -> str:
    """A simplification with its steps as text."""
    lines = [facts["input"]]
    for step in facts["steps"]:
        rules = ", ".join(step["rules"]) or "a shorter spelling"
        lines += [f"-> {step['after']}", *_wrapped(rules)]
    lines += [f"<constant>{k} = {value}" for k, value in enumerate(facts["constants"], start=1)]
    if facts["constants"]:
        lines.append("with c1, c2, ... for the constants of the input in the order of its prefix tokens")
    lines.append(f"{facts['input_length']} tokens -> {facts['length']}; {facts['stop_reason']}")
    return "\n".join(lines)


def _wrapped(rules: str) -> list[str]:
    """Names of rules on lines that a screen holds, no name in two."""
    kept_together = rules.replace(", ", ",\n").replace(" ", "\u00a0").replace("\n", " ")
    wrapper = textwrap.TextWrapper(
        76, initial_indent="   by ", subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
    )
    lines = wrapper.wrap(kept_together)
    return [line.replace("\u00a0", " ") for line in lines]


def _numbered_lines() -> Iterator[tuple[int, bytes]]:
    """Lines of stdin that are not blank with their numbers, and a progress bar where someone can see it."""
    lines = ((k, line.rstrip(b"\r\n")) for k, line in enumerate(sys.stdin.buffer, start=1) if line.strip())
    # on a terminal that shows the results themselves, a bar would be printed between them
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.completed:,.0f} lines"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, transient=True) as progress:
        task = progress.add_task("", total=None)
        for number, line in lines:
            yield number, line
            if number % _LINES_PER_REFRESH == 0:
                progress.update(task, completed=number)

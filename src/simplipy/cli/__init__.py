"""The command line of SimpliPy: simplify, compare and look at formulas, and evaluate them on files.

A user's mistake ends with exit code 2 and one message on stderr, never with a traceback.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.tree import Tree as TreeView

import simplipy
from simplipy.cli import mining as commands
from simplipy.errors import SimplipyError
from simplipy.expression.operators import OPERATORS
from simplipy.files.output_files import replacing
from simplipy.files.text_tables import TextFormat, read_text_table

app = typer.Typer(
    help="Formulas in the operators of symbolic regression: simplify, compare, print, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(commands.mine)
app.command()(commands.verify)
# names are the user's: [red] and :smile: mean nothing
console = Console(markup=False, emoji=False, highlight=False)

_MAX_TREE_NODES = 200
_MAX_TOKENS = 20_000  # of the simplifier
_LINES_PER_REFRESH = 256
# so that a formula may begin with a minus; a misspelt option is then refused as an extra argument
_FORMULA_FIRST = {"ignore_unknown_options": True}

Formula = Annotated[str, typer.Argument(metavar="EXPR", help="Infix text, for example 'x1*sin(x2) + <constant>'.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


class Domain(Enum):
    """Where the result of a simplification may be defined."""

    EXTEND = "extend"
    PRESERVE = "preserve"


def main() -> None:
    """Run the command line and turn a user's mistake into a message and exit code 2."""
    try:
        app()
    except SimplipyError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        print(simplipy.__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(context_settings=_FORMULA_FIRST)
def show(expr: Formula, as_json: AsJson = False) -> None:
    """Show a formula: tokens, tree, LaTeX, length, variables.

    Example: simplipy show "x1*sin(x2)^2"
    """
    e = simplipy.parse(expr)
    facts: dict[str, Any] = {
        "infix": e.infix(),
        "tokens": e.tokens,
        "length": len(e),
        "depth": e.depth,
        "variables": list(e.variables),
        "n_constants": e.n_constants,
        "latex": e.latex(),
    }
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, " ".join(value) if isinstance(value, list) else str(value))
    console.print(table)
    if len(e) <= _MAX_TREE_NODES:
        console.print(_tree_view(e.tokens))


@app.command()
def operators(as_json: AsJson = False) -> None:
    """List the operators and functions that formulas may have.

    Example: simplipy operators
    """
    if as_json:
        print(json.dumps([dataclasses.asdict(row) for row in OPERATORS.values()], ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("token", "operands", "in text", "defined for", "meaning"):
        table.add_column(title, overflow="fold")
    for row in OPERATORS.values():
        table.add_row(row.token, str(row.arity), row.call or row.token, row.domain or "all", row.description)
    console.print(table)
    print("leaves: x1, x2, ... and other names, numbers, <constant>, pi, e, inf, -inf, nan")


@app.command(context_settings=_FORMULA_FIRST)
def simplify(
    expr: Annotated[str, typer.Argument(metavar="EXPR", help="Infix text, or - for a formula on each line of stdin.")],
    domain: Annotated[
        Domain,
        typer.Option(
            help="extend: may be defined in more places than the input; preserve: only on a null set more, as x/x at 0."
        ),
    ] = Domain.EXTEND,
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
    options: dict[str, Any] = {
        "domain": domain.value,
        "max_pattern_length": max_pattern_length,
        "mask_numbers": mask_numbers,
        "fold_numbers": fold_numbers,
    }
    bounds = parse_ranges(ranges or [])
    if explain and bounds:
        raise SimplipyError("--explain does not take --range; drop one of them")

    def result(text: str, **more: object) -> str:
        e = simplipy.parse(text)
        if expr != "-":  # of many formulas each may have some of the variables
            _check_ranges(bounds, e)
        facts = _explained(e, options) if explain else _facts(e, simplipy.simplify(e, ranges=bounds, **options))
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


@app.command(context_settings=_FORMULA_FIRST)
def equivalent(
    a: Annotated[str, typer.Argument(metavar="A", help="Infix text.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Infix text.")],
    rtol: Annotated[float, typer.Option(help="Relative difference of numbers that counts as none.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Tell whether two formulas mean the same: exit code 0 if so, 1 if not.

    Example: simplipy equivalent "sin(x)^2 + cos(x)^2" 1
    """
    from simplipy.equivalence.verdict import equivalent as compare

    if not 0 <= rtol < 1:
        raise SimplipyError(f"--rtol must be >= 0 and < 1, got {rtol}")
    verdict = compare(a, b, rtol=rtol)
    if as_json:
        print(json.dumps(dataclasses.asdict(verdict), ensure_ascii=False))
    else:
        print(f"{'equivalent' if verdict.equivalent else 'not equivalent'} ({verdict.evidence})")
        if verdict.counterexample == {}:
            print("  as exact numbers; --rtol 1e-9 allows for rounding")
        elif verdict.counterexample is not None:
            print("  at " + ", ".join(f"{name} = {value:.17g}" for name, value in verdict.counterexample.items()))
        print(f"domain: {verdict.domain}")
        print(f"family: {verdict.family}")
    if not verdict.equivalent:
        raise typer.Exit(1)


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


def _check_ranges(ranges: dict[str, tuple[float, float]], e: simplipy.Expression) -> None:
    for name in ranges:
        if name not in e.variables:
            known = ", ".join(e.variables) or "none"
            raise SimplipyError(f"--range {name}=...: the formula has no variable {name!r}; it has: {known}")


def _explained(e: simplipy.Expression, options: dict[str, Any]) -> dict[str, Any]:
    """A simplification with its steps as JSON holds it."""
    found = simplipy.Engine().explain(e, **options)
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
    columns = (TextColumn("{task.completed:,.0f} lines"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, transient=True) as progress:
        task = progress.add_task("", total=None)
        for number, line in lines:
            yield number, line
            if number % _LINES_PER_REFRESH == 0:
                progress.update(task, completed=number)


@app.command(name="eval", context_settings=_FORMULA_FIRST)
def evaluate(
    expr: Formula,
    data: Annotated[Path, typer.Option(help="CSV, TSV or other text table; columns bind by name.")],
    out: Annotated[Path | None, typer.Option(help="Write the data and the column 'value' to this CSV file.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of the table to print.")] = 10,
    separator: Annotated[
        str | None,
        typer.Option("--sep", help="What separates columns: a character, tab or blank. [default: found out]"),
    ] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal sign, . or , [default: found out]")] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a formula on the rows of a file.

    Example: simplipy eval "pi*radius^2" --data circles.csv
    """
    import pandas as pd

    e = simplipy.parse(expr)
    if e.n_constants:
        raise SimplipyError(f"write a number for each <constant> in {e}: a free constant has no value")
    if out is not None and out.exists() and data.exists() and out.samefile(data):
        raise SimplipyError(f"--out {out} is the table itself; name another file")
    read = read_text_table(data, TextFormat(separator, decimal))
    for note in read.notes:
        print(f"note: {note}", file=sys.stderr)
    frame = read.frame
    values = e(frame).tolist()
    n_undefined = sum(math.isnan(v) for v in values)
    if out is not None:
        with replacing(out) as partial:
            frame.assign(value=values).to_csv(partial, index=False)
    if as_json:
        # JSON has neither NaN nor infinities
        printable = [v if math.isfinite(v) else None if math.isnan(v) else str(v) for v in values]
        print(json.dumps({"infix": e.infix(), "n_rows": len(values), "n_undefined": n_undefined, "values": printable}))
        return
    shown = frame[[*e.variables]].head(rows)
    table = Table()
    for name in (*shown.columns, e.infix(precision=6)):
        table.add_column(name, justify="right")
    for row, value in zip(shown.itertuples(index=False), values[:rows], strict=False):
        table.add_row(*(f"{cell:.6g}" if pd.api.types.is_number(cell) else str(cell) for cell in row), f"{value:.6g}")
    console.print(table)
    print(f"{len(values)} rows, {n_undefined} undefined" + (f"; written to {out}" if out else ""))


def _tree_view(tokens: list[str]) -> TreeView:
    """Tokens as a drawn tree."""
    stack: list[TreeView] = []
    for token in reversed(tokens):
        node = TreeView(token, highlight=False)
        if token in OPERATORS:
            for _ in range(OPERATORS[token].arity):
                node.children.append(stack.pop())
        stack.append(node)
    return stack[0]

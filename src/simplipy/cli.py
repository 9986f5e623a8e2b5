"""The command line of SimpliPy: look at formulas and evaluate them on files.

A user's mistake ends with exit code 2 and one message on stderr, never with a traceback.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.tree import Tree as TreeView

import simplipy
from simplipy.errors import SimplipyError
from simplipy.operators import OPERATORS

app = typer.Typer(
    help="Formulas in the operators of symbolic regression: parse, print, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# names are the user's: [red] and :smile: mean nothing
console = Console(markup=False, emoji=False, highlight=False)

_MAX_TREE_NODES = 200
# so that a formula may begin with a minus; a misspelt option is then refused as an extra argument
_FORMULA_FIRST = {"ignore_unknown_options": True}

Formula = Annotated[str, typer.Argument(metavar="EXPR", help="Infix text, for example 'x1*sin(x2) + <constant>'.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


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


@app.command(name="eval", context_settings=_FORMULA_FIRST)
def evaluate(
    expr: Formula,
    data: Annotated[Path, typer.Option(help="CSV or TSV file with a header; columns bind by name.")],
    out: Annotated[Path | None, typer.Option(help="Write the data and the column 'value' to this CSV file.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of the table to print.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Evaluate a formula on the rows of a file.

    Example: simplipy eval "pi*radius^2" --data circles.csv
    """
    import pandas as pd

    e = simplipy.parse(expr)
    if e.n_constants:
        raise SimplipyError(f"write a number for each <constant> in {e}: a free constant has no value")
    frame = read_table(data)
    values = e(frame).tolist()
    n_undefined = sum(math.isnan(v) for v in values)
    if out is not None:
        partial = out.with_name(out.name + ".part")  # a reader never sees half a file
        frame.assign(value=values).to_csv(partial, index=False)
        partial.replace(out)
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


def read_table(path: Path) -> Any:
    """DataFrame of a CSV or TSV file."""
    import pandas as pd

    separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    try:
        return pd.read_csv(path, sep=separator)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise SimplipyError(f"{path} is no table: {error}") from error


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

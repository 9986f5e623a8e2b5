"""The commands `simplipy show`, `operators` and `equivalent`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import simplipy
from simplipy.cli.terminal import AsJson, console, plain_table, print_facts

if TYPE_CHECKING:
    from rich.tree import Tree

_MAX_TREE_NODES = 200

Formula = Annotated[str, typer.Argument(metavar="EXPR", help="Infix text, for example 'x1*sin(x2) + <constant>'.")]


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
    print_facts({name: " ".join(value) if isinstance(value, list) else str(value) for name, value in facts.items()})
    if len(e) <= _MAX_TREE_NODES:
        console().print(_tree_view(e.tokens))


def operators(as_json: AsJson = False) -> None:
    """List the operators and functions that formulas may have.

    Example: simplipy operators
    """
    rows = simplipy.OPERATORS.values()
    if as_json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], ensure_ascii=False))
        return
    table = plain_table("token", "operands", "in text", "defined for", "meaning")
    for row in rows:
        table.add_row(row.token, str(row.arity), row.call or row.token, row.domain or "all", row.description)
    console().print(table)
    print("leaves: x1, x2, ... and other names, numbers, <constant>, pi, e, inf, -inf, nan")


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


def _tree_view(tokens: list[str]) -> Tree:
    """Tokens as a drawn tree."""
    from rich.tree import Tree

    from simplipy.expression.prefix import fold

    def node(token: str, operands: Sequence[Tree] = ()) -> Tree:
        drawn = Tree(token, highlight=False)
        drawn.children.extend(operands)
        return drawn

    return fold(tokens, node, node)

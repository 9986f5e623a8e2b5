"""Shared by the commands of both packages: the console, tables, options, and messages for a user's mistakes.

Modules of commands import at their top only what their signatures need: a call for help reads all of them.
"""

# annotations are not postponed here: typer could not resolve those of a nested function
import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simplipy.errors import SimplipyError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# so that a formula may begin with a minus; a misspelt option is then refused as an extra argument
FORMULA_FIRST = {"ignore_unknown_options": True}

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Separator = Annotated[
    str | None, typer.Option("--sep", help="What separates columns: a character, tab or blank. [default: found out]")
]
Decimal = Annotated[str | None, typer.Option(help="Decimal sign, . or , [default: found out]")]


@functools.cache
def console() -> "Console":
    """The console that commands print tables and long lines on."""
    from rich.console import Console

    # names are the user's: [red] and :smile: mean nothing
    return Console(markup=False, emoji=False, highlight=False)


def new_app(help_text: str, **options: Any) -> typer.Typer:
    """A group of commands."""
    plain: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
    return typer.Typer(help=help_text, no_args_is_help=True, **plain, **options)


def run_app(
    app: typer.Typer,
    name: str | None = None,
    remedy: Callable[[ModuleNotFoundError], str | None] = lambda _: None,
) -> None:
    """Run a command line and turn a user's mistake into one message on stderr and exit code 2.

    Parameters
    ----------
    app : Typer
    name : str, optional
        Of the program, instead of the one that it was called by.
    remedy : callable
        Names the package to install after a failed import; None where that does not help.
    """
    try:
        app(prog_name=name)
    except SimplipyError as error:
        message: str | None = str(error)
    except ModuleNotFoundError as error:
        message = remedy(error)
        if message is None:
            raise
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2)


def add_version_option(app: typer.Typer, text: str) -> None:
    """Give a program the option --version, which prints this text."""

    def print_version(wanted: bool) -> None:
        if wanted:
            print(text)
            raise typer.Exit

    @app.callback()
    def _root(
        version: Annotated[
            bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
        ] = False,
    ) -> None:
        # the callback of the option does its work
        del version


def plain_table(*columns: str, title: str | None = None) -> "Table":
    """A table without lines; a column whose name begins with > is aligned on the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    return table


def print_facts(facts: Mapping[str, str]) -> None:
    """Print names in bold with their values beside them."""
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    console().print(table)


def print_notes(notes: Iterable[str]) -> None:
    """Print assumptions about a file on stderr."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def refuse_same_file(out: Path | None, data: Path) -> None:
    """Refuse to write the results over the data."""
    if out is not None and out.exists() and data.exists() and out.samefile(data):
        raise SimplipyError(f"--out {out} is the table itself; name another file")

"""The command ``flash-ansr``: argument parsing and printing only, the work is done by the modules below it."""

import signal
import sys
from typing import Annotated

import typer

from flash_ansr import __version__
from flash_ansr.cli import bench, data, fit, models, paper, train
from flash_ansr.extras import remedy
from simplipy.errors import SimplipyError

__all__ = ["app", "main"]

app = typer.Typer(
    name="flash-ansr",
    help="Symbolic regression: short, exact laws from tables of numbers.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(fit.fit)
app.command()(fit.predict)
app.add_typer(bench.app, name="bench")
app.add_typer(data.app, name="data")
app.add_typer(models.app, name="models")
app.add_typer(paper.app, name="paper")
app.add_typer(train.app, name="train")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"flash-ansr {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    # The eager callback has done its work by now; the parameter exists for the option.
    del version


def main() -> None:
    """Run the command line and turn a user's mistake into a message and exit code 2."""
    # what batch systems send before they kill: a search then keeps what it has, as with Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app(prog_name="flash-ansr")
    except SimplipyError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except ModuleNotFoundError as error:
        missing = remedy(error)
        if missing is None:
            raise
        print(f"error: {missing}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None

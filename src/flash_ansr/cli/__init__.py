"""The command ``flash-ansr``: argument parsing and printing only, the work is done by the modules below it."""

import signal

from flash_ansr import __version__
from flash_ansr.cli import bench, data, fit, models, paper, train
from flash_ansr.extras import remedy
from simplipy.cli.terminal import add_version_option, new_app, run_app

__all__ = ["app", "main"]

app = new_app("Symbolic regression: short, exact laws from tables of numbers.", name="flash-ansr")
add_version_option(app, f"flash-ansr {__version__}")
app.command()(fit.fit)
app.command()(fit.predict)
app.add_typer(bench.app, name="bench")
app.add_typer(data.app, name="data")
app.add_typer(models.app, name="models")
app.add_typer(paper.app, name="paper")
app.add_typer(train.app, name="train")


def main() -> None:
    """Run the command line."""
    # batch systems send this before they kill: a search then keeps what it has, as with Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run_app(app, "flash-ansr", remedy)

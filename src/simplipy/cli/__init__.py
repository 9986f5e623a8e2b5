"""The command line of SimpliPy: simplify, compare and look at formulas, evaluate them on files, mine rules.

A user's mistake ends with exit code 2 and one message on stderr, never with a traceback.
"""

from __future__ import annotations

from simplipy._version import __version__
from simplipy.cli import evaluation, formulas, mining, simplification
from simplipy.cli.terminal import FORMULA_FIRST, add_version_option, new_app, run_app

app = new_app("Formulas in the operators of symbolic regression: simplify, compare, print, evaluate.")
add_version_option(app, __version__)
app.command()(mining.mine)
app.command()(mining.verify)
app.command(context_settings=FORMULA_FIRST)(formulas.show)
app.command()(formulas.operators)
app.command(context_settings=FORMULA_FIRST)(simplification.simplify)
app.command(context_settings=FORMULA_FIRST)(formulas.equivalent)
app.command(name="eval", context_settings=FORMULA_FIRST)(evaluation.evaluate)


def main() -> None:
    """Run the command line."""
    run_app(app)

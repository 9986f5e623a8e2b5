"""``flash-ansr paper``: the figures, tables and claims of the paper by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from flash_ansr.cli.train import Assignments
from flash_ansr.paper.experiment import Scale
from simplipy.cli.terminal import Quiet, console, new_app, plain_table
from simplipy.errors import SimplipyError

if TYPE_CHECKING:
    from flash_ansr.paper.experiment import Experiment

app = new_app("The paper's figures, tables and claims: list, run, train its ablations.")

_ALL = "all"
_INTERRUPTED = 130


@app.command(name="list")
def list_(
    name: Annotated[str | None, Argument(metavar="[NAME]", help="What one of them does at each scale.")] = None,
) -> None:
    """List what can be run, or describe one of them.

    Example: flash-ansr paper list decoding
    """
    from flash_ansr.paper.registry import EXPERIMENTS, find_experiment

    if name is not None:
        _print_one(find_experiment(name))
        return
    table = plain_table("name", ">minutes", "needs", "in the paper")
    for e in EXPERIMENTS.values():
        table.add_row(e.name, f"{e.minutes:g}", ", ".join(e.needs) or "-", e.where)
    console().print(table)
    total = sum(e.minutes for e in EXPERIMENTS.values() if "runs" not in e.needs)
    console().print(f"minutes: small, on two cores; {total:.0f} for all but what needs training runs")


@app.command()
def run(
    name: Annotated[str, Argument(metavar="NAME", help="As in paper list; all runs everything that can run.")],
    scale: Annotated[Scale, Option(help="full is the paper's size, tiny only to see it run.")] = Scale.SMALL,
    out: Annotated[Path, Option(help="Gets a folder for each name; stopped runs go on there.")] = Path("paper"),
    seed: Annotated[int, Option(min=0, help="Of everything random.")] = 0,
    checkpoint: Annotated[
        Path | None, Option(help="Folder of a trained network or of its run instead of the one in this package.")
    ] = None,
    runs: Annotated[Path | None, Option(help="Folder of training runs, a folder each.")] = None,
    quiet: Quiet = False,
) -> None:
    """Make a figure, table or claim of the paper anew: rows, a figure, a table, a caption.

    Example: flash-ansr paper run simplifier_ecdf
    """
    from flash_ansr.paper.experiment import MissingError
    from flash_ansr.paper.registry import EXPERIMENTS, find_experiment
    from flash_ansr.paper.run import run_experiment

    problems: list[str] = []
    for e in EXPERIMENTS.values() if name == _ALL else [find_experiment(name)]:
        try:
            written = run_experiment(e, out, scale, seed, checkpoint, runs, not quiet)
        except KeyboardInterrupt:
            print("interrupted; the same command goes on from here")
            raise typer.Exit(_INTERRUPTED) from None
        except (SimplipyError, OSError, subprocess.SubprocessError) as error:  # the others do not depend on it
            if name != _ALL:
                raise
            problems.append(f"{'left out' if isinstance(error, MissingError) else 'failed'} {e.name}: {error}")
            continue
        print(written[-1].read_text(encoding="utf-8"), end="")
        print("written: " + " ".join(map(str, written)))
    for problem in problems:
        print(problem, file=sys.stderr)
    if any(problem.startswith("failed") for problem in problems):
        raise typer.Exit(1)


@app.command()
def train(
    name: Annotated[str, Argument(metavar="NAME", help="b0, b1, ..., or all; without a match, they are listed.")],
    runs: Annotated[Path, Option(help="Gets a folder for each run.")] = Path("runs/ablations"),
    steps: Annotated[
        int | None, Option(min=1, help="Steps, the same for all runs that are compared. [default: the config's]")
    ] = None,
    assignments: Assignments = None,
    skeletons: Annotated[
        int | None,
        Option(min=1, help="Of the static corpora of a_s and a_p, which SymPy takes hours for. [default: 50000]"),
    ] = None,
    workers: Annotated[int, Option(min=1, help="Processes of SymPy that make these corpora.")] = 1,
    config: Annotated[str | None, Option(help="Such as 120M, the paper's, instead of micro; not for nesymres.")] = None,
    quiet: Quiet = False,
) -> None:
    """Train a network of the ablations, or continue it; `paper run ablations --runs RUNS` compares them.

    a_s and a_p learn from the same 50,000 draws, which SymPy has simplified for a second each at most: half a day of
    CPU time, shared by --workers. A stop loses nothing.

    Example: flash-ansr paper train b1 --runs runs/ablations --steps 2000
    """
    from flash_ansr.paper.ablations.networks import ABLATIONS, BASE, find_ablation, train_ablation

    all_of_config = [a for a in ABLATIONS.values() if config is None or a.config == BASE]
    for a in all_of_config if name == _ALL else [find_ablation(name)]:
        try:
            finished = train_ablation(a, runs, steps, tuple(assignments or ()), skeletons, workers, config, not quiet)
        except KeyboardInterrupt:  # while a corpus is made
            finished = False
        print(f"{a.name}: {a.title}, {'done' if finished else 'stopped and saved'}: {runs / a.name}")
        if not finished:
            raise typer.Exit(_INTERRUPTED)


@app.command()
def pack(
    runs: Annotated[Path, Option(help="Folder of the trained ablations.")] = Path("runs/ablations"),
    out: Annotated[Path, Option(help="Gets a small folder for each finished run.")] = Path("ablations"),
) -> None:
    """Write the finished ablations to pass on: weights in float16, configs, curves, corpora; `--runs` reads them.

    Example: flash-ansr paper pack --runs runs/ablations --out ablations
    """
    from flash_ansr.paper.ablations.packing import pack_runs

    for folder in pack_runs(runs, out):
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        print(f"{folder}: {size:.1f} MB")


def _print_one(e: Experiment) -> None:
    facts = {
        "name": e.name,
        "in the paper": e.where,
        "it says": e.claim,
        "small": f"{e.small}; about {e.minutes:g} minutes on two cores",
        "full": e.full,
        "needs": ", ".join(e.needs) or "nothing but the package",
    }
    for key, value in facts.items():
        console().print(f"{key:13} {value}", soft_wrap=True)

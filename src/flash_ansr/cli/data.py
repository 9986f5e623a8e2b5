"""`flash-ansr data`: make, describe, check and show training problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from flash_ansr.progress_bar import progress_bar
from simplipy.cli.terminal import FORMULA_FIRST, AsJson, console, new_app, plain_table, print_facts
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_parent

app = new_app("Training problems: make, describe, check, show.")

PriorOption = Annotated[str, Option("--prior", help="Name of a bundled prior, or path of a YAML file.")]
SeedOption = Annotated[int, Option(min=0, help="Which stream of problems.")]
WorkersOption = Annotated[int, Option(min=1, help="Threads; the result does not depend on them.")]
RowsOption = Annotated[int | None, Option(min=1, help="Rows of every problem, instead of the prior's.")]


@app.command()
def make(
    out: Annotated[Path, Option(help="File to write: .npz or .parquet.")],
    prior: PriorOption = "wide",
    n: Annotated[int, Option(min=1, help="Problems.")] = 1000,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    rows: RowsOption = None,
    time: Annotated[float | None, Option(min=0, help="Seconds after which what is there is written.")] = None,
) -> None:
    """Write problems to a file.

    Example: flash-ansr data make --prior wide --n 1000 --seed 0 --workers 2 --out problems.npz
    """
    from flash_ansr.data.corpus import make_file

    make_parent(out)
    generator = _generator(prior, rows)
    with progress_bar("problems", n) as bar:
        made = make_file(generator, out, n, seed, workers, time, bar.reach)
    why = f" ({made.stopped})" if made.stopped else ""
    print(f"{made.n_problems:,} problems, {made.n_rows:,} rows{why}: {out}")
    if made.stopped == "interrupted":
        raise typer.Exit(130)


@app.command()
def stats(
    prior: PriorOption = "wide",
    n: Annotated[int, Option(min=10, help="Problems.")] = 5000,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    out: Annotated[Path | None, Option(help="Figure to write, .png, .pdf or .svg.")] = None,
    as_json: AsJson = False,
) -> None:
    """Describe what a prior gives: lengths, variables, constants, magnitudes, rejections.

    Example: flash-ansr data stats --prior paper --n 20000 --out paper.png
    """
    from flash_ansr.data.statistics import collect

    if out is not None:
        if out.suffix not in (".png", ".pdf", ".svg"):
            raise SimplipyError(f"--out must end in .png, .pdf or .svg, got {str(out)!r}")
        make_parent(out)
    generator = _generator(prior, None)
    with progress_bar("problems", n) as bar:
        statistics = collect(generator, n, seed, workers, bar.reach)
    summary = statistics.summary()
    if out is not None:
        from flash_ansr.data.figure import draw_statistics

        draw_statistics(statistics, out)
    if as_json:
        print(json.dumps(summary))
        return
    _print_summary(summary, generator.prior.max_pattern_length)
    if out is not None:
        print(f"figure: {out}")


@app.command(context_settings=FORMULA_FIRST)
def check(
    expr: Annotated[str, Argument(metavar="EXPR", help="Infix text, for example '2.5*x1/x2 + 1'.")],
    prior: PriorOption = "wide",
    holdout: Annotated[
        list[str] | None, Option(help="Instead of the prior's: a catalogue, a catalogue file or an expression.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether an expression is held out of training, and by which entry: exit code 1 if so, 0 if not.

    Example: flash-ansr data check "2.5*x1*x2 + 1"
    """
    from flash_ansr.data import Holdout, load_prior

    loaded = load_prior(prior)
    held = Holdout(holdout or loaded.holdouts, loaded.max_pattern_length)
    found = held.find(expr)
    if as_json:
        facts = {"expression": expr, "held_out": found is not None, "n_entries": len(held)}
        if found is not None:
            facts |= {"by": found.entry.source, "entry": found.entry.name, "match": found.match}
            facts["entry_expression"] = found.entry.expression.infix()
        print(json.dumps(facts))
    elif found is None:
        print(f"not held out ({len(held)} entries)")
    else:
        print(f"held out by {found.entry} ({found.match})")
    if found is not None:
        raise typer.Exit(1)


@app.command()
def show(
    prior: PriorOption = "wide",
    n: Annotated[int, Option(min=1, max=1000, help="Problems.")] = 5,
    seed: SeedOption = 0,
    rows: RowsOption = None,
    as_json: AsJson = False,
) -> None:
    """Print problems to look at.

    Example: flash-ansr data show --prior paper --n 3
    """
    batch = _generator(prior, rows).batch(seed, range(n), detailed=True)
    for i in range(n):
        facts = _facts(batch, i)
        if as_json:
            print(json.dumps(facts))
            continue
        print_facts({name: _text(value) for name, value in facts.items()})
        print()


@app.command()
def skeletons(
    out: Annotated[Path, Option(help="File of JSON lines; what it has already is not made again.")],
    prior: PriorOption = "paper",
    n: Annotated[int, Option(min=1, help="Skeletons.")] = 50_000,
    seed: SeedOption = 0,
    workers: Annotated[int, Option(min=1, help="Processes for SymPy.")] = 1,
    simplifier: Annotated[Literal["sympy", "simplipy", "none"], Option(help="What simplifies.")] = "sympy",
    time_limit: Annotated[float, Option(min=0.001, help="CPU seconds for SymPy on one skeleton.")] = 1.0,
) -> None:
    """Write a file of skeletons to train on, for priors with a corpus. Resumable.

    Example: flash-ansr data skeletons --simplifier sympy --n 50000 --out sympy_skeletons.jsonl
    """
    from flash_ansr.paper.sympy.skeletons import make_skeletons

    make_parent(out)
    generator = _generator(prior, None)
    with progress_bar("skeletons", n) as bar:
        try:
            n_good = make_skeletons(generator, out, range(n), seed, simplifier, time_limit, workers, bar.reach)
        except KeyboardInterrupt:
            print(f"interrupted; the same command goes on: {out}")
            raise typer.Exit(130) from None
    print(f"{n_good:,} skeletons: {out}")


def _generator(prior: str, rows: int | None) -> Any:
    from flash_ansr.data import Generator, load_prior

    loaded = load_prior(prior)
    return Generator(loaded if rows is None else loaded.with_rows(rows))


def _facts(batch: Any, i: int) -> dict[str, Any]:
    """A problem as names and values."""
    import numpy as np

    n = int(batch.n_rows[i])
    X, y = batch.X[i, :n], batch.y[i, :n]
    expression = batch.expression(i)
    used = [int(name[1:]) - 1 for name in expression.variables]
    with_data = sorted({*np.flatnonzero(X.any(0)).tolist(), *used})
    return {
        "formula": expression.infix(precision=4),
        "skeleton": " ".join(batch.tokens(i)),
        "drawn": " ".join(batch.details.drawn[i]),
        "rows": n,
        "noise": round(float(batch.noise[i]), 4),
        "attempts": int(batch.outcomes[i].sum()),
        "y": [float(f"{v:.4g}") for v in (y.min(), y.max())],
        **{f"x{k + 1}": [float(f"{v:.4g}") for v in (X[:, k].min(), X[:, k].max())] for k in with_data},
    }


def _text(value: object) -> str:
    return f"{value[0]:g} to {value[1]:g}" if isinstance(value, list) else str(value)


def _print_summary(summary: dict[str, Any], max_pattern_length: int | None) -> None:
    limit = "all rules" if max_pattern_length is None else f"L_max {max_pattern_length}"
    titles = {
        "drawn": "as drawn",
        "simplified": f"simplified ({limit})",
        "simplified_all_rules": "simplified (all rules)",
        "accepted": "accepted",
    }
    measured = [name.removeprefix("n_").replace("_", " ") for name in next(iter(summary["medians"].values()))]
    medians = plain_table("skeletons", *(f">{name}" for name in measured), title="medians")
    for stage, values in summary["medians"].items():
        if stage == "simplified_all_rules" and max_pattern_length is None:
            continue  # the prior itself simplifies with all rules
        medians.add_row(titles[stage], *(f"{value:g}" for value in values.values()))
    outcomes = plain_table("outcome", ">share", title="attempts")
    total = sum(summary["outcomes"].values())
    for name, count in summary["outcomes"].items():
        outcomes.add_row(name.replace("_", " "), f"{count / total:.2%}")
    quantiles = plain_table("", *(f">{quantile:g}" for quantile in summary["quantiles"]), title="quantiles")
    for name in ("rows", "log10_x", "log10_y"):
        label = {"log10_x": "log10 |x|", "log10_y": "log10 |y|"}.get(name, name)
        quantiles.add_row(label, *(f"{value:.4g}" for value in summary[name]))
    for k, table in enumerate((medians, outcomes, quantiles)):
        print(end="\n" if k else "")
        console().print(table)

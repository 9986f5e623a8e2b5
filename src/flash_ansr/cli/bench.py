"""``flash-ansr bench``: look at catalogues, run systems on them, report."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from simplipy.cli.terminal import Quiet, console, new_app, plain_table
from simplipy.files.output_files import make_parent, replacing

app = new_app("Systems on catalogues of laws: run, resume, report.")


CatalogueName = Annotated[str, Argument(metavar="CATALOGUE", help="fastsrb, nguyen, ..., or a YAML file.")]


@app.command(name="list")
def list_(
    catalogue: Annotated[
        str | None, Argument(metavar="[CATALOGUE]", help="Its problems; without it, all catalogues and systems.")
    ] = None,
) -> None:
    """List catalogues and systems, or the problems of a catalogue.

    Example: flash-ansr bench list nguyen
    """
    from flash_ansr import catalogues

    if catalogue is not None:
        found = catalogues.load(catalogue)
        table = plain_table("problem", "difficulty", "variables", "formula")
        for p in found:
            note = f"  (excluded: {p.excluded})" if p.excluded else ""
            table.add_row(p.name, p.difficulty or "-", str(len(p.variables)), p.formula + note)
        console().print(table)
        print(f"{found.title}. {found.source}")
        return
    from flash_ansr.bench.systems import SYSTEMS

    table = plain_table("catalogue", "problems", "used", "title")
    for name in catalogues.names():
        found = catalogues.load(name)
        table.add_row(name, str(len(found)), str(len(found.included)), found.title)
    console().print(table)
    print(f"systems: {', '.join(SYSTEMS)}")


@app.command()
def show(
    catalogue: CatalogueName,
    problem: Annotated[str, Argument(metavar="PROBLEM", help="As in bench list.")],
    points: Annotated[int, Option(min=1, help="Rows to draw.")] = 256,
    dataset: Annotated[int, Option(min=0, help="Number of the data set.")] = 0,
    rows: Annotated[int, Option(min=0, help="Rows to print.")] = 5,
    plot: Annotated[Path | None, Option(help="Draw the data set into this PNG file.")] = None,
) -> None:
    """Show a problem: its law, its ranges and a sampled data set.

    Example: flash-ansr bench show fastsrb I.27.6 --plot law.png
    """
    from flash_ansr import catalogues

    law = catalogues.load(catalogue)[problem]
    sample = law.sample(points, dataset)
    print(f"{law.name}: {law.formula}")
    print(f"law         {law.expression}")
    print(f"difficulty  {law.difficulty or '-'}")
    if law.excluded:
        print(f"excluded    {law.excluded}")
    for k, variable in enumerate(law.variables, start=1):
        wide = variable.range.widened()
        bounds = f"{wide.low:.4g} to {wide.high:.4g}"
        print(f"x{k}          {variable.name}: {variable.range}, widened {bounds}")
    table = plain_table(*(f">x{k}" for k in range(1, len(law.variables) + 1)), ">y")
    for x, y in zip(sample.X[:rows], sample.y[:rows], strict=True):
        table.add_row(*(f"{value:.6g}" for value in (*x, y)))
    console().print(table)
    print(f"{points} rows, digest {sample.digest}, {sample.n_redrawn} drawn anew")
    if plot is not None:
        from flash_ansr.bench.report.figures import data_figure

        with replacing(plot) as part:
            data_figure(law, sample.X, sample.y).savefig(part, format="png")
        print(f"written to {plot}")


@app.command()
def run(
    catalogue: Annotated[
        str | None, Argument(metavar="[CATALOGUE]", help="fastsrb, nguyen, ..., a YAML file, or pmlb for tables.")
    ] = None,
    data: Annotated[
        str | None, Option(metavar="FOLDER", help="Tables for pmlb: *.tsv.gz or *.csv, the target last.")
    ] = None,
    system: Annotated[str, Option(help="As in bench list.")] = "ours",
    budget: Annotated[
        list[float] | None,
        Option(help="Seconds for a fit; may be repeated. [default: 5; none where a setting limits the work]"),
    ] = None,
    datasets: Annotated[int, Option(min=1, help="Data sets for each problem; splits of a table.")] = 1,
    points: Annotated[
        list[int] | None, Option(help="Rows to fit; may be repeated. [default: 256, of tables at most 10,000]")
    ] = None,
    noise: Annotated[
        list[float] | None, Option(help="Relative noise on the targets; may be repeated. [default: 0]")
    ] = None,
    setting: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="A setting of the system; may be repeated.")
    ] = None,
    problem: Annotated[list[str] | None, Option(help="Only this problem; may be repeated.")] = None,
    limit: Annotated[int | None, Option(min=1, help="Only so many problems, spread over the catalogue.")] = None,
    sweep: Annotated[Path | None, Option(help="YAML file that says all of this, for many runs.")] = None,
    out: Annotated[Path, Option(help="Folder for the rows; a run that is there is continued.")] = Path("results"),
    jobs: Annotated[int, Option(min=1, help="Fits at the same time, each in a process of its own.")] = 1,
    threads: Annotated[int | None, Option(min=1, help="Cores for a fit. [default: all, shared by the jobs]")] = None,
    dask: Annotated[str | None, Option(metavar="ADDRESS", help="Run on the workers of a Dask scheduler.")] = None,
    retry: Annotated[bool, Option("--retry", help="Run once more what failed.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run a system on a catalogue; a run that was stopped goes on where it was.

    Example: flash-ansr bench run fastsrb --system power_law --out results/power-law
    """
    from flash_ansr.bench.execute import law_digest, run_task
    from flash_ansr.bench.plan import WORK_LIMITS, Plan, read_plans
    from flash_ansr.bench.rows import BenchError
    from flash_ansr.bench.runner import run as run_tasks
    from flash_ansr.bench.systems import SystemMissingError

    if (catalogue is None) == (sweep is None):
        raise BenchError("name a catalogue, or a file by --sweep, and not both")
    if sweep is not None:
        plans = read_plans(sweep)
    else:
        assert catalogue is not None
        settings = _settings(setting or [])
        # a number of formulas, generations or beams is a budget too
        usual: list[float | None] = [None] if settings.keys() & WORK_LIMITS else [5.0]
        chosen = {"points": points, "noise": noise, "problems": problem}  # where nothing is chosen, the plan's own
        given: dict[str, Any] = {name: values for name, values in chosen.items() if values}
        given |= {"data": data, "system": system, "settings": settings, "datasets": datasets, "limit": limit}
        plans = [Plan(catalogue, budget=list(budget or usual), **given)]
    if dask is not None and threads is None:
        raise BenchError("with --dask say by --threads how many cores a fit may use on a worker")
    make_parent(out)
    n_threads = threads or max(1, (os.cpu_count() or 1) // jobs)
    incomplete = False
    for plan in plans:
        path = out / f"{Path(plan.catalogue).stem}-{plan.system}.jsonl"
        try:
            tables = plan.tables
            execute, digest = (run_task, law_digest) if tables is None else (tables.run_task, tables.digest)
            summary = run_tasks(
                plan.tasks(n_threads),
                path,
                jobs=jobs,
                dask=dask,
                retry=retry,
                show_progress=not quiet,
                execute=execute,
                digest=digest,
            )
        except SystemMissingError as error:  # others of a sweep may be there
            if len(plans) == 1:
                raise
            print(f"left out: {error}", file=sys.stderr)
            incomplete = True
            continue
        before = f"{summary.n_before} were there"
        before += f", {summary.n_failed_before} of them failures (--retry)" if summary.n_failed_before else ""
        print(f"{path}: {summary.n_added} rows added, {before}, {summary.n_failed} failures")
        if summary.first_error is not None:
            print(f"first failure: {summary.first_error}", file=sys.stderr)
        incomplete |= 0 < summary.n_added == summary.n_failed
        if summary.interrupted:
            print("interrupted; the same command goes on from here")
            raise typer.Exit(130)
    print(f"report: flash-ansr bench report {out}")
    if incomplete:
        raise typer.Exit(1)


@app.command()
def report(
    paths: Annotated[list[Path], Argument(metavar="DIR", help="Folders or files with rows.")],
    fmt: Annotated[Literal["text", "markdown", "latex"], Option("--format", help="Of the table.")] = "text",
    every_metric: Annotated[bool, Option("--all", help="Every metric.")] = False,
    out: Annotated[Path | None, Option(help="Also write tables and figures into this folder.")] = None,
    quiet: Quiet = False,
) -> None:
    """Print a table of results; with --out also figures.

    Example: flash-ansr bench report results --out report
    """
    from flash_ansr.bench.report import read_groups, write_report
    from flash_ansr.bench.report.tables import table

    if out is not None:
        make_parent(out)
    groups = read_groups(paths, show_progress=not quiet)
    width = console().width if sys.stdout.isatty() else None
    print(table(groups, fmt, every_metric, width))
    if out is not None:
        for path in write_report(groups, out):
            print(f"written to {path}")


def _settings(texts: list[str]) -> dict[str, Any]:
    """Settings such as `pipeline=paper`; values as YAML reads them."""
    import yaml

    from flash_ansr.bench.rows import BenchError

    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise BenchError(f"--set must be NAME=VALUE, as in pipeline=paper, got {text!r}")
        settings[name] = yaml.safe_load(value)
    return settings

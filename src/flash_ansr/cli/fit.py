"""`flash-ansr fit` and `flash-ansr predict`: a law from a file, and its values on another."""

from __future__ import annotations

import json
import sys
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from simplipy.errors import SimplipyError

if TYPE_CHECKING:
    from flash_ansr import FlashANSR
    from flash_ansr.infer.pipeline import Callback, Progress

# names are the user's: [red] and :smile: mean nothing
console = Console(markup=False, emoji=False, highlight=False)

_SECONDS_BETWEEN_FILES = 0.5
_MAX_ROWS = 12


class Selection(Enum):
    """How the law is chosen."""

    SCORE = "score"
    VALIDATION = "validation"
    BIC = "bic"


class PipelineName(Enum):
    """How proposals are treated."""

    FULL = "full"
    PAPER = "paper"


def fit(
    data: Annotated[Path, typer.Argument(help="Table: .csv, .tsv, .parquet or .npz.")],
    target: Annotated[str | None, typer.Option(help="Column that the law gives; 'y' where there is one.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns that it may use, with commas; all numeric ones.")
    ] = None,
    time_limit: Annotated[float, typer.Option("--time", help="Seconds for the search.")] = 10.0,
    samples: Annotated[int | None, typer.Option(help="Formulas to draw at most, instead of a time.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result, rewritten as candidates arrive.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.")] = None,
    gamma: Annotated[float, typer.Option(help="Price of a token in decades of the unexplained variance.")] = 0.05,
    operators: Annotated[str | None, typer.Option(help="Operators that may occur, with commas.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Tokens of a law at most.")] = None,
    selection: Annotated[Selection, typer.Option(help="How the law is chosen.")] = Selection.SCORE,
    pipeline: Annotated[PipelineName, typer.Option(help="How proposals are treated.")] = PipelineName.FULL,
    proposers: Annotated[str | None, typer.Option(help="Who proposes, with commas; all that can work here.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Folder of a trained network.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress line.")] = False,
) -> None:
    """Find a law for a column of a table.

    Example: flash-ansr fit data.csv --target y --time 10 --out run/
    """
    from flash_ansr import FlashANSR
    from flash_ansr.infer.saving import FIGURE_FILE
    from flash_ansr.infer.table_files import choose_columns, read_table_file

    X, y, left_out = choose_columns(read_table_file(data), target, _listed(features) or ())
    model = FlashANSR(
        time_limit=None if samples is not None else time_limit,
        n_samples=samples,
        pipeline=pipeline.value,
        proposers=_listed(proposers) or "auto",
        gamma=gamma,
        selection=selection.value,
        operators=_listed(operators),
        max_length=max_length,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        callback=None if out is None else _writer(out, list(X.columns)),
        verbose=int(not quiet and not as_json and sys.stderr.isatty()),
    )
    try:
        model.fit(X, y)
        if out is not None:
            model.callback = None
            model.save(out)
            model.plot().savefig(out / FIGURE_FILE, dpi=120)
    except ValueError as error:
        raise SimplipyError(str(error)) from None
    name = str(y.name)
    if as_json:
        print(json.dumps(_facts(model, name, left_out, out), ensure_ascii=False))
    else:
        _show(model, name, left_out, out)


def predict(
    run: Annotated[Path, typer.Argument(help="Folder that `flash-ansr fit --out` wrote.")],
    data: Annotated[Path, typer.Argument(help="Table with the columns of the law.")],
    out: Annotated[Path | None, typer.Option(help="CSV file for the table with the column 'prediction'.")] = None,
    index: Annotated[int, typer.Option(min=0, help="Row of candidates.csv to use; 0 is the law.")] = 0,
) -> None:
    """Values of a law on the rows of a file.

    Example: flash-ansr predict run/ new.csv --out predicted.csv
    """
    from flash_ansr import FlashANSR
    from flash_ansr.infer.table_files import TableError, read_table_file

    table = read_table_file(data)
    try:
        model = FlashANSR.load(run)
        names = list(model.feature_names_in_)
        missing = [name for name in names if name not in table]
        if missing:
            raise TableError(f"{data} lacks the column {missing[0]!r} of the fit; it has: {', '.join(table.columns)}")
        values = model.predict(table[names], index)
    except (ValueError, IndexError) as error:
        raise SimplipyError(str(error)) from None
    if out is None:
        print("prediction", *map(repr, values.tolist()), sep="\n")
        return
    partial = out.with_name(out.name + ".part")  # a reader never sees half a file
    table.assign(prediction=values).to_csv(partial, index=False)
    partial.replace(out)
    print(f"{len(values)} rows: {out}")


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _writer(folder: Path, names: list[str]) -> Callback:
    """A callback that keeps ``candidates.csv`` of the run folder up to date."""
    from flash_ansr.infer.law import Law
    from flash_ansr.infer.report import candidate_table
    from flash_ansr.infer.saving import start_folder, write_candidates

    start_folder(folder)
    last = -_SECONDS_BETWEEN_FILES

    def write(progress: Progress) -> None:
        nonlocal last
        if progress.elapsed - last >= _SECONDS_BETWEEN_FILES and progress.front:
            last = progress.elapsed
            front = sorted(progress.front, key=lambda c: c.rank)
            write_candidates(folder, candidate_table(front, [Law(c.expression, names).named for c in front]))

    return write


def _facts(model: FlashANSR, target: str, left_out: list[str], out: Path | None) -> dict[str, Any]:
    best = model.candidates_.iloc[0]
    return {
        "target": target,
        "law": str(model.expression_),
        "latex": model.latex(),
        "fvu": float(best["fvu"]),
        "length": int(best["length"]),
        "proposer": str(best["proposer"]),
        "baseline": str(model.baseline_),
        "columns_left_out": left_out,
        "out": None if out is None else str(out),
        "report": model.report_,
    }


def _best_of(front: Any) -> Any:
    """The rows of the front that score best, by length."""
    return front.nsmallest(_MAX_ROWS, "score").sort_values("length")


def _show(model: FlashANSR, target: str, left_out: list[str], out: Path | None) -> None:
    front = model.candidates_[model.candidates_["pareto"]].sort_values("length")
    shown = Table("", "length", "FVU", "score", "proposer", title=f"candidates for {target}")
    shown.add_column("formula", overflow="fold")
    for row in _best_of(front).to_dict("records"):
        is_law = row["expression"] == model.expression_
        cells = (str(row["length"]), f"{row['fvu']:.2e}", f"{row['score']:.2f}", str(row["proposer"]))
        shown.add_row("→" if is_law else "", *cells, row["expression"].infix(precision=4))
    console.print(shown)
    report = model.report_
    console.print(f"law    {target} = {model.expression_.infix(precision=6)}", soft_wrap=True)
    console.print(f"LaTeX  {model.latex()}", soft_wrap=True)
    rate = report["fitted"] / max(report["seconds"], time.get_clock_info("monotonic").resolution)
    console.print(
        f"search {report['seconds']:.1f} s, {report['drawn']:,} drawn, {report['unique']:,} distinct, "
        f"{report['fitted']:,} fitted ({rate:,.0f}/s); {report['stop_reason']}"
    )
    if report["law_is_baseline"]:
        console.print("note   no formula that was found does better than the linear baseline")
    if left_out:
        console.print(f"note   columns left out, not numeric: {', '.join(left_out)}")
    if report["left_out_columns"]:
        console.print(f"note   columns left out of the search: {', '.join(report['left_out_columns'])}")
    if out is not None:
        console.print(f"files  {out}/: result.json, candidates.csv, law.png")

"""`flash-ansr fit` and `flash-ansr predict`: a law from a file, and its values on another."""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from flash_ansr.infer.table.operator_presets import PRESETS, described
from simplipy.cli.terminal import AsJson, Decimal, Separator, console, print_notes, refuse_same_file
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_parent
from simplipy.fit.score import GAMMA

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from flash_ansr import FlashANSR
    from flash_ansr.infer.search.progress import Callback, Progress
    from flash_ansr.infer.table.table_files import Columns

_OPERATORS_HELP = (
    "Operators that may occur, with commas, or the name of a preset; of laws in physics, kinetics or engineering those "
    "that one in a hundred uses. " + "; ".join(f"{name}: {described(name)}" for name in PRESETS if name != "all")
) + "; all: every operator, also erf, min and max."
_SECONDS = 10.0
_SECONDS_BETWEEN_FILES = 0.5
_MOST_LISTED = 8


DataFile = Annotated[Path, Argument(metavar="DATA", help="Table: .csv, .txt, .dat, .tsv, .xlsx, .parquet or .npz.")]
Sheet = Annotated[str | None, Option(help="Sheet of an Excel file: its name, or its number. [default: the first]")]
Header = Annotated[
    bool | None, Option("--header/--no-header", help="Whether the first line has names. [default: found out]")
]


# options of the estimator's parameters
_OPTIONS = {
    "time_limit": "--time",
    "n_samples": "--samples",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "max_length": "--max-length",
    "proposers": "--proposers",
    "operators": "--operators",
    "gamma": "--gamma",
}


def _with_option(message: str) -> str:
    """The message with the file and its options instead of X and parameters."""
    message = (
        message.replace("X contains", "the table contains")
        .replace("X must have", "the table must have")
        .replace(" of X", "", 1)
    )
    message = re.sub(r'(?:set_params\()?missing="(\w+)"\)?', r"--missing \1", message)
    name, _, rest = message.partition(" ")
    return f"{_OPTIONS[name]} {rest.replace(' or None', '')}" if name in _OPTIONS else message


def fit(
    data: DataFile,
    target: Annotated[str | None, Option(help="Column that the law gives; 'y' where there is one.")] = None,
    features: Annotated[str | None, Option(help="Columns that it may use, with commas; all but the target.")] = None,
    missing: Annotated[Literal["error", "drop", "median"], Option(help="What becomes of rows with gaps.")] = "error",
    time_limit: Annotated[
        float | None, Option("--time", help="Seconds for the search. [default: 10; none with --samples]")
    ] = None,
    samples: Annotated[int | None, Option(help="Formulas to draw at most.")] = None,
    out: Annotated[Path | None, Option(help="Folder for the result, rewritten as candidates arrive.")] = None,
    seed: Annotated[int | None, Option(help="Of everything random.")] = None,
    gamma: Annotated[float, Option(help="Price of a token in decades of the unexplained variance.")] = GAMMA,
    operators: Annotated[str | None, Option(help=_OPERATORS_HELP)] = None,
    max_length: Annotated[int | None, Option(help="Tokens of a law at most.")] = None,
    selection: Annotated[
        Literal["auto", "accuracy", "parsimony", "score", "validation", "bic"],
        Option(help="How the law is chosen."),
    ] = "auto",
    loss: Annotated[
        Literal["squared", "huber", "log_cosh", "relative"],
        Option(help="What fits minimise; relative for errors in per cent."),
    ] = "squared",
    pipeline: Annotated[Literal["full", "paper"], Option(help="How proposals are treated.")] = "full",
    proposers: Annotated[str | None, Option(help="Who proposes, with commas; all that can work here.")] = None,
    checkpoint: Annotated[Path | None, Option(help="Folder of a trained network, or of its training run.")] = None,
    jobs: Annotated[int | None, Option(help="Threads.")] = None,
    sheet: Sheet = None,
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, Option("--quiet", help="No progress line.")] = False,
) -> None:
    """Find a law for a column of a table.

    Example: flash-ansr fit data.csv --target y --time 10 --out run/
    """
    began = time.monotonic()
    from flash_ansr import FlashANSR
    from flash_ansr.infer.result.saving import check_folder
    from flash_ansr.infer.table.table_files import choose_columns, read_table_file
    from simplipy.files.text_tables import TextFormat

    table = read_table_file(data, TextFormat(separator, decimal, header), sheet)
    print_notes(table.notes)
    columns = choose_columns(table.frame, target, _listed(features, "features") or (), missing)
    X, y = columns.features, columns.target
    if out is not None:
        make_parent(out)
        check_folder(out)
    model = FlashANSR(
        time_limit=_SECONDS if samples is None and time_limit is None else time_limit,
        n_samples=samples,
        pipeline=pipeline,
        proposers=_listed(proposers, "proposers") or "auto",
        gamma=gamma,
        selection=selection,
        loss=loss,
        missing=missing,
        operators=operators if operators in PRESETS else _listed(operators, "operators"),
        max_length=max_length,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        callback=None if out is None else _writer(out, X.shape[1]),
        verbose=int(not quiet and not as_json and sys.stderr.isatty()),
    )
    try:
        model.fit(X, y)
    except ValueError as error:
        raise SimplipyError(_with_option(str(error))) from None
    fitted = time.monotonic()
    name = str(y.name)
    units = {column: table.units[column] for column in (*X.columns, name) if column in table.units}
    if as_json:
        left_out = [*columns.left_out, *model.report_["left_out_columns"]]
        print(json.dumps(_facts(model, name, left_out, out) | {"units": units}, ensure_ascii=False))
    else:
        _show(model, columns, units)
    if out is not None:  # after the law is printed: a full disk does not lose it
        model.callback = None
        model.save(out, plot=True)
        if not as_json:
            console().print(f"files  {out}/: result.json, candidates.csv, law.png")
    if not as_json:
        before, after = fitted - began - model.report_["seconds"], time.monotonic() - fitted
        print(_time_text(model.report_["seconds"], before, after if out is not None else None))


def _time_text(search: float, before: float, after: float | None) -> str:
    """Where the seconds of a command went: a time limit holds for the search alone."""
    writing = "" if after is None else f", {after:.1f} s after it to write files"
    total = search + before + (after or 0.0)
    return (
        f"time   {total:.1f} s: {search:.1f} s of search, {before:.1f} s before it to load libraries and data{writing}"
    )


def predict(
    run: Annotated[Path, Argument(help="Folder that `flash-ansr fit --out` wrote.")],
    data: Annotated[Path, Argument(metavar="DATA", help="Table with the columns that the law uses.")],
    out: Annotated[Path | None, Option(help="Text or Parquet file: the table and 'prediction'.")] = None,
    index: Annotated[int, Option(min=0, help="Row of candidates.csv to use; 0 is the law.")] = 0,
    sheet: Sheet = None,
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
) -> None:
    """Values of a law on the rows of a file.

    Example: flash-ansr predict run/ new.csv --out predicted.csv
    """
    from flash_ansr import FlashANSR
    from flash_ansr.infer.table.table_files import read_table_file, write_table_file
    from simplipy.files.text_tables import TextFormat

    refuse_same_file(out, data)
    read = read_table_file(data, TextFormat(separator, decimal, header), sheet)
    print_notes(read.notes)
    table = read.frame.rename(columns=str)
    try:
        model = FlashANSR.load(run)
        if index >= len(model.candidates_):
            raise IndexError(f"--index must be a row of candidates.csv, 0 to {len(model.candidates_) - 1}, got {index}")
        if model.missing == "error":
            model.set_params(missing="drop")  # one gap is no reason to refuse the other rows
        values = _predicted(model, table, index, str(data))
    except (ValueError, IndexError) as error:
        raise SimplipyError(str(error).replace("of X", f"of {data}", 1)) from None
    if out is None:
        print("prediction", *map(repr, values.tolist()), sep="\n")
        return
    if "prediction" in table:
        print_notes([f"the column 'prediction' of {data} is replaced"])
    write_table_file(out, table.assign(prediction=values))
    print(f"{len(values)} row{'s' * (len(values) != 1)}: {out}")


def _predicted(model: FlashANSR, table: pd.DataFrame, index: int, data: str) -> npt.NDArray[np.float64]:
    """Values of a candidate; notes tell of gaps, of rows where it is undefined, and of texts that the fit did not see.

    A column that it does not use may be absent, or anything.
    """
    import numpy as np
    import pandas as pd

    from flash_ansr.infer.table.table_files import find_column

    needed = model.columns_used(index)
    for name in needed:
        find_column(name, list(table.columns), f"{data} has")
    is_named = hasattr(model, "feature_names_in_")
    names = model.feature_names_in_ if is_named else [f"x{k + 1}" for k in range(model.n_features_in_)]
    X = pd.DataFrame({str(n): table[n] if n in needed else np.nan for n in names}, index=table.index)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        values = model.predict(X if is_named else X.to_numpy(), index)
    print_notes(str(warning.message) for warning in told)
    gaps = table[needed].isna().any(axis=1).to_numpy()
    undefined = np.isnan(values) & ~gaps
    what = "are filled" if model.missing == "median" else "have no prediction"
    for rows, why in (
        (gaps, f"{what}: a gap in a column that the law uses"),
        (undefined, "have no prediction: the law is undefined there"),
    ):
        if rows.any():
            print_notes([f"{rows.sum()} of {len(rows)} rows {why}, first in row {rows.argmax() + 1}"])
    return values


def _listed(text: str | None, option: str) -> list[str] | None:
    """Names with commas between them."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise SimplipyError(f"--{option} must be names with commas between them, got {text!r}; leave it out for all")
    return names


def _writer(folder: Path, n_columns: int) -> Callback:
    """A callback that keeps ``candidates.csv`` of the run folder up to date; the first one clears the folder."""
    from flash_ansr.infer.result.saving import start_folder, write_candidates
    from flash_ansr.infer.result.search_report import candidate_table

    last: float | None = None

    def write(progress: Progress) -> None:
        nonlocal last
        if progress.front and (last is None or progress.elapsed - last >= _SECONDS_BETWEEN_FILES):
            if last is None:
                start_folder(folder)
            last = progress.elapsed
            front = sorted(progress.front, key=lambda c: c.rank)
            write_candidates(folder, candidate_table(front, [c.expression for c in front], n_columns))

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


def _why_baseline(model: FlashANSR, y: Any, target: str) -> str:
    """The reason why the law is a baseline."""
    if y.nunique() == 1:
        return f"{target} is the same in every row"
    name = "linear" if model.expression_.variables else "a constant"
    if model.report_["fitted"] == 0:
        return f"no formula was fitted, so that the law is {name}; give the search more time or fewer restrictions"
    return f"the law is {name}: no formula that was found tells enough more about {target} to be worth its length"


def _show(model: FlashANSR, columns: Columns, units: Mapping[str, str]) -> None:
    from flash_ansr.infer.result.front_table import front_table
    from flash_ansr.infer.result.rivals import rivals_text
    from flash_ansr.infer.result.search_report import unsafe_text

    target = str(columns.target.name)
    report = model.report_
    console().print(front_table(model.candidates_, target, (report["residuals"] or {}).get("longer")))
    console().print(f"law    {target} = {model.expression_.infix(precision=6)}", soft_wrap=True)
    console().print(f"LaTeX  {model.latex(precision=6)}", soft_wrap=True)
    rate = report["fitted"] / max(report["seconds"], time.get_clock_info("monotonic").resolution)
    screened = f", {report['screened']:,} ruled out on a few rows" if report["screened"] else ""
    console().print(
        f"search {report['seconds']:.1f} s, {report['drawn']:,} drawn, {report['unique']:,} distinct{screened}, "
        f"{report['fitted']:,} fitted ({rate:,.0f}/s)",
        soft_wrap=True,
    )
    console().print(f"end    {report['stop_reason']}")
    if report["law_is_baseline"]:
        console().print(f"note   {_why_baseline(model, columns.target, target)}", soft_wrap=True)
    if note := unsafe_text(report):
        console().print(f"note   {note}", soft_wrap=True)
    if report["noise"]:
        kind = "of its value" if report["noise_kind"] == "proportional" else f"of the deviation of {target}"
        console().print(f"noise  {100 * report['noise']:.2g} % {kind}")
    if report["residuals"]:
        console().print(f"left   {report['residuals']['text']}", soft_wrap=True)
    if report["rivals"]:
        console().print(f"note   {rivals_text(report['rivals'])}", soft_wrap=True)
    if units:
        console().print(f"units  {', '.join(f'{column}: {unit}' for column, unit in units.items())}", soft_wrap=True)
    if report["left_out_rows"]:
        console().print(f"note   rows left out for their gaps: {report['left_out_rows']}")
    for note in report["input_notes"]:
        console().print(f"note   {note}", soft_wrap=True)
    left_out = _left_out(columns.left_out | report["left_out_columns"])
    if left_out:
        console().print(f"note   columns left out: {left_out}", soft_wrap=True)


def _left_out(reasons: Mapping[str, str]) -> str:
    """Columns with the reasons why they are left out; of many with the same reason, the first ones."""
    texts = []
    for why in dict.fromkeys(reasons.values()):
        names = [name for name, reason in reasons.items() if reason == why]
        more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        texts.append(f"{', '.join(names[:_MOST_LISTED])}{more} ({why})")
    return "; ".join(texts)

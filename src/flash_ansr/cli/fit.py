"""`flash-ansr fit` and `flash-ansr predict`: a law from a file, and its values on another."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.table import Table
from typer import Argument, Option

from flash_ansr.infer.table.operator_presets import PRESETS, described
from simplipy.cli.terminal import AsJson, Decimal, Separator, console, print_notes, refuse_same_file
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_parent
from simplipy.files.text_tables import TextFormat
from simplipy.fit.score import GAMMA

if TYPE_CHECKING:
    from flash_ansr import FlashANSR
    from flash_ansr.infer.search.progress import Callback, Progress
    from flash_ansr.infer.table.table_files import Columns

_OPERATORS_HELP = (
    "Operators that may occur, with commas, or the name of a preset; of laws in physics, kinetics or engineering those "
    "that one in a hundred uses. " + "; ".join(f"{name}: {described(name)}" for name in PRESETS if name != "all")
) + "; all: every operator, also erf, min and max."
_SECONDS = 10.0
_SECONDS_BETWEEN_FILES = 0.5
_MAX_ROWS = 12


DataFile = Annotated[Path, Argument(metavar="DATA", help="Table: .csv, .txt, .dat, .tsv, .parquet or .npz.")]
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
    """The message with the option for the parameter that it begins with."""
    name, _, rest = message.partition(" ")
    return f"{_OPTIONS[name]} {rest.replace(' or None', '')}" if name in _OPTIONS else message


def fit(
    data: DataFile,
    target: Annotated[str | None, Option(help="Column that the law gives; 'y' where there is one.")] = None,
    features: Annotated[str | None, Option(help="Columns that it may use, with commas; all numeric ones.")] = None,
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
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, Option("--quiet", help="No progress line.")] = False,
) -> None:
    """Find a law for a column of a table.

    Example: flash-ansr fit data.csv --target y --time 10 --out run/
    """
    from flash_ansr import FlashANSR
    from flash_ansr.infer.result.saving import check_folder
    from flash_ansr.infer.table.table_files import choose_columns, read_table_file

    table = read_table_file(data, TextFormat(separator, decimal, header))
    print_notes(table.notes)
    columns = choose_columns(table.frame, target, _listed(features, "features") or ())
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
    name = str(y.name)
    if as_json:
        print(json.dumps(_facts(model, name, list(columns.left_out), out), ensure_ascii=False))
    else:
        _show(model, columns, name)
    if out is not None:  # after the law is printed: a full disk does not lose it
        model.callback = None
        model.save(out, plot=True)
        if not as_json:
            console.print(f"files  {out}/: result.json, candidates.csv, law.png")


def predict(
    run: Annotated[Path, Argument(help="Folder that `flash-ansr fit --out` wrote.")],
    data: Annotated[Path, Argument(metavar="DATA", help="Table with the columns that the law uses.")],
    out: Annotated[Path | None, Option(help="Text or Parquet file: the table and 'prediction'.")] = None,
    index: Annotated[int, Option(min=0, help="Row of candidates.csv to use; 0 is the law.")] = 0,
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
) -> None:
    """Values of a law on the rows of a file.

    Example: flash-ansr predict run/ new.csv --out predicted.csv
    """
    from flash_ansr import FlashANSR
    from flash_ansr.infer.table.table_files import complete_numbers, find_column, read_table_file, write_table_file

    refuse_same_file(out, data)
    read = read_table_file(data, TextFormat(separator, decimal, header))
    print_notes(read.notes)
    table = read.frame
    try:
        model = FlashANSR.load(run)
        if index >= len(model.candidates_):
            raise IndexError(f"--index must be a row of candidates.csv, 0 to {len(model.candidates_) - 1}, got {index}")
        used = model.candidates_["expression"].iloc[index].variables
        for name in used:
            find_column(name, list(map(str, table.columns)), f"{data} has")
            complete_numbers(table[name], f"{data}: the column {name!r}")
        # a column that the law does not use may be absent, or anything
        named = hasattr(model, "feature_names_in_")
        names = model.feature_names_in_ if named else [f"x{k + 1}" for k in range(model.n_features_in_)]
        columns = table.iloc[:, :0].assign(**{str(n): table[n] if n in used else 0.0 for n in names})
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            values = model.predict(columns if named else columns.to_numpy(), index)
    except (ValueError, IndexError) as error:
        raise SimplipyError(str(error)) from None
    print_notes(str(warning.message) for warning in told)
    if out is None:
        print("prediction", *map(repr, values.tolist()), sep="\n")
        return
    if "prediction" in table:
        print_notes([f"the column 'prediction' of {data} is replaced"])
    write_table_file(out, table.assign(prediction=values))
    print(f"{len(values)} row{'s' * (len(values) != 1)}: {out}")


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


def _show(model: FlashANSR, columns: Columns, target: str) -> None:
    from flash_ansr.infer.result.progress_display import fvu_text
    from flash_ansr.infer.result.search_report import unsafe_text

    front = model.candidates_[model.candidates_["pareto"]].nsmallest(_MAX_ROWS, "score").sort_values("length")
    shown = Table("", "length", "FVU", "score", "proposer", title=f"candidates for {target}")
    shown.add_column("formula", overflow="fold")
    for index, row in front.to_dict("index").items():
        is_law = index == 0
        cells = (str(row["length"]), fvu_text(row["fvu"]), f"{row['score']:.2f}", str(row["proposer"]))
        shown.add_row("→" if is_law else "", *cells, row["expression"].infix(precision=4))
    shown.caption = "→ the law; of scores the lower is better"
    console.print(shown)
    report = model.report_
    console.print(f"law    {target} = {model.expression_.infix(precision=6)}", soft_wrap=True)
    console.print(f"LaTeX  {model.latex(precision=6)}", soft_wrap=True)
    rate = report["fitted"] / max(report["seconds"], time.get_clock_info("monotonic").resolution)
    screened = f", {report['screened']:,} ruled out on a few rows" if report["screened"] else ""
    console.print(
        f"search {report['seconds']:.1f} s, {report['drawn']:,} drawn, {report['unique']:,} distinct{screened}, "
        f"{report['fitted']:,} fitted ({rate:,.0f}/s); {report['stop_reason']}"
    )
    if report["law_is_baseline"]:
        console.print(f"note   {_why_baseline(model, columns.target, target)}", soft_wrap=True)
    if note := unsafe_text(report):
        console.print(f"note   {note}", soft_wrap=True)
    if report["noise"]:
        kind = "of its value" if report["noise_kind"] == "proportional" else f"of the deviation of {target}"
        console.print(f"noise  {100 * report['noise']:.2g} % {kind}")
    if columns.left_out:
        not_numeric = [f"{column} ({why})" for column, why in columns.left_out.items()]
        console.print(f"note   columns left out, not numeric: {', '.join(not_numeric)}")
    if report["left_out_columns"]:
        level = {name for name, values in columns.features.items() if values.nunique() == 1}
        unused = [f"{c} (the same in every row)" if c in level else c for c in report["left_out_columns"]]
        console.print(f"note   columns left out of the search: {', '.join(unused)}")

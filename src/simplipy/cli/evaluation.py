"""The command `simplipy eval`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

import simplipy
from simplipy.cli.formulas import Formula
from simplipy.cli.terminal import AsJson, Decimal, Separator, console, print_notes, refuse_same_file
from simplipy.errors import SimplipyError
from simplipy.files.output_files import replacing


def evaluate(
    expr: Formula,
    data: Annotated[Path, typer.Option(help="CSV, TSV or other text table; columns bind by name.")],
    out: Annotated[Path | None, typer.Option(help="Write the data and the column 'value' to this CSV file.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of the table to print.")] = 10,
    separator: Separator = None,
    decimal: Decimal = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a formula on the rows of a file.

    Example: simplipy eval "pi*radius^2" --data circles.csv
    """
    import pandas as pd
    from rich.table import Table

    from simplipy.expression.indicators import source_column
    from simplipy.files.text_tables import TextFormat, read_text_table

    e = simplipy.parse(expr)
    if e.n_constants:
        raise SimplipyError(f"write a number for each <constant> in {e}: a free constant has no value")
    refuse_same_file(out, data)
    read = read_text_table(data, TextFormat(separator, decimal))
    print_notes(read.notes)
    frame = read.frame
    values = e(frame).tolist()
    n_undefined = sum(math.isnan(v) for v in values)
    if out is not None:
        with replacing(out) as partial:
            frame.assign(value=values).to_csv(partial, index=False)
    if as_json:
        # JSON has neither NaN nor infinities
        printable = [v if math.isfinite(v) else None if math.isnan(v) else str(v) for v in values]
        print(json.dumps({"infix": e.infix(), "n_rows": len(values), "n_undefined": n_undefined, "values": printable}))
        return
    shown = frame[list(dict.fromkeys(n if n in frame else source_column(n) for n in e.variables))].head(rows)
    table = Table()
    for name in (*shown.columns, e.infix(precision=6)):
        table.add_column(name, justify="right")
    for row, value in zip(shown.itertuples(index=False), values[:rows], strict=False):
        table.add_row(*(f"{cell:.6g}" if pd.api.types.is_number(cell) else str(cell) for cell in row), f"{value:.6g}")
    console().print(table)
    print(f"{len(values)} rows, {n_undefined} undefined" + (f"; written to {out}" if out else ""))

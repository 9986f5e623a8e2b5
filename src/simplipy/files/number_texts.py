"""Numbers as people write them: 1,234.5 and 1 000 and 12,5 and 12 % and 3.0D+00, also with a typographer's minus.

A column of texts is read only where all of its values are numbers in one convention: with decimal points, or with
decimal commas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_EXPONENT = r"(?:[eEdD][+-]?\d+)?"
_GROUPED = r"[1-9]\d{0,2}(?:%s\d{3})+"
_PLAIN = re.compile(rf"[+-]?(?:\d+\.?\d*|\.\d+){_EXPONENT}")
# by decimal sign: numbers with commas
_WITH_COMMAS = {
    ".": re.compile(rf"[+-]?{_GROUPED % ','}(?:\.\d*)?"),
    ",": re.compile(rf"[+-]?(?:\d*|{_GROUPED % '[.]'}),\d+{_EXPONENT}"),
}
# without commas: of those with decimal commas, points stand between thousands
_WITHOUT_COMMAS = {".": _PLAIN, ",": re.compile(rf"[+-]?(?:\d+{_EXPONENT}|{_GROUPED % '[.]'})")}
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?!\d))")
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}


@dataclass(frozen=True, slots=True, eq=False)
class NumberTexts:
    """A column of texts that are numbers.

    Attributes
    ----------
    values : float64 array (n_rows,)
        NaN where there is no value.
    decimal : str
        The decimal sign, "." or ",".
    example : str or None
        The first text that programs do not read as this number.
    """

    values: npt.NDArray[np.float64]
    decimal: str
    example: str | None


def is_missing(value: object) -> bool:
    """Whether a cell has no value: None, NaN, pandas' NA or NaT, or a text of blanks."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and math.isnan(value)


def numbers_from_texts(column: Iterable[Any], decimal: str | None = None) -> NumberTexts | None:
    """The numbers of a column, if all of its values are numbers or texts of numbers; otherwise None.

    Parameters
    ----------
    column : iterable
        One value a row.
    decimal : "." or ",", optional
        The decimal sign; without it, the texts show it. Commas such as that of 1,234 then stand between thousands.

    Examples
    --------
    >>> numbers_from_texts(["900", "1,234.5", "−2"]).values.tolist()
    [900.0, 1234.5, -2.0]
    >>> numbers_from_texts(["1,5", "12"]).values.tolist()
    [1.5, 12.0]
    >>> numbers_from_texts(["1", "two"])
    """
    cells = list(column)
    texts = [None if is_missing(cell) else cell.strip() if isinstance(cell, str) else cell for cell in cells]
    sign = decimal or decimal_sign(text for text in texts if isinstance(text, str))
    values = np.full(len(texts), math.nan)
    example, n_shares = None, 0
    for k, text in enumerate(texts):
        if text is None:
            continue
        number = _number(text, sign)
        if number is None:
            return None
        values[k] = number
        if isinstance(text, str) and not _is_plain(text):
            example = example or text
            n_shares += text.endswith("%")
    if n_shares not in (0, sum(text is not None for text in texts)):
        return None  # 12 % is 0.12, but is 0.5 beside it 0.5 %?
    return NumberTexts(values, sign, example)


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number that a text is, None if it is none.

    Examples
    --------
    >>> number_of("1 000"), number_of("12 %"), number_of("1.234,5", decimal=","), number_of("1,5")
    (1000.0, 0.12, 1234.5, None)
    """
    plain = _BETWEEN_THOUSANDS.sub("", text.strip().replace("\u2212", "-"))
    is_share = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    if (special := _SPECIAL.get(plain.lower().lstrip("+-"))) is not None:
        return -special if plain.startswith("-") else special
    known = _WITH_COMMAS if "," in plain else _WITHOUT_COMMAS
    if not known[decimal].fullmatch(plain):
        return None
    plain = plain.replace(",", "") if decimal == "." else plain.replace(".", "").replace(",", ".")
    number = float(plain.lower().replace("d", "e"))
    return number / 100 if is_share else number


def decimal_sign(texts: Iterable[str], otherwise: str = ".") -> str:
    """A comma if some of the texts show that it begins decimals, as 1,5 does, and none that a point does.

    Parameters
    ----------
    otherwise : "." or ","
        Where no text shows one or the other: 1,000 and 1.000 do not.
    """
    found = dict.fromkeys(_WITH_COMMAS, False)
    for text in texts:
        if "," in text or "." in text:
            readings = [sign for sign in found if number_of(text, sign) is not None]
            if len(readings) == 1:
                found[readings[0]] = True
    if not any(found.values()):
        return otherwise
    return "." if found["."] else ","


def why_not_numeric(column: Any) -> str | None:
    """Why a column is no numbers: its first value that is none, and its row; None for numbers, also written as text.

    Examples
    --------
    >>> import pandas as pd
    >>> why_not_numeric(pd.Series(["3", "three"]))
    "'three' in row 2 is no number"
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return "its values are complex numbers" if pd.api.types.is_complex_dtype(column) else None
    if is_time(column):
        return "its values are dates; convert them to a number such as seconds since the first"
    cells = list(column)
    if numbers_from_texts(cells) is not None:
        return None
    sign = decimal_sign(cell for cell in cells if isinstance(cell, str))
    for row, cell in enumerate(cells, start=1):
        if not is_missing(cell) and _number(cell, sign) is None:
            other = number_of(cell, "," if sign == "." else ".") if isinstance(cell, str) else None
            return f"{shown(cell)} in row {row} is no number" + ("" if other is None else f": write {other:.15g}")
    row, cell = next((k, c) for k, c in enumerate(cells, start=1) if isinstance(c, str) and c.strip().endswith("%"))
    return f"{shown(cell)} in row {row} is in per cent and others are not"


def shown(cell: object) -> str:
    """A cell as an error message shows it, without NumPy's types."""
    return repr(cell.item() if isinstance(cell, np.generic) else cell)


def is_time(column: Any) -> bool:
    """Whether the cells of a column are dates or durations."""
    import pandas as pd

    return pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column)


def _number(cell: Any, decimal: str) -> float | None:
    if isinstance(cell, str):
        return number_of(cell, decimal)
    if isinstance(cell, bytes):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

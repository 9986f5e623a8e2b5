"""What a law leaves, as facts and as sentences; ``residual_tests.py`` finds it out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Structure = Literal["trend", "bend", "runs", "near", "products"]
# outliers that are named
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Residuals:
    """What a law leaves.

    Attributes
    ----------
    is_random : bool or None
        Whether no structure was found; None where there are too few rows to tell.
    structure : {"trend", "bend", "runs", "near", "products"} or None
        The clearest one: residuals follow a column, bend along it, or keep their sign over stretches of it; rows that
        are alike have similar residuals; a quadratic polynomial in the columns predicts them.
    column : str or None
        The column that they follow; with "runs" None is the order of the rows.
    is_used : bool
        Whether the law uses that column.
    p_value : float or None
        Chance that pure noise looks as structured, in view of all tests.
    place : str or None
        Where they are farthest from 0 together, such as "in rows 12-19".
    scatter : str or None
        Where they scatter more, such as "where V is large".
    outliers : tuple of int
        Rows, counted from 1, that lie far off beside the others.
    is_rounding : bool
        Whether the law gives every digit of the target that there is.
    longer : int or None
        Row of ``candidates_`` with the shortest of the longer formulas on the front that leave random residuals.
    """

    is_random: bool | None
    structure: Structure | None = None
    column: str | None = None
    is_used: bool = True
    p_value: float | None = None
    place: str | None = None
    scatter: str | None = None
    outliers: tuple[int, ...] = ()
    is_rounding: bool = False
    longer: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The facts and the sentences, for a report."""
        return {**asdict(self), "outliers": list(self.outliers), "text": self.text}

    @property
    def text(self) -> str:
        """The sentences.

        Examples
        --------
        >>> print(Residuals(False, "bend", "V", place="in rows 12-19", longer=4).text)
        The residuals are not random: they bend along column V, most in rows 12-19. A longer formula with random residuals is in row 4 of the table.
        >>> print(Residuals(True, scatter="where V is large", outliers=(7,)).text)
        The residuals look random. They scatter more where V is large. 1 row lies far off: row 7.
        """  # noqa: E501
        if self.is_random is None:
            return "There are too few rows to tell whether the residuals are random."
        if self.is_rounding:
            return "The residuals are rounding: the law gives every digit that the target has."
        if self.is_random:
            sentences = ["The residuals look random."]
            if self.scatter:
                sentences.append(f"They scatter more {self.scatter}.")
        else:
            most = f", most {self.place}" if self.place else ""
            sentences = [f"The residuals are not random: {self._structure_text()}{most}."]
            if self.longer is not None:
                sentences.append(f"A longer formula with random residuals is in row {self.longer} of the table.")
        return " ".join([*sentences, *self._outlier_texts()])

    def _structure_text(self) -> str:
        column = f"column {self.column}" + ("" if self.is_used else ", which the law does not use")
        match self.structure:
            case "trend":
                return f"they follow {column}"
            case "bend":
                return f"they bend along {column}"
            case "runs":
                return f"they keep their sign over stretches of {'rows' if self.column is None else column}"
            case "near":
                return "rows that are alike have similar residuals"
            case _:
                return "a quadratic polynomial in the columns predicts them"

    def _outlier_texts(self) -> list[str]:
        n = len(self.outliers)
        if not n:
            return []
        named = ", ".join(map(str, self.outliers[:_MOST_NAMED])) + (", ..." if n > _MOST_NAMED else "")
        return [f"{n} {'row lies' if n == 1 else 'rows lie'} far off: {'row' if n == 1 else 'rows'} {named}."]

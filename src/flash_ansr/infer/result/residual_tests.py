"""Whether what a law leaves has structure, and which longer formula leaves less of it.

The level of 5 % is shared by the kinds of structure, and within a kind by the columns, so that pure noise is called
structured in at most 5 % of tables. Residuals count by their normal scores and columns by their ranks: a single large
value decides nothing. ``rank_tests.py`` has the tests that the choice of the law makes too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from flash_ansr.infer.candidates.noise_models import NoiseKind, is_rounding, noise_models
from flash_ansr.infer.candidates.rank_tests import RankedRows, standard
from flash_ansr.infer.result.law import Law
from flash_ansr.infer.result.residuals import Residuals, Structure
from flash_ansr.infer.table.ranks import ranks
from flash_ansr.infer.table.table import FloatArray, Rows, Table
from simplipy.fit.score import exact_fvu, is_exact
from simplipy.fit.unexplained import unit_of

# chance that pure noise is called structured, and the tests that share it: five kinds of structure, and scatter
_LEVEL = 0.05
_N_KINDS = 6
# rows that are looked at; with fewer there is no test
_MAX_ROWS = 768
_FEWEST_ROWS = 8
# columns that are looked at together, and of others those that are likest to the residuals
_MOST_COLUMNS = 60
_MOST_LIKE = 20
# share of rows with a value of their own from which runs along a column mean something
_DISTINCT = 0.5
# robust deviations beyond which a row lies far off; where rows are few the deviation itself is uncertain
_FAR = 5.0
_FAR_OF_FEW = 20.0
_DEVIATION_OF_MEDIAN = 1.4826
# quantiles that residuals are cut off at where places are sought
_NO_TAILS = (0.05, 0.95)
# longer formulas that are looked at
_MOST_LONGER = 8
# near rows and polynomials, where there is one column
_ALONG_ONE: dict[Structure, Structure] = {"near": "runs", "products": "bend"}

Finding = tuple[float, Structure, int | None]  # chance, kind, column


class ResidualTests:
    """Tests of the residuals of any formula on the rows of a table.

    Parameters
    ----------
    table : Table
    row_numbers : array (n_rows,)
        Of its rows in the table of the user, from 1.
    laws : sequence of Law
        That will be looked at: of very many columns, theirs come first.
    loss : str
        Of the fits.
    kind : {"constant", "proportional"} or None
        Of the noise.
    """

    def __init__(self, table: Table, row_numbers: Rows, laws: Sequence[Law], loss: str, kind: NoiseKind | None) -> None:
        rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _MAX_ROWS)).astype(np.int64)
        self._table, self._numbers = table.thinned(_MAX_ROWS), row_numbers[rows]
        models = noise_models(self._table, loss)
        self._model = next((m for m in models if m.kind == kind), models[0])
        used = [k for law in laws for k in _used(law)]
        self._columns = list(dict.fromkeys([*used, *range(table.n_columns)]))[:_MOST_COLUMNS]
        self._ranked: RankedRows | None = None

    def of(self, laws: Sequence[Law], candidates: pd.DataFrame) -> Residuals | None:
        """What the first of these laws leaves; None where it is exact or undefined.

        Parameters
        ----------
        laws : sequence of Law
        candidates : DataFrame
            The table of these laws.
        """
        if is_exact(candidates["fvu"].iloc[0], exact_fvu(self._table.y)):
            return None
        found = self.look(laws[0], int(candidates["n_constants"].iloc[0]))
        if found is None or found.is_random is not False:
            return found
        for row in _longer(candidates):
            other = self.look(laws[row], int(candidates["n_constants"].iloc[row]))
            if other is None or other.is_random:
                return replace(found, longer=row)
        return found

    def look(self, law: Law, n_constants: int) -> Residuals | None:
        """What a law leaves; None where it leaves nothing or is undefined."""
        table = self._table
        unit, sizes = unit_of(table.y), self._model.sizes
        values = law.values(table.X)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = (table.y / unit - values / unit) / (sizes / unit_of(sizes))
        if not np.isfinite(errors).all() or not errors.any():
            return None
        if table.n_rows < _FEWEST_ROWS:
            return Residuals(None)
        if is_rounding(table.y - values, table.y):
            return Residuals(True, is_rounding=True)
        outliers = tuple(self._numbers[_far_off(errors)].tolist())
        r = _normal_scores(errors)
        findings = [f for f in self._findings(r, n_constants) if f[0] <= _LEVEL]
        if not findings:
            return Residuals(True, scatter=self._scatter(errors, values, law), outliers=outliers)
        named = [f for f in findings if f[1] in ("trend", "bend") or f[2] is not None]
        p_value, structure, k = min(named or findings, key=lambda f: f[0])
        if table.n_columns == 1 and structure in _ALONG_ONE:
            structure, k = _ALONG_ONE[structure], 0
        return Residuals(
            False,
            structure,
            column=None if k is None else law.names[k],
            is_used=k is None or k in _used(law),
            p_value=p_value,
            place=self._place(errors, structure, k, law.names),
            outliers=outliers,
        )

    @property
    def _rows(self) -> RankedRows:
        if self._ranked is None:
            self._ranked = RankedRows(self._table.X[:, self._columns])
        return self._ranked

    def _findings(self, r: FloatArray, n_constants: int) -> Iterator[Finding]:
        """Kinds of structure, with the chance that noise has so much of any of them."""
        from scipy.special import fdtrc, ndtr

        n, n_columns = len(r), self._table.n_columns
        yield _N_KINDS * float(ndtr(-self._rows.near_deviations(r))), "near", None
        explained, k = self._rows.explained(r, n_constants)
        if n - 1 - k > 0:
            ratio = (explained / k) / max((1 - explained) / (n - 1 - k), 1e-300)
            yield _N_KINDS * float(fdtrc(k, n - 1 - k, ratio)), "products", None
        yield _N_KINDS * (n_columns + 1) * _chance_of_runs(r), "runs", None
        columns, u = self._one_by_one(r)
        chances = zip(columns, *_chances_of_polynomial(u, r), strict=True)
        for (column, of_trend, of_bend), x in zip(chances, u.T, strict=True):
            yield _N_KINDS * n_columns * of_trend, "trend", column
            yield _N_KINDS * n_columns * of_bend, "bend", column
            if len(np.unique(x)) >= _DISTINCT * n:
                of_runs = _chance_of_runs(r[np.argsort(x, kind="stable")])
                yield _N_KINDS * (n_columns + 1) * of_runs, "runs", column

    def _one_by_one(self, r: FloatArray) -> tuple[list[int], FloatArray]:
        """Columns to look at one by one, and their ranks: of very many also those that are likest to the residuals."""
        X = self._table.X
        if len(self._columns) == X.shape[1]:
            return self._columns, self._rows.ranks
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            likeness = np.nan_to_num(np.abs(X.T @ r) / X.std(axis=0), posinf=0.0)
        likeness[self._columns] = -1.0
        more = np.argsort(-likeness)[:_MOST_LIKE].tolist()
        others = np.column_stack([standard(ranks(X[:, k])) for k in more])
        return [*self._columns, *more], np.column_stack([self._rows.ranks, others])

    def _scatter(self, errors: FloatArray, values: FloatArray, law: Law) -> str | None:
        """Where the residuals scatter more."""
        sizes = _normal_scores(np.abs(errors))
        u = np.column_stack([self._rows.ranks, standard(ranks(values))])
        chances = _chances_of_polynomial(u, sizes)[0]
        k = int(np.argmin(chances))
        if _N_KINDS * (self._table.n_columns + 1) * chances[k] > _LEVEL:
            return None
        name = law.names[self._columns[k]] if k < len(self._columns) else "the law"
        relative = "relative to the target " if self._model.kind == "proportional" else ""
        return f"{relative}where {name} is {'large' if u[:, k] @ sizes > 0 else 'small'}"

    def _place(self, errors: FloatArray, structure: Structure, column: int | None, names: Sequence[str]) -> str | None:
        """The stretch along the column, or the order of rows, over which residuals are farthest from 0 together."""
        if structure in ("near", "products"):
            return None
        x = np.arange(len(errors)) if column is None else self._table.X[:, column]
        order = np.argsort(x, kind="stable")
        clipped = np.clip(errors - errors.mean(), *np.quantile(errors - errors.mean(), _NO_TAILS))
        inside = order[_farthest_stretch(clipped[order])]
        if inside.max() - inside.min() + 1 == len(inside):
            first, last = self._numbers[[inside.min(), inside.max()]].tolist()
            return f"in row {first}" if first == last else f"in rows {first}-{last}"
        return None if column is None else f"where {names[column]} is {x[inside].min():.3g} to {x[inside].max():.3g}"


def _used(law: Law) -> list[int]:
    """The columns of a law."""
    return [int(name.removeprefix("x")) - 1 for name in law.expression.variables]


def _longer(candidates: pd.DataFrame) -> list[int]:
    """Rows of longer formulas on the front, by length, that do not predict other rows worse."""
    law = candidates.iloc[0]
    is_worse = candidates["r2_cv"] < law["r2_cv"]  # False where one of them was not tried
    front = candidates[candidates["pareto"] & (candidates["length"] > law["length"]) & ~is_worse]
    return [int(row) for row in front.sort_values("length").index[:_MOST_LONGER]]


def _normal_scores(values: FloatArray) -> FloatArray:
    """Values of a normal sample with the same ranks, of mean 0 and variance 1."""
    from scipy.special import ndtri

    return standard(np.asarray(ndtri((ranks(values) + 0.625) / (len(values) + 0.25))))


def _chances_of_polynomial(u: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chances that noise follows columns (n_rows, n_columns) so much, and that it bends so much along them."""
    from scipy.special import stdtr

    n = len(r)
    trend = u.T @ r / n
    squares = u**2
    squares -= squares.mean(axis=0) + u * (squares * u).mean(axis=0)
    left = r[:, None] - u * trend
    sizes = np.sqrt((squares**2).mean(axis=0) * (left**2).mean(axis=0))
    bend = np.divide((squares * left).mean(axis=0), sizes, out=np.zeros_like(sizes), where=sizes > 1e-6)

    def chance(correlation: FloatArray, freedom: int) -> FloatArray:
        deviations = np.abs(correlation) * np.sqrt(freedom / np.maximum(1 - correlation**2, 1e-12))
        return np.asarray(2 * stdtr(freedom, -deviations))

    return chance(trend, n - 2), chance(bend, n - 3)


def _chance_of_runs(r: FloatArray) -> float:
    """Chance that the signs of noise have so few runs."""
    from scipy.special import ndtr

    is_above = r > 0
    n, n_above = len(r), int(np.count_nonzero(is_above))
    n_runs = 1 + np.count_nonzero(is_above[1:] != is_above[:-1])
    mean = 2 * n_above * (n - n_above) / n + 1
    variance = (mean - 1) * (mean - 2) / (n - 1)
    return float(ndtr((n_runs - mean + 0.5) / np.sqrt(variance))) if variance > 0 else 1.0


def _farthest_stretch(r: FloatArray) -> slice:
    """The stretch with the largest sum of one sign."""
    sums = np.concatenate([[0.0], np.cumsum(r)])
    best, stretch = -np.inf, slice(0, len(r))
    for signed in (sums, -sums):
        gains = signed[1:] - np.minimum.accumulate(signed[:-1])
        end = int(np.argmax(gains)) + 1
        if gains[end - 1] > best:
            best, stretch = float(gains[end - 1]), slice(int(np.argmin(signed[:end])), end)
    return stretch


def _far_off(errors: FloatArray) -> Rows:
    """Rows that lie far off beside the others."""
    distances = np.abs(errors - np.median(errors))
    deviation = _DEVIATION_OF_MEDIAN * float(np.median(distances))
    far = _FAR + _FAR_OF_FEW / len(errors)
    return np.flatnonzero(distances > far * deviation) if deviation > 0 else np.empty(0, dtype=np.int64)

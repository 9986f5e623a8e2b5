"""The estimator: ``FlashANSR().fit(X, y)`` finds a law. Follows scikit-learn; the search itself is in infer."""

from __future__ import annotations

import numbers
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flash_ansr.infer.baseline import linear_baseline
from flash_ansr.infer.budget import Budget
from flash_ansr.infer.columns import select_columns
from flash_ansr.infer.law import Law
from flash_ansr.infer.pipeline import Callback, Pipeline, Settings
from flash_ansr.infer.proposals import Grammar, Table
from flash_ansr.infer.report import candidate_table, posterior_table, run_report
from flash_ansr.infer.saving import SavedResult, read_result, write_result
from flash_ansr.infer.search import MAX_COLUMNS, SearchOptions, make_pipeline, why_not_neural
from flash_ansr.infer.selection import choose
from simplipy import OPERATORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Selection = Literal["score", "validation", "bic"]
_SELECTIONS = ("score", "validation", "bic")
_VALIDATION_SHARE = 0.25


class FlashANSR(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Symbolic regression: a short formula for y in the columns of X.

    Parameters
    ----------
    time_limit : float or None, default 10.0
        Seconds for the search, imports not counted.
    n_samples : int or None
        Formulas to draw at most. Without a time limit the result is then the same on every run with the same
        ``random_state``, whatever ``n_jobs``.
    pipeline : {"full"}
        How proposals are treated.
    proposers : "auto" or list of str
        Who proposes formulas: "closed_form", "neural", "prior".
    gamma : float, default 0.05
        Price of a token in decades of the unexplained variance.
    selection : {"score", "validation", "bic"}
        How the law is chosen among the candidates: by the paper's score, by the score on a quarter of the rows that
        the fits do not see, or by the Bayesian information criterion.
    operators : list of str or None
        Tokens of the operators that may occur (see ``simplipy.OPERATORS``).
    max_length, max_depth : int or None
        Limits of the formula.
    target_fvu : float or None
        Stop when the law leaves no more of the variance unexplained than this.
    loss : {"squared", "huber", "log_cosh", "relative"}
        What the fit of constants minimises.
    X_units, y_units : None
        Reserved for physical units.
    callback : callable or None
        Called with a :class:`flash_ansr.infer.pipeline.Progress` after every round; a true result stops the search.
    warm_start : bool
        Go on from the candidates of the last fit when X and y are the same.
    random_state : int or None
        Seed of everything random; None draws one, which ``report_`` tells.
    n_jobs : int or None
        Threads of the native parts.
    device : str
        Of the network.
    checkpoint : path or None
        Folder of a trained network; None takes the bundled one.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    expression_ : Expression
        The law, with its numbers, in the names of the columns.
    candidates_ : DataFrame
        expression, length, fvu, score, log_prob, n_constants, proposer, pareto; best first.
    report_ : dict
        Budget, seconds, formulas drawn, unique and fitted, why the search stopped, seed, versions.
    baseline_ : Expression
        Linear least squares.
    posterior_ : DataFrame
        Probability over canonical forms under the network; empty without it.
    """

    def __init__(
        self,
        time_limit: float | None = 10.0,
        n_samples: int | None = None,
        pipeline: Literal["full"] = "full",
        proposers: Literal["auto"] | Sequence[str] = "auto",
        gamma: float = 0.05,
        selection: Selection = "score",
        operators: Sequence[str] | None = None,
        max_length: int | None = None,
        max_depth: int | None = None,
        target_fvu: float | None = None,
        loss: Literal["squared", "huber", "log_cosh", "relative"] = "squared",
        X_units: Any = None,
        y_units: Any = None,
        callback: Callback | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "auto",
        checkpoint: str | Path | None = None,
        verbose: int = 0,
    ) -> None:
        self.time_limit = time_limit
        self.n_samples = n_samples
        self.pipeline = pipeline
        self.proposers = proposers
        self.gamma = gamma
        self.selection = selection
        self.operators = operators
        self.max_length = max_length
        self.max_depth = max_depth
        self.target_fvu = target_fvu
        self.loss = loss
        self.X_units = X_units
        self.y_units = y_units
        self.callback = callback
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose

    # ---- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FlashANSR:
        """Search a law for y.

        Parameters
        ----------
        X : array or DataFrame (n_rows, n_columns)
        y : array (n_rows,)
        sample_weight : array (n_rows,), optional
        """
        set_up = time.monotonic()
        grammar = self._checked_options()
        whole = self._checked_table(X, y, sample_weight)
        seed = self._seed()
        columns = select_columns(whole, MAX_COLUMNS, seed)
        selected = Table(whole.X[:, columns], whole.y, whole.sample_weight)
        train, held_out = _split(selected, seed) if self.selection == "validation" else (selected, None)
        pipeline = self._pipeline_for(train, grammar, seed)
        budget = Budget(self.time_limit, self.n_samples)
        seconds = time.monotonic() - set_up
        stop = self._run(pipeline, budget)
        names = self._column_names()
        kept = [names[k] for k in columns]
        candidates = pipeline.archive.candidates()
        baseline = linear_baseline(selected, self.gamma)
        law, chosen = choose(candidates, baseline, selected, held_out, self.selection, self.gamma)
        self._pipeline = pipeline
        self._columns = columns
        self._laws = [Law(c.expression, kept) for c in chosen]
        self._law = Law(law.expression, kept)
        self.expression_ = self._law.named
        self._baseline = Law(baseline.expression, kept)
        self.baseline_ = self._baseline.named
        self.candidates_ = candidate_table(chosen, [law.named for law in self._laws], pipeline.archive.front())
        self.posterior_ = posterior_table(pipeline.log_evidence, kept)
        self.report_ = run_report(pipeline, budget, stop, seconds, seed)
        self.report_["columns"] = kept
        self.report_["law_is_baseline"] = law is baseline
        self.report_["neural"] = why_not_neural(self.checkpoint) or "available"
        return self

    def _checked_options(self) -> Grammar:
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit must be > 0 seconds or None, got {self.time_limit}")
        if self.n_samples is not None and self.n_samples < 1:
            raise ValueError(f"n_samples must be >= 1 or None, got {self.n_samples}")
        if self.time_limit is None and self.n_samples is None and self.target_fvu is None:
            raise ValueError("give a time_limit, n_samples or a target_fvu: the search would never end")
        if str(self.pipeline) != "full":
            raise ValueError(f"pipeline must be 'full', got {self.pipeline!r}")
        if self.selection not in _SELECTIONS:
            raise ValueError(f"selection must be one of {', '.join(map(repr, _SELECTIONS))}, got {self.selection!r}")
        if not self.gamma >= 0:
            raise ValueError(f"gamma must be >= 0, got {self.gamma}")
        if self.X_units is not None or self.y_units is not None:
            raise ValueError("X_units and y_units are not supported yet; leave them out")
        for name in ("max_length", "max_depth"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be >= 1 or None, got {value}")
        return Grammar(_operator_set(self.operators), self.max_length, self.max_depth)

    def _checked_table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        _check_finite(X)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        if sample_weight is None:
            return Table(X, y)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != y.shape:
            raise ValueError(f"sample_weight must have one entry a row, {len(y)}, got the shape {weights.shape}")
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise ValueError("sample_weight must be finite and >= 0, with at least one entry > 0")
        rows = weights > 0  # a row without weight is no row
        return Table(X[rows], y[rows], weights[rows])

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        if not isinstance(self.random_state, numbers.Integral) or self.random_state < 0:
            raise ValueError(f"random_state must be an integer >= 0 or None, got {self.random_state!r}")
        return int(self.random_state)

    def _pipeline_for(self, table: Table, grammar: Grammar, seed: int) -> Pipeline:
        settings = Settings(
            gamma=self.gamma,
            loss=self.loss,
            target_fvu=self.target_fvu,
            random_state=seed,
            n_threads=self.n_jobs,
        )
        options = SearchOptions(self.proposers, self.checkpoint, self.device)
        pipeline = make_pipeline(table, grammar, options, settings)
        last: Pipeline | None = getattr(self, "_pipeline", None)
        if self.warm_start and last is not None and _same_rows(last.table, table):
            pipeline.archive = last.archive
        return pipeline

    def _run(self, pipeline: Pipeline, budget: Budget) -> Any:
        if not self.verbose:
            return pipeline.run(budget, self.callback)
        from flash_ansr.infer.display import SearchDisplay

        with SearchDisplay(budget) as display:
            return pipeline.run(budget, display.following(self.callback))

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{k + 1}" for k in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    # ---- results

    def predict(self, X: Any, index: int | None = None) -> npt.NDArray[np.float64]:
        """Values of the law on the rows of X; NaN where it is undefined.

        Parameters
        ----------
        X : array or DataFrame (n_rows, n_columns)
        index : int, optional
            Row of ``candidates_`` to use instead of the law.
        """
        check_is_fitted(self, "expression_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if index is not None and not 0 <= index < len(self._laws):
            raise IndexError(f"index must be a row of candidates_, 0 to {len(self._laws) - 1}, got {index}")
        law = self._law if index is None else self._laws[index]
        return law.values(X[:, self._columns])

    def latex(self, precision: int | None = 4) -> str:
        """The law as LaTeX."""
        check_is_fitted(self, "expression_")
        return self.expression_.latex(precision=precision)

    def sympy(self) -> Any:
        """The law as a SymPy expression."""
        check_is_fitted(self, "expression_")
        return self.expression_.to_sympy()

    def plot(self) -> Figure:
        """Fit, residuals and the front of candidates."""
        check_is_fitted(self, "expression_")
        if not hasattr(self, "_pipeline"):
            raise ValueError("the rows of the fit are not saved with a result; fit again to plot")
        from flash_ansr.infer.plots import plot_result

        return plot_result(self._pipeline.table, self._law, self.candidates_)

    def save(self, folder: str | Path) -> None:
        """Write the result as a folder that people can read: ``result.json`` and ``candidates.csv``."""
        check_is_fitted(self, "expression_")
        saved = SavedResult(
            parameters={k: v for k, v in self.get_params().items() if isinstance(v, str | int | float | list | None)},
            columns=self._column_names(),
            named_columns=hasattr(self, "feature_names_in_"),
            selected=self._columns.tolist(),
            law=self._law,
            baseline=self._baseline,
            laws=self._laws,
            candidates=self.candidates_,
            report=self.report_,
        )
        write_result(folder, saved)

    @classmethod
    def load(cls, folder: str | Path) -> FlashANSR:
        """Read what ``save`` wrote; the estimator can predict, but not go on searching."""
        saved = read_result(folder)
        estimator = cls(**saved.parameters)
        estimator.n_features_in_ = len(saved.columns)
        if saved.named_columns:
            estimator.feature_names_in_ = np.array(saved.columns, dtype=object)
        estimator._columns = np.array(saved.selected, dtype=np.int64)
        estimator._law, estimator._baseline, estimator._laws = saved.law, saved.baseline, list(saved.laws)
        estimator.expression_, estimator.baseline_ = saved.law.named, saved.baseline.named
        estimator.candidates_, estimator.report_ = saved.candidates, dict(saved.report)
        estimator.posterior_ = posterior_table({}, saved.law.names)
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "expression_")


def _operator_set(operators: Sequence[str] | None) -> frozenset[str]:
    if operators is None:
        return frozenset(OPERATORS)
    unknown = [name for name in operators if name not in OPERATORS]
    if unknown:
        import difflib

        near = difflib.get_close_matches(str(unknown[0]), OPERATORS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {' '.join(OPERATORS)}"
        raise ValueError(f"unknown operator {unknown[0]!r}; {hint}")
    return frozenset(operators)


def _check_finite(X: Any) -> None:
    """Name the columns of a DataFrame that hold NaN or infinities; arrays are checked by scikit-learn."""
    if not hasattr(X, "columns"):
        return
    bad = []
    for name in X.columns:
        try:
            column = np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"column {name!r} of X is not numeric; convert or drop it") from None
        if column.ndim == 1 and not np.isfinite(column).all():
            bad.append(str(name))
    if bad:
        raise ValueError(f"X contains NaN or infinity in the columns {', '.join(bad)}; drop or fill these rows first")


def _same_rows(a: Table, b: Table) -> bool:
    return np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y)


def _split(table: Table, seed: int) -> tuple[Table, Table]:
    """Rows to fit on and rows to choose by."""
    order = np.random.default_rng(seed).permutation(table.n_rows)
    n_held = max(1, int(_VALIDATION_SHARE * table.n_rows))
    parts = (np.sort(order[n_held:]), np.sort(order[:n_held]))
    weights = table.sample_weight
    train, held_out = (Table(table.X[r], table.y[r], None if weights is None else weights[r]) for r in parts)
    return train, held_out

"""The estimator: ``FlashANSR().fit(X, y)`` finds a law. Follows scikit-learn; the search itself is in infer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted
from threadpoolctl import threadpool_limits

from flash_ansr.checkpoint.folder import find_checkpoint
from flash_ansr.infer.candidates.safety import Safety, safety_of
from flash_ansr.infer.proposers.base import Proposer
from flash_ansr.infer.result.extrapolation import FittedRanges
from flash_ansr.infer.result.law import Law
from flash_ansr.infer.result.residual_tests import ResidualTests
from flash_ansr.infer.result.rivals import rivals
from flash_ansr.infer.result.saving import SavedResult, read_result, stored_parameters, write_result
from flash_ansr.infer.result.search_report import candidate_table, chosen_row, posterior_table, search_report
from flash_ansr.infer.search.budget import Budget, Stop, reserve_of, uninterrupted
from flash_ansr.infer.search.many_rows import grown
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.search.progress import Callback
from flash_ansr.infer.search.set_up import SearchOptions, check_device, load_proposers, load_torch, make_pipeline
from flash_ansr.infer.search.warm_start import LastSearch
from flash_ansr.infer.selection.criteria import PREDICTING, SELECTIONS
from flash_ansr.infer.selection.final_choice import SearchResult, conclude
from flash_ansr.infer.settings import FullPipeline, PaperPipeline, Settings, chosen_pipeline, pipeline_from
from flash_ansr.infer.table import input_checks
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.operator_presets import Preset
from flash_ansr.infer.table.preparation import MISSING, Missing, Prepared, prepare, variables_of
from flash_ansr.infer.table.sampling import sampled
from flash_ansr.infer.table.table import split_rows
from flash_ansr.price import usual_prices
from simplipy.fit.score import GAMMA
from simplipy.fit.unexplained import unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# numbers in a table from which to look at it takes a part of a second
_LARGE_TABLE = 200_000

Selection = Literal["auto", "accuracy", "parsimony", "score", "validation", "bic"]


class FlashANSR(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Symbolic regression: a short formula for y in the columns of X.

    Parameters
    ----------
    time_limit : float or None, default 10.0
        Seconds for the search, finite, imports not counted. Below 8 s the network takes part only where it is named by
        ``proposers`` or ``checkpoint``.
    n_samples : int or None
        Formulas to draw at most. With ``time_limit=None`` the result is then the same on every run with the same
        ``random_state``, whatever ``n_jobs``.
    pipeline : {"full", "paper"}, FullPipeline or PaperPipeline
        How proposals are treated: with all that helps, or as in the paper. ``FullPipeline`` and ``PaperPipeline`` of
        ``flash_ansr.infer.settings`` have switches, such as the temperature of sampling.
    proposers : "auto" or list of str and Proposer
        Who proposes formulas: "closed_form", "textbook", "enumerate", "local", "neural", "prior", or objects of own
        classes, of which a search takes copies; "auto" takes all of these names that can work here.
    gamma : float, default 0.05
        Price of a token in decades of the unexplained variance. With fewer than 60 rows it rises as their number falls,
        since few rows are soon fitted by chance; ``report_`` has it.
    selection : {"auto", "accuracy", "parsimony", "score", "validation", "bic"}
        How the law is chosen among the candidates. "auto" takes an exact law if there is one; with fewer than 200 rows,
        or where it leaves noise alone, the shortest description; otherwise the cheapest of the formulas that predict
        rows that they were not fitted to about as well as the best. "accuracy" takes the best of these, "parsimony" the
        cheapest with nine tenths of its explained variance. "score" is the paper's score, "validation" the score on a
        quarter of the rows that the fits do not see, "bic" the Bayesian information criterion.
    operators : list of str, str or None
        Tokens of the operators that may occur (see ``simplipy.OPERATORS``), or a preset: "polynomial", "physics",
        "kinetics", "engineering" for what laws of these fields use, "all" for those that are off by default too.
    max_length, max_depth : int or None
        Limits of the formula.
    target_fvu : float or None
        Stop when the law leaves no more of the variance unexplained than this, or than rounding does; 0 goes on to the
        end of the budget, whatever is found.
    loss : {"squared", "huber", "log_cosh", "relative"}
        The quantity that the fit of constants minimises.
    missing : {"error", "drop", "median"}
        Gaps in columns are refused; rows with gaps are left out, and have NaN as prediction where the law needs the
        gap; or gaps are filled with the median, or the most frequent text, of the rows of the fit.
    X_units, y_units : None
        Names kept for physical units, which this version does not use: anything but None is an error.
    callback : callable or None
        Called with a ``flash_ansr.infer.search.progress.Progress`` after every round, its candidates in the names of
        the columns; a true result stops the search.
    warm_start : bool
        Go on from the candidates of the last fit, when the rows, their weights and all that limits, fits or ranks
        formulas are the same; otherwise start afresh.
    random_state : int or None
        Seed of everything random; None draws one, which is in ``report_``.
    n_jobs : int or None
        Threads of the native parts; None takes what pays off.
    device : str
        Of the network: "auto" takes the fastest; one that torch does not have is an error.
    checkpoint : path or None
        Folder of a trained network, or of a training run, whose newest checkpoint is taken; None takes the network in
        the package.
    verbose : int
        1 shows progress on stderr: a bar on a terminal, elsewhere a line for each better law. 2 also prints the front
        of candidates at the end.

    Attributes
    ----------
    expression_ : Expression
        The law, with its numbers, in the names of the columns.
    candidates_ : DataFrame
        expression (an Expression), length, fvu, r2_cv (share of the variance explained in rows that it was not fitted
        to, less what the choice of its form gains by chance; NaN where that was not tried), score, log_prob,
        n_constants, proposer, price (of its form, in nats), pareto, safe; best first, each law once. Row 0 is the
        law; of scores the lower is the better one.
    report_ : dict
        Budget, seconds, formulas drawn, unique, ruled out on a few rows and fitted, why the search stopped, the noise
        (0 for an exact law) and its kind, whether the residuals look random, whether the law is safe, seed, versions.
    baseline_ : Expression
        Linear least squares.
    posterior_ : DataFrame
        Probability over canonical forms under the network; empty without it.
    """

    def __init__(
        self,
        time_limit: float | None = 10.0,
        n_samples: int | None = None,
        pipeline: Literal["full", "paper"] | FullPipeline | PaperPipeline = "full",
        proposers: Literal["auto"] | Sequence[str | Proposer] = "auto",
        gamma: float = GAMMA,
        selection: Selection = "auto",
        operators: Sequence[str] | Preset | None = None,
        max_length: int | None = None,
        max_depth: int | None = None,
        target_fvu: float | None = None,
        loss: Literal["squared", "huber", "log_cosh", "relative"] = "squared",
        missing: Missing = "error",
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
        self.missing = missing
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
            Columns of texts and categories of a DataFrame become indicators such as ``(colour == "red")``; ordered
            categories become their codes.
        y : array (n_rows,)
        sample_weight : array (n_rows,), optional
        """
        grammar, settings = self._checked_options()
        options = self._search_options()
        began = time.monotonic()
        prepared = self._prepared(X, y, sample_weight)
        checked = time.monotonic()
        load_proposers(options)
        if options.loads_first(settings, self._seconds_of_clock):
            load_torch(options)
        usual_prices()  # read once a process, as modules are
        set_up = time.monotonic() - checked
        budget = Budget(self.time_limit, input_checks.checked_count("n_samples", self.n_samples))
        budget.started -= checked - began
        # its matrices are small: threads of BLAS gain nothing, and on a busy machine wait for each other for seconds
        with threadpool_limits(1, user_api="blas"):
            self._search(prepared, grammar, settings, options, budget, set_up)
        self._target = str(getattr(y, "name", None) or "y")
        if self.verbose > 1:
            from flash_ansr.infer.result.front_table import print_front

            print_front(self.candidates_, self._target)
        return self

    @property
    def _seconds_of_clock(self) -> float | None:
        """None without a clock: then the network takes part from the first round, and the result is always the same."""
        return None if self.n_samples is not None else self.time_limit

    def _search(
        self,
        prepared: Prepared,
        grammar: Grammar,
        settings: Settings,
        options: SearchOptions,
        budget: Budget,
        set_up: float,
    ) -> None:
        seed, policy = settings.random_state, settings.pipeline
        first_rows, most_rows = policy.first_rows(self.time_limit), policy.most_rows(self.time_limit)
        rows, held_out = prepared.table, None
        if self.selection == "validation":
            rows, held_out = (rows.at(part) for part in split_rows(rows.n_rows, seed))
            held_out = held_out.thinned(most_rows)
        searched = sampled(rows, first_rows, seed)
        pipeline = make_pipeline(searched, grammar, options, settings, self._seconds_of_clock)
        last: LastSearch | None = getattr(self, "_last_search", None)
        if self.warm_start and last is not None:
            last.hand_over(pipeline)
        if policy.tidies:
            budget.predicts = self.selection in PREDICTING
            budget.looking = budget.elapsed if rows.X.size > _LARGE_TABLE else 0.0
            budget.reserve = reserve_of(self.time_limit, searched is not rows, budget.predicts, budget.looking)
        stop = self._run(pipeline, budget, prepared.encoding.names)
        while stop in (Stop.EXACT, Stop.EXHAUSTED) and (more := grown(pipeline, rows, most_rows)) is not None:
            pipeline = make_pipeline(more, grammar, options, settings, self._seconds_of_clock)
            stop = self._run(pipeline, budget, prepared.encoding.names)
        result = conclude(pipeline, stop, budget, rows, held_out, self.selection)
        safeties = uninterrupted(
            lambda: safety_of([c.expression for c in result.candidates], prepared.table, settings.n_threads)
        )
        uninterrupted(lambda: self._store(pipeline, prepared, result, safeties))
        self._fitted_rows = (prepared.table, prepared.row_numbers)
        self._residual_tests = ResidualTests(*self._fitted_rows, self._laws, self.loss, result.noise_kind)
        said = uninterrupted(lambda: self._said_of_law(prepared.table.n_rows))
        names, facts = prepared.encoding.names, prepared.facts()
        self.report_ = search_report(pipeline, options, budget, result, safeties[0], names, set_up, facts, said)

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can work with, as ``fit`` does.

        Raises
        ------
        ValueError
            The message names the parameter, what it must be, and its value.
        """
        self._checked_options()
        self._search_options()

    def _search_options(self) -> SearchOptions:
        checkpoint = None if self.checkpoint is None else find_checkpoint(self.checkpoint)
        options = SearchOptions(self.proposers, checkpoint, self.device)
        check_device(options)
        return options

    def _checked_options(self) -> tuple[Grammar, Settings]:
        input_checks.check_seconds("time_limit", self.time_limit)
        input_checks.checked_count("n_samples", self.n_samples)
        input_checks.check_share("target_fvu", self.target_fvu)
        limits = {name: input_checks.checked_count(name, getattr(self, name)) for name in ("max_length", "max_depth")}
        if self.time_limit is None and self.n_samples is None and not self.target_fvu:
            raise ValueError("give a time_limit, n_samples or a target_fvu: the search would never end")
        input_checks.check_price("gamma", self.gamma)
        if self.missing not in MISSING:
            raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}, got {self.missing!r}")
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection must be one of {', '.join(map(repr, SELECTIONS))}, got {self.selection!r}")
        pipeline = chosen_pipeline(self.pipeline)
        pipeline.check(self.proposers, has_budget=self.time_limit is not None or self.n_samples is not None)
        if self.X_units is not None or self.y_units is not None:
            raise ValueError("X_units and y_units must be None: this version does not use units; leave them out")
        settings = Settings(
            gamma=self.gamma,
            loss=self.loss,
            target_fvu=self.target_fvu,
            random_state=input_checks.checked_seed(self.random_state),
            n_threads=input_checks.checked_threads(self.n_jobs),
            pipeline=pipeline,
        )
        return Grammar(input_checks.checked_operators(self.operators), **limits), settings

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        y = input_checks.checked_target(y, self.missing)
        X = input_checks.validated(self, X, is_fit=True)
        check_consistent_length(X, y)
        return prepare(X, y, sample_weight, self.missing)

    def _store(self, pipeline: Pipeline, prepared: Prepared, result: SearchResult, safeties: Sequence[Safety]) -> None:
        """Keep what there is to show."""
        kept = prepared.encoding.names
        self._encoding = prepared.encoding
        self._last_search = LastSearch.of(pipeline, keep=self.warm_start)
        self._ranges = FittedRanges(prepared.table.ranges.tolist())
        self._laws = [Law(c.expression, kept) for c in result.candidates]
        self._baseline = Law(result.baseline.expression, kept)
        self.expression_ = self._laws[0].named
        self.baseline_ = self._baseline.named
        named = [law.named for law in self._laws]
        self.candidates_ = candidate_table(result.candidates, named, len(kept), safeties)
        self.posterior_ = posterior_table(pipeline.form_probabilities.log_probs, kept)

    def _said_of_law(self, n_rows: int) -> dict[str, Any]:
        """What the law leaves, where its rows are there, and the formulas that describe few rows about as well."""
        tests: ResidualTests | None = getattr(self, "_residual_tests", None)
        residuals = None if tests is None else tests.of(self._laws, self.candidates_)
        others = [] if self.selection == "bic" else rivals(self.candidates_, n_rows)  # its scores are no decades
        return {"residuals": None if residuals is None else residuals.to_json(), "rivals": others}

    def _run(self, pipeline: Pipeline, budget: Budget, names: Sequence[str]) -> Stop:
        display: AbstractContextManager[Callback | None] = nullcontext(self.callback)
        if self.verbose:
            from flash_ansr.infer.result.progress_display import search_display

            display = search_display(budget, self.callback)
        with display as callback:
            return pipeline.run(budget, callback and (lambda progress: callback(progress.named(names))))

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{k + 1}" for k in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    # ---- results

    def columns_used(self, index: int = 0) -> list[str]:
        """Names of the columns of X that a law needs.

        Parameters
        ----------
        index : int
            Row of ``candidates_``; 0 is the law.
        """
        check_is_fitted(self, "expression_")
        return self._encoding.columns_of(self._laws[index].named.variables)

    def predict(self, X: Any, index: int | None = None) -> npt.NDArray[np.float64]:
        """Values of the law on the rows of X; NaN where it is undefined.

        With ``missing="drop"`` also in rows with a gap in a column that the law uses. A text that no row of the fit had
        counts as none of its levels, and a warning names it. Another one, an ``ExtrapolationWarning``, says once that
        rows lie outside the ranges of the fit.

        Parameters
        ----------
        X : array or DataFrame (n_rows, n_columns)
        index : int, optional
            Row of ``candidates_`` to use instead of the law.
        """
        check_is_fitted(self, "expression_")
        if index is not None and not 0 <= index < len(self._laws):
            raise IndexError(f"index must be a row of candidates_, 0 to {len(self._laws) - 1}, got {index}")
        law = self._laws[index or 0]
        variables = self._variables(X, law)
        self._ranges.warn_outside(law, variables)
        return law.values(variables)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination of the law; minus infinity where it is undefined on a row.

        Where a fit leaves rows with gaps out, so does the score.
        """
        from sklearn.metrics import r2_score

        check_is_fitted(self, "expression_")
        law = self._laws[0]
        X, y = self._variables(X, law), input_checks.checked_target(y, self.missing)
        check_consistent_length(X, y)
        predicted = law.values(X)
        rows = np.isfinite(y)
        if self.missing == "drop":
            rows &= ~law.has_gaps(X)
        if not np.isfinite(predicted[rows]).all():
            return -np.inf
        unit = unit_of(y[rows])  # squares of 1e200 overflow
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return float(r2_score(y[rows] / unit, predicted[rows] / unit, sample_weight=weights))

    def _variables(self, X: Any, law: Law) -> npt.NDArray[np.float64]:
        """The variables that were searched on the rows of X (n_rows, n_variables)."""
        X = input_checks.validated_new(self, X, may_have_texts=not self._encoding.is_numeric)
        return variables_of(X, self._encoding, set(law.named.variables), self.missing)

    def choose(self, max_length: int | None = None, min_r2: float | None = None, index: int | None = None) -> FlashANSR:
        """Take another candidate of the same search as the law; it becomes row 0 of ``candidates_``.

        Where none was tried on rows that it was not fitted to, as beside an exact law, the rows of the fit count.

        Parameters
        ----------
        max_length : int, optional
            Of these lengths, the candidate that predicts rows best that it was not fitted to.
        min_r2 : float, optional
            The shortest candidate that explains so much of the variance in such rows.
        index : int, optional
            The candidate in this row.
        """
        check_is_fitted(self, "expression_")
        row = chosen_row(self.candidates_, max_length, min_r2, index)
        order = [row, *(i for i in range(len(self._laws)) if i != row)]
        self._laws = [self._laws[i] for i in order]
        self.candidates_ = self.candidates_.iloc[order].reset_index(drop=True)
        if row:  # the point where it fails was not kept
            self.report_ = self.report_ | {"safe": self.candidates_["safe"][0], "fails": None}
            self.report_ |= self._said_of_law(self.report_["rows"])
        self.expression_ = self._laws[0].named
        return self

    def latex(self, precision: int | None = 4) -> str:
        """The law as LaTeX."""
        check_is_fitted(self, "expression_")
        return self.expression_.latex(precision=precision)

    def sympy(self) -> Any:
        """The law as a SymPy expression."""
        check_is_fitted(self, "expression_")
        return self.expression_.to_sympy()

    def plot(self) -> Figure:
        """The law over the data, its residuals by row, and the front of candidates."""
        check_is_fitted(self, "expression_")
        if not hasattr(self, "_fitted_rows"):
            raise ValueError("the rows of the fit are not saved with a result; fit again to plot")
        from flash_ansr.infer.result.plots import ShownRows, plot_result

        return plot_result(ShownRows(*self._fitted_rows, self._target), self._laws[0], self.candidates_)

    def save(self, folder: str | Path, plot: bool = False) -> None:
        """Write the result as a folder that people can read: ``result.json``, ``candidates.csv``, a plot on request."""
        check_is_fitted(self, "expression_")
        saved = SavedResult(
            parameters=stored_parameters(self.get_params()),
            columns=self._column_names(),
            named_columns=hasattr(self, "feature_names_in_"),
            encoding=self._encoding,
            ranges=self._ranges.bounds,
            laws=self._laws,
            baseline=self._baseline,
            candidates=self.candidates_,
            report=self.report_,
        )
        write_result(folder, saved, self.plot() if plot else None)

    @classmethod
    def load(cls, folder: str | Path) -> FlashANSR:
        """Read what ``save`` wrote; the estimator can predict, but not go on searching."""
        saved = read_result(folder)
        parameters = dict(saved.parameters)
        if isinstance(parameters.get("pipeline"), dict):
            parameters["pipeline"] = pipeline_from(parameters["pipeline"])
        estimator = cls(**parameters)
        estimator.n_features_in_ = len(saved.columns)
        if saved.named_columns:
            estimator.feature_names_in_ = np.array(saved.columns, dtype=object)
        estimator._encoding = saved.encoding
        estimator._ranges = FittedRanges(saved.ranges)
        estimator._baseline, estimator._laws = saved.baseline, list(saved.laws)
        estimator.expression_, estimator.baseline_ = saved.laws[0].named, saved.baseline.named
        estimator.candidates_, estimator.report_ = saved.candidates, dict(saved.report)
        estimator.posterior_ = posterior_table({}, saved.baseline.names)
        return estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "expression_")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """In a notebook: the law and the front, once there is one."""
        if not hasattr(self, "expression_"):
            bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
            return bundle
        from flash_ansr.infer.result.notebook import result_html

        return {"text/plain": repr(self), "text/html": result_html(self.expression_, self.candidates_)}

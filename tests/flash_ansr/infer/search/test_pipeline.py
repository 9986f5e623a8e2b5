"""The pipeline with proposers that say what the test wants."""

from __future__ import annotations

import dataclasses
import math
import threading

import numpy as np
import pytest
from hypothesis import given

import simplipy
from flash_ansr.infer.candidates import tidying
from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms, rows_of
from flash_ansr.infer.candidates.numbers import free_multipliers, numbers_of
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.proposers.background import BackgroundProposer, Loading
from flash_ansr.infer.proposers.base import Proposer, ProposerContext, ProposerError
from flash_ansr.infer.proposers.prior import PriorProposer
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.settings import PaperPipeline, Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch
from tests.strategies import expressions

X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
TABLE = Table(X, 2.5 * X[:, 0] * np.exp(-0.7 * X[:, 1]))


class Says(Proposer):
    """Proposes these formulas, a batch a call."""

    round_size = 256

    def __init__(self, *batches: list[str], log_prob: list[float] | None = None, name: str = "says") -> None:
        self.name = name
        self.seeds: list[int] = []
        self._batches = list(batches)
        self._log_prob = log_prob

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        self.seeds.append(seed)
        if not self._batches:
            return None
        batch = TokenBatch.from_expressions([simplipy.parse(text) for text in self._batches.pop(0)])
        return Proposals(batch, None if self._log_prob is None else np.array(self._log_prob))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pipeline(*proposers: object, table: Table = TABLE, grammar: Grammar | None = None, **settings: object) -> Pipeline:
    options = Settings(**{"target_fvu": 0.0, **settings})
    return Pipeline(table, UnitScaling.of(table), proposers, grammar or Grammar(), options)


def test_the_law_is_found_among_others() -> None:
    search = pipeline(Says(["x1 + x2", "<constant>*x1*exp(<constant>*x2)", "sin(x1)", "log(x1 - x2)"]))
    assert search.run(Budget()) is Stop.EXHAUSTED
    best = search.archive.best
    assert best.fvu <= 1e-20
    assert simplipy.equivalent(best.expression, "2.5*x1*exp(-0.7*x2)", rtol=1e-6).equivalent
    assert (best.proposer, best.n_constants) == ("says", 2)
    tally = search.tallies["says"]
    assert (tally.drawn, tally.unique, tally.fitted) == (4, 4, 3)
    assert tally.statuses["NON_FINITE"] == 1  # log(x1 - x2) is undefined on some rows


def test_a_form_is_fitted_once() -> None:
    search = pipeline(Says(["x1 + x2", "x2 + x1", "mult3(x1) + x2"], ["<constant>*x1 + x2", "x1 + x2 + sin(0)"]))
    search.run(Budget())
    assert search.tallies["says"].drawn == 5
    assert search.tallies["says"].unique == 2


def test_constant_free_laws_count() -> None:
    table = Table(X, X[:, 0] * X[:, 1])
    search = pipeline(Says(["x1*x2", "<constant>*x1"]), table=table)
    search.run(Budget())
    assert search.archive.best.expression.infix() == "x1*x2"
    assert search.archive.best.n_constants == 0


def test_grammar_filters() -> None:
    grammar = Grammar(frozenset({"+", "*", "sin"}), max_length=5, max_depth=3)
    formulas = ["x1 + x2", "exp(x1)", "x1 + x2*sin(x1)", "sin(sin(sin(sin(x1))))", "x1*x2"]
    search = pipeline(Says(formulas), grammar=grammar)
    search.run(Budget())
    assert {c.expression.infix() for c in search.archive.candidates()} == {"x1 + x2", "x1*x2"}


def test_early_stop_when_exact() -> None:
    batches = [["<constant>*x1*exp(<constant>*x2)"]] + [[f"sin({k}*x1)"] for k in range(1, 50)]
    search = pipeline(Says(*batches), target_fvu=None)
    assert search.run(Budget(n_samples=10)) is Stop.EXACT
    assert search.tallies["says"].drawn == 3


def test_target_callback_and_samples() -> None:
    def says() -> Says:
        return Says(["x1"], ["<constant>*x1*exp(<constant>*x2)"], ["x1 + x2"], ["x1 - x2"])

    assert pipeline(says(), target_fvu=1e-3).run(Budget()) is Stop.TARGET
    seen = []
    assert pipeline(says()).run(Budget(), lambda p: seen.append(p) or len(seen) == 2) is Stop.CALLBACK
    assert [p.n_drawn for p in seen] == [1, 2]
    assert seen[1].best.fvu < seen[0].best.fvu
    assert seen[1].front[-1] is seen[1].best
    assert pipeline(says()).run(Budget(n_samples=2)) is Stop.SAMPLES


def test_ctrl_c_keeps_what_is_there() -> None:
    class Interrupted(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            found = super().propose(n, seed)
            if found is None:
                raise KeyboardInterrupt
            return found

    search = pipeline(Interrupted(["x1", "<constant>*x1"]))
    assert search.run(Budget()) is Stop.INTERRUPTED
    assert search.archive.best is not None


def test_the_clock_stops_the_search() -> None:
    clock = Clock()

    class Slow(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            clock.now += 0.4
            self.left = seconds
            return super().propose(n, seed)

    slow = Slow(*[["x1"]] * 10)
    assert pipeline(slow).run(Budget(time_limit=1.0, clock=clock)) is Stop.TIME
    assert len(slow.seeds) == 3
    assert slow.left == pytest.approx(0.2)


def result(n_threads: int, seed: int, table: Table = TABLE) -> list[tuple[str, float]]:
    search = pipeline(PriorProposer(ProposerContext(table)), table=table, random_state=seed, n_threads=n_threads)
    search.run(Budget(n_samples=600))
    return [(c.expression.infix(), c.fvu) for c in search.archive.candidates()]


def test_the_same_for_any_number_of_threads() -> None:
    assert result(1, seed=3) == result(2, seed=3)
    assert result(1, seed=3) != result(1, seed=4)


def test_many_rows_are_screened() -> None:
    wide = np.random.default_rng(1).uniform(0.5, 3.0, (5000, 2))
    table = Table(wide, 2.5 * wide[:, 0] * np.exp(-0.7 * wide[:, 1]))
    right = "<constant>*x1*exp(<constant>*x2)"
    search = pipeline(
        Says([right], ["x1*sin(x1)*sin(x2)*sin(x1 + x2)", "x2^2*sin(x1 + x2)*exp(x1 + 2*x2)", "x1"]), table=table
    )
    search.run(Budget())
    assert search.archive.best.fvu <= 1e-20
    assert search.tallies["says"].statuses["SCREENED"] == 2  # the third is shorter
    assert result(1, 0, table) == result(2, 0, table)


def test_evidence_sums_over_rewrites_once() -> None:
    formulas = ["x1 + x2", "x2 + x1", "sin(x1)"]
    search = pipeline(Says(formulas, formulas, log_prob=[math.log(0.2), math.log(0.1), math.log(0.3)]))
    search.run(Budget())
    assert sorted(np.exp(list(search.form_probabilities.log_probs.values()))) == pytest.approx([0.3, 0.3])


def test_starts_reach_the_fit() -> None:
    """A frequency that blind starts miss."""
    x = np.linspace(0, 10, 80)[:, None]
    table = Table(x, np.sin(71.3 * x[:, 0] + 0.4))

    class Knows(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            found = super().propose(n, seed)
            return found and dataclasses.replace(found, starts=[np.array([71.31, 0.38])])

    search = pipeline(Knows(["sin(<constant>*x1 + <constant>)"]), table=table)
    search.run(Budget())
    assert search.archive.best.fvu < 1e-20


@given(expressions(names=False))
def test_free_multipliers_keep_the_value_with_their_numbers(expression: simplipy.Expression) -> None:
    """Each mult_k and div_k becomes a product with a free constant, and nothing else changes."""
    freed = free_multipliers(TokenBatch.from_expressions([expression]))[0]
    kinds = {f"mult{k}": k for k in range(2, 6)} | {f"div{k}": 1 / k for k in range(2, 6)}
    wanted: list[str] = []
    for token in expression.tokens:
        wanted += ["*", "<constant>"] if token in kinds else [token]
    assert freed == wanted


def test_normal_forms_by_each_simplifier() -> None:
    batch = TokenBatch.from_expressions([simplipy.parse("x1 + x1*0"), simplipy.parse("mult2(x1*x2)/x2")])
    assert normal_forms(batch).to_tokens() == [["x1"], ["*", "<constant>", "x1"]]
    assert normal_forms(batch, "none").to_tokens() == free_multipliers(batch).to_tokens()
    assert normal_forms(batch, "sympy").to_tokens() == [["x1"], ["*", "<constant>", "x1"]]
    # with numbers in their place, as in the paper, SymPy merges constants
    sums = TokenBatch.from_expressions([simplipy.parse("<constant> + x1 + <constant>")])
    assert normal_forms(sums, "sympy").to_tokens() == [["-", "x1", "<constant>"]]


def test_keys_are_of_forms_alone() -> None:
    forms = TokenBatch.from_tokens([["x1"], ["sin", "x1"], ["x1"]])
    keys = form_keys(forms)
    assert keys[0] == keys[2] != keys[1]
    assert rows_of(forms, [1, 0]).to_tokens() == [["sin", "x1"], ["x1"]]
    with pytest.raises(ValueError, match="has no numbers"):
        form_keys(TokenBatch.from_tokens([["0.5"]]))


def test_numbers_of() -> None:
    assert numbers_of(simplipy.parse("2.5*x1^2 + sin(-3*x2)")) == [2.5, -3.0]


def test_a_background_proposer_joins_later() -> None:
    ready = threading.Event()

    def make() -> Says:
        ready.wait(10)
        return Says(["x1"], name="late")

    late = BackgroundProposer("late", make)
    assert late.state is Loading.WAITING
    late.load()
    assert late.state is Loading.RUNNING
    assert not late.is_ready
    ready.set()
    late._thread.join()
    assert late.state is Loading.READY
    assert late.is_ready
    assert late.round_size == Says.round_size
    assert len(late.propose(5, 0)) == 1
    assert late.propose(5, 0) is None


class Late(Says):
    """Ready from a time of a clock on."""

    def __init__(self, clock: Clock, at: float, *batches: list[str], name: str = "late") -> None:
        super().__init__(*batches, name=name)
        self._clock, self._at = clock, at

    @property
    def is_ready(self) -> bool:
        return self._clock.now >= self._at

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        self._clock.now += 0.1
        return super().propose(n, seed, seconds)


def test_the_search_sleeps_only_while_nobody_can_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = Clock(), []

    def sleep(seconds: float) -> None:
        slept.append(clock.now)
        clock.now += seconds

    monkeypatch.setattr("flash_ansr.infer.search.pipeline.time.sleep", sleep)
    first, second = Late(clock, 0.0, *[["x1"]] * 20, name="first"), Late(clock, 5.0, ["x1 + x2"])
    search = pipeline(first, second)
    assert search.run(Budget(time_limit=100.0, clock=clock)) is Stop.EXHAUSTED
    assert search.tallies["first"].drawn == 20
    assert search.tallies["late"].drawn == 1
    assert slept[0] == pytest.approx(2.1)  # when the other one, 0.1 a call, had nothing more
    assert len(slept) == pytest.approx(290, abs=2)


def failing(error: Exception) -> Says:
    raise error


def test_a_background_failure_leaves_the_others() -> None:
    late = BackgroundProposer("late", lambda: failing(RuntimeError("damaged weights")))
    search = pipeline(Says(["x1"], ["<constant>*x1*exp(<constant>*x2)"]), late)
    with pytest.warns(RuntimeWarning, match="the proposer 'late' is left out: RuntimeError: damaged weights"):
        assert search.run(Budget()) is Stop.EXHAUSTED
    assert search.archive.best.fvu <= 1e-20
    assert search.team.failures == {"late": "RuntimeError: damaged weights"}
    with pytest.raises(ProposerError, match="RuntimeError: damaged weights"):
        pipeline(late).run(Budget())


class Broken(Says):
    """Fails when it has nothing more to say."""

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        return super().propose(n, seed) or failing(TypeError("a mistake in the program"))


def test_any_failure_of_one_among_several_is_told_and_leaves_the_others() -> None:
    search = pipeline(Broken(name="broken"), Says(["x1"], ["x2"]))
    with pytest.warns(RuntimeWarning, match="'broken' is left out: TypeError: a mistake in the program"):
        assert search.run(Budget()) is Stop.EXHAUSTED
    assert search.team.failures == {"broken": "TypeError: a mistake in the program"}
    assert search.tallies["says"].drawn == 2


def test_a_failure_ends_the_search_only_where_nothing_is_there() -> None:
    search = pipeline(Broken(["x1", "<constant>*x1"]))
    with pytest.warns(RuntimeWarning, match="'says' is left out: TypeError"):
        assert search.run(Budget()) is Stop.EXHAUSTED
    assert search.archive.best is not None
    assert search.team.failures == {"says": "TypeError: a mistake in the program"}
    with pytest.raises(TypeError, match="a mistake"):
        pipeline(Broken()).run(Budget())
    with pytest.warns(RuntimeWarning, match="'first' is left out"), pytest.raises(TypeError, match="a mistake"):
        pipeline(Broken(name="first"), Broken(name="second")).run(Budget())


class Knows(Says):
    """Says its formulas with these numbers to start from."""

    def __init__(self, *batches: list[str], starts: list[float], name: str = "knows") -> None:
        super().__init__(*batches, name=name)
        self._starts = np.array(starts)

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        found = super().propose(n, seed)
        return found and dataclasses.replace(found, starts=[self._starts] * len(found))


LAW = "<constant>*x1*exp(<constant>*x2)"


def test_bad_starts_do_not_keep_a_form_from_blind_ones() -> None:
    """From 1e9 the fit stays where it is; the form that comes again without numbers is fitted once more, once."""
    search = pipeline(Knows([LAW], starts=[0.0, 1e9]), Says([LAW], [LAW]))
    search.run(Budget())
    assert search.archive.best.fvu <= 1e-20
    assert search.archive.best.proposer == "says"
    assert [search.tallies[name].unique for name in ("knows", "says")] == [1, 1]
    assert sum(search.tallies["says"].statuses.values()) == 1


def test_a_spelling_that_is_not_allowed_does_not_use_up_its_form() -> None:
    long = "<constant>*exp(<constant>*x2)*(x1 + 0*x2 + sin(0))"
    grammar = Grammar(max_length=len(simplipy.parse(LAW)))
    assert not grammar.allows(simplipy.parse(long).skeleton())
    search = pipeline(Knows([long], starts=[1.0, 1.0]), grammar=grammar)
    search.run(Budget())
    assert search.archive.best.fvu <= 1e-20
    search = pipeline(Knows(["tan(x1)*x2^3/sin(x2)"], starts=[]), Says(["x1"]), grammar=Grammar(max_length=2))
    search.run(Budget())
    assert search.archive.n_seen == 2
    assert {c.expression.infix() for c in search.archive.candidates()} == {"x1"}


def test_what_the_clock_cut_short_is_not_seen() -> None:
    clock = Clock()

    class Late(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            clock.now = 2.0
            return super().propose(n, seed)

    formulas = [f"sin(<constant>*x1 + {k}*cos(<constant>*x2 + x1^{k}))" for k in range(2, 300)]
    search = pipeline(Late(formulas), n_threads=1)
    assert search.run(Budget(time_limit=1.0, clock=clock)) is Stop.TIME
    cut = search.tallies["says"].statuses["DEADLINE"]
    assert cut > 0
    assert search.archive.n_seen == search.tallies["says"].unique - cut


def test_a_target_below_rounding_is_reached() -> None:
    says = Says([LAW], *[["x1"]] * 5)
    assert pipeline(says, target_fvu=1e-40).run(Budget()) is Stop.TARGET
    assert pipeline(Says([LAW]), target_fvu=0.0).run(Budget()) is Stop.EXHAUSTED


def test_what_loads_beside_the_search_waits_until_that_pays_off() -> None:
    clock = Clock()

    class Ticks(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            clock.now += 0.1
            return super().propose(n, seed)

    made = []
    late = BackgroundProposer("late", lambda: made.append(clock.now) or Says(["x1*x2"], name="late"))
    search = pipeline(Ticks([LAW], *[["x1"]] * 20), late, target_fvu=None)
    assert search.run(Budget(time_limit=1.0, clock=clock)) is Stop.EXACT
    assert made == []
    search = pipeline(Ticks(*[["x1"]] * 9), late)
    search.run(Budget(time_limit=1.0, clock=clock))
    assert made
    assert made[0] >= 0.3


def test_probabilities_are_kept_of_the_most_probable_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flash_ansr.infer.candidates.model_probability._KEPT", 2)
    monkeypatch.setattr("flash_ansr.infer.candidates.model_probability._MOST", 3)
    formulas = ["x1", "x2", "x1 + x2", "x1*x2"]
    search = pipeline(Says(formulas, log_prob=[math.log(p) for p in (0.1, 0.4, 0.2, 0.3)]))
    search.run(Budget())
    assert sorted(np.exp(list(search.form_probabilities.log_probs.values()))) == pytest.approx([0.3, 0.4])


def test_progress_in_other_names() -> None:
    search, seen = pipeline(Says(["x1", LAW])), []
    search.run(Budget(), seen.append)
    named = seen[0].named(["mass", "decay"])
    assert named.best.expression.variables == ("decay", "mass")
    assert [c.expression.infix() for c in named.front] == [
        c.expression.infix().replace("x1", "mass").replace("x2", "decay") for c in seen[0].front
    ]


def test_without_time_a_law_comes_back_in_the_units_of_the_user_unfitted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    class Late(Says):
        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            clock.now = 0.999
            return super().propose(n, seed)

    def refit_without_numbers(skeleton: simplipy.Expression, numbers: list[float], *rest: object) -> simplipy.Fit:
        assert not numbers, "a fit on all rows after the deadline"
        return tidying_refit(skeleton, numbers, *rest)

    table = Table(X * [1e12, 1.0], TABLE.y)
    search = pipeline(Late([LAW]), table=table)
    tidying_refit = tidying.refit
    monkeypatch.setattr(tidying, "refit", refit_without_numbers)
    original = search._fitter.fit

    def fit(*arguments: object) -> object:
        found = original(*arguments)
        clock.now = 1.5
        return found

    search._fitter.fit = fit
    assert search.run(Budget(time_limit=1.0, clock=clock)) is Stop.TIME
    assert simplipy.equivalent(search.archive.best.expression, "2.5e-12*x1*exp(-0.7*x2)", rtol=1e-6).equivalent
    assert search.archive.best.n_constants == 2


def test_paper_switches_are_checked() -> None:
    with pytest.raises(ValueError, match="refiner must be one of 'lm', 'bfgs', 'scipy', got 'newton'"):
        PaperPipeline(refiner="newton")


class Turning(Says):
    """A second passes with each batch."""

    def __init__(self, clock: Clock, *batches: list[str]) -> None:
        super().__init__(*batches)
        self._clock = clock

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        self._clock.now += 1.0
        return super().propose(n, seed, seconds)


@pytest.mark.parametrize(("target", "stop", "seconds"), [(None, Stop.NOISE, 6.0), (0.0, Stop.TIME, 40.0)])
def test_a_search_ends_when_only_noise_is_left(target: float | None, stop: Stop, seconds: float) -> None:
    noisy = Table(X, 2 * X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=60))
    clock = Clock()
    # the law comes after two seconds, and has to last to three times that
    says = Turning(clock, ["sin(x2)"], ["<constant>*x1"], *[[f"sin(x2*{k})"] for k in range(3, 60)])
    search = pipeline(says, table=noisy, target_fvu=target)
    assert search.run(Budget(40.0, clock=clock)) is stop
    assert clock.now == seconds


def test_structure_is_no_noise() -> None:
    clock = Clock()
    wavy = Table(X, 2 * X[:, 0] + np.sin(3 * X[:, 1]))
    says = Turning(clock, ["<constant>*x1"], *[[f"x1/{k}"] for k in range(3, 60)])
    assert pipeline(says, table=wavy, target_fvu=None).run(Budget(40.0, clock=clock)) is Stop.TIME


def test_exact_laws_of_many_rows_are_tidied_on_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    many = np.random.default_rng(0).uniform(1, 3, (10_000, 2))
    table = Table(many, 3 * many[:, 0] ** 2 / many[:, 1] + 2)
    sizes = []
    tidy = simplipy.tidy
    monkeypatch.setattr(
        simplipy, "tidy", lambda fit, X, y, **options: sizes.append(len(y)) or tidy(fit, X, y, **options)
    )
    search = pipeline(Says(["<constant>*x1^2/x2 + <constant>"]), table=table, target_fvu=None)
    search.run(Budget())
    assert sizes
    assert max(sizes) == 2048
    assert search.archive.best.fvu <= search.exact_fvu
    assert simplipy.equivalent(search.archive.best.expression, "3*x1^2/x2 + 2").equivalent

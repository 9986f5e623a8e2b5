"""Proposers of the user beside those of the package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import simplipy
from flash_ansr import FlashANSR, Proposals, Proposer, ProposerContext
from flash_ansr.infer.proposers.background import BackgroundProposer, Loading
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch

X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
LAW = "atan(x1*x2 + cosh(x2))*x1"
Y = simplipy.parse(LAW)(X)


class Guess(Proposer):
    """Proposes what it was made with, once."""

    name = "guess"

    def __init__(self, *formulas: str) -> None:
        self.formulas = formulas

    def start(self, context: ProposerContext) -> None:
        super().start(context)
        self.left = [self.formulas]

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        return Proposals.of(self.left.pop()[:n]) if self.left else None


def fitted(*proposers: object, **options: object) -> FlashANSR:
    model = FlashANSR(time_limit=None, n_samples=200, proposers=[*proposers], random_state=0, n_jobs=1)
    return model.set_params(**options).fit(X, Y)


def test_an_own_proposer_finds_the_law_beside_others() -> None:
    model = fitted("prior", Guess("x1 + x2", "1.5*atan(1.2*x1*x2 + cosh(x2))*x1"))
    assert simplipy.equivalent(model.expression_, LAW, rtol=1e-6).equivalent
    assert set(model.report_["proposers"]) == {"prior", "guess"}
    assert model.report_["proposers"]["guess"]["won"]
    assert model.report_["proposers"]["guess"]["failure"] is None


def test_a_class_with_a_name_is_known_by_it() -> None:
    class Named(Proposer):
        name = "named"

        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            columns = self.context.table.n_columns
            return Proposals.of([f"<constant>*x{columns}"])

    assert fitted("named").report_["proposers"]["named"]["fitted"] == 1


def test_an_estimator_with_an_object_is_cloned_and_fitted_again() -> None:
    guess = Guess("sin(x1)", LAW)
    model = FlashANSR(time_limit=None, n_samples=50, proposers=[guess], random_state=0)
    copy = clone(model)
    assert copy.proposers[0] is not guess
    assert copy.proposers[0].formulas == guess.formulas
    laws = [fitted_model.expression_ for fitted_model in (model.fit(X, Y), model.fit(X, Y), copy.fit(X, Y))]
    assert laws[0] == laws[1] == laws[2]
    assert not hasattr(guess, "left")  # a search works on a copy


def test_a_result_keeps_the_name(tmp_path: Path) -> None:
    model = fitted(Guess(LAW), "prior")
    model.save(tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored["parameters"]["proposers"] == ["guess", "prior"]
    loaded = FlashANSR.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


class Nameless(Guess):
    name = ""


@pytest.mark.parametrize(
    ("proposers", "message"),
    [
        ([42], "proposers must be names or Proposer objects, got 42"),
        ([Guess], r"got the class Guess: write Guess\(\)"),
        ([Nameless("x1")], "Nameless has no name: give the class an attribute `name`"),
        (["locla"], "unknown proposer 'locla'; did you mean 'local'. known are closed_form, textbook, enumerate"),
        ([Guess("x1"), Guess("x2")], "proposers must have different names, 'guess' comes twice"),
        ([], "proposers must be 'auto' or a list of closed_form"),
        (Guess("x1"), "proposers must be 'auto' or a list of closed_form"),
    ],
)
def test_what_is_no_list_of_proposers_is_refused(proposers: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FlashANSR(proposers=proposers).check_parameters()


def test_the_paper_takes_one_model() -> None:
    with pytest.raises(ValueError, match="pipeline='paper' samples from one model"):
        FlashANSR(pipeline="paper", proposers=[Guess("x1")]).check_parameters()


def test_names_of_the_package_are_taken() -> None:
    with pytest.raises(ValueError, match=r"the name of .*Mine, 'local', is taken"):

        class Mine(Guess):
            name = "local"


class Bad(Guess):
    """Hands over what it was made with, unchecked."""

    name = "bad"
    batches: ClassVar[dict[str, Proposals]] = {
        "no formula": Proposals(TokenBatch(np.array([0, 0], dtype=np.int16), np.array([0, 2]))),
        "two formulas in one": Proposals(TokenBatch(np.array([64, 65], dtype=np.int16), np.array([0, 2]))),
        "an unknown name": Proposals(TokenBatch.from_tokens([["x1"], ["+", "x1", "mass"]])),
        "another column": Proposals(TokenBatch.from_tokens([["x1"], ["sin", "x9"]])),
        "too few starts": Proposals(TokenBatch.from_tokens([["x1"]]), starts=[]),
        "a start too short": Proposals(TokenBatch.from_tokens([["+", "x1", "<constant>"]]), starts=[np.empty(0)]),
    }

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        return self.batches[self.left.pop()[0]]


@pytest.mark.parametrize(
    ("proposer", "reason"),
    [
        (Guess("x1 +"), "ParseError: .*"),
        (Bad("no formula"), r"ValueError: it proposed '\+ \+', which is no formula of x1 to x2"),
        (Bad("two formulas in one"), "ValueError: it proposed 'x1 x2', which is no formula of x1 to x2"),
        (Bad("an unknown name"), r"ValueError: it proposed '\+ x1 mass', which is no formula of x1 to x2"),
        (Bad("another column"), "ValueError: it proposed 'sin x9', which is no formula of x1 to x2"),
        (Bad("too few starts"), "ValueError: it must propose one start for each formula"),
        (Bad("a start too short"), "ValueError: .* one value for each <constant>"),
        (Bad("a mistake in the program"), "KeyError: 'a mistake in the program'"),
    ],
)
def test_a_proposer_that_fails_is_left_out(proposer: Proposer, reason: str) -> None:
    with pytest.warns(RuntimeWarning, match=f"the proposer '{proposer.name}' is left out: {reason}"):
        model = fitted(proposer, "prior")
    assert re.match(reason, model.report_["proposers"][proposer.name]["failure"])
    assert model.report_["proposers"]["prior"]["drawn"] == 200
    with pytest.raises((ValueError, KeyError)):  # there is nothing to go on with
        fitted(proposer)


def test_a_proposer_that_cannot_learn_is_left_out() -> None:
    class Stubborn(Guess):
        name = "stubborn"

        def learn(self, lessons: object) -> None:
            raise RuntimeError("no lessons")

    with pytest.warns(RuntimeWarning, match="'stubborn' is left out: RuntimeError: no lessons"):
        model = fitted("prior", Stubborn("x1"), Guess(LAW))
    assert model.report_["proposers"]["stubborn"]["failure"] == "RuntimeError: no lessons"
    assert model.report_["proposers"]["guess"]["won"]


def test_formulas_that_the_user_forbids_are_dropped() -> None:
    model = fitted(Guess("x1*x2", LAW, "sin(x1)"), operators=["+", "*"])
    assert model.report_["proposers"]["guess"]["drawn"] == 3
    assert not any("atan" in e.tokens or "sin" in e.tokens for e in model.candidates_["expression"])


def test_starts_are_the_numbers_of_formulas_unless_one_is_free() -> None:
    with_numbers = Proposals.of(["2.5*x1 + pi", simplipy.parse("x1*x2")])
    assert [start.tolist() for start in with_numbers.starts] == [[2.5, np.pi], []]
    assert Proposals.of(["2.5*x1", "<constant>*x2"]).starts is None


def test_the_background_hands_on_what_was_missed_and_says_how_it_is() -> None:
    class Pupil(Guess):
        name = "pupil"

        def learn(self, lessons: object) -> None:
            self.lessons = [*getattr(self, "lessons", []), lessons]

    pupil = Pupil("x1").started(ProposerContext(Table(X, Y)))
    late = BackgroundProposer("pupil", lambda: pupil)
    late.learn(["first"])
    assert late.state is Loading.WAITING
    assert len(late.propose(5, 0)) == 1
    late.learn(["second"])
    assert pupil.lessons == [["first"], ["second"]]
    assert late.state is Loading.READY
    broken = BackgroundProposer("broken", lambda: 1 / 0)
    broken.load()
    broken._thread.join()
    assert (broken.state, broken.failure) == (Loading.FAILED, "ZeroDivisionError: division by zero")
    assert broken.outcome == "failed: ZeroDivisionError: division by zero"


def test_the_report_says_why_a_network_failed_whose_turn_did_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    network = BackgroundProposer("neural", lambda: 1 / 0)
    network.load()
    network._thread.join()
    monkeypatch.setattr(BackgroundProposer, "is_ready", False)  # the search ends before its turn
    monkeypatch.setattr(
        "flash_ansr.infer.search.set_up.make_proposers", lambda context, *_: [started(context), network]
    )
    report = FlashANSR(time_limit=30.0, random_state=0).fit(X, Y).report_
    assert report["neural"] == "failed: ZeroDivisionError: division by zero"


def started(context: ProposerContext) -> Proposer:
    return Guess("x1*atan(x2 + x1)", LAW).started(context)

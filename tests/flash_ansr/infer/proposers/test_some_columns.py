"""A proposer on a few columns: formulas and lessons change names on their ways, and better laws bring other columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flash_ansr import Proposals, Proposer, ProposerContext
from flash_ansr.infer.candidates.proposals import Lesson
from flash_ansr.infer.proposers.some_columns import SomeColumnsProposer
from flash_ansr.infer.table.table import Table
from simplipy import parse

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (300, 20))


class Recorder(Proposer):
    """Proposes the same formulas in each round, and keeps what it is told."""

    formulas: Sequence[str] = ("<constant>*x1 + sin(x2)", "x2/(<constant> + x1)", "x1")
    rounds = 1000

    def start(self, context: ProposerContext) -> None:
        super().start(context)
        self.lessons: list[Lesson] = []
        made.append(self)

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        self.rounds -= 1
        return Proposals.of(self.formulas) if self.rounds >= 0 else None

    def learn(self, lessons: Sequence[Lesson]) -> None:
        self.lessons += lessons


class Short(Recorder):
    """Has nothing to propose."""

    rounds = 0


made: list[Recorder] = []


def some(y: np.ndarray, n_columns: int = 2, make: type[Recorder] = Recorder) -> SomeColumnsProposer:
    """On the table of X and y; ``made`` has the proposers inside, the present one last."""
    made.clear()
    return SomeColumnsProposer(ProposerContext(Table(X, y)), make, n_columns)


def columns_inside() -> list[int]:
    """The columns of X that the present proposer inside has."""
    part = made[-1].context.table.X
    return [next(k for k in range(X.shape[1]) if np.array_equal(X[:, k], column)) for column in part.T]


def lesson(formula: str, *constants: float) -> Lesson:
    return Lesson(parse(formula), np.array(constants))


def test_it_works_on_the_columns_that_say_most() -> None:
    some(X[:, 13] ** 2 + 3 * X[:, 6])
    assert columns_inside() == [6, 13]


def test_formulas_come_back_in_the_columns_of_the_table() -> None:
    proposer = some(X[:, 13] ** 2 + 3 * X[:, 6])
    proposals = proposer.propose(10, 0)
    assert proposals is not None
    proposals.check(20)
    inside = made[-1].context.table.X
    for outer, inner in zip(proposals.batch.expressions(), map(parse, Recorder.formulas), strict=True):
        numbers = np.full(inner.n_constants, 1.7)
        np.testing.assert_array_equal(outer(X, numbers), inner(inside, numbers))


def test_lessons_are_handed_on_in_the_names_inside() -> None:
    proposer = some(X[:, 13] ** 2 + 3 * X[:, 6])
    law = lesson("<constant>*x7 + x14^2", 2.5)
    proposer.learn([law, lesson("<constant>*x7 + x3", 1.0), lesson("x14", *())])
    assert [known.skeleton.infix() for known in made[-1].lessons] == ["<constant>*x1 + x2^2", "x2"]
    np.testing.assert_array_equal(
        made[-1].lessons[0].skeleton(made[-1].context.table.X, law.constants), law.skeleton(X, law.constants)
    )


def test_a_law_whose_residuals_speak_for_another_column_brings_it_in() -> None:
    proposer = some(100 * X[:, 4] + 5 * X[:, 11])
    first = columns_inside()
    assert 4 in first
    assert 11 not in first
    proposer.learn([lesson("<constant>*x5", 100.0)])
    for seed in range(20):
        proposer.propose(10, seed)
    assert columns_inside() == [4, 11]
    assert len(made) == 2
    assert [known.skeleton.infix() for known in made[-1].lessons] == ["<constant>*x1"]


def test_one_that_is_exhausted_chooses_again_at_once() -> None:
    proposer = some(100 * X[:, 4] + 5 * X[:, 11], make=Short)
    assert proposer.propose(10, 0) is None
    proposer.learn([lesson("<constant>*x5", 100.0)])
    proposer.propose(10, 0)
    assert columns_inside() == [4, 11]


def test_a_law_with_all_columns_that_there_is_place_for_changes_nothing() -> None:
    proposer = some(X[:, 13] ** 2 + 3 * X[:, 6])
    proposer.learn([lesson("x14^2 + x1", *())])
    for seed in range(20):
        proposer.propose(10, seed)
    assert len(made) == 1


def test_a_law_that_is_hardly_better_changes_nothing() -> None:
    """Only a law that leaves less than nine tenths of what the last one left is worth a start."""
    y = 100 * X[:, 4] + 5 * X[:, 11]
    proposer = some(y)
    proposer.learn([lesson("<constant>", float(y.mean()))])
    for seed in range(20):
        proposer.propose(10, seed)
    assert len(made) == 1


def test_it_counts_as_the_proposer_inside() -> None:
    class Named(Recorder):
        round_size, weight, opens = 7, 2.0, True

        @property
        def is_ready(self) -> bool:
            return False

    proposer = some(X[:, 0], make=Named)
    assert (proposer.round_size, proposer.weight, proposer.opens, proposer.is_ready) == (7, 2.0, True, False)

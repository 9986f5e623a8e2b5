"""Evolution of forms on one view: a generation is one call of the core. Never touches all rows and never ranks laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flash_ansr import _core
from flash_ansr.data.holdout import rules_text
from flash_ansr.infer.candidates.normal_forms import MAX_PATTERN_LENGTH
from flash_ansr.infer.proposers.local.population import Ids, Member, Population
from flash_ansr.infer.proposers.local.token_weights import TokenWeights
from flash_ansr.infer.proposers.local.views import View
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray
from simplipy.expression.operators import CONSTANT, by_id
from simplipy.expression.token_batch import SYMBOL_TOKENS

# point, subtree, hoist, insert, remove, constant, term, crossover
_MUTATIONS = (2.0, 2.0, 0.5, 2.0, 1.0, 1.0, 1.0, 2.0)
_RETIRE_EVERY = 20

Form = tuple[Ids, FloatArray]


@dataclass(frozen=True, slots=True)
class EvolutionSettings:
    """How children are made and valued.

    Attributes
    ----------
    max_length : int
        Tokens of a form, c0 + c1*phi around it included.
    slack : float
        A child whose cost at its start is within this factor of being kept is descended from.
    n_steps : int
        Of a descent.
    n_glances : int
        Half of the children are the best of so many variations of a parent at a first look.
    constant : float
        Weight of a constant among new leaves; the variables together have 4.
    max_written : int
        Spellings to remember, which need not be simplified again.
    n_threads : int
        The result does not depend on it.
    """

    max_length: int = 35
    slack: float = 10.0
    n_steps: int = 8
    n_glances: int = 12
    constant: float = 1.0
    max_written: int = 2**22
    n_threads: int = 1


@dataclass(slots=True)
class Counts:
    """Counts of the children by outcome."""

    drawn: int = 0
    new: int = 0
    screened: int = 0
    descended: int = 0


class Evolution:
    """A population that lives on one view.

    Parameters
    ----------
    view : View
    grammar : Grammar
    n_columns : int
    settings : EvolutionSettings
    """

    def __init__(self, view: View, grammar: Grammar, n_columns: int, settings: EvolutionSettings | None = None) -> None:
        self.view = view
        self.settings = settings = settings or EvolutionSettings()
        self.population = Population(settings.max_length)
        self.counts = Counts()
        self._generation = 0
        usual = TokenWeights(grammar, n_columns)
        self._breeder = _core.Breeder(
            usual.operators,
            usual.variables,
            settings.constant,
            list(_MUTATIONS),
            rules_text(),
            MAX_PATTERN_LENGTH,
            settings.max_length,
            {"+", "*"} <= grammar.operators,
            by_id(dict.fromkeys(grammar.operators, True), False),
            settings.max_written,
        )

    def weigh(self, weights: TokenWeights) -> None:
        """Draw new parts by these from now on."""
        self._breeder.weigh(weights.operators, weights.variables, self.settings.constant)

    def seed(self, formulas: Sequence[Form], seconds: float) -> list[Member]:
        """Take formulas in as they are; those that are now the best up to their length."""
        everybody, nobody = np.arange(len(formulas), dtype=np.int32), np.empty(0, dtype=np.int32)
        return self._breed(formulas, everybody, nobody, 0, seconds) if formulas else []

    def step(self, n: int, seed: int, seconds: float) -> list[Member]:
        """One generation of n children; those that are now the best up to their length."""
        members = self.population.members
        if not members:
            return []
        drawn = self.population.parents(2 * n, np.random.default_rng(seed))
        used, places = np.unique(drawn, return_inverse=True)
        first, second = places.astype(np.int32).reshape(2, n)
        parents = [(members[i].ids, members[i].constants) for i in used]
        best = self._breed(parents, first, second, seed, seconds)
        self._generation += 1
        if self._generation % _RETIRE_EVERY == 0:
            self.population.retire()
        return best

    def _breed(
        self,
        parents: Sequence[tuple[Ids, FloatArray]],
        first: np.ndarray,
        second: np.ndarray,
        seed: int,
        seconds: float,
    ) -> list[Member]:
        brood = self._breeder.breed(
            self.view.screen,
            np.concatenate([ids for ids, _ in parents]),
            np.concatenate([[0], np.cumsum([len(ids) for ids, _ in parents])]),
            np.concatenate([constants for _, constants in parents]),
            first,
            second,
            self.population.limits(),
            self.settings.slack,
            self.settings.n_steps,
            self.settings.n_glances,
            seed,
            seconds,
            self.settings.n_threads,
        )
        self.counts.drawn += len(first)
        self.counts.new += brood["n_new"]
        self.counts.screened += brood["n_screened"]
        self.counts.descended += brood["n_descended"]
        return [member for member in _members(brood) if self.population.add(member)]


_CONSTANT_ID = SYMBOL_TOKENS.index(CONSTANT)


def _members(brood: dict[str, np.ndarray]) -> list[Member]:
    bounds = brood["offsets"][1:-1]
    ids = np.split(brood["ids"], bounds) if len(brood["offsets"]) > 1 else []
    constants = np.split(brood["constants"], np.cumsum(brood["ids"] == _CONSTANT_ID)[bounds - 1]) if ids else []
    rows = zip(ids, constants, brood["costs"].tolist(), brood["rank_correlations"].tolist(), strict=True)
    return [Member(*row) for row in rows]

"""The proposer without a model: skeletons of the training prior, blind to the data. The floor that others must beat."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from flash_ansr.data import Generator, load_prior
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from simplipy import OPERATORS, TokenBatch

# weight of an operator that priors do not have
_ASKED_FOR = 1.0


class PriorProposer(Proposer):
    """Draws skeletons with the table's number of variables."""

    name = "prior"
    most_columns = 9
    round_size = 64
    weight = 0.05

    def start(self, context: ProposerContext) -> None:
        """Begin the stream of skeletons."""
        super().start(context)
        self._next = 0

    @cached_property
    def _generator(self) -> Generator:
        """Made when the first skeleton is asked for: others are asked before."""
        operators = self.context.grammar.operators
        base = load_prior("wide")
        usual = base.skeletons.operator_weights
        weights = {t: usual[t] if OPERATORS[t].weight > 0 else _ASKED_FOR for t in operators}
        if not any(weights.values()):  # the prior never draws these operators
            weights = dict.fromkeys(operators, 1.0)
        skeletons = dataclasses.replace(base.skeletons, n_variables=self.context.table.n_columns, operators=weights)
        return Generator(dataclasses.replace(base, skeletons=skeletons), holdouts=())

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The next n skeletons of the seed's stream."""
        del seconds
        indices = np.arange(self._next, self._next + n)
        self._next += n
        drawn = self._generator.skeletons(seed, indices, simplified=False)
        return Proposals(TokenBatch.from_tokens(tokens for tokens in drawn if tokens is not None), n_drawn=n)

"""The network as a proposer: encodes the table once, then draws skeletons from the decoder."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import torch

from flash_ansr.checkpoint.facts import TrainingLimits, check_columns_seen
from flash_ansr.checkpoint.folder import prior_of_run
from flash_ansr.checkpoint.weights import load_network
from flash_ansr.data import Vocabulary
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext, ProposerError
from flash_ansr.infer.proposers.neural.devices import device_of, one_thread
from flash_ansr.infer.proposers.neural.sampler import LARGEST_CHUNK, Sampled, States, TokenRules, beam_search, sample
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from flash_ansr.versions import rule_set_hash
from simplipy import TokenBatch
from simplipy.expression.token_batch import FIRST_VARIABLE, SYMBOL_TOKENS

# with a time limit: draws of the first round, of others unless more threads want more, and the part of the time left
# that a round may take
_FIRST_DRAW = 128
_LATER_DRAW = 1024
_SHARE_OF_TIME = 0.2


class NeuralProposer(Proposer):
    """Draws skeletons from a trained network, given the table.

    The table has at most as many columns as the network has variables; the encoder sees at most as many of its rows as
    in training. ``decoding="beam"`` searches once, with the asked number as its width.
    """

    name = "neural"
    round_size = 4096

    def start(self, context: ProposerContext) -> None:
        """Load the network and encode the table."""
        super().start(context)
        table, checkpoint = context.table, context.checkpoint
        if checkpoint is None:
            raise ValueError("the proposer 'neural' needs a checkpoint: the folder of a trained network")
        check_columns_seen(checkpoint, table.n_columns)
        network, about = load_network(checkpoint)
        limits = TrainingLimits.of(about.training, prior_of_run(checkpoint))
        self._vocabulary = Vocabulary.of_tokens(about.vocabulary)
        about.check_rules(rule_set_hash())
        self._device = device_of(context.device)
        self._network = network.to(self._device)
        memory = self._encode(table, about.config.n_variables, limits.n_rows, context.seed)
        longest = about.config.max_length - 2  # start and end
        self._rules = self._token_rules(table, context.grammar, min(longest, limits.length or longest))
        self._states = States(self._network.decoder, memory)
        self._to_simplipy = _simplipy_ids(self._vocabulary)
        self._n_threads = (context.n_threads or torch.get_num_threads()) if self._device.type == "cpu" else 1
        self._rate = 0.0  # draws a second
        self._is_done = False

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """Distinct skeletons among n draws, with their log-probabilities."""
        if self._is_done:
            return None
        self._is_done = self.context.decoding == "beam"
        if seconds is not None and not self._is_done:
            n = min(n, self._draws_in(seconds))
        try:
            drawn = beam_search(self._states, self._rules, n) if self._is_done else self._sample(n, seed)
        except (RuntimeError, MemoryError) as error:  # of the device, its memory above all
            raise ProposerError(f"the network failed: {error}") from error
        lengths = [len(ids) for ids in drawn.sequences]
        ids = self._to_simplipy[np.concatenate(drawn.sequences)]
        batch = TokenBatch(ids, np.concatenate([[0], np.cumsum(lengths)]))
        return Proposals(batch, drawn.log_prob, drawn.counts, n_drawn=n)

    def _draws_in(self, seconds: float) -> int:
        """How many draws a round may have, so many seconds before the end."""
        if not self._rate:
            return _FIRST_DRAW
        most = max(_LATER_DRAW, self._n_threads * LARGEST_CHUNK)
        return max(1, min(most, int(_SHARE_OF_TIME * seconds * self._rate)))

    def _sample(self, n: int, seed: int) -> Sampled:
        """Chunks on a thread each: threads inside small matrix products would wait for each other."""
        started, rng = time.monotonic(), np.random.default_rng(seed)
        with one_thread():
            drawn = sample(self._states, self._rules, n, rng, self.context.sampling, n_threads=self._n_threads)
        self._rate = n / max(time.monotonic() - started, 1e-9)
        return drawn

    @torch.inference_mode()
    def _encode(self, table: Table, n_variables: int, n_rows: int, seed: int) -> torch.Tensor:
        rows = np.arange(table.n_rows)
        if table.n_rows > n_rows:
            rows = np.random.default_rng(seed).choice(table.n_rows, n_rows, replace=False)
        X = np.zeros((1, len(rows), n_variables), dtype=np.float32)
        with np.errstate(over="ignore"):
            X[0, :, : table.n_columns] = table.X[rows]
            y = table.y[rows].astype(np.float32)[None]
        mask = torch.ones(1, len(rows), dtype=torch.bool, device=self._device)
        columns, target = (torch.from_numpy(np.nan_to_num(a)).to(self._device) for a in (X, y))
        return self._network.encode(columns, target, mask)

    def _token_rules(self, table: Table, grammar: Grammar, longest: int) -> TokenRules:
        tokens = self._vocabulary.tokens
        variables = {f"x{k}" for k in range(1, table.n_columns + 1)}
        leaves = {tokens[self._vocabulary.constant], *variables}
        allowed = np.array([token in grammar.operators or token in leaves for token in tokens])
        if grammar.max_length is not None:
            longest = min(longest, grammar.max_length)
        arities = self._vocabulary.arities.astype(np.int64)
        return TokenRules(arities, self._vocabulary.start, allowed, longest, grammar.max_depth)


def _simplipy_ids(vocabulary: Vocabulary) -> npt.NDArray[np.int16]:
    """SimpliPy's id of each id of the vocabulary; -1 for tokens that are never drawn."""
    known = {token: i for i, token in enumerate(SYMBOL_TOKENS)}
    known |= {f"x{k + 1}": FIRST_VARIABLE + k for k in range(vocabulary.n_variables)}
    return np.array([known.get(token, -1) for token in vocabulary.tokens], dtype=np.int16)

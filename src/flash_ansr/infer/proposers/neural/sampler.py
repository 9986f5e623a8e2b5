"""Drawing token sequences from a decoder: softmax sampling over distinct prefixes, and beam search. Ids only.

Equal prefixes share one row of the decoder: a row that stands for m draws splits them over its next tokens by one
multinomial draw, so the result is distributed exactly as m independent samples. Rows that are complete leave the
batch. Only valid prefixes are continued: tokens that could not be completed within the maximum length have probability
0, and so have those that the caller forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from flash_ansr.infer.settings import Sampling
from flash_ansr.model.decoder import Decoder, DecoderState

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# draws that share a batch by default; it may not depend on the number of threads, or results would
LARGEST_CHUNK = 512
_SMALLEST_CHUNK = 256


class States:
    """Decoder states for one table that are used again.

    Their arrays are large: new ones for every batch would leave the memory of threads in pieces.

    Parameters
    ----------
    model : Decoder
        Or what has its ``start`` and ``step``.
    memory : tensor (1, n_seeds, dim)
        The encoded table.
    """

    def __init__(self, model: Decoder, memory: Tensor) -> None:
        self.model, self.memory = model, memory
        self._free: dict[tuple[int, int], list[DecoderState]] = {}

    @contextmanager
    def one(self, capacity: int, max_length: int) -> Iterator[DecoderState]:
        """A state of one empty sequence, for as long as the context lasts; for several threads at a time.

        It has room for so many sequences of so many tokens, the start among them.
        """
        free = self._free.setdefault((capacity, max_length), [])
        try:
            state = free.pop()
        except IndexError:
            state = self.model.start(self.memory, capacity, max_length)
        state.restart()
        yield state
        free.append(state)

    def step(self, token_ids: IntArray, state: DecoderState) -> FloatArray:
        """Logits (n_rows, n_tokens) after one more token of each sequence."""
        logits = self.model.step(torch.from_numpy(token_ids).to(self.memory.device), state)
        values: FloatArray = logits.cpu().double().numpy()
        return values


@dataclass(frozen=True, slots=True, eq=False)
class TokenRules:
    """The facts about the vocabulary that the sampler needs.

    Attributes
    ----------
    arities : int64 array (n_tokens,)
        Operands of each token; -1 for tokens that never stand in a formula.
    start : int
        Id that begins every sequence.
    allowed : bool array (n_tokens,)
        Tokens that may be drawn.
    max_length : int
        Tokens of a formula at most.
    max_depth : int, optional
        Levels of its tree at most.
    """

    arities: IntArray
    start: int
    allowed: npt.NDArray[np.bool_]
    max_length: int
    max_depth: int | None = None

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise ValueError(f"max_length must be >= 1, got {self.max_length}")
        if self.max_depth is not None and self.max_depth < 1:
            raise ValueError(f"max_depth must be >= 1 or None, got {self.max_depth}")
        if not (self.allowed & (self.arities == 0)).any():
            raise ValueError("no leaf is allowed: a formula needs a variable or a constant")

    @property
    def wanted_first(self) -> IntArray:
        """The operands that an empty prefix lacks: one, the formula.

        What prefixes lack is counted by level (n_prefixes, max_depth), the root's first; in one column where depth is
        not limited. The next token always takes a place on the deepest level that has one.
        """
        return np.eye(1, self.max_depth or 1, dtype=np.int64)

    def after(self, lacks: IntArray, tokens: IntArray) -> IntArray:
        """The operands that prefixes lack once each has one more token."""
        lacks, rows, levels = lacks.copy(), np.arange(len(lacks)), _deepest(lacks)
        lacks[rows, levels] -= 1
        lacks[rows, np.minimum(levels + 1, lacks.shape[1] - 1)] += self.arities[tokens]
        return lacks

    def mask(self, lacks: IntArray, length: int) -> npt.NDArray[np.bool_]:
        """Whether each token (n_prefixes, n_tokens) may follow prefixes of this length that lack these operands."""
        possible = self.allowed & (self.arities >= 0)
        needed = length + lacks.sum(axis=1)[:, None] + self.arities[None, :]
        fits = possible[None, :] & (needed <= self.max_length)
        if self.max_depth is not None:
            fits &= (_deepest(lacks) < self.max_depth - 1)[:, None] | (self.arities == 0)[None, :]
        return fits


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Distinct sequences.

    Attributes
    ----------
    sequences : list of int64 arrays
        Token ids in prefix order, without the start token.
    log_prob : float64 array (n,)
        Log-probability of each under the model restricted to what is allowed, at temperature 1.
    counts : int64 array (n,)
        How often each was drawn.
    """

    sequences: list[IntArray]
    log_prob: FloatArray
    counts: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _Prefixes:
    """Unfinished sequences, a row each."""

    ids: IntArray  # (n, length)
    log_prob: FloatArray
    counts: IntArray
    lacks: IntArray

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def empty(cls, rules: TokenRules, n: int) -> _Prefixes:
        """One row that stands for n draws."""
        return cls(np.zeros((1, 0), dtype=np.int64), np.zeros(1), np.array([n]), rules.wanted_first)

    def log_p(self, states: States, state: DecoderState, rules: TokenRules) -> FloatArray:
        """Log-probabilities (n, n_tokens) of the next token of each among those that may follow."""
        last = self.ids[:, -1] if self.ids.shape[1] else np.array([rules.start])
        logits = states.step(last, state)[:, : len(rules.arities)]
        logits = np.where(rules.mask(self.lacks, self.ids.shape[1]), logits, -np.inf)
        log_p: FloatArray = logits - _log_sum_exp(logits)
        return log_p

    def extended(
        self, rows: IntArray, tokens: IntArray, log_prob: FloatArray, counts: IntArray, rules: TokenRules
    ) -> _Prefixes:
        """Children of these rows, each with one more token."""
        ids = np.concatenate([self.ids[rows], tokens[:, None]], axis=1)
        return _Prefixes(ids, log_prob, counts, rules.after(self.lacks[rows], tokens))

    @property
    def is_complete(self) -> npt.NDArray[np.bool_]:
        """Which rows are whole formulas."""
        return np.asarray(self.lacks.sum(axis=1) == 0)

    def at(self, rows: IntArray | npt.NDArray[np.bool_]) -> _Prefixes:
        """These rows alone."""
        return _Prefixes(self.ids[rows], self.log_prob[rows], self.counts[rows], self.lacks[rows])


def sample(
    states: States,
    rules: TokenRules,
    n: int,
    rng: np.random.Generator,
    sampling: Sampling | None = None,
    chunk: int | None = None,
    n_threads: int = 1,
) -> Sampled:
    """Draw n sequences for one encoded table.

    Parameters
    ----------
    states : States
        Of the model and the table.
    rules : TokenRules
    n : int
        Draws; equal ones are returned once with their count.
    rng : numpy Generator
    sampling : Sampling, optional
        Temperature and truncation; the model's own distribution by default.
    chunk : int, optional
        Draws that share a batch; half of them by default, between 256 and 512: larger batches cost less a draw.
    n_threads : int
        Chunks at the same time. The result does not depend on it: every chunk has a generator of its own.
    """
    if n < 1:
        raise ValueError(f"n must be >= 1, got {n}")
    if chunk is not None and chunk < 1:
        raise ValueError(f"chunk must be >= 1 or None, got {chunk}")
    chunk = chunk or min(LARGEST_CHUNK, max(_SMALLEST_CHUNK, (n + 1) // 2))
    sizes = [min(chunk, n - start) for start in range(0, n, chunk)]
    generators = rng.spawn(len(sizes))

    def draw(i: int) -> Sampled:
        return _sample_chunk(states, rules, sizes[i], generators[i], sampling or Sampling())

    if n_threads == 1 or len(sizes) == 1:
        return _merged([draw(i) for i in range(len(sizes))])
    with ThreadPoolExecutor(n_threads) as pool:
        return _merged(list(pool.map(draw, range(len(sizes)))))


@torch.inference_mode()
def _sample_chunk(states: States, rules: TokenRules, n: int, rng: np.random.Generator, sampling: Sampling) -> Sampled:
    prefixes = _Prefixes.empty(rules, n)
    done: list[Sampled] = []
    # room for the largest chunk, whatever the number of draws, so that states are used again
    with states.one(max(n, LARGEST_CHUNK), rules.max_length + 1) as state:
        while len(prefixes):
            log_p = prefixes.log_p(states, state, rules)
            rows, tokens, split = _split(prefixes.counts, _tempered(log_p, sampling), rng)
            log_prob = prefixes.log_prob[rows] + log_p[rows, tokens]
            children = prefixes.extended(rows, tokens, log_prob, split, rules)
            whole = children.at(children.is_complete)
            done.append(Sampled(list(whole.ids), whole.log_prob, whole.counts))
            live = _in_place(np.flatnonzero(~children.is_complete), rows)
            prefixes = children.at(live)
            state.select(torch.from_numpy(rows[live]))
    return _merged(done)


@torch.inference_mode()
def beam_search(states: States, rules: TokenRules, width: int) -> Sampled:
    """The most probable sequences that a beam of this width finds, most probable first; at most ``width``."""
    if width < 1:
        raise ValueError(f"the beam width must be >= 1, got {width}")
    prefixes = _Prefixes.empty(rules, 1)
    finished: list[tuple[float, IntArray]] = []
    with states.one(width, rules.max_length + 1) as state:
        while len(prefixes):
            total = (prefixes.log_prob[:, None] + prefixes.log_p(states, state, rules)).ravel()
            best = np.argsort(-total, kind="stable")[:width]
            best = best[np.isfinite(total[best])]
            rows, tokens = np.divmod(best, len(rules.arities))
            children = prefixes.extended(rows, tokens, total[best], np.ones_like(best), rules)
            whole = children.at(children.is_complete)
            finished += zip(whole.log_prob.tolist(), whole.ids, strict=True)
            finished = sorted(finished, key=lambda item: -item[0])[:width]
            is_live = ~children.is_complete
            if len(finished) == width:  # what is less probable already can only become less so
                is_live &= children.log_prob > finished[-1][0]
            live = _in_place(np.flatnonzero(is_live), rows)
            prefixes = children.at(live)
            state.select(torch.from_numpy(rows[live]))
    ones = np.ones(len(finished), dtype=np.int64)
    return Sampled([ids for _, ids in finished], np.array([p for p, _ in finished]), ones)


def _deepest(lacks: IntArray) -> IntArray:
    """The last column of each row that is not 0."""
    return lacks.shape[1] - 1 - (lacks[:, ::-1] > 0).argmax(axis=1)


def _in_place(live: IntArray, rows: IntArray) -> IntArray:
    """The live children in an order in which most stand in the row of their parent: the decoder copies little."""
    parents = rows[live]
    n = len(live)
    _, first = np.unique(parents, return_index=True)
    stays = first[parents[first] < n]
    order = np.full(n, -1)
    order[parents[stays]] = stays
    order[order < 0] = np.setdiff1d(np.arange(n), stays)
    return live[order]


def _split(counts: IntArray, p: FloatArray, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """Draws of each row over its next tokens: rows, tokens and how many draws take each pair."""
    single, many = np.flatnonzero(counts == 1), np.flatnonzero(counts != 1)
    cumulated = np.cumsum(p[single], axis=1)
    # below the total even where the product rounds up: the last token that is reached has a probability
    draws = np.minimum(rng.random(len(single)) * cumulated[:, -1], np.nextafter(cumulated[:, -1], 0))
    tokens = (cumulated <= draws[:, None]).sum(axis=1)
    drawn = _multinomial(counts[many], p[many], rng)
    places, others = np.nonzero(drawn)
    rows = np.concatenate([single, many[places]])
    split = np.concatenate([np.ones(len(single), dtype=np.int64), drawn[places, others]])
    return rows, np.concatenate([tokens, others]), split


def _multinomial(counts: IntArray, p: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draws (n_rows, n_tokens); what rounding leaves over goes to the most probable token, never to a forbidden one."""
    drawn = rng.multinomial(counts, p)
    stray = np.where(p == 0, drawn, 0)
    if stray.any():
        drawn -= stray
        drawn[np.arange(len(drawn)), p.argmax(axis=1)] += stray.sum(axis=1)
    return drawn


def _tempered(log_p: FloatArray, sampling: Sampling) -> FloatArray:
    """Probabilities (n_rows, n_tokens) to draw from."""
    scaled = log_p / sampling.temperature
    top_k = sampling.top_k
    if top_k is not None and top_k < scaled.shape[1]:
        kth = -np.partition(-scaled, top_k - 1, axis=1)[:, top_k - 1]
        scaled = np.where(scaled >= kth[:, None], scaled, -np.inf)
    p = np.exp(scaled - _log_sum_exp(scaled))
    if sampling.top_p < 1.0:
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=1)
        before = np.cumsum(ranked, axis=1) - ranked
        kept = np.zeros_like(p)
        np.put_along_axis(kept, order, np.where(before < sampling.top_p, ranked, 0.0), axis=1)
        p = kept / kept.sum(axis=1, keepdims=True)
    return p


def _log_sum_exp(x: FloatArray) -> FloatArray:
    largest = x.max(axis=1, keepdims=True)
    return largest + np.log(np.exp(x - largest).sum(axis=1, keepdims=True))


def _merged(parts: list[Sampled]) -> Sampled:
    """One result with equal sequences counted together, in order of first occurrence."""
    entries: dict[bytes, list[Any]] = {}
    for part in parts:
        for ids, p, count in zip(part.sequences, part.log_prob.tolist(), part.counts.tolist(), strict=True):
            entries.setdefault(ids.tobytes(), [ids, p, 0])[2] += count
    sequences, log_prob, counts = ([entry[k] for entry in entries.values()] for k in range(3))
    return Sampled(sequences, np.array(log_prob), np.array(counts, dtype=np.int64))

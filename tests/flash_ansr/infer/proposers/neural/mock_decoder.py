"""A decoder whose next-token logits are a function of the prefix, small enough to enumerate everything it can say."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import torch

from flash_ansr.infer.proposers.neural.sampler import TokenRules

# start, +, sin, x1, x2, and a token that may never be drawn
ARITIES = np.array([-1, 2, 1, 0, 0, 0])
START = 0
ALLOWED = np.array([True, True, True, True, True, False])


@dataclass
class MockState:
    prefixes: list[tuple[int, ...]]
    n_rows: int

    def select(self, rows: torch.Tensor) -> None:
        self.prefixes = [self.prefixes[i] for i in rows.tolist()]
        self.n_rows = len(self.prefixes)

    def restart(self) -> None:
        self.prefixes, self.n_rows = [()], 1


class MockDecoder:
    def logits(self, prefix: tuple[int, ...]) -> np.ndarray:
        return np.random.default_rng([len(prefix), *prefix]).normal(0.0, 1.5, len(ARITIES))

    def start(self, memory: torch.Tensor, capacity: int, max_length: int | None = None) -> MockState:
        return MockState([()] * capacity, capacity)

    def step(self, token_ids: torch.Tensor, state: MockState) -> torch.Tensor:
        state.prefixes = [(*p, t) for p, t in zip(state.prefixes, token_ids.tolist(), strict=True)]
        return torch.tensor(np.array([self.logits(p) for p in state.prefixes]))


def rules(max_length: int, allowed: np.ndarray = ALLOWED) -> TokenRules:
    return TokenRules(ARITIES, START, allowed, max_length)


def is_formula(ids: tuple[int, ...]) -> bool:
    missing = 1
    for i, token in enumerate(ids):
        if missing == 0 or ARITIES[token] < 0:
            return False
        missing += int(ARITIES[token]) - 1
        if missing == 0:
            return i == len(ids) - 1
    return False


def all_formulas(max_length: int) -> list[tuple[int, ...]]:
    """By brute force over all strings of tokens."""
    tokens = np.flatnonzero(ALLOWED & (ARITIES >= 0))
    strings = (s for n in range(1, max_length + 1) for s in itertools.product(tokens.tolist(), repeat=n))
    return [s for s in strings if is_formula(s)]


def log_probability(ids: tuple[int, ...], max_length: int, temperature: float = 1.0) -> float:
    """Of a formula: at each place the softmax over the tokens after which the rest still fits."""
    decoder, total, missing = MockDecoder(), 0.0, 1
    for i, token in enumerate(ids):
        logits = decoder.logits((START, *ids[:i])) / temperature
        fits = [ALLOWED[t] and ARITIES[t] >= 0 and i + missing + ARITIES[t] <= max_length for t in range(len(ARITIES))]
        weights = np.where(fits, np.exp(logits), 0.0)
        total += float(np.log(weights[token] / weights.sum()))
        missing += int(ARITIES[token]) - 1
    return total

"""The paper's own rule discovery, for comparison on small lengths: every pattern against every shorter expression.

Algorithm "Rule Discovery" and "Equivalence Check" of the paper, as written: points from N(0, 5), K challenges with
constants of all signs, R retries of Levenberg-Marquardt for the constants of a replacement, undefined values match
undefined ones, the rules of a length are used only from the next one on. Nothing is verified afterwards: what it
accepts is what the paper's method accepts. A cheap look at a few rows comes first, which changes no decision.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simplipy.equivalence.probe_points import Array
from simplipy.expression.expression import Expression, evaluate_many, parse
from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.fit.constants import fit_constants
from simplipy.mining.config import MineConfig
from simplipy.mining.discovery import LengthReport, Mined, Progress
from simplipy.mining.rule import METAVARIABLES, Rule, Tokens, from_core
from simplipy.paper.engine import PaperEngine
from simplipy.paper.rules import PrefixRule

_N_ROWS = 1024
_N_CHALLENGES = 16
_N_RETRIES = 16
_TOLERANCE = 1e-8
_GLANCE = 16
_LITERALS = ("0", "1", "-1", "pi", "e", "inf", "-inf", "nan")


def mine_by_fits(config: MineConfig, time_limit: float | None = None, progress: Progress | None = None) -> Mined:
    """Run the paper's discovery.

    Parameters
    ----------
    config : MineConfig
        Lengths, metavariables, operators, literals and seed; free constants are used if it allows any.
    time_limit : float or None
        Seconds after which the current length is left unfinished.
    progress : callable, optional
        Called with the report of the current length and the number of rules so far.
    """
    search = _Search(config, time_limit)
    mined = Mined(config)
    for length in range(2, config.max_length + 1):
        patterns = list(search.expressions(length))
        report = LengthReport(length, existing=len(patterns))
        mined.lengths.append(report)
        start = time.monotonic()
        engine = PaperEngine([_prefix_rule(rule) for rule in mined.rules])
        found: dict[Rule, None] = {}
        for tokens in patterns:
            if search.is_over():
                mined.stopped = "time limit"
                break
            report.counts["tested"] += 1
            if len(engine.simplify(tokens)) < length:
                report.counts["reducible"] += 1
                continue
            try:
                replacement = search.replacement(tokens)
            except KeyboardInterrupt:
                mined.stopped = "interrupted"
                break
            if replacement is None:
                report.counts["irreducible"] += 1
            else:
                found[Rule(from_core(tokens), from_core(replacement))] = None
            report.seconds_search = time.monotonic() - start
            if progress and report.counts["tested"] % 100 == 0:
                progress(report, len(mined.rules) + len(found), 0)
        mined.rules += found
        report.counts["proposed"] = report.n_rules = len(found)
        report.complete = not mined.stopped
        report.seconds_search = time.monotonic() - start
        if mined.stopped:
            break
    return mined


class _Search:
    """Expressions by length with their values, and the search for a shorter equivalent."""

    def __init__(self, config: MineConfig, time_limit: float | None) -> None:
        self._config = config
        self._end = math.inf if time_limit is None else time.monotonic() + time_limit
        self._rng = np.random.default_rng(config.seed)
        self._rows = self._rng.normal(0, 5, (_N_ROWS, config.n_variables))
        self._leaves: list[str] = [f"x{k + 1}" for k in range(config.n_variables)]
        self._leaves += [CONSTANT] * bool(config.n_constants) + [*_LITERALS] * config.literals
        self._candidates: dict[int, list[tuple[Tokens, Expression, Array]]] = {}

    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end

    def expressions(self, length: int) -> Iterator[Tokens]:
        """All expressions of a length, metavariables in the order of their first occurrence."""
        return (tokens for tokens in self._all(length) if _in_order(tokens))

    def _all(self, length: int) -> Iterator[Tokens]:
        if length == 1:
            yield from ((leaf,) for leaf in self._leaves)
            return
        for token in self._config.operators:
            if OPERATORS[token].arity == 1:
                yield from ((token, *inner) for inner in self._all(length - 1))
                continue
            for n in range(1, length - 1):
                for left, right in itertools.product(self._all(n), self._all(length - 1 - n)):
                    yield (token, *left, *right)

    def replacement(self, tokens: Tokens) -> Tokens | None:
        """The shortest equivalent expression, of these the one with the fewest constants."""
        pattern = parse(tokens)
        counts = Counter(t for t in tokens if t in pattern.variables)
        first = self._values(pattern, self._challenge(pattern.n_constants)[0])
        for length in range(1, min(len(tokens) - 1, self._config.max_replacement) + 1):
            best: Tokens | None = None
            for candidate, expression, values in self._of_length(length):
                if not set(expression.variables) <= set(pattern.variables):
                    continue
                if best is not None and candidate.count(CONSTANT) >= best.count(CONSTANT):
                    continue
                if not expression.n_constants and not _close(values[:_GLANCE], first[:_GLANCE]):
                    continue
                if self._equivalent(pattern, expression, values):
                    best = candidate
            if best is not None and all(best.count(t) <= counts[t] for t in set(best) if t[0] == "x"):
                return best
        return None

    def _of_length(self, length: int) -> list[tuple[Tokens, Expression, Array]]:
        if length not in self._candidates:
            parsed = ((tokens, parse(tokens)) for tokens in self._all(length))
            self._candidates[length] = [(t, e, self._values(e, np.zeros(e.n_constants))) for t, e in parsed]
        return self._candidates[length]

    def _values(self, expression: Expression, constants: Array) -> Array:
        values, _ = evaluate_many([expression], self._rows, [constants.tolist()], n_threads=1)
        return np.asarray(values[0], dtype=np.float64)

    def _challenge(self, n: int) -> list[Array]:
        """Values of n constants: one size, all combinations of signs and zero."""
        size = np.abs(self._rng.normal(0, 5, n))
        return [size * np.array(signs) for signs in itertools.product((1.0, -1.0, 0.0), repeat=n)]

    def _equivalent(self, pattern: Expression, candidate: Expression, fixed: Array) -> bool:
        """The paper's check."""
        n_challenges = _N_CHALLENGES if pattern.n_constants else 1
        challenges = (c for _ in range(n_challenges) for c in self._challenge(pattern.n_constants))
        targets = (self._values(pattern, constants) for constants in challenges)
        return all(self._fits(candidate, y) if candidate.n_constants else _close(fixed, y) for y in targets)

    def _fits(self, candidate: Expression, y: Array) -> bool:
        """Whether constants of the candidate give these values, by Levenberg-Marquardt with retries."""
        defined = np.isfinite(y)
        if not defined.any():
            return _close(self._values(candidate, np.ones(candidate.n_constants)), y)
        seed = int(self._rng.integers(2**31))
        options: dict[str, Any] = {"n_restarts": _N_RETRIES, "random_state": seed, "n_threads": 1}
        fit = fit_constants(candidate, self._rows[defined], y[defined], **options)
        constants = np.asarray(fit.constants)
        return bool(np.isfinite(constants).all()) and _close(self._values(candidate, constants), y)


def _prefix_rule(rule: Rule) -> PrefixRule:
    """The rule with the metavariables of the paper's engine: _0 for a."""
    names = {name: f"_{k}" for k, name in enumerate(METAVARIABLES)}
    return PrefixRule(*(tuple(names.get(t, t) for t in side) for side in (rule.pattern, rule.replacement)))


def _close(a: Array, b: Array) -> bool:
    """Equal up to rounding, undefined values equal to each other."""
    with np.errstate(all="ignore"):
        return bool(np.isclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True).all())


def _in_order(tokens: Sequence[str]) -> bool:
    seen = list(dict.fromkeys(t for t in tokens if t[0] == "x"))
    return seen == [f"x{k + 1}" for k in range(len(seen))]

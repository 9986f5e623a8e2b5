"""Simplification: the shortest spelling of a formula, with stated guarantees about values and domain.

The work happens in the core, one call a batch. ``Engine(method="paper")`` runs the published algorithm instead, in
readable Python, as a reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from simplipy import _core
from simplipy.errors import SimplipyError
from simplipy.expression.data_binding import thread_count
from simplipy.expression.expression import Expression, parse
from simplipy.expression.token_batch import TokenBatch

Domain = Literal["extend", "preserve"]
Ranges = Mapping[str, tuple[float, float]]
# a result has the type of the input; other sequences of tokens come back as lists
Source = TypeVar("Source", str, Expression, list[str])
Batch = TypeVar("Batch", TokenBatch, list[list[str]])
# domain, max_pattern_length, mask_numbers, fold_numbers, max_steps
_Options = tuple[Domain, int | None, bool, bool, int | None]

_MAX_STEPS = 16
# simplifying one expression is worth about so many evaluated values
_VALUES_PER_EXPRESSION = 400


class StopReason(Enum):
    """Why a simplification ended."""

    FIXPOINT = "the result simplifies to itself"
    STEP_LIMIT = "max_steps rounds are over"
    SIZE_LIMIT = "the input has more than 20,000 tokens and is returned as it is"
    OVERFLOW = "a number or the nesting grew beyond its limit, the last form before that is returned"


@dataclass(frozen=True, slots=True)
class Step:
    """One round of rewriting: the rules that were used, the expression before and after."""

    rules: tuple[str, ...]
    before: Expression
    after: Expression


@dataclass(frozen=True, slots=True)
class Explanation:
    """Result of a simplification, with its steps.

    Attributes
    ----------
    expression : Expression
        The result.
    steps : tuple of Step
        The rounds that changed something.
    stop : StopReason
        Why it ended.
    constants : tuple of Expression
        The result's free constants, in prefix order, as expressions of the input's: c1 is the first of those in prefix
        order, c2 the second.
    """

    expression: Expression
    steps: tuple[Step, ...]
    stop: StopReason
    constants: tuple[Expression, ...]


class Engine:
    """A simplifier with its rules.

    Parameters
    ----------
    rules : path, optional
        Rule file in the format of the bundled one, ``simplipy/data/rules.txt``; of method "paper" a JSON file.
    method : {"canonical", "paper"}
        The core's engine, or the paper's algorithm in Python.
    """

    def __init__(self, rules: str | Path | None = None, method: Literal["canonical", "paper"] = "canonical") -> None:
        if method not in ("canonical", "paper"):
            raise SimplipyError(f"method must be 'canonical' or 'paper', got {method!r}")
        self.method = method
        self._paper_rules = rules
        # bundled rules are compiled at their first use
        self._rules = None if rules is None or method == "paper" else _read_rules(rules)
        self._paper_engines: dict[int | None, Any] = {}

    def simplify(
        self,
        x: Source,
        domain: Domain = "extend",
        max_pattern_length: int | None = None,
        mask_numbers: bool = False,
        fold_numbers: bool = False,
        ranges: Ranges | None = None,
        max_steps: int | None = None,
    ) -> Source:
        """Shortest form of a formula, of the type that went in.

        Parameters
        ----------
        x : str, sequence of str or Expression
            Infix text, prefix tokens or an expression.
        domain : {"extend", "preserve"}, default "extend"
            With "extend" the result equals the input wherever both are defined and is defined wherever the input is, up
            to a null set; it may be defined in more places, and its family of constants may be larger. With "preserve"
            it is also undefined where the input is, up to a null set.
        max_pattern_length : int, optional
            Longest rule to use; 0 leaves the canonicaliser alone.
        mask_numbers : bool, default False
            Count every number outside an operator token as a free constant, as the paper does.
        fold_numbers : bool, default False
            Round subterms without variables and constants to the nearest double.
        ranges : mapping of variable to (low, high), optional
            Promised bounds: ``{"x1": (0, inf)}`` lets ``abs(x1)`` become ``x1``.
        max_steps : int, optional
            Rounds of rewriting at most.

        Examples
        --------
        >>> import simplipy
        >>> simplipy.simplify("x1*sin(1 + <constant>)/(x1*x1)")
        '<constant>/x1'
        >>> simplipy.simplify(["+", "x1", "x1"])
        ['mult2', 'x1']
        >>> simplipy.simplify("exp(log(x1))", domain="preserve")
        'exp(log(x1))'
        """
        if self.method == "paper":
            options = (domain, max_pattern_length, mask_numbers, fold_numbers, max_steps)
            result = self._paper(parse(x), ranges, options)
        else:
            core_options = _core_options(self._rules, domain, max_pattern_length, mask_numbers, fold_numbers, max_steps)
            if type(x) is list and not ranges:  # the common case takes the shortest way
                try:
                    return _core.simplify_tokens(x, core_options)
                except TypeError:
                    parse(x)  # says which token is no string
                    raise
            result = Expression(_core.simplify_tree(parse(x)._tree, core_options, _checked_ranges(ranges)))
        if isinstance(x, str):
            return result.infix()
        if isinstance(x, Expression):
            return result
        return result.tokens

    def simplify_many(
        self,
        batch: Batch,
        domain: Domain = "extend",
        max_pattern_length: int | None = None,
        mask_numbers: bool = False,
        fold_numbers: bool = False,
        ranges: Ranges | None = None,
        max_steps: int | None = None,
        n_threads: int | None = None,
    ) -> Batch:
        """Shortest forms of many expressions in one call.

        Parameters
        ----------
        batch : TokenBatch or list of token lists
            The result has the type of the batch.
        domain, max_pattern_length, mask_numbers, fold_numbers, ranges, max_steps
            As in ``simplipy.simplify``.
        n_threads : int or None
            None takes what pays off. The result does not depend on it.
        """
        if self.method == "paper" or ranges:
            options = (domain, max_pattern_length, mask_numbers, fold_numbers, ranges, max_steps)
            if isinstance(batch, TokenBatch):
                return TokenBatch.from_expressions(self.simplify(e, *options) for e in batch.expressions())
            return [self.simplify(parse(tokens), *options).tokens for tokens in batch]
        core_options = _core_options(self._rules, domain, max_pattern_length, mask_numbers, fold_numbers, max_steps)
        if isinstance(batch, TokenBatch):
            threads = thread_count(n_threads, len(batch) * _VALUES_PER_EXPRESSION)
            arrays = (batch.ids, batch.offsets, list(batch.extras))
            ids, offsets, extras = _core.simplify_ids(*arrays, core_options, threads)
            return TokenBatch(ids, offsets, tuple(extras))
        rows = [tokens if type(tokens) is list else parse(tokens).tokens for tokens in batch]
        try:
            threads = thread_count(n_threads, len(rows) * _VALUES_PER_EXPRESSION)
            return _core.simplify_token_lists(rows, core_options, threads)
        except TypeError:
            TokenBatch.from_tokens(rows)  # says which token is no string
            raise

    def canonical_key(self, x: str | Expression | Sequence[str]) -> bytes:
        """Key that is equal for expressions with the same shortest form."""
        return "\0".join(self.simplify(parse(x)).tokens).encode()

    def explain(
        self,
        x: str | Expression | Sequence[str],
        domain: Domain = "extend",
        max_pattern_length: int | None = None,
        mask_numbers: bool = False,
        fold_numbers: bool = False,
        max_steps: int | None = None,
    ) -> Explanation:
        """Simplify, and list the rounds with the names of their rules, the stop reason and the output's constants."""
        expression = parse(x)
        if self.method == "paper":
            raise SimplipyError("explain is for method='canonical'; the paper's engine has PaperEngine.trace")
        options = _core_options(self._rules, domain, max_pattern_length, mask_numbers, fold_numbers, max_steps)
        tree, stop, steps, constants = _core.explain_tree(expression._tree, options)
        return Explanation(
            expression=Expression(tree),
            steps=tuple(Step(tuple(rules), Expression(before), Expression(after)) for rules, before, after in steps),
            stop=StopReason[stop],
            constants=tuple(_with_constant_names(Expression(c)) for c in constants),
        )

    def _paper(self, expression: Expression, ranges: Ranges | None, options: _Options) -> Expression:
        from simplipy.paper.engine import PaperEngine
        from simplipy.paper.rules import load_rules

        domain, max_pattern_length, mask_numbers, fold_numbers, max_steps = options
        if ranges or domain != "extend" or fold_numbers or max_steps is not None:
            raise SimplipyError("the paper's engine takes max_pattern_length and mask_numbers only")
        if max_pattern_length not in self._paper_engines:
            self._paper_engines[max_pattern_length] = PaperEngine(load_rules(self._paper_rules), max_pattern_length)
        result = parse(self._paper_engines[max_pattern_length].simplify(expression.tokens))
        return result.skeleton() if mask_numbers else result


@cache
def _bundled_rules() -> _core.RuleSet:
    return _read_rules(Path(__file__).parents[1] / "data" / "rules.txt")


def _read_rules(path: str | Path) -> _core.RuleSet:
    return _core.RuleSet(Path(path).read_text(encoding="utf-8"))


@cache
def _core_options(rules: _core.RuleSet | None, *options: *_Options) -> _core.SimplifyOptions:
    domain, max_pattern_length, mask_numbers, fold_numbers, max_steps = options
    if domain not in ("extend", "preserve"):
        raise SimplipyError(f"domain must be 'extend' or 'preserve', got {domain!r}")
    if max_pattern_length is not None and max_pattern_length < 0:
        raise SimplipyError(f"max_pattern_length must be >= 0 or None, got {max_pattern_length}")
    if max_steps is not None and max_steps < 1:
        raise SimplipyError(f"max_steps must be >= 1 or None, got {max_steps}")
    return _core.SimplifyOptions(
        _bundled_rules() if rules is None else rules,
        domain == "extend",
        -1 if max_pattern_length is None else max_pattern_length,
        mask_numbers,
        fold_numbers,
        _MAX_STEPS if max_steps is None else max_steps,
    )


def _checked_ranges(ranges: Ranges | None) -> list[tuple[str, float, float]]:
    checked = []
    for name, (low, high) in (ranges or {}).items():
        if math.isnan(low) or math.isnan(high) or low > high:
            raise SimplipyError(f"the range of {name!r} must be (low, high) with low <= high, got {(low, high)}")
        checked.append((name, float(low), float(high)))
    return checked


def _with_constant_names(expression: Expression) -> Expression:
    return expression.rename({name: f"c{name[1:]}" for name in expression.variables})


# the functions of the package: those of an engine with the bundled rules
_DEFAULT_ENGINE = Engine()
simplify = _DEFAULT_ENGINE.simplify
simplify_many = _DEFAULT_ENGINE.simplify_many
canonical_key = _DEFAULT_ENGINE.canonical_key

"""Simplification: the shortest spelling of a formula, with stated guarantees about values and domain.

The work happens in the core, one call a batch. ``Engine(method="paper")`` runs the published algorithm instead, in
readable Python, as a reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from simplipy import _core
from simplipy.data_binding import thread_count
from simplipy.errors import SimplipyError
from simplipy.expression import Expression, parse
from simplipy.token_batch import TokenBatch

Domain = Literal["extend", "preserve"]
Ranges = Mapping[str, tuple[float, float]]
Source = TypeVar("Source", str, list[str], Expression)

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
    """What a simplification did.

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
        self._rules = _bundled_rules() if rules is None or method == "paper" else _read_rules(Path(rules))
        self._paper_engines: dict[int | None, Any] = {}

    @overload
    def simplify(self, x: str, **options: Any) -> str: ...
    @overload
    def simplify(self, x: Expression, **options: Any) -> Expression: ...
    @overload
    def simplify(self, x: Sequence[str], **options: Any) -> list[str]: ...
    def simplify(self, x: str | Expression | Sequence[str], **options: Any) -> str | Expression | list[str]:
        """Shortest form; see ``simplipy.simplify`` for the options."""
        if type(x) is list and self.method == "canonical" and "ranges" not in options:
            return _simplified_tokens(x, _core_options(self._rules, **options))
        expression = parse(x)
        if self.method == "paper":
            result = self._paper(expression, **options)
        else:
            ranges = _checked_ranges(options.pop("ranges", None))
            core_options = _core_options(self._rules, **options)
            result = Expression(_core.simplify_tree(expression._tree, core_options, ranges))
        if isinstance(x, str):
            return result.infix()
        return result if isinstance(x, Expression) else result.tokens

    def simplify_many(
        self, batch: TokenBatch | Iterable[Sequence[str]], n_threads: int | None = None, **options: Any
    ) -> TokenBatch | list[list[str]]:
        """Shortest forms of many expressions; see ``simplipy.simplify_many``."""
        tokens = batch if isinstance(batch, TokenBatch) else TokenBatch.from_tokens(batch)
        if self.method == "paper":
            results = TokenBatch.from_expressions(self._paper(e, **options) for e in tokens.expressions())
        else:
            ranges = _checked_ranges(options.pop("ranges", None))
            core_options = _core_options(self._rules, **options)
            if ranges:
                trees = _core.decode(tokens.ids, tokens.offsets, list(tokens.extras))
                results = TokenBatch.from_expressions(
                    Expression(_core.simplify_tree(tree, core_options, ranges)) for tree in trees
                )
            else:
                threads = thread_count(n_threads, len(tokens) * _VALUES_PER_EXPRESSION)
                ids, offsets, extras = _core.simplify_ids(
                    tokens.ids, tokens.offsets, list(tokens.extras), core_options, threads
                )
                results = TokenBatch(ids, offsets, tuple(extras))
        return results if isinstance(batch, TokenBatch) else results.to_tokens()

    def canonical_key(self, x: str | Expression | Sequence[str]) -> bytes:
        """Key that is equal for expressions with the same shortest form."""
        return "\0".join(self.simplify(parse(x)).tokens).encode()

    def explain(self, x: str | Expression | Sequence[str], **options: Any) -> Explanation:
        """Simplify and tell how: rounds with the names of their rules, stop reason, the output's constants."""
        expression = parse(x)
        if self.method == "paper":
            raise SimplipyError("explain is for method='canonical'; the paper's engine has PaperEngine.trace")
        if options.pop("ranges", None):
            raise SimplipyError("explain does not take ranges")
        tree, stop, steps, constants = _core.explain_tree(expression._tree, _core_options(self._rules, **options))
        return Explanation(
            expression=Expression(tree),
            steps=tuple(Step(tuple(rules), Expression(before), Expression(after)) for rules, before, after in steps),
            stop=StopReason[stop],
            constants=tuple(_with_constant_names(Expression(c)) for c in constants),
        )

    def _paper(
        self,
        expression: Expression,
        domain: Domain = "extend",
        max_pattern_length: int | None = None,
        mask_numbers: bool = False,
        **unknown: Any,
    ) -> Expression:
        from simplipy.paper_engine import PaperEngine
        from simplipy.paper_rules import load_rules

        if unknown or domain != "extend":
            raise SimplipyError("the paper's engine takes max_pattern_length and mask_numbers only")
        if max_pattern_length not in self._paper_engines:
            rules = load_rules() if self._paper_rules is None else load_rules(Path(self._paper_rules))
            self._paper_engines[max_pattern_length] = PaperEngine(rules, max_pattern_length)
        result = parse(self._paper_engines[max_pattern_length].simplify(expression.tokens))
        return result.skeleton() if mask_numbers else result


@overload
def simplify(x: str, **options: Any) -> str: ...
@overload
def simplify(x: Expression, **options: Any) -> Expression: ...
@overload
def simplify(x: Sequence[str], **options: Any) -> list[str]: ...
def simplify(x: str | Expression | Sequence[str], **options: Any) -> str | Expression | list[str]:
    """Shortest form of a formula, of the type that went in.

    Parameters
    ----------
    x : str, sequence of str or Expression
        Infix text, prefix tokens or an expression.
    domain : {"extend", "preserve"}, default "extend"
        With "extend" the result equals the input wherever both are defined and is defined wherever the input is, up to
        a null set; it may be defined in more places, and its family of constants may be larger. With "preserve" it is
        also undefined where the input is, up to a null set.
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
    # token lists are the common case, and a tenth of their time would go into looking options up again
    if type(x) is list and not options:
        return _simplified_tokens(x, _DEFAULT_OPTIONS)
    if type(x) is list and "ranges" not in options:
        key = tuple(options.items())
        core_options = _KNOWN_OPTIONS.get(key)
        if core_options is None:
            core_options = _KNOWN_OPTIONS[key] = _core_options(_bundled_rules(), **options)
        return _simplified_tokens(x, core_options)
    return _DEFAULT_ENGINE.simplify(x, **options)


def _simplified_tokens(tokens: list[str], options: _core.SimplifyOptions) -> list[str]:
    try:
        return _core.simplify_tokens(tokens, options)
    except TypeError:
        parse(tokens)  # says which token is no string
        raise


def simplify_many(
    batch: TokenBatch | Iterable[Sequence[str]], n_threads: int | None = None, **options: Any
) -> TokenBatch | list[list[str]]:
    """Shortest forms of many expressions in one call.

    Parameters
    ----------
    batch : TokenBatch or iterable of token lists
        What goes in comes out.
    n_threads : int or None
        None takes what pays off. The result does not depend on it.
    **options
        As in ``simplipy.simplify``.
    """
    return _DEFAULT_ENGINE.simplify_many(batch, n_threads, **options)


def canonical_key(x: str | Expression | Sequence[str]) -> bytes:
    """Key that is equal for expressions with the same shortest form."""
    return _DEFAULT_ENGINE.canonical_key(x)


@cache
def _bundled_rules() -> _core.RuleSet:
    return _read_rules(Path(__file__).parent / "data" / "rules.txt")


def _read_rules(path: Path) -> _core.RuleSet:
    return _core.RuleSet(path.read_text(encoding="utf-8"))


@cache
def _core_options(
    rules: _core.RuleSet,
    domain: Domain = "extend",
    max_pattern_length: int | None = None,
    mask_numbers: bool = False,
    fold_numbers: bool = False,
    max_steps: int | None = None,
) -> _core.SimplifyOptions:
    if domain not in ("extend", "preserve"):
        raise SimplipyError(f"domain must be 'extend' or 'preserve', got {domain!r}")
    if max_pattern_length is not None and max_pattern_length < 0:
        raise SimplipyError(f"max_pattern_length must be >= 0 or None, got {max_pattern_length}")
    if max_steps is not None and max_steps < 1:
        raise SimplipyError(f"max_steps must be >= 1 or None, got {max_steps}")
    return _core.SimplifyOptions(
        rules,
        domain == "extend",
        -1 if max_pattern_length is None else max_pattern_length,
        mask_numbers,
        fold_numbers,
        _MAX_STEPS if max_steps is None else max_steps,
    )


_DEFAULT_ENGINE = Engine()
_DEFAULT_OPTIONS = _core_options(_bundled_rules())
# of calls with options, as they were written
_KNOWN_OPTIONS: dict[tuple[tuple[str, Any], ...], _core.SimplifyOptions] = {}


def _checked_ranges(ranges: Ranges | None) -> list[tuple[str, float, float]]:
    checked = []
    for name, (low, high) in (ranges or {}).items():
        if math.isnan(low) or math.isnan(high) or low > high:
            raise SimplipyError(f"the range of {name!r} must be (low, high) with low <= high, got {(low, high)}")
        checked.append((name, float(low), float(high)))
    return checked


def _with_constant_names(expression: Expression) -> Expression:
    return expression.rename({name: f"c{name[1:]}" for name in expression.variables})

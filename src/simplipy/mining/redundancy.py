"""Which rules are needed: instances of others, and rules that the canonicaliser or other rules make unnecessary.

Two notions of "covered". Syntactic: a rule is an instance of another one when its pattern is the other's with its
metavariables bound. By the engine: simplifying the pattern with the other rules gives something as short as the
replacement. The second sees order, nesting and signs, and is what removal-and-recheck uses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from simplipy import _core
from simplipy.errors import SimplipyError
from simplipy.expression.expression import parse
from simplipy.expression.operators import OPERATORS
from simplipy.expression.prefix import subterm_ends
from simplipy.mining.rule import METAVARIABLES, Rule, Tokens, to_core
from simplipy.mining.verification import read_condition

_MAX_STEPS = 16


class Instances:
    """Whether a rule is an instance of one of these: its pattern is the other's with its metavariables bound.

    Rules lie in buckets by the root of their pattern and the tokens below it, with None for a metavariable.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._buckets: dict[tuple[str | None, ...], list[Rule]] = {}
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        """Add a rule."""
        below = (None if token in METAVARIABLES else token for token in _tokens_below_root(rule.pattern))
        self._buckets.setdefault((rule.pattern[0], *below), []).append(rule)

    def covers(self, rule: Rule) -> bool:
        """Whether another rule takes the pattern to something as short as the replacement."""
        ends = subterm_ends(rule.pattern)
        below = itertools.product(*((None, token) for token in _tokens_below_root(rule.pattern)))
        others = (other for tokens in below for other in self._buckets.get((rule.pattern[0], *tokens), ()))
        bindings = ((other, _bind(other.pattern, rule.pattern, ends)) for other in others)
        return any(bound is not None and _size(other, bound) <= len(rule.replacement) for other, bound in bindings)


def _tokens_below_root(tokens: Tokens) -> list[str]:
    """The first tokens of the operands of prefix tokens."""
    arity = OPERATORS[tokens[0]].arity if tokens[0] in OPERATORS else 0
    return [tokens[start] for start in (1, *subterm_ends(tokens)[1:2])[:arity]]


def _bind(pattern: Tokens, tokens: Tokens, ends: Sequence[int]) -> dict[str, Tokens] | None:
    """The terms that the metavariables of a pattern stand for in tokens; None where these are no instance."""
    bound: dict[str, Tokens] = {}
    position = 0
    for token in pattern:
        if token in METAVARIABLES:
            part = tokens[position : ends[position]]
            if bound.setdefault(token, part) != part:
                return None
            position = ends[position]
        elif token == tokens[position]:
            position += 1
        else:
            return None
    return bound


def _size(rule: Rule, bound: Mapping[str, Tokens]) -> int:
    """Tokens of the replacement with its metavariables bound."""
    return sum(len(bound[token]) if token in METAVARIABLES else 1 for token in rule.replacement)


class Refuted:
    """Equations that verification rejected, and the longer ones that only put them into a context.

    If p = r is wrong, so is t(p) = t(r): tanh(5*cosh(a)) is not 1, and exp(tanh(5*cosh(a))) not e.

    Parameters
    ----------
    rules : iterable of Rule
        Rejected; those with conditions are not used.
    options : SimplifyOptions
        Of the engine that decides whether a term is t(r).
    """

    def __init__(self, rules: Iterable[Rule], options: _core.SimplifyOptions) -> None:
        self._options = options
        self._equations: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for rule in rules:
            if not rule.conditions:
                self._equations.setdefault(rule.pattern, []).append(rule.replacement)
        self._spellings: dict[tuple[str, ...], list[str]] = {}

    def imply(self, rule: Rule) -> bool:
        """Whether the rule is one of these equations in a context."""
        if rule.conditions:
            return False
        ends = subterm_ends(rule.pattern)
        # the longest parts first
        for first in sorted(range(1, rule.length), key=lambda i: i - ends[i]):
            last = ends[first]
            names = dict.fromkeys(t for t in rule.pattern[first:last] if t in METAVARIABLES)
            own = dict(zip(names, METAVARIABLES, strict=False))
            back = {name: outer for outer, name in own.items()}
            part = tuple(own.get(t, t) for t in rule.pattern[first:last])
            for replacement in self._equations.get(part, ()):
                moved = tuple(back.get(t, t) for t in replacement)
                changed = (*rule.pattern[:first], *moved, *rule.pattern[last:])
                if self._spelled(changed) == self._spelled(rule.replacement):
                    return True
        return False

    def _spelled(self, tokens: tuple[str, ...]) -> list[str]:
        if tokens not in self._spellings:
            self._spellings[tokens] = _core.simplify_tokens(to_core(tokens), self._options)
        return self._spellings[tokens]


def select_general(rules: Sequence[Rule]) -> list[Rule]:
    """The most general of these rules: none of them is an instance of another one."""
    chosen: list[Rule] = []
    instances = Instances()
    for rule in sorted(rules, key=Rule.sort_key):
        if not instances.covers(rule):
            chosen.append(rule)
            instances.add(rule)
    return chosen


def rule_set(rules: Iterable[Rule]) -> _core.RuleSet:
    """The rules as the engine loads them."""
    return _core.RuleSet("\n".join(rule.line() for rule in rules))


def options_with(rules: _core.RuleSet) -> _core.SimplifyOptions:
    """Options of the engine with these rules."""
    return _core.SimplifyOptions(rules, True, -1, False, False, _MAX_STEPS)


def spelled_length(rule: Rule, options: _core.SimplifyOptions) -> int:
    """Tokens of what the engine makes of the pattern, its conditions promised as ranges."""
    if not rule.conditions:
        return len(_core.simplify_tokens(to_core(rule.pattern), options))
    bounds = [read_condition(condition) for condition in rule.conditions]
    ranges = [(to_core([name])[0], low, high) for name, low, high, _ in bounds]
    return len(_core.simplify_tree(parse(to_core(rule.pattern))._tree, options, ranges))


def loads(rule: Rule) -> bool:
    """Whether the engine can match the pattern, and shortens it with this rule alone."""
    if rule.has_constant:
        return False
    try:
        options = options_with(rule_set([rule]))
    except SimplipyError:
        return False
    return spelled_length(rule, options) < rule.length


def is_covered(rule: Rule, options: _core.SimplifyOptions) -> bool:
    """Whether the engine with these options makes the pattern as short as the replacement."""
    return spelled_length(rule, options) <= len(rule.replacement)


def without_covered(rules: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Removal and recheck: each rule in turn, the least general first, is left out if the others do its work.

    Returns
    -------
    kept, removed : lists of Rule
    """
    lines = {rule: rule.line() for rule in sorted(rules, key=Rule.sort_key)}
    removed: list[Rule] = []
    for rule in sorted(rules, key=_dispensable_first):
        line = lines.pop(rule)
        if is_covered(rule, options_with(_core.RuleSet("\n".join(lines.values())))):
            removed.append(rule)
        else:
            lines[rule] = line
    return sorted(lines, key=Rule.sort_key), removed


def _dispensable_first(rule: Rule) -> tuple[object, ...]:
    """Conditional rules first, then the longest, so that short and general ones stay."""
    n_fixed = sum(token not in OPERATORS and token not in METAVARIABLES for token in rule.pattern)
    return not rule.conditions, -rule.length, -n_fixed, -len(rule.replacement), rule.pattern, rule.replacement

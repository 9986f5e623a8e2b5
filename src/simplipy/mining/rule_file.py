"""Rule files: the JSON that mining writes, and the text that the engine loads.

The text is made from mined rules and from hand-written ones, which are proved on paper and do what no mined rule does:
identities longer than the mined lengths, or ones that do not shorten by themselves. It is the same for equal inputs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from simplipy.errors import SimplipyError
from simplipy.expression.expression import parse
from simplipy.mining.redundancy import is_covered, options_with, rule_set
from simplipy.mining.rule import METAVARIABLES, Kind, Rule, read_lines
from simplipy.mining.verification import read_condition

_HEAD = """\
# simplipy rules, version 3
#
# name: pattern -> replacement [extends] [conditions]
#
# Identities that the canonical form does not know by itself. Patterns are matched modulo order and nesting of + and *,
# sums up to a common factor, products up to a common power. a, b, c, d stand for any term. "extends" marks rules whose
# replacement is defined in more places; they are used with domain="extend" only. A term that the replacement drops
# must, with domain="preserve", be defined everywhere.
#
# Conditions, with commas between them, say what a metavariable must be bound to: a > 0 (or <, >=, <=),
# a in [-pi/2, pi/2] (with round brackets for bounds that are not reached), a integer (a whole number), a finite
# (defined everywhere but on a null set). They are proved by intervals; what cannot be proved does not hold.
#
# This file is written by `make mine`; edit hand_rules.txt instead.
"""


def read_rules(path: Path) -> list[Rule]:
    """The rules of a file: JSON as mining writes it, or text as the engine loads it; each is checked to be a rule."""
    try:
        text = path.read_text(encoding="utf-8")
        rules = [Rule.from_row(r) for r in json.loads(text)["rules"]] if path.suffix == ".json" else read_lines(text)
    except UnicodeDecodeError as error:
        raise SimplipyError(f"{path} is no text in UTF-8: {error}") from error
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise SimplipyError(f"{path} is no file that `simplipy mine` wrote: {error}") from error
    if not rules:
        raise SimplipyError(f"{path} must have at least one rule, got none")
    for i, rule in enumerate(rules):
        try:
            _check(rule)
        except SimplipyError as error:
            raise SimplipyError(f"{path}, rule {i + 1}: {error}") from error
    return rules


def _check(rule: Rule) -> None:
    """Raise where a rule has no meaning: its sides, metavariables, kind or conditions."""
    names = {side: set(parse(getattr(rule, side)).variables) for side in ("pattern", "replacement")}
    for side, own in names.items():
        if unknown := own - set(METAVARIABLES):
            raise SimplipyError(f"the {side} may have the metavariables a, b, c and d, got {min(unknown)!r}")
    if new := names["replacement"] - names["pattern"]:
        raise SimplipyError(f"the replacement must have metavariables of the pattern only, got {min(new)!r}")
    if rule.kind not in get_args(Kind):
        raise SimplipyError(f"the kind must be one of {', '.join(get_args(Kind))}, got {rule.kind!r}")
    for condition in rule.conditions:
        if (name := read_condition(condition)[0]) not in names["pattern"]:
            raise SimplipyError(f"a condition must be on a metavariable of the pattern, got {name!r}")


def engine_text(mined: list[Rule], hand: list[Rule]) -> str:
    """The text that the engine loads: mined rules by length, then the hand-written ones that these do not cover."""
    parts = [_HEAD]
    for length in sorted({rule.length for rule in mined}):
        parts += [f"\n# mined, patterns of {length} tokens\n", *(f"{r.line()}\n" for r in mined if r.length == length)]
    needed = uncovered(hand, mined)
    if needed:
        parts += ["\n# proved by hand\n", *(f"{rule.line()}\n" for rule in needed)]
    return "".join(parts)


def uncovered(hand: list[Rule], mined: list[Rule]) -> list[Rule]:
    """Hand-written rules that the mined ones do not make unnecessary; those that do not shorten are never so."""
    options = options_with(rule_set(mined))
    return [rule for rule in hand if len(rule.replacement) >= rule.length or not is_covered(rule, options)]

"""From proposals of one length to rules: the most general first, verified, and only those that are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simplipy.mining.redundancy import Instances, Refuted, is_covered, loads, options_with, rule_set, select_general
from simplipy.mining.rule import Kind, Rule, from_core
from simplipy.mining.shards import Proposal
from simplipy.mining.verification import Finding, read_condition

if TYPE_CHECKING:
    from simplipy.mining.discovery import LengthReport, Mined

Verify = Callable[[Sequence[Rule]], list[Finding | None]]


def settle(proposals: Sequence[Proposal], mined: Mined, report: LengthReport, verify: Verify) -> None:
    """Verify the proposals of one length, the most general ones first, and sort them.

    Parameters
    ----------
    proposals : sequence of (pattern, replacement, masks, condition)
        As the core makes them.
    mined : Mined
        Rules of shorter patterns, whose instances are left out, and shorter proposals that were rejected, around which
        longer terms are left out. Takes up the new ones.
    report : LengthReport
        Takes up their numbers.
    verify : callable
        Findings of rules, None for those that there was no time for; then nothing else is verified.
    """
    plain, conditional = _as_rules(proposals)
    # a conditional rule covers its instances whose arguments are proved to lie within bounds, so these come first
    options = options_with(rule_set(mined.rules))
    conditional = [rule for rule in conditional if not is_covered(rule, options)]
    n_refuted = len(mined.rejected)
    _add_by_use(_widest(_verified(conditional, mined, report, verify)), mined, report)
    options = options_with(rule_set(mined.rules))
    instances = Instances(rule for rule in [*mined.rules, *mined.unused] if not rule.conditions)
    pending = [rule for rule in plain if not instances.covers(rule) and not is_covered(rule, options)]
    equations = Refuted((r for r, finding in mined.rejected[:n_refuted] if "special" not in finding.reason), options)
    implied = {rule for rule in pending if equations.imply(rule)}
    report.n_implied = len(implied)
    pending = [rule for rule in pending if rule not in implied]
    while pending and not report.n_open:
        chosen = select_general(pending)
        # families are never used, so they come last where time is short
        accepted = _verified(sorted(chosen, key=lambda rule: rule.has_constant), mined, report, verify)
        _add_by_use(accepted, mined, report)
        done = {(rule.pattern, rule.replacement) for rule in chosen}
        null_sets = (r for r, f in mined.rejected[n_refuted:] if "special" in f.reason and not r.conditions)
        instances = Instances([*accepted, *null_sets])
        pending = [r for r in pending if (r.pattern, r.replacement) not in done and not instances.covers(r)]
    report.n_open += len(pending)
    report.complete = report.complete and not report.n_open


def _as_rules(proposals: Sequence[Proposal]) -> tuple[list[Rule], list[Rule]]:
    """Rules without and with a condition; each once."""
    rules: dict[Rule, None] = {}
    for pattern, replacement, masks, condition in proposals:
        kind: Kind = "conditional" if condition else "masks" if masks else "exact"
        conditions = (condition,) if condition else ()
        rules[Rule(from_core(pattern), from_core(replacement), kind, conditions)] = None
    return [rule for rule in rules if not rule.conditions], [rule for rule in rules if rule.conditions]


def _verified(rules: Sequence[Rule], mined: Mined, report: LengthReport, verify: Verify) -> list[Rule]:
    """The rules that hold; the others are noted."""
    accepted = []
    for rule, finding in zip(rules, verify(rules), strict=True):
        if finding is None:
            report.n_open += 1
        elif not finding.holds:
            mined.rejected.append((rule, finding))
            report.n_rejected += 1
        else:
            kind = rule.kind
            if kind in ("exact", "extends"):
                kind = "extends" if finding.extends else "exact"
            accepted.append(replace(rule, kind=kind, extends=finding.extends))
    return accepted


def _add_by_use(rules: Sequence[Rule], mined: Mined, report: LengthReport) -> None:
    """Add rules that hold to those that the engine uses, or to those that it cannot."""
    for rule in rules:
        if loads(rule):
            mined.rules.append(rule)
            report.n_rules += 1
        else:
            mined.unused.append(rule)
            report.n_unused += 1


def _widest(rules: Sequence[Rule]) -> list[Rule]:
    """Of conditional rules that do the same, those with the widest conditions."""
    kept: list[tuple[Rule, float, float]] = []
    for rule in rules:
        _, low, high, _ = read_condition(rule.conditions[0])
        if not any(
            other.pattern == rule.pattern and len(other.replacement) <= len(rule.replacement) and a <= low and high <= b
            for other, a, b in kept
        ):
            kept.append((rule, low, high))
    return [rule for rule, _, _ in kept]

"""From proposals of one length to rules: the most general first, verified, and only those that are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from simplipy.mining.redundancy import Instances, Refuted, is_covered, loads, options_with, rule_set, select_general
from simplipy.mining.rule import Kind, Rule, from_core
from simplipy.mining.shards import Proposal
from simplipy.mining.verification import Finding, read_condition

Verify = Callable[[Sequence[Rule]], list[Finding | None]]


@dataclass
class Settled:
    """The outcome of the proposals of one length.

    Attributes
    ----------
    rules : list of Rule
        Verified, and used by the engine.
    unused : list of Rule
        Verified, but the engine cannot match them, or they need a free constant.
    rejected : list of (Rule, Finding)
        With the reason and a counterexample.
    n_implied : int
        Proposals that put a rejected one into a longer term.
    n_open : int
        Proposals that were not verified, since verification stopped before.
    """

    rules: list[Rule] = field(default_factory=list)
    unused: list[Rule] = field(default_factory=list)
    rejected: list[tuple[Rule, Finding]] = field(default_factory=list)
    n_implied: int = 0
    n_open: int = 0


def settle(
    proposals: Sequence[Proposal], known: Sequence[Rule], refuted: Sequence[tuple[Rule, Finding]], verify: Verify
) -> Settled:
    """Verify the proposals of one length, the most general ones first, and sort them.

    Parameters
    ----------
    proposals : sequence of (pattern, replacement, masks, condition)
        As the core makes them.
    known : sequence of Rule
        Rules of shorter patterns; their instances are left out.
    refuted : sequence of (Rule, Finding)
        Shorter proposals that were rejected; longer terms around them are left out.
    verify : callable
        Findings of rules, None for those that there was no time for; then nothing else is verified.
    """
    settled = Settled()
    plain, conditional = _as_rules(proposals)
    # a conditional rule covers its instances whose arguments are proved to lie within bounds, so these come first
    options = options_with(rule_set(rule for rule in known if rule.is_used))
    conditional = [rule for rule in conditional if not is_covered(rule, options)]
    _add_by_use(_widest(_verified(conditional, settled, verify)), settled)
    options = options_with(rule_set(rule for rule in [*known, *settled.rules] if rule.is_used))
    instances = Instances(rule for rule in [*known, *settled.unused] if not rule.conditions)
    pending = [rule for rule in plain if not instances.covers(rule) and not is_covered(rule, options)]
    equations = Refuted((rule for rule, finding in refuted if "special" not in finding.reason), options)
    implied = {rule for rule in pending if equations.imply(rule)}
    settled.n_implied = len(implied)
    pending = [rule for rule in pending if rule not in implied]
    while pending and not settled.n_open:
        chosen = select_general(pending)
        # families are never used, so they come last where time is short
        accepted = _verified(sorted(chosen, key=lambda rule: rule.has_constant), settled, verify)
        _add_by_use(accepted, settled)
        done = {(rule.pattern, rule.replacement) for rule in chosen}
        null_sets = (r for r, f in settled.rejected if "special" in f.reason and not r.conditions)
        instances = Instances([*accepted, *null_sets])
        pending = [r for r in pending if (r.pattern, r.replacement) not in done and not instances.covers(r)]
    settled.n_open += len(pending)
    return settled


def _as_rules(proposals: Sequence[Proposal]) -> tuple[list[Rule], list[Rule]]:
    """Rules without and with a condition; each once."""
    rules: dict[Rule, None] = {}
    for pattern, replacement, masks, condition in proposals:
        kind: Kind = "conditional" if condition else "masks" if masks else "exact"
        conditions = (condition,) if condition else ()
        rules[Rule(from_core(pattern), from_core(replacement), kind, conditions)] = None
    return [rule for rule in rules if not rule.conditions], [rule for rule in rules if rule.conditions]


def _verified(rules: Sequence[Rule], settled: Settled, verify: Verify) -> list[Rule]:
    """The rules that hold; of the others, `settled` takes note."""
    accepted = []
    for rule, finding in zip(rules, verify(rules), strict=True):
        if finding is None:
            settled.n_open += 1
        elif not finding.holds:
            settled.rejected.append((rule, finding))
        else:
            kind = rule.kind
            if kind in ("exact", "extends"):
                kind = "extends" if finding.extends else "exact"
            accepted.append(replace(rule, kind=kind, extends=finding.extends))
    return accepted


def _add_by_use(rules: Sequence[Rule], settled: Settled) -> None:
    """Add rules that hold to those that the engine uses, or to those that it cannot."""
    for rule in rules:
        if loads(rule):
            settled.rules.append(replace(rule, is_used=True))
        else:
            settled.unused.append(rule)


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

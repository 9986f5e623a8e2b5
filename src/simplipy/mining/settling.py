"""From proposals of one length to rules: the most general first, verified, and only those that are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from simplipy.mining.redundancy import Instances, Refuted, is_covered, loads, options_with, rule_set, select_general
from simplipy.mining.rule import Rule, from_core
from simplipy.mining.shards import Proposal
from simplipy.mining.verification import Finding, read_condition
from simplipy.mining.verifier import Verifier

Verify = Callable[[Sequence[Rule]], list[Finding | None]]


@dataclass
class Settled:
    """What became of the proposals of one length.

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
    proposals: Sequence[Proposal],
    known: Sequence[Rule],
    refuted: Sequence[tuple[Rule, str]],
    verifier: Verifier,
    progress: Callable[[int], None] | None = None,
) -> Settled:
    """Verify the proposals of one length, the most general ones first, and sort them.

    Parameters
    ----------
    proposals : sequence of (pattern, replacement, masks, condition)
        As the core makes them.
    known : sequence of Rule
        Rules of shorter patterns; their instances are left out.
    refuted : sequence of (Rule, str)
        Shorter proposals that were rejected, with the reason; longer terms around them are left out.
    verifier : Verifier
        With its seed and deadline.
    progress : callable, optional
        Called with the number of proposals that were verified since the last call.
    """

    def verify(rules: Sequence[Rule]) -> list[Finding | None]:
        return verifier(rules, progress)

    settled = Settled()
    plain, conditional = _as_rules(proposals)
    # a conditional rule covers its instances whose arguments are proved to lie within bounds, so these come first
    _settle_conditional(conditional, known, settled, verify)
    options = options_with(rule_set(rule for rule in [*known, *settled.rules] if rule.is_used))
    instances = Instances(rule for rule in [*known, *settled.unused] if not rule.conditions)
    pending = [rule for rule in plain if not instances.covers(rule) and not is_covered(rule, options)]
    equations = Refuted((rule for rule, reason in refuted if "special" not in reason), options)
    wrong = [rule for rule in pending if equations.imply(rule)]
    settled.n_implied = len(wrong)
    excluded = set(wrong)
    pending = [rule for rule in pending if rule not in excluded]
    while pending and not verifier.stopped:
        chosen = select_general(pending)
        accepted = _judge(chosen, settled, verify)
        done = {(rule.pattern, rule.replacement) for rule in chosen}
        instances = Instances(accepted)
        null_sets = Instances([r for r, f in settled.rejected if "special" in f.reason and not r.conditions])
        rest = [r for r in pending if (r.pattern, r.replacement) not in done]
        pending = [r for r in rest if not instances.covers(r) and not null_sets.covers(r)]
    settled.n_open += len(pending)
    return settled


def _as_rules(proposals: Sequence[Proposal]) -> tuple[list[Rule], list[Rule]]:
    """Rules without and with a condition; each once."""
    plain: dict[Rule, None] = {}
    conditional: dict[Rule, None] = {}
    for pattern, replacement, masks, condition in proposals:
        sides = from_core(pattern), from_core(replacement)
        if condition:
            conditional[Rule(*sides, kind="conditional", conditions=(condition,))] = None
        else:
            plain[Rule(*sides, kind="masks" if masks else "exact")] = None
    return list(plain), list(conditional)


def _judge(rules: Sequence[Rule], settled: Settled, verify: Verify) -> list[Rule]:
    """Verify rules, sort them into `settled`, and return those that hold."""
    accepted = []
    # families are never used, so they come last where time is short
    rules = sorted(rules, key=lambda rule: rule.has_constant)
    for rule, finding in zip(rules, verify(rules), strict=True):
        if finding is None:
            settled.n_open += 1
            continue
        if not finding.holds:
            settled.rejected.append((rule, finding))
            continue
        kind = rule.kind
        if kind in ("exact", "extends"):
            kind = "extends" if finding.extends else "exact"
        rule = replace(rule, kind=kind, extends=finding.extends)
        accepted.append(rule)
        _sort_in(rule, settled)
    return accepted


def _sort_in(rule: Rule, settled: Settled) -> None:
    if loads(rule):
        settled.rules.append(replace(rule, is_used=True))
    else:
        settled.unused.append(rule)


def _settle_conditional(proposed: Sequence[Rule], known: Sequence[Rule], settled: Settled, verify: Verify) -> None:
    """Verify conditional rules; of equal ones, those with the widest conditions stay."""
    held: list[tuple[Rule, float, float]] = []
    options = options_with(rule_set(rule for rule in known if rule.is_used))
    rules = [rule for rule in proposed if not is_covered(rule, options)]
    for rule, finding in zip(rules, verify(rules), strict=True):
        if finding is None:
            settled.n_open += 1
            continue
        _, low, high, _ = read_condition(rule.conditions[0])
        if not finding.holds:
            settled.rejected.append((rule, finding))
            continue
        if any(
            other.pattern == rule.pattern and len(other.replacement) <= len(rule.replacement) and a <= low and high <= b
            for other, a, b in held
        ):
            continue
        rule = replace(rule, extends=finding.extends)
        held.append((rule, low, high))
        _sort_in(rule, settled)

"""From proposals of one length to rules: the most general first, verified, and only those that are needed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from simplipy.mining.pruning import Instances, is_covered, loads, options_with, rule_set, select_general
from simplipy.mining.rule import Rule, from_core
from simplipy.mining.verification import Finding, read_condition, verify_rule

Proposal = tuple[list[str], list[str], bool, str]
Verify = Callable[[Sequence[tuple[Rule, int]]], list[Finding]]

_CHUNK = 16
# with fewer rules than this, starting processes takes longer than the work
_MIN_FOR_PROCESSES = 200


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
    """

    rules: list[Rule] = field(default_factory=list)
    unused: list[Rule] = field(default_factory=list)
    rejected: list[tuple[Rule, Finding]] = field(default_factory=list)


def verify_one(job: tuple[Rule, int]) -> Finding:
    """Verify one rule with its seed."""
    return verify_rule(*job)


@contextmanager
def verifier(n_processes: int) -> Iterator[Verify]:
    """A function that verifies many rules, over processes where that pays; they end with the context."""
    pool: Any = None

    def run(jobs: Sequence[tuple[Rule, int]]) -> list[Finding]:
        nonlocal pool
        if n_processes < 2 or len(jobs) < _MIN_FOR_PROCESSES:
            return [verify_one(job) for job in jobs]
        pool = pool or multiprocessing.get_context("spawn").Pool(n_processes)
        return list(pool.imap(verify_one, jobs, chunksize=_CHUNK))

    try:
        yield run
    finally:
        if pool is not None:
            pool.terminate()
            pool.join()


def settle(proposals: Sequence[Proposal], known: Sequence[Rule], seed: int, verify: Verify) -> Settled:
    """Verify the proposals of one length, the most general ones first, and sort them.

    Parameters
    ----------
    proposals : sequence of (pattern, replacement, masks, condition)
        As the core makes them.
    known : sequence of Rule
        Rules of shorter patterns; their instances are left out.
    seed : int
        Of the points of verification.
    verify : callable
        From :func:`verifier`.
    """
    settled = Settled()
    plain, conditional = _as_rules(proposals)
    # a conditional rule covers its instances whose arguments are proved to lie within bounds, so these come first
    _settle_conditional(conditional, known, settled, seed, verify)
    options = options_with(rule_set(rule for rule in [*known, *settled.rules] if rule.is_used))
    instances = Instances(rule for rule in [*known, *settled.unused] if not rule.conditions)
    pending = [rule for rule in plain if not instances.covers(rule) and not is_covered(rule, options)]
    while pending:
        chosen = select_general(pending)
        accepted = _judge(chosen, settled, seed, verify)
        done = {(rule.pattern, rule.replacement) for rule in chosen}
        instances = Instances(accepted)
        null_sets = Instances([r for r, f in settled.rejected if "special" in f.reason and not r.conditions])
        rest = [r for r in pending if (r.pattern, r.replacement) not in done]
        pending = [r for r in rest if not instances.covers(r) and not null_sets.covers(r)]
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


def _judge(rules: Sequence[Rule], settled: Settled, seed: int, verify: Verify) -> list[Rule]:
    """Verify rules, sort them into `settled`, and return those that hold."""
    accepted = []
    for rule, finding in zip(rules, verify([(rule, seed) for rule in rules]), strict=True):
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


def _settle_conditional(
    proposed: Sequence[Rule], known: Sequence[Rule], settled: Settled, seed: int, verify: Verify
) -> None:
    """Verify conditional rules; of equal ones, those with the widest conditions stay."""
    held: list[tuple[Rule, float, float]] = []
    options = options_with(rule_set(rule for rule in known if rule.is_used))
    rules = [rule for rule in proposed if not is_covered(rule, options)]
    findings = verify([(rule, seed) for rule in rules])
    for rule, finding in zip(rules, findings, strict=True):
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

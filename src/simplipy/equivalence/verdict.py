"""Whether two expressions mean the same: by canonical forms where they agree, else by evidence at many points.

The order of work: equal tokens; equal trees up to order and nesting of ``+`` and ``*``; equal canonical forms; points.
"proved" and "numeric" say which of these decided, see ``Verdict``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simplipy.equivalence.pointwise import Comparison, Function, Relation, compare_functions, relation
from simplipy.equivalence.probe_points import probe_points, with_points_around
from simplipy.errors import SimplipyError
from simplipy.expression.expression import Expression, parse
from simplipy.expression.operators import OPERATORS, leaf_kind
from simplipy.expression.prefix import fold
from simplipy.simplification.engine import simplify

_Chain = tuple[str, list[tuple[str, ...]]]  # its operator, "" where it is one term, and its terms

_N_POINTS = 512
# a formula that is defined on a sliver only needs more points before it may be called defined nowhere
_N_POINTS_MORE = 8192
# sizes of numbers that get points of their own: ordinary points have the others, and doubles end beyond
_LEAST_EXTREME, _MOST_EXTREME = 100.0, 1e150


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of ``equivalent``.

    Attributes
    ----------
    equivalent : bool
        Without free constants: both have equal values wherever both are defined, and that is somewhere, or both are
        defined nowhere. With free constants: the families are the same.
    counterexample : dict of str to float, or None
        Where ``equivalent`` is False. A point where both are defined and differ; or where only one is defined, if they
        are nowhere defined together; or, with free constants, the constants of a member that the other family lacks,
        under the keys ``<constant>1``, ``<constant>2``, in prefix order, of a unless b is the wider one
        or a has none.
    domain : {"same", "a wider", "b wider", "differs"}
        Where they are defined, up to null sets. With free constants: over the members that were matched.
    family : {"same", "a wider", "b wider", "differs"}
        Which functions the free constants reach; without any, "same" or "differs".
    evidence : {"proved", "numeric"}
        "proved": the expressions have equal tokens, differ only in order and nesting of operands, or, without free
        constants, have equal canonical forms. Then family and domain are "same".

        "numeric": decided at points. "Equal" then means: doubles agree to 1e-9 at 512 points in classes of magnitude
        and sign, or where they do not, multiprecision says that they err; and at 16 of these points the values agree to
        at least 25 digits at 50 digits of precision, at 4 of them and where a value may be zero to 60 digits at 120.
        "Different" means that values at the counterexample differ by more than proved error bounds. "Wider" means that
        at some point and at a random point close to it only the one is proved to be defined; "same", that no such point
        was found.
        A family is called contained in another when every member drawn from it (constants of both signs, integers,
        zeros) was matched by fitting the other's constants, one of them to 25 digits; a fit that fails is no proof.
    """

    equivalent: bool
    counterexample: dict[str, float] | None
    domain: Relation
    family: Relation
    evidence: Literal["proved", "numeric"]


def equivalent(
    a: str | Sequence[str] | Expression,
    b: str | Sequence[str] | Expression,
    rtol: float = 0,
    random_state: int = 0,
) -> Verdict:
    """Whether two expressions mean the same function, or with free constants the same family of functions.

    Parameters
    ----------
    a, b : str, sequence of str, or Expression
        Infix text, prefix tokens or expressions. A variable that only one of them has may be one that does not matter.
    rtol : float
        Differences that count as equal, for numbers that were fitted: what a relative change of each number by ``rtol``
        explains, to first order, and ``rtol`` relative to the values; whole numbers up to 100 are meant as they are.
        The points are then of ordinary size, 0.05 to 30; where such changes would explain anything, nothing is equal.
    random_state : int
        Seed of the points; equal seeds give equal verdicts.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import simplipy
    >>> simplipy.equivalent("sin(x)^2 + cos(x)^2", "1").equivalent
    True
    >>> simplipy.equivalent("exp(log(x))", "x").domain
    'b wider'
    >>> simplipy.equivalent("x + sin(<constant>)", "x + <constant>").family
    'b wider'
    """
    left, right = parse(a), parse(b)
    if not 0 <= rtol < 1:
        raise SimplipyError(f"rtol must be >= 0 and < 1, got {rtol}")
    if _proved(left, right):
        return Verdict(True, None, "same", "same", "proved")
    rng = np.random.default_rng(random_state)
    names = tuple(dict.fromkeys([*left.variables, *right.variables]))
    if left.n_constants or right.n_constants:
        from simplipy.equivalence.family import compare_families

        families = compare_families(left, right, names, rtol, rng)
        domain = relation(families.a_only, families.b_only)
        return Verdict(families.relation == "same", families.witness, domain, families.relation, "numeric")
    found = _compare(Function(left), Function(right), names, rtol, rng)
    domain = relation(found.a_only is not None, found.b_only is not None)
    if found.counterexample is None and not found.n_common and (found.a_defined or found.b_defined):
        # nothing in common is no equality: there is no value to agree on
        return Verdict(False, found.a_only or found.b_only, domain, "differs", "numeric")
    same = found.counterexample is None
    return Verdict(same, found.counterexample, domain, "same" if same else "differs", "numeric")


def _proved(a: Expression, b: Expression) -> bool:
    """Whether equality needs no evaluation."""
    if a == b or sorted_form(a.tokens) == sorted_form(b.tokens):
        return True
    if a.n_constants or b.n_constants:
        return False  # simplification may enlarge a family, so that equal forms do not make equal families
    return simplify(a, domain="preserve") == simplify(b, domain="preserve")


def sorted_form(tokens: Sequence[str]) -> tuple[str, ...]:
    """Prefix tokens with nested sums and products flattened and sorted; equal for equal trees up to that.

    A chain of n operands is written as n - 1 operators and its operands in order, so that the result is prefix too.
    """
    return _spelled(*fold(tokens, _single, _chained))


def _single(token: str) -> _Chain:
    return "", [(token,)]


def _chained(token: str, operands: list[_Chain]) -> _Chain:
    """An operator over chains; a commutative one continues the chains that have it too."""
    if not OPERATORS[token].commutative:
        return "", [(token, *(t for operand in operands for t in _spelled(*operand)))]
    terms: list[tuple[str, ...]] = []
    for operator, below in operands:
        terms += below if operator == token else [_spelled(operator, below)]
    return token, terms


def _spelled(operator: str, terms: list[tuple[str, ...]]) -> tuple[str, ...]:
    return (operator,) * (len(terms) - 1) + tuple(t for term in sorted(terms) for t in term)


def _compare(a: Function, b: Function, names: tuple[str, ...], rtol: float, rng: np.random.Generator) -> Comparison:
    """Comparison on points; on more of them where the first ones found nothing to compare."""
    found = Comparison()
    for n_points in (_N_POINTS, _N_POINTS_MORE):
        points = probe_points(names, n_points, rng, "ordinary" if rtol > 0 else "all")
        if rtol == 0:
            points = with_points_around(points, [*_extremes(a), *_extremes(b)], rng)
        found = compare_functions(a, b, points, rtol)
        if found.n_common or found.counterexample is not None or not names:
            break
    return found


def _extremes(function: Function) -> list[float]:
    """Numbers of a function that points of ordinary classes hardly reach."""
    numbers = [float(t) for t in function.tokens if t not in OPERATORS and leaf_kind(t) == "number"]
    return [n for n in [*numbers, *function.doubles()] if _LEAST_EXTREME < abs(n) < _MOST_EXTREME]

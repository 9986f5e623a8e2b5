"""The checks behind soundness.py: one row against its output, and a few rows with one batch call for each property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

import simplipy
from simplipy import OPERATORS, Expression
from simplipy.equivalence.multiprecision import Outcome, enclose
from simplipy.equivalence.pointwise import Function, decide, has_neighbourhood
from simplipy.equivalence.probe_points import probe_points
from simplipy.expression.operators import CONSTANT

Tokens = list[str]

N_POINTS = 96
# points drawn for each that is taken, so that some lie in narrow domains; more where the input is defined at none
POOLS = (8, 100)
# values of the constants for each row; as many as points where there are no variables
N_CONSTANT_DRAWS = 6
N_SHUFFLES = 10
N_SPOT_CHECKS = 2
DOUBLES_AGREE = 1e-9


class Simplifier(Protocol):
    """What is checked."""

    def simplify(self, rows: Sequence[Tokens], domain: str) -> list[Tokens]:
        """Outputs of these rows."""

    def constants(self, tokens: Tokens, domain: str) -> Sequence[Expression] | None:
        """The output's constants as expressions in c1..cn, the input's, in prefix order; None: values go unchecked."""


@dataclass
class Offence:
    """One thing that is wrong, with where it shows."""

    kind: str
    domain: str
    row: int
    tokens_in: Tokens
    tokens_out: Tokens
    point: dict[str, float] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    note: str = ""


@dataclass
class RowReport:
    """What was found about one row in one domain.

    Attributes
    ----------
    ratio : float
        Length of the output over that of the input.
    n_common : int
        Points where both are defined and the values agree.
    n_precise : int
        Points that multiprecision had to decide.
    n_undecided : int
        Points where 120 digits could not tell.
    offences : list of Offence
        What is wrong.
    """

    domain: str
    ratio: float = 1.0
    n_common: int = 0
    n_precise: int = 0
    n_undecided: int = 0
    offences: list[Offence] = field(default_factory=list)


class PairCheck:
    """Values and domains of one row against its output."""

    def __init__(self, index: int, tokens_in: Tokens, tokens_out: Tokens, domain: str, seed: int) -> None:
        self.before, self.after = simplipy.parse(tokens_in), simplipy.parse(tokens_out)
        self.template = Offence("", domain, index, tokens_in, tokens_out)
        self.report = RowReport(domain, len(tokens_out) / len(tokens_in))
        self.rng = np.random.default_rng([seed, index])
        self.names = tuple(dict.fromkeys([*self.before.variables, *self.after.variables]))

    def run(self, constant_map: Sequence[Expression] | None) -> RowReport:
        """Compare at points, for several values of the constants."""
        if constant_map is None:
            return self.report
        draws = self._draws()
        if len(constant_map) != self.after.n_constants:
            self.offend("no constants", note=f"{self.after.n_constants} constants, the map has {constant_map}")
            return self.report
        for constants in draws:
            mapped = self._mapped(constant_map, constants)
            if mapped is not None:
                a, b = Function(self.before, constants), Function(self.after, mapped)
                self._compare(a, b, N_POINTS // len(draws))
            if any(o.kind in ("wrong value", "narrowed", "widened") for o in self.report.offences):
                break
        return self.report

    def _draws(self) -> list[list[float]]:
        """Values of the constants: of many, those for which the input is defined at some of a few points come first."""
        n = self.before.n_constants
        if n == 0:
            return [[]]
        n_draws = N_CONSTANT_DRAWS if self.names else N_POINTS
        draws = [c for _ in range(n_draws) for c in constant_draws(n, self.rng)]
        points = probe_points(self.names, 64, self.rng)
        _, defined = simplipy.evaluate_many([self.before] * len(draws), points.data(), draws, n_threads=1)
        order = np.argsort(~defined.any(axis=1), kind="stable")
        return [draws[k] for k in order[:n_draws]]

    def _mapped(self, constant_map: Sequence[Expression], constants: list[float]) -> list[Any] | None:
        """The output's constants with error bounds; None where there are none: wrong where the input has values."""
        named = {f"c{k + 1}": c for k, c in enumerate(constants)}
        mapped = [enclose(e.tokens, named, digits=120) for e in constant_map]
        if not any(isinstance(ball, Outcome) for ball in mapped):
            return mapped
        if Outcome.UNDEFINED not in mapped:
            self.report.n_undecided += 1
            return None
        points = probe_points(self.names, POOLS[0] * N_POINTS, self.rng)
        _, defined = simplipy.evaluate_many([self.before], points.data(), [constants], n_threads=1)
        for row in np.flatnonzero(defined[0] & ~points.corner)[:4].tolist():
            if not isinstance(enclose(self.template.tokens_in, points.point(row), constants, digits=120), Outcome):
                self.offend("no constants", points.point(row), constants, note="the map is undefined, the input is not")
                break
        return None

    def _compare(self, a: Function, b: Function, n_points: int) -> None:
        """One draw of constants: doubles on a pool of points, multiprecision where they disagree on those taken."""
        for n_pool in POOLS:
            pool = probe_points(self.names, n_pool * n_points, self.rng)
            values, defined = simplipy.evaluate_many(
                [a.expression, b.expression], pool.data(), [a.doubles(), b.doubles()], n_threads=1
            )
            if (defined[0] & ~pool.corner).any():
                break
        else:
            if a.constants:
                return  # the promise is for constants with which the input is defined somewhere
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(values[0]), np.abs(values[1]))
            agree = defined.all(axis=0) & (np.abs(values[0] - values[1]) <= DOUBLES_AGREE * size) & np.isfinite(size)
        rows = self._taken(defined, n_points)
        spots = [k for k in rows if agree[k]][:N_SPOT_CHECKS]
        self.report.n_common += int(agree[rows].sum())
        for row in [*spots, *(k for k in rows if not agree[k] and defined[:, k].any())]:
            if self._decide(a, b, pool.point(row), agree[row]):
                return

    def _taken(self, defined: np.ndarray, n_points: int) -> list[int]:
        """Rows of the pool: a third where doubles find only the input defined, or the output if that matters."""
        only_before = np.flatnonzero(defined[0] & ~defined[1])[: n_points // 3]
        only_after = np.flatnonzero(defined[1] & ~defined[0])[: n_points // 3]
        if self.report.domain != "preserve":
            only_after = only_after[:0]
        both = np.flatnonzero(defined.all(axis=0))[: n_points - len(only_before) - len(only_after)]
        neither = np.flatnonzero(~defined.any(axis=0))
        rows = np.concatenate([both, only_before, only_after, neither])
        return rows[:n_points].tolist()

    def _decide(self, a: Function, b: Function, point: dict[str, float], agreed: bool) -> bool:
        """One point in multiprecision; whether it shows an offence."""
        self.report.n_precise += 1
        verdict, x, y = decide(a, b, point)
        self.report.n_common += verdict == "equal" and not agreed
        self.report.n_undecided += verdict == "undecided"
        kind = {"different": "wrong value", "a only": "narrowed", "b only": "widened"}.get(verdict)
        if kind is None or (kind == "widened" and self.report.domain != "preserve"):
            return False
        if kind != "wrong value" and not has_neighbourhood(a, b, point, verdict):
            return False
        self.offend(kind, point, list(a.constants), [spelled(x), spelled(y)])
        return True

    def offend(
        self,
        kind: str,
        point: dict[str, float] | None = None,
        constants: list[float] | None = None,
        values: list[str] | None = None,
        note: str = "",
    ) -> None:
        """Note an offence of this row."""
        where = {"kind": kind, "point": point or {}, "constants": constants or [], "values": values or [], "note": note}
        self.report.offences.append(Offence(**{**asdict(self.template), **where}))


def spelled(value: Any) -> str:
    """Value with 25 digits, or why there is none."""
    return value.value if isinstance(value, Outcome) else value.value.mid().str(25, radius=False)


def constant_draws(n: int, rng: np.random.Generator) -> list[list[float]]:
    """Six draws of n constants: generic of all signs, heavy-tailed, integers, and zeros."""
    signs = rng.choice([-1.0, 1.0], (6, n))
    sizes = np.stack(
        [
            rng.uniform(0.1, 3, n),
            rng.uniform(0.1, 3, n),
            10 ** rng.uniform(-3, 3, n),
            10 ** rng.uniform(-8, 8, n),
            rng.integers(0, 5, n).astype(float),
            np.where(rng.random(n) < 0.5, 0.0, rng.uniform(0.1, 5, n)),
        ]
    )
    signs[0] = 1.0
    return (sizes * signs + 0.0).tolist()


def shuffled(tokens: Tokens, rng: np.random.Generator) -> Tokens:
    """Equal expression with the operands of every sum and product in random order and nesting."""
    stack: list[tuple[str, list[Tokens]]] = []  # operator of an open chain, or "", and its operands

    def closed(operator: str, operands: list[Tokens]) -> Tokens:
        terms = [operands[k] for k in rng.permutation(len(operands))]
        while len(terms) > 1:
            k = int(rng.integers(len(terms) - 1))
            terms[k : k + 2] = [[operator, *terms[k], *terms[k + 1]]]
        return terms[0]

    for token in reversed(tokens):
        if token not in OPERATORS:
            stack.append(("", [[token]]))
            continue
        operands = [stack.pop() for _ in range(OPERATORS[token].arity)]
        if not OPERATORS[token].commutative:
            stack.append(("", [[token, *(t for operand in operands for t in closed(*operand))]]))
            continue
        chain: list[Tokens] = []
        for operator, terms in operands:
            chain += terms if operator == token else [closed(operator, terms)]
        stack.append((token, chain))
    return closed(*stack[-1])


def check_rows(
    rows: Sequence[Tokens], simplifier: Simplifier, domain: str, seed: int = 0, first: int = 0
) -> list[RowReport]:
    """Check a few rows with one batch call for each property.

    Parameters
    ----------
    rows : sequence of token lists
        The corpus, or a part of it.
    simplifier : Simplifier
        What is checked.
    domain : {"extend", "preserve"}
        What it promises.
    seed, first : int
        Seed, and number of the first row: points depend on the seed and the row only.
    """
    outputs = simplifier.simplify(rows, domain)
    again = simplifier.simplify(outputs, domain)
    mixed = [
        shuffled(row, rng)
        for k, row in enumerate(rows)
        for rng in [np.random.default_rng([seed, first + k, 1])]
        for _ in range(N_SHUFFLES)
    ]
    from_mixed = simplifier.simplify(mixed, domain)
    reports = []
    for k, (row, output) in enumerate(zip(rows, outputs, strict=True)):
        check = PairCheck(first + k, row, output, domain, seed)
        constant_map = simplifier.constants(row, domain) if CONSTANT in row else ()
        report = check.run(constant_map)
        if len(output) > len(row):
            check.offend("longer")
        if again[k] != output:
            check.offend("not idempotent", note="then " + " ".join(again[k]))
        for source, result in list(zip(mixed, from_mixed, strict=True))[k * N_SHUFFLES : (k + 1) * N_SHUFFLES]:
            if result != output:
                check.offend("order matters", note=f"{' '.join(source)} gives {' '.join(result)}")
                break
        reports.append(report)
    return reports

"""Discover the rule file of the paper's engine: src/simplipy/data/paper_rules.json.

    python benchmarks/make_paper_rules.py [--max-length 4] [--max-arithmetic-length 6] [--out FILE]

The paper's discovery (stratified enumeration, shortest first, a new rule only for what the rules so far leave alone) at
small lengths, in minutes on one thread. Proposals come from value fingerprints in doubles on moderate points; a rule
with a real value somewhere is then confirmed in multiprecision on heavy-tailed points, on corners such as 0 and 1, and
where a dense set of doubles disagrees. That is stricter than the paper's check, which takes acos(cos x) to |x| if its
points stay within pi. Infinities are carried through: zero has no sign, 1/0 = inf, and nan stays nan.

A replacement may have a `<constant>` in the place of the pattern's numbers, but not in that of the numbers inside
operator tokens: 4x/pi -> c*x, while mult2 mult3 x stays.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.paper.rules import Node, PrefixRule, RuleIndex, is_metavariable, parse_tree

Tokens = tuple[str, ...]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Real = Any  # mpmath's number
Point = dict[str, Real]

OUT = Path(__file__).parents[1] / "src" / "simplipy" / "data" / "paper_rules.json"
SEED = 20
METAVARIABLES = ("_0", "_1")
NUMBERS = ("0", "1", "-1", "pi", "e")
NOT_REAL = ("inf", "-inf", "nan")
ARITHMETIC = (  # few operators, so that longer patterns are in reach
    ("+", "-", "neg", "mult2", "mult3", "mult4", "mult5"),
    ("*", "/", "inv", "pow2", "pow3", "pow4", "pow5"),
    ("+", "-", "*", "/", "neg", "inv"),
)
CONSTANTS = (0.0, 1.0, 2.0, -3.0, 1.7, -0.6, 0.25)  # integers: (x^c)^(1/2) -> x^c' is refuted by c = 2
CORNERS = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0)
MAX_REPLACEMENT = 3  # the paper's L_rep
N_POINTS = 64
MIN_DEFINED = 6
DIGITS = 120


def _power(base: Floats, exponent: Floats) -> Floats:
    """IEEE power, but nan stays nan (1**nan is 1) and a negative base takes integers only ((-inf)**0.5 is inf)."""
    integer = np.isfinite(exponent) & (exponent == np.rint(exponent))
    bad = np.isnan(base) | np.isnan(exponent) | ((base < 0) & ~integer)
    return np.where(bad, np.nan, np.power(base, exponent))


FUNCTIONS: dict[str, Callable[..., Floats]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "pow": _power,
    "abs": np.abs, "inv": lambda x: 1 / x, "neg": np.negative, "exp": np.exp, "log": np.log,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "pow1_2": np.sqrt, "pow1_3": np.cbrt, "pow1_4": lambda x: np.sqrt(np.sqrt(x)),
    "pow1_5": lambda x: np.sign(x) * np.abs(x) ** 0.2,
}  # fmt: skip

# acosh(sin x) has values at single points, and a metavariable may bind such a number: not a term without values.
RELAXED: dict[str, Callable[[Floats], Floats]] = {
    "pow1_2": lambda x: np.sqrt(np.where(x > -0.0001, np.maximum(x, 0), x)),
    "pow1_4": lambda x: np.sqrt(np.where(x > -0.0001, np.maximum(x, 0), x)),
    "asin": lambda x: np.arcsin(np.where(np.abs(x) < 1.0001, np.clip(x, -1, 1), x)),
    "acos": lambda x: np.arccos(np.where(np.abs(x) < 1.0001, np.clip(x, -1, 1), x)),
    "acosh": lambda x: np.arccosh(np.where(x > 0.9999, np.maximum(x, 1), x)),
}


class OutOfReach(Exception):  # noqa: N818 - an outcome, caught where it arises
    """The number has too many digits before the point."""


def _limited(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    def limited(x: Real) -> Real:
        if abs(x) > 1e5:
            raise OutOfReach
        return function(x)

    return limited


def _mp_power(base: Real, exponent: Real) -> Real | None:
    if base == 0:
        return mpmath.mpf(exponent == 0) if exponent >= 0 else None
    if abs(exponent * mpmath.log(abs(base))) > 1e5:
        raise OutOfReach
    return base**exponent if base > 0 or exponent == mpmath.nint(exponent) else None


def _mp_root(x: Real, k: int) -> Real | None:
    if x < 0:
        return -mpmath.root(-x, k) if k % 2 else None
    return mpmath.root(x, k)


MP_FUNCTIONS: dict[str, Callable[..., Real | None]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
    "/": lambda x, y: x / y if y else None, "inv": lambda x: 1 / x if x else None, "pow": _mp_power,
    "abs": abs, "neg": lambda x: -x, "exp": _limited(mpmath.exp), "log": lambda x: mpmath.log(x) if x > 0 else None,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "atan": mpmath.atan,
    "asin": lambda x: mpmath.asin(x) if abs(x) <= 1 else None,
    "acos": lambda x: mpmath.acos(x) if abs(x) <= 1 else None,
    "sinh": _limited(mpmath.sinh), "cosh": _limited(mpmath.cosh), "tanh": mpmath.tanh, "asinh": mpmath.asinh,
    "acosh": lambda x: mpmath.acosh(x) if x >= 1 else None,
    "atanh": lambda x: mpmath.atanh(x) if abs(x) < 1 else None,
}  # fmt: skip

for _k in range(2, 6):
    for _table in (FUNCTIONS, MP_FUNCTIONS):
        _table[f"mult{_k}"] = lambda x, k=_k: k * x
        _table[f"div{_k}"] = lambda x, k=_k: x / k
        _table[f"pow{_k}"] = lambda x, k=_k: x**k
    MP_FUNCTIONS[f"pow1_{_k}"] = lambda x, k=_k: _mp_root(x, k)

# Replacements with a free constant: how to find its value from x and the value y of the pattern there.
FAMILIES: dict[Tokens, Callable[[Real, Real], Real | None]] = {
    (CONSTANT,): lambda _, y: y,
    ("+", "_0", CONSTANT): lambda x, y: y - x,
    ("-", CONSTANT, "_0"): lambda x, y: y + x,
    ("*", CONSTANT, "_0"): lambda x, y: y / x if x else None,
    ("/", CONSTANT, "_0"): lambda x, y: y * x,
    ("pow", CONSTANT, "_0"): lambda x, y: _mp_power(y, 1 / x) if x and y >= 0 else None,
    ("pow", "_0", CONSTANT): lambda x, y: mpmath.log(y) / mpmath.log(x) if x > 0 and x != 1 and y > 0 else None,
}


def evaluate(tree: Node, leaves: dict[str, Floats], relaxed: bool = False) -> tuple[Floats, Mask]:
    """Values in doubles, carried through infinities, and where all subterms are finite."""
    if not tree.operands:
        value = leaves.get(tree.token)
        if value is None:
            value = np.full_like(leaves["_0"], {"pi": np.pi, "e": np.e}.get(tree.token) or float(tree.token))
        return value, np.isfinite(value)
    values, masks = zip(*(evaluate(operand, leaves, relaxed) for operand in tree.operands), strict=True)
    function = RELAXED[tree.token] if relaxed and tree.token in RELAXED else FUNCTIONS[tree.token]
    with np.errstate(all="ignore"):
        value = function(*values) + 0.0  # -0 + 0 is 0: zero has no sign
    return value, np.logical_and.reduce([np.isfinite(value), *masks])


def mp_value(tree: Node, leaves: Point) -> Real | None:
    """The real value of a tree, or None where a subterm has none."""
    if not tree.operands:
        if tree.token in leaves:
            return leaves[tree.token]
        return {"pi": +mpmath.pi, "e": +mpmath.e}.get(tree.token) or mpmath.mpf(tree.token)
    operands = [mp_value(operand, leaves) for operand in tree.operands]
    return None if None in operands else MP_FUNCTIONS[tree.token](*operands)


def moderate_points(rng: np.random.Generator) -> dict[str, Floats]:
    """Points on which doubles lose few digits, (constants, points) each: 0.05 to 7, beyond pi, both signs."""
    shape = (len(CONSTANTS), N_POINTS)
    columns = [np.exp(rng.uniform(np.log(0.05), np.log(7), N_POINTS)) * rng.choice([-1, 1], N_POINTS) for _ in range(2)]
    leaves = {name: np.broadcast_to(column, shape) for name, column in zip(METAVARIABLES, columns, strict=True)}
    return {**leaves, CONSTANT: np.broadcast_to(np.array(CONSTANTS)[:, None], shape)}


def dense_points(rng: np.random.Generator, n: int = 20_000) -> dict[str, Floats]:
    """Points of all magnitudes, many of them next to +-1, where domains of inverse functions end."""
    leaves = {}
    for name in (*METAVARIABLES, CONSTANT):
        kinds = [
            rng.normal(0, 5, n), rng.uniform(-1, 1, n), 1 - 10 ** rng.uniform(-6, 0, n), 10 ** rng.uniform(-8, 8, n),
            rng.choice(CORNERS, n), rng.uniform(-40, 40, n),
        ]  # fmt: skip
        leaves[name] = np.choose(rng.integers(0, len(kinds), n), kinds) * rng.choice([-1, 1], n)
    return leaves


def as_point(columns: dict[str, Floats], i: int) -> Point:
    return {name: mpmath.mpf(float(column[i])) for name, column in columns.items()}


def agree(a: Floats, b: Floats) -> Mask:
    return np.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)


def close(a: Real, b: Real) -> bool:
    return bool(abs(a - b) <= mpmath.mpf(10) ** -30 * max(abs(a), abs(b)) + mpmath.mpf(10) ** -60)


def is_number(token: str) -> bool:
    return token == CONSTANT or token in NUMBERS or token in NOT_REAL


def fingerprint(values: Floats, weights: Floats) -> Floats:
    """One number a row: rows that agree up to rounding get numbers that do."""
    with np.errstate(invalid="ignore"):
        bounded = values / (1 + np.abs(values))
    bounded = np.where(np.isnan(values), 5.0, np.where(np.isinf(values), 3 * np.sign(values), bounded))
    return bounded @ weights


class Candidates:
    """Possible replacements without a free constant, found by fingerprint on the points where a pattern is defined."""

    def __init__(self, terms: Iterable[Tokens], leaves: dict[str, Floats], rng: np.random.Generator) -> None:
        self.terms = sorted(terms, key=lambda tokens: (len(tokens), sum(map(is_number, tokens))))
        both = [evaluate(parse_tree(tokens), leaves) for tokens in self.terms]
        self.values = np.stack([value.ravel() for value, _ in both])
        self.defined = np.stack([defined.ravel() for _, defined in both])
        self.weights = rng.normal(size=self.values.shape[1])
        # Of the terms without any value only nan itself may stand for others.
        self.carried = ~np.isnan(self.values).all(axis=1) | np.array([tokens == ("nan",) for tokens in self.terms])
        self._by_mask: dict[bytes, tuple[NDArray[np.intp], Floats]] = {}

    def find(self, value: Floats, defined: Mask) -> list[Tokens]:
        """Tokens of the terms that agree with `value` where `defined`, or everywhere if that is nowhere."""
        value, mask = value.ravel(), defined.ravel()
        key = mask.tobytes()
        carried = not mask.any()
        if carried:
            mask = np.ones_like(mask)
        if key not in self._by_mask:
            rows = np.flatnonzero(self.carried if carried else self.defined[:, mask].all(axis=1))
            prints = fingerprint(self.values[rows][:, mask], self.weights[mask])
            order = np.argsort(prints)
            self._by_mask[key] = rows[order], prints[order]
        rows, prints = self._by_mask[key]
        wanted = fingerprint(value[mask], self.weights[mask])
        near = rows[np.searchsorted(prints, wanted - 1e-4) : np.searchsorted(prints, wanted + 1e-4)]
        return [self.terms[row] for row in sorted(near) if agree(self.values[row, mask], value[mask]).all()]


class Judge:
    """Says whether a proposed rule holds."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.dense = dense_points(rng)
        corners = itertools.product(map(mpmath.mpf, CORNERS), repeat=2)
        self.points = [as_point(self.dense, i) for i in range(24)]
        self.points += [dict(zip(METAVARIABLES, pair, strict=True)) for pair in corners]

    def holds_carried(self, pattern: Node, replacement: Tokens) -> bool:
        """For a pattern without values: there are none on the dense points either, and infinities agree."""
        if evaluate(pattern, self.dense, relaxed=True)[1].any():
            return False
        if replacement == (CONSTANT,):
            return True
        left, right = (evaluate(tree, self.dense)[0] for tree in (pattern, parse_tree(replacement)))
        moderate = (np.abs(self.dense["_0"]) < 20) & (np.abs(self.dense["_1"]) < 20) & (self.dense["_0"] != 0)
        return bool(agree(left, right)[moderate].all())

    def holds(self, pattern: Node, replacement: Tokens) -> bool:
        """Whether both sides agree wherever the left one has a value, for every value of the left one's constant."""
        constants = CONSTANTS if pattern.holds_constant else CONSTANTS[:1]
        points = self.points if CONSTANT in replacement else self.points + self._suspects(pattern, replacement)
        n_defined = 0
        for constant in constants:
            values = []
            for point in points:
                leaves = {**point, CONSTANT: mpmath.mpf(constant)}
                try:
                    y = mp_value(pattern, leaves)
                except OutOfReach:
                    continue
                if y is not None:
                    values.append((leaves, y))
            n_defined += len(values)
            if values and not self._member(replacement, values):
                return False
        return n_defined >= MIN_DEFINED

    def _suspects(self, pattern: Node, replacement: Tokens) -> list[Point]:
        """Points of the dense set on which doubles disagree: rounding, or a counterexample."""
        left, left_defined = evaluate(pattern, self.dense)
        right, right_defined = evaluate(parse_tree(replacement), self.dense)
        wrong = np.flatnonzero(left_defined & ~(right_defined & agree(left, right)))
        return [as_point(self.dense, i) for i in wrong[:: max(1, len(wrong) // 20)]]

    @staticmethod
    def _member(replacement: Tokens, values: list[tuple[Point, Real]]) -> bool:
        """Whether one constant makes the replacement equal to all these values."""
        constant = solve_constant(replacement, values) if CONSTANT in replacement else mpmath.mpf(0)
        if constant is None:
            return False
        tree = parse_tree(replacement)
        for leaves, y in values:
            try:
                z = mp_value(tree, {**leaves, CONSTANT: constant})
            except OutOfReach:
                return False
            if z is None or not close(y, z):
                return False
        return True


def solve_constant(replacement: Tokens, values: list[tuple[Point, Real]]) -> Real | None:
    """The constant with which the replacement takes one of the pattern's values, made an integer if it is one."""
    for leaves, y in values:
        try:
            constant = FAMILIES[replacement](leaves["_0"], y)
        except OutOfReach:
            continue
        if constant is not None:
            nearest = mpmath.nint(constant)
            return nearest if close(constant, nearest) else constant
    return None


class Search:
    """Discovery over some operators, one length after the other, beside rules that are there already."""

    def __init__(self, operators: Iterable[str], leaves: Iterable[str], rules: Iterable[PrefixRule] = ()) -> None:
        self.rng = np.random.default_rng(SEED)
        self.leaves = moderate_points(self.rng)
        self.judge = Judge(self.rng)
        self.unary = [token for token in operators if OPERATORS[token].arity == 1]
        self.binary = [token for token in operators if OPERATORS[token].arity == 2]
        self.rules = list(rules)
        self.irreducible: dict[int, list[Tokens]] = {1: [(token,) for token in leaves]}

    def run(self, max_length: int) -> list[PrefixRule]:
        for length in range(2, max_length + 1):
            start = time.perf_counter()
            shorter = itertools.chain(*(self.irreducible[j] for j in range(1, min(length, MAX_REPLACEMENT + 1))))
            candidates = Candidates((tokens for tokens in shorter if CONSTANT not in tokens), self.leaves, self.rng)
            index = RuleIndex(self.rules)  # fixed within a length, as in the paper
            found: dict[Tokens, PrefixRule | None] = {}
            for tokens in self._grow(length):
                if in_order(tokens) and index.rewrite_root(parse_tree(tokens)) is None:
                    found[tokens] = self._rule(tokens, candidates)
            left = [tokens for tokens, rule in found.items() if rule is None]
            self.irreducible[length] = left + [swapped(tokens) for tokens in left if "_0" in tokens]
            self.rules += without_instances([rule for rule in found.values() if rule is not None])
            print(f"length {length}: {len(self.rules)} rules so far, {time.perf_counter() - start:.0f} s", flush=True)
        return self.rules

    def _grow(self, length: int) -> Iterator[Tokens]:
        """Terms of one length over irreducible operands, with at most one constant."""
        for term in self.irreducible[length - 1]:
            if term != (CONSTANT,):  # constant folding takes these
                yield from ((token, *term) for token in self.unary)
        for n in range(1, length - 1):
            for left, right in itertools.product(self.irreducible[n], self.irreducible[length - 1 - n]):
                if CONSTANT not in left or CONSTANT not in right:
                    yield from ((token, *left, *right) for token in self.binary)

    def _rule(self, tokens: Tokens, candidates: Candidates) -> PrefixRule | None:
        """The rule with the shortest right side, then the fewest constants, or None."""
        pattern = parse_tree(tokens)
        value, defined = evaluate(pattern, self.leaves)
        counts = Counter(filter(is_metavariable, tokens))
        proposals = candidates.find(value, defined)
        if defined.any() and "_1" not in counts and any(map(is_number, tokens)):
            proposals += [family for family in FAMILIES if len(family) <= min(len(tokens) - 1, MAX_REPLACEMENT)]
        elif not counts and np.isfinite(value).all():
            proposals.append((CONSTANT,))  # atan inf
        holds = self.judge.holds if defined.any() else self.judge.holds_carried
        for proposal in sorted(proposals, key=lambda p: (len(p), p.count(CONSTANT))):
            if Counter(filter(is_metavariable, proposal)) <= counts and holds(pattern, proposal):
                return PrefixRule(tokens, proposal)
        return None


def in_order(tokens: Tokens) -> bool:
    """Whether metavariables are named in the order in which they appear."""
    seen = list(dict.fromkeys(filter(is_metavariable, tokens)))
    return seen == list(METAVARIABLES[: len(seen)])


def swapped(tokens: Tokens) -> Tokens:
    names = {"_0": "_1", "_1": "_0"}
    return tuple(names.get(token, token) for token in tokens)


def without_instances(rules: list[PrefixRule]) -> list[PrefixRule]:
    """Leave out a rule that another one of its length makes unnecessary: `* 1 0 -> 0` beside `* _0 0 -> 0`."""
    rules = sorted(rules, key=lambda rule: -len({token for token in rule.pattern if is_metavariable(token)}))
    kept: list[PrefixRule] = []
    general: dict[str, list[PrefixRule]] = {}
    for rule in rules:
        others = general.setdefault(rule.pattern[0], [])
        found = RuleIndex(others).rewrite_root(parse_tree(rule.pattern))
        if found is None or found[1].tokens != rule.replacement:
            kept.append(rule)
            if not rule.is_ground:
                others.append(rule)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-length", type=int, default=4, help="longest pattern over all operators, in tokens")
    parser.add_argument("--max-arithmetic-length", type=int, default=6, help="longest pattern over few operators")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    mpmath.mp.dps = DIGITS
    rules = Search(OPERATORS, (*METAVARIABLES, CONSTANT, *NUMBERS, *NOT_REAL)).run(arguments.max_length)
    for operators in ARITHMETIC:
        rules = Search(operators, (*METAVARIABLES, CONSTANT), rules).run(arguments.max_arithmetic_length)
    rows = ",\n".join(json.dumps([rule.pattern, rule.replacement]) for rule in rules)
    limits = {"max_length": arguments.max_length, "max_arithmetic_length": arguments.max_arithmetic_length}
    head = {"made_by": "benchmarks/make_paper_rules.py", "seed": SEED, **limits}
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(json.dumps(head)[:-1] + ', "rules": [\n' + rows + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Discover the rule file of the paper's engine: src/simplipy/data/paper_rules.json.

    python benchmarks/make_paper_rules.py [--max-length 4] [--out FILE]

The paper's discovery (stratified enumeration, shortest first, a new rule only for what the rules so far leave alone) at
a small length, in minutes on one thread. Proposals come from value fingerprints in doubles on moderate points; a rule
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
from numpy.typing import NDArray

from simplipy.operators import OPERATORS
from simplipy.paper_rules import PLACEHOLDER, Node, Rule, RuleIndex, is_metavariable, parse_tree

Tokens = tuple[str, ...]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

OUT = Path(__file__).parents[1] / "src" / "simplipy" / "data" / "paper_rules.json"
SEED = 20
METAVARIABLES = ("_0", "_1")
NUMBERS = ("0", "1", "-1", "pi", "e")
NOT_REAL = ("inf", "-inf", "nan")
UNARY = tuple(token for token, operator in OPERATORS.items() if operator.arity == 1)
BINARY = tuple(token for token, operator in OPERATORS.items() if operator.arity == 2)
CONSTANTS = (0.0, 1.0, 2.0, -3.0, 1.7, -0.6, 0.25)  # integers: (x^c)^(1/2) -> x^c' is refuted by c = 2
CORNERS = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0)
MAX_REPLACEMENT = 3  # the paper's L_rep
N_POINTS = 64
MIN_DEFINED = 6
DIGITS = 120

# --- arithmetic in doubles --------------------------------------------------------------------------------------------


def _power(base: Floats, exponent: Floats) -> Floats:
    """IEEE power, but nan stays nan (not 1**nan = 1) and a negative base takes integers only (not (-inf)**0.5 = inf)."""
    bad = np.isnan(base) | np.isnan(exponent) | ((base < 0) & ~(np.isfinite(exponent) & (exponent == np.rint(exponent))))
    return np.where(bad, np.nan, np.power(base, exponent))


FUNCTIONS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "pow": _power,
    "abs": np.abs, "inv": lambda x: 1 / x, "neg": np.negative, "exp": np.exp, "log": np.log,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "pow1_2": np.sqrt, "pow1_3": np.cbrt, "pow1_4": lambda x: np.sqrt(np.sqrt(x)),
    "pow1_5": lambda x: np.sign(x) * np.abs(x) ** 0.2,
    **{f"mult{k}": lambda x, k=k: k * x for k in range(2, 6)},
    **{f"div{k}": lambda x, k=k: x / k for k in range(2, 6)},
    **{f"pow{k}": lambda x, k=k: x**k for k in range(2, 6)},
}  # fmt: skip


def literal(token: str) -> float:
    return {"pi": np.pi, "e": np.e}.get(token) or float(token)


# acosh(sin x) has values at single points, and a metavariable may bind such a number: not a term without values.
RELAXED = {
    "asin": lambda x: np.arcsin(np.where(np.abs(x) < 1.0001, np.clip(x, -1, 1), x)),
    "acos": lambda x: np.arccos(np.where(np.abs(x) < 1.0001, np.clip(x, -1, 1), x)),
    "acosh": lambda x: np.arccosh(np.where(x > 0.9999, np.maximum(x, 1), x)),
}


def apply(token: str, operands: list[tuple[Floats, Mask]], relaxed: bool = False) -> tuple[Floats, Mask]:
    """Values carried through infinities, and where all subterms are finite."""
    function = RELAXED[token] if relaxed and token in RELAXED else FUNCTIONS[token]
    with np.errstate(all="ignore"):
        value = function(*(value for value, _ in operands)) + 0.0  # -0 + 0 is 0: zero has no sign
    defined = np.isfinite(value)
    for _, operand_defined in operands:
        defined = defined & operand_defined
    return value, defined


def evaluate(tree: Node, leaves: dict[str, Floats], relaxed: bool = False) -> tuple[Floats, Mask]:
    if tree.operands:
        return apply(tree.token, [evaluate(operand, leaves, relaxed) for operand in tree.operands], relaxed)
    value = leaves[tree.token] if tree.token in leaves else np.full_like(leaves["_0"], literal(tree.token))
    return value, np.isfinite(value)


def moderate_points(rng: np.random.Generator) -> dict[str, Floats]:
    """Points on which doubles lose few digits, (constants, points) each: 0.05 to 7, beyond pi, both signs."""
    shape = (len(CONSTANTS), N_POINTS)
    columns = [np.exp(rng.uniform(np.log(0.05), np.log(7), N_POINTS)) * rng.choice([-1, 1], N_POINTS) for _ in range(2)]
    leaves = {name: np.broadcast_to(column, shape) for name, column in zip(METAVARIABLES, columns, strict=True)}
    return {**leaves, PLACEHOLDER: np.broadcast_to(np.array(CONSTANTS)[:, None], shape)}


def dense_points(rng: np.random.Generator, n: int = 20_000) -> dict[str, Floats]:
    """Points of all magnitudes, many of them next to +-1, where domains of inverse functions end."""
    leaves = {}
    for name in (*METAVARIABLES, PLACEHOLDER):
        kinds = [
            rng.normal(0, 5, n), rng.uniform(-1, 1, n), 1 - 10 ** rng.uniform(-6, 0, n), 10 ** rng.uniform(-8, 8, n),
            rng.choice(CORNERS, n), rng.uniform(-40, 40, n),
        ]  # fmt: skip
        leaves[name] = np.choose(rng.integers(0, len(kinds), n), kinds) * rng.choice([-1, 1], n)
    return leaves


# --- arithmetic in multiprecision -------------------------------------------------------------------------------------


class OutOfReach(Exception):
    """The number has too many digits before the point."""


def _exponential(function):  # type: ignore[no-untyped-def]
    def limited(x):  # type: ignore[no-untyped-def]
        if abs(x) > 1e5:
            raise OutOfReach
        return function(x)

    return limited


def _mp_power(base, exponent):  # type: ignore[no-untyped-def]
    if base == 0:
        return mpmath.mpf(exponent == 0) if exponent >= 0 else None
    if abs(exponent * mpmath.log(abs(base))) > 1e5:
        raise OutOfReach
    return base**exponent if base > 0 or exponent == mpmath.nint(exponent) else None


def _mp_root(k: int):  # type: ignore[no-untyped-def]
    def root(x):  # type: ignore[no-untyped-def]
        if x < 0:
            return -mpmath.root(-x, k) if k % 2 else None
        return mpmath.root(x, k)

    return root


MP_FUNCTIONS = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
    "/": lambda x, y: x / y if y else None, "inv": lambda x: 1 / x if x else None, "pow": _mp_power,
    "abs": abs, "neg": lambda x: -x, "exp": _exponential(mpmath.exp), "log": lambda x: mpmath.log(x) if x > 0 else None,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "atan": mpmath.atan,
    "asin": lambda x: mpmath.asin(x) if abs(x) <= 1 else None,
    "acos": lambda x: mpmath.acos(x) if abs(x) <= 1 else None,
    "sinh": _exponential(mpmath.sinh), "cosh": _exponential(mpmath.cosh), "tanh": mpmath.tanh, "asinh": mpmath.asinh,
    "acosh": lambda x: mpmath.acosh(x) if x >= 1 else None,
    "atanh": lambda x: mpmath.atanh(x) if abs(x) < 1 else None,
    **{f"mult{k}": lambda x, k=k: k * x for k in range(2, 6)},
    **{f"div{k}": lambda x, k=k: x / k for k in range(2, 6)},
    **{f"pow{k}": lambda x, k=k: x**k for k in range(2, 6)},
    **{f"pow1_{k}": _mp_root(k) for k in range(2, 6)},
}  # fmt: skip


def mp_value(tree: Node, leaves):  # type: ignore[no-untyped-def]
    """The real value of a tree, or None where a subterm has none."""
    if not tree.operands:
        if tree.token in leaves:
            return leaves[tree.token]
        return {"pi": +mpmath.pi, "e": +mpmath.e}.get(tree.token) or mpmath.mpf(tree.token)
    operands = [mp_value(operand, leaves) for operand in tree.operands]
    return None if None in operands else MP_FUNCTIONS[tree.token](*operands)


# Replacements with a free constant: how to find its value from x and the value y of the pattern there.
FAMILIES = {
    (PLACEHOLDER,): lambda _, y: y,
    ("+", "_0", PLACEHOLDER): lambda x, y: y - x,
    ("-", PLACEHOLDER, "_0"): lambda x, y: y + x,
    ("*", PLACEHOLDER, "_0"): lambda x, y: y / x if x else None,
    ("/", PLACEHOLDER, "_0"): lambda x, y: y * x,
    ("pow", PLACEHOLDER, "_0"): lambda x, y: _mp_power(y, 1 / x) if x and y >= 0 else None,
    ("pow", "_0", PLACEHOLDER): lambda x, y: mpmath.log(y) / mpmath.log(x) if x > 0 and x != 1 and y > 0 else None,
}


def solve_constant(replacement: Tokens, values):  # type: ignore[no-untyped-def]
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


def close(a, b) -> bool:  # type: ignore[no-untyped-def]
    return bool(abs(a - b) <= mpmath.mpf(10) ** -30 * max(abs(a), abs(b)) + mpmath.mpf(10) ** -60)


# --- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """An irreducible term, with values (constants, points) and where they are defined."""

    tokens: Tokens
    value: Floats
    defined: Mask


def fingerprint(values: Floats, weights: Floats) -> Floats:
    """One number a row: rows that agree up to rounding get numbers that do."""
    with np.errstate(invalid="ignore"):
        bounded = values / (1 + np.abs(values))
    bounded = np.where(np.isnan(values), 5.0, np.where(np.isinf(values), 3 * np.sign(values), bounded))
    return bounded @ weights


def agree(a: Floats, b: Floats) -> Mask:
    return np.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)


class Candidates:
    """Possible replacements without a free constant, found by fingerprint on the points where a pattern is defined."""

    def __init__(self, terms: list[Term], rng: np.random.Generator) -> None:
        self.terms = sorted(terms, key=lambda term: (len(term.tokens), sum(map(is_number, term.tokens))))
        self.values = np.stack([term.value.ravel() for term in self.terms])
        self.defined = np.stack([term.defined.ravel() for term in self.terms])
        self.weights = rng.normal(size=self.values.shape[1])
        self._by_mask: dict[bytes, tuple[NDArray[np.intp], Floats]] = {}

    def find(self, value: Floats, defined: Mask) -> list[Tokens]:
        """Tokens of the terms that agree with `value` where `defined`, or everywhere if that is nowhere."""
        value, mask = value.ravel(), defined.ravel()
        carried = not mask.any()
        if carried:
            mask = np.ones_like(mask)
        key = mask.tobytes() + bytes([carried])
        if key not in self._by_mask:
            rows = np.arange(len(self.terms)) if carried else np.flatnonzero(self.defined[:, mask].all(axis=1))
            prints = fingerprint(self.values[rows][:, mask], self.weights[mask])
            order = np.argsort(prints)
            self._by_mask[key] = rows[order], prints[order]
        rows, prints = self._by_mask[key]
        wanted = fingerprint(value[mask], self.weights[mask])
        near = rows[np.searchsorted(prints, wanted - 1e-4) : np.searchsorted(prints, wanted + 1e-4)]
        return [self.terms[row].tokens for row in sorted(near) if agree(self.values[row, mask], value[mask]).all()]


def is_number(token: str) -> bool:
    return token == PLACEHOLDER or token in NUMBERS or token in NOT_REAL


def in_order(tokens: Tokens) -> bool:
    """Whether metavariables are named in the order in which they appear."""
    seen = list(dict.fromkeys(filter(is_metavariable, tokens)))
    return seen == list(METAVARIABLES[: len(seen)])


class Search:
    """Discovery, one length after the other."""

    def __init__(self, seed: int = SEED) -> None:
        mpmath.mp.dps = DIGITS
        rng = np.random.default_rng(seed)
        self.leaves = moderate_points(rng)
        self.dense = dense_points(rng)
        self.rng = rng
        heavy = [{name: column[i] for name, column in self.dense.items()} for i in range(14)]
        corners = [dict(zip(METAVARIABLES, pair, strict=True)) for pair in itertools.product(CORNERS, repeat=2)]
        self.mp_points = [{name: mpmath.mpf(float(x)) for name, x in point.items()} for point in (*heavy, *corners)]
        self.rules: list[Rule] = []
        self.terms: dict[int, list[Term]] = {1: self._leaf_terms()}

    def _leaf_terms(self) -> list[Term]:
        tokens = (*METAVARIABLES, PLACEHOLDER, *NUMBERS, *NOT_REAL)
        return [Term((token,), *evaluate(Node(token), self.leaves)) for token in tokens]

    def run(self, max_length: int) -> None:
        for length in range(2, max_length + 1):
            start = time.perf_counter()
            index = RuleIndex(self.rules)
            shorter = [term for j in range(1, min(length, MAX_REPLACEMENT + 1)) for term in self.terms[j]]
            self.candidates = Candidates([term for term in shorter if PLACEHOLDER not in term.tokens], self.rng)
            found = self._stratum(length, index, keep_terms=length < max_length)
            self.rules += without_instances(found)
            print(f"length {length}: {len(found)} rules, {len(self.rules)} kept so far, "
                  f"{len(self.terms.get(length, ()))} irreducible terms kept, "
                  f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip

    def _stratum(self, length: int, index: RuleIndex, keep_terms: bool) -> list[Rule]:
        """Find the rules of one length, with the rules of shorter ones held fixed."""
        found: dict[Tokens, Rule | None] = {}
        kept: list[Term] = []
        for tokens, operands in self._grow(length):
            own = in_order(tokens)
            if not own and not keep_terms:
                continue
            name = tokens if own else swap_names(tokens)
            if name not in found:
                tree = parse_tree(name)
                if index.rewrite_root(tree) is not None:
                    continue
                found[name] = self._rule(tree, *evaluate(tree, self.leaves))
            if found[name] is None and keep_terms:
                value, defined = apply(tokens[0], [(operand.value, operand.defined) for operand in operands])
                kept.append(Term(tokens, value, defined))
        self.terms[length] = kept
        return [rule for rule in found.values() if rule is not None]

    def _grow(self, length: int) -> Iterator[tuple[Tokens, list[Term]]]:
        """Terms of one length over irreducible operands, except those that constant folding takes."""
        for term in self.terms[length - 1]:
            if term.tokens != (PLACEHOLDER,):
                yield from (((token, *term.tokens), [term]) for token in UNARY)
        for left_length in range(1, length - 1):
            for left, right in itertools.product(self.terms[left_length], self.terms[length - 1 - left_length]):
                if left.tokens != (PLACEHOLDER,) or right.tokens != (PLACEHOLDER,):
                    yield from (((token, *left.tokens, *right.tokens), [left, right]) for token in BINARY)

    def _rule(self, pattern: Node, value: Floats, defined: Mask) -> Rule | None:
        """The rule with the shortest right side, then the fewest constants, or None."""
        tokens = tuple(pattern.tokens())
        candidates = self.candidates.find(value, defined)
        counts = Counter(filter(is_metavariable, tokens))
        if defined.any() and counts["_1"] == 0 and any(map(is_number, tokens)):
            candidates += [family for family in FAMILIES if len(family) <= min(len(tokens) - 1, MAX_REPLACEMENT)]
        elif not counts and np.isfinite(value).all():
            candidates.append((PLACEHOLDER,))  # atan inf
        for candidate in sorted(candidates, key=lambda c: (len(c), c.count(PLACEHOLDER))):
            used = Counter(filter(is_metavariable, candidate))
            if used <= counts and self._confirm(pattern, candidate, defined.any()):
                return Rule(tokens, candidate)
        return None

    def _confirm(self, pattern: Node, replacement: Tokens, somewhere_defined: bool) -> bool:
        if somewhere_defined:
            return self._equal_in_digits(pattern, replacement, self.mp_points + self._suspects(pattern, replacement))
        # Nothing real to compare. Infinities agree on the points; that there is no value must hold on many more.
        return replacement != ("nan",) or not evaluate(pattern, self.dense, relaxed=True)[1].any()

    def _suspects(self, pattern: Node, replacement: Tokens) -> list[dict[str, mpmath.mpf]]:
        """Points of the dense set on which doubles disagree: rounding, or a counterexample."""
        if PLACEHOLDER in replacement:
            return []
        (left, left_defined), (right, right_defined) = (evaluate(t, self.dense) for t in (pattern, parse_tree(replacement)))
        with np.errstate(invalid="ignore"):
            wrong = np.flatnonzero(left_defined & ~(right_defined & agree(left, right)))
        wrong = wrong[:: max(1, len(wrong) // 20)]
        return [{name: mpmath.mpf(float(column[i])) for name, column in self.dense.items()} for i in wrong]

    def _equal_in_digits(self, pattern: Node, replacement: Tokens, points: list[dict[str, mpmath.mpf]]) -> bool:
        """Whether both sides agree wherever the left one has a value, for every value of the left one's constant."""
        constants = [mpmath.mpf(c) for c in CONSTANTS] if pattern.holds_placeholder() else [mpmath.mpf(0)]
        right = parse_tree(replacement)
        n_defined = 0
        for constant in constants:
            values = []
            for point in points:
                leaves = {**point, PLACEHOLDER: constant}
                try:
                    y = mp_value(pattern, leaves)
                except OutOfReach:
                    continue
                if y is not None:
                    values.append((leaves, y))
            n_defined += len(values)
            if values and not self._member(right, replacement, values):
                return False
        return n_defined >= MIN_DEFINED

    @staticmethod
    def _member(right: Node, replacement: Tokens, values) -> bool:  # type: ignore[no-untyped-def]
        """Whether one constant makes the right side equal to all these values."""
        constant = solve_constant(replacement, values) if PLACEHOLDER in replacement else mpmath.mpf(0)
        if constant is None:
            return False
        for leaves, y in values:
            try:
                z = mp_value(right, {**leaves, PLACEHOLDER: constant})
            except OutOfReach:
                return False
            if z is None or not close(y, z):
                return False
        return True


def swap_names(tokens: Tokens) -> Tokens:
    names = {"_0": "_1", "_1": "_0"}
    return tuple(names.get(token, token) for token in tokens)


def without_instances(rules: list[Rule]) -> list[Rule]:
    """Leave out a rule that another one of its length makes unnecessary: `* 1 0 -> 0` beside `* _0 0 -> 0`."""
    rules = sorted(rules, key=lambda rule: -len({token for token in rule.pattern if is_metavariable(token)}))
    kept: list[Rule] = []
    index: dict[str, list[Rule]] = {}
    for rule in rules:
        general = RuleIndex(index.get(rule.pattern[0], ())).rewrite_root(parse_tree(rule.pattern))
        if general is None or tuple(general[1].tokens()) != rule.replacement:
            kept.append(rule)
            if not rule.is_ground:
                index.setdefault(rule.pattern[0], []).append(rule)
    return kept


def write(rules: list[Rule], path: Path, max_length: int) -> None:
    rows = ",\n".join(json.dumps([rule.pattern, rule.replacement]) for rule in rules)
    head = {"about": "made by benchmarks/make_paper_rules.py", "max_length": max_length, "seed": SEED}
    path.write_text(json.dumps(head)[:-1] + ', "rules": [\n' + rows + "\n]}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-length", type=int, default=4, help="longest pattern, in tokens")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    search = Search()
    search.run(arguments.max_length)
    write(search.rules, arguments.out, arguments.max_length)


if __name__ == "__main__":
    main()

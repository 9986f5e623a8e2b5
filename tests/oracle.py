"""Multiprecision oracle for values, domains and derivatives; written from the language's definition, uses no simplipy.

`evaluate` gives the exact value with a bound on what an evaluation in doubles may be off by, or UNDEFINED, or UNDECIDED
where doubles cannot tell (a domain's edge within the bound, overflow, underflow). It never claims more than it knows.
`derivative` is a finite difference at 500 bits with a tolerance measured by jittering every intermediate result.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import mpmath

from tests.strategies import ARITY

MP = mpmath.MPContext()
MP.prec = 500
UNIT = MP.mpf(2) ** -53
ROUNDING = 8 * UNIT  # allowed relative error of one operation or elementary function
HUGE, TINY = MP.mpf("1e300"), MP.mpf("1e-300")


class Status(Enum):
    UNDEFINED = "undefined"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Near:
    """A real number, and how far an evaluation in doubles may be from it; a bound of 0 means exactly that double."""

    value: mpmath.mpf
    bound: mpmath.mpf


Outcome = Near | Status


class UndefinedError(ValueError):
    """Raised by `plain_value` outside the domain."""


def plain_name(token: str) -> str:
    """The variable's name behind a token."""
    if token.startswith("`"):
        return token[1:-1].replace("``", "`")
    return token


def is_number(token: str) -> bool:
    try:
        return math.isfinite(float(token)) and token not in ("inf", "-inf", "nan")
    except ValueError:
        return False


def fold(tokens: Sequence[str], leaf: Callable, node: Callable):
    """Combine bottom-up: leaf(token, k) with k counting `<constant>`s from the left, node(op, *operands)."""
    stack: list = []
    k = list(tokens).count("<constant>")
    for token in reversed(tokens):
        if token in ARITY:
            stack.append(node(token, *(stack.pop() for _ in range(ARITY[token]))))
        else:
            k -= token == "<constant>"
            stack.append(leaf(token, k))
    assert len(stack) == 1, f"not one expression: {tokens}"
    return stack[0]


def _mpf(q: Fraction) -> mpmath.mpf:
    return MP.mpf(q.numerator) / q.denominator


def _near(q: Fraction) -> Near:
    value = _mpf(q)
    return Near(value, MP.zero if Fraction(float(q)) == q else UNIT * abs(value))


def leaf_fraction(token: str, k: int, env: Mapping[str, float], constants: Sequence[float]) -> Fraction | None:
    """The exact rational value of a leaf; None for pi and e."""
    if token in ("pi", "e"):
        return None
    if token == "<constant>":
        return Fraction(float(constants[k]))
    if is_number(token):
        return Fraction(token)
    return Fraction(float(env[plain_name(token)]))


ODD_ROOT = {"pow1_3": 3, "pow1_5": 5}
EVEN_ROOT = {"pow1_2": 2, "pow1_4": 4}
POWER = {f"pow{k}": k for k in (2, 3, 4, 5)}
FACTOR = {**{f"mult{k}": Fraction(k) for k in (2, 3, 4, 5)}, **{f"div{k}": Fraction(1, k) for k in (2, 3, 4, 5)}}


def _odd_root(n: int) -> Callable:
    return lambda x: MP.sign(x) * abs(x) ** (MP.one / n)


MONOTONE: dict[str, Callable] = {
    **{name: getattr(MP, name) for name in ("exp", "log", "tan", "asin", "acos", "atan")},
    **{name: getattr(MP, name) for name in ("sinh", "tanh", "asinh", "acosh", "atanh", "erf")},
    "pow3": lambda x: x**3,
    "pow5": lambda x: x**5,
    "pow1_2": lambda x: MP.sqrt(x),
    "pow1_3": _odd_root(3),
    "pow1_4": lambda x: MP.sqrt(MP.sqrt(x)),
    "pow1_5": _odd_root(5),
}
EVEN_CONVEX: dict[str, Callable] = {"cosh": MP.cosh, "pow2": lambda x: x**2, "pow4": lambda x: x**4}
# the true domains: (lower edge, closed there), (upper edge, closed there)
DOMAIN = {
    "log": ((0, False), (None, False)),
    "pow1_2": ((0, True), (None, False)),
    "pow1_4": ((0, True), (None, False)),
    "asin": ((-1, True), (1, True)),
    "acos": ((-1, True), (1, True)),
    "acosh": ((1, True), (None, False)),
    "atanh": ((-1, False), (1, False)),
}


def _inside(op: str, a: Near) -> bool | None:
    """Whether the argument is in the operator's domain; None where the bound straddles an edge."""
    answer: bool | None = True
    for (edge, closed), side in zip(DOMAIN.get(op, ((None, False),) * 2), (1, -1), strict=True):
        if edge is None:
            continue
        room = side * (a.value - edge)  # > 0 inside
        if room + a.bound < 0 or (a.bound == 0 and room == 0 and not closed):
            return False
        if room - a.bound < 0 or (room - a.bound == 0 and not closed):
            answer = None
    return answer


def _rounded(value: mpmath.mpf, bound: mpmath.mpf, extra: mpmath.mpf = MP.zero) -> Outcome:
    bound = bound + ROUNDING * (abs(value) + bound) + extra
    if abs(value) + bound > HUGE or 0 < abs(value) < TINY:
        return Status.UNDECIDED
    return Near(value, bound)


def _exact(op: str, *operands: Near) -> Near | None:
    """The result where IEEE arithmetic makes no error; None elsewhere."""
    if any(a.bound for a in operands) or any(abs(a.value) > HUGE for a in operands):
        return None
    q = [Fraction(float(a.value)) for a in operands]
    if op in POWER:
        result = q[0] ** POWER[op]
    elif op in FACTOR and op not in ("div3", "div5"):  # x*(1/3) is a fair way to divide
        result = q[0] * FACTOR[op]
    elif op in ("abs", "neg"):
        result = abs(q[0]) if op == "abs" else -q[0]
    elif op in ("+", "-", "*"):
        result = {"+": q[0] + q[-1], "-": q[0] - q[-1], "*": q[0] * q[-1]}[op]
    elif op in ("min", "max"):
        result = (min if op == "min" else max)(q)
    elif op == "/" and q[1]:
        result = q[0] / q[1]
    elif op == "inv" and q[0]:
        result = 1 / q[0]
    elif op == "pow" and q[1].denominator == 1 and abs(q[1]) <= 64 and (q[0] or q[1] >= 0):
        result = q[0] ** int(q[1])
    else:
        return None
    if result and not Fraction(1, 10**300) < abs(result) < 10**300:
        return None
    return _near(result) if Fraction(float(result)) == result else None


def _unary(op: str, a: Near) -> Outcome:
    x, b = a.value, a.bound
    if op == "inv":
        return _binary("/", Near(MP.one, MP.zero), a)
    if op in ("neg", "abs"):
        return Near(-x if op == "neg" else abs(x), b)
    if op in FACTOR:
        factor = _mpf(FACTOR[op])
        return _rounded(x * factor, b * factor)
    if op in ("sin", "cos"):
        return _rounded(getattr(MP, op)(x), min(b, MP.mpf(2)), UNIT if x else MP.zero)
    inside = _inside(op, a)
    if inside is not True:
        return Status.UNDEFINED if inside is False else Status.UNDECIDED
    if op in ("exp", "sinh", "cosh") and abs(x) + b > 690:
        return Status.UNDECIDED
    if op == "tan" and abs(MP.cos(x)) <= 2 * b:
        return Status.UNDECIDED
    if op in EVEN_CONVEX:
        f = EVEN_CONVEX[op]
        return _rounded(f(x), f(abs(x) + b) - f(abs(x)))
    f = MONOTONE[op]
    value = f(x)
    spread = max(abs(f(x + b) - value), abs(f(x - b) - value)) if b else MP.zero
    return _rounded(value, spread, UNIT * (1 + value**2) if op == "tan" and x else MP.zero)


def _power(x: Near, y: Near) -> Outcome:
    near_integer = abs(y.value - MP.nint(y.value)) <= y.bound
    integer = near_integer and y.bound == 0
    if integer and y.value == 0:
        return Near(MP.one, MP.zero)  # 0^0 = 1
    if abs(x.value) <= x.bound:
        if x.bound:
            return Status.UNDECIDED
        if y.value + y.bound < 0:
            return Status.UNDEFINED
        return Near(MP.zero, MP.zero) if y.value - y.bound > 0 else Status.UNDECIDED
    if x.value < 0 and not integer:
        return Status.UNDECIDED if near_integer else Status.UNDEFINED
    size = abs(x.value)
    exponent = y.value * MP.log(size)
    if abs(exponent) + y.bound * abs(MP.log(size)) > 690:
        return Status.UNDECIDED
    corners = [(size + s * x.bound) ** (y.value + t * y.bound) for s in (1, -1) for t in (1, -1)]
    value = size**y.value
    spread = max(abs(c - value) for c in corners)
    if x.value < 0 and MP.nint(y.value) % 2:
        value = -value
    return _rounded(value, spread, 2 * UNIT * abs(value * exponent))


def _binary(op: str, a: Near, b: Near) -> Outcome:
    if op == "pow":
        return _power(a, b)
    if op in ("+", "-"):
        return _rounded(a.value + b.value if op == "+" else a.value - b.value, a.bound + b.bound)
    if op in ("min", "max"):
        return Near((min if op == "min" else max)(a.value, b.value), max(a.bound, b.bound))
    if op == "*":
        return _rounded(a.value * b.value, abs(a.value) * b.bound + abs(b.value) * a.bound + a.bound * b.bound)
    if abs(b.value) <= b.bound:
        return Status.UNDEFINED if b.bound == 0 else Status.UNDECIDED
    value = a.value / b.value
    return _rounded(value, (a.bound + abs(value) * b.bound) / (abs(b.value) - b.bound))


def _apply(op: str, *operands: Outcome) -> Outcome:
    if Status.UNDEFINED in operands:
        return Status.UNDEFINED  # sticky: nothing defines what a subterm leaves undefined
    if Status.UNDECIDED in operands:
        return Status.UNDECIDED
    exact = _exact(op, *operands)
    if exact is not None:
        return exact
    return _unary(op, *operands) if len(operands) == 1 else _binary(op, *operands)


def evaluate(tokens: Sequence[str], env: Mapping[str, float], constants: Sequence[float] = ()) -> Outcome:
    """Value and definedness of an expression at one point.

    Parameters
    ----------
    tokens : prefix tokens.
    env : plain variable name -> double.
    constants : the values of the `<constant>`s, left to right.
    """

    def leaf(token: str, k: int) -> Outcome:
        if token in ("inf", "-inf", "nan"):
            return Status.UNDEFINED
        is_variable = token not in ("pi", "e", "<constant>") and not is_number(token)
        if is_variable and not math.isfinite(env[plain_name(token)]):
            return Status.UNDEFINED
        q = leaf_fraction(token, k, env, constants)
        if q is None:
            value = +MP.pi if token == "pi" else +MP.e
            return Near(value, UNIT * value)
        if q and not TINY < abs(_mpf(q)) < HUGE:
            return Status.UNDECIDED
        return _near(q)

    return fold(tokens, leaf, _apply)


def disagreement(
    computed: float, tokens: Sequence[str], env: Mapping[str, float], constants: Sequence[float] = ()
) -> str:
    """What is wrong with a computed value (NaN = undefined); empty where it is right or the oracle makes no claim."""
    outcome = evaluate(tokens, env, constants)
    if outcome is Status.UNDECIDED:
        return ""
    if outcome is Status.UNDEFINED:
        return "" if math.isnan(computed) else f"{tokens} at {dict(env)}: undefined, but computed as {computed!r}"
    if math.isfinite(computed) and abs(MP.mpf(computed) - outcome.value) <= outcome.bound:
        return ""
    exact = MP.nstr(outcome.value, 20)
    return f"{tokens} at {dict(env)}: computed {computed!r}, exactly {exact}, allowed error {MP.nstr(outcome.bound, 3)}"


def _singular(op: str, values: Sequence[mpmath.mpf], moves: Sequence[bool]) -> bool:
    """Whether a slope that the chain rule needs is infinite or missing: it cannot be had, even if it meets a zero."""
    x = values[0]
    if op == "pow":
        base_edge = moves[0] and x == 0 and values[1] < 1  # b*a^(b - 1) is undefined there, also for b = 0
        return base_edge or (moves[1] and x <= 0)
    if op in ("min", "max") and any(moves) and x == values[1]:
        return True
    edges = {"asin": 1, "acos": 1, "acosh": 1, "abs": 0, **dict.fromkeys((*ODD_ROOT, *EVEN_ROOT), 0)}
    return moves[0] and op in edges and abs(x) == edges[op]


def plain_value(
    tokens: Sequence[str],
    env: Mapping[str, mpmath.mpf],
    constants: Sequence[mpmath.mpf] = (),
    *,
    wrt: str | int,
    jitter: int | None = None,
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Value at 500 bits, and the largest intermediate; `jitter` seeds relative errors of 1e-12 on every node."""
    noise = random.Random(jitter)
    peak = MP.zero

    def shaken(value: mpmath.mpf) -> mpmath.mpf:
        nonlocal peak
        peak = max(peak, abs(value))
        return value if jitter is None else value * (1 + MP.mpf(noise.uniform(-1e-12, 1e-12)))

    def leaf(token: str, k: int) -> tuple[mpmath.mpf, bool]:
        if token in ("pi", "e"):
            return shaken(+MP.pi if token == "pi" else +MP.e), False
        if token == "<constant>":
            return shaken(MP.mpf(constants[k])), wrt == k
        if is_number(token):
            return MP.mpf(token), False  # unshaken: an integer exponent has to stay one
        return shaken(MP.mpf(env[plain_name(token)])), wrt == plain_name(token)

    def node(op: str, *operands: tuple[mpmath.mpf, bool]) -> tuple[mpmath.mpf, bool]:
        values, moves = zip(*operands, strict=True)
        exact = [Near(x, MP.zero) for x in values]
        outcome = _unary(op, *exact) if len(exact) == 1 else _binary(op, *exact)
        if isinstance(outcome, Status) or _singular(op, values, moves):
            raise UndefinedError(op)
        return shaken(outcome.value), any(moves)

    return fold(tokens, leaf, node)[0], peak


def derivative(
    tokens: Sequence[str], env: Mapping[str, float], constants: Sequence[float] = (), *, wrt: str | int
) -> tuple[float, float] | None:
    """Partial derivative and a tolerance for doubles; None at kinks, edges, local singularities and bad conditioning.

    `wrt` is a plain variable name, or the index of a `<constant>`.
    """
    step = MP.mpf(2) ** -150

    def slope(jitter: int | None, side: int) -> mpmath.mpf:
        moved_env = {name: MP.mpf(x) for name, x in env.items()}
        moved_constants = [MP.mpf(c) for c in constants]
        here, peak = plain_value(tokens, moved_env, moved_constants, wrt=wrt, jitter=jitter)
        if peak > 1e4:
            raise UndefinedError("badly conditioned")
        if isinstance(wrt, str):
            moved_env[wrt] += side * step
        else:
            moved_constants[wrt] += side * step
        there, _ = plain_value(tokens, moved_env, moved_constants, wrt=wrt, jitter=jitter)
        return (there - here) / (side * step)

    try:
        exact, left = slope(None, 1), slope(None, -1)
        if abs(exact) > 1e6 or abs(exact - left) > MP.mpf("1e-20") * (1 + abs(exact)):
            return None
        spread = max(abs(slope(seed, 1) - exact) for seed in (1, 2, 3, 4))
    except UndefinedError:
        return None
    tolerance = 20 * spread + MP.mpf("1e-9") * max(MP.one, abs(exact))
    if tolerance > MP.mpf("1e-4") * max(MP.one, abs(exact)):
        return None
    return float(exact), float(tolerance)

"""SymPy expressions from prefix tokens and back, node by node, never through text.

Nothing is evaluated on the way: x/x stays x/x, so that values and domain are equal on both sides. Odd roots, which in
SymPy are complex functions, are sign(u)*Abs(u)**(1/n), unless principal roots are asked for. What has no exact
counterpart is a ConversionError.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import sympy
from sympy import Add, Dummy, Float, Integer, Mul, Pow, Rational, S, Symbol

from simplipy.errors import ConversionError, ParseError
from simplipy.expression.expression import parse
from simplipy.expression.operator_forms import FORMS
from simplipy.expression.operators import CONSTANT, OPERATORS, leaf_kind, variable_name, variable_token
from simplipy.expression.prefix import fold

# Frames that SymPy's printers take for a level of nesting; its own recursion is what limits the depth.
_FRAMES_PER_LEVEL = 8
_MAX_TOKENS = 1_000_000
_SYMBOLS = {"pi": S.Pi, "e": S.Exp1, "inf": S.Infinity, "-inf": S.NegativeInfinity, "nan": S.NaN}
_TOKENS = {symbol: token for token, symbol in _SYMBOLS.items()} | {S.ComplexInfinity: "nan"}
_ODD_ROOTS = (3, 5)


class FreeConstant(Dummy):  # type: ignore[misc]
    """One ``<constant>``: a real number of its own, equal to no other symbol."""

    __slots__ = ()

    def _sympystr(self, _printer: object) -> str:
        return str(self.name)


class _Chain(NamedTuple):
    """Terms of a sum or factors of a product that is still growing; flat, so that long sums are not deep."""

    kind: type
    terms: deque[Any]


def to_sympy(tokens: Sequence[str], principal_roots: bool = False) -> sympy.Expr:
    """SymPy expression with the same values and domain.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    principal_roots : bool
        Write ``pow1_3`` and ``pow1_5`` as the powers 1/3 and 1/5, as other formulas have them, which are not real
        below zero. SymPy works on these; the exact form with a sign it takes apart into cases.

    Returns
    -------
    sympy.Expr
        Unevaluated. Variables are real symbols, free constants are c1, c2, ... of type `FreeConstant`.

    Raises
    ------
    ConversionError
        When the expression is nested more deeply than SymPy can print.
    """
    depth, _ = fold(tokens, lambda _: (1, ""), _nesting)
    limit = sys.getrecursionlimit() // _FRAMES_PER_LEVEL
    if depth > limit:
        raise ConversionError(
            f"the expression is {depth} levels deep and SymPy, which recurses, survives about {limit}; "
            "simplify it, or raise sys.setrecursionlimit()"
        )
    constants = [FreeConstant(f"c{k + 1}", real=True) for k in range(tokens.count(CONSTANT))]

    def leaf(token: str) -> Any:
        kind = leaf_kind(token)
        if kind == "constant":
            return constants.pop()
        if kind == "variable":
            return Symbol(variable_name(token), real=True)
        return _SYMBOLS[token] if kind == "symbol" else _number(Decimal(token))

    return _closed(fold(tokens, leaf, lambda token, operands: _applied(token, operands, principal_roots)))


def _nesting(token: str, operands: list[tuple[int, str]]) -> tuple[int, str]:
    """Levels of the SymPy tree, where chains of sums and of products count once, and the kind of chain at its top."""
    kind = "sum" if token in "+-" else "product" if token in "*/" else ""
    inner = max(depth - (kind == below != "") for depth, below in operands)
    return inner + (3 if token in ("pow1_3", "pow1_5") else 1), kind


def _number(number: Decimal) -> Any:
    """Integer, or a Float that reads back as the same decimal: 15 digits survive 53 bits, 17 need more."""
    if number == number.to_integral_value():
        return Integer(int(number))
    return Float(str(number), 15 if len(number.normalize().as_tuple().digits) <= 15 else 17)


def _closed(term: Any) -> Any:
    """Expression of a finished term."""
    return term.kind(*term.terms, evaluate=False) if isinstance(term, _Chain) else term


def _joined(kind: type, left: Any, right: Any) -> _Chain:
    """Chain with both operands, flattened where they are chains of the same kind; the shorter joins the longer."""
    a, b = (t.terms if isinstance(t, _Chain) and t.kind is kind else deque([_closed(t)]) for t in (left, right))
    if len(a) >= len(b):
        a.extend(b)
        return _Chain(kind, a)
    b.extendleft(reversed(a))
    return _Chain(kind, b)


def add(a: Any, b: Any) -> _Chain:
    """Unevaluated sum, for the operator table."""
    return _joined(Add, a, b)


def subtract(a: Any, b: Any) -> _Chain:
    """Unevaluated difference."""
    return add(a, scale(b, -1, 1))


def multiply(a: Any, b: Any) -> _Chain:
    """Unevaluated product."""
    return _joined(Mul, a, b)


def divide(a: Any, b: Any) -> _Chain:
    """Unevaluated quotient."""
    return multiply(a, integer_power(b, -1))


def scale(a: Any, p: int, q: int) -> Any:
    """Unevaluated product with p/q."""
    return Mul(Rational(p, q), _closed(a), evaluate=False)


def power(base: Any, exponent: Any) -> Any:
    """Unevaluated power."""
    return Pow(_closed(base), _closed(exponent), evaluate=False)


def integer_power(a: Any, n: int) -> Any:
    """Unevaluated power with this exponent."""
    return power(a, Integer(n))


def absolute(a: Any) -> Any:
    """Unevaluated absolute value."""
    return sympy.Abs(_closed(a), evaluate=False)


def minimum(a: Any, b: Any) -> Any:
    """Unevaluated minimum."""
    return sympy.Min(_closed(a), _closed(b), evaluate=False)


def maximum(a: Any, b: Any) -> Any:
    """Unevaluated maximum."""
    return sympy.Max(_closed(a), _closed(b), evaluate=False)


def root(a: Any, n: int) -> Any:
    """Real root, where n is odd as sign(u)*Abs(u)**(1/n)."""
    if n % 2 == 0:
        return power(a, Rational(1, n))
    inner = _closed(a)
    return Mul(sympy.sign(inner, evaluate=False), power(absolute(inner), Rational(1, n)), evaluate=False)


def _applied(token: str, operands: list[Any], principal_roots: bool) -> Any:
    """An operator over terms."""
    if principal_roots and OPERATORS[token].literal in _ODD_ROOTS and token.startswith("pow1_"):
        return power(operands[0], Rational(1, OPERATORS[token].literal))
    name, *more = FORMS[token].exact
    if name in globals():
        return globals()[name](*operands, *more)
    return getattr(sympy, name)(*map(_closed, operands), evaluate=False)


# Prefix of the operand, each exact with its domain. Not acot: it is atan(1/u), but at 0, where 1/u is undefined, pi/2.
_READ: dict[Any, list[str]] = {
    **{getattr(sympy, token): [token] for token, forms in FORMS.items() if forms.exact == (token,)},
    sympy.Abs: ["abs"],
    sympy.sec: ["inv", "cos"],
    sympy.csc: ["inv", "sin"],
    sympy.cot: ["tan", "-", "div2", "pi"],
    sympy.sech: ["inv", "cosh"],
    sympy.csch: ["inv", "sinh"],
    sympy.coth: ["inv", "tanh"],
    sympy.asec: ["acos", "inv"],
    sympy.acsc: ["asin", "inv"],
    sympy.asech: ["acosh", "inv"],
    sympy.acsch: ["asinh", "inv"],
    sympy.acoth: ["atanh", "inv"],
}
_POSITIVE_POWERS = {Integer(k): f"pow{k}" for k in range(2, 6)} | {Rational(1, k): f"pow1_{k}" for k in (2, 4)}
_POWERS = {
    **{exponent: [token] for exponent, token in _POSITIVE_POWERS.items()},
    **{-exponent: ["inv", token] for exponent, token in _POSITIVE_POWERS.items()},
    S.NegativeOne: ["inv"],
}
_REMEDIES: dict[Any, str] = {
    sympy.sign: "write sign(u)*Abs(u)**(1/3) for a real cube root, u/Abs(u) for a sign that is undefined at 0",
    sympy.Piecewise: "convert each branch by itself",
    sympy.Derivative: "call .doit() first",
    sympy.Integral: "call .doit() first",
}


def from_sympy(expression: sympy.Basic, principal_roots: bool = False) -> list[str]:
    """Prefix tokens of a SymPy expression with the same values and domain over the reals.

    Parameters
    ----------
    expression : sympy.Basic
        Symbols become variables of the same name, a `FreeConstant` becomes ``<constant>``.
    principal_roots : bool
        Read powers of thirds and fifths as powers of ``pow1_3`` and ``pow1_5``, which have values below zero too.

    Returns
    -------
    list of str

    Raises
    ------
    ConversionError
        For what has no exact counterpart; the message names it.
    """
    if not isinstance(expression, sympy.Basic):
        got = type(expression).__name__
        raise ConversionError(f"from_sympy needs a SymPy expression, got {got}; simplipy.parse reads text and tokens")
    try:
        return _read(expression, principal_roots)
    except RecursionError as error:  # SymPy compares operands recursively
        raise ConversionError("the SymPy expression is too deep for SymPy to compare; simplify it first") from error


def _read(expression: Any, principal_roots: bool) -> list[str]:
    """Tokens of an expression; an explicit stack holds what is still to be read."""
    tokens: list[str] = []
    reader = _Reader(expression, principal_roots)
    pending: list[Any] = [expression]
    while pending:
        item = pending.pop()
        if not isinstance(item, str):
            pending.extend(reversed(reader.expanded(item)))
            continue
        tokens.append(item)
        if len(tokens) > _MAX_TOKENS:
            raise ConversionError(f"the SymPy expression has more than {_MAX_TOKENS} tokens; simplify it first")
    return tokens


class _Reader:
    """Takes SymPy nodes apart; remembers the symbols it has met."""

    def __init__(self, root: Any, principal_roots: bool) -> None:
        self._principal_roots = principal_roots
        self._constants: set[Any] = set()
        self._symbols: dict[str, Any] = {}
        # the order of free constants is their identity; without any, terms move so that differences and quotients show
        self._may_sort = not _has_constants(root)

    def expanded(self, item: Any) -> list[Any]:
        """Tokens and operands of one node in prefix order."""
        match item:
            case Add():
                return self._sum(item.args)
            case Mul():
                return self._product(item.args)
            case Pow():
                return self._power(item.base, item.exp)
            case ("root", n, radicand):
                return [f"pow1_{n}", radicand]
            case Symbol():
                return [self._symbol(item)]
            case Float():
                return [_spelled(_shortest(item))]
            case Integer():
                value = int(item)
                if abs(value) >= 10**309 or len(str(abs(value)).rstrip("0")) > 17:
                    raise ConversionError("an integer of more than 17 digits has no token; round it with .evalf()")
                return [_spelled(Decimal(value))]
            case Rational():
                short = _short_decimal(item)
                return [short] if short else self._product((Integer(item.p), Rational(1, item.q)))
            case sympy.Max() | sympy.Min() if item.args:
                token = "max" if isinstance(item, sympy.Max) else "min"
                # SymPy puts operands in an order of its own
                return [*[token] * (len(item.args) - 1), *sorted(item.args, key=_first_constant)]
            case sympy.log() if len(item.args) == 2:
                return ["/", "log", item.args[0], "log", item.args[1]]
        if not item.args and item in _TOKENS:
            return [_TOKENS[item]]
        if item.func in _READ and len(item.args) == 1:
            return [*_READ[item.func], item.args[0]]
        raise _refusal(item)

    def _symbol(self, symbol: Any) -> str:
        """Token of a symbol."""
        if isinstance(symbol, FreeConstant):
            if symbol in self._constants:
                raise ConversionError(
                    f"free constant {symbol.name} occurs more than once, and each <constant> is a number of its own; "
                    "substitute a number, or a symbol to make it a variable"
                )
            self._constants.add(symbol)
            return CONSTANT
        if symbol.is_real is False or not symbol.is_commutative:
            raise ConversionError(f"symbol {symbol.name!r} is not a real number; expressions are real")
        if self._symbols.setdefault(symbol.name, symbol) != symbol:
            raise ConversionError(f"two different symbols are named {symbol.name!r}; rename one of them")
        return variable_token(symbol.name)

    def _power(self, base: Any, exponent: Any) -> list[Any]:
        """Prefix of a power."""
        if base is S.Exp1:
            return ["exp", exponent]
        if isinstance(exponent, Rational):
            if exponent in _POWERS:
                return [*_POWERS[exponent], base]
            if self._principal_roots and exponent.q in _ODD_ROOTS:
                root = [f"pow1_{exponent.q}", base]
                whole = Integer(exponent.p)
                return root if whole == 1 else [*_POWERS[whole], *root] if whole in _POWERS else ["pow", *root, whole]
        # also for 1/3 unless roots are read: as in SymPy, and unlike pow1_3, it has no real value below zero
        return ["pow", base, exponent]

    def _sum(self, terms: Sequence[Any]) -> list[Any]:
        """Prefix of a sum from left to right, with differences where a term has a minus sign."""
        steps = [(term, _negated(term)) for term in terms]
        if self._may_sort:
            # the first term that is added leads: y - x rather than -x + y
            lead = next((i for i, (_, negated) in enumerate(steps) if negated is None), 0)
            steps.insert(0, steps.pop(lead))
        head, *rest = steps
        signs = ["+" if negated is None else "-" for _, negated in reversed(rest)]
        return [*signs, head[0], *(term if negated is None else negated for term, negated in rest)]

    def _product(self, factors: Sequence[Any]) -> list[Any]:
        """Prefix of a product, with quotients where a factor is a negative power or a fraction."""
        steps: list[tuple[str, Any]] = []
        divisors: list[tuple[str, Any]] = []
        negative = factors[0] is S.NegativeOne and len(factors) > 1
        for factor in _with_odd_roots(factors[negative:]):
            if not isinstance(factor, Rational) or factor.q == 1 or (abs(factor.p) > 1 and _short_decimal(factor)):
                steps.append(_quotient_step(factor))
                continue
            divisors.append(("/", Integer(factor.q)))
            if factor.p == -1:
                negative = not negative
            elif factor.p != 1:
                steps.append(("*", Integer(factor.p)))
        if self._may_sort:
            steps.sort(key=lambda step: step[0] == "/")
        return _folded([*steps, *divisors], negative)


def _folded(steps: list[tuple[str, Any]], negative: bool) -> list[Any]:
    """Prefix of a product from left to right; literals 2 to 5 fuse with their operator as in infix text."""
    if steps[0][0] == "/":
        steps.insert(0, ("*", S.NegativeOne if negative else S.One))
        negative = False
    (_, head), *rest = steps
    operators: list[str] = []
    if rest and rest[0][0] == "*" and _digit(head):
        operators.append(f"mult{head}")
        head = rest.pop(0)[1]
    elif rest and rest[0][0] == "/" and head is S.One and not _digit(rest[0][1]):
        operators.append("inv")
        head = rest.pop(0)[1]
    operators += ["neg"] if negative else []
    operands = [head]
    for operator, operand in rest:
        if operator == "/" and _digit(operand):
            operators.append(f"div{operand}")
        else:
            operators.append(operator)
            operands.append(operand)
    return [*reversed(operators), *operands]


def _digit(item: Any) -> bool:
    """Whether a literal is one of those that operators hold."""
    return isinstance(item, Integer) and 2 <= int(item) <= 5


def _quotient_step(factor: Any) -> tuple[str, Any]:
    """A factor, or the divisor that a negative power stands for."""
    if isinstance(factor, Pow) and isinstance(factor.exp, Rational) and factor.exp.p < 0 and factor.base is not S.Exp1:
        return "/", (factor.base if factor.exp is S.NegativeOne else Pow(factor.base, -factor.exp, evaluate=False))
    return "*", factor


def _negated(term: Any) -> Any:
    """The term without its minus sign, None when it has none."""
    if isinstance(term, Rational | Float) and term < 0:
        return -term
    if isinstance(term, Mul) and isinstance(term.args[0], Rational | Float) and term.args[0] < 0:
        first, *others = term.args
        if first is not S.NegativeOne:
            others.insert(0, -first)
        return Mul(*others, evaluate=False) if len(others) > 1 else others[0]
    return None


def _with_odd_roots(factors: Sequence[Any]) -> list[Any]:
    """Factors with each pair sign(u), Abs(u)**(1/n) for n = 3 or 5 read as a root."""
    read = list(factors)
    for place, sign in enumerate(factors):
        if not isinstance(sign, sympy.sign):
            continue
        for i, factor in enumerate(read):
            if not isinstance(factor, Pow) or not isinstance(factor.base, sympy.Abs):
                continue
            if factor.exp in [Rational(1, n) for n in _ODD_ROOTS] and factor.base.args[0] == sign.args[0]:
                read[i] = ("root", factor.exp.q, sign.args[0])
                read[place] = None
                break
    return [factor for factor in read if factor is not None]


def _short_decimal(value: Any) -> str | None:
    """Token of a rational number that is a decimal of at most 6 digits."""
    decimal = (Decimal(int(value.p)) / Decimal(int(value.q))).normalize()
    exact = Fraction(decimal) == Fraction(int(value.p), int(value.q))
    return _spelled(decimal) if exact and len(decimal.as_tuple().digits) <= 6 else None


def _shortest(value: Any) -> Decimal:
    """Shortest decimal that reads back as the Float; at most 17 digits, to which longer ones are rounded."""
    if value._prec <= 53 and sys.float_info.min < abs(float(value)) < float("inf"):
        return Decimal(repr(float(value)))
    decimal = Decimal(0)
    for n_digits in range(1, 18):
        text = mpmath.libmp.to_str(value._mpf_, n_digits)
        decimal = Decimal(text)
        if Float(text, precision=value._prec)._mpf_ == value._mpf_:
            break
    return decimal


def _spelled(number: Decimal) -> str:
    """Token of a decimal, as the parser writes it."""
    try:
        return parse([str(number)]).tokens[0]
    except ParseError as error:
        raise ConversionError(str(error)) from error


def _has_constants(root: Any) -> bool:
    """Whether a free constant occurs; visits shared nodes once."""
    seen = {id(root)}
    pending = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, FreeConstant):
            return True
        fresh = [operand for operand in item.args if id(operand) not in seen]
        seen.update(map(id, fresh))
        pending.extend(fresh)
    return False


def _first_constant(item: Any) -> int:
    """Place of the first free constant among all of them, 0 without one."""
    return min((constant.dummy_index for constant in item.atoms(FreeConstant)), default=0)


def _refusal(item: Any) -> ConversionError:
    """Error for a node that has no counterpart."""
    if item is S.ImaginaryUnit:
        return ConversionError("the SymPy expression has complex numbers (I); expressions are real")
    name, n_operands = item.func.__name__, len(item.args)
    default = "replace it by a symbol or a number, or rewrite it in terms of simplipy.OPERATORS"
    remedy = _REMEDIES.get(item.func, default)
    return ConversionError(f"SymPy's {name} with {n_operands} operands has no exact counterpart; {remedy}")

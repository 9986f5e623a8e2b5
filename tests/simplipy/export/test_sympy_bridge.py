"""SymPy both ways: equal values and domain, nothing evaluated on the way, clear refusals."""

from __future__ import annotations

import sys

import pytest
import sympy
from hypothesis import assume, given
from sympy import Abs, Rational, S, sign

import simplipy
from simplipy.errors import ConversionError
from simplipy.export.sympy_bridge import FreeConstant, from_sympy, to_sympy
from tests.oracle import MP, Near, Status, evaluate
from tests.strategies import EVERY_OPERATOR, X_TOKENS, examples, points, token_lists

x, y, z = sympy.symbols("x y z", real=True)


def there_and_back(text):
    return simplipy.from_sympy(simplipy.parse(text).to_sympy())


def meaning(s, point):
    """Value of a SymPy tree, node by node: lambdify writes x/(1/2) as x/1/2, and evalf gives 0 for 0**(1 - 1)."""
    if s.is_Symbol:
        return MP.mpf(point[s.name])
    if s.is_Rational:
        return MP.mpf(s.p) / s.q
    if s.is_Float or s in (S.Pi, S.Exp1):
        return MP.mpf(s._to_mpmath(130))
    operands = [meaning(operand, point) for operand in s.args]
    own = {
        "Add": lambda *terms: MP.fsum(terms),
        "Mul": lambda *factors: MP.fprod(factors),
        "Pow": lambda base, exponent: MP.power(base, exponent).real,
        "Abs": abs,
        "Max": max,
        "Min": min,
    }
    name = s.func.__name__
    return own[name](*operands) if name in own else getattr(MP, name)(*operands)


@examples(200)
@given(token_lists(8, names=False, operators=EVERY_OPERATOR), points(8, 1))
def test_both_ways_keep_values_domain_and_the_order_of_constants(tokens, rows):
    env = dict(zip(X_TOKENS, rows[0], strict=False))
    constants = [rows[0][-1] + k for k in range(tokens.count("<constant>"))]
    back = from_sympy(to_sympy(tokens))
    assert simplipy.parse(back).tokens == back
    before, after = evaluate(tokens, env, constants), evaluate(back, env, constants)
    if isinstance(before, Near) and isinstance(after, Near):
        assert abs(before.value - after.value) <= before.bound + after.bound
    elif Status.UNDECIDED not in (before, after):
        assert before == after


@examples(80)
@given(token_lists(6, names=False, constants=False, operators=EVERY_OPERATOR), points(5, 1))
def test_sympy_has_the_same_values(tokens, rows):
    env = dict(zip(X_TOKENS, rows[0], strict=True))
    expected = evaluate(tokens, env)
    if isinstance(expected, Near):
        rounding = MP.mpf("1e-120") * abs(expected.value)  # of the 500 bits themselves
        assert abs(meaning(to_sympy(tokens), env) - expected.value) <= expected.bound + rounding


@pytest.mark.parametrize(
    "text",
    [
        "x1/x1",
        "x1 - x1",
        "exp(log(x1))",
        "sqrt(x1)^2",
        "<constant>*sin(<constant>*x1) - x2^2",
        "cbrt(x1 - 3) + pow1_5(cbrt(x2))",
        "cbrt(x1)^2/cbrt(x2)",
        "x1*cbrt(x2)*x3",
        "-x1*x2",
        "3*x1/2",
        "2*(3*x1)",
        "x1 - (x2 - (3 - x1))",
        "(x1 + x2)/(x1 - x2)",
        "pow1_4(x1)/x2^2",
        "x1^x2",
        "x1^(1/3)",
        "0.1 + 0.2",
        "1e-7*x1",
        "1e300*x1 + 5e-324",
        "0.12345678901234567*x1",
        "1.2345678901234567e16 + x1",
        "--x1",
        "x1^1",
        "inf + nan*-inf",
        "`a b%` + `e`*e + `sin`",
        "asinh(acosh(atanh(sinh(cosh(tanh(x1))))))",
    ],
)
def test_token_for_token(text):
    expression = simplipy.parse(text)
    assert there_and_back(text) == expression


def test_nothing_is_evaluated():
    assert str(simplipy.parse("x1/x1").to_sympy()) == "x1/x1"
    assert simplipy.parse("0*x1").to_sympy() != 0
    assert simplipy.parse("sin(0)").to_sympy() == sympy.sin(0, evaluate=False)


def test_symbols_and_constants():
    s = simplipy.parse("<constant>*x1 + <constant>").to_sympy()
    constants = sorted(s.atoms(FreeConstant), key=str)
    assert [str(c) for c in constants] == ["c1", "c2"]
    assert all(symbol.is_real for symbol in s.free_symbols)
    assert sympy.Symbol("x1", real=True) in s.free_symbols
    assert FreeConstant("c1", real=True) != FreeConstant("c1", real=True)
    assert str(s) == "c1*x1 + c2"


def test_numbers():
    assert isinstance(to_sympy(["2"]), sympy.Integer)
    assert isinstance(to_sympy(["1e20"]), sympy.Integer)
    assert isinstance(to_sympy(["0.1"]), sympy.Float)
    assert to_sympy(["0.1"])._prec == 53
    for token in ("0.1", "-2.5e-9", "0.30000000000000004", "0.10000000000000001", "1.7976931348623157e308", "-3"):
        assert from_sympy(to_sympy([token])) == [token]


@pytest.mark.parametrize(
    ("expression", "infix"),
    [
        (x - y, "x - y"),
        (1 - x, "1 - x"),
        (sympy.exp(x) - x, "exp(x) - x"),
        (-x * y / 3, "-x*y/3"),
        (y / x, "y/x"),
        ((x + 1) / (y * z), "(1 + x)/y/z"),
        (3 * x / 2, "1.5*x"),
        (2 * x / 3, "2*x/3"),
        (x + Rational(1, 3), "1/3 + x"),
        (Rational(22, 7) * x, "22*x/7"),
        (Rational(7, 8) + x, "0.875 + x"),
        (x**2 - 2 * x, "x^2 - 2*x"),
        (x**-3, "1/x^3"),
        (x ** Rational(-1, 2), "1/sqrt(x)"),
        (x ** Rational(1, 4), "pow1_4(x)"),
        (x ** Rational(1, 3), "x^(1/3)"),
        (x**6, "x^6"),
        (sympy.E**x, "exp(x)"),
        (sympy.Pow(sympy.E, x, evaluate=False), "exp(x)"),
        (sympy.sqrt(2 * sympy.pi), "sqrt(2)*sqrt(pi)"),
        (sympy.log(x, 2), "log(x)/log(2)"),
        (sympy.log(x, y, evaluate=False), "log(x)/log(y)"),
        (sympy.sec(x), "1/cos(x)"),
        (sympy.cot(x), "tan(pi/2 - x)"),
        (sympy.asec(x), "acos(1/(x))"),
        (sympy.Min(x, y), "min(x, y)"),
        (sympy.Max(x, y, z), "max(max(x, y), z)"),
        (sympy.erf(x), "erf(x)"),
        (5 * sign(x) * Abs(x) ** Rational(1, 3), "5*cbrt(x)"),
        (sign(x) * Abs(x) ** Rational(1, 5) / y, "pow1_5(x)/y"),
        (S.Infinity * x, "inf*x"),
        (S.ComplexInfinity, "nan"),
        (S.NegativeInfinity, "-inf"),
        (sympy.Float("0.1", 30) * x, "0.1*x"),
        (sympy.Symbol("a b") + sympy.Symbol("sin"), "`a b` + `sin`"),
    ],
)
def test_evaluated_expressions(expression, infix):
    assert simplipy.from_sympy(expression) == simplipy.parse(infix)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sympy.I * x, "complex"),
        (sympy.Symbol("q", imaginary=True), "not a real number"),
        (sympy.gamma(x), "gamma with 1 operands"),
        (sympy.acot(x), "acot"),
        (sign(x), "sign .* u/Abs"),
        (sign(x) * Abs(y) ** Rational(1, 3), "sign"),
        (sympy.Piecewise((x, x > 0), (0, True)), "each branch"),
        (sympy.Function("f")(x), "SymPy's f"),
        (sympy.Integral(x**x, x), r"doit\(\)"),
        (sympy.EulerGamma + x, "EulerGamma"),
        (x > 0, "StrictGreaterThan"),
        (sympy.Symbol("x") + x, "two different symbols are named 'x'"),
        (S(2) ** 100, "more than 17 digits"),
        (S(10) ** 10_000, "more than 17 digits"),
        (sympy.Float("1e400") * x, "double range"),
        ("x + 1", "got str; simplipy.parse"),
        (3, "got int"),
    ],
)
def test_what_has_no_counterpart_is_refused(expression, message):
    with pytest.raises(ConversionError, match=message):
        simplipy.from_sympy(expression)


def test_a_shared_constant_is_refused():
    c = FreeConstant("c1", real=True)
    with pytest.raises(ConversionError, match="c1 occurs more than once"):
        from_sympy(c * x + c)


def test_long_sums_and_products_are_flat():
    names = [f"x{k}" for k in range(1, 5001)]
    for token in ("+", "*"):
        tokens = [token] * (len(names) - 1) + names
        assert len(to_sympy(tokens).args) == len(names)
        assert from_sympy(to_sympy(tokens)) == tokens


def test_deep_expressions():
    with pytest.raises(ConversionError, match="10001 levels deep"):
        to_sympy(["sin"] * 10_000 + ["x1"])
    deepest = sys.getrecursionlimit() // 10
    assert str(to_sympy(["sin"] * deepest + ["x1"])).count("sin") == deepest
    s = x
    for _ in range(10_000):
        s = sympy.sin(s, evaluate=False)
    assert len(from_sympy(s)) == 10_001


def test_nested_roots_stay_small():
    tokens = ["pow1_3"] * 30 + ["x1"]
    assert from_sympy(to_sympy(tokens)) == tokens


@examples(100)
@given(token_lists(8, names=False, operators=EVERY_OPERATOR))
def test_principal_roots_are_read_as_they_were_written(tokens):
    odd = [token for token in tokens if token in ("pow1_3", "pow1_5")]
    assume("e" not in tokens or not odd)  # SymPy has one form for the cube root of e and exp(1/3)
    written = to_sympy(tokens, principal_roots=True)
    read = from_sympy(written, principal_roots=True)
    assert sorted(token for token in read if token in ("pow1_3", "pow1_5")) == sorted(odd)
    assert not odd or from_sympy(written) != read


@pytest.mark.parametrize(
    ("expression", "prefix"),
    [
        (x ** Rational(1, 3), "pow1_3 x"),
        (x ** Rational(-1, 5), "inv pow1_5 x"),
        (x ** Rational(2, 3), "pow2 pow1_3 x"),
        (y * x ** Rational(-7, 5), "/ y pow pow1_5 x 7"),
        (x ** Rational(1, 6), "pow x inv 6"),
    ],
)
def test_powers_of_thirds_and_fifths_as_roots(expression, prefix):
    assert from_sympy(expression, principal_roots=True) == prefix.split()

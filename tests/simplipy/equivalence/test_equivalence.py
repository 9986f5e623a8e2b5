"""Equivalence: hand-made pairs with the traps that points, doubles and fits fall into."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simplipy
from simplipy.equivalence.probe_points import neighbours, probe_points
from simplipy.equivalence.verdict import Verdict, equivalent, sorted_form


def family(text: str) -> str:
    """Infix text with c for each free constant."""
    return re.sub(r"(?<![a-z])c(?![a-z0-9])", "<constant>", text)


def check_counterexample(verdict: Verdict, a: str, b: str) -> None:
    """The point given is one where values differ, or where only one is defined."""
    point = verdict.counterexample
    assert point is not None
    from simplipy.equivalence.multiprecision import UNDEFINED, compare, enclose

    x, y = (enclose(simplipy.parse(text).tokens, point, digits=120) for text in (a, b))
    assert (x is UNDEFINED) != (y is UNDEFINED) or compare(x, y, digits=120) == "different"


@pytest.mark.parametrize(
    ("a", "b", "domain"),
    [
        ("sqrt(x^2)", "abs(x)", "same"),
        ("sin(x)^2 + cos(x)^2", "1", "same"),
        ("cosh(x)^2 - sinh(x)^2", "1", "same"),
        ("exp(log(x))", "x", "b wider"),
        ("log(exp(x))", "x", "same"),
        ("log(x^2)", "2*log(x)", "a wider"),
        ("asin(x) - asin(x)", "0", "b wider"),
        ("x/x", "1", "same"),
        ("(x^2 - y^2)/(x - y)", "x + y", "same"),
        ("x + 0*y", "x", "same"),
        ("x + 0*log(y)", "x", "b wider"),
        ("x^(1/3)", "cbrt(x)", "b wider"),
        ("x^x", "exp(x*log(x))", "same"),
        ("tan(x)", "sin(x)/cos(x)", "same"),
        ("asinh(x)", "log(x + sqrt(x^2 + 1))", "same"),
        ("acosh(x)", "log(x + sqrt(x^2 - 1))", "same"),
        ("atanh(tanh(x))", "x", "same"),
        ("exp(x)/exp(x)", "1", "same"),
        ("sqrt(x)*sqrt(y)", "sqrt(x*y)", "b wider"),
        ("log(x)*0 + sqrt(1 - y)*0", "sqrt(x)*0", "b wider"),
        ("acos(x)*0 + 1", "acosh(x + 1)*0 + 1", "differs"),
        ("1e300*x*1e300/1e300", "1e300*x", "same"),
        ("0.1*x + 0.2*x", "0.3*x", "same"),
        ("sin(x + 2*pi)", "sin(x)", "same"),
        ("sqrt(-1 - x^2)", "log(-exp(x))", "same"),
        ("nan", "1/0", "same"),
    ],
)
def test_equal(a, b, domain):
    verdict = equivalent(a, b)
    assert verdict.equivalent
    assert verdict.counterexample is None
    assert verdict.domain == domain
    assert verdict.family == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("acos(cos(x))", "abs(x)"),
        ("asin(sin(x))", "x"),
        ("sqrt(x^2)", "x"),
        ("tanh(x^2 + 30)", "1"),
        ("tanh(x)", "x/abs(x)"),
        ("asin(x) - asin(x)", "1e-30"),
        ("1e-20*x", "0"),
        ("1 + 1e-20*x", "1"),
        ("1 + 1e-80*sin(x)", "1"),
        ("1e300*x", "1.0000000000000002e300*x"),
        ("1e300*x + x", "1e300*x"),
        ("0^(x^2)", "0"),
        ("atan(x) + atan(1/x)", "pi/2"),
        ("sin(x)", "sin(x + 6.283185307179586)"),
        ("sqrt(-1 - x^2)", "x"),
        ("log(x)", "log(-x)"),
        ("sqrt(x)", "sqrt(-x)"),
        ("x", "y"),
        ("pi", "3.141592653589793"),
        ("1.0000001*x", "x"),
    ],
)
def test_different(a, b):
    verdict = equivalent(a, b)
    assert not verdict.equivalent
    assert verdict.family == "differs"
    assert verdict.evidence == "numeric"
    check_counterexample(verdict, a, b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("1.0000001*x", "x", True),
        ("sin(6.2831853*x)", "sin(2*pi*x)", True),
        ("x^2.0000001 + 0.99999999", "x^2 + 1", True),
        ("exp(-0.5000000001*x^2)*3", "3*exp(-x^2/2)", True),
        ("x + 1e-3", "x", False),
        ("1.0001*x", "x", False),
        ("1e-20*x", "0", False),
        ("sin(x)", "x", False),
        # differences that a millionth of each number would excuse, as it would excuse anything
        ("x + sin(1e16*y)", "x*y", False),
        ("1 - cos(1e-7*x)", "5e-15*x^2", True),
        ("1 - cos(1e-7*x)", "7e-15*x^2", False),
        ("exp(1e-9*x) - 1", "1.5e-9*x", False),
    ],
)
def test_rtol(a, b, expected):
    assert equivalent(a, b, rtol=1e-6).equivalent is expected


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("x + sin(c)", "x + c", "b wider"),
        ("c*x + c", "c*(x + c)", "a wider"),  # c1 = 0 leaves any constant in a, only 0 in b
        ("c*x + c*x", "c*x", "same"),
        ("c*sin(x + c)", "c*sin(x) + c*cos(x)", "same"),
        ("sin(c*x + c)", "cos(c*x + c)", "same"),
        ("exp(x + c)", "c*exp(x)", "b wider"),
        ("exp(c*x)", "c^x", "b wider"),  # 0^x is no exponential
        ("c*x", "x/c", "a wider"),
        ("abs(c)*x", "c^2*x", "same"),
        ("log(abs(c)) + x", "x + c", "same"),
        ("log(c*x)", "log(x) + c", "a wider"),
        ("sqrt(c*x)", "c*sqrt(x)", "differs"),
        ("x", "c*x", "b wider"),
        ("c", "1", "a wider"),
        ("c", "sin(c)", "a wider"),
        ("c*x", "c*y", "differs"),
        ("c*x^2 + c*x + c", "c*(x + c)^2 + c", "a wider"),
        ("c*exp(-(x - c)^2/c)", "c*exp(c*x^2 + c*x)", "b wider"),
        ("c*x + 1e-60*x^2", "c*x", "differs"),
        # a power of a negative constant is defined where its exponent is a whole number
        ("c^(2*x)", "c^x", "differs"),  # (-3)^(2x) is -3 at 1/2, and (-3)^x is no square
        ("c^(4*x)", "c^x", "differs"),
        ("c^(x/2)", "c^x", "differs"),
        ("c^(3*x)", "c^x", "same"),  # (-2)^(3x) is (-8)^x where both are defined
        ("c^x*c^x", "c^x", "same"),
    ],
)
def test_families(a, b, relation):
    verdict = equivalent(family(a), family(b))
    assert verdict.family == relation
    assert verdict.equivalent is (relation == "same")
    assert (verdict.counterexample is None) is verdict.equivalent
    assert verdict.evidence == "numeric"


def test_the_witness_is_a_member_that_the_other_family_lacks():
    verdict = equivalent(family("x + sin(c)"), family("x + c"))
    assert list(verdict.counterexample) == ["<constant>1"]
    assert abs(verdict.counterexample["<constant>1"]) > 1


def test_family_domain():
    verdict = equivalent(family("x^c"), family("exp(c*log(x))"))
    assert verdict.equivalent
    assert verdict.domain == "a wider"  # integer exponents


def test_order_and_nesting_are_proved():
    a = "<constant>*x*y + (sin(x + y) + 1)"
    b = "1 + (y*(x*<constant>) + sin(y + x))"
    assert equivalent(a, b) == Verdict(True, None, "same", "same", "proved")
    assert equivalent("x", ["x"]).evidence == "proved"
    assert sorted_form(["-", "x", "y"]) != sorted_form(["-", "y", "x"])


def test_names_need_not_be_columns():
    assert equivalent("mass*velocity^2/2", "velocity*(velocity*mass)*0.5").equivalent
    verdict = equivalent("`odd name`*2", "`odd name`*3")
    assert list(verdict.counterexample) == ["odd name"]


def test_seeded():
    a, b = "asin(sin(x*y))", "x*y"
    assert equivalent(a, b, random_state=3) == equivalent(a, b, random_state=3)
    assert equivalent(a, b, random_state=3) != equivalent(a, b, random_state=4)


@pytest.mark.parametrize("rtol", [-1, 1, float("nan")])
def test_rtol_is_checked(rtol):
    with pytest.raises(ValueError, match="rtol must be"):
        equivalent("x", "y", rtol=rtol)


def test_deep_expressions():
    deep = ["sin"] * 3000 + ["x"]
    assert equivalent(deep, ["sin", "sin", *deep]).equivalent is False
    chain = ["+"] * 1500 + ["x"] * 1501
    assert equivalent(chain, ["*", "1501", "x"]).equivalent


@pytest.mark.parametrize(
    "text",
    [
        "x1/((c - x2)*(tanh(c)*x3 - sqrt(x1)))",
        "c/(x1 + x2/inv(x1/(sin(x3) - x1) + c*x1/c))",
        "x1 - atan(c)^((x2 - x3)/2)",
        "log(3*c/x1) - sqrt(x2)^c",
        "tan(x1/((c^5 + c*x2)*(x2/c)) + (c + log(x1))*c)",
    ],
)
def test_simplified_forms_contain_their_sources(text):
    source = simplipy.parse(family(text))
    result = simplipy.simplify(source)
    assert result != source
    assert equivalent(source, result).family in ("same", "b wider")


def test_points_cover_all_classes():
    rng = np.random.default_rng(0)
    points = probe_points(("x", "y"), 2000, rng)
    size = np.abs(points.values)
    for low, high in ((0, 1), (1, 3), (np.pi, 30), (1e-13, 1e-2), (1e2, 1e9)):
        for sign in (-1, 1):
            inside = (size > low) & (size < high) & (np.sign(points.values) == sign)
            assert inside.any(axis=0).all()
    for corner in (0, 1, -1, 2, -2):
        assert (points.values == corner).any(axis=0).all()
        assert points.corner[(points.values == corner).any(axis=1)].all()
    assert len(probe_points((), 50, rng)) == 1
    near = list(neighbours({"x": 0.0, "y": 1e20}, 3))
    assert all(0 < abs(p["x"]) < 1e-5 and p["y"].denominator > 1 and abs(p["y"] / 10**20 - 1) < 1e-5 for p in near)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("acos(cos(x)) + 1e14 - 1e14", "abs(x)"),
        ("x + abs(x - 3) + (x - 3) + 1e15 - 1e15", "x"),
        ("x + abs(x - 5e6) + (x - 5e6)", "x"),
        ("x + abs(x - 1e9) + (x - 1e9)", "x"),
    ],
)
def test_a_difference_does_not_hide_behind_rounding_or_far_out(a: str, b: str) -> None:
    verdict = simplipy.equivalent(a, b)
    assert not verdict.equivalent
    assert verdict.counterexample is not None


def test_a_domain_that_ends_far_out() -> None:
    assert simplipy.equivalent("x + sqrt(1e9 - abs(x)) - sqrt(1e9 - abs(x))", "x").domain == "b wider"
    assert simplipy.equivalent("(x - abs(x))/(x - abs(x))", "1").domain == "b wider"

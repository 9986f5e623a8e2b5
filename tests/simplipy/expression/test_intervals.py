"""Enclosures: what they claim holds at every point that is tried, and of usual laws they claim enough."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from simplipy import OPERATORS, Enclosure, enclose_many, enclosure, parse
from simplipy.errors import EvaluationError
from simplipy.expression.intervals import enclose_between, on_boxes
from tests import oracle
from tests.columns import ALL_NAMES, environment
from tests.strategies import EVERY_OPERATOR, coordinates, examples, expressions

INF = math.inf
LARGEST = float(np.finfo(np.float64).max)
every_operator = pytest.mark.parametrize("token", EVERY_OPERATOR)


@st.composite
def boxes(draw: st.DrawFn) -> dict[str, tuple[float, float]]:
    """A range for every variable: a point, a narrow one, or one over some borders of domains."""
    lows = draw(st.lists(coordinates(), min_size=len(ALL_NAMES), max_size=len(ALL_NAMES)))
    widths = st.sampled_from((0.0, 1e-9, 0.1, 0.5, 1.0, 3.0, 40.0, 1000.0))
    return {name: (low, low + draw(widths)) for name, low in zip(ALL_NAMES, lows, strict=True)}


def rows_inside(ranges: dict[str, tuple[float, float]], rng: np.random.Generator, n: int) -> np.ndarray:
    """Corners and points of a box, (n, n_names)."""
    low, high = np.array(list(ranges.values())).T
    share = rng.choice([0.0, 0.5, 1.0, rng.random()], (n, len(ranges)))
    return np.clip(low + share * (high - low), low, high)


def bound(rows: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(ALL_NAMES, rows.T, strict=True))


@examples(300)
@given(expressions(8, constants=False, operators=EVERY_OPERATOR, specials=True), boxes(), st.integers(0, 10**6))
def test_bounds_hold_real_values_and_doubles(
    e: simplipy.Expression, ranges: dict[str, tuple[float, float]], seed: int
) -> None:
    found = on_boxes(e, {name: (np.array([low]), np.array([high])) for name, (low, high) in ranges.items()}, 1)
    low, high, whole, nowhere = (part[0] for part in found)
    assert not (whole and nowhere)
    rows = rows_inside(ranges, np.random.default_rng(seed), 8)
    values, defined = simplipy.evaluate_many([e], bound(rows))
    for row, value, is_defined in zip(rows, values[0], defined[0], strict=True):
        exact = oracle.evaluate(e.tokens, environment(row.tolist()))
        if is_defined:
            assert low <= value <= high
            assert not nowhere
        assert is_defined or not whole
        if isinstance(exact, oracle.Near):
            assert low <= exact.value <= high
            assert not nowhere
        assert exact is not oracle.Status.UNDEFINED or not whole


@examples(200)
@given(expressions(8, constants=False, operators=EVERY_OPERATOR), boxes(), st.integers(0, 10**6))
def test_proofs_hold(e: simplipy.Expression, ranges: dict[str, tuple[float, float]], seed: int) -> None:
    found = enclosure(e, ranges, max_boxes=200)
    values, defined = simplipy.evaluate_many([e], bound(rows_inside(ranges, np.random.default_rng(seed), 64)))
    assert (values[defined] >= found.low).all()
    assert (values[defined] <= found.high).all()
    if found.status == "proved":
        assert np.isfinite(values).all()
        assert (found.point, found.failure) == (None, "")
    if found.status == "disproved":
        assert found.point is not None
        assert all(ranges[name][0] <= value <= ranges[name][1] for name, value in found.point.items())
        value = e({**{name: [0.0] for name in ALL_NAMES}, **{k: [v] for k, v in found.point.items()}})[0]
        if found.failure == "undefined":
            assert math.isnan(value)
        elif found.failure == "overflow":
            assert abs(value) >= LARGEST
        else:
            assert found.failure == "pole"
    if found.status == "unknown":
        assert found.point is None


@every_operator
def test_one_operator_is_enclosed_tightly(token: str) -> None:
    """Definedness exactly, and bounds as close as values at points can tell."""
    e = parse([token, *("x1", "x2")[: OPERATORS[token].arity]])
    rng = np.random.default_rng(0)
    ends = rng.choice([-6.5, -2.0, -1.0, -0.7, 0.0, 0.3, 1.0, 1.2, 2.0, 3.0, 7.5], (60, 2, 2))
    n_whole = 0
    for low, high in zip(ends.min(axis=2), ends.max(axis=2), strict=True):
        box = {name: (low[k : k + 1], high[k : k + 1]) for k, name in enumerate(e.variables)}
        bounds = on_boxes(e, box, 1)
        shares = np.linspace(0, 1, 401 if OPERATORS[token].arity == 1 else 41)
        mesh = np.array(np.meshgrid(shares, shares if OPERATORS[token].arity == 2 else [0.0])).reshape(2, -1).T
        values, defined = simplipy.evaluate_many([e], np.clip(low + mesh * (high - low), low, high))
        if token not in ("tan", "inv", "/", "pow"):  # poles lie between points
            assert bounds.whole[0] == defined.all()
            assert bounds.nowhere[0] == (not defined.any())
        if bounds.whole[0]:
            n_whole += 1
            least, greatest = float(values.min()), float(values.max())
            room = 0.02 * max(1.0, greatest - least)
            assert least - room <= bounds.low[0] <= least
            assert greatest <= bounds.high[0] <= greatest + room
    assert n_whole >= 3


@pytest.mark.parametrize(
    ("text", "low", "high", "whole", "nowhere"),
    [
        ("log(a)", 0.5, 1.0, True, False),
        ("log(a)", -1.0, 1.0, False, False),
        ("log(a)", -1.0, -0.5, False, True),
        ("sqrt(1 - a^2)", -0.9, 0.9, True, False),
        ("acosh(cos(a)/2)", 0.0, 9.0, False, True),
        ("tan(a)", 1.0, 1.5, True, False),
        ("tan(a)", 1.5, 1.6, False, False),
        ("1/(a - a)", 1.0, 2.0, False, False),  # intervals do not see that both are the same
        ("nan + a", 1.0, 2.0, False, True),
        ("<constant>*a", 0.0, 0.0, False, False),  # any number, and in doubles perhaps inf*0
        ("exp(a) - exp(a)", 0.0, 800.0, False, False),  # inf - inf
    ],
)
def test_what_is_known_about_a_box(text: str, low: float, high: float, whole: bool, nowhere: bool) -> None:
    found = on_boxes(parse(text), {"a": (np.array([low]), np.array([high]))}, 1)
    assert (bool(found.whole[0]), bool(found.nowhere[0])) == (whole, nowhere)


LAWS = [
    ("2.5*x1/(0.3 + x1)", {"x1": (0.0, 100.0)}),  # Michaelis and Menten
    ("8.1e9*exp(-75000/(8.314*x1))", {"x1": (250.0, 900.0)}),  # Arrhenius
    ("exp(-(x1 - 0.3)^2/(2*1.7^2))/(1.7*sqrt(2*pi))", {"x1": (-20.0, 20.0)}),  # Gaussian
    ("12/(1 + 50*exp(-0.8*x1))", {"x1": (-1000.0, 1000.0)}),  # logistic
    ("1/(1 + exp(-x1))", {"x1": (-1000.0, 1000.0)}),
    ("x1*8.314*x2/x3", {"x1": (0.1, 10.0), "x2": (200.0, 400.0), "x3": (0.001, 1.0)}),  # ideal gas
    ("sqrt(1 - x1^2/299792458^2)", {"x1": (0.0, 2.9e8)}),
    ("asin(x1/x2)", {"x1": (-1.0, 1.0), "x2": (1.0, 9.0)}),  # up to the border of the domain
    ("sqrt(log(x1))", {"x1": (1.0, 5.0)}),
    ("sqrt(x1^2 - x2^2)", {"x1": (3.0, 4.0), "x2": (-3.0, 2.0)}),
    ("x1^3/(exp(x1) - 1)", {"x1": (0.01, 2000.0)}),  # Planck; exp overflows, and the law does not
    ("1/(x1^2 - 2*x1 + 1.1)", {"x1": (-9.0, 9.0)}),  # by cutting the box
    ("x1^x2", {"x1": (0.0, 3.0), "x2": (0.0, 2.0)}),
    ("(-2)^x1 + 1", {"x1": (3.0, 3.0)}),
    ("tan(x1)", {"x1": (-1.57, 1.57)}),
    ("tanh(x1)", {"x1": (-INF, INF)}),
]


@pytest.mark.parametrize(("text", "ranges"), LAWS)
def test_usual_laws_are_proved(text: str, ranges: dict[str, tuple[float, float]]) -> None:
    found = enclosure(text, ranges)
    assert found.status == "proved"
    assert -INF < found.low <= found.high < INF


FAILURES = [
    ("1/(x1 - x2)", {"x1": (0.0, 2.0), "x2": (1.0, 3.0)}, "pole"),
    ("1/(x1 - 3.2)^2", {"x1": (1.0, 7.0)}, "pole"),  # no change of sign
    ("1/(x2*abs(x1 - 3.2))", {"x1": (1.0, 7.0), "x2": (1.0, 2.0)}, "pole"),
    ("x1^-2", {"x1": (-1.0, 2.3)}, "pole"),
    ("log(x1^2)", {"x1": (-1.0, 2.3)}, "pole"),
    ("atan(1/log(x1))", {"x1": (0.5, 2.5)}, "pole"),
    ("tan(x1)", {"x1": (1.0, 2.0)}, "pole"),
    ("log(x1 - 1)", {"x1": (0.5, 2.0)}, "undefined"),
    ("sqrt(0.01 - (x1 - 3)^2 - (x2 - 3)^2)", {"x1": (0.0, 9.0), "x2": (0.0, 9.0)}, "undefined"),
    ("sqrt((x1 - 3.1)^2 + (x2 - 3.2)^2 - 0.001)", {"x1": (0.0, 9.0), "x2": (0.0, 9.0)}, "undefined"),
    ("asin(x1)", {"x1": (-1.0, 1.0001)}, "undefined"),
    ("x1^0.5", {"x1": (-1.0, 1.0)}, "undefined"),
    ("exp(x1^2)", {"x1": (0.0, 30.0)}, "overflow"),
    ("x1 + 1/0", {"x1": (0.0, 30.0)}, "undefined"),
]


@pytest.mark.parametrize(("text", "ranges", "failure"), FAILURES)
def test_failures_are_found(text: str, ranges: dict[str, tuple[float, float]], failure: str) -> None:
    found = enclosure(text, ranges)
    assert (found.status, found.failure) == ("disproved", failure)
    assert found.point is not None
    near = {name: [value - k * 1e-9, value + k * 1e-9] for k, (name, value) in enumerate(found.point.items(), start=1)}
    if failure == "pole":  # the whole formula may stay small: atan(1/0)
        steep = max(float(np.abs(part(near)).max()) for part in parse(text).subtrees() if part.variables)
        assert steep > 1e6 or text.startswith("log")
    else:
        assert not np.isfinite(parse(text)({name: [value] for name, value in found.point.items()})[0])


def test_the_place_of_a_pole() -> None:
    found = enclosure("2/(x1 - 3.2)", {"x1": (1.0, 7.0)})
    assert found.point == pytest.approx({"x1": 3.2}, rel=1e-15)


def test_a_limit_that_comes_first() -> None:
    law = "1/(x1^2 - 2*x1 + 1.01)"
    found = enclosure(law, {"x1": (-9.0, 9.0)}, max_boxes=3)
    assert (found.status, found.point, found.high) == ("unknown", None, INF)
    assert enclosure(law, {"x1": (-9.0, 9.0)}).status == "proved"


def test_the_tightest_bounds_are_exact() -> None:
    """Arithmetic that makes no rounding error stays as it is, so that borders of domains count as inside."""
    found = enclosure("3*x1 - 0.5", {"x1": (0.25, 2.0)})
    assert (found.low, found.high) == (0.25, 5.5)
    tenth = enclosure("0.1", {})
    assert tenth.low < 0.1 < tenth.high  # the decimal is no double
    assert tenth.high - tenth.low < 1e-16


def test_values_within_a_range() -> None:
    ranges = {"x1": (0.0, 5.0)}
    assert enclosure("x1/(1 + x1)", ranges, within=(0.0, 1.0)).status == "proved"
    found = enclosure("x1/(1 + x1)", ranges, within=(0.0, 0.5))
    assert (found.status, found.failure) == ("disproved", "outside")
    assert found.point is not None
    assert found.point["x1"] > 1
    rising = parse("x1^3 + 3*x1^2 + 4*x1").diff("x1")
    assert enclosure(rising, {"x1": (-5.0, 5.0)}, within=(0.0, INF)).status == "proved"
    assert enclosure(rising, {"x1": (-5.0, 5.0)}, within=(1.5, INF)).failure == "outside"


def test_arrays_and_names_bind_as_data_does() -> None:
    by_name = enclosure("mass*speed^2", {"speed": (0.0, 3.0), "unused": (1.0, 2.0), "mass": (1.0, 2.0)})
    by_number = enclosure("x3*x1^2", [[0.0, 3.0], [1.0, 2.0], [1.0, 2.0]])
    assert by_name == by_number == Enclosure("proved", 0.0, 18.0)


def test_many_at_once_are_the_same_on_any_number_of_threads() -> None:
    expressions = [parse(text) for text, ranges in LAWS if list(ranges) == ["x1"]]
    ranges = {"x1": (0.5, 3.0)}
    alone = [enclosure(e, ranges) for e in expressions]
    assert enclose_many(expressions, ranges, n_threads=3) == enclose_many(expressions, ranges, n_threads=1) == alone
    assert {found.status for found in alone} == {"proved", "disproved"}


def test_lines_between_points() -> None:
    starts, ends = np.array([[2.0, 1.0], [5.0, 2.0]]), np.array([[4.0, 3.0], [5.0, 4.5]])
    expressions = [parse(text) for text in ("1/(x1 - x2)", "1/(x1 - x2 - 0.25)", "1/(x1 - x2 - 1.7)", "log(3.6 - x2)")]
    apart, near_zero, across, undefined = enclose_between(expressions, starts, ends)
    # x1 > x2 on both lines, though not in the box around them
    assert enclosure(expressions[0], np.stack([starts.min(axis=0), ends.max(axis=0)], axis=1)).status == "disproved"
    assert apart.status == near_zero.status == "proved"
    assert (apart.low, apart.high) == (pytest.approx(1 / 3), pytest.approx(2, rel=0.2))
    assert (across.status, across.failure) == ("disproved", "pole")
    assert across.point == pytest.approx({"x1": 5.0, "x2": 3.3}, rel=1e-12)
    assert (undefined.status, undefined.failure) == ("disproved", "undefined")
    assert undefined.point is not None
    assert undefined.point["x2"] > 3.6
    assert (undefined.low, undefined.high) == (-INF, INF)


def test_a_limit_for_all_lines_together() -> None:
    starts = np.linspace(1, 2, 50)[:, None]
    (found,) = enclose_between([parse("1/(x1^2 - 3*x1 + 2.2501)")], starts[:-1], starts[1:], max_boxes=10)
    assert found.status == "unknown"
    (found,) = enclose_between([parse("1/(x1^2 - 3*x1 + 2.2501)")], starts[:-1], starts[1:], max_boxes=20_000)
    assert found.status == "proved"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: enclosure("<constant>*x1", {"x1": (0, 1)}), "free constants; give them values"),
        (lambda: enclosure("x1*x2", {"x1": (0, 1)}), "no column for variable 'x2'"),
        (lambda: enclosure("x1*x2", [[0, 1]]), "needs column 2"),
        (lambda: enclosure("x1", {"x1": (1, 0)}), r"range of 'x1' must be \(low, high\) with low <= high"),
        (lambda: enclosure("x1", [[math.nan, 1]]), r"range of 'x1' must be"),
        (lambda: enclosure("x1", {"x1": (1, 2, 3)}), "one pair"),
        (lambda: enclosure("x1", {"x1": (1, 2)}, within=(2, 1)), "within must be"),
        (lambda: enclosure("x1", {"x1": (1, 2)}, max_boxes=0), "max_boxes must be >= 1"),
        (lambda: enclose_between([parse("x1")], np.zeros((2, 1)), np.zeros((3, 1))), "one shape"),
        (lambda: enclose_between([parse("x1")], np.array([[INF]]), np.zeros((1, 1))), "must be finite"),
    ],
)
def test_errors_name_the_remedy(call, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        call()

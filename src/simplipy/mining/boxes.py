"""Definedness on whole boxes, by interval arithmetic: what points alone cannot say.

A box gives each metavariable an interval. For a term on a box three things are known: bounds of its values where it is
defined, whether it is defined on the whole box, and whether it is defined nowhere in it. Bounds are rounded outwards
by a few units in the last place, so "whole" and "nowhere" hold for real numbers; "neither" only means that it is not
known. All functions work on arrays of boxes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simplipy.equivalence.probe_points import Array, Mask
from simplipy.expression.operator_forms import FORMS, Interval, OperatorForms
from simplipy.expression.operators import leaf_kind
from simplipy.expression.prefix import fold

_ULPS = 8 * np.finfo(np.float64).eps
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Boxes:
    """Bounds of a term on many boxes, and where it is defined.

    Attributes
    ----------
    low, high : array (n_boxes,)
        Bounds of the values where the term is defined.
    whole, nowhere : bool array (n_boxes,)
        Proved to be defined on all of the box, on none of it.
    """

    low: Array
    high: Array
    whole: Mask
    nowhere: Mask


def on_boxes(tokens: Sequence[str], boxes: Mapping[str, tuple[Array, Array]], n_boxes: int) -> Boxes:
    """A term without free constants on boxes of its metavariables."""
    everywhere = np.ones(n_boxes, dtype=np.bool_)

    def leaf(token: str) -> Boxes:
        if token in boxes:
            return Boxes(*boxes[token], everywhere, ~everywhere)
        if leaf_kind(token) == "number":
            value = np.full(n_boxes, float(token))
            return Boxes(value, value, everywhere, ~everywhere)
        if token in ("pi", "e"):
            value = np.full(n_boxes, getattr(np, token))
            return Boxes(*_outward(value, value), everywhere, ~everywhere)
        # inf, -inf and nan are no real numbers
        return Boxes(np.full(n_boxes, -np.inf), np.full(n_boxes, np.inf), ~everywhere, everywhere)

    with np.errstate(all="ignore"):
        return fold(tokens, leaf, _applied)


def _applied(token: str, operands: list[Boxes]) -> Boxes:
    """An operator over terms on boxes."""
    whole: Mask = np.logical_and.reduce([operand.whole for operand in operands])
    nowhere: Mask = np.logical_or.reduce([operand.nowhere for operand in operands])
    if token == "/":
        inverse = _applied("inv", operands[1:])
        return _applied("*", [operands[0], inverse])
    low, high = operands[0].low, operands[0].high
    forms = FORMS[token]
    if isinstance(forms.domain, Interval):
        least, greatest, is_open = forms.domain
        inside = (low > least) & (high < greatest) if is_open else (low >= least) & (high <= greatest)
        beyond = (high <= least) | (low >= greatest) if is_open else (high < least) | (low > greatest)
        whole, nowhere = whole & inside, nowhere | beyond
        low, high = np.clip(low, least, greatest), np.clip(high, least, greatest)
    elif token == "inv":
        zero_inside = (low <= 0) & (high >= 0)
        whole, nowhere = whole & ~zero_inside, nowhere | ((low == 0) & (high == 0))
        unknown = np.where(zero_inside, np.inf, 0.0)
        low, high = _outward(np.where(zero_inside, -unknown, 1 / high), np.where(zero_inside, unknown, 1 / low))
        return Boxes(low, high, whole, nowhere)
    elif token == "tan":
        pole = np.floor(high / np.pi - 0.5 + 1e-9) >= np.ceil(low / np.pi - 0.5 - 1e-9)
        whole = whole & ~pole & (np.abs(low) < 1e6) & (np.abs(high) < 1e6)
        low, high = _outward(np.where(pole, -np.inf, np.tan(low)), np.where(pole, np.inf, np.tan(high)))
        return Boxes(low, high, whole, nowhere)
    elif token == "pow":
        return _power(operands, whole, nowhere)
    bounds = [(low, high), *((o.low, o.high) for o in operands[1:])]
    low, high = _outward(*_bounds(forms, *(b for pair in bounds for b in pair)))
    if forms.image is not None:
        low, high = np.clip(low, *forms.image[:2]), np.clip(high, *forms.image[:2])
    return Boxes(low, high, whole, nowhere)


def _power(operands: list[Boxes], whole: Mask, nowhere: Mask) -> Boxes:
    """a^b: known where the base is positive; elsewhere it depends on whether the exponent is a whole number."""
    a, b = operands
    positive = a.low > 0
    low, high = product(np.log(np.maximum(a.low, _TINY)), np.log(np.maximum(a.high, _TINY)), b.low, b.high)
    low, high = _outward(*_outward(np.exp(low), np.exp(high)))
    low, high = np.where(positive, low, -np.inf), np.where(positive, high, np.inf)
    return Boxes(low, high, whole & positive, nowhere)


def _outward(low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds with room for rounding; NaN, from inf - inf and 0*inf, knows nothing."""
    low = np.where(np.isnan(low), -np.inf, low - np.abs(low) * _ULPS - _TINY)
    high = np.where(np.isnan(high), np.inf, high + np.abs(high) * _ULPS + _TINY)
    return low, high


def product(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Bounds of a product."""
    corners = np.stack([a * c, a * d, b * c, b * d])
    corners = np.where(np.isnan(corners), 0.0, corners)  # 0 times an unbounded end
    return corners.min(axis=0), corners.max(axis=0)


def extremum(name: str, a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Bounds of a minimum or maximum, by the name of NumPy's function."""
    return getattr(np, name)(a, c), getattr(np, name)(b, d)


def wave(low: Array, high: Array, phase: float) -> tuple[Array, Array]:
    """Bounds of cos(x - phase): 1 at phase + 2 k pi, -1 between."""
    low, high = low - phase, high - phase
    has_top = np.floor(high / (2 * np.pi) + 1e-9) >= np.ceil(low / (2 * np.pi) - 1e-9)
    has_bottom = np.floor(high / (2 * np.pi) - 0.5 + 1e-9) >= np.ceil(low / (2 * np.pi) - 0.5 - 1e-9)
    far = (np.abs(low) > 1e6) | (np.abs(high) > 1e6)
    a, b = np.cos(low) - 1e-9, np.cos(high) - 1e-9
    least = np.where(has_bottom | far, -1.0, np.minimum(a, b))
    return least, np.where(has_top | far, 1.0, np.maximum(a, b) + 2e-9)


def _bounds(forms: OperatorForms, *ends: Array) -> tuple[Array, Array]:
    """Bounds of an operator, before rounding, from the ends of its operands inside the domain."""
    if not isinstance(forms.bounds, str):
        low, high = forms.bounds(sys.modules[__name__], *ends)
        return low, high
    low, high = ends
    if forms.bounds == "even":
        nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        low, high = nearest, np.maximum(np.abs(low), np.abs(high))
    a, b = forms.values(np, low), forms.values(np, high)
    return (b, a) if forms.bounds == "falling" else (a, b)

"""Rewritings of sums: factors that all terms share, brackets among powers."""

from __future__ import annotations

from collections import Counter

from flash_ansr.infer.selection.spelling.logarithms import without_number
from flash_ansr.infer.selection.spelling.numbers import n_digits, n_digits_of_scale
from flash_ansr.infer.selection.spelling.order import term_key
from flash_ansr.infer.selection.spelling.polynomials import has_no_brackets, multiplied_out
from flash_ansr.infer.selection.spelling.rule import Rule
from flash_ansr.infer.selection.spelling.rules_of_signs import turned_sign
from flash_ansr.infer.selection.spelling.terms import Product, Sum, of, plus, scaled, terms_of, times

# of a number that some terms share: 1 + 2*x + 2*x^2 stays
_MANY_DIGITS = 3
# numbers beyond these leave logarithms that are added to a number, however few digits they have
_USUAL_SCALES = (1e-4, 1e4)


def _common_number(base: Sum) -> Product | None:
    sizes = Counter(abs(term.coefficient) for term in base.terms)
    size, count = sizes.most_common(1)[0]
    is_whole = count == len(base.terms)
    if count == 1 or size == 1 or (not is_whole and n_digits(size) < _MANY_DIGITS):
        return None
    sharing = [scaled(1 / size, term) for term in base.terms if abs(term.coefficient) == size]
    others = [term for term in base.terms if abs(term.coefficient) != size]
    return plus(*others, scaled(size, of(Sum(tuple(sharing)))))


def _common_variable(base: Sum) -> Product | None:
    """X + x*u as x*(1 + u)."""
    common = set(base.terms[0].factors).intersection(*(term.factors for term in base.terms[1:]))
    for factor in common:
        if any(term == of(*factor) for term in base.terms):
            rests = (Product(t.coefficient, tuple(f for f in t.factors if f != factor)) for t in base.terms)
            return times(of(*factor), plus(*rests))
    return None


def _bracket_among_powers(base: Sum) -> Product | None:
    """x*(a*x + b) + c without brackets."""
    opened = [multiplied_out(term) for term in base.terms]
    whole = [old if new is None else new for old, new in zip(base.terms, opened, strict=True)]
    if whole == list(base.terms) or not all(has_no_brackets(term) for each in whole for term in terms_of(each)):
        return None
    return plus(*whole)


def _constant_beside_logarithm(base: Sum) -> Product | None:
    """log(c*u) + d with one number for two, unless both are short: log(2*x) + 3 stays."""
    constant = sum(term.coefficient for term in base.terms if term.is_number)
    for term in base.terms if constant else ():
        split = without_number(term)
        if split is None:
            continue
        is_usual = _USUAL_SCALES[0] <= split.number <= _USUAL_SCALES[1]
        n_before = n_digits(constant) + n_digits_of_scale(split.number)
        if not is_usual or n_digits(constant + split.shift) <= n_before:
            others = (other for other in base.terms if other != term and not other.is_number)
            return plus(*others, split.rest, Product(constant + split.shift))
    return None


def _leading_minus(base: Sum) -> Product | None:
    """-3*(x - y)*u - 2 as 3*(y - x)*u - 2."""
    if any(term.coefficient > 0 for term in base.terms):
        return None
    ordered = sorted(base.terms, key=term_key)
    for i, term in enumerate(ordered):
        positive = turned_sign(term)
        if positive is not None:
            return plus(positive, *ordered[:i], *ordered[i + 1 :])
    return None


RULES: tuple[Rule[Sum], ...] = (
    Rule("brackets among powers go", "x1*(22.06 - 4.9*x1) + 1.6", "1.6 + 22.06*x1 - 4.9*x1^2", _bracket_among_powers),
    Rule("a number that all terms have stands before them", "14 - 14*exp(-x1)", "14*(1 - exp(-x1))", _common_number),
    Rule("a variable that all terms have stands before them", "x1 + x1*x2/273", "x1*(1 + x2/273)", _common_variable),
    Rule(
        "numbers beside logarithms are one",
        "log(2.43e-54*x1/x2) + 100",
        "log(x1/x2) - 23.45",
        _constant_beside_logarithm,
    ),
    Rule("sums begin without a minus", "-3*x3*(x1 - x2) - 2", "3*x3*(x2 - x1) - 2", _leading_minus),
)

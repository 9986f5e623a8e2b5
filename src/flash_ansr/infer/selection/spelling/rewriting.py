"""The rules, applied from the operands up until none applies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from flash_ansr.infer.selection.spelling import (
    rules_of_functions,
    rules_of_powers,
    rules_of_products,
    rules_of_signs,
    rules_of_sums,
)
from flash_ansr.infer.selection.spelling.reading import power
from flash_ansr.infer.selection.spelling.rows import Rows
from flash_ansr.infer.selection.spelling.rule import Part, Rule
from flash_ansr.infer.selection.spelling.terms import (
    Base,
    Call,
    Factor,
    Leaf,
    OutOfRangeError,
    Product,
    Sum,
    of,
    plus,
    scaled,
    sole_base,
    times,
    to_the,
)

# rewritings of one part, and of the whole
_MOST_STEPS = 20
_MOST_ROUNDS = 4
# functions of which the operand keeps its sign: exp(-(x - 9)/1.8)
_KEEPING_SIGNS = ("exp", "pow")


def respelled(formula: Product, rows: Rows) -> Product:
    """The formula as textbooks have it."""
    for _ in range(_MOST_ROUNDS):
        last, formula = formula, _operand(formula, rows)
        if formula == last:
            break
    return formula


def _operand(formula: Product, rows: Rows) -> Product:
    """A formula that stands by itself, so that its sign is free."""
    return _settled(_product(formula, rows), rules_of_signs.RULES, rows)


def _product(formula: Product, rows: Rows) -> Product:
    factors = [_power(factor, rows) for factor in formula.factors]
    return _settled(times(Product(formula.coefficient), *factors), rules_of_products.RULES, rows)


def _power(factor: Factor, rows: Rows) -> Product:
    formula = to_the(factor.exponent, _base(factor.base, rows))
    for _ in range(_MOST_STEPS):
        step = _first(formula.factors[0], rules_of_powers.RULES, rows) if len(formula.factors) == 1 else None
        if step is None:
            break
        formula = scaled(formula.coefficient, step)
    return formula


def _base(base: Base, rows: Rows) -> Product:
    if isinstance(base, Leaf):
        return of(base)
    if isinstance(base, Product):
        return _operand(base, rows)
    if isinstance(base, Sum):
        formula = plus(*(_product(term, rows) for term in base.terms))
        rules: Sequence[Rule[Any]] = rules_of_sums.RULES
    else:
        spell = _product if base.token in _KEEPING_SIGNS else _operand
        operands = [spell(operand, rows) for operand in base.operands]
        formula = power(*operands) if base.token == "pow" else of(Call(base.token, tuple(operands)))
        rules = rules_of_functions.RULES
    for _ in range(_MOST_STEPS):
        inner = sole_base(formula)
        step = _first(inner, rules, rows) if isinstance(inner, type(base)) else None
        if step is None:
            break
        formula = scaled(formula.coefficient, step)
    return formula


def _settled(formula: Product, rules: Sequence[Rule[Product]], rows: Rows) -> Product:
    for _ in range(_MOST_STEPS):
        step = _first(formula, rules, rows)
        if step is None:
            break
        formula = step
    return formula


def _first(part: Part, rules: Sequence[Rule[Part]], rows: Rows) -> Product | None:
    """What the first rule that applies makes of a part."""
    for rule in rules:
        with contextlib.suppress(OutOfRangeError):  # e^1000
            step = rule.rewritten(part)
            if step is not None and all(map(rows.are_nonnegative, rule.nonnegative(part))):
                return step
    return None

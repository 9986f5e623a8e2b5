"""The operator table and the words of the token language, read from the core.

Everything that knows operators by name (parsers, printers, exports, samplers) reads this table. Adding an operator
means adding one row in ``native/core/expression/ops.hpp``, its kernels, and an entry in each export. A test proves
completeness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeVar

from simplipy import _core

T = TypeVar("T")
LeafKind = Literal["constant", "symbol", "number", "variable"]

CONSTANT = "<constant>"
SYMBOLS = ("pi", "e", "inf", "-inf", "nan")


@dataclass(frozen=True, slots=True)
class Operator:
    """One row of the operator table.

    Attributes
    ----------
    id : int
        Stable token id, as in ``simplipy.TokenBatch``.
    token : str
        The paper's prefix token.
    arity : int
        Number of operands, 1 or 2.
    precedence : int
        Binding strength in infix text: 1 sums, 2 products, 3 unary minus, 4 powers, 5 calls.
    form : str
        How infix text writes it: infix, minus, power, scale, quotient, reciprocal or call.
    call : str
        Its name in infix calls (``sqrt`` for ``pow1_2``), "" for the four arithmetic operators.
    literal : int
        The integer inside a hyperoperator token, 2 in ``mult2``; 0 where there is none.
    commutative : bool
        Whether operands can be swapped.
    parity : str
        odd, even or none.
    derivative : tuple of str
        Infix derivative by operand, in terms of operands ``a`` and ``b``.
    domain : str
        Condition on the operands under which it is defined, "" for everywhere.
    weight : float
        Relative weight in the paper's skeleton prior; 0 for an operator that is off unless it is asked for.
    description : str
        The function that it computes.
    """

    id: int
    token: str
    arity: int
    precedence: int
    form: str
    call: str
    literal: int
    commutative: bool
    parity: str
    derivative: tuple[str, ...]
    domain: str
    weight: float
    description: str


OPERATORS: Mapping[str, Operator] = MappingProxyType({row["token"]: Operator(**row) for row in _core.operator_rows()})
# the paper's operators; searches, priors and mining use the others only where they are asked to
DEFAULT_OPERATORS: tuple[str, ...] = tuple(token for token, row in OPERATORS.items() if row.weight > 0)
# what multiples and quotients multiply by, and the exponents of powers and roots
FACTORS: Mapping[str, Fraction] = {
    token: Fraction(row.literal) if row.form == "scale" else Fraction(1, row.literal)
    for token, row in OPERATORS.items()
    if row.form in ("scale", "quotient")
}
EXPONENTS: Mapping[str, Fraction] = {
    token: Fraction(row.literal) if row.form == "power" else Fraction(1, row.literal)
    for token, row in OPERATORS.items()
    if row.literal and row.form in ("power", "call")
}


def by_id(values: Mapping[str, T], otherwise: T) -> list[T]:
    """Values of operators in the order of their ids, as the core's arrays have them; the rest is ``otherwise``."""
    tokens = {row.id: token for token, row in OPERATORS.items()}
    return [values.get(tokens.get(i, ""), otherwise) for i in range(_core.FIRST_VARIABLE)]


def leaf_kind(token: str) -> LeafKind:
    """Kind of a token that is no operator."""
    if token == CONSTANT:
        return "constant"
    if token in SYMBOLS:
        return "symbol"
    if token[0].isdigit() or (token[0] == "-" and len(token) > 1):
        return "number"
    return "variable"


def variable_name(token: str) -> str:
    """Plain name of a variable token: without its backquotes."""
    return _core.unquoted(token) or token


def variable_token(name: str) -> str:
    """Token of a variable: in backquotes where the name is no plain identifier or equals a token."""
    return _core.quoted(name)

r"""LaTeX of an expression. Input: prefix tokens of a valid expression. Never simplifies, only leaves out brackets.

One fold without recursion: a subterm is nested pieces of text, how strongly they bind, and what stands at their ends. A
leading minus sign is kept apart, so that what stands before it can take it over. The work is linear in the output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from simplipy.expression.indicators import indicator_parts
from simplipy.expression.operator_forms import FORMS
from simplipy.expression.operators import CONSTANT, leaf_kind, variable_name
from simplipy.expression.prefix import fold

# What stands at an end of a text, as far as its neighbour must know. "fraction" is one that begins with a digit:
# 2 \frac{1}{3} would be read as a mixed number.
_Edge = Literal["plain", "digit", "word", "minus", "fraction"]
# binding strength of a written node
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


_Pieces: TypeAlias = "str | tuple[_Pieces, ...]"


class _Node(NamedTuple):
    """One subterm as it is written: its text behind its minus sign, if it begins with one, and its ends."""

    text: _Pieces
    level: int = _ATOM
    first: _Edge = "plain"
    last: _Edge = "plain"
    form: str = ""
    operand: _Node | None = None  # of a minus sign

    @property
    def whole(self) -> _Pieces:
        """The text with its minus sign."""
        return ("-", self.text) if self.first == "minus" else self.text

    @property
    def needs_brackets(self) -> bool:
        """Whether it needs brackets behind a factor or a minus sign."""
        return self.level == _SUM or self.first == "minus"

    @property
    def is_negative(self) -> bool:
        """Whether its minus sign can stand before the whole of a fraction or difference."""
        return self.first == "minus" and self.level > _SUM

    def in_brackets(self, brackets: bool = True) -> _Pieces:
        """The whole text, in brackets or not."""
        return (r"\left(", self.whole, r"\right)") if brackets else self.whole


_SYMBOLS = {
    "e": _Node("e"),
    "pi": _Node(r"\pi"),
    "inf": _Node(r"\infty"),
    "-inf": _Node(r"\infty", _PRODUCT, "minus"),
    "nan": _Node(r"\mathrm{NaN}", first="word", last="word"),
}

# in the order of Unicode; the empty names are omicron and the final sigma, which have no command
_GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"]
_GREEK += ["xi", "", "pi", "rho", "", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"]
_CAPITALS = ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"]
_LETTERS = {name: f"\\{name}" for name in (*_GREEK, *_CAPITALS, "varepsilon", "varphi", "hbar", "ell") if name}
_LETTERS |= {chr(0x3B1 + i): _LETTERS[name] for i, name in enumerate(_GREEK) if name in _LETTERS}
_LETTERS |= {chr(0x391 + i): _LETTERS[name] for i, name in enumerate(map(str.capitalize, _GREEK)) if name in _LETTERS}
_ESCAPES = {c: f"\\{c}" for c in "#$%&_{}"} | {"\\": r"\backslash{}", "~": r"\sim{}", "^": r"\wedge{}", "-": "{-}"}
_TEXT_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "-": "-"}


def to_latex(tokens: Sequence[str], precision: int | None = None) -> str:
    r"""Textbook LaTeX of an expression.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    precision : int, optional
        Significant digits of numbers; all digits without it.

    Returns
    -------
    str
        For math mode. Free constants are c_{1}, c_{2}, ... in prefix order.

    Examples
    --------
    >>> to_latex(["*", "2.5", "pow2", "sin", "x1"], None)
    '2.5 \\sin^{2}\\left(x_{1}\\right)'
    """
    n_constants = tokens.count(CONSTANT)
    # a variable that is spelled like a symbol or a free constant is set upright, so that the two stay apart
    reserved = {"e", "pi", *(f"c{k + 1}" for k in range(n_constants))}
    constants = [_Node(f"c_{{{k + 1}}}") for k in range(n_constants)]

    def leaf(token: str) -> _Node:
        kind = leaf_kind(token)
        if kind == "constant":
            return constants.pop()
        if kind == "symbol":
            return _SYMBOLS[token]
        return _number(token, precision) if kind == "number" else _variable(variable_name(token), reserved)

    pieces: list[str] = []
    pending = [fold(tokens, leaf, _composed).whole]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            pieces.append(item)
        else:
            pending.extend(reversed(item))
    return "".join(pieces)


def _composed(token: str, operands: list[_Node]) -> _Node:
    """An operator over operands."""
    row = FORMS[token].latex
    before, after = ([] if text is None else [_literal(text)] for text in (row.before, row.after))
    operands = [*before, *operands, *after]
    left, right = operands[0], operands[-1]
    first: _Edge
    match row.form:
        case "sum":
            # a + -b reads a - b; the rest of a sum in b keeps its own signs
            sign = " - " if right.first == "minus" else " + "
            return _Node((left.text, sign, right.text), _SUM, left.first)
        case "difference":
            if right.operand and right.operand.first != "minus":
                return _Node((left.text, " + ", right.operand.text), _SUM, left.first)
            if right.is_negative:
                return _Node((left.text, " + ", right.text), _SUM, left.first)
            return _Node((left.text, " - ", right.in_brackets(right.level == _SUM)), _SUM, left.first)
        case "product":
            factor = left.in_brackets() if left.level == _SUM else left.text
            first = "plain" if left.level == _SUM else left.first
            text = (factor, _between(left, right), right.in_brackets(right.needs_brackets))
            return _Node(text, _PRODUCT, first, "plain" if right.needs_brackets else right.last)
        case "minus":
            last = "plain" if left.needs_brackets else left.last
            return _Node(left.in_brackets(left.needs_brackets), _PRODUCT, "minus", last, operand=left)
        case "fraction":
            first = "minus" if left.is_negative else "fraction" if left.first == "digit" else "plain"
            top = left.text if left.is_negative else left.whole
            return _Node((r"\frac{", top, "}{", right.whole, "}"), _PRODUCT, first)
        case "power":
            if left.form == "function" and row.after:
                # only for the powers 2 to 5: \sin^{-1} would be read as the inverse function
                return _Node((left.text[0], f"^{{{row.after}}}", left.text[1]), _POWER)
            first = left.first if left.level == _ATOM else "plain"
            return _Node((left.in_brackets(left.level < _ATOM), "^{", right.whole, "}"), _POWER, first)
        case "root":
            return _Node((rf"\sqrt{row.text}{{", left.whole, "}"), _POWER)
        case "function":
            others = (piece for operand in operands[1:] for piece in (", ", operand.whole))
            return _Node((row.text, (r"\left(", left.whole, *others, r"\right)")), _POWER, form="function")
        case "abs":
            return _Node((r"\left|", left.whole, r"\right|"))


def _between(left: _Node, right: _Node) -> str:
    """Text between two factors: a dot where they would be misread, as in 2 3, x (-2), 2 1/3, mass (x + 1), x mass."""
    last = "plain" if left.level == _SUM else left.last
    if last != "word" and right.level == _SUM:
        return " "
    if last == "digit" and right.first == "word":
        return r" \, "  # TeX drops the space of "2 mass"
    misread = "word" in (last, right.first) or right.first in ("digit", "minus")
    return r" \cdot " if misread or (right.first == "fraction" and last == "digit") else " "


def _literal(text: str) -> _Node:
    """Operand that stands inside a token: e, 1, 2, ..."""
    return _SYMBOLS.get(text) or _Node(text, first="digit", last="digit")


def _number(token: str, precision: int | None) -> _Node:
    r"""Decimal, beyond plain digits as 1.5 \cdot 10^{-7}."""
    number = Decimal(token)
    if precision is not None:
        rounded = float(f"{float(token):.{min(precision, 17) - 1}e}")
        # the largest doubles round up to infinity; they stay as they are
        number = number if math.isinf(rounded) else Decimal(repr(rounded))
    first: _Edge = "minus" if number < 0 else "digit"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0") or "0"
    magnitude = number.adjusted() if number else 0
    if -5 < magnitude < 15:
        text = f"{abs(number):f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return _Node(text, _PRODUCT if number < 0 else _ATOM, first, "digit")
    power = f"10^{{{magnitude}}}"
    if digits == "1":
        return _Node(power, _PRODUCT if number < 0 else _POWER, first)
    mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return _Node(rf"{mantissa} \cdot {power}", _PRODUCT, first)


def _variable(name: str, reserved: set[str]) -> _Node:
    """Name as a letter, Greek letter or upright word, with an index where it ends in digits or has an underscore.

    An indicator is an Iverson bracket, [colour = red].
    """
    indicator = indicator_parts(name)
    if indicator is not None:
        column, level = indicator
        text = "".join(_TEXT_ESCAPES.get(c) or (" " if c.isspace() else _escaped(c)) for c in level)
        return _Node(rf"[{_variable(column, reserved).text} = \text{{{text}}}]")
    parts = re.fullmatch(r"([^\W\d_]+)(?:_?(\d+)|_(\w+))", name)
    stem, index = (name, "") if parts is None or name in reserved else (parts[1], parts[2] or parts[3])
    text, is_word = _name(stem, upright=name in reserved)
    edge: _Edge = "word" if is_word else "plain"
    if index:
        text += f"_{{{index if index.isascii() and index.isdigit() else _name(index, False)[0]}}}"
    return _Node(text, first=edge, last=edge)


def _name(name: str, upright: bool) -> tuple[str, bool]:
    """LaTeX of a name without index, and whether it is an upright word."""
    if not upright:
        if len(name) == 1 and name.isascii() and name.isalpha():
            return name, False
        if name in _LETTERS:
            return _LETTERS[name], False
    return rf"\mathrm{{{''.join(map(_escaped, name))}}}", True


def _escaped(character: str) -> str:
    """One character of an upright word, harmless whatever it is."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isspace():
        return r"\ "
    if not character.isprintable():
        # control and direction characters would reorder or break the text around them
        return f"[U{{+}}{ord(character):04X}]"
    # text mode: accented letters are no math characters for every TeX
    return character if character.isascii() else rf"\text{{{character}}}"

r"""LaTeX of an expression. Input: prefix tokens of a valid expression. Never simplifies, only leaves out brackets.

Two passes without recursion: a fold finds how strongly each node binds and what stands at the ends of its text; the
second pass writes pieces from an explicit stack, so the work is linear in the output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from simplipy.expression.operator_forms import FORMS, LatexForm
from simplipy.expression.operators import CONSTANT, leaf_kind, variable_name
from simplipy.expression.prefix import fold

# What stands at an end of a text, as far as its neighbour must know. "fraction" is one that begins with a digit:
# 2 \frac{1}{3} would be read as a mixed number.
_Edge = Literal["plain", "digit", "word", "minus", "fraction"]
# binding strength of a written node
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


class _Node(NamedTuple):
    """One node as it will be written; a leaf has only its text."""

    text: str
    level: int = _ATOM
    first: _Edge = "plain"
    last: _Edge = "plain"
    form: LatexForm | None = None
    operands: tuple[_Node, ...] = ()


_Pieces = list["str | tuple[_Node, bool]"]  # texts, and nodes to be written, or written without their minus sign


_SYMBOLS = {
    "e": _Node("e"),
    "pi": _Node(r"\pi"),
    "inf": _Node(r"\infty"),
    "-inf": _Node(r"-\infty", _PRODUCT, "minus"),
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
    pending: _Pieces = [(fold(tokens, leaf, _composed), False)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            pieces.append(item)
        else:
            pending.extend(reversed(_written(*item)))
    return "".join(pieces)


def _composed(token: str, operands: list[_Node]) -> _Node:
    """An operator with the binding strength and ends of its text; the same decisions as in `_written`."""
    row = FORMS[token].latex
    form = row.form
    before, after = ([] if text is None else [_literal(text)] for text in (row.before, row.after))
    operands = [*before, *operands, *after]
    left, right = operands[0], operands[-1]
    level = _POWER
    first: _Edge = "plain"
    last: _Edge = "plain"
    if form in ("sum", "difference"):
        level, first = _SUM, left.first
    elif form == "product":
        level = _PRODUCT
        first = left.first if left.level > _SUM else "plain"
        last = right.last if not _needs_brackets(right) else "plain"
    elif form == "minus":
        level, first = _PRODUCT, "minus"
        last = left.last if not _needs_brackets(left) else "plain"
    elif form == "fraction":
        level = _PRODUCT
        if _is_negative(left):
            first = "minus"
        elif left.first == "digit":
            first = "fraction"
    elif form == "power" and left.level == _ATOM:
        first = left.first
    elif form == "abs":
        level = _ATOM
    return _Node(row.text if row.after is None else row.after, level, first, last, form, tuple(operands))


def _needs_brackets(node: _Node) -> bool:
    """Whether the node needs brackets behind a factor or a minus sign."""
    return node.level == _SUM or node.first == "minus"


def _is_negative(node: _Node) -> bool:
    """Whether the node's minus sign can stand before the whole of a fraction or difference."""
    return node.first == "minus" and node.level > _SUM


def _written(node: _Node, bare: bool) -> _Pieces:
    """Pieces of one node in reading order; `bare` leaves out the minus sign that its text begins with."""
    if node.form is None:
        return [node.text[1:] if bare else node.text]
    left, right = node.operands[0], node.operands[-1]
    match node.form:
        case "sum":
            # a + -b reads a - b; the rest of a sum in b keeps its own signs
            minus = right.first == "minus"
            return [(left, bare), " - " if minus else " + ", (right, minus)]
        case "difference":
            if right.form == "minus" and right.operands[0].first != "minus":
                return [(left, bare), " + ", (right.operands[0], False)]
            if _is_negative(right):
                return [(left, bare), " + ", (right, True)]
            return [(left, bare), " - ", *_operand(right, right.level == _SUM)]
        case "product":
            brackets = left.level == _SUM
            between = _between(left, brackets, right)
            factor = [(left, bare)] if not brackets else _operand(left, True)
            return [*factor, between, *_operand(right, _needs_brackets(right))]
        case "minus":
            return ["" if bare else "-", *_operand(left, _needs_brackets(left))]
        case "fraction":
            negative = _is_negative(left)
            return ["-" if negative and not bare else "", r"\frac{", (left, negative), "}{", (right, False), "}"]
        case "power":
            if left.form == "function" and node.text:
                # only for the powers 2 to 5: \sin^{-1} would be read as the inverse function
                return [left.text, f"^{{{node.text}}}", *_arguments(left)]
            return [*_operand(left, left.level < _ATOM), "^{", (right, False), "}"]
        case "root":
            return [rf"\sqrt{node.text}{{", (left, False), "}"]
        case "function":
            return [node.text, *_arguments(node)]
        case "abs":
            return [r"\left|", (left, False), r"\right|"]


def _operand(node: _Node, brackets: bool) -> _Pieces:
    """One operand, in brackets or not."""
    return [r"\left(", (node, False), r"\right)"] if brackets else [(node, False)]


def _arguments(node: _Node) -> _Pieces:
    """Operands of a function in brackets."""
    first, *others = [(operand, False) for operand in node.operands]
    return [r"\left(", first, *(piece for other in others for piece in (", ", other)), r"\right)"]


def _between(left: _Node, left_in_brackets: bool, right: _Node) -> str:
    """Text between two factors: a dot where they would be misread, as in 2 3, x (-2), 2 1/3, mass (x + 1), x mass."""
    last = "plain" if left_in_brackets else left.last
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
    sign = "-" if number < 0 else ""
    first: _Edge = "minus" if sign else "digit"
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0") or "0"
    magnitude = number.adjusted() if number else 0
    if -5 < magnitude < 15:
        text = f"{abs(number):f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return _Node(sign + text, _PRODUCT if sign else _ATOM, first, "digit")
    power = f"10^{{{magnitude}}}"
    if digits == "1":
        return _Node(sign + power, _PRODUCT if sign else _POWER, first)
    mantissa = digits[0] + ("." + digits[1:] if digits[1:] else "")
    return _Node(rf"{sign}{mantissa} \cdot {power}", _PRODUCT, first)


def _variable(name: str, reserved: set[str]) -> _Node:
    """Name as a letter, Greek letter or upright word, with an index where it ends in digits or has an underscore."""
    parts = re.fullmatch(r"([^\W\d_]+)_?(\d+)|([^\W\d_]+)_(\w+)", name)
    if parts is None or name in reserved:
        stem, index = name, ""
    else:
        stem, index = (parts[1] or parts[3]), (parts[2] or parts[4])
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

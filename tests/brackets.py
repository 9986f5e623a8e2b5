"""Which parentheses of a printed formula could go."""

from __future__ import annotations

import simplipy


def bracket_pairs(text: str) -> list[tuple[int, int]]:
    """Positions of matching parentheses outside backquotes."""
    pairs, stack, quoted = [], [], False
    for i, char in enumerate(text):
        quoted ^= char == "`"
        if not quoted and char == "(":
            stack.append(i)
        elif not quoted and char == ")":
            pairs.append((stack.pop(), i))
    return pairs


def superfluous_pairs(e: simplipy.Expression) -> list[str]:
    """Shorter texts of the same expression, each by dropping one pair of parentheses."""
    text = e.infix()
    shorter = [text[:left] + text[left + 1 : right] + text[right + 1 :] for left, right in bracket_pairs(text)]
    found = []
    for without in shorter:
        try:
            found += [without] if simplipy.parse(without) == e else []
        except simplipy.ParseError:
            continue
    return found

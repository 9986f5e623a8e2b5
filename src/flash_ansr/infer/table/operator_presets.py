"""Presets of operators: those of polynomials, all, and those that laws of science use in three groups of fields.

A group has arithmetic and the other operators that at least one in a hundred of its laws uses. Laws that a test or a
development set has too do not count. ``tests/flash_ansr/infer/table`` derives the table from the laws.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from simplipy.expression.operators import OPERATORS

Preset = Literal["polynomial", "physics", "kinetics", "engineering", "all"]

_MULTIPLES = tuple(token for token, row in OPERATORS.items() if row.form in ("scale", "quotient"))
ARITHMETIC = ("+", "-", "*", "/", "inv", "neg", *_MULTIPLES)

FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "physics": (
            *("acoustics", "astronomy", "electromagnetism", "fluids", "mechanics", "solids", "statistical_quantum"),
            "thermodynamics",
        ),
        "kinetics": ("biochemistry", "ecology", "electrochemistry", "epidemiology", "kinetics", "physiology"),
        "engineering": ("circuits", "civil_engineering", "electrical_engineering", "materials", "signal_processing"),
    }
)

PRESETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "polynomial": ("+", "-", "*", "neg", *_MULTIPLES, "pow2", "pow3", "pow4", "pow5"),
        "physics": (
            *ARITHMETIC,
            *"pow pow2 pow3 pow4 pow1_2 pow1_3 sin cos cosh tanh exp log".split(),
        ),
        "kinetics": (*ARITHMETIC, *"pow pow2 pow3 pow1_2 pow1_3 cosh tanh exp log".split()),
        "engineering": (
            *ARITHMETIC,
            *"pow pow2 pow3 pow4 pow5 pow1_2 pow1_3 sin cos tan asin atan tanh exp log".split(),
        ),
        "all": tuple(OPERATORS),
    }
)


def described(preset: str) -> str:
    """The operators of a preset as formulas spell them, without signs, reciprocals and multiples.

    Examples
    --------
    >>> described("polynomial")
    '+ - * ^2 ^3 ^4 ^5'
    """
    words = {token: row.call or token for token, row in OPERATORS.items() if token not in ("inv", "neg", *_MULTIPLES)}
    words |= {token: f"^{row.literal}" for token, row in OPERATORS.items() if row.form == "power"} | {"pow": "^"}
    return " ".join(words[token] for token in OPERATORS if token in PRESETS[preset] and token in words)

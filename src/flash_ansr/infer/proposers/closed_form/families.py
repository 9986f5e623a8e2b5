"""Functions of one argument c*u with an unknown c: what the scan tries inside of products and sums.

Each family says how it computes, how it is written and which c to start from. ``grid`` is in units of the typical
size of u, ``fixed`` in the units of the caller: laws often have 1, 2 or 1/2 there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.proposers.data import FloatArray


@dataclass(frozen=True, slots=True)
class Family:
    """h(c*u).

    Attributes
    ----------
    name : str
        Token that the operators must allow; "" for arithmetic.
    value : callable
        h on an array.
    text : str
        Infix with ``{}`` for the argument.
    fixed, grid : tuple of float
        Values of c to start from, see above.
    largest : float
        Size of the argument beyond which h is degenerate.
    """

    name: str
    value: Callable[[FloatArray], FloatArray]
    text: str
    fixed: tuple[float, ...]
    grid: tuple[float, ...]
    largest: float


def _both(values: tuple[float, ...]) -> tuple[float, ...]:
    return values + tuple(-v for v in values)


_BROAD = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_MIDDLE = (0.1, 0.35, 1.0, 3.0)
_WAVES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)

ONE_PLUS = Family("", lambda u: 1 + u, "(1 + {})", (1.0, -1.0), _both(_BROAD), 1e12)
EXP = Family("exp", np.exp, "exp({})", (1.0, -1.0, -0.5), _both(_MIDDLE), 300.0)
EXPM1 = Family("exp", np.expm1, "(exp({}) - 1)", (1.0, -1.0), _both((*_MIDDLE, 9.0)), 300.0)
EXP1P = Family("exp", lambda u: 1 + np.exp(u), "(exp({}) + 1)", (1.0, -1.0), _both(_MIDDLE), 300.0)
SIN = Family("sin", np.sin, "sin({})", (1.0, 2.0, 0.5, np.pi, 2 * np.pi), _WAVES, 300.0)
COS = Family("cos", np.cos, "cos({})", (1.0, 2.0, 0.5, np.pi, 2 * np.pi), _WAVES, 300.0)
TAN = Family("tan", np.tan, "tan({})", (1.0, 0.5), (0.3, 1.0), 50.0)
LOG = Family("log", np.log, "log({})", (1.0,), (0.03, 0.3, 3.0, 30.0), 1e300)
LOG1P = Family("log", np.log1p, "log(1 + {})", (1.0,), _MIDDLE, 1e12)
TANH = Family("tanh", np.tanh, "tanh({})", (1.0, 0.5), (0.3, 1.0, 3.0), 300.0)
SINH = Family("sinh", np.sinh, "sinh({})", (1.0,), (1.0, 3.0), 300.0)
COSH = Family("cosh", np.cosh, "cosh({})", (1.0,), (1.0, 3.0), 300.0)
ATAN = Family("atan", np.arctan, "atan({})", (1.0,), (0.3, 1.0, 3.0), 1e6)
INVERSE = Family("", lambda u: 1 / (1 + u), "(1/(1 + {}))", (1.0, -1.0), _both(_BROAD), 1e12)
ROOT_LESS_ONE = Family(
    "pow1_2", lambda u: np.sqrt(1 + u) - 1, "(sqrt(1 + {}) - 1)", (1.0, 4.0, -1.0), (0.3, 1.0, 3.0), 1e12
)
ROOT = Family("pow1_2", lambda u: np.sqrt(1 + u), "sqrt(1 + {})", (1.0, -1.0), _BROAD, 1e12)

# as a factor it is exp(c*u): log|h| is u itself, and c its exponent
EXPONENTIAL = Family("exp", np.exp, "exp({})", (1.0,), (), 300.0)

# factors of a product, the common ones first: log|h| counts
SIMPLE_FACTORS = (SIN, COS, EXPM1, LOG)
OTHER_FACTORS = (EXP1P, LOG1P, TANH, TAN, COSH, SINH, ATAN, ROOT_LESS_ONE)
FACTORS = (ONE_PLUS, *SIMPLE_FACTORS, *OTHER_FACTORS)
# terms of a sum
TERMS = (EXP, SIN, COS, INVERSE, LOG1P, TANH, ROOT, ATAN)

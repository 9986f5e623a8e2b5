"""Laws of textbooks, recovered exactly within seconds on a quiet machine."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr import FlashANSR

pytestmark = pytest.mark.slow

# law, ranges of its variables
LAWS = {
    "free fall": ("4.905*x1^2", [(0.1, 5)]),
    "pendulum": ("2*pi*sqrt(x1/9.81)", [(0.1, 3)]),
    "gravitation": ("6.674*x1*x2/x3^2", [(1, 5), (1, 5), (1, 3)]),
    "ideal gas": ("8.314*x1*x2/x3", [(0.5, 3), (250, 400), (0.1, 2)]),
    "kinetic energy": ("0.5*x1*x2^2", [(0.5, 4), (0.5, 10)]),
    "two resistors": ("x1*x2/(x1 + x2)", [(1, 10), (1, 10)]),
    "decay": ("x1*exp(-0.4*x2)", [(1, 10), (0, 5)]),
    "normal density": ("exp(-x1^2/2)/sqrt(2*pi)", [(-3, 3)]),
    "michaelis-menten": ("3.2*x1/(0.7 + x1)", [(0.05, 10)]),
    "distance": ("sqrt(x1^2 + x2^2)", [(-4, 4), (-4, 4)]),
    "snell's height": ("x1*sin(x2)", [(1, 5), (0.1, 1.5)]),
    "bernoulli": ("x1 + 0.5*x2*x3^2", [(1, 5), (0.5, 2), (0.5, 3)]),
    "compound interest": ("x1*1.05^x2", [(100, 1000), (1, 20)]),
    "lift": ("0.5*x1*x2^2*x3*x4", [(0.9, 1.3), (10, 50), (1, 20), (0.2, 1.5)]),
    "product": ("x1*x2", [(0.5, 3), (0.5, 3)]),
    "constant": ("3", [(0.5, 3)]),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws(name: str) -> None:
    law, ranges = LAWS[name]
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(low, high, 200) for low, high in ranges])
    model = FlashANSR(time_limit=5.0, random_state=0).fit(X, simplipy.parse(law)(X))
    assert model.report_["seconds"] < 5.5
    assert simplipy.equivalent(model.expression_, law, rtol=1e-6).equivalent, model.expression_
    assert len(model.expression_) <= len(simplipy.parse(law)) + 2


def test_the_time_limit_is_kept() -> None:
    """Noise: nothing ends the search early. Wall clock, so among the slow tests."""
    import time

    rng = np.random.default_rng(0)
    X, y = rng.uniform(1, 2, (500, 3)), rng.normal(0, 1, 500)
    for limit in (0.5, 2.0):
        started = time.monotonic()
        model = FlashANSR(time_limit=limit, random_state=0).fit(X, y)
        assert time.monotonic() - started <= 1.05 * limit + 0.2
        assert model.report_["stop"] == "time"

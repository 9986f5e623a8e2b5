"""The factor on the loss that keeps gradients inside float16's range; weights and their gradients are float32."""

from __future__ import annotations

from dataclasses import dataclass

_LARGEST = 2.0**24
_STEPS_TO_GROW = 2000


@dataclass(slots=True)
class LossScale:
    """Halved by a gradient that is not finite, doubled after 2000 steps without one.

    It follows from the gradients alone, which all processes share, and is stored in checkpoints: runs resume exactly.

    Attributes
    ----------
    value : float
        The factor; 1 where float16 takes no part.
    n_finite : int
        Steps since it changed.
    """

    value: float = 1.0
    n_finite: int = 0

    def update(self, finite: bool) -> None:
        """Take in whether a step's gradient was finite."""
        self.n_finite = self.n_finite + 1 if finite else 0
        if not finite:
            self.value = max(self.value / 2, 1.0)
        elif self.n_finite == _STEPS_TO_GROW:
            self.value, self.n_finite = min(self.value * 2, _LARGEST), 0

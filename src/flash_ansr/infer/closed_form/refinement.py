"""Levenberg-Marquardt on the few constants inside a draft, from a start that is already near.

Residuals are relative, so that every row counts; the caller's own fit has the last word about noisy data.
"""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.closed_form.data import Data, FloatArray, relative_weight
from simplipy import Expression

_MAX_STEPS = 12
_CONVERGED = 1e-15


def refined(expression: Expression, data: Data, start: FloatArray) -> FloatArray:
    """Constants with a smaller sum of squares than those at the start, or the start itself."""
    weight = relative_weight(data.y) * data.root_weight
    constants, damping = start.copy(), 1e-3
    with np.errstate(all="ignore"):
        residual = (data.y - expression(data.X, constants)) * weight
        loss = float(residual @ residual)
        for _ in range(_MAX_STEPS):
            if not np.isfinite(loss):
                return start
            step = _step(expression.gradient(data.X, constants) * weight[:, None], residual, damping)
            if step is None:
                return constants
            proposal = constants + step
            new_residual = (data.y - expression(data.X, proposal)) * weight
            new_loss = float(new_residual @ new_residual)
            small = bool((np.abs(step) <= 1e-14 * np.abs(proposal)).all())
            if new_loss < loss:
                done = new_loss <= _CONVERGED**2 * data.n_rows or loss - new_loss < 1e-6 * loss
                constants, residual, loss, damping = proposal, new_residual, new_loss, damping * 0.1
                if done:
                    return constants
            else:
                damping *= 10
            if small or damping > 1e6:
                return constants
    return constants


def _step(jacobian: FloatArray, residual: FloatArray, damping: float) -> FloatArray | None:
    """Damped Gauss-Newton step with scaled columns; None where there is no derivative."""
    norms = np.sqrt(np.einsum("ij,ij->j", jacobian, jacobian))
    if not np.isfinite(norms).all() or not (norms > 0).all():
        return None
    scaled = jacobian / norms
    normal = scaled.T @ scaled
    normal[np.diag_indices_from(normal)] += damping
    try:
        return np.asarray(np.linalg.solve(normal, scaled.T @ residual) / norms)
    except np.linalg.LinAlgError:
        return None

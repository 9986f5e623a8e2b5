"""Small linear least squares with scaled columns, and the removal of terms that do nothing."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.proposers.data import FloatArray

# a term that moves the fit by less than this part of the target is rounding, not law
_NEGLIGIBLE = 1e-9
_NEARLY_EXACT = 1e-12


def solve(terms: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients of the terms and the unexplained part of the target.

    Parameters
    ----------
    terms : array (n_terms, n_rows)
    target, weight : array (n_rows,)
        The weight multiplies residuals before they are squared.

    Returns
    -------
    coefficients : array (n_terms,)
    unexplained : float
        Weighted residual sum of squares over the weighted sum of squares of the target.
    """
    A, b = terms * weight, target * weight
    norms = np.sqrt(np.einsum("ij,ij->i", A, A))
    total = float(b @ b)
    if not (norms > 0).all() or total == 0 or not np.isfinite(norms).all():
        return np.zeros(len(terms)), 1.0
    A = A / norms[:, None]
    coefficients, *_ = np.linalg.lstsq(A.T, b, rcond=1e-14)
    residual = b - coefficients @ A
    if float(residual @ residual) > _NEARLY_EXACT * total:
        return coefficients / norms, float(residual @ residual) / total
    # one step of refinement: the last digits decide whether a law is exact
    correction, *_ = np.linalg.lstsq(A.T, residual, rcond=1e-14)
    coefficients = coefficients + correction
    residual = b - coefficients @ A
    return coefficients / norms, float(residual @ residual) / total


def solve_pruned(terms: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[list[int], FloatArray, float]:
    """As ``solve`` without the terms that only explain rounding: (kept, coefficients, unexplained)."""
    kept = list(range(len(terms)))
    coefficients, unexplained = solve(terms, target, weight)
    size = np.sqrt(np.mean((target * weight) ** 2))
    part = np.abs(coefficients) * np.sqrt(np.mean((terms * weight) ** 2, axis=1))
    small = [i for i in kept if part[i] < _NEGLIGIBLE * size]
    if small and len(small) < len(kept):
        kept = [i for i in kept if i not in small]
        coefficients, unexplained = solve(terms[kept], target, weight)
    return kept, coefficients, unexplained


def orthonormal(rows: FloatArray) -> FloatArray:
    """Orthonormal rows that span the given ones, (rank, n)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(norms > 0, norms, 1.0)
    _, sizes, basis = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(basis[sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)])


def project_out(rows: FloatArray, basis: FloatArray) -> FloatArray:
    """What is left of the rows beyond an orthonormal basis."""
    return np.asarray(rows - (rows @ basis.T) @ basis)

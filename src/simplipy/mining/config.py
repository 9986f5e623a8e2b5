"""The options of a mining run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from simplipy.errors import SimplipyError, did_you_mean
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS

_BOUNDS = {
    "max_length": (2, 8),
    "max_replacement": (1, 5),
    "n_variables": (1, 4),
    "n_constants": (0, 2),
    "max_conditional": (0, 5),
    "seed": (0, 2**63 - 1),
}


@dataclass(frozen=True)
class MineConfig:
    """Options that decide which rules a run finds; equal options give equal rules.

    Attributes
    ----------
    max_length, max_replacement : int
        Tokens of the longest pattern and of the longest replacement.
    n_variables, n_constants : int
        Metavariables and free constants of a pattern at most.
    max_conditional : int
        Longest pattern of one metavariable that is also tried on parts of the line.
    literals : bool
        Whether patterns have 0, 1, -1, pi, e, inf, -inf and nan.
    operators : tuple of str
        Tokens of the operators; all of the table by default.
    seed : int
        Of the points on which terms are compared, and of those on which rules are verified.
    """

    max_length: int = 4
    max_replacement: int = 3
    n_variables: int = 4
    n_constants: int = 2
    max_conditional: int = 4
    literals: bool = True
    operators: tuple[str, ...] = DEFAULT_OPERATORS
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise SimplipyError(f"{name} must be from {low} to {high}, got {value}")
        if not self.operators:
            raise SimplipyError("operators must name at least one token of the operator table, got none")
        for i, token in enumerate(self.operators):
            if token not in OPERATORS:
                hint = did_you_mean(token, OPERATORS, "`simplipy operators` lists them")
                raise SimplipyError(f"operators must be tokens of the operator table, got {token!r}; {hint}")
            if token in self.operators[:i]:
                raise SimplipyError(f"operators must name each token once, got {token!r} twice")

    def row(self) -> dict[str, Any]:
        """The options as JSON holds them."""
        return asdict(self) | {"operators": list(self.operators)}

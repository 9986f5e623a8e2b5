"""All experiments by name, in the order of the paper."""

from __future__ import annotations

import difflib

from flash_ansr.paper.experiment import Experiment, PaperError
from flash_ansr.paper.experiments import ablations as ablation_results
from flash_ansr.paper.experiments import (
    compute_settings,
    convergence,
    data,
    decoding,
    galleries,
    gaussian,
    recovery,
    simplifier,
    tables,
    training,
)

_MODULES = (
    recovery,
    compute_settings,
    simplifier,
    convergence,
    decoding,
    training,
    ablation_results,
    gaussian,
    galleries,
    tables,
    data,
)
EXPERIMENTS: dict[str, Experiment] = {e.name: e for module in _MODULES for e in module.EXPERIMENTS}


def experiment(name: str) -> Experiment:
    """An experiment by its name."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see them by: flash-ansr paper list"
        raise PaperError(f"the paper has no experiment {name!r}; {hint}")
    return EXPERIMENTS[name]

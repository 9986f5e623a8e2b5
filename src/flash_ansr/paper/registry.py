"""All experiments by name, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from flash_ansr.paper.experiment import Experiment, find_by_name

# each defines its experiments in the order of the paper too
_MODULES = "recovery compute_settings simplifier decoding training ablations gaussian galleries tables data".split()
EXPERIMENTS = {
    thing.name: thing
    for module in _MODULES
    for thing in vars(import_module(f"flash_ansr.paper.experiments.{module}")).values()
    if isinstance(thing, Experiment)
}


def find_experiment(name: str) -> Experiment:
    """An experiment by its name."""
    return find_by_name(EXPERIMENTS, name, "the paper has no experiment", "see them by: flash-ansr paper list")

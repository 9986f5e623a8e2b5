"""Weights and optimizer state as whole named tensors, however a strategy wraps or shards them; no pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_optimizer_state_dict
from torch.optim import Optimizer

from flash_ansr.checkpoint.weights import CheckpointError, load_tensors

# what torch.compile, DDP and FSDP call the module that they wrap, in any order and at any depth
_WRAPPED = {"_orig_mod", "module", "_fsdp_wrapped_module"}


def own_name(name: str) -> str:
    """Name of a parameter in the network itself, which has no part with the name of a wrapped module."""
    return ".".join(part for part in name.split(".") if part not in _WRAPPED)


def gather(module: nn.Module, optimizer: Optimizer) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Weights by name, and the optimizer's state as ``{"decoder.head.weight/exp_avg": ...}``; called by all processes.

    With several processes only the first gets them.
    """
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, state = cast("tuple[dict[str, Tensor], Any]", get_state_dict(module, optimizer, options=options))
    entries = state.get("state", {})
    return weights, {f"{name}/{key}": value for name, entry in entries.items() for key, value in entry.items()}


def restore_optimizer(module: nn.Module, optimizer: Optimizer, checkpoint: Path) -> None:
    """Put the stored state into a fresh optimizer; called by all processes."""
    state: dict[str, dict[str, Tensor]] = {}
    for name, tensor in load_tensors(checkpoint, "optimizer").items():
        parameter, _, key = name.rpartition("/")
        state.setdefault(parameter, {})[key] = tensor
    names = {id(parameter): own_name(name) for name, parameter in module.named_parameters() if parameter.requires_grad}
    different = set(names.values()) ^ set(state)
    if different:
        raise CheckpointError(f"{checkpoint} has the optimizer state of another model: see '{min(different)}'")
    groups = [group | {"params": [names[id(p)] for p in group["params"]]} for group in optimizer.param_groups]
    whole: Any = {"state": state, "param_groups": groups}
    set_optimizer_state_dict(module, optimizer, whole, options=StateDictOptions(full_state_dict=True))

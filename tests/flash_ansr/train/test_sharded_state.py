"""The optimizer's state by the network's own names, whatever wraps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from flash_ansr.checkpoint.folder import CheckpointError
from flash_ansr.checkpoint.weights import Checkpoint, save_checkpoint
from flash_ansr.model import Network
from flash_ansr.train.config import OptimizerConfig
from flash_ansr.train.loop import make_optimizer
from flash_ansr.train.sharded_state import gather, own_name, restore_optimizer
from tests.networks import SMALL, table

Wrap = Callable[[nn.Module], nn.Module]


@pytest.fixture(scope="module", autouse=True)
def process_group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A group of this process alone, for DDP."""
    rendezvous = tmp_path_factory.mktemp("group") / "file"
    torch.distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def compiled(module: nn.Module) -> nn.Module:
    return torch.compile(module, backend="eager")


def made(wrap: Wrap) -> tuple[nn.Module, torch.optim.AdamW]:
    network = Network(SMALL, seed=3)
    optimizer = make_optimizer(network, OptimizerConfig(learning_rate=1e-3))
    return wrap(network), optimizer


WRAPS: dict[str, Wrap] = {
    "none": lambda network: network,
    "compile": compiled,
    "ddp": DistributedDataParallel,
    "compile of ddp": lambda network: compiled(DistributedDataParallel(network)),
    "ddp of compile": lambda network: DistributedDataParallel(compiled(network)),
}


@pytest.mark.parametrize("before", WRAPS)
@pytest.mark.parametrize("after", ["none", "compile of ddp", "ddp of compile"])
def test_state_comes_back_under_any_wrapper(before: str, after: str, tmp_path: Path) -> None:
    module, optimizer = made(WRAPS[before])
    for parameter in module.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    optimizer.step()
    weights, state = gather(module, optimizer)
    own = Network(SMALL)
    assert set(weights) == set(own.state_dict())
    assert {name.rpartition("/")[0] for name in state} == {name for name, _ in own.named_parameters()}
    save_checkpoint(tmp_path / "c", Checkpoint(SMALL, ("a",)), weights, extra={"optimizer": state})
    fresh, empty = made(WRAPS[after])
    restore_optimizer(fresh, empty, tmp_path / "c")
    _, restored = gather(fresh, empty)
    assert restored.keys() == state.keys()
    for name in state:
        assert torch.equal(restored[name], state[name]), name
    assert [group["weight_decay"] for group in empty.param_groups] == [0.01, 0.0]


def test_names_of_wrappers_are_left_out() -> None:
    for name in ("_orig_mod.module.a.weight", "module._orig_mod.a.weight", "_fsdp_wrapped_module.a.weight"):
        assert own_name(name) == "a.weight"
    assert own_name("_orig_mod._fsdp_wrapped_module.blocks.0._fsdp_wrapped_module.b") == "blocks.0.b"


def test_the_state_of_another_model_is_refused(tmp_path: Path) -> None:
    module, optimizer = made(WRAPS["none"])
    X, y, rows = table()
    module(X, y, rows, torch.zeros(2, 3, dtype=torch.long)).sum().backward()
    optimizer.step()
    weights, state = gather(module, optimizer)
    del state["decoder.head.weight/exp_avg"], state["decoder.head.weight/exp_avg_sq"], state["decoder.head.weight/step"]
    save_checkpoint(tmp_path / "c", Checkpoint(SMALL, ("a",)), weights, extra={"optimizer": state})
    with pytest.raises(CheckpointError, match=r"another model: see 'decoder\.head\.weight'"):
        restore_optimizer(*made(WRAPS["none"]), tmp_path / "c")

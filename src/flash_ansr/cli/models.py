"""``flash-ansr models``: the networks that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from simplipy.cli.terminal import console, new_app

app = new_app("List trained models and configs, look into a checkpoint, export one.")


@app.command("list")
def list_models(folder: Annotated[Path, Option(help="Folder with training runs.")] = Path("runs")) -> None:
    """Print the configs that can be trained, the network of this package and the checkpoints of runs.

    Example: flash-ansr models list --folder runs
    """
    from rich.table import Table

    from flash_ansr.checkpoint.folder import CheckpointError, newest_checkpoint
    from flash_ansr.checkpoint.weights import read_checkpoint
    from flash_ansr.infer.search.set_up import bundled_checkpoint
    from flash_ansr.model import ModelConfig
    from flash_ansr.train.config import config_names, load_config

    table = Table("model", "encoder", "decoder", "variables", "steps", "where")

    def add(name: str, model: ModelConfig, steps: int, where: str) -> None:
        encoder, decoder = model.encoder, model.decoder
        shape = f"{encoder.dim} x {encoder.n_isab}+{encoder.n_sab}", f"{decoder.dim} x {decoder.n_layers}"
        table.add_row(name, *shape, str(model.n_variables), f"{steps:,}", where)

    for name in config_names():
        if name != "base":
            config = load_config(name)
            add(name, config.model, config.optimizer.steps, "config")
    bundled = bundled_checkpoint()
    checkpoints = [(bundled.name, bundled, "in this package")]
    for run in sorted(folder.iterdir()) if folder.is_dir() else []:
        newest = newest_checkpoint(run)
        if newest is not None:
            checkpoints.append((run.name, newest, str(newest)))
    for name, checkpoint, where in checkpoints:
        try:
            found = read_checkpoint(checkpoint)
        except (CheckpointError, OSError) as error:
            table.add_row(name, "", "", "", "", f"unreadable: {error}")
        else:
            add(name, found.config, found.step, where)
    console().print(table)


@app.command()
def export(
    run: Annotated[Path, Argument(help="Folder of a training run, whose newest checkpoint counts, or of one.")],
    out: Annotated[Path, Option(help="Folder to write; new, or a checkpoint to replace.")],
    dtype: Annotated[Literal["float32", "float16"], Option(help="Type of the stored weights.")] = "float32",
) -> None:
    """Write the weights of a run to use and to pass on, without what only --resume needs.

    Example: flash-ansr models export runs/nano --out nano --dtype float16
    """
    import torch

    from flash_ansr.checkpoint.folder import WEIGHTS_FILE, find_checkpoint
    from flash_ansr.checkpoint.weights import export_checkpoint

    source = find_checkpoint(run)
    export_checkpoint(source, out, getattr(torch, dtype))
    size = (out / WEIGHTS_FILE).stat().st_size / 1e6
    console().print(f"wrote {source} to {out}: weights of {size:.2f} MB", soft_wrap=True)
    console().print(f"next:  flash-ansr fit DATA.csv --target y --checkpoint {out}", soft_wrap=True)


@app.command()
def info(checkpoint: Annotated[Path, Argument(help="Folder of a checkpoint, or of a training run.")]) -> None:
    """Print what a checkpoint says about itself, as JSON.

    Example: flash-ansr models info runs/nano
    """
    from flash_ansr.checkpoint.folder import find_checkpoint
    from flash_ansr.checkpoint.weights import load_network
    from flash_ansr.model.config import to_mapping
    from flash_ansr.versions import rule_set_hash

    folder = find_checkpoint(checkpoint)
    network, found = load_network(folder)
    content = {
        "checkpoint": str(folder),
        "parameters": network.n_parameters(),
        "step": found.step,
        "rules": found.rules,
        "rules_are_current": found.rules == rule_set_hash(),
        "n_vocabulary": len(found.vocabulary),
        "vocabulary": list(found.vocabulary),
        "position": found.position,
        "config": to_mapping(found.config),
    }
    console().print(json.dumps(content, indent=1), soft_wrap=True)

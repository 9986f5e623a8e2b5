"""``flash-ansr models``: the networks that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(help="List trained models and configs, and look into a checkpoint.", no_args_is_help=True)
console = Console(markup=False, emoji=False, highlight=False)


@app.command("list")
def list_models(
    folder: Annotated[Path, typer.Option(help="Folder with training runs.")] = Path("runs"),
) -> None:
    """Print the configs that can be trained and the checkpoints of runs.

    Example: flash-ansr models list --folder runs
    """
    from flash_ansr.model import ModelConfig, read_checkpoint
    from flash_ansr.train.config import config_names, load_config
    from flash_ansr.train.run_folder import RunFolder

    table = Table("model", "encoder", "decoder", "variables", "steps", "where")

    def add(name: str, model: ModelConfig, steps: int, where: str) -> None:
        encoder, decoder = model.encoder, model.decoder
        shape = f"{encoder.dim} x {encoder.n_isab}+{encoder.n_sab}", f"{decoder.dim} x {decoder.n_layers}"
        table.add_row(name, *shape, str(model.n_variables), f"{steps:,}", where)

    for name in config_names():
        if name != "base":
            config = load_config(name)
            add(name, config.model, config.optimizer.steps, "config")
    for run in sorted(folder.iterdir()) if folder.is_dir() else []:
        checkpoint = RunFolder(run).latest()
        if checkpoint is not None:
            found = read_checkpoint(checkpoint)
            add(run.name, found.config, found.step, str(checkpoint))
    console.print(table)


@app.command()
def info(checkpoint: Annotated[Path, typer.Argument(help="Folder of a checkpoint, or of a training run.")]) -> None:
    """Print what a checkpoint says about itself, as JSON.

    Example: flash-ansr models info runs/nano
    """
    from flash_ansr.checkpoint_folder import find_checkpoint
    from flash_ansr.model import load_network
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
    console.print(json.dumps(content, indent=1), soft_wrap=True)

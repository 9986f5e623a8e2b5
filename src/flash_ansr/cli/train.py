"""``flash-ansr train``: train a model, plan a run, report on runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from flash_ansr.progress_bar import progress_bar
from simplipy.cli.terminal import console, new_app

if TYPE_CHECKING:
    from flash_ansr.train.config import TrainConfig
    from flash_ansr.train.plan import TrainingCost
    from flash_ansr.train.run_folder import RunFolder


class TrainGroup(TyperGroup):
    """``train CONFIG`` is ``train run CONFIG``: a word that is no command is a config."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``run`` in front of anything but a command and a call for help."""
        if args and args[0] not in {*self.commands, "--help"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


Assignments = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="Change a value, as in optimizer.steps=100.")
]
app = new_app("Train a model: flash-ansr train CONFIG. Report on runs: flash-ansr train report RUN...", cls=TrainGroup)


@app.command()
def run(
    config: Annotated[str, Argument(help="A YAML file, or the name of one that comes with the package: nano.")],
    out: Annotated[Path | None, Option(help="Run folder; runs/NAME by default.")] = None,
    assignments: Assignments = None,
    minutes: Annotated[
        float | None, Option(help="As many steps as fit into this time, by a short measurement.", min=0.0)
    ] = None,
    resume: Annotated[bool, Option("--resume", help="Continue the run in the folder, bit for bit.")] = False,
    init_from: Annotated[Path | None, Option(help="Start from the weights of this checkpoint or run.")] = None,
    plan: Annotated[bool, Option("--plan", help="Print what the run costs, train nothing.")] = False,
    samples: Annotated[int | None, Option(help="Problems to plan for, instead of the config's.", min=1)] = None,
) -> None:
    """Train a model, or with --plan print what that costs."""
    from flash_ansr.train.config import load_config
    from flash_ansr.train.run_folder import RunFolder

    folder = RunFolder(out or Path("runs") / Path(config).stem)
    chosen = _resumed(folder, assignments or [], minutes) if resume else load_config(config, assignments or [])
    # the other processes of a run get the config that the first one resolves
    is_first = int(os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))) == 0
    if minutes is not None and is_first:
        chosen = _for_minutes(chosen, minutes)
    if plan:
        n_samples = samples or chosen.optimizer.steps * chosen.optimizer.batch_size
        _print_plan(config, chosen, _measured_plan(chosen), n_samples)
        return
    from flash_ansr.train.loop import train

    done = train(chosen, folder, resume=resume, init_from=init_from)
    if done and is_first:
        typer.echo(f"done: {folder.path}")
        typer.echo(f"next:  flash-ansr fit DATA.csv --target y --checkpoint {folder.path}")
    elif is_first:
        typer.echo(f"stopped and saved; continue with: flash-ansr train {config} --out {folder.path} --resume")


@app.command()
def report(
    runs: Annotated[list[Path], Argument(help="Run folders.")],
    out: Annotated[Path, Option(help="Folder for figures and summary.")] = Path("report"),
) -> None:
    """Draw loss against operations with its power law, gradient norms and token embeddings."""
    from rich.table import Table

    from flash_ansr.train.learning_curves import write_report

    written = write_report(runs, out)
    summary = json.loads(written[0].read_text(encoding="utf-8"))
    table = Table("run", "parameters", "samples", "minutes", "FLOPs", "validation loss")
    for run in summary["runs"]:
        counts = (f"{run[name]:,}" for name in ("n_parameters", "samples"))
        table.add_row(
            run["name"], *counts, f"{run['seconds'] / 60:.1f}", f"{run['flops']:.2e}", f"{run['validation_loss']:.4f}"
        )
    console().print(table)
    if (law := summary["power_law"]) is None:
        console().print("no power law: it needs runs of at least three sizes that see data")
    else:
        console().print(f"loss = {law['factor']:.4g} * FLOPs^{law['exponent']:.4f} over {law['n_points']} points")
    for path in written:
        console().print(f"wrote {path}")


def _resumed(folder: RunFolder, assignments: list[str], minutes: float | None) -> TrainConfig:
    """The config of the run in a folder, with another end if one is assigned."""
    from flash_ansr.model.config import ConfigError
    from flash_ansr.train.config import changed_config

    keys = {assignment.partition("=")[0].strip() for assignment in assignments}
    if minutes is not None or keys - {"optimizer.steps"}:
        raise ConfigError(
            "--resume continues a run as it is: leave out --minutes and --set, but for --set optimizer.steps=N, which "
            "moves its end; for other changes start a new run with --init-from"
        )
    config = folder.config()
    return folder.with_steps(changed_config(config, assignments).optimizer.steps) if keys else config


def _measured_plan(config: TrainConfig) -> TrainingCost:
    from flash_ansr.train.plan import SECONDS, make_plan

    with progress_bar("measuring seconds", int(SECONDS)) as bar:
        return make_plan(config, bar.reach)


def _for_minutes(config: TrainConfig, minutes: float) -> TrainConfig:
    """The config with as many steps as fit into the time."""
    import dataclasses

    speed = _measured_plan(config).samples_per_second * config.run.devices
    steps = max(1, round(minutes * 60 * speed / config.optimizer.batch_size))
    return dataclasses.replace(config, optimizer=dataclasses.replace(config.optimizer, steps=steps))


def _print_plan(name: str, config: TrainConfig, plan: TrainingCost, n_samples: int) -> None:
    from rich.table import Table

    n_step = max(1, config.optimizer.batch_size // config.run.devices)
    if plan.peak_bytes:
        how = "measured here"
    elif plan.n_measured:
        layers = " through one layer of each kind" if plan.is_shallow else ""
        how = (
            f"from steps of {plan.n_measured} problems{layers}, measured here, to steps of {n_step} by their operations"
        )
    else:
        how = "estimated from the speed of matrix products here"
    process = "a process of 1 thread" if plan.n_threads == 1 else f"a process of {plan.n_threads} threads"
    data = f"data {100 * plan.data_share:.1f} % of the time"
    total, mega = plan.n_encoder + plan.n_decoder, 1e6
    rows = {
        "config": name,
        "parameters": f"{total:,} (encoder {plan.n_encoder:,}, decoder {plan.n_decoder:,})",
        "a problem": f"{plan.n_rows:.0f} rows and {plan.n_tokens:.1f} tokens in the mean of a batch",
        "forward pass": f"encoder {plan.cost.encoder / mega:.1f} MFLOP, decoder {plan.cost.decoder / mega:.1f} MFLOP",
        "training": f"{plan.cost.training / mega:.1f} MFLOP a problem, {plan.cost.training * n_samples:.2e} in all",
        "speed": f"{plan.samples_per_second:.1f} problems/s {process}, {how}; {data}",
        "memory": f"{plan.state_bytes / 2**30:.2f} GB for weights, gradients and optimizer",
    }
    if plan.peak_bytes:
        rows["memory"] += f"; {plan.peak_bytes / 2**30:.2f} GB at the peak of a process"
    for key, value in rows.items():
        console().print(f"{key:13} {value}", soft_wrap=True)
    table = Table("devices", "problems/s", f"hours for {n_samples:,} problems")
    devices = sorted({1, 2, 4, 8, config.run.devices})
    for n in devices:
        speed, hours = f"{n * plan.samples_per_second:.0f}", f"{plan.hours(n_samples, n):.2f}"
        table.add_row(str(n), *((speed, hours) if n == 1 else (f"at best {speed}", f"at best {hours}")))
    console().print(table)
    console().print(f"One device {'was measured' if plan.peak_bytes else 'is an estimate'}; more are multiples of it.")

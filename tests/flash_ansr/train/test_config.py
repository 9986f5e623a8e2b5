"""Training configs: layers of files, assignments, errors that name the key, the schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flash_ansr.model import ConfigError
from flash_ansr.model.config import from_mapping, to_mapping
from flash_ansr.train.config import CONFIG_FOLDER, OptimizerConfig, TrainConfig, config_names, load_config

ROOT = Path(__file__).parents[3]


def test_a_config_is_base_and_what_differs() -> None:
    nano, base = load_config("nano"), load_config("base")
    assert (nano.optimizer.beta2, nano.optimizer.clip) == (base.optimizer.beta2, base.optimizer.clip) == (0.95, 2.0)
    assert (nano.optimizer.batch_size, base.optimizer.batch_size) == (256, 128)
    assert nano.model.encoder.n_seeds == 16
    assert nano.model.n_variables >= 9
    assert load_config("nesymres").model.encoder.n_inducing == load_config("micro").model.encoder.n_inducing == 16


def test_configs_at_the_root_are_those_of_the_package() -> None:
    # a link in the work tree, a copy in a source distribution
    for path in CONFIG_FOLDER.iterdir():
        assert (ROOT / "configs" / path.name).read_bytes() == path.read_bytes()
    assert load_config(ROOT / "configs" / "nano.yaml") == load_config("nano")


def test_published_training() -> None:
    for name in ("3M", "20M", "120M"):
        optimizer = load_config(name).optimizer
        assert (optimizer.learning_rate, optimizer.weight_decay, optimizer.beta1, optimizer.beta2) == (
            1e-4,
            0.01,
            0.9,
            0.95,
        )
        assert (optimizer.warmup, optimizer.decay) == (0.1, 0.2)
    big = load_config("1B").optimizer
    assert (big.learning_rate, big.weight_decay, big.beta2, big.warmup, big.decay) == (
        3e-5,
        0.025,
        0.99995,
        0.1875,
        0.25,
    )


def test_a_resolved_config_comes_back() -> None:
    for name in config_names():
        config = load_config(name)
        assert from_mapping(TrainConfig, to_mapping(config)) == config


def test_assignments() -> None:
    config = load_config("nano", ["optimizer.learning_rate=3e-4", "model.encoder.numbers=hybrid", "data.max_rows=null"])
    assert config.optimizer.learning_rate == 3e-4
    assert config.model.encoder.numbers == "hybrid"
    assert config.data.max_rows is None


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("optimizer.step=3", r"unknown key 'optimizer\.step'; did you mean 'optimizer\.steps'\?"),
        ("model.encoder.qqq=3", r"unknown key 'model\.encoder\.qqq'; known here: dim, n_heads"),
        ("optimizer.steps=many", "optimizer.steps must be of type int, got 'many'"),
        ("optimizer.steps=true", "optimizer.steps must be of type int, got True"),
        ("optimizer.steps=0", "optimizer: steps must be > 0, got 0"),
        ("model.encoder.norm=batch", "model.encoder.norm must be one of 'rms_set'"),
        ("model.encoder.n_heads=7", "model.encoder: dim must be a multiple of n_heads, got 128 and 7"),
        ("model.encoder=7", "model.encoder must be a section"),
        ("seed.x=7", "'seed' in 'seed.x' is a value"),
        ("optimizer.warmup=0.9", "must be at most 1, got 0.9"),
        ("steps", "--set needs KEY=VALUE"),
    ],
)
def test_mistakes_are_named(assignment: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config("nano", [assignment])


def test_unknown_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config named 'nanoo'; known: .*nano"):
        load_config("nanoo")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(ConfigError, match="must hold keys and values, got list"):
        load_config(tmp_path / "list.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(ConfigError, match="is no YAML"):
        load_config(tmp_path / "bad.yaml")


def test_warmup_stable_decay() -> None:
    config = OptimizerConfig(steps=100, learning_rate=2.0, warmup=0.1, decay=0.2)
    rates = [config.learning_rate_at(step) for step in range(101)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[4] == pytest.approx(1.0)
    assert rates[9:81] == [2.0] * 72
    assert rates[90] == pytest.approx(1.0)
    assert rates[100] == 0.0
    assert OptimizerConfig(warmup=0.0, decay=0.0).learning_rate_at(0) == 1e-4


@given(data=st.data(), steps=st.integers(10, 300), warmup=st.floats(0, 0.5), decay=st.floats(0, 0.5))
def test_another_end_moves_only_the_decay(data: st.DataObject, steps: int, warmup: float, decay: float) -> None:
    """Learning rates of the past stay, and the schedule goes on from there without a jump."""
    config = OptimizerConfig(steps=steps, warmup=warmup, decay=decay)
    n_done = data.draw(st.integers(0, config.decay_start))
    moved = config.with_steps(data.draw(st.integers(steps, 3 * steps)), n_done)
    past = range(n_done)
    assert [moved.learning_rate_at(k) for k in past] == [config.learning_rate_at(k) for k in past]
    assert moved.n_warmup == config.n_warmup
    assert moved.steps - moved.decay_start == round(decay * moved.steps)
    rates = [moved.learning_rate_at(k) for k in range(moved.steps + 1)]
    largest_step = max(1 / max(1, moved.n_warmup), 1 / max(1, moved.steps - moved.decay_start)) * config.learning_rate
    assert np.abs(np.diff(rates[:-1])).max(initial=0.0) <= largest_step * (1 + 1e-9)


def test_the_end_cannot_move_into_the_past() -> None:
    config = OptimizerConfig(steps=100, warmup=0.1, decay=0.2)
    assert config.with_steps(75, 60).decay_start == 60
    assert config.with_steps(200, 80).decay_start == 160
    with pytest.raises(ConfigError, match=r"optimizer\.steps=70 of a run at step 60 .* at 80 now and at 56 then; take"):
        config.with_steps(70, 60)
    with pytest.raises(ConfigError, match="begins at 80 now and at 160 then"):
        config.with_steps(200, 81)
    with pytest.raises(ConfigError, match=r"with a warm-up of 10: .* at 8 then;"):
        config.with_steps(10, 0)
    with pytest.raises(ConfigError, match=r"steps must be > 0, got 0"):
        config.with_steps(0, 0)

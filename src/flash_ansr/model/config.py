"""The shape of a network: frozen dataclasses, built from plain mappings (YAML, JSON) with errors that name the key.

Nothing here imports torch. The defaults are the paper's choices; sizes come from the files in ``configs/``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from flash_ansr import strict_config
from flash_ansr.strict_config import POSITIVE, between, check_bounds
from simplipy.errors import SimplipyError

Numbers = Literal["bits32", "bits16", "real", "hybrid"]
NormPosition = Literal["pre", "post"]
Activation = Literal["gelu", "relu"]

# features of one number
NUMBER_WIDTHS: dict[Numbers, int] = {"bits32": 32, "bits16": 16, "real": 14, "hybrid": 22}

Config = TypeVar("Config")


class ConfigError(SimplipyError):
    """A configuration with an unknown key or a value that cannot be."""


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Set encoder: embedding of a row, ``n_isab`` ISAB, one PMA, ``n_sab`` SAB.

    Without ISAB and with few seeds it is a small Perceiver: the seeds are its latents.

    Attributes
    ----------
    dim, n_heads : int
        Width, and number of attention heads.
    n_isab, n_sab : int
        Blocks on the rows before the pooling, and on the pooled seeds after it.
    n_inducing, n_seeds : int
        The paper's I and S.
    numbers : str
        How a number becomes features: IEEE-754 bits (``bits32``, ``bits16``), bounded real features (``real``), or
        those with the exponent's bits beside them (``hybrid``).
    embed_layers : int
        1: a linear embedding, as published. 2: a hidden layer of width ``dim`` before it.
    norm, norm_position : str
        ``rms_set`` is the paper's masked RMSSetNorm; ``rms`` and ``layer`` look at one row at a time.
    activation : str
        Of the feed-forward networks.
    dropout : float
        On attention weights and feed-forward outputs.
    """

    dim: Annotated[int, between(1, 65536)] = 192
    n_heads: Annotated[int, POSITIVE] = 3
    n_isab: Annotated[int, between(0, 1000)] = 1
    n_sab: Annotated[int, between(0, 1000)] = 1
    n_inducing: Annotated[int, between(1, 65536)] = 128
    n_seeds: Annotated[int, between(1, 65536)] = 128
    numbers: Numbers = "bits32"
    embed_layers: Annotated[int, between(1, 2)] = 1
    norm: Literal["rms_set", "rms", "layer", "none"] = "rms_set"
    norm_position: NormPosition = "pre"
    activation: Activation = "gelu"
    dropout: Annotated[float, between(0.0, 0.99)] = 0.1

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Autoregressive transformer over tokens with cross-attention to the encoded set.

    Attributes
    ----------
    dim, n_heads, n_layers : int
        Width, heads, blocks. The width of a head is even, since RoPE turns pairs.
    norm, norm_position : str
        ``rms`` and ``pre`` as published; ``post`` is the paper's ablation B1.
    positions : str
        ``rope`` as published, or ``sinusoidal``.
    activation : str
        Of the feed-forward networks.
    dropout : float
        On attention weights and feed-forward outputs.
    """

    dim: Annotated[int, between(1, 65536)] = 192
    n_heads: Annotated[int, POSITIVE] = 3
    n_layers: Annotated[int, between(1, 1000)] = 3
    norm: Literal["rms", "layer"] = "rms"
    norm_position: NormPosition = "pre"
    positions: Literal["rope", "sinusoidal"] = "rope"
    activation: Activation = "gelu"
    dropout: Annotated[float, between(0.0, 0.99)] = 0.1

    def __post_init__(self) -> None:
        _check(self)
        if self.dim // self.n_heads % 2:
            raise ConfigError(f"dim / n_heads must be even for RoPE, got {self.dim} / {self.n_heads}; change either")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Everything that fixes the shapes of a network's weights.

    Attributes
    ----------
    n_variables : int
        Columns of X that the network sees; y is one more.
    n_tokens : int
        Rows of the token embedding and of the output layer. May be more than the vocabulary has, so that tokens can be
        added without a change of shapes; the spare ones are never a target.
    max_length : int
        Longest token sequence, begin and end included.
    blind : bool
        Zero what the encoder says: the baseline that learns the prior and sees no data.

    Examples
    --------
    >>> from flash_ansr.model.config import ModelConfig, from_mapping
    >>> from_mapping(ModelConfig, {"encoder": {"dim": 128, "n_heads": 4}}).encoder.dim
    128
    >>> from_mapping(ModelConfig, {"encoder": {"n_head": 4}})
    Traceback (most recent call last):
    flash_ansr.model.config.ConfigError: unknown key 'encoder.n_head'; did you mean 'encoder.n_heads'?
    """

    n_variables: Annotated[int, between(1, 10_000)] = 17
    n_tokens: Annotated[int, between(2, 32767)] = 128
    max_length: Annotated[int, between(2, 4096)] = 64
    blind: bool = False
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    def __post_init__(self) -> None:
        check_bounds(self, ConfigError)


def from_mapping(kind: type[Config], mapping: Mapping[str, Any]) -> Config:
    """Dataclass of this kind from nested mappings; an unknown key is an error that names the nearest known one."""
    return strict_config.from_mapping(kind, mapping, ConfigError)


def to_mapping(config: Any) -> dict[str, Any]:
    """Nested dictionaries of plain values, what ``from_mapping`` reads."""
    return dataclasses.asdict(config)


def _check(part: EncoderConfig | DecoderConfig) -> None:
    check_bounds(part, ConfigError)
    if part.dim % part.n_heads:
        raise ConfigError(f"dim must be a multiple of n_heads, got {part.dim} and {part.n_heads}")

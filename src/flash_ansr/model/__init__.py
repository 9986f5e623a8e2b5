"""The amortized model: configs, network, checkpoints. Knows token ids and sizes, neither data nor the simplifier."""

from flash_ansr.model.config import ConfigError, DecoderConfig, EncoderConfig, ModelConfig
from flash_ansr.model.decoder import DecoderState
from flash_ansr.model.network import Network

__all__ = ["ConfigError", "DecoderConfig", "DecoderState", "EncoderConfig", "ModelConfig", "Network"]

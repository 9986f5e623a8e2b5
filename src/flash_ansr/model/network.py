"""The amortized model: p(next token | token prefix, table), an encoder and a decoder trained end to end."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from flash_ansr.model.attention import MAB, PMA
from flash_ansr.model.config import ModelConfig
from flash_ansr.model.decoder import Decoder, DecoderBlock
from flash_ansr.model.encoder import Encoder


class Network(nn.Module):
    """Encoder and decoder.

    Parameters
    ----------
    config : ModelConfig
    seed : int
        Of the initial weights.

    Examples
    --------
    >>> import torch
    >>> from flash_ansr.model import ModelConfig, Network
    >>> network = Network(ModelConfig(n_variables=2)).eval()
    >>> X, y, rows = torch.ones(1, 5, 2), torch.ones(1, 5), torch.ones(1, 5, dtype=torch.bool)
    >>> network(X, y, rows, torch.zeros(1, 3, dtype=torch.long)).shape
    torch.Size([1, 3, 128])
    """

    def __init__(self, config: ModelConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        init_weights(self, seed)

    def encode(self, X: Tensor, y: Tensor, row_mask: Tensor) -> Tensor:
        """The encoding of tables X (batch, rows, columns), y (batch, rows): (batch, n_seeds, dim)."""
        memory: Tensor = self.encoder(X, y, row_mask)
        # times zero: every parameter keeps a gradient, which distributed training expects
        return memory * 0.0 if self.config.blind else memory

    def forward(self, X: Tensor, y: Tensor, row_mask: Tensor, token_ids: Tensor) -> Tensor:
        """Logits (batch, length, n_tokens) after each prefix of token_ids (batch, length)."""
        logits: Tensor = self.decoder(token_ids, self.encode(X, y, row_mask))
        return logits

    def n_parameters(self) -> dict[str, int]:
        """Number of weights of the encoder and of the decoder."""
        return {name: sum(p.numel() for p in part.parameters()) for name, part in self.named_children()}


class _Undrawn(TorchFunctionMode):
    """Makes layers without drawing their weights: on the device "meta" torch imports its compiler for that."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        drawn = getattr(func, "__module__", None) == "torch.nn.init"
        return kwargs["tensor"] if drawn else func(*args, **(kwargs or {}))


def count_parameters(config: ModelConfig) -> dict[str, int]:
    """Number of weights of the encoder and of the decoder of a network that is not made."""
    with torch.device("meta"), _Undrawn():
        return Network(config).n_parameters()


@torch.no_grad()
def init_weights(network: Network, seed: int) -> None:
    """Draw all weights: unit variance in, unit variance out, and residual branches that start small."""
    device = next(network.parameters()).device
    if device.type == "meta":
        return
    generator = torch.Generator(device).manual_seed(seed)
    for module in network.modules():
        if isinstance(module, nn.Linear):
            module.weight.normal_(0.0, module.in_features**-0.5, generator=generator)
        elif isinstance(module, nn.Embedding):
            module.weight.normal_(0.0, 1.0, generator=generator)
        elif isinstance(module, PMA):
            module.seeds.normal_(0.0, 1.0, generator=generator)
    for part in network.children():
        blocks = [block for block in part.modules() if isinstance(block, MAB | DecoderBlock)]
        outputs = [layer for block in blocks for layer in block.residual_outputs()]
        for layer in outputs:
            layer.weight.mul_(len(outputs) ** -0.5)
    # the first prediction is nearly uniform
    network.decoder.head.weight.mul_(0.1)

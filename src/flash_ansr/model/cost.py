"""The cost of a network on paper: floating-point operations and bytes, from its config alone."""

from __future__ import annotations

from dataclasses import dataclass

from flash_ansr.model.config import NUMBER_WIDTHS, ModelConfig

# weight, gradient and two moments of AdamW, four bytes each
_BYTES_PER_PARAMETER = 16


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations of a forward pass over one problem, a multiplication and an addition counted as two.

    Attributes
    ----------
    encoder, decoder : float
    """

    encoder: float
    decoder: float

    @property
    def training(self) -> float:
        """Forward and backward pass: three times a forward pass."""
        return 3 * (self.encoder + self.decoder)


def forward_cost(config: ModelConfig, n_rows: float, n_tokens: float) -> Cost:
    """Cost of matrix products, and of attention, for a table of ``n_rows`` and a sequence of ``n_tokens``."""
    return Cost(2 * _encoder_products(config, n_rows), 2 * _decoder_products(config, n_tokens))


def compute_6nd(n_encoder: int, n_decoder: int, n_rows: float, n_tokens: float) -> float:
    """The paper's estimate of training operations, 6 N D: the encoder sees rows, the decoder tokens."""
    return 6.0 * (n_encoder * n_rows + n_decoder * n_tokens)


def state_bytes(n_parameters: int) -> int:
    """Bytes of weights, gradients and optimizer state in float32; activations come on top."""
    return _BYTES_PER_PARAMETER * n_parameters


def _encoder_products(config: ModelConfig, n_rows: float) -> float:
    encoder = config.encoder
    dim, seeds, inducing = encoder.dim, encoder.n_seeds, encoder.n_inducing
    width = (config.n_variables + 1) * NUMBER_WIDTHS[encoder.numbers]
    embed = n_rows * dim * (width + (dim if encoder.embed_layers == 2 else 0))
    isab = _block(dim, inducing, n_rows, learnt_query=True) + _block(dim, n_rows, inducing)
    pool = _block(dim, seeds, n_rows, learnt_query=True)
    sab = _block(dim, seeds, seeds)
    return embed + encoder.n_isab * isab + pool + encoder.n_sab * sab + seeds * dim * config.decoder.dim


def _block(dim: int, n_queries: float, n_context: float, learnt_query: bool = False) -> float:
    """An attention block: projections, scores, weighted sums, feed-forward of width 3 dim."""
    projections = n_queries * (1 if learnt_query else 2) + n_context * 2
    return dim * (dim * (projections + 6 * n_queries) + 2 * n_queries * n_context)


def _decoder_products(config: ModelConfig, n_tokens: float) -> float:
    dim, seeds = config.decoder.dim, config.encoder.n_seeds
    self_attention = dim * (4 * dim * n_tokens + 2 * n_tokens**2)
    layer = self_attention + _block(dim, n_tokens, seeds)
    return config.decoder.n_layers * layer + n_tokens * dim * config.n_tokens

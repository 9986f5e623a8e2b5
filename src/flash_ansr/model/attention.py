"""Building blocks of encoder and decoder: norms, attention, feed-forward, and the blocks of a Set Transformer.

Masks are bool with True = keep; what a mask drops never reaches a value that is kept. Weights are drawn in
``network.init_weights``, not here.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from flash_ansr.model.config import Activation, EncoderConfig

EPSILON = 1e-6


class RMSSetNorm(nn.Module):
    """The paper's masked RMSSetNorm: one root mean square over all kept points and features of a set."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Scale (batch, rows, dim) by the statistic of the rows that mask (batch, rows) keeps."""
        squares = x.float().square().sum(-1)  # (batch, rows)
        if mask is None:
            mean_square = squares.mean(1) / x.shape[-1]
        else:
            n_values = (mask.sum(1) * x.shape[-1]).clamp_min(1)
            mean_square = squares.masked_fill(~mask, 0.0).sum(1) / n_values
        scale = (mean_square + EPSILON).rsqrt()[:, None, None]
        return (x * scale).to(x.dtype) * self.weight


def make_norm(name: str, dim: int) -> nn.Module:
    """The norm with this name in a config; all but RMSSetNorm look at one vector at a time."""
    if name == "rms_set":
        return RMSSetNorm(dim)
    if name == "none":
        return nn.Identity()
    return nn.LayerNorm(dim, EPSILON, bias=False) if name == "layer" else nn.RMSNorm(dim, EPSILON)


def normed(norm: nn.Module, x: Tensor, mask: Tensor | None) -> Tensor:
    """Normed (batch, rows, dim); the norm sees the mask (batch, rows) only if it looks at several rows."""
    return norm(x, mask) if isinstance(norm, RMSSetNorm) else norm(x)


class FeedForward(nn.Module):
    """Two layers with a hidden width of 3 dim, in every block of the paper."""

    def __init__(self, dim: int, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.up = nn.Linear(dim, 3 * dim, bias=False)
        self.down = nn.Linear(3 * dim, dim, bias=False)
        self.activation = F.relu if activation == "relu" else F.gelu
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """(..., dim) -> (..., dim)."""
        return F.dropout(self.down(self.activation(self.up(x))), self.dropout, self.training)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(batch, length, dim) -> (batch, heads, length, dim / heads)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """(batch, heads, length, dim / heads) -> (batch, length, dim)."""
    return x.transpose(1, 2).flatten(2)


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, dropout: float = 0.0, causal: bool = False
) -> Tensor:
    """Scaled dot-product attention of (batch, heads, length, head dim) tensors.

    On a CPU always in float32: there torch's half-precision kernel is many times slower backwards.
    """
    if query.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return F.scaled_dot_product_attention(query, key, value, mask, dropout, causal)
    with torch.autocast("cpu", enabled=False):
        return F.scaled_dot_product_attention(query.float(), key.float(), value.float(), mask, dropout, causal)


class CrossAttention(nn.Module):
    """Multi-head attention from queries to a context."""

    def __init__(self, dim: int, context_dim: int, n_heads: int, dropout: float, project_query: bool = True) -> None:
        super().__init__()
        # learnt queries need no projection: it could be folded into them
        self.query = nn.Linear(dim, dim, bias=False) if project_query else nn.Identity()
        self.key_value = nn.Linear(context_dim, 2 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.n_heads = n_heads
        self.dropout = dropout

    def keys_values(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of a context, each (batch, heads, length, dim / heads)."""
        key, value = self.key_value(context).chunk(2, dim=-1)
        return split_heads(key, self.n_heads), split_heads(value, self.n_heads)

    def attend(self, x: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attention of x (batch, queries, dim) to given keys and values; mask (batch, 1, 1, length)."""
        query = split_heads(self.query(x), self.n_heads)
        dropout = self.dropout if self.training else 0.0
        return self.out(merge_heads(attention(query, key, value, mask, dropout)))

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attention of x (batch, queries, dim) to what mask (batch, length) keeps of context (batch, length, dim)."""
        key, value = self.keys_values(context)
        return self.attend(x, key, value, None if mask is None else mask[:, None, None, :])


class MAB(nn.Module):
    """Multihead attention block of the Set Transformer: attention to a context, then feed-forward, with residuals.

    Pre-norm: every input of a sublayer is normed. Post-norm: every sum. ``learnt_query``: the queries are parameters.
    """

    def __init__(self, config: EncoderConfig, learnt_query: bool = False) -> None:
        super().__init__()
        dim = config.dim
        self.pre = config.norm_position == "pre"
        self.attention = CrossAttention(dim, dim, config.n_heads, config.dropout, project_query=not learnt_query)
        self.feed_forward = FeedForward(dim, config.activation, config.dropout)
        self.query_norm = nn.Identity() if self.pre and learnt_query else make_norm(config.norm, dim)
        self.context_norm = make_norm(config.norm, dim) if self.pre else nn.Identity()
        self.feed_forward_norm = make_norm(config.norm, dim)

    def forward(
        self, x: Tensor, context: Tensor, x_mask: Tensor | None = None, context_mask: Tensor | None = None
    ) -> Tensor:
        """Queries x (batch, n, dim) after a look at context (batch, m, dim)."""
        if self.pre:
            context = normed(self.context_norm, context, context_mask)
            x = x + self.attention(normed(self.query_norm, x, x_mask), context, context_mask)
            return x + self.feed_forward(normed(self.feed_forward_norm, x, x_mask))
        x = normed(self.query_norm, x + self.attention(x, context, context_mask), x_mask)
        return normed(self.feed_forward_norm, x + self.feed_forward(x), x_mask)

    def residual_outputs(self) -> list[nn.Linear]:
        """The layers whose outputs are added to the residual stream."""
        return [self.attention.out, self.feed_forward.down]


class SAB(nn.Module):
    """Set attention block: every element looks at every element."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.block = MAB(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, dim) -> (batch, n, dim)."""
        return self.block(x, x, mask, mask)


class PMA(nn.Module):
    """Pooling by multihead attention: ``n_seeds`` learnt queries look at the set."""

    def __init__(self, config: EncoderConfig, n_seeds: int) -> None:
        super().__init__()
        self.seeds = nn.Parameter(torch.empty(n_seeds, config.dim))
        self.block = MAB(config, learnt_query=True)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, dim) -> (batch, n_seeds, dim)."""
        return self.block(self.seeds.expand(len(x), -1, -1), x, context_mask=mask)


class ISAB(nn.Module):
    """Induced set attention block: the set talks to itself through ``n_inducing`` points, at linear cost."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.induce = PMA(config, config.n_inducing)
        self.spread = MAB(config)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, dim) -> (batch, n, dim)."""
        return self.spread(x, self.induce(x, mask), x_mask=mask)

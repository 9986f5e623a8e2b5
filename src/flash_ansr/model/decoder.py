"""The decoder: next-token logits from a token prefix and an encoded set.

``forward`` sees whole sequences (training). ``start`` and ``step`` see one position of many sequences at a time: keys
and values of earlier positions are kept in arrays that are allocated once, those of the encoded set are computed once
and shared by all sequences of a problem. Both ways give the same logits. What to draw from them is
the sampler's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from flash_ansr.model.attention import CrossAttention, FeedForward, attention, make_norm, merge_heads, split_heads
from flash_ansr.model.config import DecoderConfig, ModelConfig

# cosine and sine of the angle by which each pair turns at each position, (length, width / 2)
Rotation = tuple[Tensor, Tensor]


@dataclass(slots=True)
class DecoderState:
    """The memory of the decoder for ``n_rows`` sequences of equal length that are conditioned on one encoded set.

    Attributes
    ----------
    keys, values : (n_layers, capacity, heads, max_length, head dim)
        Of the positions so far; only rows below ``n_rows`` and positions below ``length`` hold anything.
    memory : list of (keys, values), each (1, heads, n_seeds, head dim)
        Of the encoded set, a pair for each layer.
    n_rows, length : int
        Live sequences, and tokens that each of them has.
    """

    keys: Tensor
    values: Tensor
    memory: list[tuple[Tensor, Tensor]]
    n_rows: int
    length: int = 0

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may come more than once, up to the capacity."""
        n = len(rows)
        if n > self.keys.shape[1]:
            raise ValueError(f"a state for {self.keys.shape[1]} sequences cannot hold {n}; start it with more")
        places = (rows != torch.arange(n, device=rows.device)).nonzero()[:, 0]  # rows that stay are not copied
        if len(places):
            for cache in (self.keys, self.values):
                cache[:, places, :, : self.length] = cache[:, rows[places], :, : self.length]
        self.n_rows = n

    def restart(self) -> None:
        """One empty sequence, for the same encoded set."""
        self.n_rows, self.length = 1, 0


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoded set, feed-forward, each with norm and residual."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        dim = config.dim
        self.n_heads = config.n_heads
        self.dropout = config.dropout
        self.pre = config.norm_position == "pre"
        self.query_key_value = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.cross = CrossAttention(dim, dim, config.n_heads, config.dropout)
        self.feed_forward = FeedForward(dim, config.activation, config.dropout)
        self.self_norm = make_norm(config.norm, dim)
        self.cross_norm = make_norm(config.norm, dim)
        self.feed_forward_norm = make_norm(config.norm, dim)

    def forward(self, x: Tensor, memory: Tensor, rotation: Rotation | None) -> Tensor:
        """Whole sequences x (batch, length, dim), memory (batch, n_seeds, dim)."""
        x = self._add(self.self_norm, x, lambda h: self._self_attention(h, rotation))
        x = self._add(self.cross_norm, x, lambda h: self.cross(h, memory))
        return self._add(self.feed_forward_norm, x, self.feed_forward)

    def step(self, x: Tensor, state: DecoderState, layer: int, rotation: Rotation | None) -> Tensor:
        """One position of every sequence, x (1, n_rows, dim): rows take the place of positions, the set is shared."""
        x = self._add(self.self_norm, x, lambda h: self._cached_attention(h, state, layer, rotation))
        x = self._add(self.cross_norm, x, lambda h: self.cross.attend(h, *state.memory[layer]))
        return self._add(self.feed_forward_norm, x, self.feed_forward)

    def residual_outputs(self) -> list[nn.Linear]:
        """The layers whose outputs are added to the residual stream."""
        return [self.out, self.cross.out, self.feed_forward.down]

    def _add(self, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(norm(x)) if self.pre else norm(x + sublayer(x))

    def _heads(self, x: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys, values (batch, heads, length, head dim), the first two rotated."""
        query_key, value = self.query_key_value(x).split((2 * x.shape[-1], x.shape[-1]), dim=-1)
        query_key = split_heads(query_key, 2 * self.n_heads)
        if rotation is not None:
            query_key = rotate(query_key, rotation)
        query, key = query_key.chunk(2, dim=1)
        return query, key, split_heads(value, self.n_heads)

    def _self_attention(self, x: Tensor, rotation: Rotation | None) -> Tensor:
        query, key, value = self._heads(x, rotation)
        dropout = self.dropout if self.training else 0.0
        h = attention(query, key, value, dropout=dropout, causal=True)
        return self.out(merge_heads(h))

    def _cached_attention(self, x: Tensor, state: DecoderState, layer: int, rotation: Rotation | None) -> Tensor:
        query, key, value = self._heads(x[0, :, None], rotation)  # (n_rows, heads, 1, head dim)
        n, t = state.n_rows, state.length
        state.keys[layer, :n, :, t] = key[:, :, 0]
        state.values[layer, :n, :, t] = value[:, :, 0]
        keys, values = state.keys[layer, :n, :, : t + 1], state.values[layer, :n, :, : t + 1]
        h = attention(query, keys, values)
        return self.out(h.reshape(1, n, -1))


class Decoder(nn.Module):
    """Token embedding, blocks, logits."""

    cos: Tensor
    sin: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = decoder = config.decoder
        self.max_length = config.max_length
        self.embed = nn.Embedding(config.n_tokens, decoder.dim)
        # ModuleList forgets the type of its items
        blocks = nn.ModuleList(DecoderBlock(decoder) for _ in range(decoder.n_layers))
        self.blocks = cast("list[DecoderBlock]", blocks)
        self.norm = make_norm(decoder.norm, decoder.dim) if decoder.norm_position == "pre" else nn.Identity()
        self.head = nn.Linear(decoder.dim, config.n_tokens, bias=False)
        self.use_rope = decoder.positions == "rope"
        width = decoder.dim // decoder.n_heads if self.use_rope else decoder.dim
        angles = position_angles(config.max_length, width)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, token_ids: Tensor, memory: Tensor) -> Tensor:
        """Logits (batch, length, n_tokens) of the tokens after each prefix of token_ids (batch, length)."""
        x, rotation = self._enter(token_ids, slice(0, token_ids.shape[1]))
        for block in self.blocks:
            x = block(x, memory, rotation)
        return self.head(self.norm(x))

    def start(self, memory: Tensor, capacity: int, max_length: int | None = None) -> DecoderState:
        """State of ``capacity`` empty sequences for one problem, memory (1, n_seeds, dim)."""
        if memory.shape[0] != 1:
            raise ValueError(f"a decoder state belongs to one problem, got the memory of {memory.shape[0]}")
        config = self.config
        length = self.max_length if max_length is None else min(max_length, self.max_length)
        shape = (config.n_layers, capacity, config.n_heads, length, config.dim // config.n_heads)
        shared = [block.cross.keys_values(memory) for block in self.blocks]
        return DecoderState(memory.new_empty(shape), memory.new_empty(shape), shared, capacity)

    def step(self, token_ids: Tensor, state: DecoderState) -> Tensor:
        """Append token_ids (n_rows,) to the sequences of the state; logits (n_rows, n_tokens) of what comes next."""
        if state.length >= state.keys.shape[3]:
            raise ValueError(f"sequences of {state.length} tokens fill the state; start it with a larger max_length")
        x, rotation = self._enter(token_ids[None], slice(state.length, state.length + 1))
        for layer, block in enumerate(self.blocks):
            x = block.step(x, state, layer, rotation)
        state.length += 1
        return self.head(self.norm(x))[0]

    def _enter(self, token_ids: Tensor, positions: slice) -> tuple[Tensor, Rotation | None]:
        """Embedded tokens, and the rotation of their positions or None where positions are added."""
        x = self.embed(token_ids)  # (batch, length, dim)
        cos, sin = self.cos[positions], self.sin[positions]
        if self.use_rope:
            return x, (cos, sin)
        return x + torch.cat([sin, cos], dim=-1), None


def position_angles(n_positions: int, width: int) -> Tensor:
    """Angles position * 10000^(-2 i / width), (n_positions, width / 2)."""
    frequencies = torch.exp(torch.arange(0, width, 2, device="cpu") * (-math.log(10_000.0) / width))
    return torch.arange(n_positions, device="cpu")[:, None] * frequencies


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Rotary position embedding: turn the pairs (i, i + width / 2) of x (..., length, width)."""
    cos, sin = (part.to(x.dtype) for part in rotation)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.addcmul(a * cos, b, sin, value=-1), torch.addcmul(a * sin, b, cos)], dim=-1)

"""Numbers as features: what the encoder sees of a table.

Every encoding maps float32 values (batch, rows, columns) to bounded features (batch, rows, columns * width), so that
1e-38 and 1e38 are as visible as 1. Only the relative features of ``real`` and ``hybrid`` look at other rows, and only
at those that the mask keeps.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flash_ansr.model.config import Numbers

# half of it is 0
_SMALLEST = 2.0**-149


def encode(values: Tensor, row_mask: Tensor, numbers: Numbers) -> Tensor:
    """Features of a table of numbers.

    Parameters
    ----------
    values : float32 (batch, rows, columns)
        Finite where the mask keeps the row; anything elsewhere.
    row_mask : bool (batch, rows)
        True = keep.
    numbers : str
        Name of the encoding.

    Returns
    -------
    features : float32 (batch, rows, columns * width)
        Zero in rows that the mask drops. The order is that of the encoding, and always the same.
    """
    values = values.masked_fill(~row_mask[..., None], 0.0)
    if numbers == "bits32":
        return bits(values.view(torch.int32), 32).flatten(2)
    if numbers == "bits16":
        return bits(values.half().view(torch.int16), 16).flatten(2)
    features = real_features(values, row_mask)
    if numbers == "hybrid":
        exponent = values.view(torch.int32) >> 23 & 0xFF
        features = torch.cat([features, bits(exponent, 8).flatten(2)], dim=-1)
    return features


def bits(words: Tensor, n_bits: int) -> Tensor:
    """The lowest ``n_bits`` bits of integers as 0.0 and 1.0, highest first, in a new last axis."""
    shifts = torch.arange(n_bits - 1, -1, -1, dtype=words.dtype, device=words.device)
    return (words[..., None] >> shifts & 1).float()


def real_features(values: Tensor, row_mask: Tensor) -> Tensor:
    """Fourteen bounded numbers for each value, (batch, rows, 14 * columns), those of one kind beside each other.

    All are 0 in a column of zeros, so that an absent column says nothing.

    Sign; magnitude as a logarithm, over all decades and within a few, in which power laws are straight lines, and where
    it lies within 1 and 16 octaves; the value itself squashed at three scales; the value relative to the largest and to
    the spread of its column, and to the largest of the last column, the target, so that sums show; whether it is an
    integer.

    Parameters
    ----------
    values : float32 (batch, rows, columns)
        Rows that do not count hold zeros.
    row_mask : bool (batch, rows)
        The rows that count for the range of a column.
    """
    dropped = ~row_mask[..., None]
    magnitude = values.abs()
    sign = values.sign()
    nonzero = sign.abs()
    log2 = (magnitude + (1 - nonzero)).log2()  # in [-149, 128], 0 for the value 0
    octave, octaves_16 = log2 * (2 * math.pi), log2 * (2 * math.pi / 16)
    largest = magnitude.amax(1, keepdim=True)  # (batch, 1, columns)
    # divide first: the sum of two numbers of 3e38 is infinite
    relative = values / torch.where(largest > 0, largest, 1.0)
    low = relative.masked_fill(dropped, 1.0).amin(1, keepdim=True)
    high = relative.masked_fill(dropped, -1.0).amax(1, keepdim=True)
    spread = (high - low).clamp_min(1e-12)
    place = ((2 * relative - low - high) / spread).masked_fill(dropped | (largest == 0), 0.0)
    target = torch.where(largest[..., -1:] > 0, largest[..., -1:], 1.0)
    half_sum = (target / 2 + magnitude / 2).clamp_min(_SMALLEST)
    is_integer = (magnitude == magnitude.round()).float() * (magnitude < 2.0**20)
    features = [
        sign,
        log2 / 64,
        (log2 / 8).clamp(-2, 2),
        octave.sin(),
        octave.cos() * nonzero,
        octaves_16.sin(),
        octaves_16.cos() * nonzero,
        values / (1 + magnitude),
        values / (8 + magnitude),
        sign * (4 * magnitude).log1p().clamp_max(8) / 4,
        relative,
        place,
        (values / 2) / half_sum,
        is_integer * nonzero,
    ]
    return torch.cat(features, dim=-1)

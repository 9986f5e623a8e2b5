"""The set encoder: a table of numbers to a fixed number of vectors, whatever the order and number of its rows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from flash_ansr.model import numbers
from flash_ansr.model.attention import ISAB, PMA, SAB, make_norm
from flash_ansr.model.config import NUMBER_WIDTHS, ModelConfig


class Encoder(nn.Module):
    """Set Transformer: embed rows, ISAB on rows, PMA to seeds, SAB on seeds, projection to the decoder's width."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = encoder = config.encoder
        self.n_columns = config.n_variables + 1
        width = self.n_columns * NUMBER_WIDTHS[encoder.numbers]
        self.hidden = nn.Linear(width, encoder.dim, bias=False) if encoder.embed_layers == 2 else None
        self.embed = nn.Linear(encoder.dim if self.hidden else width, encoder.dim, bias=False)
        self.isab = nn.ModuleList(ISAB(encoder) for _ in range(encoder.n_isab))
        self.pool = PMA(encoder, encoder.n_seeds)
        self.sab = nn.ModuleList(SAB(encoder) for _ in range(encoder.n_sab))
        self.norm = make_norm(encoder.norm, encoder.dim) if encoder.norm_position == "pre" else nn.Identity()
        self.out = nn.Linear(encoder.dim, config.decoder.dim, bias=False)

    def forward(self, X: Tensor, y: Tensor, row_mask: Tensor) -> Tensor:
        """Encode a batch of tables.

        Parameters
        ----------
        X : float32 (batch, rows, columns)
            At most ``n_variables`` columns; those that are missing count as zeros.
        y : float32 (batch, rows)
        row_mask : bool (batch, rows)
            True = keep; at least one row of each table is kept.

        Returns
        -------
        memory : (batch, n_seeds, decoder dim)
        """
        if not {X.dtype, y.dtype} <= {torch.float32, torch.float64}:
            raise TypeError(f"X and y must be float32 or float64, got {X.dtype} and {y.dtype}: do not round tables")
        X = F.pad(X, (0, self.n_columns - 1 - X.shape[-1]))
        table = torch.cat([X, y[..., None]], dim=-1)  # (batch, rows, columns)
        h = numbers.encode(table, row_mask, self.config.numbers)  # (batch, rows, columns * width)
        h = h.to(self.embed.weight.dtype)
        if self.hidden is not None:
            h = F.relu(self.hidden(h))
        h = self.embed(h)  # (batch, rows, dim)
        for block in self.isab:
            h = block(h, row_mask)
        h = self.pool(h, row_mask)  # (batch, n_seeds, dim)
        for block in self.sab:
            h = block(h)
        return self.out(self.norm(h))

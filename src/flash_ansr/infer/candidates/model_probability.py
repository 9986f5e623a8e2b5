"""How probable a model of the table holds each form: the sum over all spellings of it that were drawn."""

from __future__ import annotations

import heapq
import math
from operator import itemgetter

import numpy as np

from flash_ansr._core import KeySet
from flash_ansr.infer.candidates.normal_forms import form_hashes
from flash_ansr.infer.candidates.proposals import Proposals

# forms that are kept, and how many there may be before the others are dropped
_KEPT = 100_000
_MOST = 200_000


class FormProbabilities:
    """Log-probabilities of canonical forms.

    Attributes
    ----------
    log_probs : dict of bytes to float
        By key of the form; the most probable ones where there are very many.
    """

    def __init__(self) -> None:
        self.log_probs: dict[bytes, float] = {}
        self._sequences = KeySet()

    def count(self, proposals: Proposals, keys: list[bytes]) -> None:
        """Add the probability of sequences that were not drawn before to that of their forms."""
        if proposals.log_prob is None:
            return
        sequences = form_hashes(proposals.batch)
        for sequence, key, log_prob in zip(sequences, keys, proposals.log_prob.tolist(), strict=True):
            if self._sequences.insert(sequence):
                self.log_probs[key] = float(np.logaddexp(self.log_probs.get(key, -math.inf), log_prob))
        if len(self.log_probs) > _MOST:
            self.log_probs = dict(heapq.nlargest(_KEPT, self.log_probs.items(), key=itemgetter(1)))

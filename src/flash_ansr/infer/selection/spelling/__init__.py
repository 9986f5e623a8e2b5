"""Formulas as people write them: equal spellings, and the one that is printed."""

from flash_ansr.infer.selection.spelling.choice import length_to_read, longest_spelling, spelled, spellings_of
from flash_ansr.infer.selection.spelling.rows import Rows

__all__ = ["Rows", "length_to_read", "longest_spelling", "spelled", "spellings_of"]

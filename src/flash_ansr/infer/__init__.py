"""Inference: proposers of candidate laws, and what becomes of their proposals."""

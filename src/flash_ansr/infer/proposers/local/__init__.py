"""Evolutionary search over canonical forms: what is varied, valued and kept, and what it is valued on."""

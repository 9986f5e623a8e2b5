"""Proposers: each draws formulas for one table. They neither fit nor rank."""

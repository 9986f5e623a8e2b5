"""Formulas in the languages of others: LaTeX, NumPy functions, torch modules, SymPy."""

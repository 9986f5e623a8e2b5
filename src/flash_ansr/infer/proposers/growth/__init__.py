"""Formulas that grow where their residuals ask for it: the search for approximations."""

"""SymPy as the simplifier to compare with, under a limit of CPU time."""

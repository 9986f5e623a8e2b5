"""The version of the distribution, here and nowhere else."""

__version__ = "0.1.0"

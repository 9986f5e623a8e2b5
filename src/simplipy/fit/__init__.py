"""Constants of formulas: fitting them to data, tidying them, and the description length of the result."""

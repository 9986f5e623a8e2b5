"""Inference: proposers of formulas, the pipeline that fits and ranks what they propose, the archive of results."""

"""The search itself: the pipeline, the schedule of proposers, the budget, the warm start."""

"""Training of the amortized model: configs, loop, checkpoints that resume bit for bit, reports."""

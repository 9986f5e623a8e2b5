"""The paper's ablations: the networks to train, their corpora, and what they came to."""

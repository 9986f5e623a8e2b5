"""The choice of the law among the candidates: criteria, noise, baselines, readable forms."""

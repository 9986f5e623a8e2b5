"""From proposals to candidates: normal forms, the seen filter, fits, units, scores and the archive."""

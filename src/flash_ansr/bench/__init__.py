"""The benchmark: systems on catalogues, rows on the disk, metrics and figures from the rows."""

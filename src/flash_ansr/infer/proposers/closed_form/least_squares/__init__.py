"""Linear algebra for closed forms: least squares, Gram matrices, pursuit, and scans over one inner constant."""

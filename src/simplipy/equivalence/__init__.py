"""Whether two formulas mean the same, decided by canonical forms, points and multiprecision."""

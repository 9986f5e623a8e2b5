"""The features of closed forms: monomials, functions of them, and functions of y."""

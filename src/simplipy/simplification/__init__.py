"""The shortest spelling of a formula, with stated guarantees about its values and its domain."""

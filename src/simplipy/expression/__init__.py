"""Formulas as values: parsing, token batches, the operator table, data binding, derivatives."""

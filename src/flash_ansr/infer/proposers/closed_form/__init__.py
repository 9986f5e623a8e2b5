"""Closed forms: laws found by linear algebra alone, in milliseconds, without a model and without a search.

Power laws, products of a monomial and a factor, sums over a feature library, rational forms, each of several functions
of y. Proposes only: constants are least-squares values, the pipeline refits, tidies and scores them.
"""

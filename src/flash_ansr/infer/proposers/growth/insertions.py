"""Where a formula should grow: the gain of every insertion of a feature at every node, to first order.

An insertion replaces a subterm v by v + c*f for a feature f; at a constant this makes a coefficient that varies. A
formula with all of its nodes extended by c = 0 has the same values, and its derivative by such a c is the derivative
by the node. So one gradient gives the directions d of all nodes, and the gain of f at a node is what the direction d*f
explains of the residuals, beyond what the formula's own constants explain. These gains are two products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import simplipy
from flash_ansr.infer.proposers.growth.features import Feature, Tokens
from flash_ansr.infer.table.table import FloatArray
from simplipy import OPERATORS
from simplipy.expression.operators import CONSTANT
from simplipy.expression.prefix import subterm_ends

# a direction of which less than this is left beside the formula's own ones is none
_LEAST_LEFT = 1e-6
_LEAST_SINGULAR = 1e-9
# derivatives beyond this have no squares
_LARGEST = 1e140
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """A formula with values for its free constants, as lists.

    Attributes
    ----------
    tokens : tuple of str
    constants : tuple of float
        In prefix order.
    """

    tokens: Tokens
    constants: tuple[float, ...]

    def subterms(self) -> list[tuple[Tokens, tuple[float, ...]]]:
        """All subterms with their constants."""
        ends, before = subterm_ends(self.tokens), _counts_before(self.tokens)
        return [(self.tokens[i:end], self.constants[before[i] : before[end]]) for i, end in enumerate(ends)]

    def extended(self, node: int, feature: Feature, coefficient: float) -> Skeleton:
        """With a feature inserted at a node."""
        end = subterm_ends(self.tokens)[node]
        before = _counts_before(self.tokens)[end]
        added: Tokens = ("*", CONSTANT, *feature.tokens) if feature.tokens else (CONSTANT,)
        tokens = (*self.tokens[:node], "+", *self.tokens[node:end], *added, *self.tokens[end:])
        numbers = (*self.constants[:before], coefficient, *feature.constants, *self.constants[before:])
        return Skeleton(tokens, numbers)


class Library:
    """Features with their values, normalised, as a matrix.

    Parameters
    ----------
    features : sequence of Feature

    Attributes
    ----------
    features : list of Feature
    values : array (n_features, n_rows)
        With a mean square of 1.
    sizes : array (n_features,)
        Roots of the mean squares.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = list(features)
        values = np.array([feature.values for feature in self.features])
        self.sizes: FloatArray = np.maximum(np.sqrt((values * values).mean(axis=1)), _TINY)
        self.values: FloatArray = values / self.sizes[:, None]

    def with_more(self, features: Sequence[Feature]) -> Library:
        """With further features behind its own, which are not copied as features."""
        if not features:
            return self
        more, joined = Library(features), object.__new__(Library)
        joined.features = self.features + more.features
        joined.sizes = np.concatenate([self.sizes, more.sizes])
        joined.values = np.concatenate([self.values, more.values])
        return joined


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """The gains of all insertions.

    Attributes
    ----------
    nodes : list of int
        Places in the tokens.
    share : array (n_features, n_nodes)
        Of the sum of squared residuals that an insertion explains to first order.
    coefficients : array (n_features, n_nodes)
        Of the inserted features.
    """

    nodes: list[int]
    share: FloatArray
    coefficients: FloatArray


def gains(skeleton: Skeleton, library: Library, X: FloatArray, y: FloatArray, root_weights: FloatArray) -> Gains | None:
    """Gains of the insertions into a formula; None where it has no derivatives.

    Parameters
    ----------
    skeleton : Skeleton
    library : Library
        On the same rows.
    X, y, root_weights : arrays (n_rows, n_columns), (n_rows,), (n_rows,)
        Roots of the weights of squared residuals.
    """
    nodes = _nodes(skeleton.tokens)
    own, of_nodes = _directions(skeleton, nodes, X)
    with np.errstate(over="ignore", invalid="ignore"):
        values = simplipy.parse(list(skeleton.tokens))(X, constants=np.array(skeleton.constants))
        residuals = (y - values) * root_weights
    largest = max(np.abs(of_nodes).max(initial=0.0), np.abs(own).max(initial=0.0), np.abs(residuals).max(initial=0.0))
    if not largest < _LARGEST:
        return None
    basis = orthonormal(own * root_weights[:, None])
    residuals = residuals - basis @ (basis.T @ residuals)
    left = float(residuals @ residuals)
    if left < _TINY:
        return None
    of_nodes = of_nodes * root_weights[:, None]
    sizes = np.maximum(np.sqrt((of_nodes * of_nodes).mean(axis=0)), _TINY)
    of_nodes = of_nodes / sizes
    along = np.column_stack([residuals, basis])  # (n_rows, 1 + rank)
    products = library.values @ (along[:, :, None] * of_nodes[:, None, :]).reshape(len(y), -1)
    products = products.reshape(len(products), along.shape[1], len(nodes))
    squares = (library.values**2) @ (of_nodes**2)  # (n_features, n_nodes)
    beyond = squares - (products[:, 1:] ** 2).sum(axis=1)
    products = products[:, 0]
    is_new = beyond > _LEAST_LEFT * squares
    beyond = np.where(is_new, beyond, 1.0)
    share = np.where(is_new, products**2 / beyond / left, 0.0)
    with np.errstate(over="ignore"):
        coefficients = products / beyond / library.sizes[:, None] / sizes
    return Gains(nodes, np.minimum(share, 1.0), coefficients)


def orthonormal(directions: FloatArray) -> FloatArray:
    """An orthonormal basis of the columns, (n_rows, rank)."""
    if not directions.shape[1]:
        return directions
    scaled = directions / np.maximum(np.abs(directions).max(axis=0), _TINY)
    scaled = scaled / np.maximum(np.sqrt((scaled * scaled).sum(axis=0)), _TINY)
    left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(left[:, singular > _LEAST_SINGULAR * max(singular[0], _TINY)])


def _directions(skeleton: Skeleton, nodes: Sequence[int], X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives by the constants, (n_rows, n_constants), and by the nodes, (n_rows, n_nodes)."""
    tokens, ends = skeleton.tokens, subterm_ends(skeleton.tokens)
    opening = set(nodes)
    closing: dict[int, list[int]] = {}
    for node in nodes:
        closing.setdefault(ends[node], []).append(node)
    extended: list[str] = []
    starts: list[float] = []
    by_node: list[int] = []  # the node of each constant, -1 for the formula's own
    numbers = iter(skeleton.constants)
    for i, token in enumerate((*tokens, "")):
        # the inner nodes end first
        for node in sorted(closing.get(i, []), reverse=True):
            extended.append(CONSTANT)
            starts.append(0.0)
            by_node.append(node)
        if i in opening:
            extended.append("+")
        if token:
            extended.append(token)
        if token == CONSTANT:
            starts.append(next(numbers))
            by_node.append(-1)
    directions = simplipy.parse(extended).gradient(X, np.array(starts), wrt="constants")
    gradient = np.asarray(directions, dtype=np.float64)
    order = {node: k for k, node in enumerate(by_node) if node >= 0}
    own = [k for k, node in enumerate(by_node) if node < 0]
    return gradient[:, own], gradient[:, [order[node] for node in nodes]]


def _nodes(tokens: Tokens) -> list[int]:
    """The nodes at which insertions differ: not the terms of a sum, nor the factor of a constant."""
    ends, kept = subterm_ends(tokens), []
    parents = dict(_parents(tokens, ends))
    for i, token in enumerate(tokens):
        parent = parents.get(i)
        if parent is not None:
            if tokens[parent] in ("+", "-", "neg"):
                continue
            first = parent + 1
            sibling = ends[first] if i == first else first
            if tokens[parent] == "*" and tokens[sibling] == CONSTANT and token != CONSTANT:
                continue
        kept.append(i)
    return kept


def _parents(tokens: Tokens, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    for i, token in enumerate(tokens):
        at = i + 1
        for _ in range(OPERATORS[token].arity if token in OPERATORS else 0):
            yield at, i
            at = ends[at]


def _counts_before(tokens: Tokens) -> list[int]:
    """Free constants before each token, and in all."""
    counts = [0]
    for token in tokens:
        counts.append(counts[-1] + (token == CONSTANT))
    return counts

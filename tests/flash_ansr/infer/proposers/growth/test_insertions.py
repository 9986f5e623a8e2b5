"""Gains of insertions against least squares that are solved outright, and where insertions are tried."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr.infer.proposers.growth.features import Feature, column_features, constant_feature, pair_features
from flash_ansr.infer.proposers.growth.insertions import Library, Skeleton, gains
from simplipy import OPERATORS
from simplipy.expression.operators import CONSTANT

ALL = frozenset(OPERATORS)
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, (60, 3))
ONES = np.ones(len(X))


def skeleton(text: str, *constants: float) -> Skeleton:
    return Skeleton(tuple(simplipy.parse(text).tokens), constants)


def numerical(formula: Skeleton, y: np.ndarray, root_weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals, and derivatives by the constants as differences, both weighted."""

    def values(constants: np.ndarray) -> np.ndarray:
        return simplipy.parse(list(formula.tokens))(X, constants=constants)

    at = np.array(formula.constants)
    steps = 1e-6 * np.eye(len(at))
    own = np.stack([(values(at + step) - values(at - step)) / 2e-6 for step in steps], axis=1)
    return (y - values(at)) * root_weights, own * root_weights[:, None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "formula",
    [
        skeleton("<constant>", 1.5),
        skeleton("<constant>*sin(<constant>*x1) + <constant>", 2.0, 1.3, 0.4),
        skeleton("exp(<constant>*x1*x2) - <constant>/x3", -0.4, 1.1),
    ],
)
def test_a_gain_is_what_the_linearised_formula_with_the_feature_explains(formula: Skeleton, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    y = np.cos(2 * X[:, 1]) + X[:, 2] + 0.1 * rng.normal(size=len(X))
    root_weights = np.sqrt(rng.uniform(0.2, 2.0, len(X))) if weighted else ONES
    library = Library([constant_feature(len(X)), *column_features(X, ALL), *pair_features(X, [0, 1], ALL)])
    found = gains(formula, library, X, y, root_weights)
    assert found is not None
    residuals, own = numerical(formula, y, root_weights)
    left = residuals - own @ np.linalg.lstsq(own, residuals, rcond=None)[0]
    for k, node in enumerate(found.nodes):
        for i, feature in list(enumerate(library.features))[:: 7 + k]:
            if found.share[i, k] == 0:
                continue
            # the direction of the coefficient, by a difference
            ahead, behind = (formula.extended(node, feature, c) for c in (1e-5, -1e-5))
            values = [simplipy.parse(list(s.tokens))(X, constants=np.array(s.constants)) for s in (ahead, behind)]
            direction = (values[0] - values[1]) / 2e-5 * root_weights
            design = np.column_stack([own, direction])
            solution = np.linalg.lstsq(design, residuals, rcond=None)[0]
            explained = 1 - np.sum((residuals - design @ solution) ** 2) / np.sum(left**2)
            assert found.share[i, k] == pytest.approx(explained, abs=1e-5)
            assert found.coefficients[i, k] == pytest.approx(solution[-1], rel=1e-3, abs=1e-6)


def test_an_insertion_keeps_the_values_where_its_coefficient_is_zero() -> None:
    formula = skeleton("<constant>*tanh(<constant>*x1 - x2)^2 + <constant>", 1.0, 2.0, 3.0)
    expected = simplipy.parse(list(formula.tokens))(X, constants=np.array(formula.constants))
    feature = next(f for f in column_features(X, ALL) if "exp" in f.tokens)
    for node in range(len(formula.tokens)):
        inserted = formula.extended(node, feature, 0.0)
        values = simplipy.parse(list(inserted.tokens))(X, constants=np.array(inserted.constants))
        np.testing.assert_allclose(values, expected, rtol=1e-14)


def test_a_feature_that_the_formula_has_gains_nothing() -> None:
    y = np.sin(X[:, 0])
    library = Library([constant_feature(len(X)), Feature(("x1",), (), X[:, 0]), Feature(("x2",), (), X[:, 1])])
    found = gains(skeleton("<constant>*x1 + <constant>", 1.0, 0.0), library, X, y, ONES)
    assert found is not None
    at_root = found.nodes.index(0)
    assert found.share[0, at_root] == found.share[1, at_root] == 0
    assert found.share[2, at_root] > 0


def test_without_residuals_there_are_no_gains() -> None:
    library = Library([constant_feature(len(X))])
    assert gains(skeleton("<constant>*x1", 2.0), library, X, 2 * X[:, 0], ONES) is None


def test_features_have_the_values_of_their_tokens_and_keep_to_the_operators() -> None:
    allowed = frozenset({"+", "*", "abs", "exp", "neg", "pow2"})
    features = [*column_features(X, allowed), *pair_features(X, [0, 2], allowed)]
    assert {token for f in features for token in f.tokens} <= {*allowed, "x1", "x2", "x3", CONSTANT}
    assert any("abs" in f.tokens for f in features)
    for feature in features:
        values = simplipy.parse(list(feature.tokens))(X, constants=np.array(feature.constants))
        np.testing.assert_allclose(feature.values, values, rtol=1e-13)


def test_a_column_of_two_values_has_no_functions_and_of_one_value_none_at_all() -> None:
    columns = np.column_stack([np.tile([0.0, 1.0], 30), np.full(60, 3.0), np.full(60, 1e200) * np.arange(60)])
    assert [f.tokens for f in column_features(columns, ALL)] == [("x1",)]

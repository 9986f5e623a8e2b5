"""Ensembles of decision trees, as scikit-learn has them; every argument of their classes is a setting."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from threadpoolctl import threadpool_limits

from flash_ansr.bench.systems.base import Answer, Request, System, Trees


class Boosting(System, name="boosting"):
    """`HistGradientBoostingRegressor`; by its defaults 100 trees of at most 31 leaves."""

    def __init__(self, **settings: Any) -> None:
        self._model = HistGradientBoostingRegressor(**settings)

    def versions(self) -> dict[str, str]:
        """Of scikit-learn too."""
        return super().versions() | {"scikit-learn": sklearn.__version__}

    def fit(self, request: Request) -> Answer:
        """The boosted trees."""
        model = self._model.set_params(random_state=request.seed)
        with threadpool_limits(request.n_threads):
            model.fit(request.X, request.y)
        return Answer(Trees(model.predict, sum(len(tree.nodes) for trees in model._predictors for tree in trees)))


class Forest(System, name="forest"):
    """`RandomForestRegressor`; by its defaults 100 trees that are grown to the end."""

    def __init__(self, **settings: Any) -> None:
        self._model = RandomForestRegressor(**settings)

    def versions(self) -> dict[str, str]:
        """Of scikit-learn too."""
        return super().versions() | {"scikit-learn": sklearn.__version__}

    def fit(self, request: Request) -> Answer:
        """The forest."""
        model = self._model.set_params(random_state=request.seed, n_jobs=request.n_threads).fit(request.X, request.y)
        return Answer(Trees(model.predict, sum(tree.tree_.node_count for tree in model.estimators_)))

from typing import Any

import numpy as np
import numpy.typing as npt

PAD_ID: int
START_ID: int
END_ID: int
FIRST_OPERATOR_ID: int
CONSTANT_ID: int
FIRST_VARIABLE_ID: int
OUTCOMES: tuple[str, ...]

class Numbers:
    def __init__(self, rows: list[tuple[float, int, float, float, float, float, float]], /) -> None: ...

class Columns:
    def __init__(self, rows: list[tuple[float, int, Numbers, Numbers, float, float]], /) -> None: ...

class SkeletonPrior:
    n_ops_weights: list[float]
    max_length: int
    n_variables: int
    p_constant: float
    def __init__(self) -> None: ...
    def set_operator_weight(self, id: int, weight: float, /) -> None: ...

class Sources:
    def __init__(self, trees: float, laws: float, grammar: float) -> None: ...

class Recombination:
    def __init__(
        self, p_edit: float, p_shared: float, weights: tuple[float, ...], p_new_range: float, unit_decades: float
    ) -> None: ...

class InScale:
    def __init__(self, probability: float, decades: float, negative: float, rounded: float) -> None: ...

class Material:
    def __init__(self) -> None: ...
    def set_corpus(self, ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str]) -> None: ...
    def set_laws(
        self,
        ids: npt.NDArray[np.int16],
        offsets: npt.NDArray[np.int64],
        extras: list[str],
        spreads: list[list[tuple[int, float, float, int, bool]]],
    ) -> None: ...
    def set_grammar(self, log_probs: npt.NDArray[np.float64]) -> None: ...

class Prior:
    skeleton: SkeletonPrior
    sources: Sources
    recombination: Recombination
    in_scale: InScale
    simplify: bool
    free_multipliers: bool
    columns: Columns
    constants: Numbers
    min_rows: int
    max_rows: int
    log_rows: bool
    p_noise: float
    min_noise: float
    max_noise: float
    p_outliers: float
    max_outliers: float
    n_retries: int
    must_vary: bool
    min_effect: float
    leading: bool
    p_irrelevant: float
    def __init__(self) -> None: ...

class Holdout:
    def __init__(
        self,
        ids: npt.NDArray[np.int16],
        offsets: npt.NDArray[np.int64],
        extras: list[str],
        rules: str,
        max_pattern_length: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def find(
        self, ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str]
    ) -> list[tuple[int, int] | None]: ...

class Generator:
    def __init__(
        self,
        prior: Prior,
        rules: str,
        max_pattern_length: int,
        holdout: Holdout,
        material: Material,
        parts: list[tuple[float, Generator]],
    ) -> None: ...
    def batch(
        self, seed: int, indices: npt.NDArray[np.int64], n_threads: int, padded: bool, detailed: bool
    ) -> dict[str, npt.NDArray[Any]]: ...
    def skeletons(
        self, seed: int, indices: npt.NDArray[np.int64], n_threads: int, simplified: bool
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]: ...

class KeySet:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def contains(self, key: int) -> bool: ...
    def insert(self, key: int) -> bool: ...

def hash_forms(ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]: ...

class Screen:
    def __init__(
        self,
        columns: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        sample_weights: npt.NDArray[np.float64],
        sizes: npt.NDArray[np.float64],
    ) -> None: ...

class Breeder:
    def __init__(
        self,
        operators: list[float],
        variables: list[float],
        constant: float,
        mutations: list[float],
        rules: str,
        max_pattern_length: int,
        max_length: int,
        affine: bool,
        allowed: list[bool],
        max_written: int,
    ) -> None: ...
    @property
    def n_seen(self) -> int: ...
    def weigh(self, operators: list[float], variables: list[float], constant: float) -> None: ...
    def breed(
        self,
        screen: Screen,
        ids: npt.NDArray[np.int16],
        offsets: npt.NDArray[np.int64],
        constants: npt.NDArray[np.float64],
        first: npt.NDArray[np.int32],
        second: npt.NDArray[np.int32],
        limits: npt.NDArray[np.float64],
        slack: float,
        n_steps: int,
        n_glances: int,
        seed: int,
        seconds: float,
        n_threads: int,
    ) -> dict[str, Any]: ...

class Forms:
    def __init__(
        self,
        columns: npt.NDArray[np.float64],
        operators: list[int],
        operands: npt.NDArray[np.int32],
        variable: int,
        one: int,
        max_forms: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def full(self) -> bool: ...
    def cost(self, form: int) -> int: ...
    def prefix(self, form: int, first_variable: int) -> list[int]: ...
    def grow(self, n: int, seconds: float) -> None: ...
    def best(
        self, target: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], price: float, n_best: int
    ) -> list[int]: ...
    def meet(self, target: npt.NDArray[np.float64], n_first: int, n_best: int) -> list[tuple[int, int, int]]: ...

def price_questions() -> list[tuple[str, list[list[str]], list[str], int]]: ...
def price_answers(
    ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]: ...
def price_keys(ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str]) -> list[int]: ...

class PriceTable:
    def __init__(
        self, log_probs: npt.NDArray[np.float64], known_share: float, length_share: float, token_nats: float
    ) -> None: ...
    def know(self, keys: list[int], probabilities: npt.NDArray[np.float64]) -> None: ...
    def prices(
        self, ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str], n_columns: int
    ) -> npt.NDArray[np.float64]: ...
    def sample(
        self, seed: int, indices: npt.NDArray[np.int64], n_columns: int, max_nodes: int, operators: list[bool]
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64], list[str]]: ...

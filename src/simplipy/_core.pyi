from typing import Any

import numpy as np
import numpy.typing as npt

FIRST_VARIABLE: int
FIRST_EXTRA: int

def operator_rows() -> list[dict[str, Any]]: ...
def symbol_tokens() -> list[str]: ...
def quoted(name: str) -> str: ...
def unquoted(token: str) -> str | None: ...
def column_number(name: str) -> int: ...
def decimal_token(value: float) -> str: ...
def kernel_name() -> str: ...
def parse_many(texts: list[str]) -> list[Tree]: ...

class Tree:
    @staticmethod
    def from_infix(text: str) -> Tree: ...
    @staticmethod
    def from_tokens(tokens: list[str]) -> Tree: ...
    def tokens(self) -> list[str]: ...
    def infix(self, precision: int | None) -> str: ...
    def __len__(self) -> int: ...
    def hash(self) -> int: ...
    def variables(self) -> list[str]: ...
    def n_constants(self) -> int: ...
    def depth(self) -> int: ...
    def skeleton(self) -> Tree: ...
    def with_constants(self, values: list[float]) -> Tree: ...
    def rename(self, names: list[str]) -> Tree: ...
    def prefix_order(self) -> list[int]: ...
    def subtree(self, node: int) -> Tree: ...

def evaluate_one(
    tree: Tree,
    matrix: npt.NDArray[Any],
    constants: list[float],
    names: list[str] | None,
    values: npt.NDArray[Any],
) -> None: ...
def evaluate_all(
    trees: list[Tree],
    matrix: npt.NDArray[Any],
    constants: list[list[float]],
    names: list[str] | None,
    values: npt.NDArray[Any],
    defined: npt.NDArray[np.bool_],
    n_threads: int,
) -> None: ...
def gradient_one(
    tree: Tree,
    matrix: npt.NDArray[Any],
    constants: list[float],
    names: list[str] | None,
    by_variables: bool,
    derivatives: npt.NDArray[Any],
    n_threads: int,
) -> None: ...
def tree_on_boxes(
    tree: Tree, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.uint8]]: ...
def prove_on_box(
    trees: list[Tree],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    names: list[str] | None,
    within: tuple[float, float],
    max_boxes: int,
    n_threads: int,
) -> list[tuple[Any, ...]]: ...
def prove_on_lines(
    trees: list[Tree],
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    names: list[str] | None,
    within: tuple[float, float],
    max_boxes: int,
    n_threads: int,
) -> list[tuple[Any, ...]]: ...
def encode(trees: list[Tree]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64], list[str]]: ...
def decode(ids: npt.NDArray[np.int16], offsets: npt.NDArray[np.int64], extras: list[str]) -> list[Tree]: ...
def token_of_id(id: int, extras: list[str]) -> str: ...

class RuleSet:
    def __init__(self, text: str) -> None: ...
    def __len__(self) -> int: ...

class SimplifyOptions:
    def __init__(
        self,
        rules: RuleSet,
        extend: bool,
        max_pattern_length: int,
        mask_numbers: bool,
        fold_numbers: bool,
        max_steps: int,
    ) -> None: ...

def simplify_tree(tree: Tree, options: SimplifyOptions, ranges: list[tuple[str, float, float]]) -> Tree: ...
def simplify_tokens(tokens: list[str], options: SimplifyOptions) -> list[str]: ...
def simplify_token_lists(rows: list[list[str]], options: SimplifyOptions, n_threads: int) -> list[list[str]]: ...
def explain_tree(
    tree: Tree, options: SimplifyOptions
) -> tuple[Tree, str, list[tuple[list[str], Tree, Tree]], list[Tree]]: ...
def simplify_ids(
    ids: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    extras: list[str],
    options: SimplifyOptions,
    n_threads: int,
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64], list[str]]: ...

class FitOptions:
    def __init__(
        self,
        n_restarts: int,
        n_screen_rows: int,
        normal_starts: bool,
        objective: int,
        threshold: float,
        absolute_errors: bool,
        seed: int,
        seconds: float,
        n_threads: int,
        keep_best: int,
        length_penalty: float,
    ) -> None: ...

class FitRows:
    def __init__(
        self,
        x: npt.NDArray[np.floating[Any]] | None,
        columns: list[int],
        y: npt.NDArray[np.float64],
        sample_weights: npt.NDArray[np.float64] | None,
        sizes: npt.NDArray[np.float64] | None,
    ) -> None: ...
    def finite(self) -> bool: ...

class FitJobs:
    def __init__(
        self, trees: list[Tree], columns: list[str], parameters: list[str], parameter_starts: list[float]
    ) -> None: ...
    def set_starts(self, i: int, starts: npt.NDArray[np.float64]) -> None: ...
    def set_bounds(self, i: int, bounds: list[tuple[float, float]]) -> None: ...
    def set_fvu_limits(self, limits: npt.NDArray[np.float64]) -> None: ...

def variables_of(trees: list[Tree]) -> list[str]: ...
def fit_batch(
    jobs: FitJobs, rows: FitRows, options: FitOptions
) -> tuple[
    npt.NDArray[np.uint8],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
]: ...

class Miner:
    def __init__(
        self,
        max_length: int,
        max_replacement: int,
        n_variables: int,
        n_constants: int,
        max_ground: int,
        max_conditional: int,
        literals: bool,
        operators: list[str],
        seed: int,
    ) -> None: ...
    def set_rules(self, rules: RuleSet) -> None: ...
    def stored_length(self) -> int: ...
    def n_tasks(self, length: int) -> int: ...
    def n_terms(self, length: int) -> list[int]: ...
    def run(
        self, length: int, first: int, last: int, n_threads: int
    ) -> tuple[
        list[tuple[list[str], list[str], bool, str]],
        tuple[int, int, int, int, int, list[int]],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint64],
    ]: ...
    def bytes_of(self, length: int, kept: npt.NDArray[np.uint32]) -> int: ...
    def commit(self, length: int, kept: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint64]) -> None: ...
    def end_length(self, length: int) -> None: ...

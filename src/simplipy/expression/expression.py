"""Expressions: immutable values over the core's flat trees, with everything that can be asked of one formula.

Parsing, printing and evaluation happen in the core; conversions to other systems live in modules of their own and
import those systems only when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simplipy import _core
from simplipy.errors import EvaluationError, ParseError
from simplipy.expression.data_binding import FloatArray, bind_constants, bind_data, thread_count

if TYPE_CHECKING:
    import sympy
    import torch

    from simplipy.expression.token_batch import TokenBatch

_FLOAT64 = np.dtype(np.float64)


class Expression:
    """A formula in the paper's operators. Immutable, hashable, equal when all tokens are equal.

    Make one with ``simplipy.parse``.

    Examples
    --------
    >>> import simplipy
    >>> e = simplipy.parse("<constant>*sin(x1) + x2^2")
    >>> e.tokens
    ['+', '*', '<constant>', 'sin', 'x1', 'pow2', 'x2']
    >>> e.with_constants([1.5]).infix()
    '1.5*sin(x1) + x2^2'
    """

    __slots__ = ("_tree",)

    _tree: _core.Tree

    def __init__(self, tree: _core.Tree) -> None:
        object.__setattr__(self, "_tree", tree)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Expression is immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an Expression is immutable; cannot delete {name!r}")

    def __reduce__(self) -> tuple[Callable[..., Expression], tuple[list[str]]]:
        return parse, (self.tokens,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._tree == other._tree

    def __hash__(self) -> int:
        return hash(self._tree.hash())

    def __len__(self) -> int:
        return len(self._tree)

    def __str__(self) -> str:
        return self._tree.infix(None)

    def __repr__(self) -> str:
        return f"Expression({self._tree.infix(None)!r})"

    def _repr_latex_(self) -> str:
        return f"${self.latex(precision=4)}$"

    @property
    def tokens(self) -> list[str]:
        """Prefix tokens."""
        return self._tree.tokens()

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables: x_k by number, then names in natural order."""
        return tuple(self._tree.variables())

    @property
    def n_constants(self) -> int:
        """Number of free constants."""
        return self._tree.n_constants()

    @property
    def depth(self) -> int:
        """Levels of the tree; 1 for a single leaf."""
        return self._tree.depth()

    def infix(self, precision: int | None = None) -> str:
        """Formula as text.

        Parameters
        ----------
        precision : int, optional
            Significant digits of numbers. Without it the text is exact: ``parse(e.infix()) == e``.
        """
        _check_precision(precision)
        return self._tree.infix(precision)

    def latex(self, precision: int | None = None) -> str:
        """Formula as LaTeX, numbers rounded to ``precision`` significant digits if given."""
        from simplipy.export.latex import to_latex

        _check_precision(precision)
        return to_latex(self.tokens, precision)

    def to_sympy(self) -> sympy.Expr:
        """Equal SymPy expression, unevaluated, so that values and domain stay as they are."""
        from simplipy.export.sympy_bridge import to_sympy

        return to_sympy(self.tokens)

    def numpy(self) -> Callable[..., FloatArray]:
        """Pure NumPy function ``f(X, constants=None)`` with the values of this expression."""
        from simplipy.export.numpy_function import numpy_function

        return numpy_function(self.tokens, self.variables)

    def torch(self) -> torch.nn.Module:
        """Differentiable torch module; its parameter ``constants`` holds the free constants."""
        from simplipy.export.torch_module import torch_module

        return torch_module(self.tokens, self.variables)

    def skeleton(self) -> Expression:
        """Expression with every number, pi and e replaced by a free constant."""
        return Expression(self._tree.skeleton())

    def with_constants(self, constants: Any) -> Expression:
        """Expression with its free constants replaced by these numbers, left to right."""
        return Expression(self._tree.with_constants(bind_constants(constants)))

    def rename(self, names: Mapping[str, str]) -> Expression:
        """Expression with variables renamed; all at once, so that names can be swapped."""
        variables = self.variables
        for old, new in names.items():
            if old not in variables:
                raise ParseError(f"no variable {old!r} to rename; variables are: {', '.join(variables) or 'none'}")
            if not new:
                raise ParseError(f"the new name of {old!r} is empty")
        return Expression(self._tree.rename([names.get(name, name) for name in variables]))

    def diff(self, variable: str) -> Expression:
        """Symbolic derivative with respect to a variable."""
        from simplipy.expression.derivative import derivative_tokens

        return parse(derivative_tokens(self.tokens, variable))

    def subtrees(self) -> Iterator[Expression]:
        """All subexpressions in prefix order, the whole first; one at a time, since together they can be large."""
        return (Expression(self._tree.subtree(node)) for node in self._tree.prefix_order())

    def __call__(self, X: Any, constants: Any = None) -> FloatArray:
        """Values on the rows of X, NaN where undefined.

        Parameters
        ----------
        X : array (n_rows, n_columns), DataFrame or mapping of columns
            x_k is column k-1 of an array; tables and mappings bind by name.
        constants : array (n_constants,), optional
            Values of the free constants.

        Returns
        -------
        array (n_rows,)
            float32 where X is float32, else float64; computed in double precision.
        """
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype is _FLOAT64:
            matrix, names = X, None
        else:
            matrix, names = bind_data(X, self.variables)
        values = np.empty(len(matrix), dtype=matrix.dtype)
        _core.evaluate_one(self._tree, matrix, [] if constants is None else bind_constants(constants), names, values)
        return values

    def gradient(
        self,
        X: Any,
        constants: Any = None,
        wrt: Literal["constants", "variables"] = "constants",
        n_threads: int | None = 1,
    ) -> FloatArray:
        """Derivatives on the rows of X by reverse-mode differentiation, NaN where the expression is undefined.

        Parameters
        ----------
        X, constants
            As in a call.
        wrt : {"constants", "variables"}
            With respect to the free constants, or to ``e.variables`` in their order.
        n_threads : int or None
            None takes what pays off.

        Returns
        -------
        array (n_rows, n_constants) or (n_rows, n_variables)
        """
        if wrt not in ("constants", "variables"):
            raise EvaluationError(f"wrt must be 'constants' or 'variables', got {wrt!r}")
        variables = self.variables
        matrix, names = bind_data(X, variables)
        n_outputs = len(variables) if wrt == "variables" else self.n_constants
        values = np.empty((len(matrix), n_outputs), dtype=matrix.dtype)
        threads = thread_count(n_threads, len(matrix))
        by_variables = wrt == "variables"
        _core.gradient_one(self._tree, matrix, bind_constants(constants), names, by_variables, values, threads)
        return values


def parse(source: str | Sequence[str] | Expression) -> Expression:
    """Expression from infix text or from prefix tokens.

    Parameters
    ----------
    source : str or sequence of str
        Infix text such as ``"x1*sin(2 + <constant>)"``, or tokens such as ``["+", "x1", "x2"]``.

    Raises
    ------
    ParseError
        With the position of what is wrong.
    """
    if isinstance(source, Expression):
        return source
    try:
        if isinstance(source, str):
            return Expression(_core.Tree.from_infix(source))
        if isinstance(source, bytes | Mapping):
            raise TypeError
        tokens = list(source)
        return Expression(_core.Tree.from_tokens(tokens))
    except TypeError:
        raise _not_text(source) from None


def parse_many(texts: Sequence[str]) -> list[Expression]:
    """Expressions from many infix texts in one call."""
    if isinstance(texts, str):
        raise ParseError("parse_many takes a list of texts; use parse for one")
    try:
        return [Expression(tree) for tree in _core.parse_many(list(texts))]
    except TypeError:
        raise _not_text(texts) from None


def from_sympy(expression: sympy.Basic) -> Expression:
    """Expression equal to a SymPy one."""
    from simplipy.export.sympy_bridge import from_sympy as tokens_from_sympy

    return parse(tokens_from_sympy(expression))


def evaluate_many(
    expressions: Sequence[Expression] | TokenBatch,
    X: Any,
    constants: Sequence[Any] | None = None,
    n_threads: int | None = None,
) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Values of many expressions on the same data in one call.

    Parameters
    ----------
    expressions : sequence of Expression, or TokenBatch
        n_expressions of them.
    X : array (n_rows, n_columns), DataFrame or mapping of columns
        As in a call of an expression.
    constants : sequence of arrays, optional
        Values of the free constants, one array an expression.
    n_threads : int or None
        None takes what pays off. The result does not depend on it.

    Returns
    -------
    values : array (n_expressions, n_rows)
        NaN where undefined; an infinity is an overflow of doubles.
    defined : bool array (n_expressions, n_rows)
        Where the expression and all its subterms are defined.
    """
    parsed = [parse(e) for e in expressions]
    if constants is not None and len(constants) != len(parsed):
        raise EvaluationError(f"constants must have one entry an expression: {len(parsed)}, got {len(constants)}")
    matrix, names = bind_data(X, sorted({name for e in parsed for name in e.variables}))
    shape = (len(parsed), len(matrix))
    values = np.empty(shape, dtype=matrix.dtype)
    defined = np.empty(shape, dtype=np.bool_)
    bound = [] if constants is None else [bind_constants(c) for c in constants]
    threads = thread_count(n_threads, values.size)
    _core.evaluate_all([e._tree for e in parsed], matrix, bound, names, values, defined, threads)
    return values, defined


def _not_text(source: object) -> ParseError:
    """Why the core takes this for no text and no list of texts."""
    items = [source] if isinstance(source, str) or not isinstance(source, list | tuple) else source
    for i, item in enumerate(items):
        where = f"item {i + 1} of the list" if items is source else "the source"
        if not isinstance(item, str):
            return ParseError(f"{where} must be a string, got {item!r} of type {type(item).__name__}")
        try:
            item.encode()
        except UnicodeEncodeError as error:
            return ParseError(f"{where} is no valid Unicode text: {error.reason} at position {error.start + 1}")
    return ParseError(f"cannot parse {type(source).__name__}; pass infix text or a list of tokens")


def _check_precision(precision: int | None) -> None:
    if precision is not None and precision < 1:
        raise ValueError(f"precision must be >= 1 significant digit or None, got {precision}")

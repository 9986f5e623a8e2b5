"""Tidying of a fitted formula: constants become the simple numbers they stand for, terms that vanish are dropped.

Each change is tried on the data with the remaining constants refitted. Where the fit is exact, it is kept if the
paper's score log10(FVU) + gamma * length holds. Where it is not, residuals are taken as noise, and a change is kept if
it makes the description shorter: a simple number, or none, in place of one that the data determine to a few digits, as
long as they do not tell them apart.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from simplipy import _core
from simplipy.errors import FitError
from simplipy.expression.expression import Expression, parse
from simplipy.expression.operators import CONSTANT
from simplipy.fit.constants import fit_constants
from simplipy.fit.description_length import TOKEN, description_length, digits_cost, free_cost, roles_of_constants
from simplipy.fit.result import Fit, FitStatus, TidyStep
from simplipy.fit.score import EXACT_FVU, GAMMA, ROUNDING_FVU, score
from simplipy.fit.shorter_forms import reductions, shortened
from simplipy.fit.unexplained import Floats

# a constant may move by so many standard errors, or by this part of itself where the fit is exact
_DEVIATIONS = 4.0
_RELATIVE = 1e-6
# changes that are tried before one is made, of those that promise most
_TRIALS = 4
# fewest digits within so many standard errors
_ROUNDED = 1.0
# slack, relative to the value, in which rare numbers are looked for
_NARROW = 1e-3
_UNITS = ("pi", "e", "pi^2", "1/pi", "sqrt(pi)", "sqrt(2)", "sqrt(3)", "1/e", "1/sqrt(2*pi)", "sqrt(2*pi)")
_LARGEST_EXPONENT = 12
_LARGEST_DENOMINATOR = 12
_LARGEST_NUMERATOR = 10**6
# in an exact fit a multiple of pi or e may be so many tokens longer than the digits it replaces, as long as the whole
# is no longer than the formula that was fitted
_TOKENS_OF_A_SYMBOL = 3
# of the last fit before a deadline
_LEAST_SECONDS = 1e-3


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A simple value: its tokens, what to call it, and how complicated it is."""

    tokens: tuple[str, ...]
    name: str
    value: float
    cost: int
    symbolic: bool = False


@dataclass(frozen=True, slots=True)
class _Change:
    """A change to try: what it does and why, the skeleton, values to start from, and whether pi or e is in it."""

    action: str
    reason: str
    skeleton: Expression
    start: Floats
    symbolic: bool = False


def tidy(
    fit: Fit,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    y_err: Any = None,
    gamma: float = GAMMA,
    tolerance: float = 0.0,
    deadline: float | None = None,
    loss: str = "squared",
    method: str = "lm",
    n_threads: int | None = None,
) -> Fit:
    """The same law in simpler numbers.

    Constants are snapped to integers, small rationals, multiples and powers of pi and e, and to zero or one where that
    removes a term; the rest is refitted after each change. In an exact fit a change is kept if the score
    log10(FVU) + gamma * length holds, in one with residuals if the description length does
    (see ``simplipy.fit.description_length``); there, constants are also rounded within their standard errors.

    Parameters
    ----------
    fit : Fit
        From ``simplipy.fit_constants``.
    X, y, sample_weight, y_err
        The data of that fit.
    gamma : float, default 0.05
        The price of a token in an exact fit, in decades of FVU.
    tolerance : float, default 0
        By how much the score, or the description length per row, may rise.
    deadline : float, optional
        Seconds after which what is reached by then is returned.
    loss, method, n_threads
        As in ``simplipy.fit_constants``.

    Returns
    -------
    Fit
        ``expression`` is the tidied formula, ``steps`` says what was done and why. The fit itself where nothing was.

    Examples
    --------
    >>> import numpy as np, simplipy
    >>> X = np.linspace(0.5, 4, 50).reshape(-1, 1)
    >>> fit = simplipy.fit_constants("<constant>*x1^<constant> + <constant>*sin(x1)", X, np.pi * X[:, 0] ** 2)
    >>> tidied = simplipy.tidy(fit, X, np.pi * X[:, 0] ** 2)
    >>> tidied.expression.infix()
    'pi*x1^2'
    """
    if not isinstance(fit, Fit):
        raise FitError(f"tidy takes a Fit, got {type(fit).__name__}; fit_constants makes one")
    if not fit.ok or fit.skeleton.n_constants + len(fit.parameters) == 0:
        return fit
    data = {"X": X, "y": y, "sample_weight": sample_weight, "y_err": y_err}
    refit = partial(fit_constants, **data, loss=loss, method=method, n_restarts=0, n_threads=n_threads)
    end = math.inf if deadline is None else time.monotonic() + deadline
    return _Tidier(refit, len(np.asarray(y)), gamma, tolerance, end).run(fit)


@dataclass
class _Tidier:
    """The data, and the rules by which a change is kept."""

    refit: Callable[..., Fit]
    n_rows: int
    gamma: float
    tolerance: float
    end: float
    steps: list[TidyStep] = field(default_factory=list)

    def run(self, fit: Fit) -> Fit:
        """The fit after all changes that are kept."""
        current = self._with_parameters_as_constants(fit)
        if current.fvu > EXACT_FVU:
            longest = description_length(current, self.n_rows) + self.n_rows * self.tolerance
            current = self._shortened(current, longest)
        if current.fvu <= EXACT_FVU:
            current = self._snapped(current, len(fit.expression))
            shorter = self._pruned(current, max(current.fvu, ROUNDING_FVU))
            if shorter is not current:
                current = self._snapped(shorter, len(fit.expression))
        if not self.steps:
            return fit
        status = current.status if current.skeleton.n_constants else FitStatus.NO_CONSTANTS
        return replace(current, status=status, steps=tuple(self.steps))

    def _fitted(self, skeleton: Expression, start: Floats) -> Fit:
        x0 = start if skeleton.n_constants else None
        left = None if self.end == math.inf else max(self.end - time.monotonic(), _LEAST_SECONDS)
        return self.refit(skeleton, x0=x0, deadline=left)

    def _trials(self, changes: Iterable[_Change]) -> Iterator[tuple[_Change, Fit]]:
        """The changes that there is time to try, with their fits."""
        for change in itertools.takewhile(lambda _: time.monotonic() < self.end, changes):
            yield change, self._fitted(change.skeleton, change.start)

    def _kept(self, change: _Change, trial: Fit) -> Fit:
        self.steps.append(TidyStep(change.action, change.reason, trial.expression, trial.fvu))
        return trial

    def _pruned(self, fit: Fit, floor: float) -> Fit:
        """An exact fit without operands that only move its last digits."""
        reason = "what is left out changes nothing but rounding"
        shorter = reductions(fit.skeleton, fit.constants)
        for change, trial in self._trials(_Change(r.action, reason, r.skeleton, r.start) for r in shorter):
            if trial.fvu <= floor:
                return self._pruned(self._kept(change, trial), floor)
        return fit

    def _snapped(self, fit: Fit, longest: int) -> Fit:
        """An exact fit in simpler numbers, as long as it stays exact and short."""
        highest = self._score(fit) + self.tolerance + 1e-12
        for change, trial in self._trials(_simplifications(fit)):
            bonus = self.gamma * _TOKENS_OF_A_SYMBOL if change.symbolic and trial.fvu <= EXACT_FVU else 0.0
            if trial.ok and len(trial.expression) <= longest and self._score(trial) <= highest + bonus:
                return self._snapped(self._kept(change, trial), longest)
        return fit

    def _score(self, fit: Fit) -> float:
        """The paper's score, with FVUs that are rounding taken as equal."""
        return score(fit.fvu, len(fit.expression), self.gamma, EXACT_FVU)

    def _shortened(self, fit: Fit, longest: float) -> Fit:
        """A fit with residuals in the shortest description that is reached change by change."""
        for change, trial in self._trials(_promising(fit, self.n_rows) if fit.fvu > EXACT_FVU else ()):
            length = description_length(trial, self.n_rows)
            if length < longest:
                return self._shortened(self._kept(change, trial), length)
        return fit

    def _with_parameters_as_constants(self, fit: Fit) -> Fit:
        """Named parameters become numbers that can be snapped where they occur once; shared ones stay as fitted."""
        if not fit.parameters:
            return fit
        tokens = fit.skeleton.tokens
        numbers = {_core.quoted(name): float(value) for name, value in fit.parameters.items()}
        fitted = iter(fit.constants.tolist())
        skeleton, start = [], []
        for token in tokens:
            if token == CONSTANT or (token in numbers and tokens.count(token) == 1):
                skeleton.append(CONSTANT)
                start.append(next(fitted) if token == CONSTANT else numbers[token])
            else:
                skeleton.append(repr(numbers[token]) if token in numbers else token)
        return self._fitted(parse(skeleton), np.array(start))


def _promising(fit: Fit, n_rows: int) -> Iterator[_Change]:
    """The changes that should shorten the description most."""
    yield from _exponents_together(fit)
    errors = fit.stderr
    found: list[tuple[float, int, _Candidate, float]] = []
    for k, (value, role) in enumerate(zip(fit.constants.tolist(), roles_of_constants(fit.skeleton), strict=True)):
        error = float(errors[k]) if math.isfinite(errors[k]) else abs(value)
        slack = max(_RELATIVE * abs(value), _DEVIATIONS * error)
        simple = [c for c in _simple_values(value, slack) if role != "exponent" or not c.symbolic]
        if role != "exponent":
            simple += _rounded(value, error)
        if role == "base":
            simple += _exponentials(value, slack)
        for candidate in simple:
            distance = (candidate.value - value) / error if error > 0 else 0.0
            by_data = 0.5 * n_rows * math.log1p(distance**2 / max(n_rows - len(fit.constants), 1))
            found.append((by_data + _written(candidate) - free_cost(value, error), k, candidate, distance))
    found.sort(key=lambda entry: (entry[0], entry[1], entry[2].cost))
    for _, k, candidate, distance in found[:_TRIALS]:
        reason = f"{abs(distance):.2g} standard errors away; shorter to describe"
        yield _Change(_action(fit, k, candidate), reason, *_with_values(fit, {k: candidate.tokens}))


def _simplifications(fit: Fit) -> Iterator[_Change]:
    """Changes of an exact fit, those that save most first."""
    found: list[tuple[int, int, float, int, _Change]] = []
    for k, (value, role) in enumerate(zip(fit.constants.tolist(), roles_of_constants(fit.skeleton), strict=True)):
        slack = max(_RELATIVE * abs(value), 1e-9)
        for candidate in (*_simple_values(value, slack), *(_exponentials(value, slack) if role == "base" else ())):
            skeleton, start = _with_values(fit, {k: candidate.tokens})
            moved = abs(candidate.value - value)
            reason = f"{_distance(moved, value, fit.stderr[k])}; the score holds"
            change = _Change(_action(fit, k, candidate), reason, skeleton, start, candidate.symbolic)
            found.append((len(skeleton), candidate.cost, moved, k, change))
    yield from (change for *_, change in sorted(found, key=lambda entry: entry[:4]))


def _action(fit: Fit, k: int, candidate: _Candidate) -> str:
    return f"constant {k + 1}: {fit.constants[k]:.10g} -> {candidate.name}"


def _simple_values(value: float, slack: float) -> Iterator[_Candidate]:
    """Simple numbers within ``slack`` of a value, zero first; always finitely many.

    Where the slack is wide, something made of roots, squares and e is near any number, and says nothing.
    """
    if abs(value) <= slack or abs(value) < 1e-12:
        yield _Candidate(("0",), "0", 0.0, 0)
    found: set[float] = set()
    for name, unit, tokens in _units()[: None if slack < _NARROW * abs(value) else 2]:
        ratio = value / unit
        if abs(ratio) > _LARGEST_NUMERATOR:
            continue
        for denominator in range(1, _LARGEST_DENOMINATOR + 1):
            numerator = round(ratio * denominator)
            if numerator == 0 or abs(numerator) > _LARGEST_NUMERATOR or math.gcd(numerator, denominator) != 1:
                continue
            if unit != 1.0 and (abs(numerator) > 12 or denominator > 6):
                continue
            simple = unit * numerator / denominator
            if abs(simple - value) <= slack and simple not in found:
                found.add(simple)
                yield _made(Fraction(numerator, denominator), name, tokens, simple)


def _exponentials(value: float, slack: float) -> Iterator[_Candidate]:
    """Simple numbers under exp, for the base of a power: exp(-1/2)^x is exp(-x/2)."""
    if value > 0:
        for c in _simple_values(math.log(value), slack / value):
            if c.value not in (0.0, 1.0) and not c.symbolic:
                yield _Candidate(("exp", *c.tokens), f"exp({c.name})", math.exp(c.value), c.cost + 1)


def _rounded(value: float, error: float) -> Iterator[_Candidate]:
    """The value with the fewest digits that are within its standard error."""
    for digits in range(1, 8):
        token = _core.decimal_token(float(f"{value:.{digits - 1}e}"))
        if abs(float(token) - value) <= _ROUNDED * error:
            yield _Candidate((token,), token, float(token), digits)
            return


def _written(candidate: _Candidate) -> float:
    """Cost of a simple value, less that of the token it replaces; 0 and 1 remove about two more tokens."""
    n_tokens = len(candidate.tokens) - (3 if candidate.value in (0.0, 1.0) else 1)
    return digits_cost(candidate.tokens) + TOKEN * n_tokens


@cache
def _units() -> list[tuple[str, float, tuple[str, ...]]]:
    """Units of rational multiples, the common ones first: text, value and tokens."""
    units = [(text, float(parse(text)(np.zeros((1, 1)))[0]), tuple(parse(text).tokens)) for text in _UNITS]
    return [("", 1.0, ()), *units]


def _made(ratio: Fraction, name: str, unit: tuple[str, ...], value: float) -> _Candidate:
    exact = ratio.denominator in (1, 2, 4, 5, 8, 10)
    if exact:
        number: tuple[str, ...] = (_core.decimal_token(float(ratio)),)
    else:
        number = ("/", str(ratio.numerator), str(ratio.denominator))
    text = str(ratio)
    if not unit:
        return _Candidate(number, text, value, 1 + (ratio.denominator > 1) + len(str(ratio.numerator)) // 3)
    if ratio == 1:
        return _Candidate(unit, name, value, 2 + len(unit), True)
    return _Candidate(("*", *number, *unit), f"{text}*{name}", value, 4 + len(unit), True)


def _exponents_together(fit: Fit) -> Iterator[_Change]:
    """All exponents as integers, or halves: an error in one moves the others, so no single one may look simple."""
    places = [k for k, role in enumerate(roles_of_constants(fit.skeleton)) if role == "exponent"]
    if len(places) < 2:
        return
    roundings = (tuple(round(d * float(fit.constants[k])) / d for k in places) for d in (1, 2))
    for nearest in dict.fromkeys(roundings):
        if max(map(abs, nearest)) > _LARGEST_EXPONENT:
            continue
        values = {k: (_core.decimal_token(v),) for k, v in zip(places, nearest, strict=True)}
        action = f"{len(places)} exponents -> {', '.join(f'{v:g}' for v in nearest)}"
        yield _Change(action, "shorter to describe together", *_with_values(fit, values))


def _with_values(fit: Fit, values: Mapping[int, tuple[str, ...]]) -> tuple[Expression, Floats]:
    """The simplified skeleton with some constants replaced, and the values that its other constants then have."""
    places = itertools.count()
    spelled = [values.get(next(places), (token,)) if token == CONSTANT else (token,) for token in fit.skeleton.tokens]
    return shortened(parse(list(itertools.chain(*spelled))), np.delete(fit.constants, list(values)))


def _distance(moved: float, value: float, stderr: float) -> str:
    if moved == 0:
        return "equal"
    if math.isfinite(stderr) and stderr > 1e-9 * abs(value):
        return f"{moved / stderr:.2g} standard errors away"
    return f"{moved:.1g} away"

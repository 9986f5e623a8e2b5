"""Other systems behind the common interface: found, asked, and their formulas brought back to the data's units.

All see columns scaled to a median magnitude of 1 and targets of unit deviation: some compute in 32-bit floats, and all
do better for it. Of a front of formulas the one with the best score of the paper is taken, or the system's own choice.
"""

from __future__ import annotations

import contextlib
import math
import re
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import simplipy
from flash_ansr.bench.numeric import fvu
from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems.base import FloatArray, Found, Request, SystemMissingError
from flash_ansr.bench.systems.peer_process import PeerProcess
from flash_ansr.infer.candidates.score import exact_fvu, price_of_a_token, score
from flash_ansr.infer.table.table import Table
from simplipy import Expression
from simplipy.errors import SimplipyError

# where `make peers` installs them
_ENVIRONMENT = Path("build/peers/bin/python")
_GAMMA = 0.05
# what a system may take beyond its seconds before it is ended
_GRACE = 30.0
_GRACE_FACTOR = 5.0
_NO_BUDGET_SECONDS = 24 * 3600.0

REMEDIES = {
    "operon": "run `make peers`",
    "gplearn": "run `make peers`",
    "pysr": "install Julia and then PySR",
    "nesymres": "install the authors' code, and name its files by --set config=, equations= and weights=",
    "e2e": "install the authors' code, and name the file model1.pt by --set weights=",
}

# settings without which a system has nothing to run
REQUIRED = {"nesymres": ("config", "equations", "weights"), "e2e": ("weights",)}


class Peer:
    """A system of another package.

    Parameters
    ----------
    name : str
        One of `REMEDIES`.
    python : str, optional
        The interpreter that has it; by default this one, then that of `make peers`.
    choice : {"score", "own"}
        Who chooses from a front of formulas: the paper's score, or the system by its own rule.
    **settings
        Passed on to the system.
    """

    def __init__(self, name: str, python: str | None = None, choice: str = "score", **settings: Any) -> None:
        if choice not in ("score", "own"):
            raise BenchError(f"{name}: choice is score or own, got {choice!r}")
        self._name = name
        self._choice = choice
        self._pythons = [Path(python)] if python else [Path(sys.executable), _ENVIRONMENT]
        self._settings = settings

    def versions(self) -> dict[str, str]:
        """Of the system and what it runs on."""
        known = [p for (name, python, _), p in _PROCESSES.items() if name == self._name and python in self._pythons]
        found = next((process.versions for process in known if process.is_alive), None) or self._running(1).versions
        if missing := [key for key in REQUIRED.get(self._name, ()) if key not in self._settings]:
            raise SystemMissingError(
                f"the system {self._name!r} is there, but not told where its files are: "
                f"name them by {', '.join(f'--set {key}=PATH' for key in missing)}"
            )
        return found

    def fit(self, request: Request) -> Found:
        """The formula of the front that was chosen."""
        scaling = Scaling.of(request.X, request.y)
        seconds = request.seconds
        X, y = request.X / scaling.columns, request.y / scaling.target
        answer = self._running(request.n_threads).ask(
            {
                "X": X.tolist(),
                "y": y.tolist(),
                "seconds": seconds,
                "seed": request.seed,
                "n_threads": request.n_threads,
                "settings": self._settings,
            },
            _NO_BUDGET_SECONDS if seconds is None else _GRACE_FACTOR * seconds + _GRACE,
        )
        if "error" in answer:
            raise RuntimeError(answer["error"])
        front, n_unknown = _parsed(answer["front"])
        # chosen in the units of the system: its own weights do not lengthen a formula, ours may
        best = best_by_score(front, X, y)
        own = _parsed([answer["front"][answer["own_choice"]]])[0][0] if "own_choice" in answer else best
        report: dict[str, Any] = {"n_front": len(front), "n_not_understood": n_unknown}
        if "own_choice" in answer:
            report |= {f"by_{rule}": scaling.undo(law).infix() for rule, law in (("score", best), ("own", own))}
        return Found(
            scaling.undo(own if self._choice == "own" else best),
            seconds=answer["seconds"],
            report=answer.get("report", {}) | report,
        )

    def close(self) -> None:
        """End the processes of this system."""
        for key in [key for key in _PROCESSES if key[0] == self._name]:
            _PROCESSES.pop(key).close()

    def _running(self, n_threads: int) -> PeerProcess:
        """The process, started anew after it died."""
        reasons = []
        with _STARTING:
            for python in self._pythons:
                key = (self._name, python, n_threads)
                if key in _PROCESSES and _PROCESSES[key].is_alive:
                    return _PROCESSES[key]
                if key in _PROCESSES:
                    _PROCESSES.pop(key).close()
                if not python.exists():
                    reasons.append(f"{python} is not there")
                    continue
                try:
                    _PROCESSES[key] = PeerProcess(self._name, python, n_threads)
                    return _PROCESSES[key]
                except (SystemMissingError, RuntimeError, TimeoutError) as error:
                    reasons.append(f"{python}: {error}")
        raise SystemMissingError(
            f"the system {self._name!r} cannot run: {'; '.join(reasons)}. "
            f"To have it, {REMEDIES[self._name]}; another interpreter is named by --set python=PATH"
        )


# by system, interpreter and cores: settings go with each question
_PROCESSES: dict[tuple[str, Path, int], PeerProcess] = {}
_STARTING = threading.Lock()
# what others call operators of ours
_NAMES = {
    "square": "pow2",
    "cube": "pow3",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}


def _parsed(formulas: Sequence[str | list[str]]) -> tuple[list[Expression], int]:
    """Formulas of a front, as text or as prefix tokens, and how many could not be read."""
    found = []
    for formula in formulas:
        with contextlib.suppress(SimplipyError):
            if isinstance(formula, str):
                formula = re.sub(r"\b[a-z]+(?=\()", lambda word: _NAMES.get(word[0], word[0]), formula)
            found.append(simplipy.parse(formula))
    if formulas and not found:
        raise RuntimeError(f"no formula of the front can be read, such as {formulas[0]!r:.200}")
    return found, len(formulas) - len(found)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Units in which columns and targets are of size 1.

    Attributes
    ----------
    columns : ndarray, shape (k,)
        Median magnitudes.
    target : float
        Standard deviation.
    """

    columns: FloatArray
    target: float

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray) -> Scaling:
        """The units of data."""
        columns = np.median(np.abs(X), axis=0)
        columns[columns == 0] = 1.0
        top = float(np.abs(y).max()) or 1.0
        return cls(columns, float((y / top).std()) * top or top)

    def undo(self, expression: Expression) -> Expression:
        """A formula of scaled data in the data's own units.

        Scales go into the numbers that stand there already (a weight at a variable, a factor and an offset in front),
        so that the formula is as long as it was, where it has them.
        """
        tokens = expression.tokens
        out: list[str] = []
        k = 0
        while k < len(tokens):
            if tokens[k] == "*" and k + 2 < len(tokens) and _is_number(tokens[k + 1]) and self._unit(tokens[k + 2]):
                out += ["*", _token(float(tokens[k + 1]) / self._unit(tokens[k + 2])), tokens[k + 2]]
                k += 3
            else:
                unit = self._unit(tokens[k])
                out += ["*", _token(1 / unit), tokens[k]] if unit else [tokens[k]]
                k += 1
        return simplipy.parse(self._undo_target(out))

    def _undo_target(self, tokens: list[str]) -> list[str]:
        if (
            len(tokens) > 3
            and tokens[0] == "+"
            and tokens[2] == "*"
            and _is_number(tokens[1])
            and _is_number(tokens[3])
        ):
            offset, factor = (float(tokens[j]) * self.target for j in (1, 3))
            return ["+", _token(offset), "*", _token(factor), *tokens[4:]]
        if len(tokens) > 1 and tokens[0] == "*" and _is_number(tokens[1]):
            return ["*", _token(float(tokens[1]) * self.target), *tokens[2:]]
        if len(tokens) == 1 and _is_number(tokens[0]):
            return [_token(float(tokens[0]) * self.target)]
        return ["*", _token(self.target), *tokens]

    def _unit(self, token: str) -> float:
        """The unit of a variable, 0 for what is none."""
        index = int(token[1:]) if token[0] == "x" and token[1:].isdigit() else 0
        return float(self.columns[index - 1]) if 1 <= index <= len(self.columns) else 0.0


def best_by_score(front: Sequence[Expression], X: FloatArray, y: FloatArray) -> Expression:
    """The formula with the least score, as our own search counts it; one that is not finite on the rows comes last.

    That is log10 FVU + 0.05 * length, with a token's price raised below 60 rows and rounding not counted as error.

    Raises
    ------
    RuntimeError
        When there is no formula.
    """
    if not front:
        raise RuntimeError("the system returned no formula")

    price, floor = price_of_a_token(_GAMMA, len(y)), exact_fvu(Table(X, y))
    return min(front, key=lambda expression: score(fvu(y, expression(X)), len(expression), price, floor))


def _is_number(token: str) -> bool:
    try:
        return math.isfinite(float(token))
    except ValueError:
        return False


def _token(value: float) -> str:
    return repr(value)

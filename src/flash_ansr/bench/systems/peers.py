"""Other systems behind the common interface: found, asked, and their formulas brought back to the data's units.

All see columns scaled to a median magnitude of 1 and targets of unit deviation, or standardised data: some compute in
32-bit floats, and all do better for it. Of a front of formulas the one with the best score of the paper is taken, or
the system's own choice.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import simplipy
from flash_ansr.bench.numeric import fvu
from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems.base import Answer, FloatArray, Request, System, SystemMissingError
from flash_ansr.bench.systems.peer_process import PeerProcess
from flash_ansr.bench.systems.units import SCALES, DataUnits, Scale
from simplipy import Expression
from simplipy.errors import SimplipyError
from simplipy.fit.score import GAMMA, exact_fvu, price_of_a_token, score

# where `make peers` installs them
_ENVIRONMENT = Path("build/peers/bin/python")
# seconds over its budget after which a system is ended
_GRACE = 30.0
_GRACE_FACTOR = 5.0
_NO_BUDGET_SECONDS = 24 * 3600.0


class Peer(System):
    """A system of another package.

    A subclass names the system, a remedy where it is not there, and settings without which it has nothing to run.

    Parameters
    ----------
    python : str, optional
        The interpreter that has it; by default this one, then that of `make peers`.
    choice : {"score", "own"}
        The way to choose from a front of formulas: by the paper's score, or by the system's own rule.
    scale : {"median", "standard"}
        The units of the data that it sees: median magnitudes of columns, or those of standardised columns and targets.
    **settings
        Passed on to the system.
    """

    name: str
    remedy: str
    required: tuple[str, ...] = ()

    def __init_subclass__(cls, name: str) -> None:
        super().__init_subclass__(name)
        cls.name = name

    def __init__(
        self, python: str | None = None, choice: str = "score", scale: Scale = "median", **settings: Any
    ) -> None:
        if choice not in ("score", "own"):
            raise BenchError(f"{self.name}: choice is score or own, got {choice!r}")
        if scale not in SCALES:
            raise BenchError(f"{self.name}: scale is median or standard, got {scale!r}")
        self._choice = choice
        self._scale: Scale = scale
        self._pythons = [Path(python)] if python else [Path(sys.executable), _ENVIRONMENT]
        self._settings = settings

    def versions(self) -> dict[str, str]:
        """Of the system and of the packages below it."""
        known = [p for (name, python, _), p in _PROCESSES.items() if name == self.name and python in self._pythons]
        found = next((process.versions for process in known if process.is_alive), None) or self._running(1).versions
        if missing := [key for key in self.required if key not in self._settings]:
            raise SystemMissingError(
                f"the system {self.name!r} is there, but not told where its files are: "
                f"name them by {', '.join(f'--set {key}=PATH' for key in missing)}"
            )
        return found

    def fit(self, request: Request) -> Answer:
        """The formula of the front that was chosen.

        The report has its `size` in the units that the system saw: means that are put back make it no longer.
        """
        units = DataUnits.of(request.X, request.y, self._scale)
        X, y = units.apply(request.X, request.y)
        question = {"X": X.tolist(), "y": y.tolist(), "settings": self._settings}
        question |= {name: getattr(request, name) for name in ("seconds", "seed", "n_threads")}
        patience = _NO_BUDGET_SECONDS if request.seconds is None else _GRACE_FACTOR * request.seconds + _GRACE
        answer = self._running(request.n_threads).ask(question, patience)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        front, n_unknown = _parsed(answer["front"])
        # chosen in the units of the system: its own weights do not lengthen a formula, ours may
        chosen = {"score": best_by_score(front, X, y)}
        report: dict[str, Any] = {"n_front": len(front), "n_not_understood": n_unknown}
        if "own_choice" in answer:
            chosen["own"] = _parsed([answer["front"][answer["own_choice"]]])[0][0]
            report |= {f"by_{rule}": units.undo(law).infix() for rule, law in chosen.items()}
        law = chosen.get(self._choice, chosen["score"])
        report["size"] = len(law)
        return Answer(units.undo(law), seconds=answer["seconds"], report=answer.get("report", {}) | report)

    def close(self) -> None:
        """End the processes of this system."""
        for key in [key for key in _PROCESSES if key[0] == self.name]:
            _PROCESSES.pop(key).close()

    def _running(self, n_threads: int) -> PeerProcess:
        """The process, started anew after it died."""
        reasons = []
        with _STARTING:
            for python in self._pythons:
                key = (self.name, python, n_threads)
                if key in _PROCESSES:
                    if _PROCESSES[key].is_alive:
                        return _PROCESSES[key]
                    _PROCESSES.pop(key).close()
                if not python.exists():
                    reasons.append(f"{python} is not there")
                    continue
                try:
                    return _PROCESSES.setdefault(key, PeerProcess(self.name, python, n_threads))
                except (SystemMissingError, RuntimeError, TimeoutError) as error:
                    reasons.append(f"{python}: {error}")
        raise SystemMissingError(
            f"the system {self.name!r} cannot run: {'; '.join(reasons)}. "
            f"To have it, {self.remedy}; another interpreter is named by --set python=PATH"
        )


class Operon(Peer, name="operon"):
    """Operon, of the package pyoperon."""

    remedy = "run `make peers`"


class Gplearn(Peer, name="gplearn"):
    """gplearn, of the package of that name."""

    remedy = "run `make peers`"


class EGGP(Peer, name="eggp"):
    """eggp, genetic programming that revisits no formula in any of its forms, of the package of that name."""

    remedy = "run `make table-peers`"


class SymRegg(Peer, name="symregg"):
    """SymRegg, a search in a graph of equal formulas, of the package symregg."""

    remedy = "run `make table-peers`"


class RilsRols(Peer, name="rils_rols"):
    """RILS-ROLS, iterated local search with least squares, of the package rils-rols."""

    remedy = "run `make table-peers`"


class PySR(Peer, name="pysr"):
    """PySR, which runs on Julia."""

    remedy = "install Julia and then PySR"


class NeSymReS(Peer, name="nesymres"):
    """NeSymReS, by its authors' code and weights."""

    remedy = "install the authors' code, and name its files by --set config=, equations= and weights="
    required = ("config", "equations", "weights")


class E2E(Peer, name="e2e"):
    """The end-to-end transformer, by its authors' code and weights."""

    remedy = "install the authors' code, and name the file model1.pt by --set weights="
    required = ("weights",)


# by system, interpreter and cores: settings go with each question
_PROCESSES: dict[tuple[str, Path, int], PeerProcess] = {}
_STARTING = threading.Lock()
# other names of our operators
_NAMES = {"square": "pow2", "cube": "pow3", "reciprocal": "inv"}
_NAMES |= {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


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


def best_by_score(front: Sequence[Expression], X: FloatArray, y: FloatArray) -> Expression:
    """The formula with the least score, as our own search counts it; one that is not finite on the rows comes last.

    That is log10 FVU + gamma * length at the paper's gamma, with a token's price raised below 60 rows and rounding not
    counted as error.

    Raises
    ------
    RuntimeError
        When there is no formula.
    """
    if not front:
        raise RuntimeError("the system returned no formula")

    price, floor = price_of_a_token(GAMMA, len(y)), exact_fvu(y)
    return min(front, key=lambda expression: score(fvu(y, expression(X)), len(expression), price, floor))

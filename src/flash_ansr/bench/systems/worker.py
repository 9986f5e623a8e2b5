"""Runs another system in the Python environment where that is installed; knows nothing of this package.

    python worker.py operon

Reads requests from stdin and writes answers to stdout, one JSON object a line. The first line written says which
versions are there, or why the system cannot run. Output of the system itself goes to stderr.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import math
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Request = dict[str, Any]
Answer = dict[str, Any]


def operon() -> tuple[list[str], Callable[[Request], Answer]]:
    """Operon: NSGA-II on error and length, local search by Levenberg-Marquardt."""
    import pyoperon
    import pyoperon.sklearn

    evaluators: list[Any] = []

    class Watched:
        """The library with its evaluator in sight: a whole number of seconds is all that its own limit takes."""

        def __getattr__(self, name: str) -> Any:
            return getattr(pyoperon, name)

        def Evaluator(self, *arguments: Any) -> Any:  # noqa: N802 - the library's name; asked where there is one objective
            evaluators.append(pyoperon.Evaluator(*arguments))
            return evaluators[-1]

        def MultiEvaluator(self, problem: Any) -> Any:  # noqa: N802 - the library's name
            evaluators.append(pyoperon.MultiEvaluator(problem))
            return evaluators[-1]

    pyoperon.sklearn.op = Watched()
    # scikit-learn's refuses NaN, and with it the whole front for one formula of it
    pyoperon.sklearn.mean_squared_error = lambda y, found: float(np.mean(np.square(np.subtract(y, found))))
    no_limit = 10**9

    def stop_after(seconds: float, ended: threading.Event) -> None:
        """Take the budget away again and again: before its evaluator exists and once it starts, it is set anew."""
        wait = seconds
        while not ended.wait(wait):
            for evaluator in evaluators:
                evaluator.Budget = 0
            wait = 0.01

    def fit(request: Request) -> Answer:
        settings = {
            "allowed_symbols": "add,sub,mul,div,exp,log,sin,cos,sqrt,square,tanh,constant,variable",
            "objectives": ["r2", "length"],
            "optimizer_iterations": 10,
            "population_size": 1000,
            "max_length": 50,
            "max_depth": 10,
            "generations": no_limit,
            "max_evaluations": no_limit,
            "epsilon": 0.0,
            "n_threads": request["n_threads"],
            "random_state": request["seed"],
        } | request["settings"]
        model = pyoperon.sklearn.SymbolicRegressor(**settings)
        evaluators.clear()
        ended = threading.Event()
        if request["seconds"]:
            threading.Thread(target=stop_after, args=(request["seconds"], ended), daemon=True).start()
        try:
            model.fit(request["X"], request["y"])
        finally:
            ended.set()
        front = model.pareto_front_
        costs = np.nan_to_num([found[model.model_selection_criterion] for found in front], nan=np.inf)
        return {
            "front": [_short_numbers(model.get_model_string(found["tree"], 40, request["names"])) for found in front],
            "own_choice": int(np.argmin(costs)),
            "report": {"generations": model.stats_["generations"]},
        }

    return ["pyoperon", "numpy"], fit


def gplearn() -> tuple[list[str], Callable[[Request], Answer]]:
    """gplearn: generations until the time is over; protected operators are written out, as log(abs(x))."""
    from gplearn.genetic import SymbolicRegressor

    def fit(request: Request) -> Answer:
        settings = {
            "population_size": 1000,
            "function_set": ("add", "sub", "mul", "div", "sqrt", "log", "neg", "inv", "sin", "cos"),
            "n_jobs": request["n_threads"],
            "random_state": request["seed"],
            "generations": 10**9 if request["seconds"] else 20,
        } | request["settings"]
        last = settings.pop("generations")
        model = SymbolicRegressor(generations=1, warm_start=True, **settings)
        deadline = time.perf_counter() + (request["seconds"] or float("inf"))
        generation = 0
        while generation < last and (generation == 0 or time.perf_counter() < deadline):
            generation += 1
            model.set_params(generations=generation)
            model.fit(request["X"], request["y"])
        return {"front": [_from_gplearn(str(model._program))], "report": {"generations": generation}}

    return ["gplearn", "scikit-learn", "numpy"], fit


def eggp() -> tuple[list[str], Callable[[Request], Answer]]:
    """eggp: the settings of its authors' scripts for SRBench (github.com/folivetti/eggp_paper_GECCO); takes no seed."""
    os.environ["GHCRTS"] = f"-N{os.environ.get('OMP_NUM_THREADS', '1')}"
    from eggp import EGGP

    def fit(request: Request) -> Answer:
        seconds = request["seconds"]
        settings = _OF_EGGP_AND_SYMREGG | {
            "nPop": 500,
            "nTournament": 2,
            "pc": 0.9,
            "pm": 0.1,
            "optRepeat": 2,
            "gen": 10**6 if seconds else 200,
            # it takes whole seconds, and starts no generation in the last five of them
            "max_time": math.ceil(seconds) + 5 if seconds else -1,
        }
        model = EGGP(**settings | request["settings"])
        model.fit(request["X"], request["y"])
        return _front_of_table(model.results, request)

    return ["eggp", "numpy"], fit


def symregg() -> tuple[list[str], Callable[[Request], Answer]]:
    """SymRegg: the settings of the same scripts; takes no seed.

    It has no time limit. Short runs tell how many generations fit into the rest of the time; the last run counts.
    A run that goes on from the file of another finds less than one without a break.
    """
    from symregg import SymRegg

    def fit(request: Request) -> Answer:
        settings = _OF_EGGP_AND_SYMREGG | {"alg": "BestFirst", "optRepeat": 1} | request["settings"]
        n_next = int(settings.pop("gen", 5 if request["seconds"] else 100_000))
        n_generations = 0
        start = time.perf_counter()
        # it writes its data where it runs
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            while n_next > n_generations:
                n_generations, began = n_next, time.perf_counter()
                model = SymRegg(gen=n_generations, **settings)
                model.fit(request["X"], request["y"])
                now = time.perf_counter()
                left = (request["seconds"] or 0.0) - (now - start)
                # a generation takes longer late in a run
                n_next = min(4 * n_generations, int(0.8 * n_generations * left / (now - began)))
        front = _front_of_table(model.results, request)
        return front | {"report": {"generations": n_generations}}

    return ["symregg", "numpy"], fit


def rils_rols() -> tuple[list[str], Callable[[Request], Answer]]:
    """RILS-ROLS: the settings of its authors' method for SRBench, with time in the place of 500,000 fits.

    It takes whole seconds, and simplifies its formula for up to two more.
    """
    from rils_rols.rils_rols import RILSROLSRegressor

    def fit(request: Request) -> Answer:
        settings = {
            "max_complexity": 50,
            "sample_size": 0,
            "random_state": request["seed"],
            "max_fit_calls": 10**9 if request["seconds"] else 500_000,
            "max_time": max(1, int(request["seconds"] - 2)) if request["seconds"] else 10**6,
        }
        model = RILSROLSRegressor(**settings | request["settings"])
        model.fit(request["X"], request["y"])
        text = str(model.model_string()).replace("Abs(", "abs(")
        return {"front": [_count_from_1(r"x(\d+)", text)], "report": {"fits": int(model.fit_calls)}}

    return ["rils-rols", "numpy"], fit


def pysr() -> tuple[list[str], Callable[[Request], Answer]]:
    """PySR with the paper's operators but multiples, quotients, fourth and fifth powers, which `*` and `^` spell."""
    if shutil.which("julia") is None:
        raise ImportError("Julia is not on the PATH")
    from pysr import PySRRegressor

    def fit(request: Request) -> Answer:
        settings = {
            "binary_operators": ["+", "-", "*", "/", "^"],
            "unary_operators": [
                *("abs", "neg", "inv", "square", "cube", "sqrt", "cbrt", "exp", "log", "sin", "cos", "tan"),
                *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
            ],
            "progress": False,
            "verbosity": 0,
            "temp_equation_file": True,
            "random_state": request["seed"],
            "niterations": 10**6 if request["seconds"] else 40,
            "timeout_in_seconds": request["seconds"],
        } | request["settings"]
        model = PySRRegressor(**settings)
        model.fit(request["X"], request["y"], variable_names=request["names"])
        return {"front": [str(text) for text in model.equations_["equation"]]}

    return ["pysr", "numpy"], fit


def nesymres() -> tuple[list[str], Callable[[Request], Answer]]:
    """NeSymReS: the authors' code, with `config`, `equations` and `weights` named by settings."""
    import torch
    from nesymres.architectures.model import Model
    from nesymres.dclasses import BFGSParams, FitParams
    from omegaconf import OmegaConf

    loaded: dict[str, Any] = {}

    def fit(request: Request) -> Answer:
        settings = request["settings"]
        torch.manual_seed(request["seed"])
        np.random.seed(request["seed"])  # noqa: NPY002 - its restarts draw from it
        n_columns = len(request["names"])
        if n_columns > 3:
            raise ValueError(f"NeSymReS takes up to 3 variables, got {n_columns}")
        config = OmegaConf.load(settings["config"])
        with open(settings["equations"], encoding="utf-8") as file:  # noqa: PTH123 - no package of ours here
            equations = json.load(file)
        if "model" not in loaded:
            loaded["model"] = Model.load_from_checkpoint(settings["weights"], cfg=config.architecture).eval()
        bfgs = config.inference.bfgs
        taken_over = (
            "activated add_coefficients_if_not_existing normalization_o idx_remove normalization_type stop_time"
        )
        parameters = FitParams(
            id2word={int(k): word for k, word in equations["id2word"].items()},
            **{name: equations[name] for name in ("word2id", "una_ops", "bin_ops")},
            **{name: list(equations[name]) for name in ("total_variables", "total_coefficients", "rewrite_functions")},
            bfgs=BFGSParams(
                n_restarts=settings.get("n_restarts", 4), **{name: bfgs[name] for name in taken_over.split()}
            ),
            beam_size=settings.get("beam_width", 4),
        )
        X = np.zeros((len(request["X"]), 3))
        X[:, :n_columns] = request["X"]
        output = partial(loaded["model"].fitfunc, cfg_params=parameters)(X, request["y"])
        best = str(output["best_bfgs_preds"][0])
        return {"front": [re.sub(r"x_(\d+)", r"x\1", best)]}

    return ["nesymres", "torch", "numpy"], fit


def e2e() -> tuple[list[str], Callable[[Request], Answer]]:
    """E2E: the authors' code, with `weights` (model1.pt, a pickle: only the authors' own) named by settings."""
    import symbolicregression
    import torch

    loaded: dict[str, Any] = {}

    def fit(request: Request) -> Answer:
        settings = request["settings"]
        torch.manual_seed(request["seed"])
        np.random.seed(request["seed"])  # noqa: NPY002 - its bags are drawn from it
        if "model" not in loaded:
            loaded["model"] = torch.load(settings["weights"], map_location="cpu", weights_only=False)
        loaded["model"].beam_size = settings.get("beam_width", 256)
        model = symbolicregression.model.SymbolicTransformerRegressor(
            model=loaded["model"],
            max_input_points=settings.get("max_input_points", 200),
            max_number_bags=settings.get("max_number_bags", 100),
            n_trees_to_refine=settings.get("n_trees_to_refine", 10),
            rescale=True,
        )
        model.fit(request["X"], request["y"])
        tree = model.retrieve_tree(with_infos=True)["relabed_predicted_tree"].infix()
        for word, symbol in {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^"}.items():
            tree = re.sub(rf"\b{word}\b", symbol, tree)
        return {"front": [_count_from_1(r"x_(\d+)", tree)]}

    return ["symbolicregression", "torch", "numpy"], fit


_SYSTEMS = (operon, gplearn, eggp, symregg, rils_rols, pysr, nesymres, e2e)
SYSTEMS = {system.__name__: system for system in _SYSTEMS}
_OF_EGGP_AND_SYMREGG = {
    "maxSize": 50,
    "folds": 2,
    "loss": "MSE",
    "optIter": 50,
    "nonterminals": "add,sub,mul,div,exp,log,sin,power,sqrt",
    "simplify": True,
}
_GPLEARN_TOKENS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "sqrt": "pow1_2 abs", "log": "log abs"}


def _from_gplearn(text: str) -> list[str]:
    """Prefix tokens of nested calls, which are in prefix order already; X0 is x1."""
    words = _count_from_1(r"X(\d+)", text)
    return " ".join(_GPLEARN_TOKENS.get(word, word) for word in re.findall(r"[^\s(),]+", words)).split()


def _front_of_table(results: Any, request: Request) -> Answer:
    """Formulas of a table of eggp or SymRegg; their own choice is the one with the least error on the fitted rows.

    The error is computed anew: those of the table are of the part of the rows that a run took for its constants.
    """
    front, errors = [], []
    for formula, theta in zip(results["Numpy"], map(str, results["theta"]), strict=True):
        front.append(_from_numpy(formula, theta))
        numbers = [float(number) for number in theta.split(";") if number not in ("", "nan")]
        names = {"np": np, "x": request["X"], "t": np.array(numbers)}
        errors.append(np.mean((eval(formula, names) - request["y"]) ** 2))  # noqa: S307 - as the packages predict
    return {"front": front, "own_choice": int(np.argmin(np.nan_to_num(errors, nan=np.inf)))}


def _from_numpy(formula: str, theta: str) -> str:
    """A formula in arrays as one in x1, x2, ...: `x[:, 0]` is x1, and `t[0]` the first of the numbers."""
    numbers = theta.split(";")
    text = re.sub(r"t\[(\d+)\]", lambda match: f"({float(numbers[int(match[1])])!r})", formula)
    return _count_from_1(r"x\[:, (\d+)\]", text.replace("np.", ""))


def _count_from_1(pattern: str, text: str) -> str:
    """Text with the variables of a pattern, which are counted from 0, as x1, x2, ..."""
    return re.sub(pattern, lambda match: f"x{int(match[1]) + 1}", text)


def _short_numbers(text: str) -> str:
    """Text with every decimal as the shortest one that is the same double."""
    return re.sub(r"\d+\.\d+(e[-+]?\d+)?", lambda match: repr(float(match[0])), text)


def main() -> None:
    """Serve one system until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def say(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        packages, fit = SYSTEMS[sys.argv[1]]()
    except Exception as error:
        say({"missing": f"{type(error).__name__}: {error}"})
        return
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "?"
    say({"versions": versions})
    for line in sys.stdin:
        request = json.loads(line)
        request |= {name: np.array(request[name]) for name in ("X", "y")}
        request["names"] = [f"x{k}" for k in range(1, request["X"].shape[1] + 1)]
        start = time.perf_counter()
        try:
            answer = fit(request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        say(answer | {"seconds": time.perf_counter() - start})


if __name__ == "__main__":
    main()

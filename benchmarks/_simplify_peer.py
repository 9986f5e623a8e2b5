"""One engine of another package over prefix rows from stdin; runs in the environment that has the package.

    python _simplify_peer.py sympy|sympy_ratio1|symengine|published < rows.jsonl > results.jsonl

Input: a line each of {"tokens": [...], "filled": with numbers for free constants, "text": those as infix}.
Output: first {"version": ...}, then a line each of {"status": "ok", "seconds": ..., "text": infix}, or of the status
"timeout" or "error" with a "reason". Only the engine's own work is timed. Uses nothing of this project, so that it
starts anywhere.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

TIMEOUT = 1.0
SETUP_TIMEOUT = 20.0
Row = dict[str, Any]
# An engine: prepares a row (untimed), works on it (timed), prints the result (untimed).
Steps = tuple[str, Callable[[Row], Any], Callable[[Any], Any], Callable[[Any], str]]


class OutOfTime(BaseException):
    """Not an Exception, so that no handler inside an engine takes it for its own."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    def give_up(_signal: int, _frame: object) -> None:
        raise OutOfTime

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def operators(module: Any, number: Callable[[int], Any]) -> dict[str, Callable[..., Any]]:
    """The tokens as calls of a computer algebra module."""
    names = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log".split()
    table: dict[str, Callable[..., Any]] = {name: getattr(module, name) for name in names}
    table |= {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "abs": lambda a: abs(a),
        "neg": lambda a: -a,
        "inv": lambda a: 1 / a,
    }
    for k in range(2, 6):
        n = number(k)
        table |= {
            f"mult{k}": lambda a, n=n: n * a,
            f"div{k}": lambda a, n=n: a / n,
            f"pow{k}": lambda a, n=n: a**n,
            f"pow1_{k}": lambda a, n=n: a ** (1 / n),
        }
    return table


def sympy_steps(**options: Any) -> Steps:
    import sympy
    from sympy.core.cache import clear_cache

    functions = operators(sympy, sympy.Integer)
    functions |= {"sqrt": sympy.sqrt, "cbrt": functions["pow1_3"], "abs": sympy.Abs}
    names = {name: function for name, function in functions.items() if name.isidentifier()} | {"e": sympy.E}

    def prepare(row: Row) -> Any:
        expression = sympy.parse_expr(row["text"].replace("^", "**"), local_dict=names)
        clear_cache()  # rows of a corpus share no work
        return expression

    return sympy.__version__, prepare, lambda e: sympy.simplify(e, **options), str


def symengine_steps() -> Steps:
    import symengine

    table = operators(symengine, symengine.Integer)
    leaves = {"pi": symengine.pi, "e": symengine.E}
    arity = {token: 2 if token in {"+", "-", "*", "/", "pow"} else 1 for token in table}

    def leaf(token: str) -> Any:
        try:
            return symengine.RealDouble(float(token))
        except ValueError:
            return leaves[token] if token in leaves else symengine.Symbol(token)

    def prepare(row: Row) -> list[tuple[Any, int]]:
        return [(table[t], arity[t]) if t in table else (leaf(t), 0) for t in reversed(row["filled"])]

    def build(program: list[tuple[Any, int]]) -> Any:
        stack: list[Any] = []
        for item, n in program:
            stack.append(item(*(stack.pop() for _ in range(n))) if n else item)
        return stack[0]

    return symengine.__version__, prepare, build, str


def published_steps(rules: str, mode: str) -> Steps:
    """The published package of the paper's authors; its rules are a download of their own."""
    from importlib.metadata import version

    from simplipy import SimpliPyEngine  # type: ignore[attr-defined]

    engine = SimpliPyEngine.load(rules, install=True)

    def text(tokens: Any) -> str:
        return str(engine.simplify(tokens, mode=mode, form="infix"))

    def work(tokens: list[str]) -> list[str]:
        engine.simplify(tokens, mode=mode)
        return tokens

    return f"{version('simplipy')} {rules} {mode}", lambda row: row["tokens"], work, text


def result_of(row: Row, prepare: Callable[[Row], Any], work: Callable[[Any], Any], show: Callable[[Any], str]) -> Row:
    start = end = 0.0
    try:
        with limit(SETUP_TIMEOUT):
            prepared = prepare(row)
        with limit(TIMEOUT):
            start = time.perf_counter()
            result = work(prepared)
            end = time.perf_counter()
        with limit(SETUP_TIMEOUT):
            return {"status": "ok", "seconds": end - start, "text": show(result)}
    except OutOfTime:
        # a row that could not even be prepared has no time of its own
        return {"status": "timeout" if start and not end else "error", "seconds": TIMEOUT, "reason": "time"}
    except Exception as error:  # whatever a peer raises is a row of the result
        return {"status": "error", "seconds": None, "reason": f"{type(error).__name__}: {error}"[:200]}


def main() -> None:
    engine, *arguments = sys.argv[1:]
    steps = {
        "sympy": sympy_steps,
        "sympy_ratio1": lambda: sympy_steps(ratio=1),
        "symengine": symengine_steps,
        "published": lambda: published_steps(*arguments),
    }[engine]
    version, prepare, work, show = steps()
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        print(json.dumps(result_of(json.loads(line), prepare, work, show)), flush=True)


if __name__ == "__main__":
    main()

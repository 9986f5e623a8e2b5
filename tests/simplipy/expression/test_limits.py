"""Depth 10,000, 1 MB of input, 10,000 variables: a clear error or a result, in a process that survives it.

The cases run in an interpreter of their own, in threads with a stack of 512 KiB, so that unbounded recursion shows as a
crash and not as luck with the main thread's stack. SimplipyError counts as a clear error; RecursionError and
MemoryError do not.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping

import simplipy

FRAME = """
import threading
import numpy as np
import simplipy
from simplipy import parse

def work(case):
    try:
        case()
    except simplipy.SimplipyError as error:
        said = str(error)
        print("error" if 0 < len(said) < 5000 else f"crash: a message of {len(said)} characters", flush=True)
    except BaseException as error:
        print("crash", type(error).__name__, str(error)[:300].replace(chr(10), " "), flush=True)
    else:
        print("result", flush=True)

threading.stack_size(512 * 1024)
"""


def outcomes_of(cases: tuple[str, ...], setup: str = "", timeout: float = 300) -> list[str]:
    """ "result", "error" or "crash ..." for each case (the body of a function); a new process after each crash."""
    found: list[str] = []
    while len(found) < len(cases):
        script = FRAME + setup
        for case in cases[len(found) :]:
            script += "\ndef case():\n" + textwrap.indent(textwrap.dedent(case), "    ")
            script += "\nthread = threading.Thread(target=work, args=(case,))\nthread.start()\nthread.join()\n"
        try:
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout, check=False
            )
            said, end = done.stdout, f"crash exit code {done.returncode}: {done.stderr[-1000:]}"
        except subprocess.TimeoutExpired as late:
            said, end = (late.stdout or b"").decode(), f"crash timeout of {timeout} s"
        found += said.splitlines()
        if len(found) < len(cases):
            found.append(end)
    return found


PARSE = {
    "nested functions": "parse('sin(' * 10_000 + 'x1' + ')' * 10_000)",
    "nested brackets": "parse('(' * 10_000 + 'x1' + ')' * 10_000)",
    "towers": "parse('^'.join(['x1'] * 10_000))",
    "signs": "parse('-' * 10_000 + 'x1')",
    "right sums": "parse('x1+(' * 10_000 + 'x1' + ')' * 10_000)",
    "deep tokens": "parse(['sin'] * 10_000 + ['x1'])",
    "deep binary tokens": "parse(['+'] * 10_000 + ['x1'] * 10_001)",
    "deep right tokens": "parse(['+', 'x1'] * 10_000 + ['x1'])",
    "1 MB of a sum": "parse('x1+' * 350_000 + 'x1')",
    "1 MB of brackets": "parse('(' * 1_000_000)",
    "1 MB of closing brackets": "parse(')' * 1_000_000)",
    "1 MB of signs": "parse('-' * 1_000_000)",
    "1 MB of towers": "parse('x1^' * 330_000 + 'x1')",
    "1 MB of functions": "parse('sin(' * 250_000 + 'x1' + ')' * 250_000)",
    "1 MB of digits": "parse('1' * 1_000_000)",
    "1 MB of decimals": "parse('0.' + '1' * 1_000_000)",
    "1 MB of exponent": "parse('1e' + '1' * 1_000_000)",
    "1 MB of negative exponent": "parse('1e-' + '1' * 1_000_000)",
    "1 MB of name": "parse('a' * 1_000_000)",
    "1 MB of unknown function": "parse('a' * 1_000_000 + '(x1)')",
    "1 MB of backquoted name": "parse('`' + 'a b' * 330_000 + '`')",
    "1 MB of backquotes": "parse('`' * 1_000_000)",
    "1 MB of spaces": "parse(' ' * 1_000_000)",
    "1 MB of NUL": "parse(chr(0) * 1_000_000)",
    "1 MB of commas": "parse('pow(x1' + ',x1' * 330_000 + ')')",
    "a million tokens": "parse(['+', 'x1'] * 500_000 + ['x1'])",
    "a huge index": "parse('x99999999999999999999')",
    "index 2^31": "parse('x2147483648')",
    "index 2^63": "parse(['x9223372036854775808'])",
    "10,000 variables": "parse('+'.join(f'x{k}' for k in range(1, 10_001)))",
    "10,000 names": "parse('+'.join(f'name{k}' for k in range(10_000)))",
    "100,000 names": "parse('+'.join(f'name{k}' for k in range(100_000)))",
    "40,000 tokens in a batch": "simplipy.TokenBatch.from_tokens([[f'name{k}'] for k in range(40_000)])",
    "40,000 numbers in a batch": "simplipy.TokenBatch.from_tokens([[f'{k}.5'] for k in range(40_000)])",
    "subtrees of 200,000 tokens": "next(parse(['+', 'x1'] * 100_000 + ['x1']).subtrees())",
    "many": "simplipy.parse_many(['x1'] * 5 + ['sin(' * 10_000 + 'x1' + ')' * 10_000])",
}


def crashes(cases: Mapping[str, str], setup: str = "") -> dict[str, str]:
    """The cases that ended neither with a result nor with a clear error; all in one process if none crashes it."""
    found = dict(zip(cases, outcomes_of(tuple(cases.values()), setup), strict=True))
    return {name: outcome for name, outcome in found.items() if outcome not in ("result", "error")}


def test_parsing() -> None:
    assert crashes({name: f"return {case}" for name, case in PARSE.items()}) == {}


def test_ordinary_sizes_are_not_refused() -> None:
    simplipy.parse("x1 + x2" + " " * 1000)
    simplipy.parse("(" * 50 + "x1" + ")" * 50)
    simplipy.parse("sin(" * 60 + "x1" + ")" * 60)
    simplipy.parse("x1+" * 500 + "x1")


MEMBERS = """
import copy, pickle, itertools
def members(e, X):
    def attempt(name, f):
        try:
            f()
        except simplipy.SimplipyError as error:
            assert len(str(error)) < 5000, name
        except BaseException as error:
            raise RuntimeError(f"{name}: {type(error).__name__}: {error}"[:300]) from None
    attempt("tokens", lambda: parse(list(e.tokens)) == e)
    attempt("depth", lambda: e.depth)
    attempt("hash", lambda: hash(e))
    attempt("variables", lambda: e.variables)
    attempt("infix", lambda: parse(e.infix()) == e)
    attempt("display", lambda: e.infix(precision=3))
    attempt("latex", lambda: e.latex())
    attempt("repr", lambda: repr(e))
    attempt("notebook", lambda: e._repr_latex_())
    attempt("skeleton", lambda: e.skeleton())
    attempt("rename", lambda: e.rename({"x1": "x2"}))
    attempt("subtrees", lambda: list(itertools.islice(e.subtrees(), 50)))
    attempt("pickle", lambda: pickle.loads(pickle.dumps(e)))
    attempt("deepcopy", lambda: copy.deepcopy(e))
    attempt("value", lambda: e(X))
    attempt("many", lambda: simplipy.evaluate_many([e, e], X, n_threads=2))
    attempt("gradient", lambda: e.gradient(X, wrt="variables"))
    attempt("constants", lambda: e.skeleton().gradient(X, [1.0] * e.skeleton().n_constants))
    attempt("numpy", lambda: e.numpy()(X))
    attempt("batch", lambda: simplipy.TokenBatch.from_tokens([list(e.tokens)]).to_tokens())
"""

DEEP = {
    "neg": "['neg'] * 10_000 + ['x1']",
    "sin": "['sin'] * 10_000 + ['x1']",
    "left sum": "['+'] * 10_000 + ['x1'] * 10_001",
    "right sum": "['+', 'x1'] * 10_000 + ['x1']",
    "powers": "['pow', '1.5'] * 10_000 + ['x1']",
}


def test_every_member_survives_depth() -> None:
    call = "return members(parse({}), np.full((3, 2), 0.5))"
    assert crashes({name: call.format(tokens) for name, tokens in DEEP.items()}, MEMBERS) == {}


def test_sympy_survives_depth() -> None:
    cases = {name: f"return simplipy.from_sympy(parse({tokens}).to_sympy())" for name, tokens in DEEP.items()}
    cases["from SymPy"] = """
    import sympy
    s = sympy.Symbol("x1")
    for _ in range(10_000):
        s = sympy.sin(s, evaluate=False)
    return simplipy.from_sympy(s)
    """
    assert crashes(cases) == {}


def test_diff_survives_depth() -> None:
    cases = {name: f"return parse({tokens}).diff('x1')" for name, tokens in DEEP.items()}
    assert crashes(cases) == {}


MANY = {
    "variables": """
    n = 10_000
    e = parse("+".join(f"x{k}" for k in range(1, n + 1)))
    assert e.variables == tuple(f"x{k}" for k in range(1, n + 1))
    assert e(np.ones((3, n))).tolist() == [n] * 3
    slopes = e.gradient(np.ones((2, n)), wrt="variables")
    assert slopes.shape == (2, n) and (slopes == 1).all()
    """,
    "names": """
    n = 10_000
    e = parse("+".join(f"name{k}" for k in range(n)))
    assert e.variables == tuple(f"name{k}" for k in range(n))
    assert e({f"name{k}": np.ones(2) for k in range(n)}).tolist() == [n] * 2
    """,
    "constants": """
    n = 10_000
    e = parse("+".join(["<constant>"] * n))
    assert e.n_constants == n
    assert e.with_constants(np.ones(n)).n_constants == 0
    assert e(np.ones((2, 1)), constants=np.ones(n)).tolist() == [n] * 2
    """,
}


def test_ten_thousand_variables_names_and_constants() -> None:
    assert crashes(MANY) == {}


def test_the_frame_notices_a_crash() -> None:
    """The test of the test: unbounded recursion, a dead process and other exceptions do not pass as clear errors."""
    cases = ("return case()", "return 1 / 0", "import os; os._exit(139)", "raise simplipy.ParseError('x')", "return 1")
    found = outcomes_of(cases)
    assert found[0].startswith("crash RecursionError")
    assert found[1].startswith("crash ZeroDivisionError")
    assert found[2].startswith("crash exit code 139")
    assert found[3:] == ["error", "result"]

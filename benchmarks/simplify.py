"""Simplifiers side by side in one run: time, length, memory. Rows first, statistics and a figure from the rows.

    python benchmarks/simplify.py [--corpus rows.jsonl] [--out results/simplify] [--sympy-rows 150] [--peers FOLDER]
    python benchmarks/simplify.py --statistics-only

The corpus has a JSON list of prefix tokens on each line. SymPy is used as in the paper: numbers from U(-10, 10) for the
free constants, only `simplify` is timed, 1 s at most, numbers are masked again. SymEngine and the published simplipy
need an environment of their own (`make peers`) and are left out without one. Whether results are right: soundness.py.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from _simplify_report import Row, draw, summary_of, table_of
from rich.console import Console
from rich.progress import track

import simplipy
from simplipy import OPERATORS, Engine, TokenBatch
from simplipy.expression.operators import CONSTANT
from simplipy.files.output_files import write_whole

ROOT = Path(__file__).parents[1]
PEER_SCRIPT = Path(__file__).with_name("_simplify_peer.py")
LENGTHS = (0, 4, 5, 7)
DOMAINS = ("extend", "preserve")
PASSES = 10
console = Console(stderr=True)

# what a fresh interpreter runs before its memory is read
RESIDENT = "import os; print(int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE'))"
LOADS = {
    "ours": "import simplipy; simplipy.simplify('x1 + x1')",
    "paper_L4": "import simplipy; simplipy.Engine(method='paper').simplify('x1 + x1', max_pattern_length=4)",
    "sympy": "import sympy; sympy.simplify(sympy.Symbol('x') + 1)",
    "symengine": "import symengine; symengine.Symbol('x') + 1",
    "published": "import simplipy; simplipy.SimpliPyEngine.load({rules!r}).simplify('x1 + x1')",
}


def ours(corpus: Sequence[list[str]], domain: str, length: int) -> Iterator[Row]:
    """One call an expression, tokens to tokens; the best of a few passes, as other processes can only add."""
    best = np.full(len(corpus), np.inf)
    results: list[list[str]] = []
    for _ in range(PASSES):
        results = []
        for i, tokens in enumerate(corpus):
            start = time.perf_counter()
            result = simplipy.simplify(tokens, domain=domain, max_pattern_length=length)
            best[i] = min(best[i], time.perf_counter() - start)
            results.append(result)
    for i, (tokens, result) in enumerate(zip(corpus, results, strict=True)):
        yield row_of(f"ours_{domain}_L{length}", i, tokens, len(result), float(best[i]))


def paper(corpus: Sequence[list[str]]) -> Iterator[Row]:
    """The paper's algorithm in Python, one pass."""
    engine = Engine(method="paper")
    engine.simplify(["x1"], max_pattern_length=4)  # loads the rules
    for i, tokens in enumerate(track(corpus, "the paper's algorithm", console=console, transient=True)):
        start = time.perf_counter()
        result = engine.simplify(tokens, max_pattern_length=4)
        yield row_of("paper_L4", i, tokens, len(result), time.perf_counter() - start)


def row_of(engine: str, i: int, tokens: Sequence[str], length: int | None, seconds: float | None, **more: Any) -> Row:
    row = {"engine": engine, "row": i, "length_in": len(tokens), "length_out": length, "seconds": seconds}
    return row | {"status": "ok"} | more


def batch_times(batch: TokenBatch, domain: str, length: int) -> dict[str, float]:
    """Microseconds an expression for a whole batch in one call, by number of threads."""
    times = {}
    for n_threads in (1, 2):
        best = np.inf
        for _ in range(PASSES):
            start = time.perf_counter()
            simplipy.simplify_many(batch, n_threads=n_threads, domain=domain, max_pattern_length=length)
            best = min(best, time.perf_counter() - start)
        times[str(n_threads)] = round(best / len(batch) * 1e6, 3)
    return times


def peer(
    name: str, python: str, arguments: Sequence[str], corpus: Sequence[list[str]], indices: Sequence[int], seed: int
) -> tuple[list[Row], str]:
    """Rows of an engine that runs in a process of its own, and its version; no rows and the reason if it cannot."""
    command = [python, "-I", str(PEER_SCRIPT), *arguments]
    lines = [json.dumps(peer_input(corpus[i], seed, i)) for i in indices]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as p:
        assert p.stdin is not None
        assert p.stdout is not None
        assert p.stderr is not None
        header = p.stdout.readline()
        if not header.startswith('{"version"'):
            p.kill()
            return [], (p.stderr.read().strip().splitlines() or ["no output"])[-1]
        rows = []
        for i, line in zip(track(indices, name, console=console, transient=True), lines, strict=True):
            p.stdin.write(line + "\n")
            p.stdin.flush()
            answer = p.stdout.readline()
            if not answer:
                return rows, f"died at row {i}"
            rows.append(peer_row(name, i, corpus[i], json.loads(answer)))
        p.stdin.close()
    return rows, json.loads(header)["version"]


def peer_input(tokens: list[str], seed: int, i: int) -> Row:
    """A row with numbers for its free constants, which depend on the seed and the row only."""
    expression = simplipy.parse(tokens)
    constants = np.random.default_rng((seed, i)).uniform(-10, 10, expression.n_constants)
    filled = expression.with_constants(constants)
    return {"tokens": tokens, "filled": filled.tokens, "text": filled.infix()}


def peer_row(name: str, i: int, tokens: list[str], answer: Row) -> Row:
    """The length of what came back, numbers masked, in this project's tokens."""
    if answer["status"] != "ok":
        return row_of(name, i, tokens, None, answer["seconds"], status=answer["status"], reason=answer["reason"])
    try:
        length = length_of(answer["text"])
    except (simplipy.SimplipyError, SyntaxError, TypeError, RecursionError) as error:
        return row_of(name, i, tokens, None, answer["seconds"], status="error", reason=str(error)[:200])
    return row_of(name, i, tokens, length, answer["seconds"])


def length_of(text: str) -> int:
    """Tokens of a peer's output, read in the two ways that there are; the shorter counts."""
    if re.search(r"\b(I|zoo|oo|nan|Piecewise)\b", text):
        raise simplipy.ConversionError(f"leaves the real numbers: {text}")
    text = re.sub(r"\bE\b", "e", text).replace("Abs(", "abs(")
    by_sympy = simplipy.from_sympy(sympy.parse_expr(text.replace("^", "**"), local_dict={"e": sympy.E}))
    return min(len(with_odd_roots(e.tokens)) for e in (simplipy.parse(text).skeleton(), by_sympy.skeleton()))


def with_odd_roots(tokens: Sequence[str]) -> list[str]:
    """Powers of 1/3 and 1/5 as the operators that they were; of the exponent `div3 1`, masking left div3."""
    stack: list[list[str]] = []
    for token in reversed(tokens):
        operands = [stack.pop() for _ in range(OPERATORS[token].arity)] if token in OPERATORS else []
        if token == "pow" and operands[1] in (["div3", CONSTANT], ["div5", CONSTANT]):
            token, operands = f"pow1_{operands[1][0][-1]}", operands[:1]
        stack.append([token, *(t for operand in operands for t in operand)])
    return stack[0]


def resident_megabytes(python: str, load: str) -> float | None:
    """Memory after loading an engine in a fresh interpreter, over one that loads nothing."""
    sizes = []
    for code in ("", load + "\n"):
        done = subprocess.run([python, "-I", "-c", code + RESIDENT], capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        sizes.append(int(done.stdout))
    return round((sizes[1] - sizes[0]) / 1e6, 1)


def measure(options: argparse.Namespace) -> None:
    """Run every engine and write rows.jsonl and engines.json."""
    with options.corpus.open(encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines][: options.limit]
    indices = sorted(np.random.default_rng(options.seed).permutation(len(corpus))[: options.sympy_rows].tolist())
    rows: list[Row] = []
    engines: dict[str, Any] = {}
    batch = TokenBatch.from_tokens(corpus)
    simplipy.simplify_many(batch)  # warm caches for the first engine too
    memory = resident_megabytes(sys.executable, LOADS["ours"])
    for domain in DOMAINS:
        for length in LENGTHS:
            rows += ours(corpus, domain, length)
            engines[f"ours_{domain}_L{length}"] = {
                "version": simplipy.__version__,
                "batch_us": batch_times(batch, domain, length),
                "megabytes_over_interpreter": memory,
            }
    rows += paper(corpus)
    engines["paper_L4"] = {"megabytes_over_interpreter": resident_megabytes(sys.executable, LOADS["paper_L4"])}
    others = str(options.peers / "bin" / "python")
    all_rows = range(len(corpus))
    for name, python, arguments, chosen, load in (
        ("sympy", sys.executable, ["sympy"], indices, LOADS["sympy"]),
        ("sympy_ratio1", sys.executable, ["sympy_ratio1"], indices, LOADS["sympy"]),
        ("symengine", others, ["symengine"], all_rows, LOADS["symengine"]),
        *(
            (
                label,
                others,
                ["published", options.rules, mode],
                all_rows,
                LOADS["published"].format(rules=options.rules),
            )
            for label, mode in (("published", "sound"), ("published_lossy", "lossy"))
        ),
    ):
        if not Path(python).exists():
            console.print(f"{name}: left out, there is no {python}; `make peers` sets it up")
            continue
        found, version = peer(name, python, arguments, corpus, chosen, options.seed)
        if not found:
            console.print(f"{name}: left out, {version[:160]}", markup=False)
            continue
        rows += found
        engines[name] = {"version": version, "megabytes_over_interpreter": resident_megabytes(python, load)}
    options.out.mkdir(parents=True, exist_ok=True)
    write_whole(options.out / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    about = {"corpus": options.corpus.name, "n_rows": len(corpus), "python": platform.python_version()}
    write_whole(
        options.out / "engines.json", json.dumps({"run": about | machine(), "engines": engines}, indent=1) + "\n"
    )


def machine() -> dict[str, Any]:
    """What the times depend on."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {"cpu": cpu[1] if cpu else platform.processor(), "passes": PASSES}


def main() -> None:
    """Measure, then derive statistics and the figure from what is on disk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared" / "data" / "prior_dev.jsonl")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "simplify")
    parser.add_argument("--limit", type=int, help="rows of the corpus to use; all by default")
    parser.add_argument("--sympy-rows", type=int, default=150)
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers", help="environment of other packages")
    parser.add_argument("--rules", default="acj-4-3", help="rule set of the published simplipy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--statistics-only", action="store_true", help="from the rows of an earlier run")
    options = parser.parse_args()
    if not options.statistics_only:
        if not options.corpus.exists():
            parser.exit(2, f"there is no corpus at {options.corpus}; name one with --corpus\n")
        measure(options)
    with (options.out / "rows.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    about = json.loads((options.out / "engines.json").read_text(encoding="utf-8"))
    summary = summary_of(rows, about["engines"])
    write_whole(options.out / "summary.json", json.dumps({"run": about["run"], "engines": summary}, indent=1) + "\n")
    write_whole(options.out / "summary.md", table_of(summary) + "\n")
    draw(rows, options.out / "ecdf.png")
    print(table_of(summary))


if __name__ == "__main__":
    main()

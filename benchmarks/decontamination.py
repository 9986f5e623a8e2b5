"""Is any of very many problems held out, does memory stay flat? A second, slow check says, not the first.

    python benchmarks/decontamination.py [--prior wide] [--n 200000] [--rows 8] [--out results/decontamination]

Skeletons of at most `--short` tokens are all looked at (each once), and a sample of the longer ones. The other way
round, a sample of what the fast check rejects before any data is drawn is shown to the slow check. Of a prior that
recombines laws, both checks look at the laws too, and none may be of a field that is held out.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from _slow_holdout import SlowHoldout
from rich.console import Console
from rich.progress import Progress

from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.data import OUTCOMES, Generator, load_prior
from flash_ansr.data.sources.laws import law_forms

CHUNK = 10_000
LONGER_SHARE = 200  # one in so many of the longer skeletons


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def audited(generator: Generator, n: int, short: int, seed: int) -> tuple[set[bytes], dict[str, object]]:
    """Distinct skeletons to look at, and what the run was like."""
    kept: set[bytes] = set()
    outcomes = np.zeros(len(OUTCOMES), dtype=np.int64)
    memory = []
    start = time.process_time()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("problems", total=n)
        for first in range(0, n, CHUNK):
            batch = generator.flat(seed, range(first, min(n, first + CHUNK)))
            outcomes += batch["outcomes"].sum(0)
            looked_at = (batch["lengths"] <= short) | (np.arange(len(batch["lengths"])) % LONGER_SHARE == 0)
            for i in np.flatnonzero(looked_at):
                kept.add(batch["token_ids"][i, 1 : batch["lengths"][i] + 1].tobytes())
            progress.update(task, completed=first + CHUNK)
            if first % (n // 10 // CHUNK * CHUNK or CHUNK) == 0:
                # what this script keeps grows by itself; it is not the generator's
                memory.append(round(resident_megabytes() - 150e-6 * len(kept), 1))
    seconds = time.process_time() - start
    facts = {
        "n": n,
        "cpu_seconds": round(seconds, 1),
        "outcomes": {name: int(count) for name, count in zip(OUTCOMES, outcomes, strict=True)},
        "resident_megabytes": memory,
    }
    return kept, facts


def laws_that_leak(generator: Generator, slow: Iterable[SlowHoldout]) -> list[str]:
    """Laws to recombine that a check finds, or that are of a field held out."""
    laws = law_forms()
    fast = generator.holdout.find_many(law.skeleton for law in laws)
    return [
        f"{law.field} {law.key}"
        for law, found in zip(laws, fast, strict=True)
        if found or law.field in HELD_OUT_FIELDS or any(c.find(law.skeleton.tokens) is not None for c in slow)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prior", default="wide")
    parser.add_argument("--n", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--short", type=int, default=9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--collisions", type=int, default=20_000, help="skeletons to search for collisions")
    parser.add_argument("--out", type=Path, default=Path("results/decontamination"))
    arguments = parser.parse_args()
    generator = Generator(load_prior(arguments.prior).with_rows(arguments.rows))
    expressions = [entry.expression for entry in generator.holdout.entries]
    words = generator.vocabulary.tokens

    kept, facts = audited(generator, arguments.n, arguments.short, arguments.seed)
    length = generator.prior.max_pattern_length
    slow = {scales: SlowHoldout(expressions, scales, length) for scales in (False, True)}
    leaks = []
    for ids in kept:
        tokens = [words[i] for i in np.frombuffer(ids, dtype=np.int16)]
        found = next((f for check in slow.values() if (f := check.find(tokens)) is not None), None)
        if found is not None:
            leaks.append({"tokens": tokens, "entry": str(generator.holdout.entries[found])})

    confirmed: Counter[str] = Counter()
    collisions: Counter[str] = Counter()
    unconfirmed = []
    for first in range(0, arguments.collisions, CHUNK):
        drawn = [s for s in generator.skeletons(arguments.seed + 1, range(first, first + CHUNK)) if s is not None]
        for tokens, found_fast in zip(drawn, generator.holdout.find_many(drawn), strict=True):
            if found_fast is None:
                continue
            collisions[found_fast.match] += 1
            if any(check.find(tokens) is not None for check in slow.values()):
                confirmed[found_fast.match] += 1
            elif len(unconfirmed) < 50:
                unconfirmed.append({"tokens": tokens, "entry": str(found_fast.entry), "match": found_fast.match})

    facts |= {"prior": arguments.prior, "rows": arguments.rows, "skeletons_looked_at": len(kept), "leaks": leaks[:50]}
    if generator.prior.sources.laws > 0:
        facts |= {"n_laws": len(law_forms()), "laws_that_leak": laws_that_leak(generator, slow.values())}
    facts |= {"n_leaks": len(leaks), "collisions": dict(collisions), "confirmed": dict(confirmed)}
    facts["unconfirmed"] = unconfirmed
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{arguments.prior}.json"
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({k: v for k, v in facts.items() if k != "unconfirmed"}, indent=1))


if __name__ == "__main__":
    main()

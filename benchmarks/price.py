"""How long the price of a form takes, beside its simplification in the same run.

    python benchmarks/price.py [--n 20000] [--seed 1]

Forms of the prior `wide`, in one call on one thread: simplified as drawn, then priced. Times are those of the
processor, the best of a few passes, so that other processes on the machine do not count.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import simplipy
from flash_ansr.data import Generator
from flash_ansr.price import usual_prices
from simplipy import TokenBatch

PASSES = 7
COLUMNS = 3


def microseconds(work: Callable[[], object], n: int) -> float:
    """Of the processor for one of n forms."""
    best = np.inf
    for _ in range(PASSES):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return 1e6 * float(best) / n


def main() -> None:
    """Draw, time, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    skeletons = Generator("wide", holdouts=()).skeletons(options.seed, range(options.n), simplified=False)
    drawn = TokenBatch.from_tokens(tokens for tokens in skeletons if tokens is not None)
    forms = simplipy.simplify_many(drawn, n_threads=1)
    prices = usual_prices()
    simplify = microseconds(lambda: simplipy.simplify_many(drawn, n_threads=1), len(drawn))
    price = microseconds(lambda: prices.both(forms, COLUMNS), len(forms))
    draw = microseconds(lambda: prices.draw(options.seed, range(options.n), COLUMNS), options.n)
    print(f"{len(forms)} forms of {np.diff(forms.offsets).mean():.1f} tokens")
    print(f"simplify {simplify:.2f} us, price {price:.2f} us ({price / simplify:.2f} of it), draw {draw:.2f} us")


if __name__ == "__main__":
    main()

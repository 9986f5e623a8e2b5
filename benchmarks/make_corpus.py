"""Write skeletons of a prior, as drawn and not simplified, for simplify.py and soundness.py.

python benchmarks/make_corpus.py --n 64000 --seed 1 --out rows.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from flash_ansr.data import Generator

CHUNK = 4000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prior", default="paper")
    parser.add_argument("--n", type=int, default=64_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    generator = Generator(arguments.prior, holdouts=())
    new = arguments.out.with_name(f".{arguments.out.name}.new")
    with new.open("w", encoding="utf-8") as file:
        for start in range(0, arguments.n, CHUNK):
            indices = range(start, min(start + CHUNK, arguments.n))
            for tokens in generator.skeletons(arguments.seed, indices, simplified=False):
                if tokens is not None:
                    file.write(json.dumps(tokens) + "\n")
    new.replace(arguments.out)


if __name__ == "__main__":
    main()

"""The fixed corpora of the ablations A-S and A-P: the same draws of the prior, simplified by SymPy and by SimpliPy.

Both hold the same number of skeletons, from the same indices, in the order of these. An index is taken when what either
simplifier makes of it is a target that training can use: finite, in the vocabulary, no longer than the prior's targets,
not held out. SymPy decides which those are, so that either corpus costs its time: hours of CPU for 50,000.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from flash_ansr.data import Generator
from flash_ansr.data.sympy_skeletons import kept_rows, make_skeletons
from flash_ansr.progress_bar import progress_bar
from simplipy.output_files import write_whole

Corpus = Literal["sympy", "simplipy"]
CORPORA: tuple[Corpus, ...] = ("sympy", "simplipy")
_PRIOR = "paper"
_CHUNK = 1000
# SymPy answers chunks of this size: fewer draws at a time would not reach all workers
_LEAST_DRAWS = 16


def static_prior(corpus: Corpus, folder: Path, n: int, n_workers: int = 1, show_progress: bool = False) -> Path:
    """File of the paper's prior over a fixed corpus, which is made or completed first.

    Parameters
    ----------
    corpus : {"sympy", "simplipy"}
        What simplified it.
    folder : Path
        Gets both corpora, and ``sympy_draws.jsonl``, in which SymPy goes on where it stopped.
    n : int
        Skeletons.
    n_workers : int
        Processes of SymPy. The corpora do not depend on it, but where an answer comes close to the limit of a second.
    show_progress : bool
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"skeletons_{name}_{n}.jsonl" for name in CORPORA}
    if not all(path.is_file() for path in paths.values()):
        generator = Generator(_PRIOR)
        taken = usable(generator, folder / "sympy_draws.jsonl", n, n_workers, show_progress)
        for k, name in enumerate(CORPORA):
            lines = [json.dumps({"index": index, "tokens": forms[k]}) for index, forms in taken.items()]
            write_whole(paths[name], "\n".join(lines) + "\n")
    prior = paths[corpus].with_suffix(".yaml")
    write_whole(prior, f"base: {_PRIOR}\nsimplifier: none\ncorpus: {json.dumps(str(paths[corpus]))}\n")
    return prior


def usable(
    generator: Generator, draws: Path, n: int, n_workers: int = 1, show_progress: bool = False
) -> dict[int, tuple[list[str], list[str]]]:
    """The first n indices that are usable for both, with the forms of SymPy and of SimpliPy.

    As many are drawn as are missing, until none are: about half of the draws are usable.
    """
    n_drawn, n_usable, taken = 0, 0, {}
    while n_usable < n:
        n_drawn += max(n - n_usable, _LEAST_DRAWS)
        with progress_bar(f"{n_usable:,} of {n:,} skeletons; SymPy on draws", n_drawn, show=show_progress) as bar:
            make_skeletons(generator, draws, n_drawn, simplifier="sympy", n_workers=n_workers, progress=bar.reach)
        taken = dict(_usable_of(generator, draws, n_drawn))
        n_usable = len(taken)
    return {index: taken[index] for index in sorted(taken)[:n]}


def _usable_of(generator: Generator, draws: Path, n_drawn: int) -> Iterator[tuple[int, tuple[list[str], list[str]]]]:
    by_sympy = {index: row["tokens"] for index, row in kept_rows(draws).items() if index < n_drawn and row["tokens"]}
    indices = sorted(by_sympy)
    for start in range(0, len(indices), _CHUNK):
        chunk = indices[start : start + _CHUNK]
        by_simplipy = generator.skeletons(0, chunk, simplified=True)
        both = {i: (by_sympy[i], short) for i, short in zip(chunk, by_simplipy, strict=True) if short is not None}
        good = [
            dict(zip(both, _can_be_targets(generator, [forms[k] for forms in both.values()]), strict=True))
            for k in range(len(CORPORA))
        ]
        yield from ((i, forms) for i, forms in both.items() if all(of_one[i] for of_one in good))


def _can_be_targets(generator: Generator, skeletons: Sequence[list[str]]) -> list[bool]:
    """Whether training can have each of these as a target at all."""
    known = set(generator.vocabulary.tokens)
    longest = generator.prior.skeletons.max_length
    fits = [len(tokens) <= longest and known.issuperset(tokens) for tokens in skeletons]
    asked = [tokens for tokens, fit in zip(skeletons, fits, strict=True) if fit]
    held_out = iter(generator.holdout.find_many(asked) if asked else [])
    return [fit and next(held_out) is None for fit in fits]

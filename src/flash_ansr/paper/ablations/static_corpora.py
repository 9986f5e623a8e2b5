"""The fixed corpora of the ablations A-S and A-P: the same draws of the prior, simplified by SymPy and by SimpliPy.

Both hold the same number of skeletons, from the same indices, in the order of these. An index is taken when what either
simplifier makes of it is a target that training can use: finite, in the vocabulary, no longer than the prior's targets,
not held out. SymPy decides which those are, so that either corpus costs its time: hours of CPU for 50,000.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from flash_ansr.data import Generator
from flash_ansr.paper.sympy.skeletons import kept_rows, make_skeletons
from flash_ansr.progress_bar import progress_bar
from simplipy.files.output_files import make_folder, write_whole

Corpus = Literal["sympy", "simplipy"]
CORPORA: tuple[Corpus, ...] = ("sympy", "simplipy")
DRAWS_FILE = "sympy_draws.jsonl"
_PRIOR = "paper"
# SymPy answers chunks of 16: fewer draws at a time would not reach all workers; more than the most take long to begin
_LEAST_DRAWS = 16
_MOST_DRAWS = 10_000


def static_prior(corpus: Corpus, folder: Path, n: int, n_workers: int = 1, show_progress: bool = False) -> Path:
    """File of the paper's prior over a fixed corpus, which is made or completed first.

    Parameters
    ----------
    corpus : {"sympy", "simplipy"}
        The simplifier of the corpus.
    folder : Path
        Gets both corpora, and ``sympy_draws.jsonl``, in which SymPy goes on where it stopped.
    n : int
        Skeletons.
    n_workers : int
        Processes of SymPy. The corpora do not depend on it, but where an answer comes close to the limit of a second.
    show_progress : bool
    """
    folder = folder.resolve()
    make_folder(folder)
    paths = {name: folder / f"skeletons_{name}_{n}.jsonl" for name in CORPORA}
    if not all(path.is_file() for path in paths.values()):
        generator = Generator(_PRIOR)
        taken = usable(generator, folder / DRAWS_FILE, n, n_workers, show_progress)
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

    As many are drawn as are missing, until none are. SymPy, which takes the time, is asked about draws only of which
    SimpliPy makes a target.
    """
    n_drawn, taken = 0, dict[int, tuple[list[str], list[str]]]()
    while len(taken) < n:
        fresh = range(n_drawn, n_drawn + min(max(n - len(taken), _LEAST_DRAWS), _MOST_DRAWS))
        n_drawn = fresh.stop
        by_simplipy = _targets(generator, fresh, generator.skeletons(0, fresh, simplified=True))
        label = f"{len(taken):,} of {n:,} skeletons; SymPy on draws"
        with progress_bar(label, len(by_simplipy), show=show_progress) as bar:
            asked = list(by_simplipy)
            make_skeletons(generator, draws, asked, simplifier="sympy", n_workers=n_workers, progress=bar.reach)
        answers = kept_rows(draws)
        by_sympy = _targets(generator, asked, [answers[i]["tokens"] for i in asked])
        taken |= {i: (tokens, by_simplipy[i]) for i, tokens in by_sympy.items()}
    return dict(islice(taken.items(), n))


def _targets(
    generator: Generator, indices: Sequence[int], skeletons: Sequence[list[str] | None]
) -> dict[int, list[str]]:
    """Those skeletons by index that training can have as a target at all."""
    known = set(generator.vocabulary.tokens)
    longest = generator.prior.skeletons.max_length
    fit = {
        i: tokens
        for i, tokens in zip(indices, skeletons, strict=True)
        if tokens is not None and len(tokens) <= longest and known.issuperset(tokens)
    }
    held_out = generator.holdout.find_many(list(fit.values())) if fit else []
    return {i: tokens for (i, tokens), held in zip(fit.items(), held_out, strict=True) if held is None}

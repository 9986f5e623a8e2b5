"""Makes the tables of prices, and reports what held-out laws cost.

    python -m flash_ansr.price.estimate [--exclude FILE ...] [--out FOLDER]

With ``--out`` it writes ``counts.tsv`` and ``forms.tsv``. It finds the strengths of smoothing by leaving out one field
after the other, and says where ``probabilities.STRENGTHS`` has others. The laws of the held-out fields are priced
beside two priors over tokens (``token_priors.py``), with the numbers that they write out or with fitted ones, which is
cheaper. Longer forms that a test or a development set has too are left out there as well.
"""

from __future__ import annotations

import argparse
import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.price.corpus import TEST_CATALOGUES, Form, Use, forms
from flash_ansr.price.counts import Counts, FloatArray, questions
from flash_ansr.price.known_forms import count_forms, keys_of, write_known_forms
from flash_ansr.price.prices import Prices
from flash_ansr.price.probabilities import STRENGTHS, log_probabilities, smoothed
from flash_ansr.price.token_priors import TokenPrior

_POWERS = tuple(2.0**k for k in range(-2, 8))


@dataclass(frozen=True, slots=True)
class Costs:
    """What a set of forms costs, in nats a formula, under prices, a prior of length, and operators' frequencies."""

    name: str
    n: int
    prices: float
    length: float
    frequencies: float

    @property
    def saved(self) -> tuple[float, float]:
        """The share by which prices are below each of the other two."""
        return 1 - self.prices / self.length, 1 - self.prices / self.frequencies


def counts_of(corpus: Iterable[Form]) -> Counts:
    """The counts of the forms that may be used."""
    corpus = list(corpus)
    usual = [form.skeleton for form in corpus if form.use is Use.ALL]
    return Counts.of(usual, [form.skeleton for form in corpus if form.use is Use.OPERATORS])


def write_tables(corpus: Sequence[Form], folder: Path) -> None:
    """Write the counts and the known forms."""
    counts_of(corpus).write(folder / "counts.tsv")
    write_known_forms(folder / "forms.tsv", count_forms(form.skeleton for form in corpus if form.use is Use.ALL))


def best_strengths(corpus: Sequence[Form]) -> dict[str, float]:
    """The power of two for each question under which fields are cheapest that the counts come without."""
    fields = {form.law.field for form in corpus if form.use is Use.ALL}
    own = [counts_of(form for form in corpus if form.law.field == field) for field in sorted(fields)]
    total = functools.reduce(operator.add, own)

    def cost(name: str, strength: float) -> float:
        (question,) = (question for question in questions() if question.name == name)
        nats = 0.0
        for counts in own:
            answers = question.part_of(counts.usual)
            met = np.nonzero(answers)
            nats -= float(answers[met] @ np.log(smoothed(question, total - counts, strength)[met]))
        return nats

    return {name: min(_POWERS, key=lambda strength: cost(name, strength)) for name in STRENGTHS}


def held_out_costs(corpus: Sequence[Form]) -> list[Costs]:
    """The costs of the held-out laws: all, those of unseen forms, and both without short forms that a test has."""
    learned = [form for form in corpus if form.use is Use.ALL]
    seen = [form for form in corpus if form.use is not Use.NONE]
    prices = Prices(log_probabilities(counts_of(corpus)), count_forms(form.skeleton for form in learned))
    length, frequencies = (TokenPrior([form.skeleton for form in seen], by_frequency) for by_frequency in (False, True))
    judged = [f for f in corpus if f.law.field in HELD_OUT_FIELDS and (f.is_short or not f.held_out)]
    nats = np.column_stack(
        [
            prices.of(form.skeleton for form in judged),
            *([min(prior.nats(f.skeleton), prior.nats(f.masked)) for f in judged] for prior in (length, frequencies)),
        ]
    )
    known = {key for form in seen for key in keys_of(form.masked)}
    is_unseen = np.array([known.isdisjoint(keys_of(form.masked)) for form in judged])
    is_unmarked = np.array([not form.held_out for form in judged])
    return [
        _costs("all", nats, np.ones(len(judged), dtype=bool)),
        _costs("without short marked forms", nats, is_unmarked),
        _costs("unseen forms", nats, is_unseen),
        _costs("unseen, without short marked forms", nats, is_unseen & is_unmarked),
    ]


def _costs(name: str, nats: FloatArray, rows: npt.NDArray[np.bool_]) -> Costs:
    prices, length, frequencies = nats[rows].mean(axis=0)
    return Costs(name, int(rows.sum()), float(prices), float(length), float(frequencies))


def table_of(costs: Iterable[Costs]) -> str:
    """The costs as a table in Markdown."""
    lines = [
        "| held-out laws | number | price | prior of length | price below it | frequencies | price below them |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in costs:
        a, b = (f"{100 * share:.0f} %" for share in row.saved)
        lines.append(
            f"| {row.name} | {row.n} | {row.prices:.1f} | {row.length:.1f} | {a} | {row.frequencies:.1f} | {b} |"
        )
    return "\n".join(lines)


def marks_of(corpus: Sequence[Form], exclude: Sequence[str] = ()) -> str:
    """How many laws have a form of each catalogue, as a table in Markdown, and what is left to learn from."""
    groups = {Path(name).stem: [name] for name in (*TEST_CATALOGUES, *exclude)}
    groups |= {"any test": list(TEST_CATALOGUES), "any": [*TEST_CATALOGUES, *exclude]}
    lines = ["| catalogue | laws with a form of it | of these longer than 5 tokens |", "| --- | ---: | ---: |"]
    for name, sources in groups.items():
        found = [form for form in corpus if any(entry.source in sources for entry in form.held_out)]
        lines.append(f"| {name} | {len(found)} | {sum(not form.is_short for form in found)} |")
    used = {use: sum(form.use is use for form in corpus) for use in Use}
    lines += [
        "",
        f"{len(corpus)} laws: {used[Use.ALL]} to learn from, {used[Use.OPERATORS]} for single operators alone",
    ]
    return "\n".join(lines)


def _differences(found: Mapping[str, float]) -> str:
    other = {name: strength for name, strength in found.items() if STRENGTHS[name] != strength}
    return f"STRENGTHS should be {other}" if other else f"strengths: {found}"


def main() -> None:
    """Read the arguments, write, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exclude", nargs="*", default=[], help="catalogues whose forms are not learned")
    parser.add_argument("--out", type=Path, help="folder for counts.tsv and forms.tsv")
    options = parser.parse_args()
    corpus = forms(options.exclude)
    if options.out is not None:
        write_tables(corpus, options.out)
    print(marks_of(corpus, options.exclude), _differences(best_strengths(corpus)), sep="\n\n")
    print("", table_of(held_out_costs(corpus)), sep="\n")


if __name__ == "__main__":
    main()

"""The forms of known laws and how many laws have each, and their file, a line each: the count and the form.

A form is known by its keys: one for each order of its variables, the same for all spellings that are priced alike.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from flash_ansr import _core
from flash_ansr.price.counts import FloatArray
from simplipy import Expression, TokenBatch, parse, simplify_many
from simplipy.files.output_files import write_whole

_HEADER = "count\tform"
# the names of many variables are not exchanged in all ways
_MOST_ORDERS = 24
# n1/(n1 + 2*n2) of the forms that one and two laws have, as Ney and others estimate it
_DISCOUNT = 0.86


@dataclass(frozen=True, slots=True)
class KnownForm:
    """A form in x1, x2, ..., with the numbers that laws write out, and the number of laws that have it."""

    form: Expression
    count: int


def keys_of(form: Expression) -> list[int]:
    """The keys of the form with its variables in each order."""
    names = form.variables
    orders = itertools.islice(itertools.permutations(names), _MOST_ORDERS)
    batch = simplify_many(TokenBatch.from_expressions(form.rename(dict(zip(names, o, strict=True))) for o in orders))
    return sorted(set(_core.price_keys(batch.ids, batch.offsets, list(batch.extras))))


def count_forms(forms: Iterable[Expression]) -> list[KnownForm]:
    """Each form once, the most frequent first; equal up to the names of variables is equal."""
    counts: Counter[Expression] = Counter()
    first: dict[int, Expression] = {}
    for form in forms:
        keys = keys_of(form)
        known = next((first[key] for key in keys if key in first), form)
        first.update(dict.fromkeys(keys, known))
        counts[known] += 1
    return [KnownForm(form, n) for form, n in sorted(counts.items(), key=lambda item: (-item[1], item[0].infix()))]


def write_known_forms(path: Path, forms: Sequence[KnownForm]) -> None:
    """Write the file."""
    write_whole(path, "\n".join([_HEADER, *(f"{known.count}\t{known.form.infix()}" for known in forms)]) + "\n")


@cache
def known_forms() -> tuple[KnownForm, ...]:
    """The forms that come with the package."""
    header, *lines = resources.files("flash_ansr.price").joinpath("forms.tsv").read_text(encoding="utf-8").splitlines()
    if header != _HEADER:
        raise ValueError(f"a file of known forms begins with {_HEADER!r}, got {header!r}")
    rows = (line.split("\t") for line in lines)
    return tuple(KnownForm(parse(form), int(count)) for count, form in rows)


def shares(forms: Sequence[KnownForm]) -> tuple[list[int], FloatArray]:
    """The keys of all forms, and for each the probability that a new law has the form.

    A form of one law has less than its share: most of these are not met again (absolute discounting).
    """
    keys = [keys_of(known.form) for known in forms]
    total = sum(known.count for known in forms)
    probabilities = np.repeat([(known.count - _DISCOUNT) / total for known in forms], [len(own) for own in keys])
    return list(itertools.chain.from_iterable(keys)), np.asarray(probabilities)


def known_share(forms: Sequence[KnownForm]) -> float:
    """The probability that a new law has one of the forms."""
    return sum(known.count - _DISCOUNT for known in forms) / max(sum(known.count for known in forms), 1)

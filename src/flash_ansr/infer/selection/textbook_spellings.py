"""The spellings of known laws that have a form: c - exp(c*x) with the number 1 in it is 1 - exp(c*x)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms
from flash_ansr.price.known_forms import known_forms
from simplipy import Expression, TokenBatch

_MOST_VARIABLES = 4


def textbook_spellings(forms: Sequence[Expression]) -> list[list[Expression]]:
    """For each form those of known laws with fewer constants that are this form, once their numbers are free.

    Examples
    --------
    >>> from simplipy import parse
    >>> print(*textbook_spellings([parse("1/sqrt((<constant>*x2)^<constant> + <constant>)")])[0])
    1/sqrt((<constant>*x2)^<constant> + 1)
    """
    names = [dict(zip(form.variables, (f"x{k}" for k in itertools.count(1)), strict=False)) for form in forms]
    renamed = TokenBatch.from_expressions(form.rename(own) for form, own in zip(forms, names, strict=True))
    found = []
    for form, own, key in zip(forms, names, form_keys(normal_forms(renamed, n_threads=1)), strict=True):
        back = {new: old for old, new in own.items()}
        known = (spelling for spelling in _by_form().get(key, ()) if spelling.n_constants < form.n_constants)
        found.append([spelling.rename(back) for spelling in known])
    return found


@cache
def _by_form() -> dict[bytes, list[Expression]]:
    spellings = []
    for known in known_forms():
        names = known.form.variables
        has_numbers = known.form.skeleton() != known.form
        if has_numbers and len(names) <= _MOST_VARIABLES:
            orders = itertools.permutations(names)
            spellings += [known.form.rename(dict(zip(names, order, strict=True))) for order in orders]
    free = TokenBatch.from_expressions(spelling.skeleton() for spelling in spellings)
    table: dict[bytes, list[Expression]] = {}
    for key, spelling in zip(form_keys(normal_forms(free, n_threads=1)), spellings, strict=True):
        if spelling not in table.setdefault(key, []):
            table[key].append(spelling)
    return table

"""The file of known forms: its round trip, keys of spellings, and the probability that a new law has a known form."""

from __future__ import annotations

import itertools
import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from flash_ansr.price.known_forms import (
    KnownForm,
    count_forms,
    keys_of,
    known_forms,
    known_share,
    shares,
    write_known_forms,
)
from flash_ansr.price.prices import usual_prices
from simplipy import parse

C = "<constant>"
SPELLINGS = [
    (f"{C}*x1/({C} + x1)", f"{C}*x1/(1 + {C}*x1)", f"x1/({C} + {C}*x1)"),
    (f"{C}*exp({C}*x1)", f"exp({C}*x1 + {C})", f"{C}/exp({C}*x1)"),
    (f"{C}*x1 + {C}", f"{C}*(x1 + {C})", f"{C}*x2 + {C}"),
    (f"{C}*x1*x2", f"x2*{C}*x1", "x3*x1*" + C),
    ("x1/x2 - x3", "x2/x3 - x1"),
]


def test_the_file_that_comes_with_the_package_is_written_again(tmp_path: Path) -> None:
    write_known_forms(tmp_path / "forms.tsv", known_forms())
    shipped = resources.files("flash_ansr.price").joinpath("forms.tsv").read_text(encoding="utf-8")
    assert (tmp_path / "forms.tsv").read_text(encoding="utf-8") == shipped


def test_known_forms_are_ordered_and_written_in_the_first_variables() -> None:
    counts = [known.count for known in known_forms()]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] >= 1
    for known in known_forms():
        assert set(known.form.variables) == {f"x{k}" for k in range(1, len(known.form.variables) + 1)}


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_equal_spellings_have_equal_keys(spellings: tuple[str, ...]) -> None:
    keys = [keys_of(parse(text)) for text in spellings]
    assert all(own == keys[0] for own in keys)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations([texts[0] for texts in SPELLINGS], 2)))
def test_other_forms_have_other_keys(one: str, other: str) -> None:
    assert not set(keys_of(parse(one))) & set(keys_of(parse(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{C}*x1/({C} + x1)", f"{C}*x1^2/({C} + x1^2)"),
        (f"{C}*x1/({C} + x1)", f"{C}*x1/({C} - x1) + {C}"),
        (f"{C}*x1/({C} + x1)", f"{C}*x2/({C} + x1)"),
        (f"{C}*x1", "x1"),
        ("x1^2", "x1^3"),
        ("2*x1*x2", "3*x1*x2"),
        ("sin(x1)", "cos(x1)"),
    ],
)
def test_forms_that_differ_in_an_exponent_a_variable_or_a_constant_differ(one: str, other: str) -> None:
    assert not set(keys_of(parse(one))) & set(keys_of(parse(other)))


def test_forms_are_counted_up_to_spelling_the_most_frequent_first() -> None:
    texts = [f"{C}*x1*x2", *SPELLINGS[0], "x1/x2", "x2/x1"]
    found = count_forms(parse(text) for text in texts)
    assert [(known.count, known.form.infix()) for known in found] == [
        (3, parse(SPELLINGS[0][0]).infix()),
        (2, "x1/x2"),
        (1, parse(texts[0]).infix()),
    ]


def of_each(forms: list[KnownForm]) -> list[float]:
    """One probability for each form; all keys of a form have the same one."""
    keys, probabilities = shares(forms)
    by_key = dict(zip(keys, probabilities.tolist(), strict=True))
    found = []
    for known in forms:
        (own,) = {by_key[key] for key in keys_of(known.form)}
        found.append(own)
    return found


def test_a_form_of_more_laws_is_more_probable() -> None:
    forms = [KnownForm(parse("x1*x2"), 5), KnownForm(parse("x1/x2"), 2), KnownForm(parse("sin(x1)"), 1)]
    probabilities = of_each(forms)
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(known_share(forms))
    # each is discounted by the same amount: of 8 laws, 8 times its probability is below its count
    lost = [known.count - 8 * p for known, p in zip(forms, probabilities, strict=True)]
    np.testing.assert_allclose(lost, lost[0])
    assert 0 < lost[0] < 1


def test_the_probabilities_of_all_forms_sum_up_to_their_share() -> None:
    forms = list(known_forms())
    assert sum(of_each(forms)) == pytest.approx(known_share(forms))
    assert 0.05 < known_share(forms) < 0.95
    assert known_share([]) == 0


def test_a_known_form_costs_no_more_than_its_share() -> None:
    """Each is one of those with its probability, and something of the grammar is added to that."""
    forms = [known for known in known_forms() if len(known.form.variables) == 1]
    total = sum(known.count for known in known_forms())
    prices = usual_prices().of([known.form for known in forms], 1)
    limits = [-math.log((known.count - 0.86) / total) for known in forms]
    assert (prices <= np.array(limits) + 1e-9).all()

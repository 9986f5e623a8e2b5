"""What may be learned: never the form of a test or of a development set, and no law of a held-out field."""

from __future__ import annotations

import pytest

import simplipy
from flash_ansr import catalogues
from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.data.holdout import Holdout
from flash_ansr.price.corpus import SHORT, TEST_CATALOGUES, Form, Use, forms
from tests.flash_ansr.price.tables import DEVELOPMENT, names_in_order


@pytest.fixture(scope="module")
def corpus() -> list[Form]:
    return forms(DEVELOPMENT)


def by_key(corpus: list[Form], field: str, key: str) -> Form:
    return next(form for form in corpus if (form.law.field, form.law.key) == (field, key))


def test_forms_to_learn_from_equal_no_law_of_a_test_or_a_development_set(corpus: list[Form]) -> None:
    learned = [form for form in corpus if form.use is Use.ALL]
    assert len(learned) > 600
    # one holdout of all catalogues
    assert not any(Holdout([*TEST_CATALOGUES, *DEVELOPMENT]).find_many(form.masked for form in learned))
    # and without one: the laws' forms by another way
    laws = [problem.expression for name in (*TEST_CATALOGUES, *DEVELOPMENT) for problem in catalogues.load(name)]
    known = {names_in_order(simplipy.simplify(law, mask_numbers=True)) for law in laws}
    assert known.isdisjoint(names_in_order(form.masked) for form in learned)
    assert not known.isdisjoint(names_in_order(form.masked) for form in corpus)


def test_marks_name_the_laws_of_each_catalogue(corpus: list[Form]) -> None:
    gravitation = {entry.source: entry.name for entry in by_key(corpus, "mechanics", "gravitation").held_out}
    assert gravitation["fastsrb"] == "I.12.2"
    assert list(gravitation) == [name for name in (*TEST_CATALOGUES, *DEVELOPMENT) if name in gravitation]
    throw = by_key(corpus, "mechanics", "projectile_range")
    assert [(entry.source, entry.name) for entry in throw.held_out] == [(DEVELOPMENT[0], "projectile_range")]


def test_held_out_fields_are_never_learned(corpus: list[Form]) -> None:
    held_out = [form for form in corpus if form.law.field in HELD_OUT_FIELDS]
    assert {form.use for form in held_out} == {Use.NONE}
    assert 1 / 8 < len(held_out) / len(corpus) < 1 / 6


def test_marked_forms_count_for_operators_where_they_are_short(corpus: list[Form]) -> None:
    marked = [form for form in corpus if form.held_out and form.law.field not in HELD_OUT_FIELDS]
    assert all((form.use is Use.OPERATORS) == (len(form.masked) <= SHORT) == form.is_short for form in marked)
    assert {form.use for form in marked} == {Use.OPERATORS, Use.NONE}


def test_a_catalogue_more_marks_more_laws(corpus: list[Form]) -> None:
    without = forms()
    more = [form for form, less in zip(corpus, without, strict=True) if form.held_out and not less.held_out]
    assert more
    assert {entry.source for form in more for entry in form.held_out} <= set(DEVELOPMENT)

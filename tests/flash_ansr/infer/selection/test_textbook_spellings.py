"""Spellings of known laws: fewer constants, the same form, in the variables of the formula."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.selection.textbook_spellings import textbook_spellings
from flash_ansr.price.known_forms import known_forms
from simplipy import fit_constants, parse

FORM = "1/sqrt((<constant>*x2)^<constant> + <constant>)"
# with numbers that laws write out, and few enough variables
LAWS = [known.form for known in known_forms() if known.form.skeleton() != known.form and len(known.form.variables) <= 4]


def test_a_known_law_is_a_spelling_of_its_form() -> None:
    found = textbook_spellings([law.skeleton() for law in LAWS])
    for law, spellings in zip(LAWS, found, strict=True):
        assert law in spellings


def test_spellings_have_fewer_constants_and_the_variables_of_the_form() -> None:
    forms = [law.skeleton() for law in LAWS]
    for form, spellings in zip(forms, textbook_spellings(forms), strict=True):
        assert len(set(spellings)) == len(spellings)
        for spelling in spellings:
            assert spelling.n_constants < form.n_constants
            assert set(spelling.variables) == set(form.variables)


def test_a_form_meets_the_values_of_its_spellings() -> None:
    form = parse(FORM)
    X = np.random.default_rng(0).uniform(0.3, 1.5, (60, 3))
    (spellings,) = textbook_spellings([form])
    assert spellings
    for spelling in spellings:
        y = np.asarray(spelling(X, np.full(spelling.n_constants, 0.7)))
        assert fit_constants(form, X, y, n_restarts=32, n_threads=1).fvu < 1e-9


def test_each_formula_has_its_own_spellings() -> None:
    forms = [parse(FORM), LAWS[0].skeleton(), parse("x1")]
    assert textbook_spellings(forms) == [textbook_spellings([form])[0] for form in forms]
    assert textbook_spellings([]) == []


@pytest.mark.parametrize("text", ["<constant>*x1", "x1*x2", "<constant>*tan(sin(<constant>*x1))"])
def test_no_spelling_of_what_has_no_number_or_is_no_law(text: str) -> None:
    assert textbook_spellings([parse(text)]) == [[]]


def test_names_are_those_of_the_formula() -> None:
    (near,), (far,) = (textbook_spellings([parse(FORM).rename({"x2": name})]) for name in ("x1", "x37"))
    assert near
    assert far == [spelling.rename({"x1": "x37"}) for spelling in near]

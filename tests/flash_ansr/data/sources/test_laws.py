"""The file of laws to recombine."""

from __future__ import annotations

from pathlib import Path

from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.data import Holdout, load_prior
from flash_ansr.data.sources.laws import law_forms, text_of
from flash_ansr.data.sources.make_laws import allowed_laws
from flash_ansr.price.corpus import TEST_CATALOGUES
from tests.flash_ansr.price.tables import DEVELOPMENT


def test_the_file_has_the_laws_that_may_be_learned_from() -> None:
    file = Path(__file__).parents[4] / "src" / "flash_ansr" / "data" / "priors" / "laws.tsv"
    assert file.read_text(encoding="utf-8") == text_of(allowed_laws(DEVELOPMENT)), "run: make prices"


def test_no_law_is_held_out() -> None:
    laws = law_forms()
    assert len(laws) > 500
    assert not {law.field for law in laws} & set(HELD_OUT_FIELDS)
    holdout = Holdout(TEST_CATALOGUES)
    leaks = holdout.find_many(law.skeleton for law in laws)
    assert leaks == [None] * len(laws)
    assert holdout.find("<constant>*x1*x2") is not None
    assert set(TEST_CATALOGUES) <= set(load_prior("science").holdouts) == set(load_prior("mixed").holdouts)

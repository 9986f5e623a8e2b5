"""The tables that the package comes with are those that ``make prices`` makes, and survive a round trip."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from flash_ansr.price.corpus import Form, Use, forms
from flash_ansr.price.counts import Counts, questions
from flash_ansr.price.estimate import best_strengths, counts_of, held_out_costs, marks_of, table_of, write_tables
from flash_ansr.price.known_forms import count_forms, known_forms
from flash_ansr.price.operands import counted
from flash_ansr.price.probabilities import STRENGTHS, log_probabilities
from tests.flash_ansr.price.tables import DEVELOPMENT, ROOT, form


@pytest.fixture(scope="module")
def corpus() -> list[Form]:
    return forms(DEVELOPMENT)


def shipped(name: str) -> str:
    return resources.files("flash_ansr.price").joinpath(name).read_text(encoding="utf-8")


def test_the_shipped_tables_are_what_the_command_makes(corpus: list[Form], tmp_path: Path) -> None:
    write_tables(corpus, tmp_path)
    for name in ("counts.tsv", "forms.tsv"):
        assert (tmp_path / name).read_text(encoding="utf-8") == shipped(name), f"run `make prices` for {name}"


def test_operands_are_counted_in_forms_to_learn_from_alone(corpus: list[Form]) -> None:
    learned = count_forms(form.skeleton for form in corpus if form.use is Use.ALL)
    assert (counted(learned) == counted(known_forms())).all()


def test_the_makefile_excludes_the_development_sets() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"DEVELOPMENT := {' '.join(str(Path(p).relative_to(ROOT)) for p in DEVELOPMENT)}\n" in text
    assert "flash_ansr.price.estimate --exclude $(DEVELOPMENT) --out src/flash_ansr/price" in text


def test_the_strengths_are_the_best_ones(corpus: list[Form]) -> None:
    assert best_strengths(corpus) == dict(STRENGTHS)


def test_the_page_has_the_tables(corpus: list[Form]) -> None:
    assert table_of(held_out_costs(corpus)) in (ROOT / "docs" / "prices.md").read_text(encoding="utf-8")
    assert marks_of(corpus, DEVELOPMENT) in (ROOT / "docs" / "catalogues.md").read_text(encoding="utf-8")


def test_held_out_laws_are_cheaper_than_under_priors_of_tokens(corpus: list[Form]) -> None:
    costs = held_out_costs(corpus)
    assert [row.n for row in costs] == sorted((row.n for row in costs), reverse=True)
    assert costs[-1].n > 60
    for row in costs:
        below_length, below_frequencies = row.saved
        assert below_length >= 0.30, row
        assert below_frequencies >= 0.10, row


def test_counts_survive_a_round_trip(corpus: list[Form], tmp_path: Path) -> None:
    counts = counts_of(corpus)
    counts.write(tmp_path / "counts.tsv")
    again = Counts.read((tmp_path / "counts.tsv").read_text(encoding="utf-8"))
    assert (again.usual == counts.usual).all()
    assert (again.operators_only == counts.operators_only).all()
    assert counts.usual.sum() > 5000 < 5000 + counts.operators_only.sum()


def test_a_file_without_its_header_is_refused() -> None:
    with pytest.raises(ValueError, match="a file of counts begins with 'question"):
        Counts.read("n_terms\twhole\t1\t2\t0\n")


def test_probabilities_sum_up_to_one_in_each_context(corpus: list[Form]) -> None:
    table = log_probabilities(counts_of(corpus))
    for question in questions():
        sums = np.exp(question.part_of(table)).sum(axis=-1)
        np.testing.assert_allclose(sums, 1.0, rtol=1e-12, err_msg=question.name)


def test_an_answer_that_was_given_is_more_probable_than_without() -> None:
    few, more = ([form("<constant>*x1^2"), *[form("<constant>*sin(x1)")] * n] for n in (1, 3))
    before, after = (log_probabilities(Counts.of(rows, [])) for rows in (few, more))
    (atoms,) = (question for question in questions() if question.name == "atom")
    sine = atoms.answers.index("sin")
    gain = (atoms.part_of(after) - atoms.part_of(before))[..., sine]
    assert (gain > 0).all()  # in unmet contexts too, which lean on others

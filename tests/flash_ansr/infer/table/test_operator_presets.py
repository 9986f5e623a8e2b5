"""Presets of operators: what the laws use, as parameters and on the command line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from typer.testing import CliRunner

from flash_ansr import FlashANSR
from flash_ansr.catalogues.science import field_names
from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.cli import app
from flash_ansr.infer.table.input_checks import checked_operators
from flash_ansr.infer.table.operator_presets import ARITHMETIC, FIELDS, PRESETS, Preset, described
from flash_ansr.price.corpus import Form, Use, forms
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS
from tests.flash_ansr.price.tables import DEVELOPMENT, ROOT

SHARE = 0.01


@pytest.fixture(scope="module")
def corpus() -> list[Form]:
    return [form for form in forms(DEVELOPMENT) if form.use is not Use.NONE]


@pytest.mark.parametrize("preset", FIELDS)
def test_presets_are_what_the_laws_of_their_fields_use(preset: str, corpus: list[Form]) -> None:
    laws = [form for form in corpus if form.law.field in FIELDS[preset]]
    uses = Counter(token for form in laws for token in {*form.law.expression.tokens, *form.skeleton.tokens})
    used = {token for token in OPERATORS if uses[token] >= SHARE * len(laws)}
    assert len(laws) > 150
    assert list(PRESETS[preset]) == [*ARITHMETIC, *(t for t in OPERATORS if t in used and t not in ARITHMETIC)]


def test_fields_of_presets_are_fields_that_may_be_learned_from() -> None:
    listed = [field for fields in FIELDS.values() for field in fields]
    assert set(listed) <= set(field_names()) - set(HELD_OUT_FIELDS)
    assert len(listed) == len(set(listed))


def test_all_has_what_is_off_by_default() -> None:
    assert checked_operators("all") == set(OPERATORS) > set(DEFAULT_OPERATORS)
    assert checked_operators(None) == set(DEFAULT_OPERATORS)


def test_the_type_names_the_presets() -> None:
    assert get_args(Preset) == tuple(PRESETS)


def test_a_search_keeps_to_a_preset() -> None:
    x = np.linspace(0.1, 3, 40)[:, None]
    model = FlashANSR(n_samples=400, time_limit=None, proposers=["prior", "textbook"], random_state=0)
    model.set_params(operators="kinetics", max_length=12).fit(x, np.sin(3 * x[:, 0]))
    met = {token for law in model.candidates_["expression"] for token in law.tokens if token in OPERATORS}
    assert met <= set(PRESETS["kinetics"])
    assert "exp" in met


def test_the_command_line_takes_presets(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{x},{2.7 * x**2}\n" for x in range(1, 12)), encoding="utf-8")
    command = ["fit", str(data), "--operators", "polynomial", "--samples", "50", "--proposers", "closed_form", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["law"] == "2.7*x^2"


def test_the_help_and_the_page_say_what_each_holds() -> None:
    help_text = " ".join(CliRunner().invoke(app, ["fit", "--help"], env={"COLUMNS": "2000"}).stdout.split())
    page = (ROOT / "docs" / "estimator.md").read_text(encoding="utf-8")
    for preset in PRESETS:
        assert f"{preset}: {'every operator' if preset == 'all' else described(preset)}" in help_text
        assert f"| `{preset}` | {'every operator' if preset == 'all' else f'`{described(preset)}`'}" in page


def test_polynomials_have_no_quotients_of_columns() -> None:
    assert not checked_operators("polynomial") & {"/", "inv", "pow", "exp"}
    assert described("polynomial") == "+ - * ^2 ^3 ^4 ^5"


def test_a_preset_in_a_list_is_a_mistake_and_an_operator_alone_too() -> None:
    with pytest.raises(ValueError, match=r"unknown operator 'physics'; did you mean the preset 'physics', without"):
        checked_operators(["physics"])
    with pytest.raises(ValueError, match=r"unknown operator 'phisics'; did you mean the preset 'physics'"):
        checked_operators(["sin", "phisics"])
    with pytest.raises(ValueError, match=r"operators must be a list of operator tokens, .*: write \['sin'\]"):
        checked_operators("sin")
    with pytest.raises(ValueError, match=r"operators .*unknown preset 'phisics'; did you mean 'physics'\?"):
        checked_operators("phisics")
    with pytest.raises(ValueError, match="presets are polynomial, physics, kinetics, engineering, all"):
        checked_operators("zzz")

"""A user's own catalogue: what is read, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flash_ansr import catalogues
from flash_ansr.catalogues import CatalogueError

OWN = """
name: mine
constants:
  g: 9.81
  k: 1e-3
problems:
  pendulum:
    formula: 2*pi*sqrt(length/g)
    variables:
      length: log(0.1, 10)
  drag:
    formula: k*`air density`*g^2
    difficulty: hard
    excluded: no time
    variables:
      g: uniform(1, 2)
      air density: -uniform(1, 2)
      unused: integer(1, 3)
"""


def load(tmp_path: Path, text: str) -> catalogues.Catalogue:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return catalogues.load(path)


def test_own_laws(tmp_path: Path) -> None:
    mine = load(tmp_path, OWN)
    assert (mine.name, mine.title, mine.source) == ("mine", "mine", "")
    assert mine["pendulum"].expression.tokens == ["*", "mult2", "pi", "pow1_2", "/", "x1", "9.81"]
    # the variable g hides the constant g
    drag = mine["drag"]
    sample = drag.sample(10, 0)
    assert np.allclose(sample.y, 1e-3 * sample.X[:, 1] * sample.X[:, 0] ** 2)
    assert (sample.X[:, 1] < 0).all()
    assert (drag.difficulty, drag.excluded) == ("hard", "no time")
    assert [p.name for p in mine.included] == ["pendulum"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("formula: 2*pi", "formla: 2*pi", r"own.yaml: pendulum: unknown key 'formla'; did you mean 'formula'\?"),
        ("name: mine", "nam: mine", r"own.yaml: unknown key 'nam'; did you mean 'name'\?"),
        ("name: mine", "name: 3", "own.yaml: name must be a text, got 3; put it in quotes"),
        ("name: mine", "", "own.yaml: the key 'name' is missing"),
        ("length/g", "lenght/g", "pendulum: formula: 'lenght' is neither a variable nor a constant; give it a range"),
        ("sqrt(length/g)", "sqrt(length/g", "own.yaml: pendulum: formula: "),
        ("sqrt(length/g)", "<constant>", "pendulum: formula: write a number for each <constant>"),
        ("log(0.1, 10)", "log(0, 10)", "pendulum: variables: length: the bounds of log must be > 0, got"),
        ("log(0.1, 10)", "gauss(0, 10)", "pendulum: variables: length: a range must be one of uniform"),
        ("log(0.1, 10)", "[0.1, 10]", "pendulum: variables: length: a range must be one of uniform"),
        ("      length: log(0.1, 10)\n", "", "pendulum: variables must be a mapping of keys to values, got None"),
        ("g: 9.81", "g: fast", "own.yaml: constants: g: must be a number, got 'fast'"),
        ("difficulty: hard", "difficulty: 3", "drag: difficulty must be a text, got 3; put it in quotes"),
        ("drag:", "1.5:", "own.yaml: problems: a name must be a text, got 1.5; put it in quotes"),
        ("drag:", "pendulum:", "own.yaml: line 11: 'pendulum' stands there twice; rename one"),
        ("name: mine", "name: [mine", "own.yaml is no YAML: "),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in OWN
    with pytest.raises(CatalogueError, match=message):
        load(tmp_path, OWN.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "3", "[a, b]", "name: mine\nproblems: {}", "name: mine\nproblems: [a]"])
def test_no_catalogue_at_all(tmp_path: Path, text: str) -> None:
    with pytest.raises(CatalogueError, match=r"own\.yaml"):
        load(tmp_path, text)


def test_no_such_catalogue() -> None:
    with pytest.raises(
        CatalogueError, match=r"'fastsrbb' is neither a catalogue \(fastsrb, feynman.* nor a readable YAML"
    ):
        catalogues.load("fastsrbb")


def test_a_law_that_is_finite_nowhere(tmp_path: Path) -> None:
    law = load(tmp_path, OWN.replace("length/g", "-length/g"))["pendulum"]
    with pytest.raises(
        CatalogueError, match=r"mine pendulum: .* is finite at 0 of 500 rows drawn from length: log.*narrow"
    ):
        law.sample(5, 0)


ORIGINAL = """
I.1.1:
    difficulty: easy
    prepared: v1 * neg(v2) ^ 2
    vars:
        v1: {name: a, sample_range: [1.0e-1, 1.0e1], sample_type: [log, pos_neg]}
        v2: {name: b, sample_range: [1.0, 2.0, stray=True], sample_type: [int, neg]}
        v0: {name: f}
"""


def test_the_format_of_fastsrb(tmp_path: Path) -> None:
    (law,) = load(tmp_path, ORIGINAL)
    assert [str(v.range) for v in law.variables] == ["+-log(0.1, 10)", "-integer(1, 2)"]
    assert [v.name for v in law.variables] == ["a", "b"]
    sample = law.sample(20, 0)
    assert np.allclose(sample.y, sample.X[:, 0] * sample.X[:, 1] ** 2)
    assert set(sample.X[:, 1]) == {-1.0, -2.0}


@pytest.mark.parametrize(
    ("old", "new"), [("[log, pos_neg]", "[normal, pos]"), ("[1.0e-1, 1.0e1]", "[1.0e-1]"), ("[int, neg]", "[int]")]
)
def test_mistakes_in_the_format_of_fastsrb(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(CatalogueError, match=r"own.yaml: I\.1\.1: v\d: sample_range must be two numbers"):
        load(tmp_path, ORIGINAL.replace(old, new))

"""The hash of the simplifier: rules and normal forms both count."""

from __future__ import annotations

import hashlib
from importlib import resources

import pytest

import simplipy
from flash_ansr import versions


def test_normal_forms_are_fixed_points_of_many_kinds() -> None:
    forms = versions.normal_forms()
    assert len(forms) > 50
    assert len(set(forms)) > 30
    assert {token for form in forms for token in form.split()} >= {
        "<constant>",
        "+",
        "*",
        "pow2",
        "mult3",
        "sin",
        "abs",
    }
    for form in forms:
        assert " ".join(simplipy.simplify(form.split())) == form


def test_a_change_of_the_canonical_form_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = resources.files("simplipy").joinpath("data", "rules.txt").read_bytes()
    now = versions.rule_set_hash()
    assert now != hashlib.sha256(rules).hexdigest()
    assert versions.rule_set_hash.__wrapped__() == now
    forms = versions.normal_forms()
    monkeypatch.setattr(versions, "normal_forms", lambda: ["+ x2 x1", *forms[1:]])
    assert versions.rule_set_hash.__wrapped__() != now

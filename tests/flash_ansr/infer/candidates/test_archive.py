"""The archive against the definition of what it keeps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from flash_ansr.infer.candidates.archive import Archive, Candidate
from simplipy.fit.score import exact_fvu, score

CHAIN = "x1"
FVUS = st.sampled_from([1e-20, 1e-3, 0.1, 0.5, 0.5000001, 2.0])
ENTRIES = st.lists(st.tuples(st.integers(0, 8), FVUS, st.integers(0, 12)), max_size=40)


def candidate(n_ops: int, fvu: float, key: int, drawn: int = 0, gamma: float = 0.05) -> Candidate:
    expression = simplipy.parse(["sin"] * n_ops + ["x1"])
    value = score(fvu, len(expression), gamma)
    return Candidate(expression, bytes([key]), fvu, value, 0, math.nan, "test", drawn)


def filled(entries: list[tuple[int, float, int]], capacity: int = 1000) -> tuple[Archive, list[Candidate]]:
    archive = Archive(capacity)
    candidates = [candidate(*entry, drawn=i) for i, entry in enumerate(entries)]
    for c in candidates:
        archive.add(c)
    return archive, candidates


@given(ENTRIES)
def test_the_front_is_what_nothing_dominates(entries: list[tuple[int, float, int]]) -> None:
    archive, candidates = filled(entries)
    pairs = {(c.length, c.fvu) for c in candidates}
    wanted = {p for p in pairs if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in pairs)}
    front = archive.front()
    assert {(c.length, c.fvu) for c in front} == wanted
    assert len(front) == len(wanted)


@given(ENTRIES)
def test_the_best_has_the_lowest_score(entries: list[tuple[int, float, int]]) -> None:
    archive, candidates = filled(entries)
    if not candidates:
        assert archive.best is None
        return
    assert archive.best is min(candidates, key=lambda c: c.rank)
    assert archive.candidates()[0] is archive.best


@given(ENTRIES, st.integers(1, 5))
def test_a_small_archive_keeps_the_best_and_the_front(entries: list[tuple[int, float, int]], capacity: int) -> None:
    archive, _ = filled(entries, capacity)
    whole, _ = filled(entries)
    kept = archive.candidates()
    assert {c.fvu for c in archive.front()} == {c.fvu for c in whole.front()}
    assert {c.key for c in whole.candidates()[:capacity]} <= {c.key for c in kept}
    assert [c.rank for c in kept] == sorted(c.rank for c in kept)


@given(ENTRIES, st.integers(1, 9), FVUS)
def test_enters_front_foretells_the_front(entries: list[tuple[int, float, int]], n_ops: int, fvu: float) -> None:
    archive, _ = filled(entries)
    newcomer = candidate(n_ops, fvu, 99)
    foretold = archive.enters_front(newcomer.length, fvu)
    archive.add(newcomer)
    assert (newcomer in archive.front()) == foretold


@pytest.mark.parametrize("fvu", [math.nan, math.inf, -1.0])
def test_what_is_not_finite_is_refused(fvu: float) -> None:
    archive = Archive()
    assert not archive.add(candidate(1, fvu, 1))
    assert archive.best is None
    assert archive.candidates() == []
    assert archive.front() == []


def test_forms_are_new_once_with_starts_and_once_without() -> None:
    archive = Archive()
    for key, started in [(7, False), (7, True), (9, True), (9, False)]:
        assert not archive.was_seen(key, started)
        archive.see(key, started)
        archive.see(key, started)
        assert archive.was_seen(key, started)
    assert archive.n_seen == 2


def test_score_is_the_papers() -> None:
    assert score(1e-3, 20, gamma=0.05) == pytest.approx(-2.0)
    assert score(0.0, 1, gamma=0.0) == -300
    assert score(1e-40, 0, gamma=0.05, floor=1e-10) == pytest.approx(-10)
    # gamma 0.05: a token is worth about 11 % of the FVU
    assert score(0.89, 5, 0.05) < score(1.0, 4, 0.05) < score(0.9, 5, 0.05)


def test_exact_means_rounding() -> None:
    import numpy as np

    x = np.linspace(1, 2, 50)
    assert exact_fvu(x) == 1e-24
    assert exact_fvu(1e6 + 1e-6 * x) > 1e-7  # nearly all digits are in the offset
    assert exact_fvu(0 * x) == exact_fvu(0 * x + 3) > 0

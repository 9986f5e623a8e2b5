"""Rows on the disk: there and back, never torn, never twice, one writer."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from benchmarks.make_small_rows import small
from flash_ansr.bench.rows import BenchError, Row, RowFile, Task, read_rows


def make_row(problem: str = "Nguyen-1", **more: object) -> Row:
    task = Task("nguyen", problem, 0, 64, 0.0, "hand", 1.0, {"b": 2, "a": [1, None]})
    facts = {"expression": "x1 + 0.1", "error": None, "fit_seconds": 0.5, "cpu_seconds": None, "seed": 7} | more
    return Row(task=task, **facts)


def test_there_and_back() -> None:
    row = make_row(log_prob=-1.25, digests={"fit": "00ff"}, versions={"python": "3"}, report={"n": 3})
    assert Row.from_facts(json.loads(row.to_json())) == row
    assert "\n" not in row.to_json()


def test_small_rows_have_all_but_the_report() -> None:
    report = {"proposer": "prior", "fit": {"neural": "was left out: below 3 s", "drawn": 7}}
    row = make_row(log_prob=-1.25, digests={"fit": "00ff"}, versions={"weights": "3"}, report=report)
    line = small(row.to_json())
    assert Row.from_facts(json.loads(line)) == dataclasses.replace(row, report={"fit": {"neural": "was left out"}})
    assert small(line) == line
    assert "n_candidates" not in line


def test_numbers_that_json_lacks_become_null() -> None:
    row = make_row(bloat=math.nan, report={"a": [math.inf, 1.0], "b": {"c": math.nan}})
    facts = json.loads(row.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert facts["bloat"] is None
    assert facts["report"] == {"a": [None, 1.0], "b": {"c": None}}


def test_what_tells_tasks_apart() -> None:
    task = make_row().task
    same = Task("nguyen", "Nguyen-1", 0, 64, 0.0, "hand", 1.0, {"a": [1, None], "b": 2}, label="other")
    assert task.key == same.key
    others = [
        Task("nguyen", "Nguyen-2", 0, 64, 0.0, "hand", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 1, 64, 0.0, "hand", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 65, 0.0, "hand", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.1, "hand", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.0, "foot", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.0, "hand", 2.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.0, "hand", None, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.0, "hand", 1.0, {}),
        Task("feynman", "Nguyen-1", 0, 64, 0.0, "hand", 1.0, task.settings),
        Task("nguyen", "Nguyen-1", 0, 64, 0.0, "hand", 1.0, task.settings, n_threads=8),
    ]
    assert len({t.key for t in [task, *others]}) == 11
    here, there = (Task(path, "one", 0, 8, 0.0, "hand", 1.0) for path in ("laws.yaml", "folder/laws.yaml"))
    assert here.key == there.key
    assert task.label == "hand a=[1, None] b=2"


def test_rows_are_added_and_known_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    with RowFile(path) as file:
        assert not file.rows
        file.add(make_row())
        with pytest.raises(BenchError, match="already has a row"):
            file.add(make_row())
    with RowFile(path) as file:
        assert set(file.rows) == {make_row().task.key}
        file.add(make_row("Nguyen-2"))
    assert [r.task.problem for r in read_rows([tmp_path])] == ["Nguyen-1", "Nguyen-2"]


@pytest.mark.parametrize("torn", ['{"catalogue": "ngu', '{"catalogue": "nguyen"}', "\x00\x00"])
def test_an_unfinished_line_is_no_row(tmp_path: Path, torn: str) -> None:
    """Even where it happens to be whole JSON: the end of the line is what was not written."""
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        file.add(make_row())
    whole = path.read_bytes()
    path.write_bytes(whole + torn.encode())
    assert len(list(read_rows([path]))) == 1
    with RowFile(path) as file:
        assert path.read_bytes() == whole
        file.add(make_row("Nguyen-2"))
    assert [r.task.problem for r in read_rows([path])] == ["Nguyen-1", "Nguyen-2"]


def test_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with RowFile(path), pytest.raises(BenchError, match="another run is writing to"):
        RowFile(path)
    with RowFile(path):
        pass


def test_what_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{}\n")
    with pytest.raises(BenchError, match=r"rows\.jsonl: line 1 is no benchmark row"):
        list(read_rows([path]))
    with pytest.raises(BenchError, match="cannot read rows from"):
        list(read_rows([tmp_path / "missing.jsonl"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchError, match=r"no \*\.jsonl in .*; make rows there by: flash-ansr bench run"):
        list(read_rows([tmp_path / "empty"]))


def test_what_failed_may_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    failed = make_row(expression=None, error="MemoryError: no")
    with RowFile(path) as file:
        file.add(failed)
        file.add(make_row("Nguyen-2"))
    with RowFile(path) as file:
        assert file.n_failures == 1
        assert len(file.rows) == 2
    with RowFile(path, retry=True) as file:
        assert (file.n_failures, len(file.rows)) == (0, 1)
        file.add(make_row())
    assert [(r.task.problem, r.error) for r in read_rows([path])] == [("Nguyen-1", None), ("Nguyen-2", None)]


def test_of_one_task_in_two_files_the_later_row_counts(tmp_path: Path) -> None:
    times = {"a": "2026-01-01T00:00:02+00:00", "b": "2026-01-01T00:00:01+00:00"}
    for name, started in times.items():
        with RowFile(tmp_path / name / "rows.jsonl") as file:
            file.add(dataclasses.replace(make_row(), started=started))
    for paths in ([tmp_path], [tmp_path / "b", tmp_path / "a"]):
        assert [row.started for row in read_rows(paths)] == [times["a"]]


def test_one_task_twice_in_a_file_is_an_error(tmp_path: Path) -> None:
    with RowFile(tmp_path / "a" / "rows.jsonl") as file:
        file.add(make_row())
    line = make_row().to_json() + "\n"
    (tmp_path / "a" / "rows.jsonl").write_text(2 * line)
    with pytest.raises(BenchError, match="line 2 is a second row of"):
        list(read_rows([tmp_path / "a"]))


def test_other_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"seconds": 3}\n')
    with RowFile(tmp_path / "rows.jsonl") as file:
        file.add(make_row())
    assert len(list(read_rows([tmp_path]))) == 1
    with pytest.raises(BenchError, match="line 1 is no benchmark row"):
        list(read_rows([tmp_path / "other.jsonl"]))


def test_a_line_torn_inside_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        file.add(make_row())
    whole = make_row("Nguyen-2", error="Köthe", expression=None).to_json().encode()
    path.write_bytes(path.read_bytes() + whole[: whole.index("ö".encode()) + 1])
    assert len(list(read_rows([path]))) == 1

"""Files appear whole, in folders that are made for them, but not at the root of the file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_folder, make_parent, replacing, write_whole


def test_missing_folders_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with replacing(Path("a/b/c.txt")) as partial:
        partial.write_text("whole")
        assert not Path("a/b/c.txt").exists()
    assert [path.name for path in Path("a/b").iterdir()] == ["c.txt"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as partial:
        partial.write_text(3)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["c.txt"]


@pytest.mark.parametrize("path", ["/no_such_folder/a.txt", "/no_such_folder/deeper/a.txt"])
def test_no_folder_is_made_at_the_root(path: str) -> None:
    with pytest.raises(SimplipyError, match=r"there is no folder /no_such_folder for a\.txt; missing folders are made"):
        make_parent(Path(path))
    with pytest.raises(SimplipyError, match="there is no folder /no_such_folder; missing folders are made"):
        make_folder(Path(path).parent)
    assert not Path("/no_such_folder").exists()


def test_a_way_up_does_not_reach_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    way = Path(*[".."] * (len(tmp_path.parts) + 3), "no_such_folder", "a.txt")
    with pytest.raises(SimplipyError, match=r"there is no folder /no_such_folder for a\.txt"):
        make_parent(way)
    with pytest.raises(SimplipyError, match="there is no folder /no_such_folder"):
        make_parent(tmp_path / "missing" / way)
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(SimplipyError, match="there is no folder /no_such_folder"):
        make_parent(tmp_path / "link" / "no_such_folder" / "a.txt")
    assert not Path("/no_such_folder").exists()
    assert not (tmp_path / "missing").exists()


def test_text_and_bytes_are_written_whole(tmp_path: Path) -> None:
    for content in ("Köthe", b"\x00\xff"):
        write_whole(tmp_path / "new" / "c", content)
        assert (tmp_path / "new" / "c").read_bytes() == (content.encode() if isinstance(content, str) else content)
    with pytest.raises(TypeError):
        write_whole(tmp_path / "new" / "c", 3)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["c"]
    assert (tmp_path / "new" / "c").read_bytes() == b"\x00\xff"

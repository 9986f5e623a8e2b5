"""The documentation as a site: every page has its place, and a strict build has nothing to complain about."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.needs import need

ROOT = Path(__file__).parents[2]


def pages_of(nav: Any) -> Iterator[str]:
    """Files that a navigation leads to."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(part)


def test_the_navigation_leads_to_pages() -> None:
    pages = list(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert len(pages) == len(set(pages)) >= 15
    assert all((ROOT / "docs" / page).is_file() for page in pages)


def test_docstrings_have_no_roles_of_another_tool() -> None:
    role = re.compile(r":(func|class|mod|meth|attr|ref):`")  # the site would show them as they are
    assert [str(path) for path in (ROOT / "src").rglob("*.py") if role.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_formulas_are_code(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for code in (r"^```.*?^```", r"^    .*?$", r"`[^`]*`"):
        text = re.sub(code, "", text, flags=re.DOTALL | re.MULTILINE)
    # between two stars the site writes in italics, and leaves the stars out
    assert re.findall(r".*[\w)]\*[\w(].*", text.replace("**", "")) == []


@pytest.mark.slow
def test_a_strict_build(tmp_path: Path) -> None:
    need("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # pages outside the navigation are no warning, but nobody would find them
    assert "not included in the" not in done.stderr
    assert "FlashANSR" in (tmp_path / "api" / "flash_ansr.html").read_text(encoding="utf-8")

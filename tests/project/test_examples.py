"""Every example in README.md, docs/ and the docstrings runs, and prints what it says it prints."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

import flash_ansr
import simplipy
from tests.command_line import run, run_flash_ansr

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    name
    for package in (simplipy, flash_ansr)
    for name in (
        package.__name__,
        *(found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    )
]
OPTIONS = doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> str:
    """All fenced blocks of a page in one language, one after the other; blank lines keep line numbers in place."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == f"```{language}"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def run_examples(test: doctest.DocTest) -> None:
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append, clear_globs=False)
    assert results.failed == 0, "".join(report)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the bundled data, so that examples leave no file in the work tree."""
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "examples" / "data")
    (tmp_path / "german.txt").write_text("distance_au;period_days\n0,387;88\n1,0;365\n30,07;60182\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_pages(page: Path, workplace: Path) -> None:
    """The sessions of a page, then its scripts, which see the names of the sessions."""
    test = doctest.DocTestParser().get_doctest(blocks(page, "pycon"), {}, page.name, str(page), 0)
    run_examples(test)
    exec(compile(blocks(page, "python"), str(page), "exec"), test.globs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_pages(page: Path, workplace: Path) -> None:
    """`$ simplipy ...` and `$ flash-ansr ...` with the output below it; other commands are prose.

    A line `...` stands for any lines, and three points at the end of a line for its rest.
    """
    pattern = r"^\$ (simplipy|flash-ansr) (.*)\n((?:(?!\$ ).*\n)*)"
    for program, command, expected in re.findall(pattern, blocks(page, "console"), re.MULTILINE):
        done = {"simplipy": run, "flash-ansr": run_flash_ansr}[program](*shlex.split(command))
        said = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        shown = "".join(f"{line}\n" for line in said if line)
        wanted = "".join(f"{line}\n" for line in expected.splitlines() if line)
        parts = [re.escape(part) for part in re.split(r"(?m)^\.\.\.\n", wanted)]
        pattern_of_output = r"(?:.*\n)*?".join(part.replace(r"\.\.\." + "\\\n", r".*\n") for part in parts)
        assert re.fullmatch(pattern_of_output, shown), f"{command}\n{shown}"


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, workplace: Path) -> None:
    if name.endswith("__main__"):
        return
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        run_examples(test)


def test_demo(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "demo.py"))["main"](seconds=4.0)
    said = capsys.readouterr().out
    assert "the period grows with distance^1.5: found" in said
    assert "x2*x3" in said
    assert (workplace / "build" / "demo" / "laws.png").stat().st_size > 10_000


def test_the_table_of_fused_literals() -> None:
    """Cells in pairs of text and tokens; of several in one cell the first counts."""
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")
    table = page[page.index("| text | tokens |") :].partition("\n\n")[0]
    cells = [re.search(r"`(.+?)`", cell)[1] for cell in re.findall(r"\| ([^|]*`[^|]*) (?=\|)", table)]
    assert len(cells) >= 28
    for text, tokens in zip(cells[::2], cells[1::2], strict=True):
        assert simplipy.parse(text).tokens == tokens.split()


def test_there_are_examples() -> None:
    """The test of the test: the pages have blocks of each kind."""
    assert blocks(ROOT / "README.md", "pycon").count(">>>") >= 8
    assert blocks(ROOT / "README.md", "console").count("$ simplipy") >= 2


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"

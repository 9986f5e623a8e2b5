"""Runs the command line in this process: a process of its own costs a second for each call."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import pytest

import flash_ansr.cli
from simplipy import cli
from simplipy.cli.terminal import console


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Done:
    """`simplipy` with these arguments, on a screen of 100 columns."""
    console().width = 100
    return _called(cli.main, ["simplipy", *arguments])


def run_flash_ansr(*arguments: str) -> Done:
    """`flash-ansr` with these arguments, on a screen of 100 columns."""
    console().width = 100
    return _called(flash_ansr.cli.main, ["flash-ansr", *arguments])


def _called(main: Callable[[], None], argv: list[str]) -> Done:
    out, err = io.StringIO(), io.StringIO()
    patched = mock.patch.object(sys, "argv", argv)
    with patched, redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        main()
    return Done(end.value.code or 0, out.getvalue(), err.getvalue())

"""Runs the command line in this process: a process of its own costs a second for each call."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import pytest

from simplipy import cli


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Done:
    """`simplipy` with these arguments, on a screen of 100 columns."""
    out, err = io.StringIO(), io.StringIO()
    cli.console.width = 100
    argv = mock.patch.object(sys, "argv", ["simplipy", *arguments])
    with argv, redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        cli.main()
    return Done(end.value.code or 0, out.getvalue(), err.getvalue())

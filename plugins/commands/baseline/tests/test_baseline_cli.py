"""`baseline` where there is nothing yet."""

from __future__ import annotations

import pytest

from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e


def test_no_baselines(program: Program) -> None:
    """It is said, and is no error; the document is empty."""
    done = program("baseline", "list")
    assert (done.code, done.verdict) == (0, "0 baselines here")
    assert program("baseline", "list", "--json").document["baselines"] == []


def test_nothing_to_keep(program: Program) -> None:
    """Without a stored run, and with a name that is none, both problems are told."""
    done = program("baseline", "save", "main")
    assert (done.code, "no runs are stored" in done.stderr) == (2, True)
    assert "cannot be the name of a baseline" in program("baseline", "save", "a/b").stderr

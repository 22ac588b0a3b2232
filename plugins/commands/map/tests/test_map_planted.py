"""Shadowing that was planted is found among many skills, little else is called, and sessions grow with the skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted import QUERIES, plant

from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

AGENT = Path(__file__).with_name("choosing_agent.py")
RUNS = 3
MOST_FALSE = 2


def mapped(program: Program, *words: str | Path) -> dict[str, Any]:
    """Make a map with the choosing agent."""
    agent = ("--plugin", AGENT, "--engine", "choosing", "--sandbox", "local", "--store", "none", "--concurrency", "8")
    done = program("map", *words, *agent, "--json", timeout_s=1800)
    assert done.code == 0, done.stdout + done.stderr
    return dict(done.document)


def called(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the pairs that the map calls."""
    return {
        (pair["skill"], pair["query_of"]) for pair in document["pairs"] if pair["relation"] in ("shadows", "subsumes")
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", [15, 30, 60])
def test_planted_shadowing_is_found(program: Program, work: Path, number: int) -> None:
    """All planted pairs are called, at most two others, and no skill takes more sessions than in a small catalogue.

    Each of 15, 30 and 60 skills asks its queries three times; each shadowed one asks them again with everything
    installed and with at most two suspects left out. So the sessions of a skill stay below one bound.
    """
    pairs = plant(work / "skills", number)
    document = mapped(program, "skills")
    assert called(document) >= pairs
    assert len(called(document) - pairs) <= MOST_FALSE
    sessions = document["sessions"]
    assert sessions["screening"] == number * QUERIES * RUNS
    # A pair in fifteen skills is planted, and noise adds few suspects: half as many sessions more at most.
    assert sessions["leave_one_out"] <= sessions["screening"] / 2
    shadowed = {row["name"]: row["action"] for row in document["skills"] if row["name"] in {two for _, two in pairs}}
    assert set(shadowed.values()) <= {"merge", "sharpen the description"}

"""Skills that are installed beside the one under test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import SkillRole, Suite

from .conftest import Load, Write

Faults = Callable[..., list[tuple[str, int | None, str]]]
QUERIES = [{"query": "q", "should_trigger": True}]


@pytest.fixture
def add(write: Write) -> Callable[..., Path]:
    """Makes a skill in a folder, with a trigger set if one is asked for."""

    def make(folder: str, *, name: str = "", queries: bool = False) -> Path:
        called = name or folder.rpartition("/")[2]
        if queries:
            write(f"{folder}/evals/triggers.json", QUERIES)
        return write(f"{folder}/SKILL.md", f"---\nname: {called}\ndescription: About {called}.\n---\n").parent

    return make


def present(suite: Suite) -> dict[str, list[str]]:
    """What each arm installs."""
    return {arm.name: [skill.name for skill in arm.skills] for arm in suite.arms}


def test_both_arms_have_the_same_neighbours(skill: Callable[..., Path], add: Callable[..., Path], load: Load) -> None:
    """Arms still differ by the skill under test alone; what gives answers away is left out of neighbours, too."""
    root = skill({"prompt": "p", "assertions": ["a"]})
    add("shelf/apples", queries=True)
    add("pears")
    (suite,) = load(root, with_skills=["shelf", "pears"]).suites
    assert present(suite) == {"with_skill": ["tables", "apples", "pears"], "without_skill": ["apples", "pears"]}
    apples = suite.arms[0].skills[1]
    assert (apples.role, apples.leaves_out) == (SkillRole.DISTRACTOR, ("evals",))


def test_a_neighbour_is_not_said_to_be_absent(skill: Callable[..., Path], add: Callable[..., Path], load: Load) -> None:
    """An eval may expect a skill that is installed beside the one under test; what is checked is told all the same."""
    root = skill({"prompt": "p", "assertions": ["a"], "expected_skill": "pears"})
    add("pears")
    (suite,) = load(root, with_skills=["pears"]).suites
    assert present(suite)["with_skill"] == ["tables", "pears"]
    (told,) = [warning.message for warning in suite.warnings if warning.code == "suite.other-skill"]
    assert told == "expected_skill is 'pears': checked is that 'tables' does not fire, not that 'pears' does"


def test_queries_are_asked_in_both_directions(add: Callable[..., Path], load: Load) -> None:
    """The queries of a neighbour are asked beside the skill under test; each suite has its own skill as candidate."""
    root = add("apples", queries=True)
    add("shelf/pears", queries=True)
    add("shelf/plums")
    loaded = load(root, with_skills=["shelf"])
    assert [(suite.name, present(suite)["with_skill"]) for suite in loaded.suites] == [
        ("apples", ["apples", "pears", "plums"]),
        ("pears", ["pears", "plums", "apples"]),
    ]
    roles = [[skill.role for skill in suite.arms[0].skills] for suite in loaded.suites]
    assert roles == [[SkillRole.CANDIDATE, SkillRole.DISTRACTOR, SkillRole.DISTRACTOR]] * 2


def test_a_skill_is_no_neighbour_of_itself(add: Callable[..., Path], load: Load) -> None:
    """A whole shelf may be named, the skill under test with it."""
    root = add("shelf/apples", queries=True)
    add("shelf/pears")
    (suite,) = load(root, with_skills=["shelf"]).suites
    assert present(suite) == {"with_skill": ["apples", "pears"]}


def test_wrong_neighbours(add: Callable[..., Path], faults: Faults, tmp_path: Path) -> None:
    """All that cannot be installed is told before anything runs."""
    root = add("apples", queries=True)
    add("other/apples")
    (tmp_path / "empty").mkdir()
    found = faults(root, with_skills=["empty", "absent", "other"])
    assert [code for code, _, _ in found] == ["suite.no-skill", "suite.no-skill", "suite.duplicate-id"]
    assert "has the name of" in found[-1][2]

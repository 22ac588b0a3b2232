"""Input of evals that lies elsewhere in the repository of the suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import FileSpec, LoadRequest, SuiteError, located_all
from skillgauge_testkit import FORMATS, Maker

FORMAT = Maker(FORMATS, "skillgauge_format_agent_skills.plugin")()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a skill deep in it, and data of tests far from that."""
    root = tmp_path / "repo"
    for path, text in (
        (".git/config", "[remote]\nurl = https://user:password@host/\n"),
        ("plugins/boats/skills/fold/SKILL.md", "---\nname: fold\ndescription: Use when folding.\n---\nFold.\n"),
        ("tests/data/paper.txt", "A4"),
        ("tests/data/more/card.txt", "A5"),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (tmp_path / "outside.txt").write_text("x")
    return root


def files(repository: Path, *given: dict[str, Any] | str) -> tuple[FileSpec, ...]:
    """Load a suite with these files, and return what its workspace gets."""
    suite = repository / "plugins/boats/skills/fold/evals/evals.json"
    suite.parent.mkdir(exist_ok=True)
    suite.write_text(json.dumps({"evals": [{"id": 1, "prompt": "Fold.", "files": given, "expectations": ["Folded."]}]}))
    (loaded,) = FORMAT.load(LoadRequest(paths=(str(suite),), cwd=str(repository))).suites
    (case,) = loaded.cases
    return case.files


def test_a_source_elsewhere_in_the_repository(repository: Path) -> None:
    """R3-W-15: a file that says where it goes may come from anywhere in the repository, and so may a folder."""
    found = files(
        repository,
        {"path": "paper.txt", "source": "../../../../../tests/data/paper.txt"},
        {"path": "all", "source": "../../../../../tests/data"},
    )
    assert [(one.path, Path(str(one.source)).read_text()) for one in found] == [
        ("paper.txt", "A4"),
        ("all/more/card.txt", "A5"),
        ("all/paper.txt", "A4"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"path": "a", "source": "../../../../../../outside.txt"},
        {"path": "a", "source": "../../../../../.git/config"},
        {"path": "../a", "source": "../../../../../tests/data/paper.txt"},
        "../../../../../tests/data/paper.txt",
    ],
    ids=["outside", "of git", "out of the workspace", "without a place"],
)
def test_what_stays_out(repository: Path, given: dict[str, Any] | str) -> None:
    """Nothing comes from outside the repository or from git's own files, and nothing goes out of the workspace."""
    with pytest.raises(SuiteError, match="leads out of the skill's folder") as error:
        files(repository, given)
    (problem,) = located_all(error.value.problems)
    assert problem.span is not None
    assert problem.span.line == 1


def test_without_a_repository(repository: Path) -> None:
    """Nobody says where a suite ends that is in no repository, so it ends with its skill."""
    (repository / ".git/config").unlink()
    (repository / ".git").rmdir()
    with pytest.raises(SuiteError, match="leads out"):
        files(repository, {"path": "a", "source": "../../../../../tests/data/paper.txt"})

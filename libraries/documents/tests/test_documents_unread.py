"""What is said of files that are named like suites and are none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillgauge_documents.unread import MOST, unread

ANNOUNCED = ("tasks.instruction", "cases.name", "cases.question", "evalcases.id", "list.query", "stimuli")


def told(path: Path) -> list[tuple[str, int | None, int | None, str]]:
    """File, place and all words of what is said."""
    found = unread(path, ["b", "a"], ANNOUNCED)
    return [(Path(file).name, one.line, one.column, f"{one.message} {one.hint or ''}") for file, one in found]


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "words"),
    [
        ("eval.yaml", "cases:\n  - [", 3, 1, "cannot be read"),
        ("evals.json", '{"cases": [\n  {]}', 2, 4, "cannot be read"),
        (
            "eval.json",
            '{"version": 1,\n "tasks": [{"instructions": "b"}]}',
            2,
            2,
            "list 'tasks' of items with 'instruct",
        ),
        ("queries.json", '[{"querys": "b"}]', 1, 1, "a list of items with 'query'"),
        (
            "eval.yaml",
            "schema: 1\ncases: [{id: a, prompt: b}]",
            2,
            1,
            "a list 'cases' of items with 'name' or 'question'",
        ),
        ("eval.yaml", "cases: [{questoin: b}]", 1, 1, "a list 'cases' of items with 'question'."),
        ("eval.yaml", "stimulli: [a]", 1, 1, "an object with 'stimuli'."),
        ("trigger.yaml", "mood: good", 1, 1, "Known shapes: cases.name, cases.question, evalcases.id, list.query"),
        ("eval.yaml", "just text", 1, 1, "no object and no list"),
    ],
)
def test_the_place_and_the_nearest_shape(
    tmp_path: Path, name: str, text: str, line: int, column: int, words: str
) -> None:
    """A broken file is told by its own fault, another by the shape that it nearly has, however it is named."""
    file = tmp_path / "suites" / name
    file.parent.mkdir()
    file.write_text(text)
    ((found, *place, said),) = told(tmp_path)
    assert (found, place, words in said) == (name, [line, column], True), said
    assert told(file) == told(tmp_path)


@pytest.mark.parametrize("text", ["version: 1\ncases: [{question: a}]\n", "question: a\ncases: {files: [a]}\n"])
def test_a_suite_under_another_name(tmp_path: Path, text: str) -> None:
    """What has all that a format is known by, its keys in each other or side by side, needs its format alone."""
    (tmp_path / "eval-more.yaml").write_text(text)
    ((_, line, column, said),) = told(tmp_path)
    assert (line, column) == (2, 1)
    assert "It has 'cases' and 'question': name the format of that, with --suite-format NAME" in said


@pytest.mark.parametrize("name", ["notes.json", "eval.py", "eval-results.json", ".eval.yaml", "skill.schema.json"])
def test_other_files_are_no_suites(tmp_path: Path, name: str) -> None:
    """Without a file that is named like a suite it is said who was asked."""
    (tmp_path / name).write_text("[")
    ((found, line, _, said),) = told(tmp_path)
    assert (found, line) == (tmp_path.name, None)
    assert "(installed: a, b)" in said


def test_not_all_of_many(tmp_path: Path) -> None:
    """Of many files the nearest are told."""
    for number in range(2 * MOST):
        (tmp_path / f"eval-{number}.yaml").write_text("[")
    (tmp_path / "eval.yaml").write_text("[")
    assert len(told(tmp_path)) == MOST


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skill whose evals nobody may look at is not said to have none."""
    (tmp_path / "SKILL.md").write_text("---\nname: s\n---\n")
    closed = tmp_path / "evals"
    closed.mkdir()
    iterdir = Path.iterdir

    def refusing(self: Path) -> Iterator[Path]:
        if self == closed:
            raise PermissionError(13, "Permission denied")
        return iterdir(self)

    monkeypatch.setattr(Path, "iterdir", refusing)
    ((found, line, _, said),) = told(tmp_path)
    assert (found, line) == ("evals", None)
    assert said.startswith("this folder cannot be read: Permission denied")


def test_a_test_in_python_is_pointed_to_python(tmp_path: Path) -> None:
    """R3-F28: whoever comes with tests of Inspect or DeepEval learns how such tests evaluate here."""
    file = tmp_path / "my_test.py"
    file.write_text("from inspect_ai import Task\n")
    ((_, fault),) = unread(file, ["agent-skills"], [])
    assert fault.hint is not None
    assert "`skillgauge.evaluate()`" in fault.hint
    assert "pytest" in fault.hint

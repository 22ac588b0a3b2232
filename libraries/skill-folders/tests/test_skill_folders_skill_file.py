"""Reading SKILL.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Severity, SuiteError, located_all
from skillgauge_skill_folders import Skill, find_skill, read_skill
from skillgauge_skill_folders.skill_file import _by_lines, _divide

GOOD = """---
name: pdf-forms
description: Fill in forms. Use when there is a form.
license: MIT
compatibility: Needs Python.
metadata:
  version: "2.1"
allowed-tools: Bash Read
---

# Forms

---
A line of hyphens ends nothing here.
"""


def skill(folder: Path, text: str, name: str = "pdf-forms") -> Skill:
    """A skill with this SKILL.md."""
    root = folder / name
    root.mkdir()
    (root / "SKILL.md").write_text(text, encoding="utf-8")
    return read_skill(root)


def told(skill: Skill) -> list[tuple[str, int | None, str]]:
    """Warnings with their lines."""
    assert all(one.severity is Severity.WARNING for one in skill.warnings)
    return [(one.code, one.span.line if one.span else None, one.message) for one in located_all(skill.warnings)]


def test_a_skill_that_keeps_all_rules(tmp_path: Path) -> None:
    """Everything is read, nothing is said."""
    found = skill(tmp_path, GOOD)
    assert (found.name, found.version, found.warnings) == ("pdf-forms", "2.1", ())
    assert found.description == "Fill in forms. Use when there is a form."
    assert found.body.startswith("\n# Forms\n\n---\nA line")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("name: pdf-forms", "name: PDF forms", 2, "may have lower-case letters"),
        ("name: pdf-forms", "name: pdf--forms", 2, "two in a row"),
        ("name: pdf-forms", f"name: {'a' * 65}", 2, "may have 64 characters"),
        ("name: pdf-forms", "name: pdf", 2, "is not that of the folder, 'pdf-forms'"),
        ("name: pdf-forms\n", "", 2, "that of the folder is taken"),
        ("description: Fill in forms. Use when there is a form.", f"description: {'x' * 1025}", 3, "may have 1024"),
        ("description: Fill in forms. Use when there is a form.", "description: ' '", 3, "there is no description"),
        ("description: Fill in forms. Use when there is a form.", "description: [a]", 3, "must be text"),
        ("compatibility: Needs Python.", f"compatibility: {'x' * 501}", 5, "may have 500"),
        ('version: "2.1"', "version: 2.1", 6, "must map texts to texts"),
        ("license: MIT", "licence: MIT", 4, "'licence' (did you mean license?)"),
    ],
)
def test_broken_rules_have_lines(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    """A rule of the specification that is broken is a warning at its line, and the skill is read all the same."""
    assert old in GOOD
    warnings = told(skill(tmp_path, GOOD.replace(old, new)))
    assert any(at == line and message in text for _, at, text in warnings), warnings


def test_keys_of_single_agents_are_known(tmp_path: Path) -> None:
    """What some agents understand is not called unknown."""
    assert not told(skill(tmp_path, GOOD.replace("license: MIT", "model: opus\nwhen_to_use: always")))


def test_front_matter_that_is_no_yaml(tmp_path: Path) -> None:
    """A colon in the description spoils YAML for strict readers only; the warning has the line."""
    found = skill(tmp_path, GOOD.replace("Use when", "Note: use when"))
    assert (found.name, found.description) == ("pdf-forms", "Fill in forms. Note: use when there is a form.")
    ((code, line, message),) = told(found)
    assert (code, line) == ("document.syntax", 3)
    assert "agents may pass over the skill" in message


def test_no_front_matter(tmp_path: Path) -> None:
    """Without front matter the folder gives the name, and the warning says what to write."""
    for text in ("# Forms\n", "", "---\nname: x\n"):
        folder = tmp_path / str(len(text))
        folder.mkdir()
        found = skill(folder, text)
        assert (found.name, found.description) == ("pdf-forms", "")
        assert [warning.code for warning in found.warnings] == ["suite.skill-front-matter"]
    listed = folder / "list"
    listed.mkdir()
    assert told(skill(listed, "---\n- a\n---\n"))[0][0] == "suite.skill-front-matter"


@pytest.mark.parametrize("data", [None, b"---\nname: \xff\n---\n", b"x" * (4 * 1024 * 1024 + 1)])
def test_unusable_files(tmp_path: Path, data: bytes | None) -> None:
    """A file that is absent, no text or too large is an error that names it."""
    if data is not None:
        (tmp_path / "SKILL.md").write_bytes(data)
    with pytest.raises(SuiteError, match=r"SKILL\.md"):
        read_skill(tmp_path)


def test_a_name_that_is_a_path(tmp_path: Path) -> None:
    """A skill is installed in a folder of its name, so the name must not lead elsewhere."""
    for name in ("../../x", "a/b", ".."):
        (tmp_path / "SKILL.md").write_text(f"---\nname: {name}\n---\n")
        with pytest.raises(SuiteError, match="cannot be that of a folder"):
            read_skill(tmp_path)


def test_find_skill(tmp_path: Path) -> None:
    """The skill of a suite is the folder beside it, or the one around its `evals/`."""
    deep = tmp_path / "skill/evals/sets/a.json"
    deep.parent.mkdir(parents=True)
    (tmp_path / "skill/SKILL.md").touch()
    assert find_skill(tmp_path / "skill/evals/evals.json") == tmp_path / "skill"
    assert find_skill(tmp_path / "skill") == tmp_path / "skill"
    assert find_skill(deep) is None


@pytest.mark.slow
@given(st.text())
def test_any_text_can_be_divided(text: str) -> None:
    """Nothing is lost, and lines keep their numbers."""
    head, body = _divide(text)
    assert body in text
    assert text.startswith(head)
    _by_lines(head)

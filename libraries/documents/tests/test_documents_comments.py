"""Texts of YAML that end at a comment which was hardly meant as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from skillgauge_documents import cut_texts
from skillgauge_documents.yaml_parts import events as yaml_events


@dataclass(frozen=True)
class Value:
    """A value in a file."""

    file: str
    pointer: tuple[str | int, ...] = ()


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With the parser in C, and where that is absent."""
    yaml_events.loader_class.cache_clear()
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    yield str(request.param)
    yaml_events.loader_class.cache_clear()


def cuts(tmp_path: Path, text: str, *pointer: str | int, name: str = "a.yaml") -> list[str]:
    """Place of each comment that is told, with what is said to be read."""
    file = tmp_path / name
    file.write_bytes(text.encode())
    found = list(cut_texts([Value(str(file), pointer), Value(str(file), pointer)]))
    assert all(path == str(file) and fault.code == "cut-text" and fault.hint for path, fault in found)
    return [f"{fault.line}:{fault.column} {fault.message.partition(' only ')[2]}" for _, fault in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Mentions issue #42 in the body\n", "1:18 'Mentions issue' is read"),
        ("- Mentions #42\n", "1:12 'Mentions' is read"),
        ("a:\r\n  b: Posts to   #general\r\n", "2:17 'Posts to' is read"),
        ("- Begins with # Title\n", "1:15 'Begins with' is read"),
        ("- Has a ## Setup\n", "1:9 'Has a' is read"),
        ("- über \U0001f6a2 boats #1\n", "1:16 'über \U0001f6a2 boats' is read"),
        ("- Goes on\n  to issue #42\n", "2:12 'Goes on to issue' is read"),
        ("- #42 is named\n", "1:3 "),
    ],
)
def test_a_comment_that_was_hardly_meant(tmp_path: Path, parser: str, text: str, expected: str) -> None:
    """R3-W-13: no blank follows the `#`, or a single one is between it and a sentence; the place is that of the `#`."""
    assert cuts(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        '- "Mentions issue #42"\n',
        "- 'Mentions issue #42'\n",
        "- |\n  Mentions issue #42\n",
        "- Mentions issue#42\n",
        "- Folds a boat  # from the manual\n",
        "- Folds a boat\n# from the manual\n  #and more\n",
        "type: contains # or regex\n",
        "timeout: 30 #seconds\n",
        "is_done: yes #really\n",
        "tasks: #all of them\n  - a\n",
        "a: [\n",
    ],
)
def test_what_is_whole_and_what_is_a_comment(tmp_path: Path, parser: str, text: str) -> None:
    """Quotes and blocks keep a `#`; a comment in the usual style is one, and so is any behind a number or a word."""
    assert cuts(tmp_path, text) == []


def test_only_the_named_values_are_looked_into(tmp_path: Path) -> None:
    """Texts beside them are none of the caller's, and neither are files that are no YAML, or are gone."""
    text = "note: See issue #1\ncases:\n  - says: See issue #2\n  - says: See issue #3\n"
    assert cuts(tmp_path, text, "cases", 1) == ["4:21 'See issue' is read"]
    assert cuts(tmp_path, text, "cases") == ["3:21 'See issue' is read", "4:21 'See issue' is read"]
    assert cuts(tmp_path, text, name="a.yml") == [f"{line} 'See issue' is read" for line in ("1:17", "3:21", "4:21")]
    assert cuts(tmp_path, text, name="a.txt") == []
    assert list(cut_texts([Value(str(tmp_path / "gone.yaml"))])) == []


def test_a_long_text_is_shown_from_its_end(tmp_path: Path) -> None:
    """What stands right before the comment is what a reader looks for."""
    (told,) = cuts(tmp_path, f"- {'word ' * 50}issue #42\n")
    assert "word issue' is read" in told
    assert len(told) < 100

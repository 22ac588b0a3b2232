"""From changed files to suites, with formats that claim what they are told to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge.cli.options import names_apart, wants_json
from skillgauge.evaluation.selection import around


class Claims:
    """A format that claims some paths."""

    def __init__(self, *paths: Path) -> None:
        self.paths = paths
        self.asked: list[Path] = []

    def claim(self, path: Path) -> Any:
        """Whether it does; asked of one path once."""
        assert path not in self.asked
        self.asked.append(path)
        return True if path in self.paths else None


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two skills, one within a package, and a suite that is a file."""
    for name in ("pack/skills/a/evals/one.json", "pack/README", "b/SKILL.md", "b/x.py", "loose.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (("b/SKILL.md", "b/x.py", "b/gone/deep.txt"), ("b",)),
        (("b",), ("b",)),
        (("pack/skills/a/evals/one.json",), ("pack/skills/a",)),
        (("pack/README",), ("pack",)),
        (("pack/skills/a/evals/one.json", "pack/README"), ("pack",)),
        (("loose.yaml",), ("loose.yaml",)),
        (("README.md", "c/d"), ()),
        (("b/../loose.yaml", "b/x.py"), ("b", "loose.yaml")),
    ],
)
def test_nearest_claimed_place(tree: Path, files: tuple[str, ...], found: tuple[str, ...]) -> None:
    """The nearest folder, then the file; what lies within another is checked with it, and nothing is asked twice."""
    formats: Mapping[str, Any] = {"f": Claims(tree / "pack", tree / "pack/skills/a", tree / "b", tree / "loose.yaml")}
    assert around([tree / file for file in files], formats, tree) == tuple(tree / one for one in found)


def test_no_further_than_here(tree: Path) -> None:
    """A folder above the working directory is nobody's business."""
    formats: Mapping[str, Any] = {"f": Claims(tree)}
    assert around([tree / "b/x.py"], formats, tree / "b") == ()
    assert formats["f"].asked == [tree / "b", tree / "b/x.py"]


@pytest.mark.parametrize(
    ("words", "apart"),
    [
        ("--strict --around a --plugin=x.py", "--strict --around -- a --plugin=x.py"),
        ("--around -- a --around -c", "--around -- a --around -c"),
        ("--around a -- --json", "--around -- a -- --json"),
        ("--around", "--around --"),
        ("--around --", "--around --"),
        ("-- --around a", "-- --around a"),
        ("--lint --around a", "--lint --around -- a"),
        ("my-skill --json", "my-skill --json"),
        ("", ""),
    ],
)
def test_every_word_after_around_is_a_name(words: str, apart: str) -> None:
    """The end of the options is marked after the first `--around`, unless it is marked already."""
    assert names_apart(words.split()) == apart.split()


def test_a_name_of_a_file_asks_for_no_json() -> None:
    """Errors are JSON if the option says so, and not if a changed file is called like it."""
    assert wants_json(["validate", "--json", "--around", "a"])
    assert not wants_json(["validate", "--around", "--json"])

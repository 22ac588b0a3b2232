"""What of a command line is watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import SkillgaugeError
from skillgauge_command_watch.sources import Sources, places


class Call:
    """A command line in a folder, where suites lie in other folders."""

    def __init__(self, cwd: Path, *suites: Path) -> None:
        self.cwd, self._suites = cwd, suites

    def suites(self, *paths: Path) -> object:
        """The suites, unless there are none."""
        if not self._suites:
            raise SkillgaugeError([])
        return type("Suites", (), {"suites": [_suite(root) for root in self._suites]})


def _suite(root: Path) -> object:
    return type("Suite", (), {"root": str(root), "targets": [type("Target", (), {"root": None})]})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Skills, a script, and folders that runs write."""
    for name in ("skills/a/SKILL.md", "elsewhere/b.yaml", "mock.yaml", "out/report", "plug.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def found(call: Call, *words: str, paths: tuple[str, ...] = ()) -> tuple[set[str], set[str]]:
    """Folders and files, from the working directory."""
    folders, files = places(call, paths, words, frozenset({call.cwd / "out"}))  # type: ignore[arg-type]
    return {str(one.relative_to(call.cwd)) for one in folders}, {str(one.relative_to(call.cwd)) for one in files}


CONFIGURATION = {"skillgauge.config.yaml", "pyproject.toml"}


def test_what_is_named_and_where_suites_lie(tree: Path) -> None:
    """Paths, paths in options, the folders of suites; not what runs write, nor what lies within another folder."""
    call = Call(tree, tree / "elsewhere")
    words = ("skills", "--set", "engines.mock.script=mock.yaml", "--plugin=plug.py,gone.py", "--output-dir", "out")
    assert found(call, *words, "skills/a/SKILL.md", paths=("skills", "greet")) == (
        {"skills", "elsewhere"},
        {"mock.yaml", "plug.py"} | CONFIGURATION,
    )


def test_here(tree: Path) -> None:
    """Without a path it is the working directory, configuration and all; suites may be broken for now."""
    assert found(Call(tree), "-k", "greet", paths=("greet",)) == ({"."}, set())


@pytest.mark.parametrize("word", ["x" * 5_000, "é" * 1_000, "a\0b", "=", ",", "--set=a=b=,c"])
def test_words_that_are_no_paths(tree: Path, word: str) -> None:
    """Whatever a word holds, it is no fault."""
    assert found(Call(tree), word, paths=("skills",)) == ({"skills"}, CONFIGURATION)


@pytest.mark.slow
def test_changes_are_told_once(tree: Path) -> None:
    """From the moment of watching, of a file in a folder and of one alone; not of its neighbours, nor of reports."""
    left_out = frozenset({tree / "skills/out"})
    sources = Sources({tree / "skills"}, {tree / "mock.yaml", tree / "gone/x.yaml"}, left_out, tree)
    (tree / "skills/out").mkdir()
    (tree / "skills/out/report").touch()
    (tree / "plug.py").write_text("changed")
    (tree / "skills/a/SKILL.md").write_text("changed")
    assert sources.wait() == {"skills/a/SKILL.md"}
    (tree / "mock.yaml.new").write_text("changed")
    (tree / "mock.yaml.new").rename(tree / "mock.yaml")
    assert sources.wait() == {"mock.yaml"}
    assert sources.told == "skills"

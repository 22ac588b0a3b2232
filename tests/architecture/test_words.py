"""The count of odd docstrings and names finds them, and nothing else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program of CI as a module."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    spec = importlib.util.spec_from_file_location("words", ROOT / ".ci/words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "words", module)
    spec.loader.exec_module(module)
    return module


def counted(words: ModuleType, path: Path, source: str) -> tuple[list[str], int, list[str], int]:
    """The odd docstrings and names of a module, each beside the number of all."""
    path.write_text(source)
    relative, docstrings, vague, names = words.shares([path])
    return [place.text for place in relative], docstrings, [place.text for place in vague], names


def test_docstrings_with_a_relative_opening(words: ModuleType, tmp_path: Path) -> None:
    """Those of modules, classes and functions are counted, by their first word alone."""
    source = '''"""What this module holds."""
class Row:
    """The row of a table; what is in it is text."""
    def is_empty(self):
        """Whether it is empty."""
    def text(self):
        """Return what it holds."""
def plain():
    return "Whether"
'''
    odd, docstrings, _, _ = counted(words, tmp_path / "module.py", source)
    assert (sorted(odd), docstrings) == (["What this module holds.", "Whether it is empty."], 4)


def test_vague_names_in_scopes_that_are_not_short(words: ModuleType, tmp_path: Path) -> None:
    """Arguments, targets and functions are counted; a scope of three lines or less has room for any name."""
    source = """
def long(found, rows):
    told = []
    for one in rows:
        told.append([one for one in found])
    return told

def short(found):
    one = found
    return one

class Row:
    def _told(self): return 1

    def __call__(self): return 2
"""
    _, _, vague, names = counted(words, tmp_path / "module.py", source)
    assert (sorted(vague), names) == (["_told", "found", "one", "told"], 9)


def test_a_share_that_rises_is_refused(
    words: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check fails and names the page that says what to write instead."""
    path = tmp_path / "module.py"
    path.write_text('"""What this holds."""\n')
    monkeypatch.setattr(words, "shares", lambda paths: ([object()], 1, [], 1))
    assert words.main([str(path)]) == 1
    assert "CONTRIBUTING.md" in capsys.readouterr().err

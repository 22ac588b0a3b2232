"""One suite for each file: named, found by searching, in a folder, and bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import Loaded, LoadRequest, Problem, Suite, SuiteError
from skillgauge_skill_folders import load_each


def read(file: Path) -> Suite:
    """A suite whose id is what the file says; a file that says nothing is bad."""
    if not (text := file.read_text()):
        raise SuiteError(Problem("suite.empty", file.name))
    return Suite(id=text, format="f", root="/")


def loaded(*paths: Path, searched: tuple[Path, ...] = ()) -> Loaded:
    """What comes of these paths."""
    request = LoadRequest(paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd="/")
    return load_each(request, ("a.yaml", "b.yaml"), read)


def test_each_file_once(tmp_path: Path) -> None:
    """Named twice, or by its folder, in which the preferred name wins."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(name)
    found = loaded(tmp_path / "b.yaml", tmp_path, tmp_path / "." / "b.yaml", searched=(tmp_path / "a.yaml",))
    assert [suite.id for suite in found.suites] == ["b", "a"]


def test_bad_files(tmp_path: Path) -> None:
    """One that was named ends it all, and is told once; one that was found is told."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("good")
    bad.write_text("")
    found = loaded(good, searched=(bad,))
    assert ([suite.id for suite in found.suites], [one.message for one in found.problems]) == (["good"], ["bad.yaml"])
    with pytest.raises(SuiteError) as caught:
        loaded(bad, searched=(bad,))
    assert [one.message for one in caught.value.problems] == ["bad.yaml"]

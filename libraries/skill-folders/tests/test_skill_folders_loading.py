"""One suite for each file: named, found by searching, in a folder, and bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import Loaded, LoadRequest, Problem, Suite, SuiteError
from skillgauge_skill_folders import load_each, object_in


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


def test_what_a_format_looks_at(tmp_path: Path) -> None:
    """The object in a file of the name; whatever else there may be is nothing to it, and raises nothing."""
    file = tmp_path / "a.yaml"
    file.write_text("tasks: [{id: 1}]\n")
    assert object_in(file, ("a.yaml",)) == {"tasks": ({"id": 1},)}
    assert object_in(file, ("b.yaml",)) is None
    for text in (b"- 1\n", b"a: [\n", b"\xff\xfe\x00", b"a: 1\na: 2\n", b"a: " + b"[" * 3000):
        file.write_bytes(text)
        assert object_in(file, ("a.yaml",)) is None, text[:20]
    assert object_in(tmp_path / "absent" / "a.yaml", ("a.yaml",)) is None
    (tmp_path / "b.yaml").mkdir()
    assert object_in(tmp_path / "b.yaml", ("b.yaml",)) is None

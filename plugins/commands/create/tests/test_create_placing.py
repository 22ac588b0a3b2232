"""A folder appears whole or not at all, and never instead of something."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from skillgauge.api import UsageError
from skillgauge_command_create.placing import obstacle, place

from .conftest import tree

FILES = {"skill.json": b"{}", "tests/basic.eval.json": b"[]"}
CONTENT = {"skill.json": b"{}", "tests": None, "tests/basic.eval.json": b"[]"}


def test_folders_above_are_made(tmp_path: Path) -> None:
    """The whole path appears, and nothing beside it."""
    place(FILES, tmp_path / "a" / "b" / "skill")
    assert tree(tmp_path / "a" / "b" / "skill") == CONTENT
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["skill"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    """Who has made the folder beforehand is not punished for it."""
    (tmp_path / "skill").mkdir()
    assert obstacle(tmp_path / "skill") is None
    place(FILES, tmp_path / "skill")
    assert tree(tmp_path / "skill") == CONTENT


def test_what_is_there_stays(tmp_path: Path) -> None:
    """A file, a link, and a folder with as much as one hidden file are each refused and left as they are."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".notes").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dangling").symlink_to("nowhere")
    before = tree(tmp_path)
    for name, says in (("file", "no folder"), ("folder", ".notes"), ("link", "no folder"), ("dangling", "no folder")):
        with pytest.raises(UsageError) as caught:
            place(FILES, tmp_path / name)
        (problem,) = caught.value.problems
        assert problem == obstacle(tmp_path / name)
        assert problem.code == "create.exists"
        assert says in problem.message
    assert tree(tmp_path) == before


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    """The message names a few of the files that are in the way and counts the rest."""
    for number in range(9):
        (tmp_path / f"{number}.txt").touch()
    problem = obstacle(tmp_path)
    assert problem is not None
    assert problem.message.endswith("holds 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 4 more")


@pytest.mark.skipif(os.geteuid() == 0, reason="for root every folder is readable")
def test_a_closed_folder_is_an_obstacle(tmp_path: Path) -> None:
    """A folder that cannot be looked into might hold something."""
    (tmp_path / "skill").mkdir(mode=0o300)
    problem = obstacle(tmp_path / "skill")
    assert problem is not None
    assert "Permission denied" in problem.message


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    """If the second file cannot be written, the first is not there either."""
    with pytest.raises(UsageError) as caught:
        place({"tests": b"a file", "tests/basic.eval.json": b"in it"}, tmp_path / "skill")
    assert caught.value.problems[0].code == "usage.unwritable"
    assert tree(tmp_path) == {}


def test_a_file_above_is_named(tmp_path: Path) -> None:
    """Where a file stands in the place of the output folder, the message says which."""
    (tmp_path / "skills").write_text("mine")
    with pytest.raises(UsageError) as caught:
        place(FILES, tmp_path / "skills" / "skill")
    (problem,) = caught.value.problems
    assert problem.code == "usage.unwritable"
    assert problem.message.endswith(str(tmp_path / "skills"))


def test_of_two_at_the_same_time_one_wins(tmp_path: Path) -> None:
    """The folder holds the files of exactly one of them; the others are told."""
    together = Barrier(8)

    def attempt(number: int) -> str:
        together.wait(10)
        try:
            place(FILES | {"who": str(number).encode()}, tmp_path / "skill")
        except UsageError as error:
            return error.problems[0].code
        return "won"

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(attempt, range(8)))
    assert sorted(ends) == [*["create.exists"] * 7, "won"]
    assert tree(tmp_path / "skill") == CONTENT | {"who": str(ends.index("won")).encode()}
    assert [path.name for path in tmp_path.iterdir()] == ["skill"]

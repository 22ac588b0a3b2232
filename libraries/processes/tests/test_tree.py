"""Files of a workspace, whatever an agent has made of them."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillgauge.contract.sandboxes import SpoiledError
from skillgauge.types.suite import FileSpec
from skillgauge_processes import _tree, obstacles
from skillgauge_processes._guardian import remove
from skillgauge_processes._removing import remove_little
from skillgauge_processes._tree import (
    BYTES_AT_ONCE,
    FILES_AT_ONCE,
    Manifest,
    lay_anew,
    put_all,
    read_below,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="special files and modes are POSIX's")


def listed(root: Path) -> dict[str, str]:
    """Path to digest of all files."""
    manifest = Manifest(root)
    assert manifest.read()
    return manifest.digests


def test_sparse_and_huge_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 of a gigabyte each, with nothing on disk, cost nothing; a change of one is seen (T-S7)."""
    for number in range(60):
        with (tmp_path / f"s{number}").open("wb") as file:
            file.truncate(1 << 30)
    (tmp_path / "small").write_text("x")
    opened: list[str] = []
    plain = _tree._open_plain
    monkeypatch.setattr(_tree, "_open_plain", lambda path, flags: (opened.append(path), plain(path, flags))[1])
    before = listed(tmp_path)
    assert opened == [str(tmp_path / "small")]
    with (tmp_path / "s7").open("r+b") as file:
        file.write(b"x")
    after = listed(tmp_path)
    assert {path for path in before if before[path] != after[path]} == {"s7"}


def test_too_many_files_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves them is told so (T-S7)."""
    monkeypatch.setattr(_tree, "MOST_ENTRIES", 10)
    for number in range(10):
        (tmp_path / f"f{number}").touch()
    assert len(listed(tmp_path)) == 10
    (tmp_path / "one-more").mkdir()
    with pytest.raises(SpoiledError, match="more than 10 files"):
        listed(tmp_path)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed afterwards: pytest cannot remove what is nested so deeply."""
    folder = tmp_path / "deep"
    folder.mkdir()
    yield folder
    remove(folder)


def test_deep_folders_are_listed(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,500 of them, one in the other; where their path is too long, that is said (T-M1)."""
    before = Path.cwd()
    try:
        os.chdir(deep)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
        Path("file").write_text("x")
    finally:
        os.chdir(before)
    assert list(listed(deep)) == ["d/" * 1500 + "file"]
    monkeypatch.setattr(os, "scandir", _too_long)
    with pytest.raises(SpoiledError, match="too long"):
        listed(deep)


def _too_long(path: str) -> None:
    raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)


def test_a_removed_root_is_told(tmp_path: Path) -> None:
    """Nothing is read elsewhere because a link stands in its place."""
    root = tmp_path / "root"
    root.symlink_to("/")
    with pytest.raises(SpoiledError, match="removed the folder"):
        listed(root)
    assert "removed the folder" in obstacles(root)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_not_text_can_be_read(tmp_path: Path) -> None:
    """By the name that a snapshot gives them (T-M2)."""
    Path(os.fsdecode(bytes(tmp_path) + b"/bad\xff\xfename")).write_text("x")
    (tmp_path / r"\xff").write_text("plain")
    assert list(listed(tmp_path)) == [r"\xff", r"bad\xff\xfename"]
    assert read_below(tmp_path, r"bad\xff\xfename", 9) == b"x"
    assert read_below(tmp_path, r"\xff", 9) == b"plain"
    with pytest.raises(OSError, match=r"absent"):
        read_below(tmp_path, r"absent\xff", 9)


def test_folders_of_graders_are_emptied(tmp_path: Path) -> None:
    """Those that the case itself furnishes are left, but for what is in the way (T-S2, T-S3)."""
    root, aside = tmp_path / "root", tmp_path / "aside"
    (root / "scripts/json").mkdir(parents=True)
    (root / "scripts/json.py").write_text("shadow")
    (root / "data/check.sh").mkdir(parents=True)
    (root / "data/own.txt").write_text("work")
    files = [FileSpec(path="scripts/grade.py", text="grade"), FileSpec(path="data/check.sh", text="check")]
    moved = lay_anew(root, files, {"data/input.csv"}, aside)
    assert moved == ("scripts", "check.sh")
    assert sorted(listed(root)) == ["data/check.sh", "data/own.txt", "scripts/grade.py"]
    assert (aside / "0.scripts/json.py").read_text() == "shadow"


@pytest.mark.parametrize("link", ["answer.json", "a/b/answer.json"])
def test_links_to_graders_files_are_set_aside(tmp_path: Path, link: str) -> None:
    """Else an answer that leads to what is expected would be right."""
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / link).symlink_to(root / "scripts/expected.json")
    (root / "mine").symlink_to("a")
    lay_anew(root, [FileSpec(path="scripts/expected.json", text="42")], (), tmp_path / "aside")
    assert not (root / link).is_symlink()
    assert (root / "mine").is_symlink()


def test_what_cannot_be_moved_is_the_agents_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the machine stays one."""
    (tmp_path / "root/scripts").mkdir(parents=True)
    files = [FileSpec(path="scripts/grade.py", text="grade")]

    def refuse(number: int) -> None:
        def rename(*_arguments: object, **_options: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "rename", rename)

    refuse(1)
    with pytest.raises(SpoiledError, match="find no place"):
        lay_anew(tmp_path / "root", files, (), tmp_path / "aside")
    refuse(28)
    with pytest.raises(OSError, match="No space left"):
        lay_anew(tmp_path / "root", files, (), tmp_path / "aside")


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    """Neither with graders' files nor with others."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "scripts").symlink_to(outside)
    files = [FileSpec(path="scripts/grade.py", text="grade")]
    with pytest.raises(ValueError, match="crosses a link"):
        put_all(root, files)
    lay_anew(root, files, (), tmp_path / "aside")
    assert not list(outside.iterdir())
    assert (root / "scripts/grade.py").read_text() == "grade"


def test_what_is_removed_at_once(tmp_path: Path) -> None:
    """A few small files in some folders, and links, but nothing that a link leads to."""
    folder, outside = tmp_path / "w", tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").touch()
    (folder / "a/b").mkdir(parents=True)
    for number in range(FILES_AT_ONCE - 4):
        (folder / f"a/b/{number}").touch()
    (folder / "link").symlink_to(outside)
    (folder / "a/lost").symlink_to("nowhere")
    assert remove_little(folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine", "outside"]


@pytest.mark.parametrize("kind", ["many", "many folders", "large", "nowhere", "link", "closed"])
def test_what_is_not_removed_at_once(kind: str, tmp_path: Path) -> None:
    """Many or large files, and what is no folder or cannot be looked into; it is left where it is."""
    folder = tmp_path / "w"
    if kind != "nowhere":
        (folder / "a").mkdir(parents=True)
    if kind == "many":
        for number in range(FILES_AT_ONCE):
            (folder / f"a/{number}").touch()
    elif kind == "many folders":
        for number in range(FILES_AT_ONCE):
            (folder / f"a/{number}").mkdir()
    elif kind == "large":
        with (folder / "a/large").open("wb") as file:
            file.truncate(BYTES_AT_ONCE + 1)
    elif kind == "link":
        folder = tmp_path / "link"
        folder.symlink_to(tmp_path / "w")
    elif kind == "closed":
        (folder / "a").chmod(0)
    is_gone = remove_little(folder)
    assert is_gone is (kind == "closed" and os.getuid() == 0)  # whom no mode keeps out
    assert (tmp_path / "w").exists() is not (is_gone or kind == "nowhere")
    assert remove(folder)
    assert not os.path.lexists(folder)

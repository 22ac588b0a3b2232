"""Packing the files that an agent left, without a process."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from skillgauge_processes import _left

ROOM = 1024 * 1024


def test_a_folder_that_is_replaced_while_it_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that was entered is read, whatever an agent's process puts in its place meanwhile."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, text in ((root / "sub", "mine"), (outside, "secret")):
        folder.mkdir(parents=True)
        (folder / "text").write_text(text)
    stat_of = os.stat

    def swapping(path: str | int, **options: object) -> os.stat_result:
        if path == "text" and not (root / "sub").is_symlink():
            (root / "sub").rename(tmp_path / "away")
            (root / "sub").symlink_to(outside)
        return stat_of(path, **options)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(_left.os, "stat", swapping)
    files = _left.packed(root, ROOM)
    monkeypatch.undo()
    assert (root / "sub").is_symlink()
    assert [(file.path, file.content) for file in files if file.kind == "file"] == [("sub/text", b"mine")]


def test_a_file_that_is_replaced_by_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not followed: that is an error, as of anything that cannot be read."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root/text").write_text("mine")
    (tmp_path / "secret").write_text("secret")
    stat_of = os.stat

    def swapping(path: str | int, **options: object) -> os.stat_result:
        status = stat_of(path, **options)  # type: ignore[arg-type]  # as it was called
        if path == "text":
            (tmp_path / "root/text").unlink()
            (tmp_path / "root/text").symlink_to(tmp_path / "secret")
        return status

    monkeypatch.setattr(_left.os, "stat", swapping)
    with pytest.raises(OSError, match="symbolic links"):
        _left.packed(tmp_path / "root", ROOM)


def test_what_is_no_file(tmp_path: Path) -> None:
    """A pipe is named, since nobody keeps a workspace with one, and read by nobody; a socket is left out."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
        files = _left.packed(tmp_path, ROOM)
    assert [(file.path, file.kind) for file in files] == [(".", "folder"), ("pipe", "other")]


def test_a_limit_is_one_on_what_is_read(tmp_path: Path) -> None:
    """A file without end in sight costs no more memory than the limit; many small ones are counted together."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert [len(file.content) for file in _left.packed(tmp_path, ROOM)] == [0, ROOM + 1]
    (tmp_path / "sparse").unlink()
    for number in range(30):
        (tmp_path / f"{number}").write_bytes(b"x" * 1000)
    assert sum(len(file.content) for file in _left.packed(tmp_path, 9_999)) == 10_000
    assert len(_left.packed(tmp_path, 30_000)) == 31


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """They are kept byte by byte; long ones, too."""
    names = [b"\xff\xfe", "lé".encode(), b"x" * 250]
    for name in names:
        (tmp_path / os.fsdecode(name)).touch()
    assert {os.fsencode(file.path) for file in _left.packed(tmp_path, ROOM)} == {b".", *names}


def test_what_is_gone_is_an_error(tmp_path: Path) -> None:
    """Nobody takes a folder for empty that is not there."""
    with pytest.raises(FileNotFoundError):
        _left.packed(tmp_path / "absent", ROOM)


def test_files_that_are_not_on_disk() -> None:
    """They are packed with the folders that would be there."""
    files = _left.packed_in_memory([("a/b/c.txt", b"c", False), ("run", b"r", True)])
    assert [(file.path, file.kind, file.mode, file.content) for file in files] == [
        (".", "folder", 0o700, b""),
        ("a", "folder", 0o755, b""),
        ("a/b", "folder", 0o755, b""),
        ("a/b/c.txt", "file", 0o644, b"c"),
        ("run", "file", 0o755, b"r"),
    ]

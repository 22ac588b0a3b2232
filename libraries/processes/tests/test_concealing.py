"""Folders that are left behind: no secret in them, and nothing outside is touched."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from skillgauge.contract.sandboxes import Command, SandboxSpec
from skillgauge.types.suite import FileSpec
from skillgauge_processes.concealing import conceal
from skillgauge_testkit import TemporarySandbox

SECRET = "sk-canary-0123456789"
SECRETS = {"KEY": SECRET}


def test_files_names_and_links(tmp_path: Path) -> None:
    """In a text, among bytes, encoded, in a name, in a link, and where the owner may not read."""
    folder = tmp_path / "kept"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/text").write_text(f"key={SECRET}\n")
    (folder / "bytes").write_bytes(b"\xff" + SECRET.encode() + b"\0")
    (folder / "encoded").write_bytes(base64.b64encode(f"x{SECRET}y".encode()))
    (folder / "a" / SECRET).mkdir()
    (folder / "a" / SECRET / f"{SECRET}.txt").write_text("x")
    (folder / "link").symlink_to(f"/nowhere/{SECRET}")
    (folder / "run").write_text(f"#!/bin/sh\necho {SECRET}\n")
    (folder / "run").chmod(0o100)
    os.mkfifo(folder / "pipe")
    assert conceal(folder, SECRETS) == ()
    assert (folder / "a/b/text").read_text() == "key=[redacted:KEY]\n"
    assert (folder / "bytes").read_bytes() == b"\xff" + b"*" * len(SECRET) + b"\0"
    assert b"[redacted:KEY]" in (folder / "encoded").read_bytes()
    assert (folder / "a/[redacted:KEY]/[redacted:KEY].txt").read_text() == "x"
    assert not (folder / "link").is_symlink()
    assert (folder / "run").stat().st_mode & 0o777 == 0o100
    (folder / "run").chmod(0o500)  # only root reads it as it is
    for path in folder.rglob("*"):
        assert SECRET not in str(path)
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_what_is_outside_stays_as_it_is(tmp_path: Path) -> None:
    """Neither a link to a file nor one to a folder, nor a second name of a file, leads to a change elsewhere."""
    folder, outside = tmp_path / "kept", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "own").write_text(SECRET)
    (folder / "file").symlink_to(outside / "own")
    (folder / "folder").symlink_to(outside)
    os.link(outside / "own", folder / "second")
    assert conceal(folder, SECRETS) == ()
    assert (outside / "own").read_text() == SECRET
    assert (folder / "second").read_text() == "[redacted:KEY]"


def test_clean_files_are_left_alone(tmp_path: Path) -> None:
    """They are not even written again."""
    path = tmp_path / "file"
    path.write_text("clean")
    before = path.stat()
    assert conceal(tmp_path, SECRETS) == conceal(tmp_path, {}) == ()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_is_closed_is_opened(tmp_path: Path) -> None:
    """T-S11: a folder that an ordinary user's agent closed is looked into all the same, however deep it is nested."""
    deep = tmp_path.joinpath(*"d" * 200)
    deep.mkdir(parents=True)
    for place in (tmp_path / "closed", deep / "closed"):
        place.mkdir()
        (place / "file").write_text(SECRET)
        (place / "file").chmod(0)
        place.chmod(0)
    assert conceal(tmp_path, SECRETS) == ()
    for place in (tmp_path / "closed", deep / "closed"):
        (place / "file").chmod(0o600)
        assert SECRET not in (place / "file").read_text()


def test_what_cannot_be_reached_is_told(tmp_path: Path) -> None:
    """By its path: here one that is longer than the system takes."""
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(22):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
        Path("file").write_text(SECRET)
    finally:
        os.chdir(here)
    (left,) = conceal(tmp_path, SECRETS)
    assert left.startswith(str(tmp_path))
    assert len(left) > 3000


def test_a_kept_workspace_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root, home and temporary files, after the last process has ended; the specification does not show the secrets."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    spec = SandboxSpec(label="kept", keep=True, conceal=SECRETS)
    assert SECRET not in repr(spec)

    async def main() -> Path:
        async with TemporarySandbox().open(spec) as workspace:
            await workspace.put([FileSpec(path="in.txt", text=SECRET)])
            command = f"for at in . $HOME $TMPDIR; do echo {SECRET} > $at/out; done"
            await (await workspace.start(Command(argv=("sh", "-c", command)))).wait()
            return workspace.root.parent

    folder = asyncio.run(main())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == ["in.txt", "out", "out", "out"]
    assert {path.read_text().strip() for path in files} == {"[redacted:KEY]"}

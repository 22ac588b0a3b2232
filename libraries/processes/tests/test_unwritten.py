"""Workspaces whose folders are not made: what is read of them is what folders would say."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Command, FileSpec, SandboxSpec
from skillgauge_processes import DirectoryWorkspace, unwritten

SKILL = FileSpec(path=".agents/skills/pdf/SKILL.md", text="# pdf\n")
DATA = FileSpec(path="data/in.txt", text="ä\n")
TOOL = FileSpec(path="bin/tool.sh", text="echo\n", executable=True)
LATER_NS = 60_000_000_000


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that must end at all."""
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def workspace(temporary: Path, **spec: Any) -> DirectoryWorkspace:
    """A workspace that makes its folders in a folder of the test."""
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(temporary)}
    return DirectoryWorkspace(SandboxSpec(**{"label": "test", **spec}), environ, tier="test/none")


@pytest.fixture
def a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock by which a file is told from one that was written just now."""
    monkeypatch.setattr(unwritten, "time_ns", lambda: time.time_ns() + LATER_NS)


def test_nothing_is_made_for_what_memory_can_answer(tmp_path: Path) -> None:
    """Files that are put, listed and read leave no trace on disk, neither while it is open nor afterwards."""

    async def main() -> None:
        async with workspace(tmp_path) as place:
            await place.put([SKILL, DATA])
            assert await place.put([], anew=True) == ()
            assert await place.put([FileSpec(path="graders/a.txt", text="a")], anew=True) == ()
            digests = await place.snapshot()
            assert list(digests) == [SKILL.path, DATA.path, "graders/a.txt"]
            assert digests[DATA.path] == hashlib.sha256("ä\n".encode()).hexdigest()
            assert await place.collect(DATA.path, 2) == "ä".encode()
            assert not place.has_folders
            assert list(tmp_path.iterdir()) == []
        assert list(tmp_path.iterdir()) == []

    within(main())


@pytest.mark.parametrize("touch", ["root", "home", "tmp", "folder", "env", "start"])
def test_whoever_asks_for_a_folder_finds_the_files_in_it(tmp_path: Path, touch: str) -> None:
    """Each way to a folder makes it, with all files of the right content and mode, and it goes with the workspace."""

    async def main() -> None:
        async with workspace(tmp_path) as place:
            await place.put([SKILL, TOOL])
            await place.put([DATA])
            before = await place.snapshot()
            if touch == "start":
                finished = await (await place.start(Command(argv=("cat", DATA.path)))).wait()
                assert finished.stdout == "ä\n".encode()
            else:
                getattr(place, touch)
            [around] = tmp_path.iterdir()
            assert place.folder.parent == around
            assert place.has_folders
            assert await place.snapshot() == before
            assert (place.root / SKILL.path).read_text() == SKILL.text
            assert os.access(place.root / TOOL.path, os.X_OK)
            assert not os.access(place.root / DATA.path, os.X_OK)
            assert place.env["HOME"] == str(place.home)
        assert list(tmp_path.iterdir()) == []

    within(main())


@pytest.mark.usefixtures("a_minute_later")
def test_a_process_changes_its_own_files_and_nobody_elses(tmp_path: Path) -> None:
    """What an agent writes into a file of its skill reaches neither the skill nor a session beside it."""
    source = tmp_path / "SKILL.md"
    source.write_text("original")
    skill = FileSpec(path="skill/SKILL.md", source=str(source))

    async def main() -> None:
        async with workspace(tmp_path) as first, workspace(tmp_path) as second, workspace(tmp_path) as third:
            for place in (first, second, third):
                await place.put([skill])
            assert third.root  # has its folders as well
            spoil = "printf spoilt > skill/SKILL.md"
            await (await first.start(Command(argv=("sh", "-c", spoil)))).wait()
            assert await first.collect("skill/SKILL.md", 99) == b"spoilt"
            assert await second.collect("skill/SKILL.md", 99) == b"original"
            assert await third.collect("skill/SKILL.md", 99) == b"original"
        assert source.read_text() == "original"

    within(main())


@pytest.mark.parametrize("clock", ["a_minute_later", "tmp_path"])
def test_a_file_is_what_it_was_when_it_was_put(tmp_path: Path, clock: str, request: pytest.FixtureRequest) -> None:
    """A source that changes later changes nothing that was put before, and is read again by whoever comes next."""
    request.getfixturevalue(clock)
    source = tmp_path / "source.txt"
    file = FileSpec(path="a.txt", source=str(source))

    async def main() -> None:
        async with workspace(tmp_path) as first, workspace(tmp_path) as second:
            source.write_text("one")
            if clock == "a_minute_later":
                os.utime(source, ns=(1, 1))
            await first.put([file])
            source.write_text("two")
            await second.put([file])
            assert await first.collect("a.txt", 9) == b"one"
            assert await second.collect("a.txt", 9) == b"two"
            assert (first.root / "a.txt").read_text() == "one"
            assert (second.root / "a.txt").read_text() == "two"

    within(main())


@pytest.mark.usefixtures("a_minute_later")
def test_a_file_of_many_sessions_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a skill is opened for the first session that gets it, and not for those that follow."""
    source = tmp_path / "source.txt"
    source.write_text("shared")
    opened: list[Path] = []
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: opened.append(path) or real(path))

    async def main() -> None:
        for _ in range(20):
            async with workspace(tmp_path) as place:
                await place.put([FileSpec(path="a.txt", source=str(source))])
                assert await place.collect("a.txt", 9) == b"shared"

    within(main())
    assert opened == [source]


Deed = Callable[[DirectoryWorkspace], Awaitable[object]]


def put(*paths: str, **options: Any) -> Deed:
    """Put files of these paths, one after the other."""

    async def deed(place: DirectoryWorkspace) -> object:
        for number, path in enumerate(paths):
            await place.put([FileSpec(path=path, text=str(number))], **options)
        return await place.snapshot()

    return deed


def collect(path: str) -> Deed:
    """Read a path after some files were put."""

    async def deed(place: DirectoryWorkspace) -> object:
        await place.put([SKILL, DATA])
        return await place.collect(path, 99)

    return deed


DEEDS: dict[str, Deed] = {
    "twice": put("a.txt", "a.txt"),
    "a file where a folder is": put("a/b.txt", "a"),
    "a folder where a file is": put("a", "a/b.txt"),
    "by letters of another case": put("A.txt", "a.txt", "B/c.txt", "b/d.txt"),
    "with a dot on the way": put("./a.txt", "b/./c.txt"),
    "with an empty name": put("a//b.txt"),
    "with a name that is too long": put("a" * 300),
    "with letters of other scripts": put("ä.txt", "a\u0308.txt"),
    "with a line feed": put("a\nb.txt"),
    "of graders in the way": put("a", "a/b.txt", anew=True),
    "a file that is read": collect(DATA.path),
    "the same file by another path": collect(f"./{DATA.path}"),
    "a folder that is read": collect("data"),
    "a file that is missing": collect("missing.txt"),
    "a file below a file": collect(f"{DATA.path}/x"),
    "a file outside": collect("../home"),
    "many files": put(*(f"many/{number}.txt" for number in range(70))),
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_the_answer_is_that_of_a_disk(tmp_path: Path, deed: Deed) -> None:
    """Whatever is put or read, a workspace that had its folders from the start gives the same answer."""

    async def answer(place: DirectoryWorkspace) -> tuple[object, object]:
        try:
            return await deed(place), None
        except (OSError, ValueError) as error:
            return await place.snapshot(), type(error)

    async def main() -> None:
        async with workspace(tmp_path) as lazy, workspace(tmp_path) as made:
            assert made.root
            expected = await answer(made)
            assert await answer(lazy) == expected
            assert lazy.root
            assert await lazy.snapshot() == await made.snapshot()

    within(main())


def test_a_kept_workspace_is_made(tmp_path: Path) -> None:
    """A folder that is to be looked at afterwards is there, though nothing has touched it."""

    async def main() -> Path:
        async with workspace(tmp_path, keep=True) as place:
            await place.put([DATA])
            return place.folder

    assert (within(main()) / "work" / DATA.path).read_text() == DATA.text

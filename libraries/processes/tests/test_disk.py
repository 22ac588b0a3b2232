"""Room around a workspace, and what it may hold."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import Command, FileSpec, Finished, NoRoomError, SandboxSpec, SpoiledError
from skillgauge_processes import DirectoryWorkspace, DiskLimit
from skillgauge_processes import disk as disks
from skillgauge_processes.disk import lack_of_room, watch, watch_room

SPEC = SandboxSpec(label="x")
FILL = "head -c 400000000 /dev/zero > fill 2>/dev/null"


def workspace(folder: Path, spec: SandboxSpec = SPEC, *, limit: DiskLimit | None = None) -> DirectoryWorkspace:
    """A workspace in a folder."""
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(folder)}
    return DirectoryWorkspace(spec, environ, tier="test/none", limit=limit)


async def ran(place: DirectoryWorkspace, script: str) -> Finished:
    """Run a script to its end."""
    return await (await place.start(Command(argv=("sh", "-c", script), timeout_s=60))).wait()


def test_room_is_required_before_anything_is_made(tmp_path: Path) -> None:
    """The message names the folder, what is free and what to do; nothing is left."""

    async def main() -> None:
        async with workspace(tmp_path, SandboxSpec(label="x", room_mb=10**9)):
            pytest.fail("there is not that much room anywhere")

    with pytest.raises(NoRoomError) as raised:
        asyncio.run(main())
    for words in (str(tmp_path), "MiB free, 1000000000 are needed", "set TMPDIR to a folder with more"):
        assert words in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_a_disk_with_room_lacks_none(tmp_path: Path) -> None:
    """A folder that is gone says nothing either."""
    assert lack_of_room(tmp_path) == ""
    assert lack_of_room(tmp_path / "gone") == ""


def test_a_disk_that_is_full(small_disk: Callable[..., Path]) -> None:
    """A workspace on it is compared to nothing, and none is opened."""

    async def main() -> None:
        async with workspace(disk) as place:
            assert await place.snapshot() == {}
            await ran(place, FILL)
            with pytest.raises(NoRoomError):
                await place.snapshot()
            with pytest.raises(NoRoomError):
                await workspace(disk).__aenter__()

    disk = small_disk(8)
    asyncio.run(main())


@pytest.mark.slow
def test_a_disk_that_was_full(small_disk: Callable[..., Path]) -> None:
    """Somebody else on the disk used it up for a while: what was written meanwhile may be missing."""

    async def main() -> None:
        async with workspace(disk) as one, workspace(disk) as other:
            waiting = await other.start(Command(argv=("sleep", "60")))
            await ran(one, f"{FILL}; sleep 3; rm fill")
            assert lack_of_room(disk) == ""
            await waiting.stop()
            with pytest.raises(NoRoomError):
                await other.snapshot()

    disk = small_disk(8)
    asyncio.run(main())


@pytest.mark.parametrize("what", ["workspace", "home"])
def test_a_disk_that_was_full_between_two_looks(
    small_disk: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """What filled it was removed: those who used it meanwhile are told, those who did not or come later are not."""

    async def fill_and_remove(own: DirectoryWorkspace) -> None:
        if what == "workspace":
            async with workspace(disk) as place:
                await ran(place, FILL)
            return
        for script in (f"cd; {FILL}", "true"):  # a home is removed when the next one is needed
            command = Command(argv=("sh", "-c", script), timeout_s=60, fresh=True)
            await (await own.start(command)).wait()

    async def main() -> None:
        async with workspace(disk) as place, workspace(disk) as idle:
            await ran(place, "true")
            await fill_and_remove(place)
            assert lack_of_room(disk) == ""
            with pytest.raises(NoRoomError, match=f"temporary folder '{disk}' is full"):
                await place.snapshot()
            assert await idle.snapshot() == {}
            async with workspace(disk) as later:
                await ran(later, "true")
                assert await later.snapshot() == {}

    monkeypatch.setattr(disks, "_PERIOD_S", 600)
    disk = small_disk(8)
    asyncio.run(main())


@pytest.mark.parametrize("mode", [{}, {"streamed": True}, {"interactive": True}], ids=["", "streamed", "interactive"])
def test_a_disk_that_was_full_when_its_process_wrote_something(
    small_disk: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, mode: dict[str, bool]
) -> None:
    """An agent tells what its command has done, and may remove files before the next look."""

    async def main() -> None:
        async with workspace(disk) as place:
            script = f"{FILL}; echo Filled.; sleep 0.5; rm fill; echo Removed."
            process = await place.start(Command(argv=("sh", "-c", script), timeout_s=60, **mode))
            assert (await process.wait()).stdout == b"Filled.\nRemoved.\n"
            assert lack_of_room(disk) == ""
            with pytest.raises(NoRoomError, match=f"temporary folder '{disk}' is full"):
                await place.snapshot()

    monkeypatch.setattr(disks, "_PERIOD_S", 600)
    disk = small_disk(8)
    asyncio.run(main())


def test_too_many_files(small_disk: Callable[..., Path]) -> None:
    """A disk can have room and no place for a further file."""
    disk = small_disk(8, files=100)
    assert lack_of_room(disk) == ""
    for number in range(90):
        (disk / str(number)).touch()
    assert "no room for further files" in lack_of_room(disk)


def test_what_it_may_hold(tmp_path: Path) -> None:
    """Its processes are ended and say why, and what is left cannot be compared; files in its home count as well."""

    async def main() -> None:
        async with workspace(tmp_path, limit=DiskLimit(4, "my.option")) as place:
            await place.put([FileSpec(path="small", text="x")])
            assert set(await place.snapshot()) == {"small"}
            finished = await ran(place, 'head -c 8000000 /dev/zero > "$HOME/big"; sleep 60')
            assert (
                finished.stderr == b"skillgauge: the workspace holds more than 4 MiB; write less, or raise my.option\n"
            )
            assert finished.sandbox_failure == ""
            with pytest.raises(SpoiledError, match="holds more than 4 MiB"):
                await place.snapshot()

    asyncio.run(main())


def test_a_command_that_ends_at_once_is_not_watched() -> None:
    """Most commands do, and to hand a look to a thread takes longer than many of them."""
    looked: list[str] = []

    def look() -> bool:
        looked.append("look")
        return True

    async def exceeded() -> None:
        looked.append("told")

    async def briefly() -> None:
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(watch_room(look)), group.create_task(watch(look, exceeded))]
            for _ in range(10):
                await asyncio.sleep(0)
            for task in watching:
                task.cancel()

    asyncio.run(briefly())
    assert looked == []


@pytest.mark.parametrize("kind", ["room", "excess"])
def test_a_command_that_goes_on_is_watched(kind: str) -> None:
    """Again and again; what there is too much of is told after each look."""

    async def go_on() -> list[str]:
        seen: list[str] = []
        enough = asyncio.Event()
        loop = asyncio.get_running_loop()

        def look() -> bool:
            seen.append("look")
            if seen.count("look") == 2:
                loop.call_soon_threadsafe(enough.set)
            return True

        async def exceeded() -> None:
            seen.append("told")

        watching = watch_room(look) if kind == "room" else watch(look, exceeded)
        task = asyncio.create_task(watching)
        await enough.wait()
        task.cancel()
        return seen

    seen = asyncio.run(asyncio.wait_for(go_on(), 60))
    assert seen[:3] == (["look", "look"] if kind == "room" else ["look", "told", "look"])

"""Workspaces made of folders: environment, files in and out, and what remains of them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge.contract.sandboxes import Command, Finished, SandboxSpec
from skillgauge.errors import LaunchError
from skillgauge.types.suite import FileSpec
from skillgauge_processes import workspace as workspace_module
from skillgauge_processes.running import MARKER
from skillgauge_processes.workspace import BYTES_AT_ONCE, FILES_AT_ONCE, DirectoryWorkspace, Launch

GENEROUS_S = 30.0
HOST = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "xterm",
    "HOME": "/host/home",
    "CANARY_TOKEN": "canary",
    "PYTHONPATH": "/host/lib",
}
BUILT = {"HOME", "TMPDIR", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "SKILLGAUGE_CHILD_SANDBOX", MARKER}
posix = pytest.mark.skipif(os.name != "posix", reason="special files and modes are POSIX's")


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that must end at all."""
    return asyncio.run(asyncio.wait_for(coroutine, GENEROUS_S))


def workspace(environ: Mapping[str, str] = HOST, **spec: Any) -> DirectoryWorkspace:
    """A workspace that is not open yet."""
    return DirectoryWorkspace(SandboxSpec(**{"label": "test", **spec}), environ, tier="local/none")


async def run(place: DirectoryWorkspace, *argv: str, **options: Any) -> Finished:
    """Run a command there."""
    return await (await place.start(Command(argv=argv, **options))).wait()


async def environment(place: DirectoryWorkspace, **options: Any) -> dict[str, str]:
    """What a process there sees."""
    finished = await run(place, "env", **options)
    return dict(line.split("=", 1) for line in finished.stdout.decode().splitlines())


class Logged:
    """Remembers warnings."""

    def __init__(self) -> None:
        self.events: list[tuple[str, object]] = []

    def warning(self, event: str, **facts: object) -> None:
        """Remember one."""
        self.events.append((event, facts["path"]))


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Logged:
    """What the workspaces of this test say."""
    recorder = Logged()
    monkeypatch.setattr(workspace_module, "_log", recorder)
    return recorder


# --- environment ------------------------------------------------------------------------------------------


def test_environment_is_an_allow_list() -> None:
    """A process sees what is allowed and what we set, and no canary of ours, whatever its name."""

    async def main() -> None:
        async with workspace() as place:
            env = await environment(place)
            assert set(env) - {"PWD", "SHLVL", "_"} == BUILT | {"LANG", "TZ"}
            assert env["HOME"] == str(place.home)
            assert env["TMPDIR"] == str(place.tmp)
            assert env["SKILLGAUGE_CHILD_SANDBOX"] == "local/none"
            assert "canary" not in str(env)

    within(main())


def test_environment_is_layered() -> None:
    """A passed variable gives way to the specification's, and that to the command's."""
    host = {**HOST, "ONE": "host", "TWO": "host", "THREE": "host"}
    spec = {"pass_env": ("ONE", "TWO", "THREE", "ABSENT"), "env": {"TWO": "spec", "THREE": "spec", "TZ": "spec"}}

    async def main() -> None:
        async with workspace(host, **spec) as place:
            env = await environment(place, env={"THREE": "command"})
            assert (env["ONE"], env["TWO"], env["THREE"], env["TZ"]) == ("host", "spec", "command", "spec")
            assert "ABSENT" not in env
            assert place.env["THREE"] == "spec"

    within(main())


def test_environment_holds_strings() -> None:
    """A variable that is no string is refused when the workspace is made, and when a command brings it."""
    with pytest.raises(ValueError, match="PORT must be a string"):
        workspace(env={"PORT": 80})

    async def main() -> None:
        async with workspace() as place:
            with pytest.raises(LaunchError, match="PORT must be a string"):
                await place.start(Command(argv=("true",), env={"PORT": 80}))

    within(main())


def test_files_in_any_number_are_read_and_written(tmp_path: Path) -> None:
    """Many or large ones are left to a thread in the middle of it; nothing is lost or read twice."""
    few = [FileSpec(path=f"few/{number}.txt", text=str(number)) for number in range(3)]
    many = [FileSpec(path=f"many/{number}.txt", text=str(number)) for number in range(FILES_AT_ONCE + 5)]
    large = tmp_path / "large"
    large.write_bytes(b"x" * (BYTES_AT_ONCE + 1))
    files = [*few, *many, FileSpec(path="large", source=str(large)), FileSpec(path="after", text="last")]

    async def main() -> None:
        async with workspace() as place:
            for part in (few, many, files[-2:]):
                await place.put(part)
            found = await place.snapshot()
            paths = {file.path for file in files}
            assert paths == found.keys() - {"few", "many"}
            assert list(found) == sorted(found)
            for file in files:
                content = large.read_bytes() if file.source else (file.text or "").encode()
                assert found[file.path] == hashlib.sha256(content).hexdigest()

    within(main())


def test_python_is_found_last(tmp_path: Path) -> None:
    """Our interpreter's folder ends the search path where a Python is missing, and only there."""
    ours = str(Path(sys.executable).parent)

    async def path(search: str) -> str:
        async with workspace({"PATH": search}) as place:
            return place.env["PATH"]

    assert within(path(str(tmp_path))) == f"{tmp_path}{os.pathsep}{ours}"
    full = tmp_path / "full"
    full.mkdir()
    for name in ("python", "python3"):
        (full / name).touch(mode=0o755)
    assert within(path(str(full))) == str(full)


def test_environment_without_a_search_path() -> None:
    """A host without `PATH` does not keep programs from being found."""

    async def main() -> None:
        async with workspace({}) as place:
            assert (await run(place, "sh", "-c", "echo x")).stdout == b"x\n"

    within(main())


# --- folders ----------------------------------------------------------------------------------------------


def test_folders_are_fresh_and_private(tmp_path: Path) -> None:
    """Empty, ours alone, below the user's TMPDIR, gone afterwards, and silent about what they are for (E-C4)."""

    async def main() -> Path:
        async with workspace({**HOST, "TMPDIR": str(tmp_path)}, label="the-answer") as place:
            assert place.folder.parent.parent == tmp_path.resolve()
            assert place.folder.parent.name.startswith("skillgauge-")
            assert "answer" not in f"{place.folder} {dict(place.env)}"
            assert place.tier == "local/none"
            for folder in (place.folder, place.root, place.home, place.tmp):
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert not [*place.root.iterdir(), *place.home.iterdir(), *place.tmp.iterdir()]
            (place.root / "file").touch()
            return place.folder

    assert not within(main()).exists()
    assert not [*tmp_path.iterdir()]


def test_wrong_tmpdir_does_not_matter() -> None:
    """A TMPDIR that is not there is passed over, as Python does."""

    async def main() -> None:
        async with workspace({**HOST, "TMPDIR": "/no/such/folder"}, label="..") as place:
            assert place.root.is_dir()

    within(main())


def test_kept_folder_is_reported(logged: Logged, tmp_path: Path) -> None:
    """`keep` leaves the folder and says where it is."""

    async def main() -> Path:
        async with workspace({**HOST, "TMPDIR": str(tmp_path)}, keep=True) as place:
            await run(place, "sh", "-c", "echo x >file")
            return place.folder

    folder = within(main())
    assert (folder / "work/file").read_text() == "x\n"
    assert logged.events == [("workspace.kept", str(folder))]


def test_only_an_open_workspace_has_a_place() -> None:
    """Before and after its context there is no folder, and nothing can be started."""
    place = workspace()
    with pytest.raises(RuntimeError, match="not open"):
        _ = place.root

    async def main() -> None:
        async with place:
            pass
        with pytest.raises(LaunchError, match="not open"):
            await place.start(Command(argv=("true",)))

    within(main())


@posix
def test_forbidding_folders_are_removed() -> None:
    """Folders that a process has locked are unlocked and removed; links in them are not followed."""

    async def main() -> Path:
        async with workspace() as place:
            await run(
                place, "sh", "-c", "mkdir -p closed/inner; touch closed/inner/file; ln -s / link; chmod -R 0 closed"
            )
            return place.folder

    assert not within(main()).exists()


def test_what_cannot_be_removed_is_reported(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that stays in spite of all attempts is named."""

    async def main() -> Path:
        async with workspace() as place:
            return place.folder

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", _refuse)
        folder = within(main())
    assert logged.events == [("workspace.not-removed", str(folder))]
    shutil.rmtree(folder.parent, ignore_errors=True)  # another process that sweeps may be at it, too


def _refuse(*_arguments: object, **_options: object) -> None:
    raise PermissionError


# --- processes --------------------------------------------------------------------------------------------


def test_working_directory() -> None:
    """A process runs in the root, in a folder below it, or where an absolute path says."""

    async def main() -> None:
        async with workspace() as place:
            (place.root / "sub").mkdir()
            for cwd, expected in ((None, place.root), ("sub", place.root / "sub"), (str(place.home), place.home)):
                assert (await run(place, "pwd", cwd=cwd)).stdout.decode().strip() == str(expected)

    within(main())


def test_sandbox_puts_its_program_in_front() -> None:
    """A derived workspace decides what is executed, in which environment and with which descriptors, closed here."""
    reading, writing = os.pipe()
    os.write(writing, b"handed down")
    os.close(writing)

    class Wrapped(DirectoryWorkspace):
        def wrap(self, command: Command, cwd: Path, env: Mapping[str, str]) -> Launch:
            told = ("sh", "-c", 'echo "$@" ${SKILLGAUGE_CHILD_SANDBOX-unset}; cat /dev/fd/$0', str(reading))
            argv = (*told, cwd.name, env["SKILLGAUGE_CHILD_SANDBOX"], *command.argv)
            return Launch(argv, {"PATH": HOST["PATH"]}, (reading,))

    async def main() -> None:
        async with Wrapped(SandboxSpec(label="test"), HOST, tier="wrapped/strict") as place:
            assert (await run(place, "a", "b")).stdout == b"work wrapped/strict a b unset\nhanded down"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(reading)

    within(main())


def test_processes_end_with_the_workspace() -> None:
    """What runs when the context ends, and keeps writing, is killed before the folder is removed."""
    script = "trap '' TERM; echo ready; while :; do : >file; mkdir -p more; done"

    async def main() -> None:
        async with workspace() as place:
            busy = await place.start(Command(argv=("sh", "-c", script), interactive=True))
            assert await anext(busy.lines()) == b"ready"
            idle = await place.start(Command(argv=("sleep", "60")))
            folder = place.folder
        assert not folder.exists()
        for process in (busy, idle):
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)

    within(main())


def test_cancelled_context_cleans_up() -> None:
    """Cancelling in the middle, and once more during the clean-up, leaves neither processes nor folders."""
    place = workspace()

    async def use() -> None:
        async with place:
            folders.append(place.folder)
            processes.append(await place.start(Command(argv=("sh", "-c", "trap '' TERM; sleep 60"))))
            await asyncio.sleep(GENEROUS_S)

    async def main() -> None:
        task = asyncio.create_task(use())
        while not processes:
            await asyncio.sleep(0.005)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task

    folders: list[Path] = []
    processes: list[Any] = []
    within(main())
    assert not folders[0].exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(processes[0].pid, 0)


def test_start_that_comes_too_late_is_undone() -> None:
    """A process whose start overlaps the end of the workspace does not survive it, or finds no folder any more."""

    async def main() -> None:
        async with workspace() as place:
            late = asyncio.create_task(place.start(Command(argv=("sleep", "60"))))
            await asyncio.sleep(0)
        with pytest.raises(LaunchError, match=r"closed|not there"):
            await late

    within(main())


# --- files in ---------------------------------------------------------------------------------------------


def test_put_writes_files(tmp_path: Path) -> None:
    """Text and copies arrive where they belong, executable where asked for, and replace what was there."""
    source = tmp_path / "source"
    source.write_bytes(b"\xff\x00")
    files = [
        FileSpec(path="a/b/text", text="tëxt\n"),
        FileSpec(path="./a/copy", source=str(source)),
        FileSpec(path="tool", text="#!/bin/sh\necho old\n"),
        FileSpec(path="tool", text="#!/bin/sh\necho new\n", executable=True),
    ]

    async def main() -> None:
        async with workspace() as place:
            await place.put(files)
            assert (place.root / "a/b/text").read_text(encoding="utf-8") == "tëxt\n"
            assert (place.root / "a/copy").read_bytes() == b"\xff\x00"
            assert (await run(place, "./tool")).stdout == b"new\n"
            assert sorted(os.listdir(place.root)) == ["a", "tool"]  # noqa: PTH208 - names are what is compared

    within(main())


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "a//x", "", ".", "a/.."])
def test_put_refuses_paths_that_leave(path: str) -> None:
    """A path that leads out by itself is refused, also if it got past the model's own check."""

    async def main() -> None:
        async with workspace() as place:
            with pytest.raises(ValueError, match="does not stay inside"):
                await place.put([FileSpec.model_construct(path=path, text="x", source=None, executable=False)])
            assert not [*place.root.iterdir()]

    within(main())


def test_put_follows_no_link(tmp_path: Path) -> None:
    """A link on the way is refused, wherever it leads; a link at the end is replaced, not followed."""
    outside = tmp_path / "outside"
    outside.write_text("untouched")

    async def main() -> None:
        async with workspace() as place:
            (place.root / "inner").mkdir()
            (place.root / "out").symlink_to(tmp_path)
            (place.root / "in").symlink_to("inner")
            (place.root / "file").write_text("x")
            (place.root / "end").symlink_to(outside)
            for path in ("out/outside", "in/new", "file/new"):
                with pytest.raises(ValueError, match="crosses a link or a file"):
                    await place.put([FileSpec(path=path, text="new")])
            await place.put([FileSpec(path="end", text="new")])
            assert not (place.root / "end").is_symlink()
            assert (place.root / "end").read_text() == "new"
            assert not [*(place.root / "inner").iterdir()]

    within(main())
    assert outside.read_text() == "untouched"
    assert [*tmp_path.iterdir()] == [outside]


def test_put_writes_a_file_at_once_or_not_at_all() -> None:
    """A copy that fails leaves the old file, and nothing half-written beside it."""

    async def main() -> None:
        async with workspace() as place:
            (place.root / "folder").mkdir()
            (place.root / "file").write_text("old")
            with pytest.raises(FileNotFoundError):
                await place.put([FileSpec(path="file", source="/no/such/file")])
            with pytest.raises(IsADirectoryError):
                await place.put([FileSpec(path="folder", text="x")])
            with pytest.raises(OSError, match="too long"):
                await place.put([FileSpec(path="x" * 300 + "/y", text="x")])
            assert (place.root / "file").read_text() == "old"
            assert sorted(os.listdir(place.root)) == ["file", "folder"]  # noqa: PTH208

    within(main())


# --- files out --------------------------------------------------------------------------------------------


@posix
def test_snapshot_tells_every_file(tmp_path: Path) -> None:
    """Files are told by content and links by text; nothing outside is read, and a pipe does not hang it."""
    secret = tmp_path / "secret"
    secret.write_text("secret")

    async def main() -> None:
        async with workspace() as place:
            (place.root / "a/b").mkdir(parents=True)
            (place.root / "a/b/file").write_bytes(b"content")
            (place.root / "out").symlink_to(secret)
            (place.root / "folders").symlink_to(tmp_path)
            (place.root / "dangling").symlink_to("nowhere")
            (place.root / os.fsdecode(b"\xff")).touch()
            os.mkfifo(place.root / "pipe")
            snapshot = await place.snapshot()
            assert list(snapshot) == ["\\xff", "a/b/file", "dangling", "folders", "out"]
            assert snapshot["a/b/file"] == sha256(b"content")
            assert snapshot["out"] == sha256(b"link:" + os.fsencode(secret))
            assert sha256(b"secret") not in snapshot.values()
            (place.root / "a/b/file").write_bytes(b"changed")
            assert (await place.snapshot())["a/b/file"] == sha256(b"changed")

    within(main())


def sha256(data: bytes) -> str:
    """Digest of bytes."""
    return hashlib.sha256(data).hexdigest()


@posix
def test_snapshot_survives_what_it_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is listed, one that vanishes in between is not; root may, so that is played."""
    open_file = os.open

    def opened(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).endswith("closed"):
            raise PermissionError
        if str(path).endswith("fleeting"):
            raise FileNotFoundError
        return open_file(path, *arguments, **options)

    async def main() -> None:
        async with workspace() as place:
            for name in ("closed", "fleeting", "there"):
                (place.root / name).touch()
            monkeypatch.setattr(os, "open", opened)
            assert await place.snapshot() == {"closed": "unreadable", "there": sha256(b"")}

    within(main())


@posix
def test_collect_reads_inside_only(tmp_path: Path) -> None:
    """Files inside are read up to the limit, also through a link that stays inside; all else is refused."""
    secret = tmp_path / "secret"
    secret.write_text("secret")

    async def main() -> None:
        async with workspace() as place:
            (place.root / "folder").mkdir()
            (place.root / "folder/file").write_bytes(b"0123456789")
            (place.root / "link").symlink_to("folder/file")
            (place.root / "out").symlink_to(secret)
            (place.root / "up").symlink_to(tmp_path)
            (place.root / "round").symlink_to("round")
            os.mkfifo(place.root / "pipe")
            assert await place.collect("folder/file", 100) == b"0123456789"
            assert await place.collect("link", 4) == b"0123"
            for path in ("out", "up/secret", "../home/x", str(secret)):
                with pytest.raises(ValueError, match="does not stay inside"):
                    await place.collect(path, 100)
            for path in ("folder", "pipe", "absent", "round"):
                with pytest.raises(OSError, match=path):
                    await place.collect(path, 100)

    within(main())

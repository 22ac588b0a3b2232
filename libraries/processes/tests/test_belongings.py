"""What a process has on disk ends with it: also when it is killed, and then its own processes end, too."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from skillgauge.api import Command, SandboxSpec
from skillgauge_processes import DirectoryWorkspace, _belongings, _guardian, belongings, release

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a killed process leaves is found in /proc")
PATIENCE_S = 20.0
OWNER = """
import asyncio, os, sys
from pathlib import Path
from skillgauge.api import Command, SandboxSpec
from skillgauge_processes import DirectoryWorkspace

async def main():
    spec = SandboxSpec(label="x", keep="keep" in sys.argv)
    async with DirectoryWorkspace(spec, os.environ, tier="local/none") as place:
        (place.home / "login.json").write_text("canary")
        running = await place.start(Command(argv=("sh", "-c", "sleep 600 & setsid sleep 601 & sleep 602")))
        print(place.folder, running.pid, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


class Log:
    """Takes down what is said of sweeping."""

    def __init__(self) -> None:
        self.swept: list[tuple[object, object]] = []

    def warning(self, event: str, **facts: object) -> None:
        """Take down one line."""
        assert event == "workspace.swept"
        self.swept.append((facts["workspaces"], facts["processes"]))


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, object]]:
    """What was said of earlier owners: their workspaces and processes."""
    log = Log()
    monkeypatch.setattr(_belongings, "_log", log)
    return log.swept


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes true while there is patience."""
    until = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def carriers(mark: str) -> list[int]:
    """Processes with a text in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def four_carry(mark: str) -> bool:
    """Whether the shell of an owner and its three sleeping children run."""
    return len(carriers(mark)) == 4


def described(pids: list[int]) -> list[bytes]:
    """The command lines and states of processes, for a test that fails."""
    lines = []
    for pid in pids:
        try:
            lines.append(Path(f"/proc/{pid}/stat").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError as error:
            lines.append(str(error).encode())
    return lines


def guardian_of(owner: int) -> int:
    """The process that waits for the end of another."""
    children = Path(f"/proc/{owner}/task").glob("*/children")
    for child in " ".join(one.read_text() for one in children).split():
        if b"skillgauge-guardian" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise AssertionError("there is no guardian")


@contextmanager
def owner(temporary: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    """A process with an open workspace: it, the folder, and the mark of what it started."""
    for _ in range(3):  # on a machine that is short of processes the shell in it may fail to fork
        with started_owner(temporary, *words) as (process, folder, mark):
            if eventually(partial(four_carry, mark)):
                yield process, folder, mark
                return
            seen = described(carriers(mark))
    raise AssertionError(f"an owner never had four processes, at last it had {seen}")


@contextmanager
def started_owner(temporary: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path, str]]:
    """The same, as soon as its workspace is open."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, *words],
        env={"TMPDIR": str(temporary), "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            folder = Path(process.stdout.readline().split()[0])
            yield process, folder, (folder.parent / "lock").read_text().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_nothing_outlives_a_killed_owner(tmp_path: Path, number: signal.Signals) -> None:
    """Its processes end, those of another session, too, and its folder with the credentials goes (E-C1, E-C2, T-M5)."""
    with owner(tmp_path) as (process, _folder, mark):
        os.kill(process.pid, number)
        process.wait()
        assert eventually(lambda: not carriers(mark))
        assert eventually(lambda: not list(tmp_path.iterdir()))


HOLDER = """
import os, sys
from skillgauge_processes import temporary_folder

with temporary_folder() as folder:
    (folder / "left.txt").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
    if "fail" in sys.argv:
        raise SystemExit(3)
"""


@pytest.mark.parametrize("end", ["killed", "fail", "ended"])
def test_a_temporary_folder_ends_with_its_process(tmp_path: Path, end: str) -> None:
    """However that ends; what a program is asked its version in stayed of killed runs (E-C1)."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, end],
        env={"TMPDIR": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert (folder / "left.txt").exists()
        assert folder.is_relative_to(tmp_path)
        if end == "killed":
            process.kill()
        else:
            process.communicate()
    assert process.returncode == {"killed": -signal.SIGKILL, "fail": 3, "ended": 0}[end]
    assert eventually(lambda: not list(tmp_path.iterdir()))


def test_the_next_one_sweeps(tmp_path: Path, swept: list[tuple[object, object]]) -> None:
    """Where the guardian was killed as well, whoever comes next does its work, and says so in one line."""
    with owner(tmp_path) as (process, folder, mark):
        os.kill(guardian_of(process.pid), signal.SIGKILL)
        process.kill()
        process.wait()
        assert folder.exists()
        assert carriers(mark)
        release(belongings(tmp_path))
    assert not folder.parent.exists()
    assert not carriers(mark)
    assert swept == [(1, 4)]


def test_an_empty_one_goes(tmp_path: Path, swept: list[tuple[object, object]]) -> None:
    """Its owner was killed before there was a lock; a file in it, or a name of another length, is somebody else's."""
    ours, full, named = (tmp_path / f"skillgauge-{name}" for name in ("a1b2c3d_", "with_one", "notes"))
    for folder in (ours, full, named):
        folder.mkdir()
    (full / "file").touch()
    release(belongings(tmp_path))
    assert sorted(tmp_path.iterdir()) == [named, full]
    assert swept == []


def test_somebody_who_sweeps_takes_a_folder_before_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then another one is made."""
    make, made = tempfile.mkdtemp, []

    def mkdtemp(**options: object) -> str:
        made.append(make(**options))  # type: ignore[call-overload]
        if len(made) == 1:
            Path(made[0]).rmdir()
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    held = belongings(tmp_path)
    assert (held.folder / "lock").exists()
    assert len(made) == 2
    release(held)


def test_the_guardian_ends_what_another_has_begun(tmp_path: Path) -> None:
    """Whoever sweeps beside it takes the lock away, while what the guardian moved aside is still there."""
    folder = tmp_path / "skillgauge-a1b2c3d_"
    (folder / "w.1").mkdir(parents=True)
    subprocess.run([sys.executable, "-I", "-S", _guardian.__file__, str(folder), "no mark"], check=True)
    assert not list(tmp_path.iterdir())


def test_a_live_one_is_left_alone(tmp_path: Path, swept: list[tuple[object, object]]) -> None:
    """However many processes share a folder for temporary files."""
    with owner(tmp_path) as (_process, folder, mark):
        release(belongings(tmp_path))
        assert swept == []
        assert (folder / "home/login.json").read_text() == "canary"
        assert len(carriers(mark)) == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_what_is_another_users_is_left_alone(tmp_path: Path) -> None:
    """Also by root, who could."""
    folder = tmp_path / "skillgauge-theirs"
    folder.mkdir()
    (folder / "lock").write_text("theirs\n")
    os.chown(folder, 54321, 54321)
    release(belongings(tmp_path))
    assert (folder / "lock").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Nor is a lock that is one."""
    elsewhere, near = tmp_path / "elsewhere", tmp_path / "near"
    for folder in (elsewhere, near, near / "skillgauge-odd"):
        folder.mkdir()
    (elsewhere / "lock").write_text("mine\n")
    (near / "skillgauge-link").symlink_to(elsewhere)
    (near / "skillgauge-odd/lock").symlink_to(elsewhere / "lock")
    release(belongings(near))
    assert (elsewhere / "lock").exists()


def test_what_is_kept_stays(tmp_path: Path) -> None:
    """A workspace that was to be kept outlives its process, and whoever sweeps."""

    async def main() -> Path:
        spec = SandboxSpec(label="x", keep=True)
        async with DirectoryWorkspace(spec, {"PATH": os.defpath, "TMPDIR": str(tmp_path)}, tier="x/none") as place:
            (place.root / "made.txt").write_text("made")
            return place.folder

    folder = asyncio.run(main())
    release(belongings(tmp_path))
    assert (folder / "work/made.txt").read_text() == "made"
    assert sorted(one.name for one in folder.parent.iterdir()) == [folder.name]


def test_what_a_killed_one_wanted_to_keep_goes(tmp_path: Path) -> None:
    """Nobody has taken the secrets out of it."""
    with owner(tmp_path, "keep") as (process, _folder, _mark):
        process.kill()
        process.wait()
        assert eventually(lambda: not list(tmp_path.iterdir()))


def test_a_forked_child_owns_nothing(tmp_path: Path) -> None:
    """It neither removes what its parent has, nor keeps others from seeing that its parent died."""
    held = belongings(tmp_path)
    child = os.fork()
    if not child:
        own = belongings(tmp_path)
        os._exit(0 if own.folder != held.folder and held.folder.exists() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert held.folder.exists()
    release(held)
    assert not held.folder.exists()


def test_garbage_collection_may_release_while_somebody_asks(tmp_path: Path) -> None:
    """A finalizer runs in whatever thread collects, also in one that is about to get a folder: it does not wait."""
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    other = belongings(tmp_path / "b")

    class Collecting(type(tmp_path)):  # type: ignore[misc]
        """A path at which something is collected as soon as it is looked up."""

        def __hash__(self) -> int:
            if other.folder.is_dir():
                release(other)
            return hash(str(self))

    found: list[_belongings.Belongings] = []
    asking = threading.Thread(target=lambda: found.append(belongings(Collecting(tmp_path / "a"))), daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    assert not asking.is_alive()
    assert not other.folder.exists()
    (held,) = found
    assert held.folder.is_dir()
    release(held)


def test_a_deep_tree_is_removed(tmp_path: Path) -> None:
    """1,500 levels, beyond any recursion, and longer than any path (T-M1)."""
    script = (
        "import os\n"
        "for _ in range(1500): os.mkdir('d' * 20); os.chdir('d' * 20)\n"
        "open('file', 'w').close(); os.chmod('.', 0)\n"
    )

    async def main() -> None:
        environ = {"PATH": os.defpath, "TMPDIR": str(tmp_path)}
        async with DirectoryWorkspace(SandboxSpec(label="x"), environ, tier="x/none") as place:
            command = Command(argv=(sys.executable, "-c", script))
            assert (await (await place.start(command)).wait()).exit_code == 0

    asyncio.run(main())
    assert not list(tmp_path.iterdir())

"""The launcher: whether it is out of reach of what it starts, what is left of a call, and who steps in for it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Command, Finished, LaunchError, SandboxSpec, Workspace
from skillgauge_sandbox_bubblewrap import launching
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_testkit.leftovers import command_lines, leaves_nothing

GENEROUS_S = 60.0
REACHING = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def refused(name, attempt):
    try:
        attempt()
    except OSError:
        return
    print("reached", name)
def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
for name in ("mem", "environ", "auxv", "stack", "syscall", "pagemap"):
    refused(name, lambda: open(f"/proc/1/{name}", "rb").read(1))
refused("mem for writing", lambda: open("/proc/1/mem", "r+b"))
for name in ("exe", "cwd", "root", "ns/mnt", "ns/net", "ns/user", "fd/0", "fd/1", "fd/4", "fd/5"):
    refused(name, lambda: os.readlink(f"/proc/1/{name}"))
refused("ptrace", lambda: called(libc.ptrace(16, 1, 0, 0)))
refused("seize", lambda: called(libc.ptrace(0x4206, 1, 0, 0)))
buffer = ctypes.create_string_buffer(8)
mine, theirs = Piece(ctypes.addressof(buffer), 8), Piece(id(buffer), 8)
refused("memory", lambda: called(libc.process_vm_readv(1, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)))
first = os.pidfd_open(1)
for number in range(16):
    refused(f"descriptor {number}", lambda: called(libc.syscall(438, first, number, 0)))
print("done")
"""
SIGNALLING = """
import os, signal
for _ in range(200):
    for number in set(signal.Signals) - {signal.SIGKILL}:
        os.kill(1, number)
os.kill(1, signal.SIGKILL)
os.kill(1, signal.SIGSTOP)
print("still here")
raise SystemExit(7)
"""
ESCAPING = """
import os, signal, sys, time
def daemon(words):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            os.execvpe(words[0], words, {})
        os._exit(0)
for _ in range(3):
    daemon(["sleep", sys.argv[1]])
os.waitpid(-1, 0)
print("left them", flush=True)
"""
KILLED = """
import asyncio, sys
from skillgauge.api import Command, SandboxSpec
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox

async def main():
    async with BubblewrapSandbox(BubblewrapOptions()).open(SandboxSpec(label="x")) as workspace:
        running = await workspace.start(Command(argv=("sleep", sys.argv[1])))
        print(workspace.folder, flush=True)
        await running.wait()

asyncio.run(main())
"""

KILLED_EARLY = """
import os, signal, subprocess, sys
words = open(int(sys.argv[sys.argv.index("--args") + 1])).read().split("\\0")
info = int(words[words.index("--info-fd") + 1])
script = "sleep 10; echo >'%s'"
first = subprocess.Popen(["sh", "-c", script], stdin=0, stdout=subprocess.DEVNULL, start_new_session=True)
os.write(info, b'{\\n    "child-pid": %%d\\n}\\n' %% first.pid)
os.kill(os.getpid(), signal.SIGKILL)
"""

MOUNTED_LATE = """
import asyncio, ctypes
from skillgauge.api import Command, SandboxSpec
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox

async def main():
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    async with sandbox.open(SandboxSpec(label="x")) as workspace:
        async def shown():
            finished = await (await workspace.start(Command(argv=("ls", "/usr/share")))).wait()
            return finished.stdout
        before = await shown()
        assert ctypes.CDLL(None).mount(b"tmpfs", b"/usr/share", b"tmpfs", 0, None) == 0
        open("/usr/share/late", "w").close()
        assert sandbox._host.launchers.are_usable
        print(before == await shown() == await shown() != b"")

asyncio.run(main())
"""

pytestmark = pytest.mark.usefixtures("bubblewrap", "form")


@pytest.fixture
def sandbox() -> BubblewrapSandbox:
    """One whose launchers have proved themselves."""
    made = BubblewrapSandbox(BubblewrapOptions())
    assert not asyncio.run(made.check()).problems
    ran(made, "true")
    if not made._host.launchers.are_usable:
        pytest.skip("no namespaces here but by bwrap")
    return made


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run what must come to its end."""
    return asyncio.run(asyncio.wait_for(coroutine, GENEROUS_S))


def ran(sandbox: BubblewrapSandbox, *argv: str, **settings: Any) -> Finished:
    """How a command ends in a workspace of its own."""

    async def main() -> Finished:
        async with sandbox.open(SandboxSpec(label="test", network=False)) as workspace:
            return await (await workspace.start(Command(argv=argv, **settings))).wait()

    finished = within(main())
    assert isinstance(finished, Finished)
    return finished


def put_in_its_place(program: str, form: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have another program in the place of the launcher, in Python in any case."""
    if form == "python":
        monkeypatch.setattr(launching, "PROGRAM", program)
        return
    file = folder / "launcher"
    file.write_text(f"#!{sys.executable}\n{program}")
    file.chmod(0o755)
    monkeypatch.setattr(launching, "COMPILED", file)


def processes(*words: str) -> list[int]:
    """Processes of this machine with exactly these words."""
    return [pid for pid, line in command_lines().items() if line == " ".join(words)]


def children() -> Iterator[tuple[int, str]]:
    """Id and state of each child of ours."""
    for file in Path("/proc/self/task").glob("*/children"):
        for child in file.read_text().split():
            yield int(child), Path("/proc", child, "stat").read_text().rpartition(")")[2].split()[0]


def own_launchers() -> list[int]:
    """Launchers that this process started, and their copies."""
    forms = launching.PROGRAM.encode(), os.fsencode(launching.COMPILED)
    words = {child: Path("/proc", str(child), "cmdline").read_bytes().split(b"\0") for child, _ in children()}
    return [child for child, line in words.items() if any(form in line for form in forms)]


def there(*words: str) -> bool:
    """Whether a process with these words shows soon: between fork and exec it has other ones."""
    until = time.monotonic() + GENEROUS_S
    while not processes(*words) and time.monotonic() < until:
        time.sleep(0.01)
    return bool(processes(*words))


def gone(*words: str) -> bool:
    """Whether processes with these words end soon."""
    until = time.monotonic() + GENEROUS_S
    while processes(*words) and time.monotonic() < until:
        time.sleep(0.01)
    return not processes(*words)


def test_process_one_cannot_be_looked_into(sandbox: BubblewrapSandbox) -> None:
    """Neither memory nor descriptors nor variables of what started a command can be had by it."""
    finished = ran(sandbox, "python3", "-c", REACHING)
    assert finished.stdout == b"done\n", finished


def test_process_one_heeds_nobody_within(sandbox: BubblewrapSandbox) -> None:
    """No signal from within ends, stops or confuses it."""
    finished = ran(sandbox, "python3", "-c", SIGNALLING)
    assert (finished.stdout, finished.exit_code) == (b"still here\n", 7), finished


def test_nothing_outlives_its_call(sandbox: BubblewrapSandbox) -> None:
    """Daemons that left group, session and variables behind end with the call, although they hold its streams."""
    seconds = f"{10_000 + os.getpid()}.25"
    finished = ran(sandbox, "python3", "-c", ESCAPING, seconds)
    assert (finished.stdout, finished.exit_code) == (b"left them\n", 0), finished
    assert not processes("sleep", seconds)


@pytest.mark.slow
def test_nothing_outlives_a_stop(sandbox: BubblewrapSandbox) -> None:
    """The same holds for a call that runs out of time while its daemons ignore what they may."""
    seconds = f"{10_000 + os.getpid()}.5"
    script = f"trap '' TERM HUP INT; setsid sleep {seconds} & sleep {seconds}"
    finished = ran(sandbox, "sh", "-c", script, timeout_s=0.5)
    assert finished.timed_out
    assert finished.signal == signal.SIGTERM
    assert not processes("sleep", seconds)


def test_nothing_outlives_us() -> None:
    """If we are killed, the command ends, and the launcher and its copies do, too."""
    seconds = f"{10_000 + os.getpid()}.75"
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "TMPDIR": home}
        words = [sys.executable, "-c", KILLED, seconds]
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as one:
            try:
                assert one.stdout is not None
                assert one.stdout.readline()
                assert there("sleep", seconds)
            finally:
                one.kill()
        assert gone("sleep", seconds)
        deadline = time.monotonic() + 20
        while ours := [line for line in command_lines().values() if home in line]:
            assert time.monotonic() < deadline, ours
            time.sleep(0.02)


@pytest.mark.parametrize("are_usable", [True, False], ids=["launcher", "bwrap"])
def test_no_zombie_is_left(sandbox: BubblewrapSandbox, are_usable: bool) -> None:
    """Every process that a call made is reaped when it is over; zombies would slow down all later ends."""
    sandbox._host.launchers.are_usable = are_usable

    async def main() -> None:
        async with sandbox.open(SandboxSpec(label="test")) as workspace:
            for _ in range(5):
                await (await workspace.start(Command(argv=("true",)))).wait()

    before = {child for child, state in children() if state == "Z"}
    within(main())
    assert not [child for child, state in children() if state == "Z" and child not in before]


def test_commands_share_nothing_that_they_can_write_to(sandbox: BubblewrapSandbox) -> None:
    """What is mounted once for all of them is there for reading, but for devices, which keep nothing."""

    async def mounts(place: Workspace) -> dict[tuple[str, str], tuple[str, str]]:
        """Of each mount of a command that goes on: device and place in it, with its path and its options."""
        script = "cat /proc/self/mountinfo >mounts; touch told; exec sleep 60"
        await place.start(Command(argv=("sh", "-c", script)))
        while not (place.root / "told").exists():
            await asyncio.sleep(0.01)
        lines = (line.split() for line in (place.root / "mounts").read_text().splitlines())
        return {(device, root): (path, options) for _, _, device, root, path, options, *_ in lines}

    async def of_two() -> tuple[dict[tuple[str, str], tuple[str, str]], ...]:
        spec = SandboxSpec(label="test", network=False)
        async with sandbox.open(spec) as first, sandbox.open(spec) as second:  # a number of a device may be used again
            return await mounts(first), await mounts(second)

    one, other = within(of_two())
    shared = [one[place] for place in one.keys() & other.keys()]
    assert {"/usr", "/etc", "/dev"} <= {path for path, _ in shared}
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    assert {path for path, options in shared if "rw" in options.split(",")} == devices
    own = {path for place, (path, _) in one.items() if place not in other}
    assert {"/", "/proc", "/dev/pts", "/dev/shm", "/tmp"} <= own


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount anything")
def test_mounts_made_outside_later_do_not_appear_within() -> None:
    """What commands share stays as it was when the first of them started; a later mount would be one to write to."""
    words = ["unshare", "--mount", "--propagation", "shared", sys.executable, "-c", MOUNTED_LATE]
    done = subprocess.run(words, capture_output=True, text=True, timeout=GENEROUS_S, check=False)
    assert done.stdout == "True\n", done.stderr


def test_exit_codes_are_exact(sandbox: BubblewrapSandbox) -> None:
    """A code that a shell would use for a signal is still told as a code, and a signal as that signal."""
    scripts = ("exit 137", "exit 143", "kill -9 $$", "kill -15 $$")
    ended = [ran(sandbox, "sh", "-c", script) for script in scripts]
    assert [(one.exit_code, one.signal) for one in ended] == [(137, None), (143, None), (None, 9), (None, 15)]


def test_a_program_is_found_by_the_path_of_its_command(sandbox: BubblewrapSandbox) -> None:
    """And not by that of whoever starts it, nor by its own when the command has none."""

    async def main() -> None:
        async with sandbox.open(SandboxSpec(label="test", network=False)) as workspace:
            program = workspace.root / "only-here"
            program.write_text("#!/bin/sh\necho found\n")
            program.chmod(0o755)
            place = {"PATH": str(workspace.root)}
            finished = await (await workspace.start(Command(argv=("only-here",), env=place))).wait()
            assert finished.stdout == b"found\n"
            with pytest.raises(LaunchError):
                await (await workspace.start(Command(argv=("only-here",)))).wait()

    within(main())


def test_streams_end_when_the_command_has_closed_them(sandbox: BubblewrapSandbox) -> None:
    """Nothing but the command holds them open, although more goes on than the command."""

    async def main() -> list[bytes]:
        async with sandbox.open(SandboxSpec(label="test", network=False)) as workspace:
            script = "echo told; exec >&- 2>&-; sleep 1000"
            running = await workspace.start(Command(argv=("sh", "-c", script), interactive=True))
            lines = [line async for line in running.lines()]
            await running.stop()
            return lines

    assert within(main()) == [b"told"]


def test_an_ended_launcher_is_replaced(sandbox: BubblewrapSandbox) -> None:
    """Whoever ends the launcher, or the copy that waits, ends no running call, and the next one works."""

    async def main() -> None:
        async with sandbox.open(SandboxSpec(label="test", network=False)) as workspace:
            running = await workspace.start(Command(argv=("cat",), interactive=True))
            for child in set(own_launchers()) - {running.pid}:
                os.kill(child, signal.SIGKILL)
            await running.write(b"still here\n")
            assert await anext(running.lines()) == b"still here"
            finished = await (await workspace.start(Command(argv=("echo", "again")))).wait()
            assert finished.stdout == b"again\n"
            await running.stop()

    within(main())
    assert sandbox._host.launchers.are_usable


def test_who_is_late_leaves_the_new_launcher(sandbox: BubblewrapSandbox) -> None:
    """A thread that finds out after another one that a launcher is gone does not throw away the one that followed."""
    launchers = sandbox._host.launchers
    ran(sandbox, "true")
    (old,) = launchers._running.values()
    old._control.shutdown(socket.SHUT_RDWR)
    ran(sandbox, "true")
    (new,) = launchers._running.values()
    assert new is not old
    launchers._forget(old)
    assert list(launchers._running.values()) == [new]


@pytest.mark.slow
def test_launchers_end_with_their_sandbox(sandbox: BubblewrapSandbox) -> None:
    """Without a sandbox there is no launcher, no copy and no /etc of it, even if a fork of ours has its socket."""
    before = set(own_launchers())
    other = BubblewrapSandbox(BubblewrapOptions(tmp_mb=17))
    ran(other, "true")
    ((etc, _),) = other._host.system._made.values()
    (launcher,) = other._host.launchers._running.values()
    inherited = os.dup(launcher._control.fileno())
    assert set(own_launchers()) - before
    assert etc.is_dir()
    known = {child for child, _ in children()} - set(own_launchers())
    del other, launcher
    gc.collect()
    assert not set(own_launchers()) - before
    assert not [child for child, state in children() if state == "Z" and child not in known]
    assert not etc.exists()
    os.close(inherited)


def test_a_launcher_that_does_not_answer_is_given_up(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever for one that stands still; the command is not started twice, and the next has a new one."""
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    monkeypatch.setattr(launching, "_END_S", 0.0)
    with monkeypatch.context() as for_now:
        put_in_its_place("import signal; signal.pause()", form, tmp_path, for_now)
        for_now.setattr(launching, "_ANSWER_S", 0.05)
        with pytest.raises(LaunchError, match="does not answer"):
            ran(sandbox, "true")
    assert ran(sandbox, "echo", "again").stdout == b"again\n"
    assert sandbox._host.launchers.are_usable


def test_a_bwrap_that_is_killed_early_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Process 1 that it made, but which does not know yet that it must end with bwrap, is ended and not waited for."""
    program, trace = tmp_path / "bwrap", tmp_path / "trace"
    program.write_text(f"#!{sys.executable}\n{KILLED_EARLY % trace}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    sandbox._host.launchers.are_usable = False
    finished = ran(sandbox, "true")
    assert finished.signal == signal.SIGKILL
    assert not trace.exists()


def test_a_bwrap_that_cannot_be_executed_leaves_no_descriptor(tmp_path: Path) -> None:
    """Whatever was opened for it is closed when it comes to nothing."""
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    sandbox._host.launchers.are_usable = False
    sandbox._host = replace(sandbox._host, bwrap=str(tmp_path / "missing"), groups=())  # no shell in front of it
    with pytest.raises(LaunchError):
        ran(sandbox, "true")
    with leaves_nothing(), pytest.raises(LaunchError):
        ran(sandbox, "true")


@pytest.mark.parametrize(
    "program", ["", "raise SystemExit", "import os; os.write(int(__import__('sys').argv[1]), b'?')"]
)
def test_bwrap_steps_in(program: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the launcher cannot confine a command, bwrap does, for this one and for all that follow."""
    put_in_its_place(program, form, tmp_path, monkeypatch)
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    finished = ran(sandbox, "sh", "-c", "grep -c : /proc/net/dev; ls /root /home")
    assert finished.stdout.startswith(b"1\n")
    assert not sandbox._host.launchers.are_usable
    assert not within(sandbox.check()).problems
    proving = BubblewrapSandbox(BubblewrapOptions())
    assert not within(proving.check()).problems
    assert ran(proving, "echo", "here").stdout == b"here\n"
    assert not proving._host.launchers.are_usable


def test_a_launcher_tells_what_prevents_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what commands have in common cannot be mounted, each call is answered with the reason."""
    wrong = ["folder", "usr", "mount", "nothing", "usr", "no-file-system", "0", ""]
    monkeypatch.setattr(launching, "plans_in_common", lambda words: (wrong, []))
    start, reasons = launching.Launchers.start, []

    def recorded(self: launching.Launchers, request: launching.Request, *streams: int) -> launching.Confined:
        try:
            return start(self, request, *streams)
        except launching.UnconfinedError as error:
            reasons.append(str(error))
            raise

    monkeypatch.setattr(launching.Launchers, "start", recorded)
    assert ran(BubblewrapSandbox(BubblewrapOptions()), "echo", "here").stdout == b"here\n"
    assert reasons == ["No such device: usr"]


def test_a_launcher_that_does_not_confine_is_not_used(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that starts commands but hides nothing from them is found out by trying, and bwrap is used."""
    lax = 'import os, sys\nsys.argv = ["network" if word == "alone" else word for word in sys.argv]\n'
    lax += launching.PROGRAM if form == "python" else f"os.execv({str(launching.COMPILED)!r}, sys.argv)"
    put_in_its_place(lax, form, tmp_path, monkeypatch)
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    assert not within(sandbox.check()).problems
    assert ran(sandbox, "grep", "-c", ":", "/proc/net/dev").stdout == b"1\n"
    assert not sandbox._host.launchers.are_usable


def test_the_launcher_is_started_with_the_first_workspace(sandbox: BubblewrapSandbox) -> None:
    """A dry run finds out whether bubblewrap works, and neither starts nor proves what it does not use."""
    other = BubblewrapSandbox(BubblewrapOptions(tmp_mb=18))
    assert not within(other.check()).problems
    assert not other._host.launchers._running
    ran(other, "true")
    assert other._host.launchers._running
    assert other._host.launchers.are_usable


def test_a_workspace_without_processes_makes_nothing(sandbox: BubblewrapSandbox) -> None:
    """Control groups, /etc and the watch over its size come with the first process; /etc is shared from then on."""

    async def main() -> None:
        async with sandbox.open(SandboxSpec(label="test")) as workspace:
            assert workspace._group is None
            assert sorted(path.name for path in workspace.folder.iterdir()) == ["work"]
        for _ in range(2):
            async with sandbox.open(SandboxSpec(label="test")) as workspace:
                await (await workspace.start(Command(argv=("true",)))).wait()

    made = len(sandbox._host.system._made)
    within(main())
    assert len(sandbox._host.system._made) == made + 1

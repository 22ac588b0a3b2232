"""Processes: what comes out of them, what ends them, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from skillgauge.contract.sandboxes import Command, Finished
from skillgauge.errors import LaunchError
from skillgauge_processes import _posix, _pump
from skillgauge_processes.running import MARKER, Process, start
from skillgauge_testkit.leftovers import open_descriptors

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us adopt orphans and look into /proc")
ENV = {"PATH": os.environ["PATH"]}
PYTHON = (sys.executable, "-S", "-E", "-c")
GENEROUS_S = 30.0
"""Far more than anything here takes; a test that waits so long has failed."""


async def launch(*argv: str, cwd: str = "/", env: dict[str, str] = ENV, **options: Any) -> Process:
    """Start a process."""
    return await start(Command(argv=argv, **options), argv=argv, cwd=cwd, env=env)


def run(*argv: str, **options: Any) -> Finished:
    """Start a process and wait for its end."""

    async def main() -> Finished:
        return await (await launch(*argv, **options)).wait()

    finished: Finished = within(main())
    return finished


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that must end at all."""
    return asyncio.run(asyncio.wait_for(coroutine, GENEROUS_S))


def python(code: str) -> tuple[str, ...]:
    """A command that runs Python code."""
    return (*PYTHON, textwrap.dedent(code))


def gone(pid: int) -> bool:
    """Whether a process is neither alive nor a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def children() -> set[str]:
    """All children of this process, zombies included."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


async def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that another process does."""
    while not (value := condition()):
        await asyncio.sleep(0.005)
    return value


# --- what comes out ---------------------------------------------------------------------------------------


def test_reports_streams_and_exit_code() -> None:
    """Both streams and the exit code arrive, and the time is counted."""
    finished = run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (finished.exit_code, finished.signal) == (3, None)
    assert (finished.stdout, finished.stderr) == (b"out\n", b"err\n")
    assert 0 < finished.duration_s < GENEROUS_S
    assert not finished.timed_out
    assert not finished.left_behind


def test_reports_a_crash_as_signal() -> None:
    """A process that dies of a signal has no exit code."""
    finished = run("sh", "-c", "echo before; kill -SEGV $$")
    assert (finished.exit_code, finished.signal) == (None, signal.SIGSEGV)
    assert finished.stdout == b"before\n"


def test_reports_a_kill_from_outside() -> None:
    """A process that somebody else kills is reported with that signal, and as neither timed out nor stopped."""

    async def main() -> Finished:
        process = await launch("sleep", "60")
        os.kill(process.pid, signal.SIGKILL)
        return await process.wait()

    finished = within(main())
    assert (finished.exit_code, finished.signal, finished.timed_out) == (None, signal.SIGKILL, False)


def test_output_is_bytes() -> None:
    """Output that is no UTF-8 arrives as it is."""
    assert run("printf", r"\377\000\303(").stdout == b"\xff\x00\xc3("


def test_flood_is_dropped_and_counted() -> None:
    """A flood on both streams neither stalls the process nor is kept beyond the limit."""
    code = "import os\nfor _ in range(800):\n    os.write(1, bytes(65536)); os.write(2, bytes(32768))"
    finished = run(*python(code), output_bytes=1000)
    assert finished.exit_code == 0
    assert (len(finished.stdout), finished.stdout_dropped) == (1000, 800 * 65536 - 1000)
    assert (len(finished.stderr), finished.stderr_dropped) == (1000, 800 * 32768 - 1000)


def test_what_is_written_line_by_line_is_not_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that writes a little every few milliseconds does not wake its thread each time."""
    reads: list[bytes] = []
    feed = _pump._Capture.feed

    def counted(capture: _pump._Capture, chunk: bytes) -> None:
        reads.append(chunk)
        feed(capture, chunk)

    monkeypatch.setattr(_pump._Capture, "feed", counted)
    code = "import os, time\nfor number in range(300):\n    os.write(2, b'%d ' % number); time.sleep(0.002)"
    finished = run(*python(code))
    assert finished.stderr.split() == [b"%d" % number for number in range(300)]
    assert len(reads) < 150


def test_input_of_any_size_reaches_the_process() -> None:
    """More input than a pipe holds, echoed at the same time, does not deadlock."""
    data = bytes(range(256)) * 8192
    assert run("cat", stdin=data).stdout == data


def test_process_need_not_read_its_input() -> None:
    """Input that a process refuses is no error of it."""
    finished = run("sh", "-c", "exec <&-; echo done", stdin=bytes(2_000_000))
    assert (finished.exit_code, finished.stdout) == (0, b"done\n")


def test_without_input_stdin_is_at_its_end() -> None:
    """A process that reads stdin although there is none sees its end, not our terminal."""
    assert run("cat").stdout == b""


def test_environment_is_exactly_the_given_one() -> None:
    """A process sees the given variables and our marker, which continues the one of a skillgauge around us."""
    lines = run("env", env={**ENV, "A": "1", MARKER: "outer."}).stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert names == {"PATH", "A", MARKER}
    assert any(line.startswith(f"{MARKER}=outer.") and len(line) > len(f"{MARKER}=outer.") for line in lines)


def test_runs_in_the_given_folder(tmp_path: Path) -> None:
    """The working directory is the given one, and a relative program is looked up there."""
    (tmp_path / "tool").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "tool").chmod(0o755)
    assert run("./tool", cwd=str(tmp_path)).stdout.decode().strip() == str(tmp_path.resolve())


def test_can_be_awaited_again() -> None:
    """Several waiters get the same outcome, also after the end; stopping what has ended changes nothing."""

    async def main() -> None:
        process = await launch("true")
        first, second = await asyncio.gather(process.wait(), process.wait())
        assert first is second
        assert await process.wait() is first
        assert await process.stop() is first

    within(main())


# --- what ends a process ----------------------------------------------------------------------------------


def test_deadline_ends_a_hanging_process() -> None:
    """A process that hangs is asked to end, and the result says so."""
    finished = run("sleep", "60", timeout_s=0.1)
    assert (finished.exit_code, finished.signal, finished.timed_out) == (None, signal.SIGTERM, True)


def test_deadline_of_zero_is_a_deadline() -> None:
    """No time at all is not the same as no limit."""
    assert run("sleep", "60", timeout_s=0).timed_out


def test_deadline_keeps_what_the_process_said() -> None:
    """Output and exit code of a process that heeds SIGTERM are kept."""
    finished = run("sh", "-c", "trap 'echo end; exit 7' TERM; echo begin; sleep 60 & wait", timeout_s=0.5)
    assert (finished.exit_code, finished.signal, finished.timed_out) == (7, None, True)
    assert finished.stdout == b"begin\nend\n"


@pytest.mark.slow
def test_deadline_kills_what_ignores_it() -> None:
    """SIGKILL follows for a group that ignores SIGTERM, grandchildren included."""
    finished = run("sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; wait", timeout_s=0.5)
    assert (finished.signal, finished.timed_out) == (signal.SIGKILL, True)
    assert gone(int(finished.stdout))


@pytest.mark.slow
def test_grandchild_that_ignores_the_deadline_is_killed() -> None:
    """The main process heeds SIGTERM, its child does not: both are gone, and the answer is kept."""
    finished = run("sh", "-c", "(trap '' TERM; sleep 60) & echo $!; sleep 60", timeout_s=0.5)
    assert finished.timed_out
    assert finished.left_behind
    assert gone(int(finished.stdout))


def test_stop_ends_an_endless_flood() -> None:
    """A process that never stops writing can be stopped."""

    async def main() -> Finished:
        process = await launch("yes", output_bytes=100)
        await asyncio.sleep(0)
        return await process.stop()

    finished = within(main())
    assert finished.signal == signal.SIGTERM
    assert not finished.timed_out


def test_cancel_kills_grandchildren(tmp_path: Path) -> None:
    """A cancelled waiter leaves only when the process and its stubborn grandchildren are gone and reaped."""
    note = tmp_path / "pids"
    script = (
        f"trap '' TERM; (sleep 60 & sleep 60 & wait) & sleep 60 & echo $! $$ >{note}.new; mv {note}.new {note}; wait"
    )

    async def main() -> None:
        process = await launch("sh", "-c", script)
        task = asyncio.create_task(process.wait())
        await asyncio.sleep(0)  # it must have begun to wait
        await until(note.exists)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # impatience does not make it leave earlier
        with pytest.raises(asyncio.CancelledError):
            await task
        assert all(gone(int(pid)) for pid in note.read_text().split())
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)

    within(main())


@linux
def test_cancel_during_the_start_leaves_nothing() -> None:
    """A start that is cancelled ends the process that comes of it."""

    async def main() -> None:
        before = children()
        task = asyncio.create_task(launch("sleep", "60"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children() <= before

    within(main())


# --- what is left behind ----------------------------------------------------------------------------------


def test_grandchild_that_holds_the_pipe_is_killed() -> None:
    """A grandchild that keeps stdout open cannot hold up the result, and is gone."""
    finished = run("sh", "-c", "sleep 60 & echo $!")
    assert (finished.exit_code, finished.left_behind) == (0, True)
    assert gone(int(finished.stdout))


def test_silent_grandchild_is_killed() -> None:
    """A grandchild that holds nothing of ours is found and killed all the same."""
    finished = run("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")
    assert (finished.exit_code, finished.left_behind) == (0, True)
    assert gone(int(finished.stdout))


def test_grandchild_may_finish_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grandchild that ends just after the main process is heard and is not called left behind."""
    code = """
        import os
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(writer)
            os.read(reader, 1)  # returns when the parent has ended
            os.write(1, b"late\\n")
        else:
            os.write(1, b"early\\n")
            os._exit(0)
    """
    monkeypatch.setattr(_pump, "_LINGER_S", GENEROUS_S)
    finished = run(*python(code))
    assert (finished.stdout, finished.left_behind) == (b"early\nlate\n", False)


ESCAPE = """
    import os, sys, time
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        {middle}
        os.write(writer, b"%d" % os.getpid())
        {before}
        time.sleep(60)
    os.write(1, os.read(reader, 100))
    os._exit(0)
"""


@linux
@pytest.mark.parametrize("middle", ["pass", "if os.fork(): os._exit(0)"], ids=["setsid", "daemon"])
@pytest.mark.parametrize("before", ["pass", "os.closerange(0, 100)"], ids=["holding", "silent"])
def test_descendant_that_left_the_group_is_killed(middle: str, before: str) -> None:
    """Neither a session of its own nor a double fork saves a descendant, and no zombie stays."""
    already = children()
    finished = run(*python(ESCAPE.format(middle=middle, before=before)))
    assert (finished.exit_code, finished.left_behind) == (0, True)
    assert gone(int(finished.stdout))
    assert children() <= already


@linux
def test_other_children_are_left_alone() -> None:
    """Killing what a process leaves behind does not touch a child that somebody else started."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        try:
            finished = run(*python(ESCAPE.format(middle="pass", before="pass")))
            assert finished.left_behind
            assert other.poll() is None
        finally:
            other.kill()


@linux
def test_processes_of_a_killed_skillgauge_are_killed() -> None:
    """A skillgauge inside of a process that is killed hard leaves processes, which we end."""
    code = """
        import asyncio, os
        from skillgauge_processes.running import start
        from skillgauge.api import Command
        async def main():
            argv = ("sleep", "60")
            process = await start(Command(argv=argv), argv=argv, cwd="/", env=os.environ)
            print(process.pid, flush=True)
            os.kill(os.getpid(), 9)
        asyncio.run(main())
    """
    finished = run(sys.executable, "-c", textwrap.dedent(code))
    assert (finished.signal, finished.left_behind) == (signal.SIGKILL, True)
    assert gone(int(finished.stdout))


@pytest.mark.slow
@linux
def test_nothing_leaks() -> None:
    """After 200 processes there are as many descriptors and children as before, and a few threads."""

    async def some(count: int) -> None:
        async def one() -> None:
            process = await launch("cat", stdin=b"x")
            assert (await process.wait()).stdout == b"x"

        async def untidy() -> None:
            process = await launch("sh", "-c", "setsid sleep 60 & sleep 60 & cat", interactive=True)
            await process.write(b"x\n")
            assert await anext(process.lines()) == b"x"
            await process.stop()

        for _ in range(count):
            await asyncio.gather(one(), one(), one(), one())
        await asyncio.gather(untidy(), untidy(), untidy(), untidy())

    async def main() -> None:
        await some(1)
        descriptors, running = open_descriptors(), children()
        await some(49)
        assert not open_descriptors() - descriptors
        assert children() == running
        # Not 4: an earlier test may have left idle ones, and one that has told of an end may not be idle yet.
        assert sum(thread.name == "skillgauge-process" for thread in threading.enumerate()) <= 8

    within(main())


def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread without work ends after a while, and the next process gets a new one."""
    threads = _pump._Threads()
    monkeypatch.setattr("skillgauge_processes.running.attend", threads.attend)
    monkeypatch.setattr(_pump, "_IDLE_S", 0.01)
    before = set(threading.enumerate())
    for _ in range(2):
        assert run("echo", "x").stdout == b"x\n"
        for thread in set(threading.enumerate()) - before:
            thread.join(GENEROUS_S)
            assert not thread.is_alive()


# --- what cannot be started -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "number", "text"),
    [
        (["no-such-program"], errno.ENOENT, "'no-such-program' is not there"),
        (["./plain"], errno.EACCES, "chmod"),
        (["./garbage"], errno.ENOEXEC, "#!"),
        (["./lost"], errno.ENOENT, "what its first line names"),
        (["plain/program"], errno.ENOTDIR, "is not there"),
        (["true", "x" * 3_000_000], errno.E2BIG, "stdin or a file"),
        (["true", "a\0b"], None, "null byte"),
        ([], None, "cannot be started"),
    ],
    ids=["absent", "not-executable", "no-format", "no-interpreter", "below-a-file", "too-long", "nul", "empty"],
)
def test_what_cannot_start_says_why(argv: list[str], number: int | None, text: str, tmp_path: Path) -> None:
    """Each way in which a start can fail has its own message and keeps the system's error number."""
    (tmp_path / "plain").write_text("x")
    (tmp_path / "garbage").write_bytes(b"\x01\x02")
    (tmp_path / "lost").write_text("#!/no/such/interpreter\n")
    for name in ("garbage", "lost"):
        (tmp_path / name).chmod(0o755)
    with pytest.raises(LaunchError, match=text) as caught:
        run(*argv, cwd=str(tmp_path), stdin=b"x")
    assert caught.value.errno == number


def test_lost_working_directory_is_named(tmp_path: Path) -> None:
    """A working directory that is gone is told from a program that is."""
    with pytest.raises(LaunchError, match=r"working directory .*gone is not there"):
        run("true", cwd=str(tmp_path / "gone"))


def test_lack_of_descriptors_is_named() -> None:
    """Without file descriptors the start fails with advice, and works again afterwards."""

    async def main() -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 3, hard))
        try:
            with pytest.raises(LaunchError, match="ulimit -n"):
                await launch("true")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (await (await launch("true")).wait()).exit_code == 0

    within(main())


def test_lack_of_processes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system refuses a process, the advice is to lower the concurrency."""

    def refuse(*_arguments: object, **_options: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(LaunchError, match="concurrency"):
        run("true")


def test_lack_of_threads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system refuses a thread, that is a failed launch, too."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("skillgauge_processes.running.attend", _pump._Threads().attend)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(LaunchError, match="no further thread"):
        run("true")


def test_defect_in_the_thread_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in the thread reaches the waiter, and the process does not survive it."""

    def fail() -> None:
        raise ZeroDivisionError

    async def main() -> None:
        process = await launch("sleep", "60")
        with pytest.raises(ZeroDivisionError):
            await process.wait()
        assert gone(process.pid)

    monkeypatch.setattr("select.poll", fail)
    within(main())


# --- limits -----------------------------------------------------------------------------------------------
# The limits are set before input is written, so a process that reads first has them for sure.


@linux
def test_no_core_dumps() -> None:
    """A crashing process leaves no core file."""
    assert run("sh", "-c", "read go; ulimit -Hc", stdin=b"go\n").stdout == b"0\n"


@linux
def test_size_of_written_files_is_limited(tmp_path: Path) -> None:
    """A process that writes too large a file is ended by the system."""
    finished = run(
        "sh", "-c", "read go; exec head -c 5000 /dev/zero >big", cwd=str(tmp_path), stdin=b"\n", file_bytes=1000
    )
    assert finished.signal == signal.SIGXFSZ
    assert (tmp_path / "big").stat().st_size == 1000


@linux
def test_processor_time_is_limited() -> None:
    """Processor time is limited: first comes a signal that can be heeded, a second later the end."""
    assert run("sh", "-c", "read go; ulimit -St; ulimit -Ht", stdin=b"go\n", cpu_s=5).stdout == b"5\n6\n"


@linux
def test_limits_respect_a_lower_one() -> None:
    """A limit that the system has set lower stays, instead of failing the start."""
    code = """
        import asyncio, resource
        from skillgauge_processes.running import start
        from skillgauge.api import Command
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        async def main():
            argv = ("sh", "-c", "read go; ulimit -f")
            command = Command(argv=argv, stdin=b"go", file_bytes=1_000_000)
            process = await start(command, argv=argv, cwd="/", env={"PATH": "/bin:/usr/bin"})
            print((await process.wait()).stdout.decode(), end="")
        asyncio.run(main())
    """
    finished = run(sys.executable, "-c", textwrap.dedent(code))
    assert finished.stdout.strip() in (b"4", b"8"), finished.stderr  # in blocks of 1024 or 512 bytes


# --- conversations ----------------------------------------------------------------------------------------


def test_conversation() -> None:
    """What is written comes back line by line, and stopping reports what nobody read."""

    async def main() -> None:
        process = await launch("cat", interactive=True)
        lines = process.lines()
        for word in (b"one", b"two\r", b""):
            await process.write(word + b"\n")
            assert await anext(lines) == word.rstrip(b"\r")
        await process.write(b"rest")
        finished = await process.stop()
        assert finished.signal == signal.SIGTERM
        assert [line async for line in lines] in ([b"rest"], [])

    within(main())


def test_streamed_process_gets_its_input_and_is_read_as_it_works() -> None:
    """A streamed process reads all of its stdin to the end, and its lines come before it has ended."""

    async def main() -> None:
        process = await launch("sh", "-c", "cat; echo; while :; do sleep 1; done", stdin=b"x" * 200_000, streamed=True)
        assert await anext(process.lines()) == b"x" * 200_000
        with pytest.raises(RuntimeError, match="not interactive"):
            await process.write(b"more")
        assert (await process.stop()).signal == signal.SIGTERM

    within(main())


def test_streamed_process_without_input_sees_the_end() -> None:
    """Without input there is nothing to wait for."""

    async def main() -> None:
        process = await launch("cat", streamed=True)
        assert [line async for line in process.lines()] == []
        assert (await process.wait()).exit_code == 0

    within(main())


def test_lines_end_with_the_stream() -> None:
    """The last line needs no newline, and the lines end when the process closes its stdout."""

    async def main() -> None:
        process = await launch("printf", r"a\n\nb", interactive=True)
        assert [line async for line in process.lines()] == [b"a", b"", b"b"]
        assert (await process.wait()).exit_code == 0

    within(main())


def test_lines_remain_after_the_end() -> None:
    """Output that nobody has read when the process ends can still be read, and is in the report."""

    async def main() -> None:
        process = await launch("printf", r"a\nb\n", interactive=True)
        finished = await process.wait()
        assert finished.stdout == b"a\nb\n"
        assert [line async for line in process.lines()] == [b"a", b"b"]

    within(main())


def test_slow_reader_loses_nothing() -> None:
    """The process waits for its reader, so that memory is bounded and nothing gets lost."""

    async def main() -> None:
        process = await launch("seq", "100000", interactive=True, output_bytes=1000)
        count = 0
        async for line in process.lines():
            count += 1
            assert int(line) == count
            if count % 10_000 == 0:
                await asyncio.sleep(0)
        assert count == 100_000
        assert (await process.wait()).stdout_dropped == 0

    within(main())


def test_reading_while_somebody_waits() -> None:
    """A task that waits for the end does not take away lines from the one that reads them."""

    async def main() -> None:
        process = await launch("seq", "50000", interactive=True, output_bytes=1000)
        lines = process.lines()
        assert await anext(lines) == b"1"
        waiter = asyncio.create_task(process.wait())
        assert sum([1 async for _ in lines]) == 49_999
        assert (await waiter).stdout_dropped == 0

    within(main())


def test_waiting_alone_drops_the_excess() -> None:
    """Who waits and does not read gets the beginning; the process is not held up."""

    async def main() -> None:
        process = await launch("head", "-c", "1000000", "/dev/zero", interactive=True, output_bytes=1000)
        finished = await process.wait()
        assert (finished.exit_code, len(finished.stdout), finished.stdout_dropped) == (0, 1000, 999_000)

    within(main())


def test_waiting_after_reading_some_drops_the_excess() -> None:
    """Who has stopped reading halfway can wait for the end."""

    async def main() -> None:
        process = await launch("seq", "100000", interactive=True, output_bytes=1000)
        async for line in process.lines():
            assert line == b"1"
            break
        finished = await process.wait()
        assert finished.exit_code == 0
        assert finished.stdout_dropped > 0

    within(main())


def test_overlong_line_is_cut() -> None:
    """Of an overlong line the beginning arrives, and the next line is whole."""
    code = "import os\nos.write(1, b'x' * 300_000 + b'\\nnext\\n' + b'y' * 1001 + b'\\nlast')"

    async def main() -> None:
        process = await launch(*python(code), interactive=True, output_bytes=1000)
        lines = [line async for line in process.lines()]
        assert lines == [b"x" * 1000, b"next", b"y" * 1000, b"last"]
        assert (await process.wait()).stdout_dropped == 299_000 + 1

    within(main())


def test_writing_waits_for_the_reader() -> None:
    """More than a pipe holds can be written, by two writers without mixing their lines."""

    async def main() -> None:
        process = await launch("cat", interactive=True)
        writers = [asyncio.create_task(process.write(word * 1_000_000 + b"\n")) for word in (b"a", b"b")]
        lines = process.lines()
        assert {await anext(lines), await anext(lines)} == {b"a" * 1_000_000, b"b" * 1_000_000}
        await asyncio.gather(*writers)
        await process.stop()

    within(main())


def test_writing_to_the_deaf_fails() -> None:
    """A process that has closed its stdin, or has ended, breaks the pipe."""

    async def main() -> None:
        process = await launch("sh", "-c", "exec <&-; echo deaf; sleep 60", interactive=True)
        assert await anext(process.lines()) == b"deaf"
        with pytest.raises(BrokenPipeError):
            await process.write(b"x")
        await process.stop()
        with pytest.raises(BrokenPipeError):
            await process.write(b"x")

    within(main())


def test_end_wakes_a_blocked_writer() -> None:
    """A writer that waits for room in the pipe learns of the end."""

    async def main() -> None:
        process = await launch("sleep", "60", interactive=True)
        writer = asyncio.create_task(process.write(bytes(1_000_000)))
        await asyncio.sleep(0)
        await process.stop()
        with pytest.raises(BrokenPipeError):
            await writer

    within(main())


def test_cancelled_conversation_is_killed() -> None:
    """Cancelling the waiter kills an interactive process, too."""

    async def main() -> None:
        process = await launch("cat", interactive=True)
        task = asyncio.create_task(process.wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(process.pid)

    within(main())


def test_one_shot_process_cannot_be_talked_to() -> None:
    """Reading lines of or writing to a process that was not started for it is a defect of the caller."""

    async def main() -> None:
        process = await launch("true")
        with pytest.raises(RuntimeError, match="interactive"):
            await process.write(b"x")
        with pytest.raises(RuntimeError, match="interactive"):
            process.lines()
        await process.wait()

    within(main())


# --- other systems, other circumstances -------------------------------------------------------------------


def test_works_without_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the exit of a process cannot be polled for, it is noticed all the same."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert run("echo", "x").stdout == b"x\n"
    assert run("sleep", "60", timeout_s=0.1).timed_out
    assert run("sh", "-c", "exec >&- 2>&-; exit 4").exit_code == 4


def test_works_without_adoption(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where orphans cannot be adopted, the group is still killed."""
    monkeypatch.setattr(_pump, "adopt_orphans", lambda: False)
    finished = run("sh", "-c", "sleep 60 & echo $!")
    assert (finished.exit_code, finished.left_behind) == (0, True)
    within(until(lambda: gone(int(finished.stdout)) or is_zombie(int(finished.stdout))))


def is_zombie(pid: int) -> bool:
    """Whether a process is dead, but not reaped; we have to do that if this process adopted it earlier."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it is process 1 that has to
        return False


def test_closed_loop_is_no_trouble() -> None:
    """A process that outlives its event loop is attended to until its end."""

    async def main() -> Process:
        return await launch("sleep", "60")

    process = asyncio.run(main())
    os.kill(process.pid, signal.SIGKILL)
    within(until(lambda: gone(process.pid)))


PROGRAM = """
    import asyncio, os, signal, sys
    from skillgauge_processes.running import start
    from skillgauge.api import Command

    async def launch(*argv):
        return await start(Command(argv=argv), argv=argv, cwd="/", env=os.environ)

    async def echo():
        return (await (await launch("echo", "x")).wait()).stdout
"""


def program(code: str) -> tuple[str, ...]:
    """A command that runs a program with functions for starting processes."""
    return (sys.executable, "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(code))


def test_exit_kills_what_runs() -> None:
    """A program that ends without stopping its processes takes them along, dead if not reaped."""
    finished = run(*program("print(asyncio.run(launch('sleep', '60')).pid)"))
    assert (finished.exit_code, finished.stderr, finished.left_behind) == (0, b"", False)
    pid = int(finished.stdout)
    within(until(lambda: gone(pid) or is_zombie(pid)))


@pytest.mark.slow
def test_forked_child_starts_afresh() -> None:
    """A fork of a program that has used threads can start processes itself and does not kill its parent's."""
    code = """
        async def main():
            sleeper = await launch("sleep", "60")
            await echo()
            if (child := os.fork()) == 0:
                signal.alarm(20)
                asyncio.set_event_loop(None)
                asyncio.events._set_running_loop(None)
                assert asyncio.run(echo()) == b"x\\n"
                sys.exit(5)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
            os.kill(sleeper.pid, 0)
            assert (await sleeper.stop()).signal == signal.SIGTERM
        asyncio.run(main())
    """
    finished = run(*program(code))
    assert finished.exit_code == 0, finished.stderr.decode()


def test_windows_is_told() -> None:
    """On Windows the module can be imported and says what does not work when it is used."""
    code = """
        import asyncio, ctypes, os, select, shutil, signal, subprocess, sys, tempfile
        from skillgauge.errors import LaunchError
        from skillgauge.api import Command
        for module, names in ((os, "killpg register_at_fork set_blocking"), (signal, "SIGKILL"), (select, "poll")):
            for name in names.split():
                delattr(module, name)
        sys.platform, sys.modules["resource"] = "win32", None
        import skillgauge_processes.workspace
        from skillgauge_processes.running import start
        try:
            asyncio.run(start(Command(argv=("x",)), argv=("x",), cwd="/", env={}))
        except LaunchError as error:
            assert "Windows" in str(error)
            sys.exit(9)
    """
    finished = run(sys.executable, "-c", textwrap.dedent(code))
    assert finished.exit_code == 9, finished.stderr.decode()


@linux
def test_descendant_is_recognised_while_it_starts_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of execve a process shows no environment; it used to be taken for a stranger's and to survive."""
    read, early = _posix._read, iter([b""] * 4)
    with subprocess.Popen(["sleep", "60"], env={**ENV, "MARK": "x"}) as child:
        try:
            monkeypatch.setattr(_posix, "_read", lambda path: next(early, read(path)))
            assert b"MARK=x" in _posix._environ(child.pid)
            monkeypatch.setattr(_posix, "_read", lambda _path: b"")
            monkeypatch.setattr(_posix, "_EXEC_TICKS", 2)
            assert _posix._environ(child.pid) == b""
        finally:
            child.kill()


@linux
def test_adoption_is_a_property_of_this_process() -> None:
    """We are the parent of orphans, as the module says."""
    assert _posix.adopt_orphans()


def test_nobody_waits_for_the_reaping() -> None:
    """Who stops a process, in the event loop, does not have to wait until who started it has cleared up after it."""
    entered, released = threading.Event(), threading.Event()
    in_time = []

    class Slow:
        def __init__(self, *streams: int) -> None:
            self._popen = subprocess.Popen(["true"], stdin=streams[0], start_new_session=True)
            self.pid = self._popen.pid

        def wait(self) -> int:
            entered.set()
            in_time.append(released.wait(GENEROUS_S / 2))
            return self._popen.wait()

    async def main() -> Finished:
        command = Command(argv=("true",))
        process = await start(command, argv=("true",), cwd="/", env=ENV, starter=lambda *streams: Slow(*streams[:3]))
        await asyncio.to_thread(entered.wait)
        stopping = asyncio.ensure_future(process.stop())
        await asyncio.sleep(0)
        released.set()
        return await stopping

    assert within(main()).exit_code == 0
    assert in_time == [True]

"""Calls in real processes: what comes back, what a broken call costs, and what is left behind."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Blame, CallRequest, Command, Execution, FailureClass, LaunchError, Limits, Target, thaw
from skillgauge_python_calls.adapter import PythonCalls
from skillgauge_python_calls.session import CallSession
from skillgauge_python_calls.settings import CallSettings
from skillgauge_testkit import FakeWorkspace

from .conftest import Ask, Run, gone

MANY = """
    import asyncio, ctypes, os, signal, subprocess, sys, threading, time

    def run(data):
        do = data.get("do") if isinstance(data, dict) else None
        return DO[do](data) if do else [os.getpid(), data]

    def answer(data):
        return [os.getpid(), data]

    def exit(data):
        print("last words", flush=True)
        os._exit(3)

    def kill(data):
        os.kill(os.getpid(), signal.SIGKILL)

    def segfault(data):
        ctypes.string_at(0)

    def wrong(data):
        raise ValueError("no good")

    def leave(data):
        sys.exit(4)

    def recurse(data):
        return recurse(data)

    def shout(data):
        for _ in range(200):
            print("x" * 100_000)
            os.write(1, b"\\xff" * 100_000)
            os.write(2, b"y" * 100_000)
        return answer(data)

    def garble(data):
        os.write(1, b"caf\\xe9 \\xff\\n")
        os._exit(1)

    def shut(data):
        sys.stdin.close(), sys.stdout.close(), sys.stderr.close()
        for fd in range(3):
            try:
                os.close(fd)
            except OSError:
                pass
        return answer(data)

    def shut_all(data):
        os.closerange(0, 256)
        return answer(data)

    def mute(data):
        os.closerange(0, 256)
        time.sleep(60)

    def wait(data):
        if "file" in data:
            with open(data["file"], "w") as file:
                file.write(str(os.getpid()))
        print("waiting", flush=True)
        time.sleep(60)

    def stubborn(data):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        wait(data)

    def child(data):
        return [os.getpid(), subprocess.Popen(["sleep", "300"]).pid]

    def fork(data):
        os.fork()
        return [os.getpid(), data]

    def later(data):
        threading.Timer(0.1, os._exit, (1,)).start()
        return answer(data)

    def wander(data):
        os.chdir("/")
        return os.getcwd()

    DO = {name: value for name, value in globals().items() if callable(value)}
"""

DATACLASS = """
import dataclasses, pickle

@dataclasses.dataclass
class Said:
    words: "str"

def run(data):
    return pickle.loads(pickle.dumps(Said("pickled"))).words
"""


def failed(execution: Execution, kind: FailureClass, *words: str, retryable: bool) -> None:
    """Require a failure of the target of some kind that says something."""
    assert execution.failure is not None, execution
    assert (execution.failure.failure_class, execution.failure.blame) == (kind, Blame.TARGET)
    assert execution.failure.retryable is retryable
    assert len(execution.failure.message) < 1500
    assert execution.output is None
    assert execution.duration_s is not None
    for word in words:
        assert word in execution.failure.message


def test_one_process_answers_call_after_call(run: Run) -> None:
    """The same process serves calls that do not overlap, with its facts in the execution."""

    async def test(ask: Ask, _session: CallSession) -> None:
        first, *others = [await ask({"q": "é"}) for _ in range(5)]
        assert {one.output for one in others} == {first.output}
        assert thaw(first.output)[1] == {"q": "é"}
        assert first.failure is None
        assert (first.sandbox, first.notes, first.usage) == ("temporary/none", ("called",), None)

    run(MANY, test)


def test_calls_at_once_have_a_process_each_and_never_mix(run: Run) -> None:
    """Forty calls, eight at a time, are answered by at most eight processes, each with its own answer."""

    async def test(ask: Ask, _session: CallSession) -> None:
        room = asyncio.Semaphore(8)

        async def one(number: int) -> Any:
            async with room:
                return thaw((await ask({"number": number})).output)

        answers = await asyncio.gather(*(one(number) for number in range(40)))
        assert [answer[1] for answer in answers] == [{"number": number} for number in range(40)]
        assert 1 < len({answer[0] for answer in answers}) <= 8

    run(MANY, test)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "kind", "words"),
    [
        ("exit", FailureClass.CRASH, "the process exited with code 3: last words"),
        ("kill", FailureClass.CRASH, "the process was killed by signal 9"),
        ("segfault", FailureClass.CRASH, "the process was killed by signal 11"),
        ("garble", FailureClass.CRASH, "the process exited with code 1: caf\ufffd \ufffd"),
        ("shut_all", FailureClass.CRASH, "the process exited with code 1"),
        ("mute", FailureClass.CRASH, "the process closed its connection"),
        ("wait", FailureClass.TIMEOUT, "no answer within 1 s: waiting"),
        ("stubborn", FailureClass.TIMEOUT, "no answer within 1 s: waiting"),
    ],
)
def test_who_kills_its_process_costs_only_its_call(run: Run, do: str, kind: FailureClass, words: str) -> None:
    """The call fails with how the process ended and what it said; calls beside it and after it are answered."""

    async def test(ask: Ask, _session: CallSession) -> None:
        await ask({"warm": "up"})
        broken, beside = await asyncio.gather(
            ask({"do": do}, timeout_s=1 if kind is FailureClass.TIMEOUT else 30), ask({"n": 1})
        )
        failed(broken, kind, words, retryable=True)
        assert thaw(beside.output)[1] == {"n": 1}
        assert thaw((await ask({"n": 2})).output)[1] == {"n": 2}

    run(MANY, test)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("wrong", "ValueError: no good"),
        ("leave", "SystemExit: 4"),
        ("recurse", "RecursionError: maximum recursion depth exceeded"),
        ("absent", "KeyError: 'absent'"),
    ],
)
def test_an_exception_is_a_line_and_the_process_lives_on(run: Run, do: str, message: str) -> None:
    """Type and text are the message; where it came from is beside it, short and without frames of ours."""

    async def test(ask: Ask, _session: CallSession) -> None:
        pid = thaw((await ask()).output)[0]
        broken = await ask({"do": do})
        failed(broken, FailureClass.CRASH, message, retryable=True)
        assert broken.failure is not None
        assert "\n" not in broken.failure.message
        assert broken.stderr is not None
        assert "skill.py" in broken.stderr
        assert "<skillgauge>" not in broken.stderr
        assert len(broken.stderr) <= 2000
        assert thaw((await ask()).output)[0] == pid

    run(MANY, test)


@pytest.mark.parametrize("do", ["shout", "shut"])
def test_what_is_done_to_the_standard_streams_does_no_harm(run: Run, do: str) -> None:
    """Sixty megabytes of prints, and streams that are closed, leave answers and the process as they are."""

    async def test(ask: Ask, _session: CallSession) -> None:
        pid = thaw((await ask()).output)[0]
        done = await ask({"do": do})
        assert thaw(done.output) == [pid, {"do": do}]
        assert thaw((await ask(1)).output) == [pid, 1]

    run(MANY, test)


def test_last_words_beyond_what_is_kept_are_not_made_up(run: Run) -> None:
    """Of a process that printed too much before, the words of another call are not shown as those of this one."""

    async def test(ask: Ask, _session: CallSession) -> None:
        await ask({"do": "shout"})
        broken = await ask({"do": "exit"})
        assert broken.failure is not None
        assert broken.failure.message == "the process exited with code 3"
        assert broken.stderr is None

    run(MANY, test)


def test_a_grandchild_ends_with_the_session(run: Run) -> None:
    """What a call left running does not outlive the session, and does not disturb it."""
    seen: list[int] = []

    async def test(ask: Ask, session: CallSession) -> None:
        pid, grandchild = thaw((await ask({"do": "child"})).output)
        seen.append(grandchild)
        assert thaw((await ask(1)).output) == [pid, 1]
        os.kill(grandchild, 0)
        await session.close()
        assert await gone(grandchild)
        assert await gone(pid)

    run(MANY, test)
    assert seen


def test_a_fork_that_runs_on_does_not_answer_too(run: Run) -> None:
    """If the code forks and both return, one answers, and later calls get their own answers."""

    async def test(ask: Ask, _session: CallSession) -> None:
        pid = thaw((await ask()).output)[0]
        for number in range(3):
            assert thaw((await ask({"do": "fork", "number": number})).output) == [pid, {"do": "fork", "number": number}]
        assert thaw((await ask(1)).output) == [pid, 1]

    run(MANY, test)


def test_a_process_that_ends_between_calls_costs_none(run: Run) -> None:
    """The next call gets a new process."""

    async def test(ask: Ask, _session: CallSession) -> None:
        pid = thaw((await ask({"do": "later"})).output)[0]
        assert await gone(pid)
        done = await ask(1)
        assert done.failure is None
        assert thaw(done.output)[0] != pid

    run(MANY, test)


@pytest.mark.parametrize("do", ["wait", "stubborn"])
def test_a_cancelled_call_leaves_no_process(run: Run, tmp_path: Path, do: str) -> None:
    """Who cancels a call gets back control when its process is dead, and the session goes on."""

    async def test(ask: Ask, _session: CallSession) -> None:
        file = tmp_path / "pid"
        task = asyncio.create_task(ask({"do": do, "file": str(file)}))
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.01)
            assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await gone(int(file.read_text()))
        assert (await ask(1)).failure is None

    run(MANY, test)


def test_the_working_directory_is_the_skills_in_every_call(run: Run, tmp_path: Path) -> None:
    """A call that goes elsewhere does not take the next one along."""
    code = """
        import os

        def run(data):
            here = os.getcwd()
            os.chdir("/")
            return [here, os.environ["HOME"]]
    """

    async def test(ask: Ask, _session: CallSession) -> None:
        for _ in range(2):
            here, home = thaw((await ask()).output)
            assert here == str(tmp_path)
            assert home not in ("", os.environ.get("HOME"))

    run(code, test)


def test_variables_of_a_case_reach_its_call_only(run: Run) -> None:
    """Another environment is another process, and one that is not needed makes way."""
    code = """
        import os

        def run(data):
            return [os.getpid(), os.environ.get("CASE"), os.environ.get("SKILLGAUGE_TEST_UNTOLD")]
    """

    async def test(ask: Ask, _session: CallSession) -> None:
        answers = [thaw((await ask(CASE=str(number))).output) for number in range(5)]
        assert [answer[1:] for answer in answers] == [[str(number), None] for number in range(5)]
        for pid, *_ in answers[:-1]:
            assert await gone(pid)
        assert thaw((await ask(CASE="4")).output) == answers[-1]

    os.environ["SKILLGAUGE_TEST_UNTOLD"] = "x"
    try:
        run(code, test)
    finally:
        del os.environ["SKILLGAUGE_TEST_UNTOLD"]


def test_async_calls_share_an_event_loop(run: Run) -> None:
    """What is bound to the loop of one call works in the next; SystemExit does not end the loop."""
    code = """
        import asyncio, sys

        lock = asyncio.Lock()

        async def run(data):
            async with lock:
                await asyncio.sleep(0)
                if data == "leave":
                    sys.exit(1)
                return [id(asyncio.get_running_loop()), data]
    """

    async def test(ask: Ask, _session: CallSession) -> None:
        first = thaw((await ask(1)).output)
        failed(await ask("leave"), FailureClass.CRASH, "SystemExit: 1", retryable=True)
        assert thaw((await ask(2)).output) == [first[0], 2]

    run(code, test)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("{1, 2}", "the result of type set is no JSON value: Object of type set is not JSON serializable"),
        ("b'x'", "bytes"),
        ("object()", "object"),
        ("[float('nan')]", "Out of range float values"),
        ("'\\ud800'", "half a surrogate pair"),
        ("{'a': '\\udfff'}", "half a surrogate pair"),
        ("nested(150)", "nested deeper than 100 levels"),
        ("nested(50_000)", "no JSON value"),
        ("10 ** 5000", "digits"),
        ("'x' * 999", "the result has 1001 bytes as JSON, the limit is 1000"),
        ("'é' * 500", "the result has 1002 bytes as JSON, the limit is 1000"),
    ],
)
def test_a_result_that_is_no_answer_is_the_targets_failure(run: Run, result: str, words: str) -> None:
    """What is no JSON value, or too long, is said; no other attempt is made, and the process lives on."""
    code = f"""
        def nested(depth):
            value = 1
            for _ in range(depth):
                value = [value]
            return value

        def run(data):
            return {result} if data else "fine"
    """

    async def test(ask: Ask, _session: CallSession) -> None:
        failed(await ask(1, output_bytes=1000), FailureClass.PROTOCOL, words, retryable=False)
        assert (await ask(0, output_bytes=1000)).output == "fine"

    run(code, test)


@pytest.mark.parametrize(
    ("code", "entrypoint", "words"),
    [
        (
            "import no_such_module_anywhere",
            "skill.py",
            "ModuleNotFoundError: No module named 'no_such_module_anywhere'",
        ),
        ("def run(:", "skill.py", "SyntaxError: invalid syntax (skill.py, line 1)"),
        ("x = 1", "skill.py", "AttributeError: module 'skill' has no attribute 'run'"),
        ("run = 1", "skill:run", "TypeError: it cannot be called"),
        ("raise SystemExit('not today')", "skill:run", "SystemExit: not today"),
        ("import os; print('bye', flush=True); os._exit(5)", "skill:run", "exited with code 5: bye"),
        ("", "absent:run", "ModuleNotFoundError: No module named 'absent'"),
    ],
)
def test_what_cannot_be_loaded_fails_each_call(run: Run, code: str, entrypoint: str, words: str) -> None:
    """An import that fails is the target's failure, told in a line; only a process that died is tried again."""

    async def test(ask: Ask, _session: CallSession) -> None:
        for _ in range(2):
            failed(await ask(), FailureClass.CRASH, words, retryable="exited" in words)

    run(code, test, entrypoint=entrypoint)


@pytest.mark.slow
def test_loading_has_its_own_time_and_is_not_part_of_the_latency(run: Run, tmp_path: Path) -> None:
    """An import may take longer than a call, but not for ever, and does not count in the duration."""
    code = """
        import pathlib, time

        time.sleep(60 if pathlib.Path("slow").exists() else 2.5)

        def run(data):
            return data
    """

    async def test(ask: Ask, _session: CallSession) -> None:
        (tmp_path / "slow").touch()
        failed(await ask(timeout_s=0.1), FailureClass.TIMEOUT, "not loaded within 4.1 s", retryable=True)
        (tmp_path / "slow").unlink()
        started = time.perf_counter()
        done = await ask(1, timeout_s=2)
        assert done.output == 1
        assert done.duration_s is not None
        assert time.perf_counter() - started - done.duration_s >= 2.5

    run(code, test)


@pytest.mark.parametrize(
    ("files", "entrypoint", "answer"),
    [
        ({"skill.py": "def other(data): return 'named'"}, "skill.py:other", "named"),
        ({"skill.py": "class A:\n    @staticmethod\n    def b(data): return 'dotted'"}, "skill:A.b", "dotted"),
        ({"sub/s-k.py": "from near import x\ndef run(data): return x", "sub/near.py": "x = 1"}, "sub/s-k.py", 1),
        ({"p/__init__.py": "", "p/m.py": "from .n import f as run", "p/n.py": "def f(data): return 2"}, "p.m:run", 2),
        ({"token.py": "def run(data): return 'ours'"}, "token:run", "ours"),
        ({"json.py": "def run(data): return 'ours'"}, "json.py", "ours"),
        ({"json.py": "raise ValueError", "skill.py": "def run(data): return 'safe'"}, "skill:run", "safe"),
        ({"skill.py": DATACLASS}, "skill.py", "pickled"),
        ({}, "os.path:basename", ""),
    ],
)
def test_where_objects_are_found(
    run: Run, tmp_path: Path, files: dict[str, str], entrypoint: str, answer: object
) -> None:
    """Files and modules of the skill's folder come first, and do not stand in for the standard library elsewhere."""
    for name, code in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)

    async def test(ask: Ask, _session: CallSession) -> None:
        done = await ask("")
        assert done.failure is None
        assert done.output == answer

    run((tmp_path / "skill.py").read_text() if "skill.py" in files else "", test, entrypoint=entrypoint)


def test_another_interpreter_may_have_a_program_in_front(
    run: Run, tmp_path: Path, adapter: PythonCalls[CallSettings]
) -> None:
    """`python` is a command line, relative to the skill's folder; what it writes before is no answer."""
    wrapper = tmp_path / "bin" / "my python"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\necho \'{{"id": 0}} hello\'\nMARK="$1" && shift && export MARK\nexec {sys.executable} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    config = {"type": "python", "python": "'bin/my python' marked", "timeoutMs": 100.0, "pass_env": ["X"]}
    target = Target.model_validate({"id": "t", "root": str(tmp_path), "entrypoint": "skill.py", "config": config})

    async def test(ask: Ask, _session: CallSession) -> None:
        assert adapter.check_target(target) == ()
        assert (await ask()).output == "marked"

    run("import os\ndef run(data): return os.environ['MARK']", test, config=config)


def test_a_session_ends_its_processes_as_programs_end(run: Run, tmp_path: Path) -> None:
    """Exit functions run when the session is closed, and a process that stays anyway is killed."""
    code = """
        import atexit, os, pathlib, threading, time

        atexit.register(pathlib.Path("left").touch)

        def run(data):
            if data == "stay":
                threading.Thread(target=time.sleep, args=(60,)).start()
            return os.getpid()
    """

    async def test(ask: Ask, session: CallSession) -> None:
        first, second = await asyncio.gather(ask("stay"), ask("go"))
        await session.close()
        assert (tmp_path / "left").exists()
        for execution in (first, second):
            assert await gone(int(str(execution.output)))
        assert (await ask("go")).failure is None

    run(code, test)


def test_a_machine_that_starts_nothing_is_not_the_targets_fault(
    tmp_path: Path, adapter: PythonCalls[CallSettings]
) -> None:
    """If no process can be started at all, it is an error of the surroundings."""

    class Full(FakeWorkspace):
        async def start(self, command: Command) -> None:  # type: ignore[override]  # it never answers
            raise LaunchError(f"no more processes for {command.argv[0]}")

    async def main() -> Execution:
        target = Target(id="t", root=str(tmp_path), entrypoint="skill.py")
        session = await adapter.open(target, Full())
        return await session.call(CallRequest(trial_id="t", case_id="c", input=None, limits=Limits()))

    done = asyncio.run(main())
    assert done.failure is not None
    assert (done.failure.failure_class, done.failure.blame) == (FailureClass.LAUNCH, Blame.INFRASTRUCTURE)
    assert done.duration_s is None

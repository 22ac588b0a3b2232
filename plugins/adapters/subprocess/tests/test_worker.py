"""Workers that are real processes: good ones, broken ones, and programs that are none."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Blame,
    CallRequest,
    Command,
    Execution,
    FailureClass,
    LaunchError,
    Limits,
    Running,
    SandboxSpec,
    Session,
    Target,
    host_environment,
)
from skillgauge_adapter_subprocess.adapter import SubprocessAdapter
from skillgauge_adapter_subprocess.one_shot import OneShotSession
from skillgauge_adapter_subprocess.worker import WorkerSession
from skillgauge_processes import DirectoryWorkspace
from skillgauge_testkit import FakeWorkspace

HEAD = """import json, os, subprocess, sys, time
def say(request, **answer):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""
LOOP = f"""{HEAD}
count = 0
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] != "invoke":
        say(request, error={{"code": -32601, "message": "method not found"}})
        continue
    count += 1
    do, *rest = request["params"]["do"]
    exec(ACTIONS.get(do, ""))
    if rest is not None:
        say(request, result=[os.getpid(), count, *rest])
"""
"""Knows no `healthcheck`; what `ACTIONS` has for the first word is executed before it answers, if there is a `rest`."""

MINUTE = Limits(timeout_s=60)
SHORT = Limits(timeout_s=2)
"""For what would never end."""


class Workspace(DirectoryWorkspace):
    """Remembers what was started."""

    commands: list[Command]

    async def start(self, command: Command) -> Any:
        """Start it, too."""
        self.commands.append(command)
        return await super().start(command)


class Place:
    """A session with its workspace."""

    def __init__(self, session: Session, workspace: Workspace) -> None:
        self.session = session
        self._workspace = workspace
        self._numbers = itertools.count()

    @property
    def started(self) -> int:
        """How many processes were started."""
        return len(self._workspace.commands)

    async def do(self, *words: str, limits: Limits = MINUTE, env: dict[str, str] | None = None) -> Execution:
        """One call."""
        name = f"t{next(self._numbers)}"
        request = CallRequest(trial_id=name, case_id=name, input={"do": words}, limits=limits, env=env or {})
        return await self.session.call(request)


Within = Callable[..., None]


@pytest.fixture
def within(tmp_path: Path) -> Within:
    """Run a coroutine function with a session of a skill; the skill is its code, or actions of the usual one."""

    @asynccontextmanager
    async def opened(code: str, fields: dict[str, Any]) -> AsyncIterator[Place]:
        (tmp_path / "skill.py").write_text(code)
        target = Target.model_validate(
            {"id": "t", "root": str(tmp_path), "entrypoint": f"{sys.executable} -I skill.py"}
            | {"config": {"worker": True}}
            | fields
        )
        workspace = Workspace(SandboxSpec(label="t"), host_environment(), tier="test/none")
        workspace.commands = []
        async with workspace:
            session = await SubprocessAdapter().open(target, workspace)
            try:
                yield Place(session, workspace)
            finally:
                await session.close()

    def run(act: Callable[[Place], Awaitable[None]], code: str | None = None, *, fields: Any = None, **actions: str):
        async def main() -> None:
            async with opened(f"ACTIONS = {actions!r}\n{LOOP if code is None else code}", fields or {}) as place:
                await act(place)

        asyncio.run(main())

    return run


def pid_of(execution: Execution) -> int:
    """The process that answered."""
    assert execution.failure is None, execution.failure
    assert isinstance(execution.output, tuple)
    pid = execution.output[0]
    assert isinstance(pid, int)
    return pid


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def failure_of(execution: Execution) -> tuple[FailureClass, str]:
    """Class and message of a failure, which must be the target's."""
    assert execution.failure is not None
    assert execution.failure.blame is Blame.TARGET
    assert execution.failure.retryable
    assert execution.duration_s is not None
    return execution.failure.failure_class, execution.failure.message


def test_one_process_answers_many_calls(within: Within) -> None:
    """Calls after each other are answered by the one process that was started, which ends with the session."""
    seen = set()

    async def act(place: Place) -> None:
        for number in range(1, 6):
            done = await place.do("echo", "é\u2028")
            seen.add(pid_of(done))
            assert done.output == (pid_of(done), number, "é\u2028")
            assert (done.sandbox, done.notes, done.exit_code) == ("test/none", (), None)
            assert done.duration_s is not None
            assert done.duration_s > 0
        assert place.started == 1
        assert isinstance(place.session, WorkerSession)

    within(act)
    (pid,) = seen
    assert not is_alive(pid)


def test_surroundings_are_those_of_one_process_per_call(within: Within) -> None:
    """A worker sees the same variables with the same values, and the same folder."""
    told: list[Any] = []

    async def act(place: Place) -> None:
        (answer,) = [(await place.do("tell")).output]
        assert isinstance(answer, tuple)
        told.append(answer[2:])

    tell = "rest = [os.getcwd(), {k: v for k, v in os.environ.items() if k != 'SKILLGAUGE_CHILD_PROCESS'}]"
    for worker in (True, False):
        within(act, tell=tell, fields={"config": {"worker": worker}})
    (cwd, env), (other_cwd, other_env) = told
    assert cwd == other_cwd
    own = {"HOME", "TMPDIR"}  # each workspace has folders of its own
    assert own < set(env)
    assert {k: v for k, v in env.items() if k not in own} == {k: v for k, v in other_env.items() if k not in own}


ENDLESS = "import time\ntime.sleep(600)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "reason", "failure_class"),
    [
        pytest.param(
            f"{HEAD}request = json.loads(sys.stdin.read())\nsay(request, result=request['params'])",
            "no answer within 2 s",
            "timeout",
            id="reads to the end",
        ),
        pytest.param(
            f"{HEAD}request = json.loads(sys.stdin.readline())\nsay(request, result=request['params'])",
            "the process ended without an answer",
            "protocol",
            id="answers once and ends",
        ),
        pytest.param(
            f"{HEAD}request = json.loads(sys.stdin.readline())\nsay(request, result=request['params'])\n"
            "sys.stdin.read()",
            "no answer within 2 s",
            "timeout",
            id="answers once and stays",
        ),
        pytest.param(
            f"{HEAD}for line in sys.stdin: say({{'id': 1}}, result=json.loads(line)['params'])",
            "the answer has id 1 instead of 2",
            "protocol",
            id="does not look at the id",
        ),
        pytest.param(
            f"{HEAD}for line in sys.stdin: say({{'id': None}}, result=json.loads(line)['params'])",
            "the answer has id null instead of 2",
            "protocol",
            id="gives no id",
        ),
        pytest.param(
            f"{HEAD}request = json.loads(sys.stdin.readline())\n"
            "if request['method'] != 'invoke': sys.exit('no such method')\nsay(request, result=request['params'])",
            "exited with code 1: no such method",
            "crash",
            id="breaks on healthcheck",
        ),
    ],
)
def test_a_program_that_is_no_worker_gets_one_call_per_process(
    within: Within, caplog: pytest.LogCaptureFixture, code: str, reason: str, failure_class: str
) -> None:
    """It is found out before any trial depends on it, said once, and every call gets a process of its own."""

    async def act(place: Place) -> None:
        assert isinstance(place.session, OneShotSession)
        done = [await place.do("a"), await place.do("b"), await place.do("c")]
        assert [one.output for one in done] == [{"do": (word,)} for word in "abc"]
        ((note,), *others) = [one.notes for one in done]
        assert others == [(), ()]
        assert "skill 't' runs as one process per task" in note
        assert reason in note
        assert place.started == 1 + 3

    with caplog.at_level(logging.WARNING):
        within(act, code, fields={"limits": {"timeout_s": 2 if failure_class == "timeout" else 60}})
    (record,) = caplog.records
    assert f"({failure_class})" in record.getMessage()


def test_a_machine_that_starts_nothing_is_told_by_each_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If no process can be started, opening does not fail, and every call is an error of the surroundings."""

    class Full(FakeWorkspace):
        async def start(self, command: Command) -> Running:
            raise LaunchError(f"no more processes for {command.argv[0]}")

    async def main() -> Execution:
        target = Target(id="t", root=str(tmp_path), entrypoint="sh", config={"worker": True})
        session = await SubprocessAdapter().open(target, Full())
        return await session.call(CallRequest(trial_id="t", case_id="c", input=None, limits=MINUTE))

    done = asyncio.run(main())
    assert done.failure is not None
    assert (done.failure.failure_class, done.failure.blame) == (FailureClass.LAUNCH, Blame.INFRASTRUCTURE)
    assert len(caplog.records) == 1


def test_a_crash_costs_one_call(within: Within) -> None:
    """A worker that dies on its third request fails that call with its last words; the next has a new worker."""

    async def act(place: Place) -> None:
        first, second = [await place.do("work") for _ in range(2)]
        crashed = await place.do("work")
        fourth, fifth = [await place.do("work") for _ in range(2)]
        failure_class, message = failure_of(crashed)
        assert failure_class is FailureClass.CRASH
        assert message.startswith("the process exited with code 7: xxx")
        assert message.endswith("third time")
        assert len(message) < 400
        assert crashed.exit_code == 7
        assert pid_of(first) == pid_of(second) != pid_of(fourth) == pid_of(fifth)
        assert place.started == 2

    within(act, work="if count == 3: sys.stderr.write('x' * 5000 + '\\nthird time'); sys.exit(7)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "failure_class", "words", "limits"),
    [
        ("os.kill(os.getpid(), 9)", FailureClass.CRASH, "killed by signal 9", MINUTE),
        (
            "say({'id': 999}, result=1); rest = None",
            FailureClass.PROTOCOL,
            "the answer has id 999 instead of 5",
            MINUTE,
        ),
        ("say(request); rest = None", FailureClass.PROTOCOL, "neither result nor error", MINUTE),
        ("say(request, result=float('nan')); rest = None", FailureClass.PROTOCOL, "no JSON value", MINUTE),
        (
            "print(json.dumps({'id': request['id'], 'result': 1}), flush=True); rest = None",
            FailureClass.PROTOCOL,
            "2.0",
            MINUTE,
        ),
        (
            "sys.stderr.write('thinking'); sys.stderr.flush(); time.sleep(600)",
            FailureClass.TIMEOUT,
            "no answer within 2 s: thinking",
            SHORT,
        ),
        ("print('hello', flush=True); rest = None", FailureClass.TIMEOUT, "no answer within 2 s", SHORT),
        ("os.close(1); time.sleep(600)", FailureClass.PROTOCOL, "closed its stdout without an answer", MINUTE),
        ("print('bye', flush=True); sys.exit(0)", FailureClass.PROTOCOL, "ended without an answer", MINUTE),
    ],
)
def test_a_broken_call_costs_nothing_else(
    within: Within, action: str, failure_class: FailureClass, words: str, limits: Limits
) -> None:
    """Each way to fail has its class, is the target's and is said; the worker is replaced and the next call works."""
    pids: list[int] = []

    async def act(place: Place) -> None:
        pids.append(pid_of(await place.do("fine")))
        got, message = failure_of(await place.do("break", limits=limits))
        assert got is failure_class
        assert words in message
        assert not is_alive(pids[0])
        pids.append(pid_of(await place.do("fine")))

    within(act, **{"break": action})
    assert pids[0] != pids[1]


@pytest.mark.parametrize(
    "flood",
    [
        pytest.param("while True: print('noise ' * 20)", id="lines"),
        pytest.param("while True: sys.stdout.write('noise ' * 20)", id="one line"),
    ],
)
def test_a_flood_on_stdout_is_cut_off(within: Within, flood: str) -> None:
    """More than the limit without an answer breaks the protocol, long before the time is up; little of it is kept."""

    async def act(place: Place) -> None:
        done = await place.do("flood", limits=Limits(timeout_s=600, output_bytes=50_000))
        assert failure_of(done) == (
            FailureClass.PROTOCOL,
            "stdout exceeded its limit of 50000 bytes before an answer",
        )
        assert done.truncated
        assert done.stdout is not None
        assert done.stdout.startswith("noise noise")
        assert len(done.stdout) <= 2000
        pid_of(await place.do("fine"))

    within(act, flood=flood)


def test_an_answer_of_the_largest_allowed_size_arrives(within: Within) -> None:
    """A long answer and a long question pass through the pipes, whatever these hold at a time."""

    async def act(place: Place) -> None:
        done = await place.do("long", "q" * 3_000_000)
        assert done.failure is None
        assert done.output == ("q" * 3_000_000 + "a" * 2_000_000,)

    within(act, long="say(request, result=[rest[0] + 'a' * 2_000_000]); rest = None")


def test_noise_is_ignored(within: Within) -> None:
    """A worker may log before, between and after answers, in JSON too, and may answer a request twice."""
    noise = """
print("loading", '{"level": "error", "error": "x", "id": 3}', "{}", "10%\\r20%", sep="\\n", end="\\r")
print(json.dumps({"jsonrpc": "2.0", "method": "log", "params": [], "id": request["id"]}), "{not json}", sep="\\n")
say(request, result=rest)
say(request, result="again")
print("and so on", flush=True)
rest = None
"""

    async def act(place: Place) -> None:
        for word in "abcd":
            done = await place.do("noise", word)
            assert (done.failure, done.output) == (None, (word,))
        assert place.started == 1

    within(act, noise=noise)


def test_an_error_is_an_answer(within: Within) -> None:
    """A JSON-RPC error fails the call as with one process per call, and the worker goes on; so does one without id."""

    async def act(place: Place) -> None:
        refused = await place.do("refuse")
        assert refused.failure is not None
        assert refused.failure.failure_class is FailureClass.REJECTED
        assert refused.failure.message == "JSON-RPC error -32602: bad"
        assert not refused.failure.retryable
        unread = await place.do("unread")
        assert unread.failure is not None
        assert unread.failure.message == "JSON-RPC error -32700: what?"
        assert pid_of(await place.do("fine")) > 0
        assert place.started == 1

    within(
        act,
        refuse="say(request, error={'code': -32602, 'message': 'bad'}); rest = None",
        unread="say({'id': None}, error={'code': -32700, 'message': 'what?'}); rest = None",
    )


def test_a_worker_that_leaves_between_calls_is_replaced(within: Within) -> None:
    """A worker that ends by itself after some answers costs no call."""

    async def act(place: Place) -> None:
        done = [await place.do("leave") for _ in range(6)]
        assert [one.output[1] for one in done if isinstance(one.output, tuple)] == [1, 2, 1, 2, 1, 2]
        assert place.started == 3

    within(act, leave="say(request, result=[os.getpid(), count])\nif count == 2: sys.exit(0)\nrest = None")


async def appears(path: Path) -> None:
    """Wait for a file, for at most a minute."""
    for _ in range(6000):
        if path.exists():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path.name} never appeared")


MEET = """
with open(rest[0] + ".tmp", "w") as file: file.write(str(os.getpid()))
os.rename(rest[0] + ".tmp", rest[0] + ".here")
for _ in range(6000):
    if os.path.exists(rest[0] + ".go"): break
    time.sleep(0.01)
"""
"""Tell that the request has arrived, and at which process, and wait to be let go on."""


def test_calls_at_once_get_their_own_answers(within: Within, tmp_path: Path) -> None:
    """Four calls at a time are with four workers; answered in the reverse order, each gets its own; none is added."""
    names = [str(tmp_path / f"call{number}") for number in range(4)]

    async def act(place: Place) -> None:
        for _ in range(2):
            calls = [asyncio.create_task(place.do("meet", name)) for name in names]
            for name in names:
                await appears(Path(f"{name}.here"))
            for call, name in reversed(list(zip(calls, names, strict=True))):
                Path(f"{name}.go").touch()
                done = await call
                assert done.failure is None
                assert isinstance(done.output, tuple)
                assert done.output[2] == name
            assert len({pid_of(call.result()) for call in calls}) == 4
            for path in tmp_path.glob("call*"):
                path.unlink()
        assert place.started == 4

    within(act, meet=MEET)


def test_cancelling_a_call_ends_its_worker_only(within: Within, tmp_path: Path) -> None:
    """When a cancelled call has ended, its worker is dead; another call at the same time goes on."""

    async def act(place: Place) -> None:
        names = [str(tmp_path / "one"), str(tmp_path / "two")]
        calls = [asyncio.create_task(place.do("meet", name)) for name in names]
        for name in names:
            await appears(Path(f"{name}.here"))
        calls[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[0]
        assert not is_alive(int(Path(f"{names[0]}.here").read_text()))
        Path(f"{names[1]}.go").touch()
        survivor = pid_of(await calls[1])
        assert pid_of(await place.do("fine")) == survivor
        assert place.started == 2

    within(act, meet=MEET)


def test_cancelling_while_it_is_found_out_ends_the_process(within: Within, tmp_path: Path) -> None:
    """Opening can be cancelled while a program that never answers is being tried."""
    (tmp_path / "skill.py").write_text(f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))")
    with (tmp_path / "skill.py").open("a") as file:
        file.write(f"\nopen({str(tmp_path / 'here')!r}, 'w').close()\n{ENDLESS}")

    async def main() -> None:
        target = Target(id="t", root=str(tmp_path), entrypoint=f"{sys.executable} -I skill.py", config={"worker": True})
        async with DirectoryWorkspace(SandboxSpec(label="t"), host_environment(), tier="test/none") as workspace:
            opening = asyncio.create_task(SubprocessAdapter().open(target, workspace))
            await appears(tmp_path / "here")
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            assert not is_alive(int((tmp_path / "pid").read_text()))

    asyncio.run(main())


def test_what_a_worker_left_behind_ends_with_it(within: Within) -> None:
    """Processes that a call started, in their own session too, end with the worker at the latest; a crash says so."""
    children: list[int] = []
    spawn = "rest = [subprocess.Popen(['sleep', '600'], start_new_session=True).pid]\n"

    async def act(place: Place) -> None:
        for _ in range(2):
            done = await place.do("spawn")
            assert isinstance(done.output, tuple)
            children.append(int(str(done.output[2])))
        assert all(is_alive(child) for child in children)
        crashed = await place.do("crash")
        assert crashed.notes == ("processes that it left behind were ended",)
        assert not any(is_alive(child) for child in children)
        done = await place.do("spawn")
        assert isinstance(done.output, tuple)
        children.append(int(str(done.output[2])))

    within(act, spawn=spawn, crash="sys.exit(1)")
    assert len(children) == 3
    assert not any(is_alive(child) for child in children)


def test_what_a_running_process_cannot_be_given_has_its_own(within: Within) -> None:
    """A call with variables of its own, or a larger limit of output than usual, is answered by a fresh process."""

    async def act(place: Place) -> None:
        worker = pid_of(await place.do("fine"))
        named = await place.do("name", env={"NAME": "x"})
        assert pid_of(named) != worker
        assert isinstance(named.output, tuple)
        assert named.output[2] == "x"
        large = await place.do("large", limits=Limits(timeout_s=60, output_bytes=9_000_000))
        assert large.failure is None
        assert large.output == ("a" * 6_000_000,)
        assert pid_of(await place.do("fine")) == worker
        assert place.started == 3

    within(act, name="rest = [os.environ['NAME']]", large="say(request, result=['a' * 6_000_000]); rest = None")


@pytest.mark.slow
def test_a_further_worker_must_be_up_within_the_time_of_its_call(within: Within, tmp_path: Path) -> None:
    """Starting a worker counts towards the limit of the call that needs it, and fails it if it takes too long."""
    block = f"if os.path.exists({str(tmp_path / 'block')!r}): time.sleep(600)\n"

    async def act(place: Place) -> None:
        (tmp_path / "block").touch()
        assert failure_of(await place.do("crash"))[0] is FailureClass.CRASH
        assert failure_of(await place.do("fine", limits=SHORT)) == (FailureClass.TIMEOUT, "no answer within 2 s")
        (tmp_path / "block").unlink()
        pid_of(await place.do("fine"))
        assert place.started == 3

    actions = {"crash": "sys.exit(1)"}
    within(act, f"ACTIONS = {actions!r}\n" + LOOP.replace("count = 0", block + "count = 0"))


def test_the_mode_is_the_configurations_business() -> None:
    """The target's digest tells the modes apart, so the identity does not; anything but true or false is refused."""
    adapter = SubprocessAdapter()
    one_shot = Target(id="t", entrypoint="sh -c true")
    worker, odd = (one_shot.model_copy(update={"config": {"worker": value}}) for value in (True, "yes"))
    assert adapter.identity(one_shot) == adapter.identity(worker)
    assert not adapter.check_target(worker)
    (problem,) = adapter.check_target(odd)
    assert problem.message == "skill 't': worker must be true or false, not 'yes'"

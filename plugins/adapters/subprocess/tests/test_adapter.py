"""Calls of real processes, and what is known about a target before the first one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import (
    Blame,
    CallRequest,
    Command,
    Execution,
    FailureClass,
    LaunchError,
    Limits,
    SandboxSpec,
    Target,
    Workspace,
    host_environment,
)
from skillgauge_adapter_subprocess.adapter import SubprocessAdapter, command_line
from skillgauge_processes import DirectoryWorkspace
from skillgauge_testkit import FakeWorkspace

ECHO = """import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": [request["params"], sys.argv[1:]]}))
"""

Call = Callable[..., Execution]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Call a skill once in a real workspace."""

    def make(
        code: str, *, limits: Limits | None = None, workspace: Workspace | None = None, **fields: object
    ) -> Execution:
        (tmp_path / "skill.py").write_text(code)
        target = Target.model_validate(
            {"id": "t", "root": str(tmp_path), "entrypoint": f"{sys.executable} -I skill.py", **fields}
        )
        request = CallRequest(trial_id="t", case_id="c", input={"q": "é"}, limits=limits or Limits(timeout_s=30))

        async def once(place: Workspace) -> Execution:
            session = await SubprocessAdapter().open(target, place)
            try:
                return await session.call(request)
            finally:
                await session.close()

        async def run() -> Execution:
            if workspace is not None:
                return await once(workspace)
            async with DirectoryWorkspace(SandboxSpec(label="t"), host_environment(), tier="test/none") as place:
                return await once(place)

        return asyncio.run(run())

    return make


def test_an_answer_arrives_with_its_facts(call: Call) -> None:
    """Output, duration, exit code and sandbox are reported; there is no failure."""
    done = call(ECHO)
    assert done.output == ({"q": "é"}, ())
    assert done.failure is None
    assert done.exit_code == 0
    assert done.duration_s is not None
    assert done.duration_s > 0
    assert done.sandbox == "test/none"


def test_command_and_args_replace_the_entrypoint(call: Call) -> None:
    """The configured command wins, and its arguments are not split again."""
    done = call(ECHO, config={"command": f"{sys.executable} -I", "args": ["skill.py", "two words"]})
    assert done.output == ({"q": "é"}, ("two words",))


@pytest.mark.parametrize(
    ("code", "failure_class", "words", "retryable"),
    [
        ("import sys; sys.stderr.write('why'); sys.exit(3)", FailureClass.CRASH, "exited with code 3: why", True),
        ("import os; os.kill(os.getpid(), 9)", FailureClass.CRASH, "killed by signal 9", True),
        ("print('hello')", FailureClass.PROTOCOL, "no line of stdout", True),
        ("import time; time.sleep(60)", FailureClass.TIMEOUT, "no answer within 0.5 s", True),
        (
            'print(\'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "bad"}}\')',
            FailureClass.REJECTED,
            "JSON-RPC error -32602: bad",
            False,
        ),
        ("print('x' * 9000)", FailureClass.PROTOCOL, "bytes were dropped", True),
    ],
)
def test_failures_are_the_targets(
    call: Call, code: str, failure_class: FailureClass, words: str, retryable: bool
) -> None:
    """Each way to fail has its class, is the target's, and says what happened; long output is only quoted."""
    done = call(code, limits=Limits(timeout_s=0.5 if "sleep" in code else 30, output_bytes=5000))
    assert done.failure is not None
    assert (done.failure.failure_class, done.failure.blame) == (failure_class, Blame.TARGET)
    assert words in done.failure.message
    assert done.failure.retryable is retryable
    assert len(done.stdout or "") <= 2000
    assert done.duration_s is not None


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("raise_from_far_away = [0] * 99\n" * 99 + "import absent.one", {}),
        ('require("absent.one")', {"command": "node", "args": ["skill.py"]}),
    ],
)
def test_a_module_that_is_not_there(call: Call, code: str, command: dict[str, object]) -> None:
    """Images have few modules, so whoever reads of the crash learns what to add where."""
    if command:
        code = f"// {'x' * 5000}\n{code}"
    done = call(code, config=command)
    assert done.failure is not None
    assert "there is no module 'absent" in done.failure.message
    assert "the image of the sandbox" in done.failure.message


def test_a_machine_that_starts_nothing_is_not_the_targets_fault(call: Call) -> None:
    """If no process can be started at all, it is an error of the surroundings."""

    class Full(FakeWorkspace):
        async def start(self, command: Command) -> None:  # type: ignore[override]  # it never answers
            raise LaunchError(f"no more processes for {command.argv[0]}")

    done = call("", workspace=Full())
    assert done.failure is not None
    assert (done.failure.failure_class, done.failure.blame) == (FailureClass.LAUNCH, Blame.INFRASTRUCTURE)


@pytest.mark.parametrize(
    ("entrypoint", "words"),
    [
        ("", "empty"),
        ("python3 'skill.py", "quotation"),
        ("no-such-program-here x", "'no-such-program-here'"),
        ("./absent", "'./absent'"),
    ],
)
def test_a_command_that_cannot_work_is_known_before(tmp_path: Path, entrypoint: str, words: str) -> None:
    """An empty or unreadable command line and an absent program are problems of the target."""
    target = Target(id="t", root=str(tmp_path), entrypoint=entrypoint)
    (problem,) = SubprocessAdapter().check_target(target)
    assert words in problem.message
    assert problem.hint


def test_a_command_that_works_is_no_problem(tmp_path: Path) -> None:
    """A program on the search path or in the skill's folder is found."""
    adapter = SubprocessAdapter()
    (tmp_path / "run").touch()
    assert not adapter.check_target(Target(id="t", root=str(tmp_path), entrypoint="sh -c true"))
    assert not adapter.check_target(Target(id="t", root=str(tmp_path), entrypoint="./run"))
    assert asyncio.run(adapter.check()) == ()


def test_the_identity_covers_the_command_and_admits_to_be_incomplete() -> None:
    """Another command is another identity; the version of the program itself is not known."""
    one, other = (Target(id="t", entrypoint=entrypoint) for entrypoint in ("python3 a.py", "python3 b.py"))
    adapter = SubprocessAdapter()
    assert adapter.identity(one) == adapter.identity(one)
    assert adapter.identity(one).digest != adapter.identity(other).digest
    assert not adapter.identity(one).complete


def test_a_command_line_is_split_as_a_shell_would() -> None:
    """Quoted words stay together and nothing is expanded."""
    assert command_line(Target(id="t", entrypoint="python3 'my skill.py' $HOME")) == ("python3", "my skill.py", "$HOME")

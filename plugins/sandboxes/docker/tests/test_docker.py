"""What is asked of the program, what reaches a process, and that no container outlives who made it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import (
    Command,
    FileSpec,
    Finished,
    LaunchError,
    ModelRoute,
    PluginError,
    SandboxReport,
    SandboxSpec,
    Severity,
    Tier,
)
from skillgauge_sandbox_docker import letting_in
from skillgauge_sandbox_docker.inside import END, MARK, assignments
from skillgauge_sandbox_docker.owners import is_dead, this_process
from skillgauge_sandbox_docker.sandbox import DockerSandbox
from skillgauge_testkit import SANDBOXES, Maker

from .conftest import StandIn

MODULE = "skillgauge_sandbox_docker.plugin"
SECRET = "made-up-secret-0123456789"

pytestmark = pytest.mark.slow


def sandbox(stand_in: StandIn, **options: object) -> DockerSandbox:
    """A sandbox that calls the stand-in."""
    made = Maker(SANDBOXES, MODULE)({"program": stand_in.program, **options})  # type: ignore[arg-type]
    assert isinstance(made, DockerSandbox)
    return made


def said(made: DockerSandbox, script: str, spec: SandboxSpec, **command: object) -> str:
    """What a script writes in a workspace of its own."""

    async def run() -> str:
        async with made.open(spec) as workspace:
            asked = Command.model_validate({"argv": ("sh", "-c", script), "timeout_s": 30, **command})
            finished = await (await workspace.start(asked)).wait()
        assert finished.exit_code == 0, finished
        return finished.stdout.decode()

    return asyncio.run(run())


def checked(made: DockerSandbox) -> SandboxReport:
    """What it says of itself."""
    return asyncio.run(made.check())


def test_a_container_is_confined_and_limited(stand_in: StandIn) -> None:
    """No network, no privileges, a system that cannot be changed, limits, and the folders at their own places."""
    said(sandbox(stand_in, cpus=1.5, memory_mb=100, processes=20), "true", SandboxSpec(label="x", network=False))
    words = stand_in.of("run")[-1]
    pairs = dict(pairwise(words))
    assert {"--rm", "--init", "--read-only"} <= set(words)
    assert (pairs["--network"], pairs["--cap-drop"], pairs["--security-opt"]) == ("none", "ALL", "no-new-privileges")
    assert (pairs["--memory"], pairs["--memory-swap"], pairs["--cpus"]) == ("100m", "100m", "1.5")
    assert (pairs["--pids-limit"], pairs["--user"]) == ("20", f"{os.getuid()}:{os.getgid()}")
    assert "python:3.12-slim" in words
    mounts = [words[at + 1] for at, word in enumerate(words) if word == "--mount"]
    assert [mount.rpartition("/")[2] for mount in mounts] == ["work", "home", "tmp"]
    assert stand_in.containers == []


def test_readable_is_not_writable(stand_in: StandIn, tmp_path: Path) -> None:
    """What a workspace may only read is mounted so; a path that mounts cannot name is refused."""
    spec = SandboxSpec(label="x", readable=(str(tmp_path),))
    said(sandbox(stand_in), "true", spec)
    assert f"type=bind,source={tmp_path},target={tmp_path},readonly" in stand_in.of("run")[-1]
    with pytest.raises(LaunchError, match="without commas"):
        said(sandbox(stand_in), "true", SandboxSpec(label="x", readable=("/a,b",)))
    assert stand_in.containers == []


def test_network_is_on_only_where_it_is_wanted(stand_in: StandIn) -> None:
    """A workspace that wants a network gets one and says so; one that does not gets none unless the user insists."""

    async def tier(made: DockerSandbox, *, network: bool) -> str:
        async with made.open(SandboxSpec(label="x", network=network)) as workspace:
            return workspace.tier

    stand_in.set("facts")
    plain, insisting = sandbox(stand_in), sandbox(stand_in, network=True)
    found = [asyncio.run(tier(made, network=on)) for made in (plain, insisting) for on in (False, True)]
    assert found == ["docker/strict", "docker+network/strict", "docker+network/partial", "docker+network/partial"]


def test_no_value_of_the_environment_is_in_an_argument_or_in_the_container(stand_in: StandIn) -> None:
    """A secret reaches the one process that it is for: not the command line, not the container, not the program."""
    told = said(sandbox(stand_in), 'echo "$KEY"', SandboxSpec(label="x"), env={"KEY": SECRET, "LD_PRELOAD": "/x.so"})
    assert told == f"{SECRET}\n"
    assert SECRET not in json.dumps(stand_in.calls)
    assert "LD_PRELOAD" not in {name for call in stand_in.calls for name in call["env"]}


def test_search_path_is_that_of_the_image(stand_in: StandIn) -> None:
    """The user's search path stays outside; one that a command names counts."""
    assert "PATH=" not in said(sandbox(stand_in), 'echo "$GIVEN"', SandboxSpec(label="x"), env={"GIVEN": "x"})
    told = said(sandbox(stand_in), 'echo "$PATH"', SandboxSpec(label="x"), env={"PATH": "/somewhere:/usr/bin:/bin"})
    assert told == "/somewhere:/usr/bin:/bin\n"


@pytest.mark.parametrize("value", ["two\nlines\n\n", "it's $HOME `x` \\", "", "\t", "שלום 🧪", " lead", '"'])
def test_any_value_arrives(stand_in: StandIn, value: str) -> None:
    """Values arrive as they are, whatever is in them."""
    assert said(sandbox(stand_in), 'printf %s "$GIVEN"', SandboxSpec(label="x"), env={"GIVEN": value}) == value


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=60))
def test_assignments_are_one_line_that_means_the_value(value: str) -> None:
    """For every value a shell that evaluates the line exports exactly that value."""
    line = assignments({"GIVEN": value})
    assert line.isascii()
    assert line.isprintable()
    script = 'eval "$1"; exec printenv GIVEN'
    done = subprocess.run(["sh", "-c", script, "sh", line], capture_output=True, env={"PATH": os.defpath}, check=True)
    assert done.stdout.decode() == f"{value}\n"


def test_name_that_no_shell_knows_is_refused(stand_in: StandIn) -> None:
    """A variable that could not be passed on is an error and is not left out."""
    with pytest.raises(LaunchError, match=r"'A\.B'"):
        said(sandbox(stand_in), "true", SandboxSpec(label="x"), env={"A.B": "x"})


def test_dockerfile_of_a_suite_becomes_the_image(stand_in: StandIn) -> None:
    """Its files are the context, it is built once for the same content, and the container is made of it."""
    files = (
        FileSpec(path="Dockerfile", text="FROM python:3.12-slim\nCOPY requirements.txt /r\n"),
        FileSpec(path="requirements.txt", text="x\n"),
    )
    made = sandbox(stand_in)
    for _ in range(2):
        said(made, "true", SandboxSpec(label="x", image_files=files))
    assert len(stand_in.of("build")) == 1
    (words,) = stand_in.of("build")
    tag = dict(pairwise(words))["--tag"]
    assert [tag in words for words in stand_in.of("run")[-2:]] == [True, True]
    (image,) = (stand_in.state / "images").iterdir()
    assert json.loads(image.read_text())["files"] == ["Dockerfile", "requirements.txt"]
    changed = (*files[:1], FileSpec(path="requirements.txt", text="y\n"))
    said(made, "true", SandboxSpec(label="x", image_files=changed))
    assert dict(pairwise(stand_in.of("build")[1]))["--tag"] != tag


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ((FileSpec(path="Dockerfile", text="FRM x\n"),), "dockerfile parse error on line 1"),
        ((FileSpec(path="Dockerfile", text="FROM x\nCOPY gone /x\n"),), "'gone': not found"),
        ((FileSpec(path="other", text=""),), "must have a Dockerfile"),
    ],
)
def test_dockerfile_that_cannot_be_built(stand_in: StandIn, files: tuple[FileSpec, ...], words: str) -> None:
    """The message of the program is the reason, and no folder or container is left."""
    with pytest.raises(LaunchError, match=words):
        said(sandbox(stand_in), "true", SandboxSpec(label="x", image_files=files))
    assert stand_in.containers == []


def test_image_that_is_absent(stand_in: StandIn) -> None:
    """An image that cannot be had makes the sandbox unusable, with the program's words."""
    report = checked(sandbox(stand_in, image="absent:1"))
    assert [problem.code for problem in report.problems] == ["sandbox.unusable"]
    assert "image 'absent:1' is not here and cannot be fetched" in report.problems[0].message


def test_agents_reach_their_model_without_a_network(stand_in: StandIn) -> None:
    """Its API, by a relay that stands outside and has the key; the container has no network."""
    asked: list[tuple[str, str | None]] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append((self.path, self.headers["x-api-key"]))
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "6")
            self.end_headers()
            self.wfile.write(b"answer")

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}/v1"
        route = ModelRoute(name="x", base_url=base, headers={"x-api-key": "the-true-key"})
        spec = SandboxSpec(label="x", network=False, routes=(route,))

        async def run() -> Finished:
            async with sandbox(stand_in).open(spec) as workspace:
                ask = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], b'{}').read().decode())"
                address = f"{workspace.routes['x']}/messages"
                return await (await workspace.start(Command(argv=("python3", "-c", ask, address)))).wait()

        finished = asyncio.run(run())
        server.shutdown()
    assert finished.stdout == b"answer\n", finished.stderr
    assert asked == [("/v1/messages", "the-true-key")]
    assert all("none" in words[words.index("--network") + 1] for words in stand_in.of("run"))
    assert not any("the-true-key" in json.dumps(call) for call in stand_in.calls)
    assert not stand_in.containers


def test_an_image_without_an_interpreter_has_no_way_out(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent starts then, and the message says what to do."""
    monkeypatch.setattr(letting_in, "_INSIDE", "raise SystemExit('no sockets here')")
    route = ModelRoute(name="x", base_url="https://api.example")
    spec = SandboxSpec(label="x", network=False, routes=(route,))
    with pytest.raises(LaunchError, match=r"no sockets here.*an image that has python3"):
        said(sandbox(stand_in), "true", spec)
    assert not stand_in.containers
    assert said(sandbox(stand_in, network=True), "echo ok", spec) == "ok\n"


def test_graders_share_nothing_but_the_files(stand_in: StandIn, tmp_path: Path) -> None:
    """Their container is another one, with a home that nobody has seen, and without the agent's program."""
    (agent := tmp_path / "agent").touch()
    spec = SandboxSpec(label="x", network=False, program_files=(str(agent),))

    async def run() -> tuple[str, str]:
        async with sandbox(stand_in).open(spec) as workspace:
            script = 'touch "$HOME/.profile" "$TMPDIR/x" made; sleep 600 & echo "$HOME"'
            one = await (await workspace.start(Command(argv=("sh", "-c", script)))).wait()
            look = 'ls -A "$HOME" "$TMPDIR" | grep -v : | tr -d "\\n"; ls; echo "$HOME"'
            other = await (await workspace.start(Command(argv=("sh", "-c", look), fresh=True))).wait()
            return one.stdout.decode(), other.stdout.decode()

    home, seen = asyncio.run(run())
    assert seen.splitlines()[0] == "made"
    assert seen.splitlines()[1] != home.strip()
    shown = [{word for word in words if "target=" in word} for words in stand_in.of("run")[-2:]]
    assert len(shown[0] & shown[1]) == 1  # the root
    program = f"type=bind,source={agent},target={agent},readonly"
    assert [program in words for words in shown] == [True, False]
    assert not stand_in.containers


def test_check_says_what_does_not_hold(stand_in: StandIn) -> None:
    """The stand-in confines nothing: the tier is partial, and each thing that does not hold is named."""
    report = checked(sandbox(stand_in))
    assert report.tier is Tier.PARTIAL
    (problem,) = report.problems
    assert problem.severity is Severity.WARNING
    assert "files outside can be seen" in problem.message


def test_check_without_a_daemon(stand_in: StandIn) -> None:
    """A program that reaches no daemon is a problem, and is asked again when it might be there."""
    stand_in.set("down")
    made = sandbox(stand_in)
    report = checked(made)
    assert report.tier is Tier.NONE
    assert "Cannot connect to the Docker daemon" in report.problems[0].message
    with pytest.raises(LaunchError, match="Cannot connect"):
        said(made, "true", SandboxSpec(label="x"))
    (stand_in.state / "down").unlink()
    assert checked(made).tier is Tier.PARTIAL


def test_check_without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither Docker nor Podman is a problem that says how to go on."""
    monkeypatch.setenv("PATH", "/nonexistent")
    report = checked(_plain())
    assert "needs the program 'docker' or 'podman'" in report.problems[0].message
    assert report.problems[0].hint


def _plain() -> DockerSandbox:
    made = Maker(SANDBOXES, MODULE)()
    assert isinstance(made, DockerSandbox)
    return made


@pytest.mark.parametrize("options", [{"image": "--privileged"}, {"readable": ["/"]}, {"writable": ["a/b"]}])
def test_options_that_would_open_the_container(options: dict[str, object]) -> None:
    """An image that is an option of the program, or all of the machine, is refused."""
    with pytest.raises(PluginError):
        Maker(SANDBOXES, MODULE)(options)  # type: ignore[arg-type]


KILLED = """
import asyncio, sys
from skillgauge.api import Command, SandboxSpec
from skillgauge_sandbox_docker.options import DockerOptions
from skillgauge_sandbox_docker.sandbox import DockerSandbox

async def main():
    async with DockerSandbox(DockerOptions(program=sys.argv[1])).open(SandboxSpec(label="x")) as workspace:
        await workspace.start(Command(argv=("sleep", "300")))
        print("running", flush=True)
        await asyncio.sleep(300)

asyncio.run(main())
"""


def test_container_ends_with_a_process_that_is_killed(stand_in: StandIn) -> None:
    """After kill -9 the container and what runs in it go, though nobody is left to say so."""
    with subprocess.Popen([sys.executable, "-c", KILLED, stand_in.program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"running\n"
        assert len(stand_in.containers) == 1
        process.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while stand_in.containers and time.monotonic() < until:
        time.sleep(0.05)
    assert stand_in.containers == []


def test_container_that_speaks_before_its_start_is_over(stand_in: StandIn) -> None:
    """A process is started as soon as the container says that it runs, however long the program needs for its books."""
    stand_in.set("slow")
    assert said(sandbox(stand_in), "echo ok", SandboxSpec(label="x")) == "ok\n"
    assert stand_in.containers == []


def test_process_that_starts_while_its_workspace_ends(stand_in: StandIn) -> None:
    """A command that the program is still starting when its workspace ends does not outlive it."""

    async def leave_at_once() -> None:
        async with sandbox(stand_in).open(SandboxSpec(label="x")) as workspace:
            stand_in.set("slow")
            await workspace.start(Command(argv=("sleep", "300")))
            while "sleep" not in stand_in.of("exec")[-1]:
                await asyncio.sleep(0.01)

    asyncio.run(leave_at_once())
    until = time.monotonic() + 30
    while stand_in.is_busy and time.monotonic() < until:
        time.sleep(0.05)
    assert not stand_in.is_busy
    assert stand_in.containers == []


def test_container_that_is_made_after_its_removal(stand_in: StandIn) -> None:
    """A program that is too slow may make the container after it was removed in vain: none is left all the same."""
    stand_in.set("late")
    with pytest.raises(LaunchError, match="ran within 2 s"):
        said(sandbox(stand_in, start_timeout_s=2), "true", SandboxSpec(label="x"))
    assert stand_in.containers == []


def test_one_call_looks_at_all_processes(tmp_path: Path) -> None:
    """Marked processes are ended with at most one `grep` a look, however many others there are."""
    looks, mark = tmp_path / "looks", "a" * 32
    grep = tmp_path / "grep"
    grep.write_text(f'#!/bin/sh\necho look >>"{looks}"\nexec "{shutil.which("grep")}" "$@"\n')
    grep.chmod(0o755)
    with subprocess.Popen(["sleep", "300"], env={"PATH": os.defpath, MARK: mark}) as marked:
        env = {"PATH": f"{tmp_path}:{os.defpath}"}
        subprocess.run(["sh", "-c", END, "end", mark, "0", "0.05"], env=env, check=True)
        assert marked.wait(timeout=30) == -signal.SIGTERM
    assert 2 <= len(looks.read_text().splitlines()) <= 40


def test_process_that_is_slow_to_go_is_waited_for(tmp_path: Path) -> None:
    """A process that is still seen some looks after it was killed does not count as one that cannot be ended."""
    looks, grep = tmp_path / "looks", tmp_path / "grep"
    seen = f'echo look >>"{looks}"; test $(wc -l <"{looks}") -gt 10 || echo /proc/999999999/environ'
    grep.write_text(f"#!/bin/sh\n{seen}\n")
    grep.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.defpath}"}
    done = subprocess.run(["sh", "-c", END, "end", "a" * 32, "0", "0"], env=env, check=False)
    assert (done.returncode, len(looks.read_text().splitlines())) == (0, 11)


def test_leftovers_of_the_dead_are_removed_and_no_others(stand_in: StandIn) -> None:
    """A container whose maker is gone is removed at the next check; those of the living and of elsewhere stay."""
    place, _, started = this_process().rpartition("/")
    host = place.rpartition("/")[0]
    folder = stand_in.state / "containers"
    folder.mkdir(parents=True)
    owners = {"dead": f"{host}/{os.getpid()}/1", "alive": this_process(), "elsewhere": f"other/b/c/1/{started}"}
    for name, owner in owners.items():
        (folder / name).write_text(json.dumps({"label": f"skillgauge.owner={owner}"}))
    checked(sandbox(stand_in))
    assert {path.name for path in folder.iterdir()} == {"alive", "elsewhere"}


def test_owner_of_a_container() -> None:
    """This process lives; one that started at another time under the same number is another."""
    mine = this_process()
    assert not is_dead(mine)
    assert is_dead(f"{mine.rpartition('/')[0]}/0")
    assert not is_dead("nonsense")

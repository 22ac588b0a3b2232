"""The sandbox against a real Docker daemon: the contract, attempts to get out, and images of suites."""

from __future__ import annotations

import asyncio
import io
import shlex
import tarfile
from functools import partial

import pytest

from docker_daemons import IMAGE, DockerDaemon
from skillgauge.api import Command, FileSpec, Finished, LaunchError, Origin, SandboxSpec, Tier
from skillgauge_sandbox_docker.owners import LABEL, this_process
from skillgauge_sandbox_docker.sandbox import DockerSandbox
from skillgauge_testkit import SANDBOXES, Maker, check_sandbox
from skillgauge_testkit.attacks import ATTACKS, Attack, Bounds, attack_sandbox

pytestmark = [pytest.mark.slow, pytest.mark.containers]
MODULE = "skillgauge_sandbox_docker.plugin"
BOUNDS = Bounds()
LIMITS = {
    "processes": BOUNDS.processes,
    "memory_mb": BOUNDS.memory_mb,
    "file_mb": BOUNDS.file_mb,
    "disk_mb": BOUNDS.disk_mb,
    "tmp_mb": BOUNDS.tmp_mb,
}
SYS_ADMIN = 1 << 21
PRIVATE, CANARY = "private-app:1", "canary-of-a-private-image"
LOOK = "RUN (id -u; grep CapEff /proc/self/status; grep -c : /proc/net/dev; ulimit -f) > /build-info.txt\n"


@pytest.fixture(autouse=True)
def daemon(docker_daemon: DockerDaemon, monkeypatch: pytest.MonkeyPatch) -> DockerDaemon:
    """The daemon that the sandbox finds, as a user's environment names it."""
    for name, value in docker_daemon.environment.items():
        monkeypatch.setenv(name, value)
    return docker_daemon


def sandbox(**options: object) -> DockerSandbox:
    """A sandbox whose image is that of the tests."""
    made = Maker(SANDBOXES, MODULE)({"image": IMAGE, **options})  # type: ignore[arg-type]
    assert isinstance(made, DockerSandbox)
    return made


def ran(made: DockerSandbox, script: str, spec: SandboxSpec | None = None, **command: object) -> Finished:
    """Run a script in a workspace of its own."""

    async def run() -> Finished:
        async with made.open(spec or SandboxSpec(label="x", network=False)) as workspace:
            asked = Command.model_validate({"argv": ("sh", "-c", script), "timeout_s": 60, **command})
            return await (await workspace.start(asked)).wait()

    return asyncio.run(run())


def test_it_is_strict() -> None:
    """A process in a container finds nothing of what it must not find."""
    report = asyncio.run(sandbox().check())
    assert (report.tier, report.problems) == (Tier.STRICT, ())


def test_contract(daemon: DockerDaemon) -> None:
    """Files, limits, environment and ends of processes are as every sandbox promises; no container is left."""
    check_sandbox(partial(Maker(SANDBOXES, MODULE), {"image": IMAGE}), patience_s=60.0)
    assert daemon.call("ps", "--all", "--quiet", "--filter", f"label={LABEL}={this_process()}") == ""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_stopped(attack: Attack) -> None:
    """The attempt fails in a sandbox of tier strict."""
    made = sandbox(**LIMITS)
    assert asyncio.run(attack_sandbox(made, [attack], bounds=BOUNDS)) == {attack.name: None}


def brought(dockerfile: str, *, untrusted: bool = True) -> SandboxSpec:
    """What a workspace is for whose case brings a Dockerfile."""
    files = (FileSpec(path="Dockerfile", text=dockerfile),)
    return SandboxSpec(label="x", network=False, image_files=files, untrusted=untrusted)


@pytest.fixture
def private(daemon: DockerDaemon) -> str:
    """An image of this machine that no suite may read."""
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        entry = tarfile.TarInfo("private.txt")
        entry.size = len(CANARY)
        archive.addfile(entry, io.BytesIO(CANARY.encode()))
    daemon.call("import", "-", PRIVATE, stdin=context.getvalue())
    return PRIVATE


STEALING = [
    "FROM {mine}\nCOPY --from={private} /private.txt /stolen.txt\n",
    "FROM {private} AS stage\nFROM {mine}\nCOPY --from=stage /private.txt /stolen.txt\n",
    "ARG NAME={private}\nFROM $NAME AS stage\nFROM {mine}\nCOPY --from=0 /private.txt /stolen.txt\n",
    "FROM {mine}\nCO\\\nPY \\\n\n# so\n--from={private} /private.txt /stolen.txt\n",
    "FROM {mine} AS a\nONBUILD COPY --from={private} /private.txt /stolen.txt\nFROM a\n",
]


@pytest.mark.parametrize("stealing", STEALING, ids=["copy", "stage", "argument", "continued", "later"])
def test_a_strangers_build_reads_no_other_image(private: str, stealing: str) -> None:
    """A file of an image that the user did not name is in no image of an untrusted suite; a trusted suite gets it."""
    text = stealing.format(mine=IMAGE, private=private)
    made, steal = sandbox(build_from=[IMAGE]), "cat /stolen.txt"
    with pytest.raises(LaunchError, match="the Dockerfile of an untrusted suite"):
        ran(made, steal, brought(text))
    assert ran(made, steal, brought(text, untrusted=False)).stdout.decode() == CANARY


def test_a_strangers_image_is_not_built_unasked() -> None:
    """Without the user's word nothing is built, and the plan says what to type."""
    spec = brought(f"FROM {IMAGE}\nRUN touch /not-asked\n")
    made = sandbox()
    plan = asyncio.run(made.image(spec))
    (problem,) = plan.problems
    assert problem.origin == Origin("Dockerfile", place=(1, 1))
    assert "--set 'sandboxes.docker.build_from=[\"skillgauge-tests:1\"]'" in str(problem.hint)
    with pytest.raises(LaunchError, match="built only from images that you name"):
        ran(made, "true", spec)
    assert not asyncio.run(made.image(spec)).is_there


def test_a_strangers_build_is_confined(daemon: DockerDaemon) -> None:
    """What runs in a build that was asked for has no network, and can write no file beyond the limit."""
    spec = brought(f"FROM {IMAGE}\n{LOOK}RUN cp /proc/self/cgroup /group.txt\n")
    made = sandbox(build_from=[IMAGE], file_mb=8, memory_mb=128)
    user, capabilities, interfaces, blocks = ran(made, "cat /build-info.txt", spec).stdout.decode().split("\n")[:4]
    assert user == "0"
    assert int(capabilities.split()[1], 16) & SYS_ADMIN == 0
    assert interfaces == "1"
    assert blocks == str(8 * 1024 * 2)
    plan = asyncio.run(made.image(spec))
    assert plan.is_there
    daemon.call(*shlex.split(plan.removal)[1:])
    assert not asyncio.run(made.image(spec)).is_there


def test_a_strangers_build_does_not_take_the_memory() -> None:
    """A command of a build that wants more memory than the sandbox gives is ended, and so is the build."""
    hungry = "RUN python3 -c \"print(len(b'x' * (400 << 20)))\"\n"
    made = sandbox(build_from=[IMAGE], memory_mb=128)
    with pytest.raises(LaunchError, match="cannot be built"):
        ran(made, "true", brought(f"FROM {IMAGE}\n{hungry}"))


def test_a_strangers_build_has_no_more_time_than_it_may() -> None:
    """A build that does not end is ended."""
    made = sandbox(build_from=[IMAGE], build_timeout_s=3)
    with pytest.raises(LaunchError, match="took longer than 3 s"):
        ran(made, "true", brought(f"FROM {IMAGE}\nRUN sleep 600\n"))


def test_the_plan_of_a_build(private: str) -> None:
    """It tells which images the build takes, and which of them would be fetched, and does neither."""
    text = f"FROM {IMAGE} AS one\nFROM absent:1\nCOPY --from={private} /a /a\nCOPY --from=one /b /b\n"
    plan = asyncio.run(sandbox().image(brought(text, untrusted=False)))
    assert (plan.is_there, plan.bases, plan.fetched, plan.problems) == (
        False,
        (IMAGE, "absent:1", private),
        ("absent:1",),
        (),
    )


def test_volumes_of_an_image_are_limited() -> None:
    """A folder that the image wants on the machine's disk is small, like `/tmp`."""
    text = f"FROM {IMAGE}\nVOLUME /data\n"
    fill = "dd if=/dev/zero of=/data/x bs=1M count=64 2>/dev/null; stat -c %s /data/x"
    finished = ran(sandbox(tmp_mb=8), fill, brought(text, untrusted=False))
    assert int(finished.stdout) <= 8 << 20


def test_what_a_command_writes_into_the_containers_own_output() -> None:
    """It is kept in no log of the daemon, which would grow on the machine's disk."""
    assert ran(sandbox(), "echo x >/proc/1/fd/1 || true; echo ok").stdout == b"ok\n"


def test_a_file_in_a_workspace_is_limited() -> None:
    """The limit of a file holds for every command, and the workspace says what became of too many of them."""
    made = sandbox(file_mb=1, disk_mb=4)
    assert b"File size limit exceeded" in ran(made, "dd if=/dev/zero of=x bs=1M count=2").stderr
    many = "for n in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=x$n bs=1M count=1; done; sleep 30; echo through"
    finished = ran(made, many)
    assert b"through" not in finished.stdout
    assert b"holds more than 4 MiB; write less, or raise plugins.sandboxes.docker.disk_mb" in finished.stderr


def test_commands_that_run_are_not_ended_with_what_another_left() -> None:
    """Processes without a mark end when no command runs any more, and no sooner than that."""

    async def run() -> tuple[Finished, Finished]:
        async with sandbox().open(SandboxSpec(label="x", network=False)) as workspace:
            long = await workspace.start(Command(argv=("sh", "-c", "sleep 2; echo done"), timeout_s=60))
            hidden = "env -i setsid sleep 100 </dev/null >/dev/null 2>&1 &"
            await (await workspace.start(Command(argv=("sh", "-c", hidden), timeout_s=60))).wait()
            first = await long.wait()
            look = await workspace.start(Command(argv=("sh", "-c", "ps | grep -c '[s]leep 100'"), timeout_s=60))
            return first, await look.wait()

    first, look = asyncio.run(run())
    assert first.stdout == b"done\n"
    assert look.stdout == b"0\n"

"""What the sandbox does beyond the contract: who gets which environment, what cannot be started, what is told."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from skillgauge.api import Command, FileSpec, Finished, LaunchError, ModelRoute, SandboxSpec, Tier
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_sandbox_bubblewrap.workspace import BubblewrapWorkspace

pytestmark = pytest.mark.usefixtures("bubblewrap", "any_way")
GENEROUS_S = 60.0


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run what must come to its end."""
    return asyncio.run(asyncio.wait_for(coroutine, GENEROUS_S))


def opened(options: dict[str, Any] | None = None, **spec: Any) -> BubblewrapWorkspace:
    """A workspace that is not open yet."""
    return BubblewrapSandbox(BubblewrapOptions.model_validate(options or {})).open(SandboxSpec(label="test", **spec))


async def sh(workspace: BubblewrapWorkspace, script: str, *words: str, **settings: Any) -> Finished:
    """Run a script."""
    return await (await workspace.start(Command(argv=("sh", "-c", script, *words), **settings))).wait()


def told(script: str, options: dict[str, Any] | None = None, **spec: Any) -> str:
    """What a script says in a workspace of its own, both streams."""

    async def main() -> str:
        async with opened(options, **spec) as workspace:
            finished = await sh(workspace, script)
            return (finished.stdout + finished.stderr).decode()

    return str(within(main()))


def test_tiers_are_said_as_they_are() -> None:
    """With the network left on for all it is partial; a workspace with network says so by its name."""

    async def look(**options: Any) -> tuple[Tier, str, str]:
        sandbox = BubblewrapSandbox(BubblewrapOptions(**options))
        report = await sandbox.check()
        assert not report.problems
        tiers = [sandbox.open(SandboxSpec(label="x", network=network)).tier for network in (True, False)]
        return report.tier, *tiers

    assert within(look()) == (Tier.STRICT, "bubblewrap+network/strict", "bubblewrap/strict")
    assert within(look(network=True)) == (Tier.PARTIAL, "bubblewrap+network/partial", "bubblewrap+network/partial")


def test_nothing_is_promised_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bwrap is missing, or does not confine, there is a problem with a way out."""
    monkeypatch.setattr("shutil.which", lambda *_args, **_kwargs: None)
    (problem,) = within(BubblewrapSandbox(BubblewrapOptions()).check()).problems
    assert "not installed" in problem.message
    assert "apt install bubblewrap" in (problem.hint or "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'No permissions to create new namespace' >&2; exit 1", "No permissions"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "sees files outside"),
        ('arguments=$2; shift 2; exec /usr/bin/bwrap --args "$arguments" --share-net "$@"', "has a network"),
        ('arguments=$2; shift 2; exec /usr/bin/bwrap --args "$arguments" --tmpfs /etc "$@"', "writes to /etc"),
    ],
)
def test_the_check_is_a_trial(body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bwrap that cannot do its work, or only pretends to, is found out by running it."""
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (problem,) = within(BubblewrapSandbox(BubblewrapOptions()).check()).problems
    assert said in problem.message
    assert problem.hint


def test_sandbox_can_be_sent_elsewhere() -> None:
    """It pickles, also after use, and works there."""
    sandbox = BubblewrapSandbox(BubblewrapOptions(processes=100))
    assert not within(sandbox.check()).problems
    assert within(pickle.loads(pickle.dumps(sandbox)).check()).tier is Tier.STRICT


def test_variables_reach_the_command_only() -> None:
    """What the command's environment holds is no argument, and not in the environment, of what stands before it."""
    script = (
        "echo before:; (cat /proc/1/environ /proc/1/cmdline) | tr '\\0' '\\n'; "
        "echo after:; echo $SECRET_VALUE; ls /proc/self/fd"
    )

    async def main() -> tuple[str, str]:
        async with opened(env={"SECRET_VALUE": "canary", "LD_PRELOAD": "/nowhere/evil.so"}) as workspace:
            finished = await sh(workspace, script)
            return finished.stdout.decode(), finished.stderr.decode()

    out, err = within(main())
    before, after = out.split("after:\n")
    assert "canary" not in before
    assert "LD_PRELOAD" not in before
    assert after.split() == ["canary", "0", "1", "2", "3"]  # the last is the listing itself
    assert "evil.so" in err


@pytest.mark.parametrize("env", [{"X": "a\0--bind\0/\0/mnt"}, {"X\0--bind\0/\0/mnt": "a"}, {"": "a"}, {"A=B": "a"}])
def test_variables_cannot_become_arguments(env: dict[str, str]) -> None:
    """A name or value that would be read as further arguments of bwrap starts nothing."""

    async def main() -> None:
        async with opened() as workspace:
            with pytest.raises(LaunchError, match=r"null character|no name"):
                await sh(workspace, "ls /mnt", env=env)

    within(main())


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (FileSpec(path="x", text="#!/no/such/interpreter\n", executable=True), "'/no/such/interpreter'"),
        (FileSpec(path="x", text="echo\n", executable=True), "no program for this machine"),
        (FileSpec(path="x", text="#!/bin/sh\n"), "may not be executed"),
        (FileSpec(path="y", text=""), "is not there"),
    ],
)
def test_what_cannot_start_is_told_beforehand(file: FileSpec, said: str) -> None:
    """A program that the system would refuse is a launch error, not a failure of the program."""

    async def main() -> None:
        async with opened() as workspace:
            await workspace.put([file])
            with pytest.raises(LaunchError, match=said):
                await workspace.start(Command(argv=("./x",)))

    within(main())


def test_what_is_hidden_is_told_beforehand(tmp_path: Path) -> None:
    """A program or working directory outside of what is shown names the option that shows it, which then does."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho shown\n")
    program.chmod(0o755)
    command = Command(argv=(str(program),))

    async def main() -> None:
        async with opened() as workspace:
            for hidden in (command, Command(argv=("true",), cwd=str(tmp_path))):
                with pytest.raises(LaunchError, match=r"plugins\.sandboxes\.bubblewrap\.readable"):
                    await workspace.start(hidden)
            (workspace.root / "link").symlink_to(program)
            with pytest.raises(LaunchError, match="outside of what the sandbox shows"):
                await workspace.start(Command(argv=("./link",)))
            shown = command.model_copy(update={"readable": (str(tmp_path),)})
            assert (await (await workspace.start(shown)).wait()).stdout == b"shown\n"
        for options, spec in (({"readable": (str(tmp_path),)}, {}), ({}, {"readable": (str(tmp_path),)})):
            async with opened(options, **spec) as workspace:
                assert (await (await workspace.start(command)).wait()).stdout == b"shown\n"

    within(main())


def test_paths_to_read_and_to_write(tmp_path: Path) -> None:
    """What may be read cannot be written; within it, what may be written can; / is refused."""
    inner = tmp_path / "inner"
    inner.mkdir()
    script = f"echo x >{tmp_path}/no; echo x >{inner}/yes && ls -A {tmp_path}"
    said = told(script, readable=(str(tmp_path),), writable=(str(inner),))
    assert "Read-only" in said
    assert (inner / "yes").exists()
    assert not (tmp_path / "no").exists()
    with pytest.raises(LaunchError, match="below /"):
        told("true", readable=("/",))
    with pytest.raises(ValueError, match="nothing confined"):
        BubblewrapOptions(readable=("/",))


def test_files_of_etc_can_be_shown() -> None:
    """A path below /etc that is asked for is there, although the rest is not."""
    there = told("ls /etc").split()
    hidden = next(path for path in sorted(Path("/etc").iterdir()) if path.is_file() and path.name not in there)
    assert "seen" in told(f"test -e {hidden} && echo seen", readable=(str(hidden),))


def test_account_tells_nothing() -> None:
    """The process is an ordinary user of a machine without a name, whose home is the workspace's."""
    said = told("id -un; hostname; cd; pwd; cat /etc/passwd | wc -l; test -w /etc/passwd || echo fixed").split()
    assert said[1] == "sandbox"
    assert said[2].endswith("/home")
    assert int(said[3]) <= 2
    assert said[4] == "fixed"


def test_every_process_begins_with_an_empty_tmp() -> None:
    """What one leaves in /tmp is not there for the next; TMPDIR is, for the time of the workspace."""

    async def main() -> bytes:
        async with opened() as workspace:
            await sh(workspace, "for place in /tmp $TMPDIR /dev/shm /var/tmp; do echo x >$place/a-trace; done")
            return (await sh(workspace, "ls /tmp/a-trace /dev/shm/a-trace $TMPDIR/a-trace 2>/dev/null | wc -l")).stdout

    assert within(main()).split() == [b"1"]


def test_refused_calls() -> None:
    """Keyrings and sockets that no network namespace confines are refused by the filter."""
    program = (
        "import ctypes, errno, platform, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.syscall({'x86_64': 250, 'aarch64': 219}[platform.machine()], 0, -4, 0)\n"
        "print(errno.errorcode[ctypes.get_errno()])\n"
        "for family in (40, 38, 17):\n"
        "    try: socket.socket(family, socket.SOCK_STREAM)\n"
        "    except OSError as error: print(errno.errorcode[error.errno])\n"
        "socket.socketpair(), socket.socket(), socket.socket(socket.AF_INET6), socket.socket(16, 3)\n"
    )

    async def main() -> Finished:
        async with opened() as workspace:
            return await (await workspace.start(Command(argv=("python3", "-c", program)))).wait()

    finished = within(main())
    assert finished.stdout.split() == [b"ENOSYS", *[b"EAFNOSUPPORT"] * 3], finished.stderr


def test_signals_are_told() -> None:
    """What a signal ended is said to have been ended by it; codes that programs choose themselves are left alone."""

    async def main() -> list[tuple[int | None, int | None]]:
        async with opened() as workspace:
            ended = [await sh(workspace, script) for script in ("kill -9 $$", "kill -11 $$", "exit 143", "exit 7")]
            return [(one.exit_code, one.signal) for one in ended]

    assert within(main()) == [(None, 9), (None, 11), (143, None), (7, None)]


def test_too_much_on_disk_is_told() -> None:
    """The process that fills the workspace ends, and says why at the end of its stderr."""
    script = "echo begin >&2; head -c 3000000 /dev/zero >big; sleep 60"

    async def main() -> Finished:
        async with opened({"disk_mb": 1}) as workspace:
            return await sh(workspace, script)

    finished = within(main())
    assert finished.exit_code is None
    assert finished.stderr.startswith(b"begin\n")
    assert b"more than 1 MiB; write less, or raise plugins.sandboxes.bubblewrap.disk_mb" in finished.stderr


def test_lower_limit_holds() -> None:
    """A command's own limits count where they are lower than the sandbox's."""

    async def main() -> list[int | None]:
        async with opened({"file_mb": 1}) as workspace:
            ends = []
            for size, limit in ((900_000, None), (1_200_000, None), (2000, 1024), (1_200_000, 10_000_000)):
                finished = await sh(workspace, f"head -c {size} /dev/zero >big", file_bytes=limit)
                ends.append(finished.exit_code)
            return ends

    ends = within(main())
    assert ends[0] == 0
    assert 0 not in ends[1:]


def test_model_is_reached_through_the_relay_only() -> None:
    """Inside there is a loopback address without a key; the API gets the key; the network is off; nothing is left."""
    heads: list[bytes] = []

    async def api(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmodel")
        writer.close()

    program = (
        "import os, sys, urllib.request\n"
        "print(urllib.request.urlopen(sys.argv[1] + '/messages').read().decode())\n"
        "print(open('/proc/net/dev').read().count(':'), os.environ.get('HTTPS_PROXY'))\n"
    )

    async def main() -> None:
        server = await asyncio.start_server(api, "127.0.0.1", 0)
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        route = ModelRoute(name="api", base_url=base, headers={"Authorization": "Bearer canary"})
        async with opened(network=False, routes=(route,), hosts=("login.example",)) as workspace:
            words = ("python3", "-c", program, workspace.routes["api"])
            running = [await workspace.start(Command(argv=words)) for _ in range(3)]  # each has a network of its own
            for one in running:
                finished = await one.wait()
                assert finished.stdout.split() == [b"model", b"1", b"http://127.0.0.1:17871"], finished
            env = await sh(workspace, "env; cat /proc/*/cmdline /proc/*/environ")
            assert b"canary" not in env.stdout
            waiting = asyncio.ensure_future((await workspace.start(Command(argv=("sleep", "60")))).wait())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
            assert workspace._relay is not None
            while workspace._relay._admissions:
                await asyncio.sleep(0.01)
        server.close()
        assert len(heads) == 3
        assert all(b"GET /v1/messages" in head and b"Bearer canary" in head for head in heads)

    within(main())


def test_without_its_relay_a_command_does_not_begin() -> None:
    """What it would ask could not be answered, so it fails as a command that cannot be started, or at once."""

    async def main() -> None:
        route = ModelRoute(name="api", base_url="http://127.0.0.1:1")
        async with opened(network=False, routes=(route,)) as workspace:
            ours, theirs = socket.socketpair()
            ours.close()
            assert workspace._relay is not None
            with suppress(LaunchError), patch.object(workspace._relay, "admit", theirs.detach):
                finished = await sh(workspace, "echo begun")
                assert (finished.exit_code, finished.stdout) == (1, b"")

    within(main())


def test_network_on_means_no_relay() -> None:
    """With the network left on by option, programs reach the API by themselves."""

    async def main() -> None:
        route = ModelRoute(name="api", base_url="http://127.0.0.1:1")
        async with opened({"network": True}, network=False, routes=(route,), hosts=("a",)) as workspace:
            assert workspace.routes == {}
            assert b"HTTPS_PROXY" not in (await sh(workspace, "env")).stdout

    within(main())

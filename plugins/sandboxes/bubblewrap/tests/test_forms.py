"""The two forms of the launcher: whether they confine alike, and which of them is used."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from skillgauge.api import Command, SandboxSpec
from skillgauge_sandbox_bubblewrap import launching
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox

GENEROUS_S = 60.0
LIBC_OWN = 0b11 << 31
"""Signals 32 and 33, which C libraries use themselves. What glibc spawns ignores both, and hands that down."""
SEEN = r"""
cat
cat /proc/self/mountinfo
grep -E '^(Uid|Gid|Groups|Umask|Sig[BIC]|Shd|Cap|NoNewPrivs|Seccomp|NSpid|NSsid)' /proc/self/status
grep -E '^(Uid|Gid|Cap|NoNewPrivs|Seccomp|Shd|Sig[BC])' /proc/1/status
cat /proc/self/limits /proc/self/uid_map /proc/self/gid_map
pwd
env | sort
hostname
cut -d: -f1 /proc/net/dev
ip=$(grep -c 0100007F /proc/net/fib_trie); echo "$ip"
find / /dev -maxdepth 1 -printf '%M %u %g %p %l\n' | sort
find /proc/self/fd -printf '%M %p %l\n' | sort
exit 3
"""
pytestmark = pytest.mark.usefixtures("bubblewrap")


def ran(sandbox: BubblewrapSandbox, command: Command, *, network: bool = False) -> tuple[bytes, bytes, int | None]:
    """Output and exit code of a command that a launcher started, without what differs from time to time."""

    async def main() -> tuple[bytes, bytes, int | None]:
        async with sandbox.open(SandboxSpec(label="test", network=network)) as workspace:
            finished = await (await workspace.start(command)).wait()
            assert sandbox._host.launchers.are_usable
            names = workspace.folder.name, workspace.folder.parent.name
        out = finished.stdout
        for name in names:
            out = out.replace(os.fsencode(name), b"FOLDER")
        out = re.sub(rb"(?<=SigIgn:\t)\w+", lambda ignored: b"%x" % (int(ignored[0], 16) & ~LIBC_OWN), out)
        out = re.sub(rb"(?m)^\d+ \d+ (\d+):\d+ ", rb"\1 ", out)  # of mounts: their numbers, and those of their devices
        return re.sub(rb"etc\w{8}|pipe:\[\d+\]|/proc/\d+", b"", out), finished.stderr, finished.exit_code

    return asyncio.run(asyncio.wait_for(main(), GENEROUS_S))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("network", [True, False], ids=["network", "alone"])
def test_they_confine_alike(network: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mounts, rights, limits, variables, streams and signals of a command are the same, whatever form started it."""
    options = BubblewrapOptions(cpu_s=77)
    command = Command(argv=("sh", "-c", SEEN), env={"ONE": "a=b\nc", "TWO": ""}, stdin=b"given\n")
    compiled = ran(BubblewrapSandbox(options), command, network=network)
    monkeypatch.setattr(launching, "COMPILED", Path(os.devnull))
    other = ran(BubblewrapSandbox(options), command, network=network)
    assert compiled[0].splitlines() == other[0].splitlines()
    assert compiled == other
    out, err, code = compiled
    assert (err, code) == (b"", 3)
    for told in (b"given", b" /usr /usr ro,", b"Seccomp:\t2", b"77", b"TWO=", b"sandbox", b"/dev/shm"):
        assert told in out, told


@pytest.mark.usefixtures("compiled")
def test_the_compiled_one_is_used() -> None:
    """Where it is there, Python is not started."""
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    assert ran(sandbox, Command(argv=("echo", "here")))[0] == b"here\n"
    (child,) = {Path(f"/proc/{child}/exe").resolve() for child in launched(sandbox)}
    assert child == launching.COMPILED


@pytest.mark.parametrize("content", [b"", b"\x7fELF of another machine", None], ids=["empty", "foreign", "missing"])
def test_one_that_cannot_be_executed_is_left_alone(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other form starts commands then."""
    file = tmp_path / "launcher"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o755)
    monkeypatch.setattr(launching, "COMPILED", file)
    sandbox = BubblewrapSandbox(BubblewrapOptions())
    assert ran(sandbox, Command(argv=("echo", "here")))[0] == b"here\n"
    assert launched(sandbox)


def launched(sandbox: BubblewrapSandbox) -> list[int]:
    """Ids of the launchers of a sandbox."""
    return [one.process.pid for one in sandbox._host.launchers._running.values()]

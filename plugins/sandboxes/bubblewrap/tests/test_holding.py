"""What a workspace holds is counted as the file system and the kernel see it."""

from __future__ import annotations

import asyncio
import dataclasses
import sys

import pytest

from skillgauge.api import Command, Finished, SandboxSpec
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox

pytestmark = pytest.mark.usefixtures("bubblewrap")
DELETED = """
files = []
for n in range(6):
    files.append(open(f"f{n}", "w+b", buffering=0))
    os.unlink(f"f{n}")
    files[-1].write(b"x" * (7 << 20))
"""
MAPPED = """
file = open("f", "w+b")
file.truncate(8 << 20)
maps = []
for n in range(6):
    with open(f"f{n}", "w+b") as file:
        file.truncate(8 << 20)
        maps.append(mmap.mmap(file.fileno(), 8 << 20))
    os.unlink(f"f{n}")
    for at in range(0, 8 << 20, 4096): maps[-1][at] = 1
"""
TOO_LONG = """
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for n in range(6):
    open(f"f{n}", "wb").write(b"x" * (7 << 20))
"""
SHARED = """
held = mmap.mmap(-1, 200 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for at in range(0, 200 << 20, 4096): held[at] = 1
"""
IN_MEMORY = """
files = [os.memfd_create("x") for _ in range(28)]
for file in files: os.write(file, b"x" * (7 << 20))
"""
SPARING = """
held = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for at in range(0, 40 << 20, 4096): held[at] = 1
children = [os.fork() for _ in range(3)]
if all(children):
    for child in children: os.waitpid(child, 0)
    print("done")
else:
    for at in range(0, 40 << 20, 4096): held[at]
    time.sleep(0.5)
"""


def played(code: str, *, groups: bool, wait: bool = True) -> Finished:
    """What became of a program that takes more than it may."""

    async def main() -> Finished:
        sandbox = BubblewrapSandbox(BubblewrapOptions(disk_mb=16, file_mb=8, tmp_mb=8, memory_mb=64))
        if not groups:
            sandbox.__dict__["_host"] = dataclasses.replace(sandbox._host, groups=())
        async with sandbox.open(SandboxSpec(label="x", network=False)) as workspace:
            text = f"import mmap, os, time\n{code}" + ("\ntime.sleep(30)\nprint('through')" if wait else "")
            command = Command(argv=(sys.executable, "-I", "-S", "-c", text), timeout_s=60)
            return await (await workspace.start(command)).wait()

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("code", [DELETED, MAPPED, TOO_LONG], ids=["deleted", "mapped", "too-long"])
def test_files_without_a_name_count(code: str) -> None:
    """Deleted ones that are open or mapped, and those whose path nobody can write down (T-S5)."""
    finished = played(code, groups=False)
    assert b"through" not in finished.stdout
    assert b"holds more than 16 MiB" in finished.stderr


@pytest.mark.parametrize("code", [SHARED, IN_MEMORY], ids=["mapped", "files"])
def test_shared_memory_counts_without_control_groups(code: str) -> None:
    """No limit of a single process is one on it (T-S6)."""
    finished = played(code, groups=False)
    assert b"through" not in finished.stdout
    assert b"share more than 64 MiB" in finished.stderr


@pytest.mark.slow
def test_what_several_processes_share_counts_once() -> None:
    """And what is only reserved not at all."""
    finished = played(SPARING, groups=False, wait=False)
    assert finished.stdout == b"done\n", finished.stderr

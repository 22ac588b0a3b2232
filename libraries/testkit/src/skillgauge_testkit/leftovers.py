"""Find descriptors and threads that a test has left behind in its own process, and processes of the machine.

What was there before is told by identity and not counted: garbage of earlier tests may be collected, and their idle
threads may end, while a test runs.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["children_running", "command_lines", "leaves_nothing", "open_descriptors"]


def open_descriptors() -> frozenset[tuple[int, int, int]]:
    """Return the open descriptors of this process, each with the device and the inode that it refers to."""
    descriptors: set[tuple[int, int, int]] = set()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names are wanted, not paths
        with suppress(OSError):  # the descriptor of this listing
            state = os.fstat(int(name))
            descriptors.add((int(name), state.st_dev, state.st_ino))
    return frozenset(descriptors)


def command_lines() -> dict[int, str]:
    """Return the command line of each process of this machine by its id, words separated by spaces.

    A process that ends meanwhile is left out, wherever in reading that happens.
    """
    lines: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            lines[int(folder.name)] = b" ".join(words).decode(errors="replace")
    return lines


def children_running(program: str) -> list[int]:
    """Return the children of this process whose command line has a text in it, by id."""
    lines = command_lines()
    children = [int(pid) for one in Path("/proc/self/task").glob("*/children") for pid in one.read_text().split()]
    return [pid for pid in children if program in lines.get(pid, "")]


@contextmanager
def leaves_nothing() -> Iterator[None]:
    """Fail if the block leaves a thread or a descriptor that was not there before.

    Raises:
        AssertionError: Names the threads and descriptors that are left.
    """
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    yield
    left = sorted(thread.name for thread in set(threading.enumerate()) - threads)
    opened = sorted(open_descriptors() - descriptors)
    assert not left, f"threads are left: {left}"
    assert not opened, f"descriptors are left: {opened}"

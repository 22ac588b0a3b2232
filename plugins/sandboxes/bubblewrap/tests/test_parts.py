"""The pure parts: where control groups can be made, what the filter decides, what a shell is told."""

from __future__ import annotations

import errno
import platform
import resource
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Command
from skillgauge_sandbox_bubblewrap import cgroups
from skillgauge_sandbox_bubblewrap.cgroups import Group, find_places, make_group, places_in
from skillgauge_sandbox_bubblewrap.limits import bounds, counting, in_front, is_loading, limiting
from skillgauge_sandbox_bubblewrap.mounts import Bind, bind_arguments
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.seccomp import filter_program

V1 = "30 24 0:26 / /sys/fs/cgroup/pids rw shared:1 - cgroup cgroup rw,pids\n"
V1_IN_CONTAINER = "30 24 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"


def test_places_in_first_version() -> None:
    """Each controller has a hierarchy, where our own group's folder takes new ones."""
    (place,) = places_in("8:pids:/a/b\n0::/\n", V1)
    assert (place.folder, dict(place.limits)) == (Path("/sys/fs/cgroup/pids/a/b"), {"pids": "pids.max"})
    (place,) = places_in("4:memory:/docker/abc/x\n", V1_IN_CONTAINER)
    assert place.folder == Path("/sys/fs/cgroup/memory/x")
    assert not list(places_in("4:memory:/elsewhere\n", V1_IN_CONTAINER))
    assert not list(places_in("3:cpu:/\n", V1))


def test_a_group_that_is_gone_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process of ours may have swept it away before; one that still has something in it is not gone."""
    monkeypatch.setattr(cgroups, "_REMOVE_S", 0.02)
    assert Group((tmp_path / "gone",), frozenset()).remove()
    (tmp_path / "used/by").mkdir(parents=True)
    assert not Group((tmp_path / "used",), frozenset()).remove()
    assert (tmp_path / "used/by").is_dir()


def test_places_in_second_version(tmp_path: Path) -> None:
    """There is one hierarchy; groups are made beside our own, with the controllers that are handed down there."""
    mounts = f"30 24 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    beside = tmp_path / "user.slice"
    (beside / "session.scope").mkdir(parents=True)
    (beside / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (place,) = places_in("0::/user.slice/session.scope\n", mounts)
    assert place.folder == beside
    assert dict(place.limits) == {"memory": "memory.max", "pids": "pids.max"}
    (beside / "cgroup.subtree_control").write_text("cpu\n")
    assert not list(places_in("0::/user.slice/session.scope\n", mounts))
    assert not list(places_in("0::/\n", mounts))


def test_groups_are_made_where_possible_and_leave_nothing(tmp_path: Path) -> None:
    """Where none can be made, nothing is limited and nothing is left; where one can, it goes away again."""
    (place,) = places_in("8:pids:/no\n", V1.replace("/sys/fs/cgroup/pids", str(tmp_path)))
    group = make_group([place], {"pids": 10, "memory": 1 << 20})
    assert (group.folders, group.limited, group.remove()) == ((), frozenset(), True)
    group = make_group(find_places(), {"pids": 10, "memory": 1 << 26})
    for folder in group.folders:
        assert folder.is_dir()
    assert group.remove()
    assert not any(folder.exists() for folder in group.folders)


def decide(program: bytes, machine: int, number: int, argument: int) -> int:
    """What the kernel makes of a filter."""
    data = {0: number, 4: machine, 16: argument}
    steps = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x20:
            accumulator = data[operand]
        elif code == 0x06:
            return int(operand)
        else:
            holds = accumulator == operand if code == 0x15 else accumulator >= operand
            at += if_true if holds else if_false


@pytest.mark.parametrize(
    ("machine", "audit", "keyctl", "socket"), [("x86_64", 0xC000003E, 250, 41), ("aarch64", 0xC00000B7, 219, 198)]
)
def test_filter(machine: str, audit: int, keyctl: int, socket: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It allows what it does not know, refuses keyrings and odd sockets, and kills what calls by foreign numbers."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    program = filter_program()
    assert program is not None
    allow, error = 0x7FFF0000, 0x00050000
    assert decide(program, audit, 0, 0) == allow
    assert decide(program, audit ^ 1, 0, 0) == 0x80000000
    assert decide(program, audit, keyctl, 0) == error | errno.ENOSYS
    assert [decide(program, audit, socket, family) == allow for family in (1, 2, 10, 16, 17, 38, 40)] == [True] * 4 + [
        False
    ] * 3
    if machine == "x86_64":
        assert decide(program, audit, 0x40000000 + 1, 0) == error | errno.ENOSYS


def test_no_filter_for_unknown_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine whose numbers are not known there is none, rather than a wrong one."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert filter_program() is None


def test_shell_limits_and_becomes_the_command() -> None:
    """The command runs with the limits, its own arguments unchanged, and with the variables that were held back."""
    options = BubblewrapOptions(file_mb=1, memory_mb=1000, cpu_s=7)
    lines = [*limiting(bounds(options, Command(argv=("x",), cpu_s=5), frozenset())), counting(4000)]
    script = 'ulimit -c; ulimit -f; ulimit -t; ulimit -d; echo "$LD_X" "$LD_Y" "${HELD_0-}" "${HELD_1-}" "$0" "$1"'
    words = in_front(lines, ("sh", "-c", script, "a b", "$(c)"), ("HELD_0", "HELD_1"))
    env = {"HELD_0": "LD_X=x  y", "HELD_1": "LD_Y=$(z)"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.splitlines() == ["0", "2048", "5", "1024000", "x  y $(z)   a b $(c)"]
    assert not [word for word in words if "LD_Y=" in word or "$(z)" in word]


def test_shell_writes_back_no_limit_that_it_has_read() -> None:
    """We bound its process at the same time; the hard limit from before would be higher, and refused."""
    assert limiting({resource.RLIMIT_CORE: (0, 0)}) == ["ulimit -c 0"]
    first, *_ = limiting({resource.RLIMIT_CPU: (5, 6)})
    assert first == "ulimit -t 6"


def test_shell_runs_nothing_without_limits() -> None:
    """If a limit cannot be set, the command is not run."""
    done = subprocess.run(in_front(["false"], ("echo", "ran")), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")


@pytest.mark.parametrize(
    ("name", "loading"), [("LD_PRELOAD", True), ("BASH_ENV", True), ("PATH", False), ("KEY", False)]
)
def test_variables_that_change_programs(name: str, loading: bool) -> None:
    """Those that would change what runs before the command are told from the others."""
    assert is_loading(name) is loading


PATHS = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), st.booleans()), max_size=8
)


@given(PATHS)
def test_binds_mean_what_was_asked(asked: list[tuple[str, bool]]) -> None:
    """After all mounts each path is as writable as the nearest asked-for path above it says, if any does."""
    binds = [Bind(Path("/", path), writable) for path, writable in asked]
    arguments = bind_arguments(binds)
    mounted = [
        (Path(target), option == "--bind-try") for option, target in zip(arguments[::3], arguments[2::3], strict=True)
    ]
    for path in {bind.path for bind in binds}:
        wanted = any(bind.writable for bind in binds if bind.path == path)
        covering = [writable for target, writable in mounted if path.is_relative_to(target)]
        assert covering[-1] is wanted

"""The file system as processes see it: a system to read, places to write, and nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from skillgauge_documents.immutables import immutable
from skillgauge_processes import Belongings, belongings, release

MIB = 1024 * 1024
USER = 1000
"""What root appears as within: programs behave otherwise as root, and some refuse to run."""

_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_WHOLE = ("/usr", "/nix/store")
_ETC_FOLDERS = ("alternatives", "pki/ca-trust", "pki/tls/certs", "ssl/certs")
_ETC_FILES = (
    "debian_version",
    "gai.conf",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "pki/tls/cert.pem",
    "protocols",
    "services",
    "ssl/openssl.cnf",
    "timezone",
)
"""What programs want of /etc. The whole is never shown: some of it only root may read, and root may be who runs us."""
_PROC_SETTINGS = ("acpi", "asound", "fs", "mtrr", "scsi", "sys")
"""What bwrap leaves open to root in /proc; `bus`, `irq` and `sysrq-trigger` it covers itself."""
_NETWORK_FILES = ("hosts", "resolv.conf")
_ALONE = "127.0.0.1 localhost\n::1 localhost\n"


@immutable
class Bind:
    """A path that is visible at its own place."""

    path: Path
    writable: bool = False


class System:
    """The system of workspaces, whose /etc has copies of harmless files; made once for each kind that is asked for.

    Removed with this object, or at the end of the program.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[bool, frozenset[str]], tuple[Path, tuple[str, ...]]] = {}

    def arguments(self, near: Path, binds: Iterable[Bind], *, network: bool) -> tuple[str, ...]:
        """Arguments of bwrap that show it, for reading. The files of `account` go over its /etc.

        Args:
            near: a workspace, beside which /etc is put if it has to be made.
            binds: what will be visible besides; what of it lies below /etc needs a place there.
            network: whether names of hosts must be found as outside.
        """
        below = frozenset(
            os.path.relpath(path, "/etc") for bind in binds if (path := str(bind.path)).startswith("/etc/")
        )
        etc, arguments = self._made.get((network, below), (None, ()))
        if etc is None or not etc.is_dir():
            held = belongings(near.parent.parent)
            etc = Path(tempfile.mkdtemp(prefix="etc", dir=held.folder))
            etc.chmod(0o755)
            weakref.finalize(self, _remove, etc, held, os.getpid())
            _write_etc(etc, below, network=network)
            arguments = tuple(_system_arguments(etc))
            self._made[network, below] = etc, arguments
        return arguments


def _remove(folder: Path, held: Belongings, owner: int) -> None:
    if owner == os.getpid():  # and not a copy that was forked
        shutil.rmtree(folder, ignore_errors=True)
        release(held)


def user_within() -> int:
    """User id that processes see as their own."""
    return os.getuid() or USER


def account(home: Path) -> str:
    """Content of /etc/passwd: an account that tells nothing of the real ones.

    Args:
        home: its home.
    """
    user = user_within()
    return f"root:x:0:0::/nonexistent:/bin/sh\nuser:x:{user}:{user}::{home}:/bin/sh\n"


def _write_etc(folder: Path, below: Iterable[str], *, network: bool) -> None:
    for name in (*_ETC_FOLDERS, *below):
        if Path("/etc", name).is_dir():
            (folder / name).mkdir(parents=True, exist_ok=True)
        elif Path("/etc", name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    for name in _ETC_FILES + (_NETWORK_FILES if network else ()):
        _copy(Path("/etc", name), folder / name, follow=name in _NETWORK_FILES)
    (folder / "passwd").touch()
    (folder / "group").write_text(f"root:x:0:\nuser:x:{user_within()}:\n")
    if not network:
        (folder / "hosts").write_text(_ALONE)


def _copy(source: Path, target: Path, *, follow: bool) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=follow)
    except OSError:
        return  # not there, or not ours to read; either way no program could do with it


def _system_arguments(etc: Path) -> list[str]:
    arguments = []
    for whole in _WHOLE:
        if Path(whole).is_dir():
            arguments += ["--ro-bind", whole, whole]
    for name in _TOP:
        top = Path("/", name)
        if top.is_symlink():
            arguments += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            arguments += ["--ro-bind", str(top), str(top)]
    arguments += ["--ro-bind", str(etc), "/etc"]
    for name in _ETC_FOLDERS:
        if Path("/etc", name).is_dir():
            arguments += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    return [*arguments, "--symlink", "/tmp", "/var/tmp", "--dir", "/run"]


def kernel_arguments(tmp_mb: int) -> list[str]:
    """Arguments of bwrap for /proc, /dev and /tmp, with nothing in them that reaches beyond the sandbox."""
    size = str(tmp_mb * MIB)
    arguments = ["--proc", "/proc"]
    if os.getuid() == 0:
        arguments += _proc_covers()
    arguments += ["--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*arguments, "--perms", "1777", "--size", size, "--tmpfs", "/tmp"]


def _proc_covers() -> list[str]:
    """Cover what root may change in /proc.

    The processes of root remain root's, although they have no capability, and it is the owner whom the kernel lets
    change its settings. While anything is covered they cannot mount a second, uncovered /proc either.
    """
    return [word for name in _PROC_SETTINGS if (path := f"/proc/{name}") for word in ("--ro-bind-try", path, path)]


def bind_arguments(binds: Iterable[Bind]) -> list[str]:
    """Arguments of bwrap that show paths at their own places, what lies deeper over what lies above it.

    Of a path that is asked for twice, writing wins. Paths that are not there are left out.
    """
    ways: dict[str, bool] = {}
    for bind in binds:
        path = str(bind.path)  # of each process: as text it takes a third of the time
        ways[path] = ways.get(path, False) or bind.writable
    arguments = []
    for path in sorted(ways, key=lambda path: (path.count("/"), path)):
        around = next((folder for folder in _around(path) if folder in ways), None)
        if around is None or ways[around] != ways[path]:
            arguments += ["--bind-try" if ways[path] else "--ro-bind-try", path, path]
    return arguments


def _around(path: str) -> Iterator[str]:
    """The folders around an absolute path, from the inside out."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path

"""What processes see of the file system: a system to read, places to write, and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024

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


@dataclass(frozen=True)
class Bind:
    """A path that is visible at its own place."""

    path: Path
    writable: bool = False


def write_etc(folder: Path, binds: Iterable[Bind], *, uid: int, home: Path, network: bool) -> None:
    """Make the /etc of a workspace: copies of harmless files, and an account that tells nothing of the real ones.

    Args:
        folder: an empty folder that becomes /etc.
        binds: what will be visible besides; what of it lies below /etc needs a place there.
        uid: user id that processes see as their own.
        home: their home.
        network: whether names of hosts must be found as outside.
    """
    below = [str(bind.path.relative_to("/etc")) for bind in binds if bind.path.is_relative_to("/etc")]
    for name in (*_ETC_FOLDERS, *below):
        if Path("/etc", name).is_dir():
            (folder / name).mkdir(parents=True, exist_ok=True)
        elif Path("/etc", name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    for name in _ETC_FILES + (_NETWORK_FILES if network else ()):
        _copy(Path("/etc", name), folder / name, follow=name in _NETWORK_FILES)
    accounts = [f"user:x:{uid}:{uid}::{home}:/bin/sh"] if uid else []
    root_home = "/nonexistent" if uid else home
    (folder / "passwd").write_text("\n".join([f"root:x:0:0::{root_home}:/bin/sh", *accounts, ""]))
    (folder / "group").write_text(f"root:x:0:\nuser:x:{uid}:\n" if uid else "root:x:0:\n")
    if not network:
        (folder / "hosts").write_text(_ALONE)


def _copy(source: Path, target: Path, *, follow: bool) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=follow)
    except OSError:
        return  # not there, or not ours to read; either way no program could do with it


def system_arguments(etc: Path) -> list[str]:
    """Arguments of bwrap that show the system, for reading.

    Args:
        etc: what `write_etc` made.
    """
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
    ways: dict[Path, bool] = {}
    for bind in binds:
        ways[bind.path] = ways.get(bind.path, False) or bind.writable
    arguments = []
    for path in sorted(ways, key=lambda path: (len(path.parts), path)):
        around = next((parent for parent in path.parents if parent in ways), None)
        if around is None or ways[around] != ways[path]:
            arguments += ["--bind-try" if ways[path] else "--ro-bind-try", str(path), str(path)]
    return arguments

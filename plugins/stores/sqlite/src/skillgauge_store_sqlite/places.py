"""Tells file systems of networks, on which two machines do not see each other's locks."""

from __future__ import annotations

import os
import re
from pathlib import Path

from skillgauge.api import StoreError
from skillgauge_stored_runs import trouble

_MOUNTS = Path("/proc/self/mountinfo")
"""Linux alone; elsewhere nothing is refused."""
_NETWORKS = frozenset(
    {
        *(
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "coda",
            "davfs",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "nfs",
            "nfs4",
        ),
        *("orangefs", "panfs", "pvfs2", "smb2", "smb3", "smbfs"),
        *("fuse.ceph", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    }
)
_ROOT = Path("/")
"""Of whatever kind, it is this machine's own: some containers reach it by 9p."""
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_of(path: Path, mounts: str) -> str | None:
    """Return the kind of the network file system that a place lies on; `None` if it is on none, or that is not told.

    Args:
        path: absolute, and without symbolic links.
        mounts: the text of `/proc/self/mountinfo`. Of several mounts at one point, the last lies on top.
    """
    kind, longest = "", -1
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        if point != _ROOT and len(point.parts) >= longest and path.is_relative_to(point):
            kind, longest = after.split(" ")[0], len(point.parts)
    return kind if kind in _NETWORKS else None


def refuse_networks(path: Path, mounts: Path = _MOUNTS) -> None:
    """Refuse a place on a network file system.

    Raises:
        StoreError: it lies on one.
    """
    try:
        text = os.fsdecode(mounts.read_bytes())
        kind = network_of(path.parent.resolve() / path.name, text)
    except OSError:
        return
    if kind:
        raise _refusal(path, kind)


def _refusal(path: Path, kind: str) -> StoreError:
    message = f"{path} lies on a network file system ({kind}), where SQLite's locks do not keep two machines apart"
    hint = (
        "Name a file on a disk of this machine with --store; a database that is there can be moved. For several "
        "machines use a PostgreSQL database (--store postgresql://...), or keep a record of each run and take them in "
        "later with: skillgauge history import"
    )
    return trouble("store.network-file-system", message, hint)

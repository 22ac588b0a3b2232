"""Network file systems, told by the list of mounts. None can be mounted here, so the lists are of real machines."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.api import RunQuery, StoreError
from skillgauge_store_sqlite import places
from skillgauge_store_sqlite.database import Database
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.places import network_of
from skillgauge_store_sqlite.schema import MIGRATIONS
from skillgauge_store_sqlite.store import SqliteStore

MOUNTS = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 0 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard
30 27 0:45 / /home rw,relatime shared:9 - nfs4 files.example:/home rw,vers=4.2,addr=192.0.2.7
31 30 254:2 / /home/local rw,relatime - xfs /dev/vdb rw
32 27 0:46 / /mnt/team\040share rw,relatime - cifs //files.example/team rw,vers=3.1.1
33 27 0:47 / /mnt/far rw,nosuid,nodev - fuse.sshfs me@far.example:/data rw,user_id=0
34 27 0:48 / /mnt/host rw - 9p hostshare rw,trans=virtio
35 27 0:49 / /mnt/near rw - fuse.overlay near rw
36 27 0:50 / /covered rw - nfs files.example:/covered rw
37 36 0:51 / /covered rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/runs.db", None),
        ("/home/me/runs.db", "nfs4"),
        ("/home/local/runs.db", None),
        ("/homes/runs.db", None),
        ("/mnt/team share/runs.db", "cifs"),
        ("/mnt/far/deep/runs.db", "fuse.sshfs"),
        ("/mnt/host/runs.db", "9p"),
        ("/mnt/near/runs.db", None),
        ("/covered/runs.db", None),
    ],
)
def test_the_mount_that_counts_is_the_one_that_lies_on_top(path: str, kind: str | None) -> None:
    """The longest point that the path lies below, and of several at one point the last."""
    assert network_of(Path(path), MOUNTS) == kind


def test_a_root_of_a_container_is_its_own() -> None:
    """Some reach it by 9p, and no other machine does."""
    assert network_of(Path("/srv/runs.db"), "27 0 0:1 / / rw - 9p none rw\n") is None


def test_a_database_there_is_refused(make: ModuleType, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither made nor read, and the message says what to do; a link does not hide where the folder is."""
    share = path.parent / "share"
    share.mkdir()
    mounts = path.parent / "mountinfo"
    mounts.write_text(f"27 0 254:1 / / rw - ext4 /dev/vda1 rw\n30 27 0:45 / {share.resolve()} rw - nfs4 files:/x rw\n")
    (path.parent / "link").symlink_to(share)
    used = share / "used.db"
    Database(used, 5, MIGRATIONS).writer().close()
    left = used.read_bytes()
    monkeypatch.setattr(places.refuse_networks, "__defaults__", (mounts,))
    file = path.parent / "link/runs.db"
    one = SqliteStore(SqliteOptions(location=str(file)))
    with pytest.raises(StoreError, match=r"network file system \(nfs4\)") as refusal:
        asyncio.run(one.begin(make.head(), fresh=False))
    assert "postgresql://" in str(refusal.value.problems[0].hint)
    assert list(share.iterdir()) == [used]
    with pytest.raises(StoreError, match="nfs4"):
        list(SqliteStore(SqliteOptions(location=str(used))).scan(RunQuery()))
    assert used.read_bytes() == left
    asyncio.run(one.close())

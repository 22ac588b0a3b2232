"""A workspace that packs its files says what `tar` in it would say."""

from __future__ import annotations

import io
import tarfile

from skillgauge.api import FileSpec, PackingWorkspace, Workspace

from ..clauses import answered, require, shown
from ..trying import Trying

_ROOM = 1024 * 1024
_SCRIPT = """mkdir -p empty sub && printf one >sub/one && chmod 750 sub/one && ln -s one sub/link &&
ln -s "$1" away && printf more >>given.txt && TZ=UTC0 touch -t 200109090146.40 sub/one && rm -r gone"""
_FILES = (
    FileSpec(path="given.txt", text="given"),
    FileSpec(path="sub/run.sh", text="x", executable=True),
    FileSpec(path="gone/y", text="y"),
)
_Seen = dict[str, tuple[bytes, str, bytes, int, float]]
_LONG_AGO = 1_000_000_000


async def packs(trying: Trying) -> None:
    """Links, modes, times and empty folders are in its archive, and nothing of what lies behind a link."""
    hidden = trying.outside / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "secret.txt").write_text(trying.secret)
    async with trying.open() as workspace:
        if not isinstance(workspace, PackingWorkspace):
            return
        await answered("Workspace.put", trying.patience_s, workspace.put, _FILES)
        given = await _seen(trying, workspace)
        contents = {path: content for path, (kind, _, content, *_) in given.items() if kind == tarfile.REGTYPE}
        expected = {file.path: (file.text or "").encode() for file in _FILES}
        require(contents == expected, f"PackingWorkspace.packed must hold what was put, not {shown(contents)}")
        modes = {path: mode & 0o100 for path, (kind, _, _, mode, _) in given.items() if kind == tarfile.REGTYPE}
        require(
            modes == {"given.txt": 0, "gone/y": 0, "sub/run.sh": 0o100},
            f"PackingWorkspace.packed must tell what can be executed, not {shown(modes)}",
        )
        await trying.sh(workspace, _SCRIPT, "sh", str(hidden))
        after = await _seen(trying, workspace)
        folders = {path for path, (kind, *_) in after.items() if kind == tarfile.DIRTYPE}
        require(folders == {".", "empty", "sub"}, f"PackingWorkspace.packed must hold every folder, not {folders}")
        links = {path: target for path, (kind, target, *_) in after.items() if kind == tarfile.SYMTYPE}
        require(
            links == {"away": str(hidden), "sub/link": "one"},
            f"PackingWorkspace.packed must keep links as they are, and follow none, but has {shown(links)}",
        )
        changed = {path: after.get(path, (b"", "", b"", 0, 0))[2:] for path in ("given.txt", "sub/one")}
        require(
            changed["given.txt"][0] == b"givenmore" and changed["sub/one"] == (b"one", 0o750, _LONG_AGO),
            f"PackingWorkspace.packed must hold what processes made of files, modes and times, not {shown(changed)}",
        )
        require(len(after) == 8, f"PackingWorkspace.packed must hold nothing else, but has {sorted(after)}")
        packed = await answered("PackingWorkspace.packed", trying.patience_s, workspace.packed, 1000)
        require(packed is None, f"PackingWorkspace.packed must be None beyond its limit, not {shown(packed)}")


async def _seen(trying: Trying, workspace: Workspace) -> _Seen:
    """Kind, target, content, mode and time of everything in the archive, by path."""
    packed = await answered("PackingWorkspace.packed", trying.patience_s, workspace.packed, _ROOM)  # type: ignore[attr-defined]  # it was asked
    require(isinstance(packed, bytes), f"PackingWorkspace.packed must be an archive of tar, not {shown(packed)}")
    seen: _Seen = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isreg() else None
            content = stream.read() if stream else b""
            seen[member.name.removeprefix("./")] = member.type, member.linkname, content, member.mode, member.mtime
    return seen

"""A workspace that packs its files tells what `tar` in it would tell."""

from __future__ import annotations

from skillgauge.api import FileSpec, PackedFile, PackingWorkspace

from ..clauses import answered, require, shown
from ..trying import Trying

_ROOM = 1024 * 1024
_LONG_AGO = 1_000_000_000
_SCRIPT = """mkdir -p empty sub && printf one >sub/one && chmod 750 sub/one && ln -s one sub/link && mkfifo pipe &&
ln -s "$1" away && printf more >>given.txt && TZ=UTC0 touch -t 200109090146.40 sub/one && rm -r gone"""
_GIVEN = (
    FileSpec(path="given.txt", text="given"),
    FileSpec(path="sub/run.sh", text="x", executable=True),
    FileSpec(path="gone/y", text="y"),
)


async def packs(trying: Trying) -> None:
    """Links, modes, times and empty folders are told, and nothing of what lies behind a link."""
    hidden = trying.outside / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "secret.txt").write_text(trying.secret)
    async with trying.open() as workspace:
        if not isinstance(workspace, PackingWorkspace):
            return
        await answered("Workspace.put", trying.patience_s, workspace.put, _GIVEN)
        files = {file.path: file for file in await _packed(trying, workspace) if file.kind == "file"}
        contents = {path: file.content for path, file in files.items()}
        expected = {file.path: (file.text or "").encode() for file in _GIVEN}
        require(contents == expected, f"PackingWorkspace.packed must tell what was put, not {shown(contents)}")
        executable = [path for path, file in files.items() if file.mode & 0o100]
        clause = f"PackingWorkspace.packed must tell what can be executed, not {executable}"
        require(executable == ["sub/run.sh"], clause)
        await trying.said(workspace, _SCRIPT.replace("$1", str(hidden)))
        _require_whole(await _packed(trying, workspace), str(hidden))
        some = await _packed(trying, workspace, 3)
        size = sum(len(file.content) for file in some)
        require(3 < size < 13, f"PackingWorkspace.packed must read little more than its limit, but read {size} bytes")


def _require_whole(packed: tuple[PackedFile, ...], hidden: str) -> None:
    files = {file.path: file for file in packed}
    folders = sorted(path for path, file in files.items() if file.kind == "folder")
    require(folders == [".", "empty", "sub"], f"PackingWorkspace.packed must tell every folder, not {folders}")
    links = {path: file.target for path, file in files.items() if file.kind == "link"}
    clause = f"PackingWorkspace.packed must tell links as they are, and follow none, but has {shown(links)}"
    require(links == {"away": hidden, "sub/link": "one"}, clause)
    others = [path for path, file in files.items() if file.kind == "other"]
    require(others == ["pipe"], f"PackingWorkspace.packed must tell what is no file, but has {others}")
    contents = {path: file.content for path, file in files.items() if file.kind == "file"}
    expected = {"given.txt": b"givenmore", "sub/one": b"one", "sub/run.sh": b"x"}
    require(contents == expected, f"PackingWorkspace.packed must tell what processes made, not {shown(contents)}")
    facts = files["sub/one"].mode, files["sub/one"].mtime
    clause = f"PackingWorkspace.packed must tell modes and times, 0o750 and {_LONG_AGO}, not {facts}"
    require(facts == (0o750, _LONG_AGO), clause)


async def _packed(trying: Trying, workspace: PackingWorkspace, limit: int = _ROOM) -> tuple[PackedFile, ...]:
    packed = await answered("PackingWorkspace.packed", trying.patience_s, workspace.packed, limit)
    is_right = isinstance(packed, tuple) and all(isinstance(file, PackedFile) for file in packed)
    require(is_right, f"PackingWorkspace.packed must return a tuple of PackedFiles, not {shown(packed)}")
    return packed

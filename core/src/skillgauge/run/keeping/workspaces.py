"""Take down what a workspace holds, and lay it down in another one.

Both are archives of `tar`, with links, modes, times and empty folders. A workspace that can packs itself; in any other
one, and to lay down, `tar` is a process there: it sees what the agent saw, and what it lays down does not count as put
there by the kernel, so that the graders' own folders are emptied as ever.
"""

from __future__ import annotations

import base64
import io
import tarfile
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from skillgauge_documents.frozen import digest

from ...contract.sandboxes import Command, Finished, PackedFile, PackedKind, PackingWorkspace, Workspace
from ...errors import SkillgaugeError
from ...types.kept import KeptExecution, KeptFile

ROOM = 16 * 1024 * 1024
"""Bytes of all files of a workspace that is kept."""
MOST = 5_000
"""Files, links and folders of it."""
_A_FILE = 2_048
"""Bytes that an archive needs for a file beside its content: headers, a long name, what fills its last block."""
_TIMEOUT_S = 60.0
_PACK = "COPYFILE_DISABLE=1 tar -cf - ."
_UNPACK = "tar -xpof -"
_UNPACK_ALONE = f"find . -mindepth 1 -delete && {_UNPACK}"
_KINDS: dict[bytes, PackedKind] = {tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link"}
_MORE = "its workspace holds more than {} MiB"
_File = tuple[KeptFile, bytes]
BROKEN = (SkillgaugeError, OSError, ValueError, tarfile.TarError)
"""What keeps a workspace from being taken down or laid down."""


async def taken_down(workspace: Workspace) -> tuple[str, tuple[KeptFile, ...], dict[str, bytes]]:
    """Return the digest of what a workspace holds, its files, and their contents by SHA-256.

    Raises:
        ValueError: it holds more than is kept, or what cannot be kept.
        OSError, SkillgaugeError, tarfile.TarError: it cannot be read.
    """
    held = await workspace.snapshot()
    if len(held) > MOST:
        raise ValueError(f"its workspace holds {len(held):,} files, more than {MOST:,}")
    contents: dict[str, bytes] = {}
    packed = await (workspace.packed(ROOM) if isinstance(workspace, PackingWorkspace) else _packed(workspace))
    files = tuple(_kept(packed, contents))
    if sum(len(file.content) for file in packed) > ROOM:
        raise ValueError(_MORE.format(ROOM // 2**20))
    return digest(dict(held)), files, contents


async def laid_down(workspace: Workspace, kept: KeptExecution, moved: Callable[[str], str]) -> bool:
    """Make a workspace hold the files of another one and no other; tells whether it does.

    Args:
        workspace: just opened.
        kept: what the other one held.
        moved: makes the paths of the other workspace in a text those of this one.

    Raises:
        ValueError: a content is not what its digest says.
        OSError, SkillgaugeError, tarfile.TarError: they cannot be laid down.
    """
    contents = {name: base64.b64decode(str(content), validate=True) for name, content in kept.contents.items()}
    if any(sha256(content).hexdigest() != name for name, content in contents.items()):
        raise ValueError("the kept content of a file is another one")
    files = [(file, contents.get(file.sha256, b"")) for file in kept.files]
    if files:
        await _run(workspace, _UNPACK_ALONE, _archive(files))
    if digest(dict(await workspace.snapshot())) != kept.workspace:
        return False
    in_place = [_moved(file, moved) for file in files]
    if changed := [now for now, before in zip(in_place, files, strict=True) if now != before]:
        await _run(workspace, _UNPACK, _archive(changed))
    return True


async def _packed(workspace: Workspace) -> tuple[PackedFile, ...]:
    """Have `tar` pack a workspace; none in a place in which nothing can run."""
    finished = await _run(workspace, _PACK, output_bytes=ROOM + MOST * _A_FILE)
    if finished.stdout_dropped:
        raise ValueError(_MORE.format(ROOM // 2**20))
    return tuple(_read(finished.stdout)) if finished.stdout else ()


async def _run(workspace: Workspace, script: str, stdin: bytes = b"", output_bytes: int = 65_536) -> Finished:
    command = Command(argv=("sh", "-c", script), stdin=stdin, timeout_s=_TIMEOUT_S, output_bytes=output_bytes)
    finished = await (await workspace.start(command)).wait()
    if finished.exit_code != 0 or finished.timed_out or finished.sandbox_failure:
        words = finished.sandbox_failure or finished.stderr[:400].decode("utf-8", "replace").strip()
        raise OSError(f"tar did not come to its end in its workspace: {words}")
    return finished


def _read(archive: bytes) -> Iterator[PackedFile]:
    """Yield the members of an archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isfile() or member.islnk() else None
            kind: PackedKind = "file" if stream else _KINDS.get(member.type, "other")
            content, target = stream.read() if stream else b"", member.linkname if kind == "link" else ""
            path = member.name.removeprefix("./")
            yield PackedFile(path, kind, member.mode & 0o7777, int(member.mtime), content, target)


def _kept(packed: Iterable[PackedFile], contents: dict[str, bytes]) -> Iterator[KeptFile]:
    """Yield what is kept of the files of a workspace; `contents` grows by those of files."""
    for number, file in enumerate(packed):
        file.path.encode()  # a name that is not UTF-8 has no place in JSON
        if number > MOST:
            raise ValueError(f"its workspace holds more than {MOST:,} files, links and folders")
        if file.kind == "other":
            raise ValueError(f"{file.path!r} in its workspace is no file, link or folder")
        name = ""
        if file.kind == "file":
            name = sha256(file.content).hexdigest()
            contents[name] = file.content
        facts = {"mode": file.mode, "mtime": file.mtime, "target": file.target, "sha256": name}
        yield KeptFile.model_validate({"path": file.path, "kind": file.kind, **facts})


def _archive(files: Iterable[_File]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file, content in files:
            member = tarfile.TarInfo(file.path)
            member.mode, member.mtime, member.linkname = file.mode, file.mtime, file.target
            member.size = len(content)
            member.type = {"folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}.get(file.kind, tarfile.REGTYPE)
            tar.addfile(member, io.BytesIO(content))
    return written.getvalue()


def _moved(file: _File, moved: Callable[[str], str]) -> _File:
    """A file with the paths of its workspace in it; one that is no text stays as it is."""
    what, content = file
    try:
        return what.model_copy(update={"target": moved(what.target)}), moved(content.decode()).encode()
    except UnicodeDecodeError:
        return file

"""The content of the workspace before a session: the folder that a file or a test names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from skillgauge.api import FileSpec
from skillgauge_assertions import FILE, Node
from skillgauge_skill_folders import file_spec, files_of

from .keys import ENVIRONMENT
from .reading import AgentvReading

MOST_FILES = 2_000
_NOISE = frozenset({".git", "__pycache__", "node_modules", ".DS_Store"})


def workdir(reading: AgentvReading, node: Node) -> Path | None:
    """The folder whose content the workspace begins with; `None` if there is none."""
    if isinstance(node.value, str) and node.value.startswith(FILE):
        node = reading.document(node, node.value)
    elif isinstance(node.value, str):
        return reading.folder(node, node.value)
    if node.value is None or not reading.only(node, ENVIRONMENT, "environment"):
        return None
    kind = node.at("type")
    if kind.value not in (None, "host"):
        hint = "Use type host, and --sandbox for a container."
        reading.refuse(kind, f"an environment of type {kind.value!r} is not supported", hint)
        return None
    named = reading.first(node, "workdir", "template")
    if named.value is None:
        return None
    if not isinstance(named.value, str):
        reading.refuse(named, "a folder is named by its path", code="suite.wrong-type")
        return None
    return reading.folder(named, named.value)


def files_in(reading: AgentvReading, node: Node, folder: Path, skills: Iterable[Path]) -> tuple[FileSpec, ...]:
    """The files of such a folder, without skills: those are installed by arms."""
    gone = [one.resolve().relative_to(folder.resolve()).as_posix() for one in skills]
    paths = [one for one in files_of(folder, gone) if not _NOISE & set(Path(one).parts)]
    if len(paths) > MOST_FILES:
        message = f"{folder.name!r} has {len(paths):,} files; {MOST_FILES:,} are the most"
        reading.refuse(node, message, "Leave out what no test needs.", "suite.value")
        return ()
    return tuple(file_spec(folder / one, one) for one in paths)


def extensions(reading: AgentvReading, node: Node) -> None:
    """Of what runs around a test, rules of an agent need nothing here; anything else is code."""
    for extension in node.items():
        identity = extension.value.get("id") if isinstance(extension.value, Mapping) else extension.value
        if isinstance(identity, str) and identity.partition(":")[0] == "agentv":
            reading.keep(extension, "an extension of agentv itself", "skills and rules lie where agents look for them")
        else:
            hint = "Put the files that it makes into `workdir`."
            reading.refuse(extension, "code that runs before or after tests is not run", hint)

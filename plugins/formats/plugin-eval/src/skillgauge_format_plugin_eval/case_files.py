"""Files beside the prompt of a case: folders that its session may read, and sessions of earlier days.

An earlier session is what a case goes on with, or what its own is compared with.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import FileSpec, Install, Origin, canonical_json
from skillgauge_skill_folders import bytes_of, contained, file_spec, files_of

from .reading import Findings, WrittenCase

_MOST_FILES = 2_000
_MOST_BYTES = 10 * 1024 * 1024
"""Of an earlier session."""
HISTORY = "history"
"""Kind of the install by which a session goes on with an earlier one."""
_SESSION = re.compile(r"[A-Za-z0-9-]{1,64}")
_SHOWN, _SHOWN_CHARACTERS = 24, 80_000
"""Messages of an earlier session that a judge is shown, half of them the first and half the last, and their length."""


def readable_files(written: WrittenCase, root: Path, findings: Findings) -> tuple[FileSpec, ...]:
    """Return the files of the folders of `add_dirs`, each folder below its own name.

    Args:
        written: the case.
        root: the plugin, which no path leaves.
        findings: receives what is wrong, and what is done.
    """
    own, specs, names = written.folder.resolve(), [], set()
    for number, text in enumerate(written.context.add_dirs or ()):
        origin = Origin(written.own.file, ("context", "add_dirs", number))
        inner = os.path.normpath(os.path.join(os.path.relpath(own, root.resolve()), text))  # noqa: PTH118 - no link yet
        place = contained(root, inner) if inner != "." else None
        if place is None or not place.is_dir():
            findings.refuse(f"there is no folder {text!r} in the plugin", origin, "Paths start at the case's folder.")
            continue
        paths = files_of(place)
        if own.is_relative_to(place) or place.name in names or len(paths) > _MOST_FILES:
            message = f"folder {text!r} holds the case, has the name of another one, or has too many files"
            findings.refuse(message, origin, "Name the folder that the agent needs to read, and nothing around it.")
            continue
        names.add(place.name)
        specs += [file_spec(place / path, f"{place.name}/{path}") for path in paths]
        message = "folders of add_dirs are copied into the workspace, each below its own name"
        findings.tell(message, origin)
    return tuple(specs)


def history(written: WrittenCase, root: Path, findings: Findings) -> tuple[Install, ...]:
    """Return the install of the session that a case goes on with, if it names one.

    Args:
        written: the case.
        root: the plugin, which no path leaves.
        findings: receives what is wrong, and what is done.
    """
    text = written.context.history_file
    if text is None:
        return ()
    origin = Origin(written.own.file, ("context", "history_file"))
    place = _inside(written, root, text)
    records = list(_records(place)) if place is not None else []
    session = next((one for record in records if isinstance(one := record.get("sessionId"), str)), None)
    if place is None or session is None or not _SESSION.fullmatch(session):
        hint = "Name a transcript as Claude Code keeps it: lines of JSON with sessionId."
        findings.refuse(f"there is no session in {text!r}", origin, hint)
        return ()
    findings.tell("a case with history_file runs in both arms, as with --ablation with-without", origin)
    path = f"{HISTORY}/{session}.jsonl"
    content = {"session": session, "file": path}
    return (Install(kind=HISTORY, name=HISTORY, content=content, files=(file_spec(place, path),)),)


def earlier_session(written: WrittenCase, root: Path, text: str) -> str | None:
    """Return the course of the session in a file, as a judge is shown it; `None` if there is none."""
    place = _inside(written, root, text)
    lines = [line for record in (_records(place) if place is not None else ()) for line in _spoken(record)]
    if not lines:
        return None
    half = _SHOWN // 2
    if len(lines) > _SHOWN:
        lines = [*lines[:half], f"[{len(lines) - _SHOWN} more messages]", *lines[-half:]]
    return "\n".join(lines)[:_SHOWN_CHARACTERS]


def _inside(written: WrittenCase, root: Path, text: str) -> Path | None:
    """Return the file that a path of a case leads to, if it lies in the plugin."""
    own = os.path.relpath(written.folder.resolve(), root.resolve())
    place = contained(root, os.path.normpath(os.path.join(own, text)))  # noqa: PTH118 - no link yet
    return place if place is not None and place.is_file() else None


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    for line in (bytes_of(path, _MOST_BYTES) or b"").decode("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _spoken(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of a message as lines: who says what, or calls which tool, or gets which answer."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if record.get("type") not in ("assistant", "user") or content is None:
        return
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        match part:
            case {"type": "text", "text": str(text)}:
                yield f"{record['type']}: {text}"
            case {"type": "tool_use", "name": str(name), **more}:
                yield f"calls {name} with {canonical_json(more.get('input'))}"
            case {"type": "tool_result", "content": answer}:
                yield f"gets {answer if isinstance(answer, str) else canonical_json(answer)}"

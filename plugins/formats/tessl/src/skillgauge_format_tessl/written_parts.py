"""From rules and documents of an arm to files of a plugin and keys of its manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgauge.api import Install, Suite

from .parts import DOCS_KEY, DOCUMENTS, RULE, RULES_FOLDER

_STEERING = "steering"


@dataclass
class WrittenParts:
    """The parts of a plugin beside its skills, as files and keys."""

    files: dict[str, bytes] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    about: str = ""
    """What the documents say of themselves."""
    unwritten: tuple[str, ...] = ()
    """Kinds of what a plugin of Tessl has no place for."""


def written_parts(suite: Suite) -> WrittenParts:
    """Return the rules and documents of the arms of a suite as a plugin has them."""
    parts = WrittenParts()
    installs = {install.digest: install for arm in suite.arms for install in arm.installs}
    unwritten: dict[str, None] = {}
    for install in installs.values():
        if install.kind == RULE:
            _write_rule(install, parts)
        elif install.kind == DOCUMENTS and DOCS_KEY not in parts.manifest:
            _write_documents(install, parts)
        else:
            unwritten[install.kind] = None
    parts.unwritten = tuple(unwritten)
    return parts


def _write_rule(rule: Install, parts: WrittenParts) -> None:
    steering: dict[str, Mapping[str, str]] = parts.manifest.setdefault(_STEERING, {})
    name = _free(rule.name, steering)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or RULE
    taken = {path.removesuffix(".md"): "" for path in parts.files}
    path = f"{_free(f'{RULES_FOLDER}/{stem}', taken)}.md"
    parts.files[path] = str(rule.content.get("text") or "").encode()
    steering[name] = {"rules": path}


def _free(name: str, taken: Mapping[str, object]) -> str:
    """Return a name, with a number where it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _write_documents(documents: Install, parts: WrittenParts) -> None:
    parts.manifest[DOCS_KEY] = _path(str(documents.content.get("entry") or ""))
    parts.about = str(documents.content.get("about") or "")
    for file in documents.files:
        content = Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()
        parts.files[_path(file.path)] = content


def _path(placed: str) -> str:
    """Return the path of a document within its plugin."""
    return placed.partition("/")[2]

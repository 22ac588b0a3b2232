"""Read SKILL.md, and say where it departs from the specification.

What an agent makes of a skill that breaks a rule is a matter of measurement, so broken rules are warnings; an error is
only what makes a skill unusable here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from skillgauge.api import (
    EMPTY,
    JsonObject,
    Origin,
    Problem,
    Severity,
    SourceSpan,
    SuiteError,
    Target,
    did_you_mean,
    parse_document,
)
from skillgauge_documents.immutables import immutable

SKILL_FILE = "SKILL.md"
DRAFTS_FILE = "evals/evals.draft.json"
"""Evals of a skill that somebody has begun to write; no format takes them for evals."""
MAX_BYTES = 4 * 1024 * 1024
MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY = 64, 1024, 500
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""Front matter keys that the specification defines."""
HOST_KEYS = frozenset(
    {
        "version",
        "when_to_use",
        "argument-hint",
        "model",
        "disable-model-invocation",
        "user-invocable",
        "context",
        "agent",
        "hooks",
    }
)
"""Further keys that single agents understand."""

_LINE = re.compile(r"(?P<key>[A-Za-z][\w-]*):[ \t]+(?P<value>\S.*)")


@immutable
class Skill:
    """A skill, as its SKILL.md tells it."""

    root: Path
    """Absolute path of its folder."""
    name: str
    """From the front matter, else that of the folder."""
    description: str
    """Empty if there is none."""
    front_matter: JsonObject
    body: str
    warnings: tuple[Problem, ...]
    """Rules of the specification that it breaks."""

    @property
    def version(self) -> str | None:
        """The version, which skills keep under `version` or under `version` in `metadata`."""
        metadata = self.front_matter.get("metadata")
        inner = metadata.get("version") if isinstance(metadata, Mapping) else None
        version = self.front_matter.get("version", inner)
        return str(version) if isinstance(version, str | int | float) and not isinstance(version, bool) else None

    def origin(self, *pointer: str) -> Origin:
        """The place of a key in the front matter."""
        return Origin(str(self.root / SKILL_FILE), pointer)

    def target(self) -> Target:
        """The skill as what is under test.

        It has no digest of its own: arms carry that of the skill, so that a session without it stays the same session
        when the skill is edited.
        """
        return Target(
            id=self.name,
            name=self.name,
            description=self.description,
            version=self.version,
            root=str(self.root),
            origin=self.origin(),
        )


def find_skill(path: Path) -> Path | None:
    """The folder of the skill that a file or folder belongs to: the nearest one with a SKILL.md, at most two up."""
    return next((one for one in (path, *path.parents[:2]) if (one / SKILL_FILE).is_file()), None)


def read_skill(root: Path) -> Skill:
    """Read the SKILL.md of a folder.

    Args:
        root: absolute path of the folder.

    Raises:
        SuiteError: it is absent, unreadable or no text, or its name cannot be that of a folder.
    """
    path = root / SKILL_FILE
    head, body = _divide(_text(path))
    front, warnings = _front_matter(path, head)
    name = front.get("name")
    skill = Skill(
        root=root,
        name=str(name).strip() if isinstance(name, str) and name.strip() else root.name,
        description=str(front.get("description") or "").strip(),
        front_matter=front,
        body=body,
        warnings=(),
    )
    if skill.name in (".", "..") or set("/\\\0") & set(skill.name):
        message = f"name {skill.name!r} cannot be that of a folder, in which an agent could find the skill"
        raise SuiteError(Problem("suite.skill-name", message, origin=skill.origin("name")))
    return replace(skill, warnings=(*warnings, *_broken_rules(skill, has_front=bool(head))))


def _text(path: Path) -> str:
    def problem(code: str, message: str, line: int | None = None) -> SuiteError:
        return SuiteError(Problem(f"document.{code}", message, span=SourceSpan(str(path), line)))

    try:
        if not path.is_file():
            raise problem("missing", f"there is no {SKILL_FILE} in {str(path.parent)!r}")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise problem("missing", f"{SKILL_FILE} cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise problem("too-large", f"larger than {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise problem("encoding", f"byte 0x{data[error.start]:02x} is not UTF-8", line) from error


def _divide(text: str) -> tuple[str, str]:
    """Front matter with its first line, so that lines count as in the file, and what follows."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return "", text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return ("", text) if end is None else ("".join(lines[:end]), "".join(lines[end + 1 :]))


def _front_matter(path: Path, head: str) -> tuple[JsonObject, tuple[Problem, ...]]:
    if not head:
        return EMPTY, ()
    try:
        value = parse_document(head, file=str(path), kind="yaml").value
    except SuiteError as error:
        note = "; agents may pass over the skill, or read it in another way"
        warnings = [replace(one, message=one.message + note, severity=Severity.WARNING) for one in error.problems]
        return _by_lines(head), tuple(warnings)
    if isinstance(value, Mapping):
        return value, ()
    message = "the front matter is no list of keys and values"
    return EMPTY, (_warning("front-matter", message, Origin(str(path))),)


def _by_lines(head: str) -> JsonObject:
    """Read front matter that is no YAML as a lenient reader does: a text with a colon in it, for example."""
    matches = (_LINE.match(line) for line in head.splitlines())
    return {one["key"]: one["value"].strip().strip("\"'") for one in matches if one}


def _length_faults(skill: Skill, key: str, most: int) -> Iterator[Problem]:
    """Yield a warning if a key of the front matter is no text, or longer than it may be."""
    value = skill.front_matter.get(key)
    if value is None:
        return
    if not isinstance(value, str):
        yield _warning(key, f"{key!r} must be text", skill.origin(key))
    elif len(value.strip()) > most:
        message = f"{key!r} has {len(value.strip())} characters, and may have {most}"
        yield _warning(key, message, skill.origin(key))


def _broken_rules(skill: Skill, *, has_front: bool) -> Iterator[Problem]:
    if not has_front:
        hint = "Begin it with a line ---, then name and description, then another line ---."
        yield _warning("front-matter", f"{SKILL_FILE} has no front matter", skill.origin(), hint)
        return
    front = skill.front_matter
    yield from _name_faults(skill)
    if not skill.description:
        message = "there is no description, so an agent cannot know when to use the skill"
        yield _warning("description", message, skill.origin("description"))
    yield from _length_faults(skill, "description", MAX_DESCRIPTION)
    yield from _length_faults(skill, "compatibility", MAX_COMPATIBILITY)
    metadata = front.get("metadata")
    if metadata is not None and not _maps_text_to_text(metadata):
        yield _warning("metadata", "'metadata' must map texts to texts", skill.origin("metadata"))
    unknown = [key for key in front if key not in KEYS and key not in HOST_KEYS]
    if unknown:
        names = ", ".join(f"{key!r}{did_you_mean(key, KEYS)}" for key in unknown)
        message = f"keys that the specification of Agent Skills does not define: {names}"
        yield _warning("front-matter-key", message, skill.origin(unknown[0]))


def _name_faults(skill: Skill) -> Iterator[Problem]:
    declared, name = skill.front_matter.get("name"), skill.name
    if not isinstance(declared, str) or not declared.strip():
        yield _warning("name", f"there is no name; that of the folder is taken, {name!r}", skill.origin("name"))
        return
    wrong = []
    if len(name) > MAX_NAME:
        wrong.append("may have 64 characters")
    if _has_odd_hyphen(name):
        wrong.append("may not begin or end with a hyphen, or have two in a row")
    if not all(map(_may_be_in_name, name)):
        wrong.append("may have lower-case letters, digits and hyphens only")
    if wrong:
        yield _warning("name", f"name {name!r} {' and '.join(wrong)}", skill.origin("name"))
    if unicodedata.normalize("NFC", name) != unicodedata.normalize("NFC", skill.root.name):
        message = f"name {name!r} is not that of the folder, {skill.root.name!r}"
        yield _warning("name", message, skill.origin("name"), "Rename one of them; some agents insist on it.")


def _has_odd_hyphen(name: str) -> bool:
    return name.startswith("-") or name.endswith("-") or "--" in name


def _may_be_in_name(character: str) -> bool:
    return character == "-" or (character.isalnum() and character == character.lower())


def _maps_text_to_text(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())


def _warning(what: str, message: str, origin: Origin, hint: str | None = None) -> Problem:
    return Problem(f"suite.skill-{what}", message, origin=origin, hint=hint, severity=Severity.WARNING)

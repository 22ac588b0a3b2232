"""A request in the same words for every wire format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

_HEADING = re.compile(r"available.*\bskills\b|\bskills\b.*available", re.IGNORECASE)
_LISTED = re.compile(r"- (?P<name>[\w:.-]+)(?::|$)(?:.*\(file: (?P<path>[^)]+SKILL\.md)\)$)?")
_ROOT = re.compile(r"^- `(?P<name>\w+)` = `(?P<path>[^`]+)`$", re.MULTILINE)
_TAGGED = re.compile(
    r"<skill>\s*<name>([^<]+)</name>(?:(?!</skill>).)*?(?:<location>([^<]+)</location>|</skill>)", re.S
)
_SKILL_TOOLS = ("activate_skill", "load_skill", "skill", "Skill")


class Role(StrEnum):
    """The speaker of a part of a conversation."""

    SYSTEM = "system"
    USER = "user"
    MODEL = "model"
    TOOL = "tool"


@dataclass(frozen=True)
class Part:
    """Something said in a conversation: a text, a call of a tool, or its result."""

    role: Role
    text: str = ""
    """Of a result: what the tool answered. Of a call: nothing."""
    call_id: str = ""
    """Of a call and its result, if the wire format has it."""


@dataclass(frozen=True)
class Conversation:
    """The content of a request, as a wire format reads it."""

    parts: tuple[Part, ...] = ()
    """In their order, thoughts left out."""
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of each tool that may be called -> JSON schema of its arguments."""
    freeform_tools: frozenset[str] = frozenset()
    """Those among them that take one text in place of arguments."""


@dataclass(frozen=True)
class ModelRequest:
    """A request to the server."""

    dialect: str
    """`anthropic`, `openai-responses`, `openai-chat` or `gemini`."""
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """The JSON value that was sent."""
    model: str | None
    is_stream: bool = False
    """Whether the answer shall come as a stream."""
    conversation: Conversation = Conversation()
    session: str = ""
    """Name of the session that it belongs to, the agent's own if it tells one."""
    time_s: float = 0.0
    """When it came, in seconds of `time.monotonic()`."""

    @property
    def text(self) -> str:
        """All that the model was told, joined by line breaks: instructions first if they come first."""
        return "\n".join(_texts(self.body))

    @property
    def key(self) -> str | None:
        """The API key that came with it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = (self.headers.get(name) for name in ("x-api-key", "x-goog-api-key", "api-key"))
        return next(filter(None, named), None) or bearer or None

    @property
    def tools(self) -> Mapping[str, Mapping[str, Any]]:
        """Name of each tool that it offers -> JSON schema of the arguments."""
        return self.conversation.tools

    @cached_property
    def turn(self) -> int:
        """The number of times that the model has spoken so far: 0 at the beginning of a session."""
        speakers = [part.role is Role.MODEL for part in self.conversation.parts]
        return sum(now and not before for before, now in zip([False, *speakers], speakers, strict=False))

    @property
    def prompt(self) -> str:
        """The user's request at the beginning, without the text that an agent adds to it in tags."""
        text = ""
        for part in self.conversation.parts:
            if part.role is Role.MODEL:
                break
            if part.role is Role.USER and not part.text.lstrip().startswith("<"):
                text = part.text
        return text

    @property
    def results(self) -> tuple[str, ...]:
        """The answers of tools so far, in the order of the conversation."""
        return tuple(part.text for part in self.conversation.parts if part.role is Role.TOOL)

    @cached_property
    def skills(self) -> Mapping[str, str]:
        """Name of each skill that the agent lists to the model -> path of its SKILL.md, empty if it tells none.

        Found are lists below a heading that says so, `<skill><name>` in tags, and the choices of a tool that loads one.
        """
        skills_seen: dict[str, str] = {}
        for text in _texts(self.body):
            skills_seen |= dict(_listed(text))
            skills_seen |= {name.strip(): path.strip() for name, path in _TAGGED.findall(text)}
        for name in _SKILL_TOOLS:
            for schema in self.tools.get(name, {}).get("properties", {}).values():
                skills_seen |= {choice: skills_seen.get(choice, "") for choice in schema.get("enum", ())}
        return skills_seen


def _listed(text: str) -> Iterator[tuple[str, str]]:
    """Skills of the lists in a text; a path that begins with the name of a root gets the root in its place."""
    roots = {match["name"]: match["path"] for match in _ROOT.finditer(text)}
    is_list = False
    for line in text.splitlines():
        if _HEADING.search(line):
            is_list = True
        elif line.startswith(("<", "#")):
            is_list = False
        elif is_list and (match := _LISTED.match(line)):
            root, slash, rest = (match["path"] or "").partition("/")
            yield match["name"], f"{roots.get(root, root)}{slash}{rest}"


def _texts(value: object, key: str = "") -> Iterator[str]:
    """Texts of a request in their order, but not its words for roles and types."""
    if isinstance(value, str):
        if key in ("text", "content", "system", "instructions", "input"):
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)

"""The question to an agent: prompts with variables, messages, and files that messages name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skillgauge.api import FileSpec, FrozenDict, JsonValue, thaw
from skillgauge_assertions import FILE, Node, TemplateError, Vars, filled, partly_filled
from skillgauge_skill_folders import file_spec

from .keys import PROMPT
from .reading import AgentvReading

_ONE_VARIABLE = re.compile(r"\s*\{\{\s*(?:vars\.)?([A-Za-z_]\w*)\s*\}\}\s*")
_ASKS = ("system", "user")
_TEXTS = (".md", ".txt", ".j2")


@dataclass(frozen=True)
class Prompt:
    """One of `prompts`: a text with variables, or messages."""

    node: Node
    label: str


@dataclass
class Asking:
    """Makes the prompt of one test."""

    reading: AgentvReading
    values: Vars
    variables: Mapping[str, Node]
    texts: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    files: dict[str, FileSpec] = field(default_factory=dict)
    is_value: bool = False
    """Whether what is read is the value of a variable: braces in it are what is asked, unless a variable is meant."""

    def ask(self, node: Node) -> None:
        """Add what a text, a message, a list of messages or any other object says."""
        value = node.value
        if isinstance(value, str):
            self._of_text(node, value)
        elif isinstance(value, tuple):
            for one in node.items():
                self.ask(one)
        elif isinstance(value, Mapping) and "role" in value:
            self._of_message(node)
        elif isinstance(value, Mapping):
            self._add("user", json.dumps(thaw(value), indent=2, ensure_ascii=False))
        elif value is not None:
            message = "what is asked is a text, a message, or a list of messages"
            self.reading.refuse(node, message, code="suite.wrong-type")

    def attach(self, node: Node) -> None:
        """Put a file that a test names into the workspace, and name it in what is asked."""
        written = node.value
        if not isinstance(written, str):
            self.reading.refuse(node, "a file is named by its path", code="suite.wrong-type")
        elif (path := self.reading.path(node, self._filled(node, written))) is not None:
            name = self.reading.name_of(path)
            self.files[name] = file_spec(path, name)
            self._add("user", f"File: {name}")

    @property
    def text(self) -> str:
        """All of it as one text: an agent is asked once."""
        return "\n\n".join(self.texts)

    def _of_text(self, node: Node, value: str) -> None:
        match = _ONE_VARIABLE.fullmatch(value)
        variable = self.variables.get(match[1]) if match else None
        if variable is not None and not isinstance(variable.value, str):
            self.is_value = True
            self.ask(variable)
            self.is_value = False
        else:
            self._add("user", self._filled(node, value))

    def _of_message(self, node: Node) -> None:
        role, content = node.at("role"), node.at("content")
        if role.value not in _ASKS:
            hint = "Write what is asked as one message of the user."
            self.reading.refuse(role, "a conversation that has begun already is not supported", hint)
        elif isinstance(content.value, tuple):
            for part in content.items():
                self._of_part(part, str(role.value))
        elif isinstance(content.value, str):
            self._add(str(role.value), self._filled(content, content.value))
        else:
            self.ask(content)

    def _of_part(self, node: Node, role: str) -> None:
        value, kind = node.at("value"), node.at("type").value
        if isinstance(node.value, str):
            self._add(role, self._filled(node, node.value))
        elif kind in ("file", "image"):
            self.attach(value)
        elif kind == "text" and isinstance(value.value, str):
            self._add(role, self._filled(value, value.value))
        else:
            message = "a part of a message is a text, or has `type` text, file or image and a `value`"
            self.reading.refuse(node, message, code="suite.wrong-type")

    def _filled(self, node: Node, text: str) -> str:
        if self.is_value:
            return partly_filled(text, self.values)
        try:
            return filled(text, self.values)
        except TemplateError as error:
            self.reading.refuse(node, str(error), code="suite.template")
            return text

    def _add(self, role: str, text: str) -> None:
        if text.strip():
            self.texts.append(text)
            self.roles.append(role)


def with_namespace(values: Vars) -> Vars:
    """Variables under their own names, and all of them below `vars`."""
    return {**values, "vars": FrozenDict(values)}


def prompts_of(reading: AgentvReading, node: Node) -> tuple[Prompt, ...]:
    """Every prompt of a file; none if tests say themselves what is asked."""
    if node.value is None:
        return ()
    if isinstance(node.value, tuple) and not _is_messages(node.value):
        return tuple(prompt for one in node.items() for prompt in _of_item(reading, one))
    return tuple(_of_item(reading, node))


def _is_messages(value: JsonValue) -> bool:
    return isinstance(value, tuple) and any(isinstance(one, Mapping) and "role" in one for one in value)


def _is_path(text: str) -> bool:
    return not set(text) & {" ", "\n"} and text.endswith((*_TEXTS, ".json", ".yaml", ".yml"))


def _of_item(reading: AgentvReading, node: Node, label: str = "") -> Iterator[Prompt]:
    value = node.value
    if isinstance(value, str) and (value.startswith(FILE) or _is_path(value)):
        yield from _of_file(reading, node, value, label)
    elif isinstance(value, str) or _is_messages(value):
        yield Prompt(node, label)
    elif reading.only(node, PROMPT, "a prompt"):
        own = reading.first(node, "label", "id").value
        inner = reading.first(node, "raw", "prompt", "path", "file")
        if inner.value is None:
            reading.refuse(node, "a prompt needs `raw` or `path`", code="suite.missing-key")
        else:
            yield from _of_item(reading, inner, own if isinstance(own, str) else "")


def _of_file(reading: AgentvReading, node: Node, written: str, label: str) -> Iterator[Prompt]:
    if written.endswith(_TEXTS):
        yield Prompt(Node(reading.text(node, written), node.origin), label)
    elif written.endswith((".json", ".yaml", ".yml")):
        yield Prompt(reading.document(node, written), label)
    else:
        hint = f"Name a file that ends with {', '.join(_TEXTS)} or .json."
        reading.refuse(node, f"{written!r} is code that makes a prompt, which is not run", hint)

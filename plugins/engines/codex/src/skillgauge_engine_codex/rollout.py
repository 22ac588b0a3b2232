"""The session file of Codex, called a rollout: every message and every tool call, the lost ones included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from skillgauge.api import Block, EventKind, FiredSkill, JsonValue, TrajectoryEvent, Usage
from skillgauge_agent_programs.json_lines import (
    bounded,
    bounded_text,
    dig,
    items_at,
    parse_line,
    text_at,
    texts_at,
)
from skillgauge_agent_programs.skills import EXPLICIT, FiredSkills

from .outcomes import usage_of

SHELL = "exec_command"
_LISTED = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*): .*\(file: [^)]*\)$", re.MULTILINE)
_SKILLS = "host_skills.instructions"
_MENTIONED = re.compile(r"\A\s*<skill>\s*<name>([^<]+)</name>")
_BLOCKED = re.compile(r"(?:Script error:\n)?Command blocked by (\w+) hook: ")
_LOGGED_BLOCK = re.compile(r"^\S+ ERROR \S+ error=Command blocked by (\w+) hook: ", re.MULTILINE)
_SCRIPT = "exec"
"""The tool of models that call all others from code."""
_SCRIPT_EXIT = re.compile(r'"exit_code":\s*(\d+)')
_FAILED_SCRIPT = "Script failed\n"
_SERVER = "mcp__"
"""Begins the namespace of the tools of a server."""
_UNSUPPORTED = "unsupported call: "
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)$", re.MULTILINE)
_OUTPUT = re.compile(
    r"(?:(?:Script|Chunk ID|Wall time|Process exited|Original token count|Exit code)\b[^\n]*\n)*Output:\n"
)
_UNBROKEN = "\nOutput:"
"""Ends the part that the program puts before the answer of a server."""
_REJECTED = "patch rejected: "
"""The program's own words for a change of files that its sandbox forbids; what a command prints never stands alone."""
_DENIED = "Read-only file system"
"""What a command prints that its sandbox stopped, and any other that has a reason to print it."""


class Rollout:
    """Reads a session file."""

    def __init__(self) -> None:
        self._events: list[TrajectoryEvent] = []
        self._offered: tuple[str, ...] | None = None
        self._fired = FiredSkills()
        self._blocked: list[Block] = []
        self._tools: dict[str, str] = {}
        self._is_denial_possible = False
        self._end: JsonValue = None
        self.is_cut = False
        """Whether the last line of the file is not finished."""
        self.has_begun = False
        """Whether the file tells that the session got to work."""
        self._usage: Usage | None = None
        self._usage_before: Usage | None = None
        self.model_calls: int | None = None
        self.model: str | None = None
        self.version: str | None = None
        self.session_id: str | None = None

    def begin_turn(self) -> None:
        """Leave what was read so far to earlier turns; the skills that the model was told of then are known to it."""
        self._usage_before, self.model_calls = self._usage, None
        self._events, self._blocked, self._fired = [], [], FiredSkills()
        self._end, self.has_begun, self._is_denial_possible = None, False, False

    @property
    def usage(self) -> Usage | None:
        """The usage of all answers so far, also of a session that did not come to its end."""
        return self._usage and self._usage.without(self._usage_before)

    @property
    def events(self) -> tuple[TrajectoryEvent, ...]:
        """The words and actions of the agent."""
        return tuple(self._events)

    @property
    def offered(self) -> tuple[str, ...] | None:
        """Skills that the model was told of; `None` if the file does not show it."""
        return (self._offered or ()) if self.has_begun and self._offered != _UNREADABLE else None

    @property
    def fired(self) -> tuple[FiredSkill, ...]:
        """Skills that were put into the request by `$name`."""
        return self._fired.all

    @property
    def is_over(self) -> bool:
        """True if the file has the end of the session."""
        return self._end is not None

    @property
    def lacks_end(self) -> bool:
        """True if the file has a session, but neither its end nor an answer as the last event."""
        is_answered = bool(self._events) and self._events[-1].kind is EventKind.MESSAGE
        return self.has_begun and not self.is_over and (self.is_cut or not is_answered)

    @property
    def answer(self) -> str | None:
        """The final answer, if there was one."""
        return text_at(self._end, "last_agent_message")

    @property
    def error(self) -> str | None:
        """The failure of the session, if it failed."""
        return text_at(self._end, "error", "message")

    def blocked(self, stderr: str) -> tuple[Block, ...] | None:
        """Calls that a hook or the sandbox stopped; a script of the agent can hide one, but not from the log.

        Unknown if nothing but the text of a command speaks for it, which any command can print.
        """
        by_hook = sum(block.by == "hook" for block in self._blocked)
        blocks = (*self._blocked, *blocks_in(stderr)[by_hook:])
        return None if self._is_denial_possible and not blocks else blocks

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        payload = dig(record, "payload")
        match text_at(record, "type"):
            case "session_meta":
                self.session_id, self.version = text_at(payload, "session_id"), text_at(payload, "cli_version")
            case "turn_context":
                self.has_begun, self.model = True, text_at(payload, "model")
            case "token_usage_record":
                self.model_calls = (self.model_calls or 0) + 1
                self._usage = usage_of(dig(payload, "thread_token_usage"))
            case "response_item":
                self._events += self._item(payload)
            case "event_msg":
                match text_at(payload, "type"):
                    case "item_completed":
                        self._events += self._nested(dig(payload, "item"))
                    case "task_complete":
                        self._end = payload
                    case _:
                        return
            case _:
                return

    def _item(self, item: JsonValue) -> Iterator[TrajectoryEvent]:
        match text_at(item, "type"):
            case "message":
                yield from self._message(item)
            case "reasoning":
                text = "\n".join(text_at(part, "text") or "" for part in items_at(item, "summary"))
                yield TrajectoryEvent(kind=EventKind.REASONING, text=bounded_text(text))
            case "function_call" | "custom_tool_call":
                yield self._call(item)
            case "function_call_output" | "custom_tool_call_output":
                yield self._output(item)
            case "web_search_call":
                yield TrajectoryEvent(kind=EventKind.TOOL_CALL, name="web_search", data=bounded(dig(item, "action")))
            case _:
                return

    def _message(self, item: JsonValue) -> Iterator[TrajectoryEvent]:
        texts = [text_at(part, "text") or "" for part in items_at(item, "content")]
        match text_at(item, "role"):
            case "assistant":
                yield TrajectoryEvent(kind=EventKind.MESSAGE, text=bounded_text("\n".join(texts)))
            case "user":
                for mention in filter(None, map(_MENTIONED.match, texts)):
                    self._fired.add(mention[1].strip(), EXPLICIT)
            case "developer":
                kinds = texts_at(item, "internal_chat_message_metadata_passthrough", "content_item_kinds")
                for kind, text in zip(kinds, texts, strict=False):
                    if kind == _SKILLS:
                        self._offered = tuple(_LISTED.findall(text)) or _UNREADABLE
            case _:
                return

    def _call(self, item: JsonValue) -> TrajectoryEvent:
        name, call_id = text_at(item, "name") or "", text_at(item, "call_id")
        namespace = text_at(item, "namespace") or ""
        if namespace.startswith(_SERVER):  # as other programs call the tools of servers
            name = f"{namespace}__{name}"
        told = text_at(item, "arguments")
        arguments: JsonValue = parse_line(told.encode("utf-8", "replace")) if told else dig(item, "input")
        if arguments is None:
            arguments = told
        if call_id:
            self._tools[call_id] = name
        return _call(name, call_id, arguments)

    def _output(self, item: JsonValue) -> TrajectoryEvent:
        call_id = text_at(item, "call_id") or ""
        text = _flat(dig(item, "output"))
        tool = self._tools.get(call_id)
        head = _head(text)
        is_failed = self._script_failed(text) if tool == _SCRIPT else _has_failed(text[:head])
        is_broken = text.startswith((_UNSUPPORTED, _FAILED_SCRIPT))
        stopped = _BLOCKED.match(text[head:]) if is_broken or not head else None
        if stopped:
            self._blocked.append(Block(tool=tool or "", by="hook", event=stopped[1]))
        is_rejected = not head and text.startswith(_REJECTED)
        if is_rejected:
            self._blocked.append(Block(tool=tool or "", by="sandbox"))
        is_error = is_failed or is_broken or is_rejected or stopped is not None
        return self._result(tool, call_id, text[head:], is_error=is_error)

    def _script_failed(self, text: str) -> bool:
        """Return whether everything that a script started failed; that is reported by itself, but not always."""
        codes = [int(code) for code in _SCRIPT_EXIT.findall(text)]
        self._is_denial_possible |= any(codes) and _DENIED in text
        return bool(codes) and all(codes)

    def _nested(self, item: JsonValue) -> Iterator[TrajectoryEvent]:
        """Return the actions of an agent's script: other calls report the same themselves."""
        call_id = text_at(item, "id") or ""
        if call_id in self._tools:
            return
        is_error = text_at(item, "status") != "completed"
        match text_at(item, "type"):
            case "CommandExecution":
                command = next(reversed(texts_at(item, "command")), "")
                yield _call(SHELL, call_id, {"cmd": command})
                yield self._result(SHELL, call_id, text_at(item, "aggregated_output") or "", is_error=is_error)
            case "FileChange":
                yield _call("apply_patch", call_id, dig(item, "changes"))
                yield self._result("apply_patch", call_id, text_at(item, "stdout") or "", is_error=is_error)
            case _:
                return

    def _result(self, tool: str | None, call_id: str, text: str, *, is_error: bool) -> TrajectoryEvent:
        self._is_denial_possible |= is_error and _DENIED in text
        return TrajectoryEvent(
            kind=EventKind.TOOL_RESULT,
            name=tool,
            call_id=call_id or None,
            text=bounded_text(text),
            is_error=is_error,
        )


def _has_failed(head: str) -> bool:
    """Return whether the head of an output tells an exit code other than 0."""
    return any(int(code) for code in _EXIT.findall(head))


def blocks_in(stderr: str) -> tuple[Block, ...]:
    """Calls that a hook stopped, as far as the program's log tells."""
    return tuple(Block(tool="", by="hook", event=event) for event in _LOGGED_BLOCK.findall(stderr))


def _call(name: str, call_id: str | None, arguments: JsonValue) -> TrajectoryEvent:
    return TrajectoryEvent(kind=EventKind.TOOL_CALL, name=name, call_id=call_id or None, data=bounded(arguments))


_UNREADABLE = ("",)
"""In place of the list of offered skills where there is one that names none."""


def _head(output: str) -> int:
    """Return the start of the output proper, after the text that the program puts before it, maybe twice."""
    end = 0
    for _ in range(2):
        match = _OUTPUT.match(output, end)
        end = match.end() if match else end
    return end


def _flat(output: JsonValue) -> str:
    """The text of an output, which is a text or a list of parts."""
    if isinstance(output, str):
        return output
    texts = (text_at(part, "text") or f"[{text_at(part, 'type') or 'part'}]\n" for part in items_at(output))
    return "".join(f"{text}\n" if text.endswith(_UNBROKEN) else text for text in texts)

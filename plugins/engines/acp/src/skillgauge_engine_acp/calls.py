"""Tool calls of a session: told in pieces, which are put together here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skillgauge.api import EventKind, JsonValue, TrajectoryEvent
from skillgauge_agent_programs.json_lines import bounded, bounded_text, dig, items_at, text_at

COMPLETED, FAILED = "completed", "failed"


@dataclass
class ToolCall:
    """One call, as far as it was told."""

    id: str
    fields: dict[str, JsonValue] = field(default_factory=dict)
    """Of the protocol's tool call: the latest value of each."""
    output: str = ""
    """What came of it outside of those fields."""
    name: str = ""
    is_shown: bool = False
    """Whether the call itself is among the events."""

    @property
    def status(self) -> str | None:
        """The progress of the call."""
        return text_at(self.fields, "status")

    @property
    def is_over(self) -> bool:
        """True if there is a result."""
        return self.status in (COMPLETED, FAILED)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that it is about."""
        paths_found = [text_at(place, "path") for place in items_at(self.fields, "locations")]
        paths_found += [text_at(self.fields, "rawInput", "file_path")]
        return tuple(dict.fromkeys(path for path in paths_found if path))

    @property
    def is_command(self) -> bool:
        """True if it runs a shell command."""
        return dig(self.fields, "rawInput", "command") is not None

    def call_event(self) -> TrajectoryEvent:
        """The call, with its arguments, or what is told in their place."""
        parts = {key: value for key in ("kind", "title", "locations") if (value := self.fields.get(key))}
        arguments = self.fields.get("rawInput") or parts
        title = text_at(self.fields, "title") or ""
        return TrajectoryEvent(
            kind=EventKind.TOOL_CALL,
            text=bounded_text(title),
            name=self.name or text_at(self.fields, "kind") or "other",
            call_id=self.id,
            data=bounded(arguments),
        )

    def result_event(self) -> TrajectoryEvent:
        """The result as an event."""
        return TrajectoryEvent(
            kind=EventKind.TOOL_RESULT,
            text=bounded_text(self.result),
            name=self.name or None,
            call_id=self.id,
            is_error=self.status == FAILED,
        )

    @property
    def result(self) -> str:
        """The text that came of it."""
        raw = self.fields.get("rawOutput")
        if isinstance(raw, str):
            return raw
        return self.output or "\n".join(filter(None, map(_text_of, items_at(self.fields, "content"))))


class ToolCalls:
    """All calls of a session.

    The arguments of a call may come in many pieces, and no piece says that it is the last. So a call becomes an event
    when something else happens, which no agent lets happen before it knows what it wants.
    """

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}

    def take(self, update: JsonValue) -> ToolCall | None:
        """Add what an update says of a call; `None` if it does not say of which."""
        call_id = text_at(update, "toolCallId")
        if call_id is None or not isinstance(update, Mapping):
            return None
        call = self._calls.setdefault(call_id, ToolCall(call_id))
        was_over = call.is_over
        for key, value in update.items():
            if value is not None and not (was_over and key == "status"):
                call.fields[key] = value
        return call

    def shown(self) -> Iterator[TrajectoryEvent]:
        """The calls that are no events yet."""
        for call in self._calls.values():
            if not call.is_shown:
                call.is_shown = True
                yield call.call_event()

    @property
    def are_over(self) -> bool:
        """True if every call has its result."""
        return all(call.is_over for call in self._calls.values())

    def named(self, call_id: str) -> str:
        """The tool of a call."""
        call = self._calls.get(call_id)
        return call.name if call else ""


def _text_of(part: JsonValue) -> str | None:
    match text_at(part, "type"):
        case "content":
            return text_at(part, "content", "text")
        case "diff":
            return f"--- {text_at(part, 'path') or ''}\n{text_at(part, 'newText') or ''}"
        case _:
            return text_at(dig(part), "text")

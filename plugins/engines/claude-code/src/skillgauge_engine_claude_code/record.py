"""The session file of Claude Code: what the program itself wrote down, beside the stream that others can write into."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import JsonValue, Usage
from skillgauge_agent_programs.json_lines import dig, items_at, text_at

from .outcomes import usage_of

SYNTHETIC = "<synthetic>"
"""Model of messages that the program itself writes when its API fails."""


class SessionRecord:
    """Reads what tells the end of a session."""

    def __init__(self) -> None:
        self._message_id: str | None = None
        self._texts: tuple[str, ...] = ()
        self._stop: str | None = None
        self.tells_failure = False
        """Whether the last thing is that the program's API failed."""
        self.usage: Usage | None = None
        """Of the whole session, as the program adds it up when it ends."""

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        match text_at(record, "type"):
            case "assistant" if record.get("isSidechain") is not True:
                self._take(dig(record, "message"))
            case "user" if record.get("isSidechain") is not True:
                self._stop = None  # there is more to do
            case "cost-state":
                told = {"modelUsage": record.get("modelUsage"), "total_cost_usd": record.get("totalCostUSD")}
                self.usage = usage_of(told)
            case _:
                return

    def _take(self, message: JsonValue) -> None:
        """A message comes in as many lines as it has parts."""
        parts = items_at(message, "content")
        texts = tuple(text for part in parts if (text := text_at(part, "text")) is not None)
        self.tells_failure = text_at(message, "model") == SYNTHETIC
        if self.tells_failure:
            self._stop = None
            return
        self._stop = text_at(message, "stop_reason")
        is_new = text_at(message, "id") != self._message_id
        self._message_id = text_at(message, "id")
        self._texts = texts if is_new else (*self._texts, *texts)

    @property
    def answer(self) -> str | None:
        """The text of the last message; `None` if the file has no message."""
        return "".join(self._texts) if self._message_id is not None else None

    @property
    def is_over(self) -> bool:
        """Whether the last message is one after which the agent had nothing to do."""
        return self._stop == "end_turn"

    def denies(self, answer: str) -> bool:
        """Whether an answer is none that the last message gives."""
        told = self.answer
        return told is not None and answer.strip() not in {told.strip(), *(text.strip() for text in self._texts)}

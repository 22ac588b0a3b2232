"""The session file of Claude Code: what the program itself wrote down, beside the stream that others can write into."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import JsonValue, Usage
from skillgauge_agent_programs.claude.skills import SKILL_TOOL, SkillCalls, flat, listed_skills
from skillgauge_agent_programs.json_lines import count_at, dig, items_at, text_at

from .outcomes import REMEDIES, usage_of

SYNTHETIC = "<synthetic>"
"""Model of messages that the program itself writes when its API fails."""


_KINDS = {
    "input_tokens": "input_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
    "output_tokens": "output_tokens",
}
"""What a message calls its tokens, and what they are called here."""


class AnswerTokens:
    """Adds up the tokens of a session's answers. A line names some of an answer's tokens, and a later one more."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {}

    def copy(self) -> AnswerTokens:
        """The same, to take other lines."""
        clone = AnswerTokens()
        clone._counts = {name: dict(counts) for name, counts in list(self._counts.items())}
        return clone

    def take(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line, of the stream or of a session file."""
        name = text_at(record, "message", "id")
        if text_at(record, "type") != "assistant" or name is None or text_at(record, "message", "model") == SYNTHETIC:
            return
        counts = self._counts.setdefault(name, {})
        for theirs, ours in _KINDS.items():
            count = count_at(record, "message", "usage", theirs)
            if count is not None:
                counts[ours] = max(count, counts.get(ours, 0))

    @property
    def usage(self) -> Usage | None:
        """Tokens of all answers; `None` if none has named any. Their cost is named at the session's end only."""
        sums: dict[str, int] = {}
        for counts in self._counts.values():
            for kind, count in counts.items():
                sums[kind] = sums.get(kind, 0) + count
        return Usage.model_validate({**sums, "total_tokens": sum(sums.values())}) if sums else None


class SessionRecord:
    """Reads which skills a session was offered and asked for, and its end. A file that lacks its end proves nothing."""

    def __init__(self) -> None:
        self._message_id: str | None = None
        self._texts: tuple[str, ...] = ()
        self._stop: str | None = None
        self._calls_tools = False
        self._is_answered = False
        self.is_cut = False
        """Whether the last line of the file is not finished."""
        self.tells_failure = False
        """Whether the last thing is that the program's API failed."""
        self.usage: Usage | None = None
        """Of the whole session, as the program adds it up when it ends."""
        self.listed: tuple[str, ...] | None = None
        """Skills that the model was told of; `None` if the file has no list of them."""
        self.skill_calls: SkillCalls | None = None
        """`None` as long as no message of the model is there."""

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        self.read_calls(record)
        match text_at(record, "type"):
            case "attachment" if (names := listed_skills(record)) is not None:
                self.listed = (*(self.listed or ()), *names)
            case "assistant" if record.get("isSidechain") is not True:
                self._take(dig(record, "message"))
            case "user" if record.get("isSidechain") is not True:
                self._stop = None  # there is more to do
                self._is_answered = False
            case "cost-state":
                usage_record = {"modelUsage": record.get("modelUsage"), "total_cost_usd": record.get("totalCostUSD")}
                self.usage = usage_of(usage_record)
            case _:
                return

    def read_calls(self, record: Mapping[str, JsonValue]) -> None:
        """Take what a line says of skills that were asked for, also one in the file of a sub-agent."""
        parts = items_at(record, "message", "content")
        match text_at(record, "type"):
            case "assistant":
                self.skill_calls = self.skill_calls or SkillCalls(REMEDIES)
                for part in parts:
                    if text_at(part, "name") == SKILL_TOOL:
                        self.skill_calls.called(text_at(part, "id") or "", text_at(part, "input", "skill") or "")
            case "user" if self.skill_calls is not None:
                for part in parts:
                    if dig(part, "is_error") is True:
                        self.skill_calls.failed(text_at(part, "tool_use_id") or "", flat(dig(part, "content")))
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
        calls_tools = any(text_at(part, "type") == "tool_use" for part in parts)
        self._message_id = text_at(message, "id")
        self._texts = texts if is_new else (*self._texts, *texts)
        self._calls_tools = calls_tools or (self._calls_tools and not is_new)
        self._is_answered = not self._calls_tools and bool(self._texts or self._stop)

    @property
    def answer(self) -> str | None:
        """The text of the last message; `None` if the file has no message."""
        return "".join(self._texts) if self._message_id is not None else None

    @property
    def lacks_end(self) -> bool:
        """Tell whether the file has a session, but not the end that one with an answer has."""
        return self.is_cut or (self._message_id is not None and not self._is_answered)

    @property
    def is_over(self) -> bool:
        """True if the last message is one after which the agent had nothing to do."""
        return self._stop == "end_turn" and not self.is_cut

    def denies(self, answer: str) -> bool:
        """Tell whether an answer differs from the last message; a file without an end denies none."""
        told = self.answer
        return (
            told is not None
            and not self.lacks_end
            and answer.strip() not in {told.strip(), *(text.strip() for text in self._texts)}
        )

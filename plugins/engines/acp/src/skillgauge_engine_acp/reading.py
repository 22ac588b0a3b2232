"""The messages of agents beyond the protocol; each vendor has its own, so each has its own reading."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from skillgauge.api import Block, Failure, FailureClass, FiredSkill, JsonObject, JsonValue, RefusedSkill, Usage
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.json_lines import bounded_text, count_at, dig, items_at, parse_line, text_at
from skillgauge_agent_programs.skills import READ, FiredSkills, skill_of_file

from .calls import COMPLETED, ToolCall
from .connection import RemoteError

AUTHENTICATION_REQUIRED = -32000
_REASON_CHARACTERS = 300
ALLOW = "Set the option `permissions` of the engine to allow"
"""What the user can do about a skill that was refused because the client does not permit it."""


class Reading:
    """Reads an agent that tells nothing but what the protocol has. A vendor's is a subclass.

    Args:
        prompt: what the agent was asked.
        skills: names of the skills that were installed.
    """

    offered: tuple[str, ...] | None = None
    """Skills that the agent was offered."""
    blocked: tuple[Block, ...] | None = None
    """Calls that were stopped."""
    refused: tuple[RefusedSkill, ...] | None = None
    """Skills that the agent asked for and did not get."""
    turns: int | None = None
    program_version: str | None = None
    """Of the program behind the agent, if that is another."""

    may_have_read = False
    """Whether a command whose output the agent does not tell may have read a skill."""
    wants_last_word = False
    """Whether a session that ends without a message after its last call has no answer."""
    has_trouble = False
    """Whether the last thing is that the program itself told of trouble with its model."""
    title: str | None = None
    """What to call the session, for an agent that would hold another one beside it to find a title."""
    is_titled = False
    """Whether the agent took the title."""

    def __init__(self, prompt: str, skills: Collection[str]) -> None:
        self.prompt = prompt
        self.fired = FiredSkills()
        self._installed = tuple(skills)

    @property
    def known_fired(self) -> tuple[FiredSkill, ...] | None:
        """Skills that fired; unknown if none did and a command that may have read one hides what it gave back."""
        return self.fired.all or (None if self.may_have_read else ())

    @property
    def known_refused(self) -> tuple[RefusedSkill, ...] | None:
        """Skills that could not be loaded."""
        return self.refused

    @property
    def known(self) -> list[str]:
        """Names of all skills that there are, as far as anybody told."""
        return sorted({*self._installed, *(self.offered or ())})

    def session_meta(self, max_turns: int | None) -> JsonObject:
        """Return the `_meta` of a new session."""
        return {}

    def initialized(self, answer: JsonObject) -> None:
        """Take the answer to `initialize`."""

    def notified(self, method: str, params: JsonObject) -> None:
        """Take a notification that the protocol does not have."""

    def updated(self, update: JsonObject) -> None:
        """Take an update, before anything is made of it."""

    def is_own_words(self, update: JsonObject) -> bool:
        """Tell whether a piece of a message comes from the program, which has trouble, and not from its model."""
        return False

    def tool_name(self, call: ToolCall) -> str:
        """Return the name of a call's tool."""
        return text_at(call.fields, "name") or ""

    def finished(self, call: ToolCall) -> None:
        """Note the skills that a call has loaded, once it is over; what commands give back is looked into elsewhere."""
        if call.status != COMPLETED or text_at(call.fields, "kind") != "read" or call.is_command:
            return
        for name in filter(None, (skill_of_file(path, self.known) for path in call.paths)):
            self.fired.add(name, READ)

    def rejected(self, call: ToolCall) -> None:
        """Note that a call was not permitted."""

    def refuse(self, skill: str, reason: str, hint: str = "") -> None:
        """Note that a skill was not loaded; the first reason counts."""
        refused = self.refused or ()
        if all(known.name != skill for known in refused):
            words = bounded_text(" ".join(reason.split()), _REASON_CHARACTERS)
            self.refused = (*refused, RefusedSkill(name=skill, reason=words, hint=hint))

    def pass_over(self, home: Path, session: str) -> None:
        """Note what earlier turns of a session left in the home; called in a thread, before a later one."""

    def read_home(self, home: Path) -> None:
        """Read what the agent's program left in its home; called in a thread, after its end."""

    def own_failure(self) -> Failure | None:
        """Return the failure of a session that the agent calls a success."""
        return None

    def failure_of(self, error: RemoteError) -> Failure:
        """Return the meaning of an agent's error."""
        reason = str(error)
        if error.code == AUTHENTICATION_REQUIRED:
            return failed(FailureClass.AUTH, reason)
        if body := parse_line(reason.encode("utf-8", "replace")):  # some hand on the body of an answer
            reason = text_at(body, "error", "message") or text_at(body, "message") or reason
        if 400 <= error.code < 600:
            return failed(class_of_status(error.code, reason), reason)
        details = f"{reason} {json.dumps(error.data)}" if isinstance(error.data, str) else reason
        return failed(class_of_text(details) or FailureClass.PROTOCOL, reason)

    def usage_of(self, answer: JsonObject, cost_usd: float | None) -> Usage | None:
        """Tokens of the whole session, from the answer to its prompt."""
        counts = dig(answer, "usage")
        if not isinstance(counts, Mapping):
            return None
        return Usage(
            input_tokens=count_at(counts, "inputTokens"),
            cache_read_tokens=count_at(counts, "cachedReadTokens"),
            cache_write_tokens=count_at(counts, "cachedWriteTokens"),
            output_tokens=count_at(counts, "outputTokens"),
            reasoning_tokens=count_at(counts, "thoughtTokens"),
            total_tokens=count_at(counts, "totalTokens"),
            cost_usd=cost_usd,
            cost_basis="reported" if cost_usd is not None else None,
        )


def model_usage(answer: JsonObject) -> tuple[JsonValue, ...]:
    """Return the usage of each model of a session, which some agents report beside the protocol."""
    return items_at(answer, "_meta", "quota", "model_usage")

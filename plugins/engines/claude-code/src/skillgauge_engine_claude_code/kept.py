"""Sessions that Claude Code keeps by itself, in `~/.claude/projects/*/*.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Execution, Failure, FoundSession, Identity, JsonValue, TrajectoryEvent
from skillgauge_agent_programs.accounts import Ending
from skillgauge_agent_programs.claude.skills import SKILL_TOOL, listed_skills
from skillgauge_agent_programs.json_lines import dig, items_at, text_at
from skillgauge_agent_programs.kept_sessions import NO_ANSWER, KeptFile, beginning, read_skills, said_by_user
from skillgauge_agent_programs.skills import INVOKED, READ, FiredSkills

from .outcomes import failure_of
from .record import SYNTHETIC, AnswerTokens, SessionRecord
from .transcript import ClaudeTranscript

_OF_SESSION = ("user", "assistant")
_COMMAND = re.compile(r"<command-name>(/?[^<]+)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_OWN_WORDS = ("<local-command-", "[Request interrupted by user", "<task-notification>", "<bash-")
"""Begin what the program itself writes in the name of its user."""


class ClaudeSessions:
    """Reads session files of Claude Code: see `SessionReader`."""

    def claims(self, path: Path) -> bool:
        """By its first lines; the file of a sub-agent is a part of another session, and is not claimed."""
        return any(
            text_at(record, "type") in _OF_SESSION
            and text_at(record, "sessionId") is not None
            and dig(record, "message") is not None
            and record.get("isSidechain") is not True
            for record in beginning(path)
        )

    def read(self, path: Path) -> FoundSession:
        """See `SessionReader.read`."""
        file = KeptFile(path)
        start = _Start()
        for record in file.records():
            start.read(record)
        if not start.prompts:
            raise ValueError("no word of a user is in it")
        session = _Session(ClaudeTranscript(start.prompts[0]))
        session.transcript.read(start.record())
        for record in file.records():
            session.read(record)
        session.end(is_cut=file.is_cut)
        engine = Identity(name="claude-code", version=start.version, model=start.model, complete=False)
        return FoundSession(
            prompts=start.prompts, engine=engine, execution=session.execution(file), started_at=file.began
        )


@dataclass
class _Start:
    """The facts of a session as a whole, as its file tells them."""

    prompts: tuple[str, ...] = ()
    session_id: str | None = None
    version: str | None = None
    model: str | None = None
    listed: tuple[str, ...] | None = None

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        if record.get("isSidechain") is True:
            return
        self.session_id = self.session_id or text_at(record, "sessionId")
        self.version = text_at(record, "version") or self.version
        if (names := listed_skills(record)) is not None:
            self.listed = (*(self.listed or ()), *names)
        model = text_at(record, "message", "model")
        self.model = model if model and model != SYNTHETIC else self.model
        if (prompt := prompt_of(record)) is not None:
            self.prompts = (*self.prompts, prompt)

    def record(self) -> Mapping[str, JsonValue]:
        """The first line of a stream, which a file lacks."""
        return {
            "type": "system",
            "subtype": "init",
            "session_id": self.session_id,
            "model": self.model,
            "claude_code_version": self.version,
            "skills": self.listed or (),
        }


@dataclass
class _Session:
    """The course of a session, line by line."""

    transcript: ClaudeTranscript
    events: list[TrajectoryEvent] = field(default_factory=list)
    tokens: AnswerTokens = field(default_factory=AnswerTokens)
    written: SessionRecord = field(default_factory=SessionRecord)
    api_error: Mapping[str, JsonValue] | None = None
    answers: list[str | None] = field(default_factory=list)
    """Of the turns before the last."""
    has_begun: bool = False

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        if record.get("isSidechain") is True:
            self.tokens.take(record)
            return
        prompt = prompt_of(record)
        if prompt is not None and self.has_begun:
            self.answers.append(self.written.answer)
            self.events.append(said_by_user(prompt))
        self.has_begun |= prompt is not None
        self.written.read(record)
        self.transcript.read_record(record)
        self.tokens.take(record)
        if text_at(record, "message", "model") == SYNTHETIC:
            self.api_error = record
        if text_at(record, "type") in _OF_SESSION and prompt is None and record.get("isMeta") is not True:
            self.events += self.transcript.read(_as_in_stream(record))

    def end(self, *, is_cut: bool) -> None:
        """Learn that there are no more lines."""
        self.written.is_cut = is_cut
        self.transcript.end_record(is_cut=is_cut)

    def execution(self, file: KeptFile) -> Execution:
        """Everything that is known."""
        account = self.transcript.account(Ending(exit_code=0))
        failure = self._failure()
        text = None if failure else self.written.answer
        trajectory = account.trajectory
        offered = trajectory.skills_offered if self.written.listed is not None else None
        fired = FiredSkills()
        for skill in trajectory.skills_fired or ():
            fired.add(skill.name, skill.how)
        invoked = {skill.name for skill in fired.all if skill.how == INVOKED}
        for name in read_skills(self._without_tool(), offered or ()):
            if name not in invoked:
                fired.add(name, READ)
        update = {"events": tuple(self.events), "skills_offered": offered, "skills_fired": fired.all}
        return Execution(
            text=text,
            answers=(*self.answers, text) if self.answers else (),
            trajectory=trajectory.model_copy(update=update),
            usage=self.written.usage or self.tokens.usage,
            duration_s=file.duration_s,
            failure=failure,
            notes=file.notes,
        )

    def _without_tool(self) -> Iterator[TrajectoryEvent]:
        return (event for event in self.events if event.name != SKILL_TOOL)

    def _failure(self) -> Failure | None:
        """Return the reason why the session did not come to an answer."""
        if self.written.tells_failure and self.api_error is not None:
            words = next(
                (text for part in items_at(self.api_error, "message", "content") if (text := text_at(part, "text"))), ""
            )
            return failure_of({"is_error": True, "result": words}, self.api_error, None)
        return NO_ANSWER if self.written.lacks_end or self.written.answer is None else None


def _as_in_stream(record: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A line of a session file under the names that the stream has for the same."""
    line = {**record, "session_id": record.get("sessionId"), "tool_use_result": record.get("toolUseResult")}
    if (decision := record.get("permissionDecision")) is not None:
        calls = (text_at(part, "tool_use_id") for part in items_at(record, "message", "content"))
        line["tool_result_meta"] = tuple({"id": call, "permission_decision": decision} for call in calls if call)
    return line


def prompt_of(record: Mapping[str, JsonValue]) -> str | None:
    """Return what the user himself said in a line; `None` for all other lines.

    A command that he typed is told as he typed it.
    """
    if text_at(record, "type") != "user" or any(
        record.get(name) is True for name in ("isSidechain", "isMeta", "isCompactSummary")
    ):
        return None
    content = dig(record, "message", "content")
    if isinstance(content, str):
        text = content
    else:
        parts = items_at(content)
        if any(text_at(part, "type") == "tool_result" for part in parts):
            return None
        text = "\n".join(said for part in parts if (said := text_at(part, "text")) is not None)
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        text = f"{command[1]} {arguments[1] if arguments else ''}".strip()
    return None if not text.strip() or text.lstrip().startswith(_OWN_WORDS) else text

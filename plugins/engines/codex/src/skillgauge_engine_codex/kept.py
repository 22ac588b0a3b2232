"""Sessions that Codex keeps by itself, in `~/.codex/sessions/**/rollout-*.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import (
    Block,
    Execution,
    Failure,
    FiredSkill,
    FoundSession,
    Identity,
    JsonValue,
    Trajectory,
    TrajectoryEvent,
    Usage,
)
from skillgauge_agent_programs.json_lines import items_at, text_at
from skillgauge_agent_programs.kept_sessions import NO_ANSWER, KeptFile, beginning, read_skills, said_by_user
from skillgauge_agent_programs.skills import READ, FiredSkills

from .outcomes import failure_of
from .rollout import Rollout

_HEAD = "session_meta"
_USER = "user"
"""Who began the thread of a session of its own; the other threads are those of sub-agents."""


class CodexSessions:
    """Reads session files of Codex: see `SessionReader`."""

    def claims(self, path: Path) -> bool:
        """By its first line; the file of a sub-agent is a part of another session, and is not claimed."""
        first = next(beginning(path), None)
        return (
            text_at(first, "type") == _HEAD
            and text_at(first, "payload", "cli_version") is not None
            and (text_at(first, "payload", "thread_source") or _USER) == _USER
        )

    def read(self, path: Path) -> FoundSession:
        """See `SessionReader.read`."""
        file = KeptFile(path)
        session = _Session()
        for record in file.records():
            session.read(record)
        session.end(is_cut=file.is_cut)
        if not session.prompts:
            raise ValueError("no word of a user is in it")
        rollout = session.rollout
        engine = Identity(name="codex", version=rollout.version, model=rollout.model, complete=False)
        return FoundSession(
            prompts=tuple(session.prompts), engine=engine, execution=session.execution(file), started_at=file.began
        )


@dataclass(frozen=True)
class _Turn:
    """A turn that is over."""

    events: tuple[TrajectoryEvent, ...]
    answer: str | None
    usage: Usage | None
    fired: tuple[FiredSkill, ...]
    blocked: tuple[Block, ...] | None
    model_calls: int | None


@dataclass
class _Session:
    """The course of a session, line by line."""

    rollout: Rollout = field(default_factory=Rollout)
    prompts: list[str] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)
    """Those before the last."""

    def read(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line."""
        if text_at(record, "payload", "type") == "task_started" and len(self.prompts) > len(self.turns):
            self.turns.append(self._turn())
            self.rollout.begin_turn()
        if (prompt := prompt_of(record)) is not None and len(self.prompts) == len(self.turns):
            self.prompts.append(prompt)
        self.rollout.read(record)

    def end(self, *, is_cut: bool) -> None:
        """Learn that there are no more lines."""
        self.rollout.is_cut = is_cut
        if len(self.prompts) > len(self.turns):
            self.turns.append(self._turn())

    def _turn(self) -> _Turn:
        rollout = self.rollout
        fired = FiredSkills()
        for skill in rollout.fired:
            fired.add(skill.name, skill.how)
        for name in read_skills(rollout.events, rollout.offered or ()):
            fired.add(name, READ)
        return _Turn(rollout.events, rollout.answer, rollout.usage, fired.all, rollout.blocked(""), rollout.model_calls)

    def execution(self, file: KeptFile) -> Execution:
        """Everything that is known."""
        turns, failure = self.turns, self._failure()
        text = None if failure else turns[-1].answer
        is_talk = len(turns) > 1
        return Execution(
            text=text,
            answers=(*(turn.answer for turn in turns[:-1]), text) if is_talk else (),
            trajectory=self._trajectory(turns),
            usage=Usage.total([turn.usage for turn in turns]),
            duration_s=file.duration_s,
            failure=failure,
            notes=file.notes,
        )

    def _failure(self) -> Failure | None:
        rollout = self.rollout
        if rollout.is_over and rollout.error is not None:
            return failure_of(rollout.error)
        return None if rollout.is_over and (rollout.answer or "").strip() else NO_ANSWER

    def _trajectory(self, turns: Sequence[_Turn]) -> Trajectory:
        rollout, fired = self.rollout, FiredSkills()
        for skill in (skill for turn in turns for skill in turn.fired):
            fired.add(skill.name, skill.how)
        blocked = [turn.blocked for turn in turns]
        calls = [turn.model_calls for turn in turns]
        return Trajectory(
            events=tuple(self._events(turns)),
            skills_offered=rollout.offered,
            skills_fired=fired.all if rollout.offered is not None else fired.all or None,
            blocked=None if None in blocked else tuple(block for one in blocked for block in one or ()),
            model_calls=None if None in calls else sum(filter(None, calls)),
            session_id=rollout.session_id,
            model=rollout.model,
            engine_version=rollout.version,
        )

    def _events(self, turns: Sequence[_Turn]) -> Iterator[TrajectoryEvent]:
        for number, turn in enumerate(turns):
            if number:
                yield said_by_user(self.prompts[number])
            yield from turn.events


def prompt_of(record: Mapping[str, JsonValue]) -> str | None:
    """Return what the user himself said in a line; `None` for all other lines."""
    if text_at(record, "type") != "event_msg":
        return None
    match text_at(record, "payload", "type"):
        case "user_message":
            return text_at(record, "payload", "message")
        case "item_completed" if text_at(record, "payload", "item", "type") == "UserMessage":
            parts = items_at(record, "payload", "item", "content")
            return "\n".join(text for part in parts if (text := text_at(part, "text")) is not None)
        case _:
            return None

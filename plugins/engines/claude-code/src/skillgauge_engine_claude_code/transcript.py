"""The lines of `claude --output-format stream-json`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import Blame, Block, EventKind, Failure, JsonValue, RefusedSkill, Trajectory, TrajectoryEvent, Usage
from skillgauge_agent_programs.accounts import Account, Ending, is_models_turn
from skillgauge_agent_programs.claude.skills import (
    SKILL_TOOL,
    SkillCalls,
    flat,
    has_skill_tool,
    offered_skills,
    refused_unasked,
)
from skillgauge_agent_programs.failures import cut_off
from skillgauge_agent_programs.json_lines import (
    bounded,
    bounded_text,
    count_at,
    dig,
    items_at,
    text_at,
    texts_at,
)
from skillgauge_agent_programs.skills import EXPLICIT, INVOKED, READ, FiredSkills, skill_of_file
from skillgauge_mcp_servers.verdicts import ending_by

from .outcomes import REMEDIES, failure_of, usage_of, without_servers
from .record import SYNTHETIC, AnswerTokens, SessionRecord

_SUBAGENTS = ("Task", "Agent")
"""Tools that ask the model themselves."""
_COMMAND = re.compile(r"/(\S+)")


@dataclass(frozen=True)
class _Call:
    tool: str
    skills: tuple[str, ...] = ()
    """Skills whose file it reads."""


class ClaudeTranscript:
    """Reads one session.

    Args:
        prompt: what the agent was asked.
        skills: names of the skills that were installed.
        servers: names of the servers without which the session makes no sense.
    """

    def __init__(self, prompt: str, skills: Collection[str] = (), servers: Collection[str] = ()) -> None:
        self.hopeless: Failure | None = None
        """A server is missing, or one has ended the session; in all other cases the program gives up by itself."""
        self._servers = frozenset(servers)
        self.passed_over: Mapping[Path, int] = {}
        """Bytes of session files that belong to earlier turns."""
        self._earlier = SessionRecord()
        """What those turns wrote."""
        self._prompt = prompt
        self._installed = tuple(skills)
        self._init: Mapping[str, JsonValue] | None = None
        self._result: JsonValue = None
        self._works_again = False
        self._strangers = 0
        self._record = SessionRecord()
        self._turns: int | None = None
        self._model: str | None = None
        self._message_ids: set[str] = set()
        self.answers = AnswerTokens()
        """Tokens of the answers so far, as the stream names them."""
        self._events: list[TrajectoryEvent] = []
        self._calls: dict[str, _Call] = {}
        self._skill_calls = SkillCalls(REMEDIES)
        self._fired = FiredSkills()
        self._blocked: dict[str, Block] = {}
        self._hook_events: dict[str, str] = {}
        self._api_error: JsonValue = None
        self._retry_delay_s: float | None = None

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """See `Transcript.read`."""
        if self._is_strange(record):
            self._strangers += 1
            return ()
        match text_at(record, "type"):
            case "system":
                lines = self._system(record)
            case "assistant":
                lines = self._assistant(record)
            case "user":
                lines = self._user(record)
            case "result":
                self._take_result(record)
                lines = iter(())
            case _:
                lines = iter(())
        events = list(lines)
        self._events += events
        self.hopeless = next(filter(None, (self.hopeless, *map(ending_by, events))), None)
        return events

    @property
    def session_id(self) -> str | None:
        """As the program told it at its start."""
        return text_at(self._init, "session_id")

    def read_record(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line of the session file."""
        self._record.read(record)

    def read_earlier_record(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line that an earlier turn wrote."""
        self._earlier.read(record)

    def end_record(self, *, is_cut: bool) -> None:
        """Learn that the session file has no more lines, and whether its last one is unfinished."""
        self._record.is_cut = is_cut

    def read_other_record(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line of another file, which is that of a sub-agent.

        The stream leaves out the last answer of a sub-agent that its caller waits for.
        """
        self._record.read_calls(record)
        is_answer = text_at(record, "type") == "assistant" and text_at(record, "message", "model") != SYNTHETIC
        if is_answer and (message := text_at(record, "message", "id")):
            self._message_ids.add(message)

    def account(self, ending: Ending) -> Account:
        """See `Transcript.account`.

        Into the stream any command that the agent started can write. Where the session file says otherwise, it counts.
        """
        self._note_explicit()
        self._note_denials()
        is_over = self._is_over(ending)
        failure = cut_off("claude") if is_over and self._lacks_record else self._failure()
        trajectory = Trajectory(
            events=tuple(self._events),
            skills_offered=self._offered() if self._init is not None else None,
            skills_fired=self._fired.all if self._init is not None else None,
            skills_refused=tuple(self._refused()) if self._init is not None else None,
            blocked=tuple(self._blocked.values()) if self._init is not None else None,
            model_calls=len(self._message_ids) if self._init is not None else None,
            turns=self._turns,
            session_id=self.session_id,
            model=self._model or text_at(self._init, "model"),
            engine_version=text_at(self._init, "claude_code_version"),
        )
        return Account(
            trajectory=trajectory,
            text=self._answer() if is_over and failure is None else None,
            usage=self._usage(),
            is_over=is_over,
            failure=failure,
            awaits_model=is_models_turn(self._events, _SUBAGENTS),
            notes=tuple(self._notes()),
        )

    def _offered(self) -> tuple[str, ...]:
        named = (skill.name for skill in self._fired.all if skill.how == EXPLICIT)
        return offered_skills(self._init, self._record.listed, named)

    def _refused(self) -> Iterator[RefusedSkill]:
        """Yield the skills that could not be loaded; what a command wrote into the stream alone is not believed."""
        yield from refused_unasked(self._installed, self._init, self._offered(), REMEDIES)
        if has_skill_tool(self._init):
            calls = self._record.skill_calls or self._skill_calls
            yield from calls.refusals(self._blocked)

    def _is_strange(self, record: Mapping[str, JsonValue]) -> bool:
        """Tell whether a line belongs to another session."""
        is_of_session = text_at(record, "type") in ("assistant", "user", "result")
        return is_of_session and self._init is not None and text_at(record, "session_id") != self.session_id

    def _is_over(self, ending: Ending) -> bool:
        """True if the program itself has reported the end.

        A sub-agent that works in the background goes on after a result, and another one follows. A program that was
        ended and has not written its answer down was ended before it gave one, whatever the stream tells.
        """
        goes_on = ending.timed_out and self._works_again
        is_ended_early = ending.exit_code != 0 and self._lacks_record
        return self._result is not None and not goes_on and not is_ended_early

    @property
    def _lacks_record(self) -> bool:
        """Tell whether the stream has an answer, and the session file lacks the end that belongs to it."""
        is_told = self._result is not None and dig(self._result, "is_error") is not True
        return is_told and self._record.lacks_end

    def _failure(self) -> Failure | None:
        """Return the failure in the stream, as far as only the program can have written it.

        An agent that failed could leave the rate by it. A failure of the API is in the session file as well: one that
        is not there is none after an answer, and before one it is the agent's, as an early end of its program is.
        """
        failure = failure_of(self._result, self._api_error, self._retry_delay_s)
        if failure is None or failure.blame is not Blame.INFRASTRUCTURE or not self._is_failure_denied:
            return failure
        return None if self._record.is_over else failure.model_copy(update={"blame": Blame.TARGET, "retryable": False})

    @property
    def _is_failure_denied(self) -> bool:
        is_error = dig(self._result, "is_error") is True
        return (
            is_error and not self._record.is_cut and self._record.answer is not None and not self._record.tells_failure
        )

    def _answer(self) -> str | None:
        result_text = text_at(self._result, "result")
        is_denied = self._is_failure_denied or (result_text is not None and self._record.denies(result_text))
        return self._record.answer if is_denied else result_text

    def _usage(self) -> Usage | None:
        before = self._earlier.usage
        told = (usage_of(self._result), self._record.usage)
        reported, recorded = (usage and usage.without(before) for usage in told)
        if self._result is None or recorded is None or (reported and _tokens(reported) == _tokens(recorded)):
            return reported
        return recorded

    def _notes(self) -> Iterator[str]:
        if self._strangers:
            yield f"{self._strangers} lines of the program's stream were of another session, and are not believed"
        result_text = text_at(self._result, "result")
        if result_text is not None and dig(self._result, "is_error") is not True and self._record.denies(result_text):
            yield "the program's stream tells another answer than its session file, which counts"
        if self._is_failure_denied and self._failure() is None:
            yield "the program's stream tells a failure, and its session file an answer, which counts"

    def _system(self, record: Mapping[str, JsonValue]) -> Iterator[TrajectoryEvent]:
        match text_at(record, "subtype"):
            case "init" if self._init is None:  # a sub-agent that works in the background makes it come again
                self._init = record
                self.hopeless = without_servers(record, self._servers)
            case "api_retry":
                delay_ms = count_at(record, "retry_delay_ms")
                self._retry_delay_s = None if delay_ms is None else delay_ms / 1000
                message = text_at(record, "error") or "unknown"
                status = count_at(record, "error_status")
                yield _notice(f"asks its API again: {message}{f' ({status})' if status else ''}", is_error=True)
            case "hook_response":
                # `PreToolUse:Write`: the event, and the tool that it is about.
                event, _, tool = (text_at(record, "hook_name") or "").partition(":")
                self._hook_events[tool] = text_at(record, "hook_event") or event
            case "informational":
                yield _notice(text_at(record, "content") or "")
            case _:
                return

    def _assistant(self, record: Mapping[str, JsonValue]) -> Iterator[TrajectoryEvent]:
        self._works_again = True
        self.answers.take(record)
        model = text_at(record, "message", "model")
        if model == SYNTHETIC:
            self._api_error = record
            yield _notice(flat(dig(record, "message", "content")), is_error=True)
            return
        is_main = dig(record, "parent_tool_use_id") is None
        if is_main and model:
            self._model = model
        if message := text_at(record, "message", "id"):
            self._message_ids.add(message)  # a message comes in as many lines as it has parts
        for part in items_at(record, "message", "content"):
            match text_at(part, "type"):
                case "text":
                    kind = EventKind.MESSAGE if is_main else EventKind.NOTICE
                    yield TrajectoryEvent(kind=kind, text=bounded_text(text_at(part, "text") or ""))
                case "thinking":
                    yield TrajectoryEvent(kind=EventKind.REASONING, text=bounded_text(text_at(part, "thinking") or ""))
                case "tool_use":
                    yield self._tool_call(part)
                case _:
                    continue

    def _tool_call(self, part: JsonValue) -> TrajectoryEvent:
        tool, arguments = text_at(part, "name") or "", dig(part, "input")
        call_id = text_at(part, "id")
        offered = texts_at(self._init, "skills")
        skills: tuple[str, ...] = ()
        if tool == "Read":
            read = skill_of_file(text_at(arguments, "file_path") or "", (*self._installed, *offered))
            skills = (read,) if read else ()
        elif tool == SKILL_TOOL:
            skills = (text_at(arguments, "skill") or "",)
            self._skill_calls.called(call_id or "", skills[0])
        if call_id:
            self._calls[call_id] = _Call(tool, skills)
        return TrajectoryEvent(kind=EventKind.TOOL_CALL, name=tool, call_id=call_id, data=bounded(arguments))

    def _user(self, record: Mapping[str, JsonValue]) -> Iterator[TrajectoryEvent]:
        self._note_blocks(record)
        content = dig(record, "message", "content")
        for part in items_at(content) or ({"type": "text", "text": content},):
            match text_at(part, "type"):
                case "tool_result":
                    call_id = text_at(part, "tool_use_id")
                    is_error = dig(part, "is_error") is True
                    call = self._calls.get(call_id or "", _Call(""))
                    text = flat(dig(part, "content"))
                    if is_error:
                        self._skill_calls.failed(call_id or "", text)
                    else:
                        self._note_fired(call, dig(record, "tool_use_result"))
                    yield TrajectoryEvent(
                        kind=EventKind.TOOL_RESULT,
                        name=call.tool or None,
                        call_id=call_id,
                        text=bounded_text(text),
                        is_error=is_error,
                    )
                case "text":
                    yield _notice(text_at(part, "text") or "")
                case _:
                    continue

    def _note_fired(self, call: _Call, result: JsonValue) -> None:
        """A skill's tool says itself whether it loaded one; the call of an unknown skill loads none."""
        if call.tool != SKILL_TOOL:
            for name in call.skills:
                self._fired.add(name, READ)
        elif dig(result, "success") is True:
            self._fired.add(text_at(result, "commandName") or call.skills[0], INVOKED)

    def _note_explicit(self) -> None:
        """A prompt `/name` puts the skill into the request, and no event tells of it."""
        command = _COMMAND.match(self._prompt.lstrip())
        if command and command[1] in texts_at(self._init, "skills"):
            self._fired.add(command[1], EXPLICIT)

    def _note_blocks(self, record: Mapping[str, JsonValue]) -> None:
        for meta in items_at(record, "tool_result_meta"):
            if text_at(meta, "permission_decision", "decision") != "reject":
                continue
            call_id = text_at(meta, "id") or ""
            tool = self._calls.get(call_id, _Call("")).tool
            if text_at(meta, "permission_decision", "source") == "hook":
                self._blocked[call_id] = Block(tool=tool, by="hook", event=self._hook_events.get(tool, "PreToolUse"))
            else:
                self._blocked[call_id] = Block(tool=tool, by="permission")

    def _note_denials(self) -> None:
        """Note the denials that the end lists and no line reported."""
        for denial in items_at(self._result, "permission_denials"):
            call_id = text_at(denial, "tool_use_id") or ""
            self._blocked.setdefault(call_id, Block(tool=text_at(denial, "tool_name") or "", by="permission"))

    def _take_result(self, record: Mapping[str, JsonValue]) -> None:
        """The last one counts, but for turns, which each counts for its own part of the session."""
        self._result, self._works_again = record, False
        turns = count_at(record, "num_turns")
        if turns is not None:
            self._turns = (self._turns or 0) + turns


def _tokens(usage: Usage) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens


def _notice(text: str, *, is_error: bool = False) -> TrajectoryEvent:
    return TrajectoryEvent(kind=EventKind.NOTICE, text=bounded_text(text), is_error=is_error)


def read_stream(records: Iterable[Mapping[str, JsonValue]], prompt: str, ending: Ending) -> Account:
    """Read a whole stream."""
    transcript = ClaudeTranscript(prompt)
    for record in records:
        transcript.read(record)
    return transcript.account(ending)

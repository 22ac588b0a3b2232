"""A session of Codex: its stream as it comes, and the session file, which counts where there is one."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from skillgauge.api import EventKind, Failure, FailureClass, JsonValue, Trajectory, TrajectoryEvent, Usage
from skillgauge_agent_programs.accounts import Account, Ending, is_models_turn
from skillgauge_agent_programs.failures import cut_off, failed
from skillgauge_agent_programs.json_lines import bounded, bounded_text, dig, text_at

from .outcomes import failure_of, is_filtered, is_waiting, summed, usage_of, without_address
from .rollout import SHELL, Rollout, blocks_in

_WRAPPED = 3
"""Words of a command as the stream tells it: shell, `-lc`, and what the agent gave."""


class CodexTranscript:
    """Reads one session.

    Args:
        skills: names of the skills that were installed.
        patience: how many times the program may say that it waits for the network.
        max_turns: a limit that the program does not know.
    """

    def __init__(self, skills: Collection[str] = (), *, patience: int = 3, max_turns: int | None = None) -> None:
        self._patience = patience
        self._max_turns = max_turns
        self._waits = 0
        self._events: list[TrajectoryEvent] = []
        self._answer: str | None = None
        self._usage: Usage | None = None
        self._is_over = False
        self._error = ""
        self._failure: Failure | None = None
        self.passed_over: Mapping[Path, int] = {}
        """Bytes of session files that belong to earlier turns."""
        self.session_id: str | None = None
        """As soon as the stream tells it. A later one could be anybody's."""
        self._rollout = Rollout()
        self._others: list[Rollout] = []

    @property
    def hopeless(self) -> Failure | None:
        """The program waits for a network without an end, or asks again for what a filter will not let through."""
        if is_filtered(self._error) and not self._is_over:
            return failed(FailureClass.REFUSED, self._error)
        return failed(FailureClass.NETWORK, self._error) if self._waits > self._patience else None

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """See `Transcript.read`."""
        events = list(self._events_of(record))
        self._events += events
        return events

    def read_rollout(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line of the session file."""
        self._rollout.read(record)

    def begin_turn(self) -> None:
        """Learn that what was read of the session file so far belongs to earlier turns."""
        self._rollout.begin_turn()

    def end_rollout(self, *, is_cut: bool) -> None:
        """Learn that the session file has no more lines, and whether its last one is unfinished."""
        self._rollout.is_cut = is_cut

    def read_other(
        self, records: Iterable[Mapping[str, JsonValue]], earlier: Iterable[Mapping[str, JsonValue]] = ()
    ) -> None:
        """Take the file of a session beside this one, of a sub-agent for example: it was paid for as well.

        Args:
            records: what it has of this turn.
            earlier: what it has of the turns before.
        """
        rollout = Rollout()
        for record in earlier:
            rollout.read(record)
        rollout.begin_turn()
        for record in records:
            rollout.read(record)
        self._others.append(rollout)

    @property
    def recorded_usage(self) -> Usage | None:
        """The usage of all sessions, as their files have it."""
        return summed((self._rollout.usage, *(other.usage for other in self._others)))

    def account(self, ending: Ending) -> Account:
        """See `Transcript.account`.

        Where the session file tells the end of the session, it counts: into the stream any command that the agent
        started can write, but not into the program's home.
        """
        rollout = self._rollout
        is_over = self._ends_over(ending)
        answer = rollout.answer if rollout.is_over else self._answer
        failure = self._failed(answer) if is_over else self._waiting(ending)
        return Account(
            trajectory=self._trajectory(ending),
            text=answer if is_over else None,
            usage=self.recorded_usage or self._usage,
            is_over=is_over,
            failure=failure,
            awaits_model=is_models_turn(self._events) and is_models_turn(rollout.events),
            notes=tuple(self._notes(answer)),
        )

    def _trajectory(self, ending: Ending) -> Trajectory:
        """Return the events of the session file, or those of the stream where there is no file."""
        rollout = self._rollout
        events = tuple(self._events)
        # Without the file it is known what happened, but not what did not.
        skills_fired = None
        blocked = blocks_in(ending.stderr) or None
        if rollout.has_begun:
            notices = [event for event in self._events if event.kind is EventKind.NOTICE]
            events = (*notices, *rollout.events)
            skills_fired = rollout.fired
            blocked = rollout.blocked(ending.stderr)
        return Trajectory(
            events=events,
            skills_offered=rollout.offered,
            skills_fired=skills_fired,
            blocked=blocked,
            model_calls=rollout.model_calls,
            session_id=self.session_id or rollout.session_id,
            model=rollout.model,
            engine_version=rollout.version,
        )

    @property
    def _has_lost_its_end(self) -> bool:
        """True if the stream tells an end that the session file should have, too, and does not."""
        return self._is_over and self._failure is None and self._rollout.lacks_end

    def _ends_over(self, ending: Ending) -> bool:
        """Return whether the session came to its end."""
        if self._rollout.is_over:
            return True
        # A stream that tells more than the file of a program which was ended is not believed.
        is_ended = ending.timed_out or (self._has_lost_its_end and ending.exit_code != 0)
        return self._is_over and not (self._rollout.has_begun and is_ended)

    def _failed(self, answer: str | None) -> Failure | None:
        if self._has_lost_its_end:
            return cut_off("codex")
        if self._rollout.is_over:
            if self._rollout.error is not None:
                return failure_of(self._rollout.error)
        elif self._failure:
            return self._failure
        if (answer or "").strip():
            return None
        return failed(FailureClass.REFUSED, "no answer: codex tells a refusal of the model and an empty answer alike")

    def _waiting(self, ending: Ending) -> Failure | None:
        """Time that ran out while it waited for the network was not the agent's."""
        if ending.timed_out and self._waits:
            return failed(FailureClass.NETWORK, self._error)
        return None

    def _notes(self, answer: str | None) -> Iterator[str]:
        is_answered = self._rollout.is_over and self._rollout.error is None and answer is not None
        if is_answered and self._answer not in (None, answer):
            yield "the program's stream tells another answer than its session file, which counts"
        if self._max_turns is not None:
            yield f"the limit of {self._max_turns} turns was not enforced: codex knows none"
        if not self._rollout.has_begun:
            yield "codex left no session file, so tool calls, skills and blocks may be missing"

    def _events_of(self, record: Mapping[str, JsonValue]) -> Iterator[TrajectoryEvent]:
        kind = text_at(record, "type")
        if kind != "error":
            self._waits = 0
        match kind:
            case "thread.started":
                self.session_id = self.session_id or text_at(record, "thread_id")
            case "item.started" | "item.completed":
                yield from self._item(dig(record, "item"), is_done=kind == "item.completed")
            case "turn.completed":
                self._is_over, self._usage = True, usage_of(dig(record, "usage"))
            case "turn.failed":
                self._is_over = True
                self._failure = failure_of(text_at(record, "error", "message") or "")
            case "error":
                self._error = without_address(text_at(record, "message") or "")
                self._waits += is_waiting(self._error)
                yield _notice(self._error)
            case _:
                return

    def _item(self, item: JsonValue, *, is_done: bool) -> Iterator[TrajectoryEvent]:
        call_id = text_at(item, "id")
        match text_at(item, "type"):
            case "agent_message" if is_done:
                self._answer = text_at(item, "text")
                yield TrajectoryEvent(kind=EventKind.MESSAGE, text=bounded_text(self._answer or ""))
            case "reasoning" if is_done:
                yield TrajectoryEvent(kind=EventKind.REASONING, text=bounded_text(text_at(item, "text") or ""))
            case "error" if is_done:
                yield _notice(text_at(item, "message") or "")
            case "command_execution":
                yield self._command(item, call_id, is_done=is_done)
            case "file_change":
                yield _tool("apply_patch", call_id, item, dig(item, "changes"), is_done=is_done)
            case "mcp_tool_call":
                name = f"mcp__{text_at(item, 'server') or ''}__{text_at(item, 'tool') or ''}"
                yield _tool(name, call_id, item, dig(item, "arguments"), is_done=is_done)
            case "todo_list":
                yield _tool("update_plan", call_id, item, dig(item, "items"), is_done=is_done)
            case _:
                return

    def _command(self, item: JsonValue, call_id: str | None, *, is_done: bool) -> TrajectoryEvent:
        command = _unwrapped(text_at(item, "command") or "")
        if not is_done:
            return TrajectoryEvent(
                kind=EventKind.TOOL_CALL, name=SHELL, call_id=call_id, data=bounded({"cmd": command})
            )
        is_error = text_at(item, "status") == "failed"
        text = bounded_text(text_at(item, "aggregated_output") or "")
        return TrajectoryEvent(kind=EventKind.TOOL_RESULT, name=SHELL, call_id=call_id, text=text, is_error=is_error)


def _tool(name: str, call_id: str | None, item: JsonValue, data: JsonValue, *, is_done: bool) -> TrajectoryEvent:
    if not is_done:
        return TrajectoryEvent(kind=EventKind.TOOL_CALL, name=name, call_id=call_id, data=bounded(data))
    status = text_at(item, "status") or ""
    return TrajectoryEvent(
        kind=EventKind.TOOL_RESULT, name=name, call_id=call_id, text=status, is_error=status == "failed"
    )


def _unwrapped(command: str) -> str:
    """The command that the agent gave, without the shell that the program starts for it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == _WRAPPED and words[1] == "-lc" else command


def _notice(text: str) -> TrajectoryEvent:
    return TrajectoryEvent(kind=EventKind.NOTICE, text=bounded_text(text))

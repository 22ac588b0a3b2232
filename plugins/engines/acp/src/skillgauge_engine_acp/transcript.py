"""A trajectory, made of an agent's messages about its session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from skillgauge.api import (
    EventKind,
    Failure,
    FailureClass,
    JsonObject,
    JsonValue,
    RunRequest,
    Trajectory,
    TrajectoryEvent,
)
from skillgauge_agent_programs.accounts import Account, Ending
from skillgauge_agent_programs.failures import failed
from skillgauge_agent_programs.json_lines import bounded, bounded_text, dig, items_at, text_at

from .calls import ToolCalls
from .connection import RemoteError
from .reading import Reading, model_usage

_CHUNKS: Mapping[str, EventKind] = {
    "agent_message_chunk": EventKind.MESSAGE,
    "agent_thought_chunk": EventKind.REASONING,
}
_TURNS = (EventKind.MESSAGE, EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
_SILENT = "no answer: the agent tells a refusal of its model and an empty answer alike"


def is_sign_of_life(method: str, params: JsonObject) -> bool:
    """Tell whether a notification reports something that the agent said or did."""
    kind = text_at(params, "update", "sessionUpdate")
    is_empty = kind in _CHUNKS and text_at(params, "update", "content", "text") == ""
    return method == "session/update" and kind in (*_CHUNKS, "tool_call", "tool_call_update") and not is_empty


class AcpTranscript:
    """Reads one session.

    Args:
        request: what the agent was asked.
        reading: what else this agent tells.
    """

    hopeless: Failure | None = None
    """Never: whoever talks to the agent knows when to stop."""

    def __init__(self, request: RunRequest, reading: Reading) -> None:
        self.request = request
        self.reading = reading
        self._events: list[TrajectoryEvent] = []
        self._calls = ToolCalls()
        self._spoken = ""
        self._speaking: tuple[EventKind, JsonValue] | None = None
        self._cost_usd: float | None = None
        self._answer: JsonObject | None = None
        self._failure: Failure | None = None
        self._session_id: str | None = None
        self._agent_version: str | None = None
        self._model: str | None = None
        self._notes: list[str] = []

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """Take a notification and give the events that it completes."""
        method, params = text_at(record, "method") or "", dig(record, "params")
        if not isinstance(params, Mapping):
            return ()
        if method != "session/update":
            self.reading.notified(method, params)
            return ()
        update = dig(params, "update")
        if not isinstance(update, Mapping):
            return ()
        self.reading.updated(update)
        return self._kept(self._update(update))

    def initialized(self, answer: JsonObject) -> None:
        """Take the answer to `initialize`."""
        self._agent_version = text_at(answer, "agentInfo", "version")
        self.reading.initialized(answer)

    def opened(self, session: str, answer: JsonObject) -> None:
        """Take the id of the session that was opened, new or again, and the answer to that request."""
        self._session_id = session
        self._model = text_at(answer, "models", "currentModelId")

    def asked(self, params: JsonObject, *, is_allowed: bool) -> Iterable[TrajectoryEvent]:
        """Take a request for permission, with what was answered."""
        call = self._calls.take(dig(params, "toolCall"))
        events: list[TrajectoryEvent] = []
        if call:
            call.name = self.reading.tool_name(call) or call.name
            if not is_allowed:
                self.reading.rejected(call)
        events += self._kept(self._flushed())
        return events

    def answered(self, answer: JsonObject) -> Iterable[TrajectoryEvent]:
        """Take the answer to the prompt, which ends the session."""
        self._answer = answer
        return self._kept(self._flushed())

    def failed(self, error: RemoteError) -> Iterable[TrajectoryEvent]:
        """Take an error in the place of an answer."""
        self._failure = self._failure or self.reading.failure_of(error)
        return self._kept(self._flushed())

    def note(self, text: str) -> None:
        """Add what a reader of the result should know."""
        self._notes.append(text)

    @property
    def awaits_model(self) -> bool:
        """True if it is the model's turn."""
        return self._calls.are_over

    def account(self, ending: Ending) -> Account:
        """See `Transcript.account`."""
        self._events += self._flushed()
        answer = self._answer or {}
        failure = self._failure or self.reading.own_failure() or self._stopped()
        used = [name for one in model_usage(answer) if (name := text_at(one, "model"))]
        versions = filter(None, (self._agent_version, self.reading.program_version))
        trajectory = Trajectory(
            events=tuple(self._events),
            skills_offered=self.reading.offered,
            skills_fired=self.reading.known_fired if self._session_id else None,
            skills_refused=self.reading.known_refused,
            blocked=self.reading.blocked,
            turns=self.reading.turns,
            session_id=self._session_id,
            model=used[0] if used else self._model,
            engine_version=" with ".join(versions) or None,
        )
        return Account(
            trajectory=trajectory,
            text=None if failure else self._final_text(),
            usage=self.reading.usage_of(answer, self._cost_usd),
            is_over=self._answer is not None or self._failure is not None,
            failure=failure,
            notes=tuple(self._notes),
        )

    def _update(self, update: JsonObject) -> Iterator[TrajectoryEvent]:
        kind = text_at(update, "sessionUpdate")
        match kind:
            case "agent_message_chunk" | "agent_thought_chunk":
                yield from self._chunk(update, _CHUNKS[kind])
            case "tool_call" | "tool_call_update":
                yield from self._call(update)
            case "plan":
                yield from self._flushed()
                entries = items_at(update, "entries")
                steps = [f"[{text_at(one, 'status')}] {text_at(one, 'content')}" for one in entries]
                yield TrajectoryEvent(
                    kind=EventKind.NOTICE, name="plan", text=bounded_text("\n".join(steps)), data=bounded(entries)
                )
            case "usage_update":
                cost = dig(update, "cost", "amount")
                if isinstance(cost, int | float) and text_at(update, "cost", "currency") == "USD":
                    self._cost_usd = float(cost)
                yield from self._flushed()
            case _:
                return

    def _chunk(self, update: JsonObject, kind: EventKind) -> Iterator[TrajectoryEvent]:
        """A message comes in pieces; another message, or anything else, ends it."""
        if kind is EventKind.MESSAGE and self.reading.is_own_words(update):
            yield from self._flushed()
            text = text_at(update, "content", "text") or ""
            yield TrajectoryEvent(kind=EventKind.NOTICE, text=bounded_text(text.strip()), is_error=True)
            return
        speaking = (kind, update.get("messageId"))
        if speaking != self._speaking:
            yield from self._flushed()
            self._speaking = speaking
        content = dig(update, "content")
        words = text_at(content, "text")  # which may be empty, beside what else a message carries
        self._spoken += f"[{text_at(content, 'type') or 'content'}]" if words is None else words

    def _call(self, update: JsonObject) -> Iterator[TrajectoryEvent]:
        call = self._calls.take(update)
        if call is None:
            return
        if self._speaking:
            yield from self._said()
        call.name = self.reading.tool_name(call) or call.name
        call.output += text_at(update, "_meta", "terminal_output_delta", "data") or ""
        if text_at(update, "status") in ("completed", "failed"):
            yield from self._flushed()
            self.reading.finished(call)
            yield call.result_event()

    def _flushed(self) -> Iterator[TrajectoryEvent]:
        """Return the event that came in pieces, of which no more will come."""
        yield from self._said()
        yield from self._calls.shown()

    def _said(self) -> Iterator[TrajectoryEvent]:
        if self._speaking and self._spoken.strip():
            yield TrajectoryEvent(kind=self._speaking[0], text=bounded_text(self._spoken.strip("\n")))
        self._speaking, self._spoken = None, ""

    def _kept(self, events: Iterator[TrajectoryEvent]) -> Iterable[TrajectoryEvent]:
        new = list(events)
        self._events += new
        return new

    def _final_text(self) -> str | None:
        messages = [event.text for event in self._events if event.kind is EventKind.MESSAGE]
        return messages[-1] if messages else None

    @property
    def _has_last_word(self) -> bool:
        """Tell whether a session ended with a message, if its agent is one of which that is known to matter."""
        said_or_done = [event.kind for event in self._events if event.kind in _TURNS]
        return not self.reading.wants_last_word or (bool(said_or_done) and said_or_done[-1] is EventKind.MESSAGE)

    def _stopped(self) -> Failure | None:
        reason = text_at(self._answer, "stopReason") if self._answer is not None else None
        match reason:
            case None:
                return None
            case "end_turn":
                return None if self._has_last_word else failed(FailureClass.REFUSED, _SILENT)
            case "max_tokens":
                self.note("the last answer was cut where the model's limit of tokens was reached")
                return None
            case "max_turn_requests":
                return failed(FailureClass.MAX_TURNS, "the agent reached its limit of turns")
            case "refusal":
                return failed(FailureClass.REFUSED, self._final_text() or "the model refused to answer")
            case "cancelled":
                return failed(FailureClass.KILLED, "the agent says that it was cancelled")
            case _:
                return failed(FailureClass.PROTOCOL, f"the agent stopped for a reason that is unknown: {reason}")

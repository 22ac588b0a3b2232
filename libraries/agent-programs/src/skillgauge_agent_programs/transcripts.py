"""A transcript to derive from: it keeps what lines say, so that a vendor writes only what each line means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar

from skillgauge.api import (
    Block,
    EventKind,
    Failure,
    FailureClass,
    JsonValue,
    RefusedSkill,
    Trajectory,
    TrajectoryEvent,
    Usage,
)

from .accounts import Account, Ending, is_models_turn
from .failures import class_of_status, class_of_text, failed
from .json_lines import bounded, bounded_text
from .skills import INVOKED, FiredSkills, Firing


class SessionTranscript(ABC):
    """Keeps what a session's lines say and makes an account of it.

    A subclass writes `take`, which calls the methods below and sets the facts that a line tells. What no line tells
    stays `None`, unknown.

    Example::

        class AcmeTranscript(SessionTranscript):
            def take(self, record):
                match record:
                    case {"event": "text", "text": str(text)}:
                        self.says(text)
                    case {"event": "done", "answer": str(answer)}:
                        self.ends(answer)
    """

    tells_fired: ClassVar[bool] = True
    """Whether the lines show which skills were used. Where they do not, that stays unknown."""

    hopeless: Failure | None = None
    """Set it to end a program that would wait for ever."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        """Of the whole session so far."""
        self.blocked: tuple[Block, ...] | None = None
        self.model_calls: int | None = None
        self.turns: int | None = None
        self.session_id: str | None = None
        self.model: str | None = None
        """The one that answered."""
        self.engine_version: str | None = None
        self.notes: list[str] = []
        """What a reader of the result should know."""
        self._events: list[TrajectoryEvent] = []
        self._tools: dict[str, str] = {}
        self._offered: tuple[str, ...] | None = None
        self._fired = FiredSkills()
        self._refused: tuple[RefusedSkill, ...] | None = None
        self._answer: str | None = None
        self._is_over = False
        self._failure: Failure | None = None

    @abstractmethod
    def take(self, record: Mapping[str, JsonValue]) -> None:
        """Take the object in a line. Patterns of `match` fit well: a line that is unlike all of them says nothing."""

    def offers(self, skills: Iterable[object]) -> None:
        """The agent was offered these skills, and from now on it is known which ones it uses: none so far."""
        self._offered = tuple(name for name in skills if isinstance(name, str))

    def fires(self, skill: str, how: Firing = INVOKED) -> None:
        """The agent loaded a skill: `INVOKED` by a tool for it, `READ` from its file, or `EXPLICIT` in the prompt."""
        self._fired.add(skill, how)

    def refuses(self, skill: str, reason: str, hint: str = "") -> None:
        """Note that the program did not load a skill that the agent asked for, which makes the session an error.

        Args:
            skill: its name.
            reason: why, in words for the user.
            hint: what the user can change.
        """
        self._refused = (*(self._refused or ()), RefusedSkill(name=skill, reason=reason, hint=hint))

    def says(self, text: str) -> None:
        """The agent said something."""
        self._keep(EventKind.MESSAGE, text)

    def thinks(self, text: str) -> None:
        """The agent reasoned."""
        self._keep(EventKind.REASONING, text)

    def notices(self, text: str, *, is_error: bool = False) -> None:
        """The program itself said something."""
        self._keep(EventKind.NOTICE, text, is_error=is_error)

    def calls(self, tool: str, call_id: str | None, arguments: JsonValue) -> None:
        """The agent called a tool."""
        if call_id:
            self._tools[call_id] = tool
        self._keep(EventKind.TOOL_CALL, name=tool, call_id=call_id, data=bounded(arguments))

    def returns(self, call_id: str | None, text: str, *, is_error: bool = False) -> None:
        """A tool answered."""
        tool = self._tools.get(call_id or "")
        self._keep(EventKind.TOOL_RESULT, text, name=tool, call_id=call_id, is_error=is_error)

    def ends(self, answer: str | None) -> None:
        """The session is over, with its final answer."""
        self._is_over, self._answer = True, answer

    def fails(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: FailureClass | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """The session is over without an answer.

        Args:
            message: what the program said.
            status: HTTP status of the model API, if that is why.
            kind: the class of the failure; default: what the status means, else the message, else `crash`.
            retry_after_s: seconds to wait, if the API asked for a pause.
        """
        if kind is None:
            meaning = class_of_text(message) if status is None else class_of_status(status, message)
            kind = meaning or FailureClass.CRASH
        self._is_over, self._failure = True, failed(kind, message, retry_after_s=retry_after_s)

    def read(self, record: Mapping[str, JsonValue]) -> Iterable[TrajectoryEvent]:
        """See `Transcript.read`."""
        before = len(self._events)
        self.take(record)
        return self._events[before:]

    def account(self, ending: Ending) -> Account:
        """See `Transcript.account`."""
        # Before the list of skills came, what fired is known, but not what did not.
        is_listed = self._offered is not None and self.tells_fired
        trajectory = Trajectory(
            events=tuple(self._events),
            skills_offered=self._offered,
            skills_fired=self._fired.all if is_listed else self._fired.all or None,
            skills_refused=self._refused,
            blocked=self.blocked,
            model_calls=self.model_calls,
            turns=self.turns,
            session_id=self.session_id,
            model=self.model,
            engine_version=self.engine_version,
        )
        return Account(
            trajectory=trajectory,
            text=None if self._failure else self._answer,
            usage=self.usage,
            is_over=self._is_over,
            failure=self._failure,
            awaits_model=is_models_turn(self._events),
            notes=tuple(self.notes),
        )

    def _keep(
        self,
        kind: EventKind,
        text: str = "",
        *,
        name: str | None = None,
        call_id: str | None = None,
        data: JsonValue = None,
        is_error: bool = False,
    ) -> None:
        message = bounded_text(text)
        event = TrajectoryEvent(kind=kind, text=message, name=name, call_id=call_id, data=data, is_error=is_error)
        self._events.append(event)

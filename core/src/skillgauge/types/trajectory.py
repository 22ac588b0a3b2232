"""The course of a session, in the same shape for every engine."""

from enum import StrEnum
from typing import Literal

from skillgauge_documents.frozen import Frozen, Json

from .usage import Usage


class EventKind(StrEnum):
    """Kinds of trajectory events."""

    MESSAGE = "message"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    NOTICE = "notice"
    USER = "user"
    """A further turn of the user in a conversation; what follows answers it."""


class TrajectoryEvent(Frozen):
    """One thing an agent did or saw, in order."""

    kind: EventKind
    text: str = ""
    name: str | None = None
    """Tool name, for calls."""
    call_id: str | None = None
    data: Json = None
    """Arguments of a call, content of a result."""
    is_error: bool = False
    duration_s: float | None = None
    """Seconds that it took: of a message, what the model needed to write it; of a call, the tool."""
    at_s: float | None = None
    """Seconds from the beginning of the session to the moment at which the engine reported it; `None` is unknown."""


class FiredSkill(Frozen):
    """A skill that the agent loaded."""

    name: str
    how: Literal["invoked", "read", "explicit"]
    """Invoked by its tool, read from its file, or named explicitly in the prompt."""


class RefusedSkill(Frozen):
    """A skill of the arm that the agent's program did not load: forbidden by a permission or a hook, or failed."""

    name: str
    reason: str
    """Why, in words that need no knowledge of the program's output."""
    hint: str = ""
    """What the user can change so that it loads, if the engine knows."""


class Block(Frozen):
    """A tool call that was stopped."""

    tool: str
    by: Literal["hook", "permission", "sandbox"]
    event: str | None = None


class Trajectory(Frozen):
    """The actions of an agent, in the same shape for every engine. `None` means the engine cannot tell."""

    events: tuple[TrajectoryEvent, ...] = ()
    skills_offered: tuple[str, ...] | None = None
    skills_fired: tuple[FiredSkill, ...] | None = None
    skills_refused: tuple[RefusedSkill, ...] | None = None
    """Skills that could not be loaded; wrong arguments of the agent's own are no refusal."""
    blocked: tuple[Block, ...] | None = None
    model_calls: int | None = None
    turns: int | None = None
    session_id: str | None = None
    model: str | None = None
    """The model that answered, as the engine tells it."""
    engine_version: str | None = None
    raw: str | None = None
    """The engine's own event stream, one event per line, cut in the middle if it is very long."""


class TurnFacts(Frozen):
    """The facts of one turn of a conversation that its events do not tell; `None` is unknown, as in a session."""

    usage: Usage | None = None
    duration_s: float | None = None
    skills_fired: tuple[FiredSkill, ...] | None = None
    blocked: tuple[Block, ...] | None = None
    model_calls: int | None = None
    turns: int | None = None

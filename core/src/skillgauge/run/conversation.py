"""Conversations: the turns of one session, put together and taken apart. Pure."""

from __future__ import annotations

from ..contract.engines import RunRequest
from ..types.score import Score, ScoreStatus
from ..types.suite import Case
from ..types.trajectory import EventKind, Trajectory, TrajectoryEvent, TurnFacts
from ..types.trial import Execution, Failure, FailureClass
from ..types.usage import Usage, sum_if_known

_OF_AGENT = ("skills_fired", "blocked", "model_calls", "turns")
"""Facts of a trajectory that are told of each turn."""
_LEAST_S = 1.0
"""Time that the last turn of a session gets at least, to be ended by its own limit."""


def first_turn(request: RunRequest, turns: int) -> RunRequest:
    """Return the request for the first turn of a session with so many further turns."""
    return request.model_copy(update={"is_followed": True}) if turns else request


def next_turn(request: RunRequest, done: Execution, text: str, remaining: int) -> RunRequest:
    """Return the request for a further turn.

    Args:
        request: that of the first turn.
        done: the session so far; its time is no longer there.
        text: what the user says.
        remaining: turns after this one.
    """
    limits = request.limits
    if limits.timeout_s is not None:
        left_s = max(_LEAST_S, limits.timeout_s - (done.duration_s or 0.0))
        limits = limits.model_copy(update={"timeout_s": left_s})
    session = done.trajectory.session_id if done.trajectory else None
    update = {"prompt": text, "continues": session or "", "limits": limits, "is_followed": remaining > 0}
    return request.model_copy(update=update)


def joined(before: Execution, text: str, turn: Execution) -> Execution:
    """Return a session with one more turn: what each turn tells by itself is added up, its end is that of the turn."""
    return turn.model_copy(
        update={
            "answers": (*_answers(before), turn.text),
            "user_usage": before.user_usage,
            "turn_facts": (*(before.turn_facts or (_facts(before),)), _facts(turn)),
            "trajectory": _joined(before.trajectory, text, turn.trajectory),
            "usage": Usage.total((before.usage, turn.usage)),
            "duration_s": sum_if_known((before.duration_s, turn.duration_s)),
            "truncated": before.truncated or turn.truncated,
            "notes": tuple(dict.fromkeys((*before.notes, *turn.notes))),
        }
    )


def further_turns(case: Case) -> int:
    """Return how many turns of the user may come after the first one."""
    return len(case.turns) + (case.user.turns if case.user else 0)


def ended(session: Execution, remaining: int) -> Execution:
    """Return a session that a required check ended, with so many further turns that were not asked."""
    note = f"a required check ended the conversation after turn {len(_answers(session))}"
    if remaining == 1:
        note += "; 1 further turn was not asked"
    if remaining > 1:
        note += f"; {remaining} further turns were not asked"
    return noted(session, note)


def noted(session: Execution, note: str) -> Execution:
    """Return a session that says nothing more, with the reason; its answers show that it is whole."""
    return session.model_copy(update={"answers": _answers(session), "notes": (*session.notes, note)})


def heard(session: Execution, score: Score, count: int) -> tuple[Execution, str]:
    """Return the session after its user was asked, and what the user says next.

    Args:
        session: so far.
        score: what was answered.
        count: messages of that user so far.

    Returns:
        The session with what that used, and a text; with none the session is over, or has failed.
    """
    used = [usage for usage in (session.user_usage, score.usage) if usage]
    session = session.model_copy(update={"user_usage": Usage.total(used)})
    messages = "1 message" if count == 1 else f"{count} messages"
    if score.status is ScoreStatus.PASSED:
        note = f"the user was simulated, and ended the conversation after {messages}: {score.reason}"
        return noted(session, note), ""
    reason = score.reason
    if score.status is ScoreStatus.FAILED:
        if text := _message(score):
            return session, text
        reason = "there is no message"
    failure = Failure.of_agent(FailureClass.INTERNAL, f"the user could not be simulated: {reason}")
    return noted(session, f"the user was simulated, with {messages}").model_copy(update={"failure": failure}), ""


def _message(score: Score) -> str:
    """Return what a user says, by the evidence of a score; empty if that has no text."""
    match score.evidence:
        case {"says": str(text)} if text.strip():
            return text
    return ""


def _answers(session: Execution) -> tuple[str | None, ...]:
    return session.answers or (session.text,)


def _facts(turn: Execution) -> TurnFacts:
    trajectory = turn.trajectory
    facts = TurnFacts(usage=turn.usage, duration_s=turn.duration_s)
    if trajectory is None:
        return facts
    return facts.model_copy(update={name: getattr(trajectory, name) for name in _OF_AGENT})


def _joined(before: Trajectory | None, text: str, turn: Trajectory | None) -> Trajectory | None:
    if before is None or turn is None:
        return turn or before
    message = TrajectoryEvent(kind=EventKind.USER, text=text)
    sums = {name: sum_if_known((getattr(before, name), getattr(turn, name))) for name in ("model_calls", "turns")}
    lists = ("skills_offered", "skills_fired", "skills_refused", "blocked")
    return turn.model_copy(
        update={
            **sums,
            **{name: _union(getattr(before, name), getattr(turn, name)) for name in lists},
            "events": (*before.events, message, *turn.events),
            "raw": "\n".join(filter(None, (before.raw, turn.raw))) or None,
        }
    )


def _union(ours: tuple[object, ...] | None, theirs: tuple[object, ...] | None) -> tuple[object, ...] | None:
    """Return what either turn has, each once; unknown if one of them does not tell."""
    return None if ours is None or theirs is None else tuple(dict.fromkeys((*ours, *theirs)))


def at_turn(execution: Execution, turn: int) -> Execution | None:
    """Return a turn of a session as if it were all of it; `None` if the session did not come that far.

    A recording may not tell which skills fired in it and what was used; that is unknown then.
    """
    answers = _answers(execution)
    if turn >= len(answers):
        return None
    if len(answers) == 1:
        return execution
    facts = execution.turn_facts[turn] if turn < len(execution.turn_facts) else TurnFacts()
    trajectory = execution.trajectory
    if trajectory is not None:
        starts = [at for at, event in enumerate(trajectory.events) if event.kind is EventKind.USER]
        bounds = [0, *(at + 1 for at in starts), len(trajectory.events) + 1]
        events = trajectory.events[bounds[turn] : bounds[turn + 1] - 1]
        own = {name: getattr(facts, name) for name in _OF_AGENT}
        trajectory = trajectory.model_copy(update={**own, "raw": None, "events": events})
    update = {"text": answers[turn], "trajectory": trajectory, "usage": facts.usage, "duration_s": facts.duration_s}
    return execution.model_copy(update={**update, "answers": (), "turn_facts": ()})

"""Sessions with several turns: put together from what an engine tells of each, and taken apart for checks."""

from __future__ import annotations

from typing import Any

import pytest

from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.run.conversation import at_turn, joined
from skillgauge.types.suite import Case, Check, Limits
from skillgauge.types.trajectory import Block, EventKind, FiredSkill, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Execution, Failure, FailureClass
from skillgauge.types.usage import Usage
from skillgauge_testkit import FakeWorkspace

from .test_agents import execute, trial

MESSAGE, USER = EventKind.MESSAGE, EventKind.USER


def said(text: str, **trajectory: Any) -> Execution:
    """What an engine tells of a turn with one message."""
    events = (TrajectoryEvent(kind=MESSAGE, text=text),)
    facts: dict[str, Any] = {"skills_offered": ("other", "pdf"), "skills_fired": (), "blocked": (), "turns": 1}
    return Execution(
        text=text,
        trajectory=Trajectory(events=events, session_id="s1", **(facts | trajectory)),
        usage=Usage(input_tokens=10, output_tokens=1, cost_usd=0.5),
        duration_s=2.0,
    )


def repeats(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
    """An agent that repeats the prompt."""
    return said(f"re: {request.prompt}")


def talk(*turns: str, play: Any = repeats, **case: Any) -> Execution:
    """The session of a case with these turns after its prompt."""
    return execute(trial(turns=turns, **case), play, setup={"conversations": True})


def test_turns_are_one_session() -> None:
    """What each turn tells is added up; the end is that of the last one."""
    execution = talk("q", "r")
    assert execution.text == "re: r"
    assert execution.answers == ("re: p", "re: q", "re: r")
    assert execution.usage == Usage(input_tokens=30, output_tokens=3, cost_usd=1.5)
    assert execution.duration_s == 6.0
    trajectory = execution.trajectory
    assert trajectory is not None
    assert [(event.kind, event.text) for event in trajectory.events] == [
        (MESSAGE, "re: p"),
        (USER, "q"),
        (MESSAGE, "re: q"),
        (USER, "r"),
        (MESSAGE, "re: r"),
    ]
    assert (trajectory.turns, trajectory.skills_offered) == (3, ("other", "pdf"))


def test_what_an_engine_is_asked() -> None:
    """Each further turn names the session, and has what is left of the time; the first says that more comes."""
    requests: list[RunRequest] = []

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        requests.append(request)
        return said(request.prompt)

    one = trial(turns=("q", "r")).model_copy(update={"limits": Limits(timeout_s=5.0, max_turns=3)})
    execute(one, play, setup={"conversations": True})
    assert [(one.prompt, one.continues, one.is_followed) for one in requests] == [
        ("p", None, True),
        ("q", "s1", True),
        ("r", "s1", False),
    ]
    assert [one.limits.timeout_s for one in requests] == [5.0, 3.0, 1.0]
    assert {one.limits.max_turns for one in requests} == {3}


def test_a_session_with_one_turn_is_asked_as_ever() -> None:
    """Nothing of a conversation is in it."""
    execution = talk()
    assert (execution.answers, execution.text) == ((), "re: p")


def test_a_turn_that_fails_ends_the_session() -> None:
    """Nothing is said after it, and what was used until then counts."""

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        if request.prompt == "p":
            return said("fine")
        failure = Failure.of_agent(FailureClass.MAX_TURNS, "too many")
        return said("?").model_copy(update={"failure": failure, "text": None})

    execution = talk("q", "r", play=play)
    assert execution.failure is not None
    assert execution.answers == ("fine", None)
    assert execution.usage == Usage(input_tokens=20, output_tokens=2, cost_usd=1.0)


def test_a_recording_has_all_turns() -> None:
    """What is played back is asked for once."""
    whole = joined(said("a"), "q", said("b"))
    requests: list[RunRequest] = []

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        requests.append(request)
        return whole

    assert talk("q", play=play).answers == ("a", "b")
    assert len(requests) == 1


def test_facts_of_all_turns() -> None:
    """What either turn tells is known of the session; what one of them does not tell is unknown."""
    fired, block = FiredSkill(name="pdf", how="invoked"), Block(tool="Bash", by="hook")
    first, second = said("a", skills_fired=(fired,)), said("b", blocked=(block,), turns=None)
    trajectory = joined(first, "q", second).trajectory
    assert trajectory is not None
    assert (trajectory.skills_fired, trajectory.blocked, trajectory.turns) == ((fired,), (block,), None)
    unknown = joined(first, "q", said("b", skills_fired=None)).trajectory
    assert unknown is not None
    assert unknown.skills_fired is None


@pytest.mark.parametrize(("turn", "text", "messages"), [(0, "a", ["a"]), (1, "b", ["b"]), (2, "c", ["c"])])
def test_a_turn_by_itself(turn: int, text: str, messages: list[str]) -> None:
    """It is as if the session had been this turn alone."""
    whole = joined(joined(said("a"), "q", said("b")), "r", said("c"))
    alone = at_turn(whole, turn)
    assert alone is not None
    assert alone.trajectory is not None
    assert (alone.text, [event.text for event in alone.trajectory.events]) == (text, messages)
    assert (alone.trajectory.skills_fired, alone.usage, alone.duration_s) == (None, None, None)


def test_a_turn_that_there_was_not() -> None:
    """A session that ended early has fewer; one without further turns has one."""
    assert at_turn(said("a"), 1) is None
    alone = at_turn(said("a"), 0)
    assert alone is not None
    assert alone.text == "a"


def test_turns_are_part_of_what_is_executed() -> None:
    """Another turn is another session; a check of another turn is another check, and the same session."""
    plain, talking = Case(id="c", prompt="p"), Case(id="c", prompt="p", turns=("q",))
    assert len({plain.execution_digest, talking.execution_digest, Case(id="c", prompt="p").execution_digest}) == 2
    first, whole = Check(id="c", scorer="x", turn=0), Check(id="c", scorer="x")
    assert first.digest != whole.digest
    assert talking.model_copy(update={"checks": (first,)}).execution_digest == talking.execution_digest

"""Sessions with several turns: put together from what an engine tells of each, and taken apart for checks."""

from __future__ import annotations

from typing import Any

import pytest

from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.contract.sandboxes import Workspace
from skillgauge.run.conversation import at_turn, joined
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, Limits, SimulatedUser
from skillgauge.types.trajectory import Block, EventKind, FiredSkill, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, Trial
from skillgauge.types.usage import Usage
from skillgauge_testkit import FakeWorkspace

from .test_agents import execute, trial

MESSAGE, SAID = EventKind.MESSAGE, EventKind.USER


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
        (SAID, "q"),
        (MESSAGE, "re: q"),
        (SAID, "r"),
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
    assert (alone.answers, alone.turn_facts) == ((), ())


REQUIRED = Check(id="first", scorer="x", turn=0, required=True)


@pytest.mark.parametrize("score", [Score.failed("no"), Score.ungraded("the judge is down")])
def test_a_required_check_that_does_not_pass_ends_the_conversation(score: Score) -> None:
    """Nothing more is said; the session is kept as one that had more turns, so that it is played back as it was."""
    asked: list[tuple[str | None, ...]] = []

    async def ask(one: Trial, execution: Execution, _workspace: Workspace) -> tuple[Score, ...]:
        asked.append(execution.answers or (execution.text,))
        return (score,) if len(execution.answers) == 2 else (Score.passed(),)

    case = trial(turns=("q", "r", "s"))
    execution = execute(case, repeats, setup={"conversations": True}, ask_required=ask)
    assert execution.answers == ("re: p", "re: q")
    assert asked == [("re: p",), ("re: p", "re: q")]
    note = "a required check ended the conversation after turn 2; 2 further turns were not asked"
    assert note in execution.notes
    assert execution.usage == Usage(input_tokens=20, output_tokens=2, cost_usd=1.0)


def test_a_conversation_that_ends_after_its_first_turn() -> None:
    """It has one answer, and says so: without it a recording would be asked for the further turns."""

    async def ask(_one: Trial, _execution: Execution, _workspace: Workspace) -> tuple[Score, ...]:
        return (Score.failed("no"),)

    execution = execute(trial(turns=("q",)), repeats, setup={"conversations": True}, ask_required=ask)
    assert execution.answers == ("re: p",)
    assert at_turn(execution, 0) == execution
    assert at_turn(execution, 1) is None
    assert any("1 further turn was not asked" in note for note in execution.notes)


USER = SimulatedUser(check=Check(id="user", scorer="u"), turns=3)


def saying(*answers: Score) -> tuple[Any, list[Execution]]:
    """A user who answers so, and the sessions that it was asked about."""
    sessions: list[Execution] = []

    async def ask(_trial: Trial, execution: Execution, _workspace: Workspace) -> tuple[Score, ...]:
        sessions.append(execution)
        return (answers[len(sessions) - 1],)

    return ask, sessions


def goes_on(text: str, tokens: int = 5) -> Score:
    """A user who says this."""
    score = Score.failed("the user goes on", evidence={"says": text})
    return score.model_copy(update={"usage": Usage(total_tokens=tokens)})


def test_a_simulated_user_goes_on_after_the_turns() -> None:
    """It says one message after each answer until it is content; what it used is apart from the session's usage."""
    ask, sessions = saying(goes_on("r"), goes_on("s"), Score.passed("it has a boat"))
    execution = execute(trial(turns=("q",), user=USER), repeats, setup={"conversations": True}, ask_user=ask)
    assert execution.answers == ("re: p", "re: q", "re: r", "re: s")
    assert [len(session.answers) for session in sessions] == [2, 3, 4]
    assert execution.user_usage == Usage(total_tokens=10)
    assert execution.usage == Usage(input_tokens=40, output_tokens=4, cost_usd=2.0)
    assert execution.notes[-1] == "the user was simulated, and ended the conversation after 2 messages: it has a boat"
    assert execution.failure is None
    assert execution.trajectory is not None
    assert [event.text for event in execution.trajectory.events if event.kind is EventKind.USER] == ["q", "r", "s"]


def test_a_simulated_user_is_bounded() -> None:
    """After the most of its turns nobody asks it any more, and the engine is told that nothing follows."""
    requests: list[RunRequest] = []

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        requests.append(request)
        return said(request.prompt)

    ask, sessions = saying(goes_on("a"), goes_on("b"), goes_on("c"))
    execution = execute(trial(user=USER), play, setup={"conversations": True}, ask_user=ask)
    assert (execution.answers, len(sessions)) == (("p", "a", "b", "c"), 3)
    assert [request.is_followed for request in requests] == [True, True, True, False]
    assert execution.notes[-1] == "the user was simulated, for 3 turns at most"


def test_a_user_who_has_nothing_to_say() -> None:
    """A session with one answer is a whole conversation, so that a recording of it is played back as it was."""
    ask, _ = saying(Score.passed("fine"))
    execution = execute(trial(user=USER), repeats, setup={"conversations": True}, ask_user=ask)
    assert execution.answers == ("re: p",)
    assert execution.user_usage is None


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (Score.ungraded("the judge is down"), "the judge is down"),
        (Score.failed("no words"), "there is no message"),
        (goes_on("  "), "there is no message"),
    ],
)
def test_a_user_who_cannot_be_simulated(score: Score, words: str) -> None:
    """It is an error of the trial, and no fail of the skill; what was used counts."""
    ask, _ = saying(goes_on("q"), score)
    execution = execute(trial(user=USER), repeats, setup={"conversations": True}, ask_user=ask)
    assert execution.failure is not None
    assert (execution.failure.blame, words in execution.failure.message) == (Blame.INFRASTRUCTURE, True)
    assert execution.answers == ("re: p", "re: q")
    assert execution.user_usage is not None


def test_required_checks_of_turns_are_part_of_what_is_executed() -> None:
    """They decide what is said; other checks, and required ones of the whole session, do not."""
    talking = Case(id="c", prompt="p", turns=("q",))
    plain, whole = (REQUIRED.model_copy(update=update) for update in ({"required": False}, {"turn": None}))
    cases = [talking.model_copy(update={"checks": (check,)}) for check in (plain, whole, REQUIRED)]
    digests = [case.execution_digest for case in (talking, *cases)]
    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert REQUIRED.digest != plain.digest


def test_what_a_turn_used_and_fired() -> None:
    """Each turn has its own skills, blocks, usage and time, and the session all of them."""
    fired, block = FiredSkill(name="pdf", how="invoked"), Block(tool="Bash", by="hook")
    first, second = said("a"), said("b", skills_fired=(fired,), blocked=(block,), model_calls=4, turns=3)
    second = second.model_copy(update={"usage": Usage(input_tokens=7), "duration_s": 9.0})
    whole = joined(joined(first, "q", second), "r", said("c"))
    turns = [at_turn(whole, turn) for turn in range(3)]
    told = [(one.trajectory, one.usage, one.duration_s) for one in turns if one]
    assert [usage for _, usage, _ in told] == [first.usage, second.usage, first.usage]
    assert [seconds for _, _, seconds in told] == [2.0, 9.0, 2.0]
    trajectories = [trajectory for trajectory, _, _ in told if trajectory]
    assert [one.skills_fired for one in trajectories] == [(), (fired,), ()]
    assert [one.blocked for one in trajectories] == [(), (block,), ()]
    assert [(one.model_calls, one.turns) for one in trajectories] == [(None, 1), (4, 3), (None, 1)]
    assert {one.skills_offered for one in trajectories} == {("other", "pdf")}


def test_a_recording_that_does_not_tell_of_turns() -> None:
    """What is not told of a turn is unknown, and neither nothing nor that of the whole session."""
    whole = joined(said("a"), "q", said("b")).model_copy(update={"turn_facts": ()})
    alone = at_turn(whole, 1)
    assert alone is not None
    assert alone.trajectory is not None
    assert (alone.trajectory.skills_fired, alone.usage, alone.duration_s) == (None, None, None)
    assert [event.text for event in alone.trajectory.events] == ["b"]


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

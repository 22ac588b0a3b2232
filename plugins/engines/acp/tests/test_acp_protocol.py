"""Whatever an agent does or says, its session is told in facts and comes to an end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillgauge.api import (
    Blame,
    Engine,
    EventKind,
    Execution,
    FailureClass,
    Limits,
    RunRequest,
    SandboxSpec,
    TrajectoryEvent,
)
from skillgauge_engine_acp.agents import AGENTS
from skillgauge_testkit import ENGINES, Maker, TemporarySandbox

from .conftest import MODULES

AGENT = Path(__file__).parent / "scripted_agent.py"
KEY = "made-up-key-of-the-tests-0123456789"
LIMITS_S = (1.5, 6.0, 24.0)
"""Time limits, of which the first counts that lets an agent begin."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in AGENTS:
        for variable in agent.variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def engine(name: str = "codex-acp", **options: object) -> Engine:
    """An engine that drives the scripted agent."""
    given = {"program": str(AGENT), **options}
    return Maker(ENGINES, MODULES[name], name)(given)  # type: ignore[arg-type]


def request(prompt: str, **limits: float | None) -> RunRequest:
    """A session of nothing but a prompt."""
    return RunRequest(trial_id="t", case_id="c", prompt=prompt, model=None, limits=Limits.model_validate(limits))


def played(
    prompt: str, *, mode: str = "", timeout_s: float = 30.0, max_turns: int | None = None, **options: object
) -> Execution:
    """A session to its end."""
    asked = request(prompt, timeout_s=timeout_s, max_turns=max_turns)

    async def session() -> Execution:
        events: list[TrajectoryEvent] = []
        async with TemporarySandbox().open(SandboxSpec(label="acp", env={"SCRIPTED_AGENT": mode})) as workspace:
            execution = await engine(**options).run(asked, workspace, events.append)
        assert execution.trajectory is not None
        assert list(execution.trajectory.events)[: len(events)] == events
        return execution

    return asyncio.run(session())


def conversation(*prompts: str, mode: str = "") -> list[Execution]:
    """Each turn of a session, in one workspace."""

    async def session() -> list[Execution]:
        turns: list[Execution] = []
        talking = engine()
        async with TemporarySandbox().open(SandboxSpec(label="acp", env={"SCRIPTED_AGENT": mode})) as workspace:
            for prompt in prompts:
                trajectory = turns[-1].trajectory if turns else None
                update = {"continues": trajectory.session_id if trajectory else None, "is_followed": True}
                asked = request(prompt, timeout_s=30.0).model_copy(update=update)
                turns.append(await talking.run(asked, workspace, lambda _event: None))
        return turns

    return asyncio.run(session())


def told(execution: Execution) -> list[tuple[EventKind, str | None, str]]:
    """Kind, name and text of each event."""
    assert execution.trajectory is not None
    return [(event.kind, event.name, event.text) for event in execution.trajectory.events]


@pytest.mark.slow
def test_pieces_become_whole_events_in_their_order() -> None:
    """Chunks of one message are one event, a call has its last arguments, a call without a result is still told."""
    execution = played("pieces")
    assert execution.failure is None
    assert told(execution) == [
        (EventKind.REASONING, None, "hm"),
        (EventKind.MESSAGE, None, "one message"),
        (EventKind.NOTICE, "plan", "[pending] look"),
        (EventKind.TOOL_CALL, "read", "Read"),
        (EventKind.TOOL_CALL, "execute", "never ends"),
        (EventKind.TOOL_RESULT, "read", "found\n--- a\n"),
        (EventKind.MESSAGE, None, "the end"),
    ]
    assert execution.trajectory is not None
    assert execution.trajectory.events[3].data == {"path": "x"}
    assert (execution.text, execution.trajectory.session_id) == ("the end", "s1")
    assert execution.trajectory.engine_version == "9"
    assert execution.usage is not None
    assert (execution.usage.input_tokens, execution.usage.total_tokens) == (11, 18)
    assert execution.trajectory.skills_offered is None
    assert execution.trajectory.blocked is None


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["", "resumes"])
def test_a_further_turn_is_reported_by_itself(mode: str) -> None:
    """The session is opened again, and what an agent repeats of the earlier turns belongs to none of them."""
    first, second, third = conversation("pieces", "recall", "recall", mode=mode)
    assert [one.failure for one in (first, second, third)] == [None] * 3
    assert told(second) == [(EventKind.MESSAGE, None, "pieces recall")]
    assert told(third) == [(EventKind.MESSAGE, None, "pieces recall recall")]
    assert [one.trajectory.session_id for one in (first, second, third) if one.trajectory] == ["s1"] * 3
    assert [one.usage.total_tokens for one in (first, second, third) if one.usage] == [18] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "words"), [("closed", "cannot go on with a session"), ("forgetful", "no such session")]
)
def test_a_session_that_cannot_be_opened_again(mode: str, words: str) -> None:
    """It is a failure with its reason, and no turn of another session takes its place."""
    first, second = conversation("hello", "recall", mode=mode)
    assert first.failure is None
    assert second.failure is not None
    assert words in second.failure.message
    assert second.failure.blame is Blame.INFRASTRUCTURE


def test_noise_is_passed_over_and_counted() -> None:
    """Banners, broken lines and messages of no known kind do not disturb a session."""
    execution = played("noise")
    assert (execution.failure, execution.text) == (None, "still here")
    assert any("lines of the program's output were no events" in note for note in execution.notes)


def test_files_and_terminals_are_not_offered() -> None:
    """A client's methods for files and terminals are refused, so that nothing leaves the workspace by them."""
    assert played("files").text == "-32601 -32601 -32601"


@pytest.mark.parametrize(
    ("policy", "offered", "chosen"),
    [
        ("allow", "reject_once allow_always allow_once", "the-allow_once"),
        ("allow", "reject_once allow_always", "the-allow_always"),
        ("reject", "allow_once reject_always reject_once", "the-reject_once"),
        ("reject", "allow_once", "cancelled"),
        ("allow", "reject_once", "cancelled"),
    ],
)
def test_permissions(policy: str, offered: str, chosen: str) -> None:
    """The policy answers, once rather than for good; where no answer fits, the question is cancelled and noted."""
    execution = played(f"permission {offered}", permissions=policy)
    assert execution.text == chosen
    assert any("offered no answer that fits" in note for note in execution.notes) is (chosen == "cancelled")


@pytest.mark.parametrize(
    ("reason", "kind", "blame"),
    [
        ("max_turn_requests", FailureClass.MAX_TURNS, Blame.AGENT_LIMIT),
        ("refusal", FailureClass.REFUSED, Blame.INFRASTRUCTURE),
        ("cancelled", FailureClass.KILLED, Blame.INFRASTRUCTURE),
        ("boredom", FailureClass.PROTOCOL, Blame.INFRASTRUCTURE),
    ],
)
def test_reasons_to_stop(reason: str, kind: FailureClass, blame: Blame) -> None:
    """Every reason but the end of the turn is a failure of its class."""
    failure = played(f"stop {reason}").failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (kind, blame)


def test_answer_that_was_cut_is_an_answer_with_a_note() -> None:
    """The model's limit of tokens ends a turn, and a reader is told."""
    execution = played("stop max_tokens")
    assert (execution.failure, execution.text) == (None, "so far")
    assert any("cut" in note for note in execution.notes)


@pytest.mark.parametrize(
    ("error", "kind", "is_retryable"),
    [
        ("-32000 Authentication required", FailureClass.AUTH, False),
        ("429 slow down", FailureClass.RATE_LIMITED, True),
        ("-32603 unexpected status 529: no luck, url: http://127.0.0.1:1/v1", FailureClass.OVERLOADED, True),
        ("-32603 stream disconnected before completion: x", FailureClass.NETWORK, True),
        ("-32603 something else", FailureClass.CRASH, False),
    ],
)
def test_errors(error: str, kind: FailureClass, is_retryable: bool) -> None:
    """An error in the place of an answer has a class, and says no address."""
    failure = played(f"error {error}").failure
    assert failure is not None
    assert (failure.failure_class, failure.retryable) == (kind, is_retryable)
    assert "127.0.0.1" not in failure.message


@pytest.mark.parametrize(
    ("mode", "options", "kind", "words"),
    [
        ("slow", {"start_timeout_s": 0.5}, FailureClass.LAUNCH, "accepted no prompt within 0.5 s"),
        ("future", {}, FailureClass.CRASH, "version 7 of the protocol"),
        ("locked", {}, FailureClass.AUTH, "Authentication required"),
        ("nameless", {}, FailureClass.CRASH, "without an id"),
    ],
)
def test_session_that_does_not_begin(mode: str, options: dict[str, float], kind: FailureClass, words: str) -> None:
    """An agent that never accepts a prompt is a failure that says why."""
    failure = played("hello", mode=mode, **options).failure
    assert failure is not None
    assert failure.failure_class is kind
    assert words in failure.message


def test_limit_of_turns_that_nobody_keeps_is_noted() -> None:
    """Where the agent cannot be held to it, the result says so."""
    assert any("that of 3 was not kept" in note for note in played("hello", max_turns=3).notes)


def test_crash() -> None:
    """An agent that ends in the middle is a crash, with its exit code and last words."""
    execution = played("crash")
    assert execution.failure is not None
    assert execution.failure.failure_class is FailureClass.CRASH
    assert "out of luck" in execution.failure.message
    assert execution.exit_code == 3


@pytest.mark.slow
def test_limit_of_time_asks_the_agent_to_stop_first() -> None:
    """At the limit the agent is told to cancel, and what it used until then is known."""
    for limit in LIMITS_S:
        execution = played("hang", timeout_s=limit)
        if told(execution):
            break  # else it had not begun, for this machine is busy
    assert execution.failure is not None
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.TIMEOUT, Blame.AGENT_LIMIT)
    assert execution.usage is not None
    assert execution.usage.input_tokens == 11


@pytest.mark.slow
def test_deaf_agent_is_killed() -> None:
    """An agent that does not listen is ended all the same; it was the model's turn, so no skill is blamed (E-A3)."""
    execution = played("deaf", timeout_s=1.0)
    assert execution.failure is not None
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.NETWORK, Blame.INFRASTRUCTURE)
    assert execution.usage is None


def test_cancelling_reaches_the_agent() -> None:
    """Who cancels a session makes the agent cancel it, too."""

    async def session() -> bool:
        async with TemporarySandbox().open(SandboxSpec(label="acp")) as workspace:
            begun = asyncio.Event()
            running = asyncio.ensure_future(engine().run(request("hang hold"), workspace, lambda _event: begun.set()))
            await asyncio.wait_for(begun.wait(), 30)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            assert running.cancelled()
            return (workspace.home / "cancelled").exists()

    assert asyncio.run(session())


def test_key_reaches_nothing_but_the_agent() -> None:
    """What the agent gives away of its key is blanked out of everything."""
    execution = played("key")
    assert execution.failure is None
    assert KEY not in execution.model_dump_json()


def test_program_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is a problem with the line that installs it, before anything starts."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("HOME", "/nonexistent")
    problems = asyncio.run(engine(program="no-such-agent").check())
    assert [problem.code for problem in problems] == ["engine.no-program", "engine.no-credentials"]
    assert "npm install -g @agentclientprotocol/codex-acp@2.6.0" in (problems[0].hint or "")


def test_tokens_of_a_session_without_a_title_are_unknown() -> None:
    """An adapter that takes no title may hold another session to find one, and tells nothing of that (E-A10)."""
    titled, untitled = played("hello"), played("hello", mode="untitled")
    assert titled.usage is not None
    assert (titled.failure, untitled.failure, untitled.usage) == (None, None, None)


@pytest.mark.parametrize("name", [agent.name for agent in AGENTS])
def test_identity_and_routes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version and model are part of what a session depends on; the route carries the key outside of the workspace."""
    agent = next(one for one in AGENTS if one.name == name)
    monkeypatch.setenv(agent.variables[0], KEY)
    made = engine(name)
    identity = made.identity(None)
    assert (identity.name, identity.model, identity.service) == (name, agent.model, agent.address)
    assert (identity.version or "").startswith("2.6.0+engine")
    assert identity.digest == engine(name, start_timeout_s=5).identity("other").digest
    assert identity.digest != engine(name, permissions="reject").identity(None).digest
    (route,) = made.routes(None)
    assert (route.name, route.base_url) == (agent.route, agent.address)
    assert KEY in str(list(route.headers.values()))

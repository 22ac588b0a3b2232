"""The transcript to derive from: what lines say becomes an account, and what they do not say stays unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    Blame,
    EventKind,
    Execution,
    FailureClass,
    FiredSkill,
    JsonValue,
    RefusedSkill,
    TrajectoryEvent,
    Usage,
    freeze,
)
from skillgauge_agent_programs.accounts import Account, Ending
from skillgauge_agent_programs.json_lines import TEXT_CHARACTERS
from skillgauge_agent_programs.skills import INVOKED, READ
from skillgauge_agent_programs.transcripts import SessionTranscript

from .conftest import AcmeEngine, Play


class Lines(SessionTranscript):
    """The lines of an agent, as a vendor would write them down."""

    def take(self, record: Mapping[str, JsonValue]) -> None:
        """Read a line."""
        match record:
            case {"offer": [*names]}:
                self.offers(names)
            case {"skill": str(name), "how": "invoked" | "read" | "explicit" as how}:
                self.fires(name, how)
            case {"refused": str(name), "why": str(why)}:
                self.refuses(name, why, "Allow it")
            case {"call": str(tool), "id": str(call), "given": given}:
                self.calls(tool, call, given)
            case {"result": str(text), "id": str(call), "ok": bool(ok)}:
                self.returns(call, text, is_error=not ok)
            case {"say": str(text)}:
                self.says(text)
            case {"think": str(text)}:
                self.thinks(text)
            case {"warn": str(text)}:
                self.notices(text, is_error=True)
            case {"tokens": int(tokens)}:
                self.usage = Usage(total_tokens=tokens)
            case {"error": str(text)}:
                status = record.get("status")
                self.fails(text, status=status if isinstance(status, int) else None, retry_after_s=3)
            case {"answer": str(text)}:
                self.ends(text)


class Silent(Lines):
    """Does not show which skills are used."""

    tells_fired = False


def told(*lines: Mapping[str, object], kind: type[SessionTranscript] = Lines) -> tuple[Account, list[TrajectoryEvent]]:
    """The account of a session, and the events that came while it went on."""
    transcript = kind()
    frozen = [freeze(line) for line in lines]
    events = [event for line in frozen if isinstance(line, Mapping) for event in transcript.read(line)]
    return transcript.account(Ending(0)), events


def test_refused_skills_are_reported() -> None:
    """Each with reason and hint; without a line about any it is unknown whether one was refused."""
    account, events = told({"offer": ["pdf"]}, {"refused": "pdf", "why": "denied"}, {"answer": "done"})
    assert account.trajectory.skills_refused == (RefusedSkill(name="pdf", reason="denied", hint="Allow it"),)
    assert events == []
    account, _ = told({"offer": ["pdf"]}, {"answer": "done"})
    assert account.trajectory.skills_refused is None


def test_a_whole_session() -> None:
    """Events come as they are told and are the trajectory's, results under the name of the tool that was called."""
    account, events = told(
        {"offer": ["pdf", "tea"]},
        {"think": "hm"},
        {"call": "load", "id": "1", "given": {"name": "pdf"}},
        {"skill": "pdf", "how": INVOKED},
        {"result": "text", "id": "1", "ok": True},
        {"result": "lost", "id": "2", "ok": False},
        {"warn": "slow"},
        {"say": "Done."},
        {"tokens": 5},
        {"tokens": 9},
        {"answer": "Done."},
    )
    assert [(event.kind, event.name, event.text, event.is_error) for event in events] == [
        (EventKind.REASONING, None, "hm", False),
        (EventKind.TOOL_CALL, "load", "", False),
        (EventKind.TOOL_RESULT, "load", "text", False),
        (EventKind.TOOL_RESULT, None, "lost", True),
        (EventKind.NOTICE, None, "slow", True),
        (EventKind.MESSAGE, None, "Done.", False),
    ]
    assert account.trajectory.events == tuple(events)
    assert events[1].data == {"name": "pdf"}
    assert account.trajectory.skills_offered == ("pdf", "tea")
    assert account.trajectory.skills_fired == (FiredSkill(name="pdf", how=INVOKED),)
    assert (account.text, account.is_over, account.failure) == ("Done.", True, None)
    assert account.usage == Usage(total_tokens=9)


def test_what_is_not_told_is_unknown() -> None:
    """Nothing is made up: no list of skills, no tokens, no end."""
    account, events = told({"other": 1}, {"say": 7})
    assert events == []
    assert account == Account(account.trajectory, awaits_model=True)
    assert set(account.trajectory.model_dump(exclude={"events"}).values()) == {None}


def test_when_it_is_known_what_fired() -> None:
    """With the list of skills, none is a fact; before it, only what fired is; never where lines do not show it."""
    offer, fire = {"offer": []}, {"skill": "pdf", "how": READ}
    fired = (FiredSkill(name="pdf", how=READ),)
    assert told(offer)[0].trajectory.skills_fired == ()
    assert told(fire)[0].trajectory.skills_fired == fired
    assert told(offer, fire)[0].trajectory.skills_fired == fired
    assert told(offer, kind=Silent)[0].trajectory.skills_fired is None
    assert told(offer, kind=Silent)[0].trajectory.skills_offered == ()


@pytest.mark.parametrize(
    ("line", "kind", "is_retryable"),
    [
        ({"error": "no", "status": 401}, FailureClass.AUTH, False),
        ({"error": "no", "status": 529}, FailureClass.OVERLOADED, True),
        ({"error": "connection reset"}, FailureClass.NETWORK, True),
        ({"error": "what?"}, FailureClass.CRASH, False),
    ],
)
def test_failures(line: Mapping[str, object], kind: FailureClass, is_retryable: bool) -> None:
    """The status tells the class, else the words do, else it is a crash; there is no answer then."""
    account, _ = told({"answer": "early"}, line)
    assert account.failure is not None
    assert (account.failure.failure_class, account.failure.blame) == (kind, Blame.INFRASTRUCTURE)
    assert (account.failure.retryable, account.failure.retry_after_s) == (is_retryable, 3 if is_retryable else None)
    assert (account.is_over, account.text) == (True, None)


def test_a_class_that_the_program_tells() -> None:
    """It is taken before anything that a status or words could mean."""
    transcript = Lines()
    transcript.fails("connection reset", status=401, kind=FailureClass.BUDGET)
    failure = transcript.account(Ending(1)).failure
    assert failure is not None
    assert failure.failure_class is FailureClass.BUDGET


def test_long_texts_are_cut() -> None:
    """What an agent says without an end does not fill results."""
    long = "x" * (TEXT_CHARACTERS + 1)
    _, events = told({"say": long}, {"call": "load", "id": "1", "given": {"name": long}})
    assert "left out" in events[0].text
    assert "left out" in str(events[1].data)


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)
KEYS = st.sampled_from(
    ["offer", "skill", "how", "call", "id", "given", "result", "ok", "say", "tokens", "error", "answer"]
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(KEYS, VALUES)))
def test_no_line_makes_it_raise(lines: list[dict[str, object]]) -> None:
    """Whatever values the known keys have, there is an account that can be stored."""
    account, _ = told(*lines)
    account.trajectory.model_dump_json()


def test_it_reads_a_real_process(acme: Callable[..., AcmeEngine], play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that makes one per session reports what the process told."""
    engine = acme("""printf '%s\\n' '{"offer": ["pdf"]}' noise '{"say": "hm"}' '{"tokens": 3}' '{"answer": "done"}'""")
    monkeypatch.setattr(engine, "transcript", lambda _request: Lines())
    execution: Execution = play(engine)[0]
    assert (execution.failure, execution.text, execution.usage) == (None, "done", Usage(total_tokens=3))
    assert execution.trajectory is not None
    assert (execution.trajectory.skills_offered, execution.trajectory.skills_fired) == (("pdf",), ())


def test_versions_that_nobody_named(acme: Callable[..., AcmeEngine]) -> None:
    """A vendor that names no tested version gets no warning for any; one that does, gets it for others."""
    engine = acme()
    for tested, count in (((), 0), (("9.9.9",), 1)):
        program = type(engine.program)(engine.program.command, engine.program.install, tested)
        assert len(engine.found.problems("acme", program, "acme")) == count

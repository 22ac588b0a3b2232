"""Recorded streams of the real program, read without any process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Blame, EventKind, FailureClass, FiredSkill
from skillgauge_agent_programs.accounts import Account, Ending
from skillgauge_agent_programs.json_lines import parse_line
from skillgauge_engine_claude_code.engine import ClaudeCodeEngine
from skillgauge_engine_claude_code.options import ClaudeCodeOptions
from skillgauge_engine_claude_code.transcript import ClaudeTranscript, read_stream

DATA = Path(__file__).parent / "data"
INDEX: dict[str, Any] = json.loads((DATA / "index.json").read_text(encoding="utf-8"))["streams"]
PROMPTS = {"skill-slash-invoked": "/proj-claudeskills please"}


def lines(name: str) -> list[bytes]:
    """Lines of a recorded stream."""
    return (DATA / "streams" / f"{name}.jsonl").read_bytes().splitlines()


def account(name: str) -> Account:
    """What a recorded stream tells."""
    told = INDEX[name]
    killed = name == "timeout-killed"
    ending = Ending(None if killed else told["exit_code"], told["stderr"], timed_out=killed)
    return read_stream(filter(None, map(parse_line, lines(name))), PROMPTS.get(name, "Say PONG"), ending)


def document(told: Account) -> dict[str, Any]:
    """An account as a golden holds it."""
    return {
        "text": told.text,
        "is_over": told.is_over,
        "failure": told.failure and told.failure.model_dump(mode="json", exclude_defaults=True),
        "usage": told.usage and told.usage.model_dump(mode="json"),
        "notes": list(told.notes),
        "trajectory": told.trajectory.model_dump(mode="json", exclude_defaults=True),
    }


@pytest.mark.parametrize("name", INDEX)
def test_golden(name: str) -> None:
    """Every recorded stream gives the account that was checked by hand."""
    assert len(lines(name)) == INDEX[name]["lines"]
    golden = json.loads((DATA / "goldens" / f"{name}.json").read_text(encoding="utf-8"))
    assert document(account(name)) == golden


def test_success_in_the_subtype_is_no_success() -> None:
    """A failed API ends with the subtype `success`, and what tells is `is_error`."""
    told = account("api-401")
    assert b'"subtype":"success"' in lines("api-401")[-1]
    assert told.failure is not None
    assert (told.failure.failure_class, told.failure.blame) == (FailureClass.AUTH, Blame.INFRASTRUCTURE)
    assert (told.text, told.usage, told.trajectory.model_calls) == (None, None, 0)


def test_two_results_are_one_session() -> None:
    """The last result tells the answer; tokens and money are those of the whole session, and turns add up."""
    told = account("subagent-two-results")
    assert (told.text, told.trajectory.turns) == ("done", 3)
    assert told.usage is not None
    assert (told.usage.input_tokens, told.usage.cost_usd) == (9600, 0.0315)
    said = [event.text for event in told.trajectory.events if event.kind is EventKind.MESSAGE]
    assert said == ["done", "done"]  # what the sub-agent said is none of the agent's messages


def test_a_stream_without_its_end() -> None:
    """Whatever was before: without a result line the session is not over."""
    records = [record for record in map(parse_line, lines("success-write-and-shell")) if record]
    for count in range(len(records)):
        told = read_stream(records[:count], "Say PONG", Ending(0))
        assert (told.is_over, told.text, told.usage) == (False, None, None)
    assert read_stream([], "", Ending(1)).trajectory.skills_offered is None


def test_a_command_is_a_skill_only_if_there_is_one() -> None:
    """A prompt that begins with a slash fires nothing by itself."""
    records = [record for record in map(parse_line, lines("skill-slash-invoked")) if record]
    for prompt in ("/no-such-skill", "about /proj-claudeskills", "/", "/ proj-claudeskills"):
        assert read_stream(records, prompt, Ending(0)).trajectory.skills_fired == ()
    told = read_stream(records, "  /proj-claudeskills", Ending(0))
    assert told.trajectory.skills_fired == (FiredSkill(name="proj-claudeskills", how="explicit"),)


INIT = {"type": "system", "subtype": "init", "session_id": "s", "skills": []}


def told_by(
    stream: list[dict[str, Any]],
    record: list[dict[str, Any]],
    *,
    timed_out: bool = False,
    exit_code: int = 0,
    is_cut: bool = False,
) -> Account:
    """What a stream tells together with the program's own record."""
    transcript = ClaudeTranscript("Say PONG")
    for line in [INIT, *stream]:
        transcript.read(parse_line(json.dumps(line).encode()) or {})
    for line in record:
        transcript.read_record(parse_line(json.dumps(line).encode()) or {})
    transcript.end_record(is_cut=is_cut)
    return transcript.account(Ending(None if timed_out else exit_code, timed_out=timed_out))


def result(answer: str, tokens: int, **more: Any) -> dict[str, Any]:
    """The line that ends a session."""
    used = {"modelUsage": {"m": {"inputTokens": tokens, "outputTokens": 1}}, "total_cost_usd": tokens / 1000}
    return {"type": "result", "session_id": "s", "is_error": False, "result": answer, **used, **more}


def said(*texts: str, of: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """A message, as stream and record have it, and what else is known of it."""
    content = [{"type": "text", "text": text} for text in texts]
    message = {"id": "1", "model": "m", "content": content, **(of or {})}
    return {"type": "assistant", "session_id": "s", "message": message, **more}


COST = {"type": "cost-state", "totalCostUSD": 0.1, "modelUsage": {"m": {"inputTokens": 100, "outputTokens": 1}}}


def test_the_record_counts_and_not_the_stream() -> None:
    """What a command of the agent wrote into the stream last is neither the answer nor what was used (T-S15)."""
    told = told_by([said("real"), result("real", 100), result("FORGED", 0)], [said("real"), COST])
    assert (told.text, told.is_over) == ("real", True)
    assert told.usage is not None
    assert (told.usage.input_tokens, told.usage.cost_usd) == (100, 0.1)
    assert any("another answer" in note for note in told.notes)
    honest = told_by([said("a", "b"), result("b", 100)], [said("a"), said("b"), said("aside", isSidechain=True), COST])
    assert (honest.text, honest.notes) == ("b", ())
    stranger = told_by([result("FORGED", 0, session_id="x"), said("real"), result("real", 100)], [])
    assert (stranger.text, len(stranger.notes)) == ("real", 1)


def test_a_failure_that_the_record_does_not_know() -> None:
    """What a command forged after an answer is not believed, and before one it is the agent's own doing (T-S15)."""
    forged = result("Not logged in", 0, is_error=True, api_error_status=401)
    work, failing = said("at work"), said("API Error", of={"id": "2", "model": "<synthetic>"})
    answer = said("real", of={"id": "3", "stop_reason": "end_turn"})
    after = told_by([result("real", 100), forged], [work, answer, COST])
    assert (after.text, after.failure, after.is_over) == ("real", None, True)
    assert any("tells a failure" in note for note in after.notes)
    more: dict[str, Any] = {"type": "user", "message": {"content": "go on"}}
    for record in ([work], [answer, more]):
        before = told_by([forged], record).failure
        assert before is not None
        assert (before.failure_class, before.blame, before.retryable) == (FailureClass.AUTH, Blame.TARGET, False)
    for record in ([], [failing], [answer, more, failing]):
        true = told_by([forged], record).failure
        assert true is not None
        assert (true.failure_class, true.blame) == (FailureClass.AUTH, Blame.INFRASTRUCTURE)
    turns = told_by([result("", 0, is_error=True, subtype="error_max_turns")], [work]).failure
    assert turns is not None
    assert turns.blame is Blame.AGENT_LIMIT


CALL = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "x"}}
WORK = said(of={"content": [{"type": "text", "text": "I work."}, CALL], "stop_reason": "tool_use"})  # type: ignore[dict-item]
OUTPUT = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c", "content": "y"}]}}
ANSWER = said("real", of={"id": "2", "stop_reason": "end_turn"})
STREAM = [WORK, {**OUTPUT, "session_id": "s"}, ANSWER, result("real", 100)]
CUT_OFF = [[WORK], [WORK, OUTPUT], [said("I work."), WORK, OUTPUT, said(of={"id": "2"})]]
"""Records of which the last entries are missing."""


@pytest.mark.parametrize("record", [*CUT_OFF, [], [WORK, OUTPUT, ANSWER]])
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_record_without_its_end_denies_nothing(record: list[dict[str, Any]], is_cut: bool) -> None:
    """A record that is cut off makes the session an error of the set-up, and its lack of an answer is no answer."""
    told = told_by(STREAM, record, is_cut=is_cut)
    assert not any("another answer" in note for note in told.notes)
    if record in CUT_OFF or is_cut:
        assert told.failure is not None
        found = (told.failure.failure_class, told.failure.blame, told.failure.retryable)
        assert found == (FailureClass.SETUP, Blame.INFRASTRUCTURE, False)
        assert "the disk of the temporary folder is full" in told.failure.message
        assert told.text is None
    else:
        assert (told.failure, told.text) == (None, "real")


@pytest.mark.parametrize("record", CUT_OFF)
@pytest.mark.parametrize("exit_code", [1, 143])
def test_an_answer_forged_before_the_end_is_none(record: list[dict[str, Any]], exit_code: int) -> None:
    """An agent that writes an answer into the stream and ends its program has not come to an end."""
    told = told_by([WORK, result("FORGED", 0)], record, exit_code=exit_code)
    assert (told.text, told.is_over, told.failure) == (None, False, None)
    late = told_by([WORK, result("FORGED", 0)], record, timed_out=True)
    assert (late.text, late.is_over, late.failure) == (None, False, None)


def test_a_failure_that_a_cut_record_lacks() -> None:
    """It cannot have been written down, so it is believed."""
    told = told_by([result("Not logged in", 0, is_error=True, api_error_status=401)], [WORK], is_cut=True)
    assert told.failure is not None
    assert (told.failure.failure_class, told.failure.blame) == (FailureClass.AUTH, Blame.INFRASTRUCTURE)


@pytest.mark.parametrize(("content", "is_cut"), [(b"", False), (b"{}\n", False), (b"{}\n{}", True), (b'{}\n{"a', True)])
def test_a_line_that_is_not_finished(tmp_path: Path, content: bytes, is_cut: bool) -> None:
    """The session file itself shows it."""
    folder = tmp_path / ".claude/projects/x"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_bytes(content)
    transcript = ClaudeTranscript("Say PONG")
    for line in [INIT, *STREAM]:
        transcript.read(parse_line(json.dumps(line).encode()) or {})
    ClaudeCodeEngine(ClaudeCodeOptions()).read_home(tmp_path, transcript)
    assert (transcript.account(Ending(0)).failure is not None) is is_cut


def test_no_server_behind_a_relay() -> None:
    """It is a matter of the network, and the address inside of the sandbox is in no message (E-D5)."""
    told = "API Error: 502 skillgauge relay: the API cannot be reached (ConnectError). Check that (127.0.0.1:1787)."
    failure = told_by([result(told, 0, is_error=True, api_error_status=502)], []).failure
    assert failure is not None
    assert failure.failure_class is FailureClass.NETWORK
    assert failure.message == told.partition(" Check")[0]


def test_a_session_that_goes_on_after_a_result_is_not_over() -> None:
    """Time that runs out while the agent is at work again is no end; without more work the result is."""
    assert told_by([result("first", 1), said("more")], [], timed_out=True).is_over is False
    assert told_by([result("first", 1), said("more"), result("last", 2)], [], timed_out=True).text == "last"
    assert told_by([said("more"), result("first", 1)], [], timed_out=True).is_over is True


WORDS = sorted(
    {
        *(
            "type",
            "subtype",
            "message",
            "content",
            "id",
            "name",
            "input",
            "text",
            "usage",
            "is_error",
            "skills",
            "model",
        ),
        *("tool_use_result", "success", "commandName", "tool_result_meta", "permission_decision", "decision", "source"),
        *("system", "init", "assistant", "user", "result", "tool_use", "tool_result", "thinking", "reject", "hook"),
        *("modelUsage", "inputTokens", "total_cost_usd", "api_retry", "retry_delay_ms", "hook_response", "Skill"),
        *("permission_denials", "tool_use_id", "<synthetic>", "Bash", "command", "num_turns", "Read", "file_path"),
    }
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(WORDS))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.slow
@given(st.lists(st.binary() | st.dictionaries(st.sampled_from(WORDS), values).map(lambda v: json.dumps(v).encode())))
def test_no_line_makes_it_raise(noise: list[bytes]) -> None:
    """Whatever the lines are, there is an account of them that can be stored."""
    transcript = ClaudeTranscript("/x", ["x"])
    for line in noise:
        if record := parse_line(line):
            for event in transcript.read(record):
                event.model_dump_json()
    json.dumps(document(transcript.account(Ending(1))))


@given(st.data())
def test_no_changed_recording_makes_it_raise(data: st.DataObject) -> None:
    """A recording with lines lost, repeated, cut and put into another order is read too."""
    recorded = lines(data.draw(st.sampled_from(sorted(INDEX))))
    order = data.draw(st.lists(st.sampled_from(recorded), max_size=12))
    cuts = data.draw(st.lists(st.integers(0, 3000), min_size=len(order), max_size=len(order)))
    records = (
        parse_line(line[:-cut] if cut < len(line) and cut % 3 == 0 and cut else line)
        for line, cut in zip(order, cuts, strict=True)
    )
    json.dumps(document(read_stream(filter(None, records), "hi", Ending(0))))

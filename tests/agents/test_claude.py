"""Claude Code runs to its end on a scripted model, and every fault ends it as a real one would."""

from __future__ import annotations

import subprocess

import pytest

from skillgauge_testkit import ModelFault, ModelReply, in_turns, run_shell, with_skill, write_file

from .conftest import KEY, Agent

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]


def test_files_parallel_tools_thoughts_and_usage(claude: Agent) -> None:
    """It writes the file, runs both commands, and counts the tokens that the server counts."""
    script = in_turns(
        ModelReply("I write.", 1000, 20, thinking="plan", thinking_tokens=5, tools=[write_file("hello.txt", "hi\n")]),
        ModelReply("", 100, 20, cache_read_tokens=900, tools=[run_shell("cat hello.txt"), run_shell("echo two")]),
        ModelReply("Done.", 50, 6, cache_write_tokens=30),
    )
    ended = claude.run(script)
    assert (ended.code, ended.last["is_error"], ended.last["result"]) == (0, False, "Done."), ended.stderr
    assert (ended.workspace / "hello.txt").read_text() == "hi\n"
    (session,) = ended.server.sessions.values()
    assert session.name == ended.last["session_id"]
    results = session.requests[2].results
    assert [words for words in ("hi", "two") if any(words in result.split("\n") for result in results)] == ["hi", "two"]
    used, told = ended.last["usage"], session.tokens
    assert (used["input_tokens"], used["cache_read_input_tokens"]) == (told.input, told.cache_read)
    assert (used["cache_creation_input_tokens"], used["output_tokens"]) == (told.cache_write, told.output)
    said = [block for line in ended.of(type="assistant") for block in line["message"]["content"]]
    assert [block["type"] for block in said] == ["thinking", "text", "tool_use", "tool_use", "tool_use", "text"]
    assert (ended.server.others, {request.key for request in session.requests}) == ([], {KEY})


def test_skill_makes_the_difference(claude: Agent) -> None:
    """Where the skill is there, it is offered, called and loaded; where it is not, the answer comes at once."""
    script = with_skill("greet-well", ModelReply("ZEBRA"), ModelReply("hello"))
    skilled, unskilled = claude.run(script, has_skill=True), claude.run(script)
    assert (skilled.last["result"], unskilled.last["result"]) == ("ZEBRA", "hello")
    (loaded,) = (line for line in skilled.of(type="user") if "tool_use_result" in line)
    granted = ["Read", "Write", "Bash(python:*)"]  # as the front matter of the skill asks
    assert loaded["tool_use_result"] == {"success": True, "commandName": "greet-well", "allowedTools": granted}
    assert "Say ZEBRA." in skilled.server.requests[1].text
    assert len(unskilled.server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "error", "status"),
    [
        (ModelFault.BAD_REQUEST, "unknown", 400),
        (ModelFault.TOO_LONG, "invalid_request", 400),
        (ModelFault.UNAUTHORIZED, "authentication_failed", 401),
        (ModelFault.FORBIDDEN, "authentication_failed", 403),
        (ModelFault.NOT_FOUND, "model_not_found", 404),
        (ModelFault.RATE_LIMITED, "rate_limit", 429),
        (ModelFault.SERVER_ERROR, "server_error", 500),
        (ModelFault.OVERLOADED, "server_error", 529),
        (ModelFault.STREAM_ERROR, "server_error", 500),
        (ModelFault.CUT_BODY, "server_error", None),
        (ModelFault.DROPPED, "server_error", None),
        (ModelFault.GARBAGE, "unknown", None),
        (ModelFault.NOISE, "unknown", None),
        (ModelFault.REFUSED, "invalid_request", None),
    ],
)
def test_faults(claude: Agent, fault: ModelFault, error: str, status: int | None) -> None:
    """Each ends with exit code 1, says that it was an error, and of which kind."""
    ended = claude.run(lambda _request: ModelReply("half of what there is to say", fault=fault))
    assert (ended.code, ended.last["type"], ended.last["is_error"]) == (1, "result", True), ended.stderr
    assert ended.last["api_error_status"] == status
    assert ended.of(type="assistant")[-1]["error"] == error
    assert (ended.last["terminal_reason"] == "prompt_too_long") == (fault is ModelFault.TOO_LONG)
    assert (ended.last["stop_reason"] == "refusal") == (fault is ModelFault.REFUSED)


@pytest.mark.parametrize(
    ("first", "streams"),
    [
        (ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "1"}), [True, True]),
        (ModelReply("half", fault=ModelFault.STREAM_ERROR), [True, False]),
        (ModelReply("beginning", is_cut=True), [True, True]),
    ],
    ids=["retry", "no stream", "continued"],
)
def test_second_try(claude: Agent, first: ModelReply, streams: list[bool]) -> None:
    """It waits as long as it is told to, falls back to an answer in one piece, and goes on where it was cut."""
    ended = claude.run(in_turns(first, ModelReply("ok")))
    assert (ended.code, ended.last["result"]) == (0, "ok"), ended.stderr
    assert [request.is_stream for request in ended.server.requests] == streams
    if first.headers:
        asked, again = (request.time_s for request in ended.server.requests)
        assert again - asked >= 1


def test_late_and_slow_answers(claude: Agent) -> None:
    """A delay and a slow stream are waited for; a stream without an end is not over when the time is."""
    ended = claude.run([ModelReply("a slow answer", delay_s=0.3, chunk_delay_s=0.1)])
    assert (ended.code, ended.last["result"]) == (0, "a slow answer"), ended.stderr
    with pytest.raises(subprocess.TimeoutExpired):
        claude.run([ModelReply("x", fault=ModelFault.ENDLESS)], timeout_s=4)

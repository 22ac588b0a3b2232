"""Codex runs to its end on a scripted model, and every fault ends it as a real one would."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, in_turns, run_shell, with_skill, write_file

from .conftest import KEY, Agent, Ended

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

Codex = Callable[..., Agent]


def items(ended: Ended, kind: str) -> list[dict[str, Any]]:
    """The completed items of a kind."""
    found = (line["item"] for line in ended.of(type="item.completed"))
    return [item for item in found if item["type"] == kind]


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("gpt-5", id="patches by the shell"),
        pytest.param("gpt-5.5", id="patches by a tool"),
        pytest.param("gpt-6.1-sol", id="calls tools from code"),
    ],
)
def test_files_parallel_tools_thoughts_and_usage(codex: Codex, model: str) -> None:
    """With each set of tools it writes the file, runs both commands, and counts the tokens that the server counts."""
    script = in_turns(
        ModelReply("I write.", 1000, 20, thinking="plan", thinking_tokens=5, tools=[write_file("hello.txt", "hi\n")]),
        ModelReply(
            "", 100, 20, cache_read_tokens=900, tools=[run_shell("cat hello.txt"), run_shell("sleep 0.1; exit 3")]
        ),
        ModelReply("Done.", 50, 6, cache_write_tokens=30),
    )
    ended = codex(model).run(script)
    assert (ended.code, ended.last["type"]) == (0, "turn.completed"), ended.stderr
    assert (ended.workspace / "hello.txt").read_text() == "hi\n"
    (change,) = items(ended, "file_change")
    assert [(one["kind"], one["path"].rpartition("/")[2]) for one in change["changes"]] == [("add", "hello.txt")]
    runs = {(item["aggregated_output"], item["exit_code"]) for item in items(ended, "command_execution")}
    assert runs == {("hi\n", 0), ("", 3)}
    assert [item["text"] for item in items(ended, "reasoning")] == ["plan"]
    assert [item["text"] for item in items(ended, "agent_message")] == ["I write.", "Done."]
    (session,) = ended.server.sessions.values()
    assert ended.of(type="thread.started")[0]["thread_id"] == session.name
    told = session.tokens
    assert ended.last["usage"] == {
        "input_tokens": told.input + told.cache_read + told.cache_write,
        "cached_input_tokens": told.cache_read,
        "cache_write_input_tokens": told.cache_write,
        "output_tokens": told.output,
        "reasoning_output_tokens": told.thinking,
    }
    assert (ended.server.others, {request.key for request in session.requests}) == ([], {KEY})


def test_skill_makes_the_difference(codex: Codex) -> None:
    """Where the skill is there, its file is read; where it is not, the answer comes at once."""
    script = with_skill("greet-well", ModelReply("ZEBRA"), ModelReply("hello"))
    skilled, unskilled = codex().run(script, has_skill=True), codex().run(script)
    assert [items(one, "agent_message")[-1]["text"] for one in (skilled, unskilled)] == ["ZEBRA", "hello"]
    (read,) = items(skilled, "command_execution")
    assert "greet-well/SKILL.md" in read["command"]
    assert "Say ZEBRA." in read["aggregated_output"]
    assert len(unskilled.server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ModelFault.BAD_REQUEST, '"message": "no luck"'),
        (ModelFault.TOO_LONG, "ran out of room in the model's context window"),
        (ModelFault.UNAUTHORIZED, "unexpected status 401 Unauthorized: no luck"),
        (ModelFault.FORBIDDEN, "unexpected status 403 Forbidden: no luck"),
        (ModelFault.NOT_FOUND, "unexpected status 404 Not Found: no luck"),
        (ModelFault.RATE_LIMITED, "exceeded retry limit, last status: 429"),
        (ModelFault.SERVER_ERROR, "high demand"),
        (ModelFault.OVERLOADED, "unexpected status 529"),
        (ModelFault.STREAM_ERROR, "stream disconnected before completion: no luck"),
        (ModelFault.CUT_BODY, "stream disconnected before completion"),
        (ModelFault.DROPPED, "stream disconnected before completion"),
        (ModelFault.GARBAGE, "stream closed before response.completed"),
        (ModelFault.NOISE, "UTF8 error"),
    ],
)
def test_faults(codex: Codex, fault: ModelFault, words: str) -> None:
    """Each ends with exit code 1 and a failed turn that says why."""
    ended = codex().run([ModelReply("half of what there is to say", fault=fault, message="no luck")])
    assert (ended.code, ended.last["type"]) == (1, "turn.failed"), ended.stderr
    assert words in ended.last["error"]["message"]


def test_refusals_and_cut_answers(codex: Codex) -> None:
    """A refusal is a completed turn without a message; an answer that is cut fails the turn after its message."""
    refused = codex().run([ModelReply("secret", fault=ModelFault.REFUSED)])
    assert (refused.code, refused.last["type"], items(refused, "agent_message")) == (0, "turn.completed", [])
    cut = codex().run([ModelReply("beginning", is_cut=True)])
    assert (cut.code, [item["text"] for item in items(cut, "agent_message")]) == (1, ["beginning"])
    assert "max_output_tokens" in cut.last["error"]["message"]


@pytest.mark.parametrize(
    "first",
    [
        ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "1"}),
        ModelReply("half", fault=ModelFault.STREAM_ERROR),
    ],
    ids=["before", "in the middle"],
)
def test_second_try(codex: Codex, first: ModelReply) -> None:
    """Told to try again, it does, in the same session, and gets the next reply."""
    ended = codex(retries=1).run(in_turns(first, ModelReply("ok")))
    assert (ended.code, [item["text"] for item in items(ended, "agent_message")]) == (0, ["ok"]), ended.stderr
    assert [len(session.requests) for session in ended.server.sessions.values()] == [2]


def test_late_and_slow_answers(codex: Codex) -> None:
    """A delay and a slow stream are waited for; a stream without an end is not over when the time is."""
    ended = codex().run([ModelReply("a slow answer", delay_s=0.3, chunk_delay_s=0.1)])
    assert (ended.code, items(ended, "agent_message")[0]["text"]) == (0, "a slow answer"), ended.stderr
    with pytest.raises(subprocess.TimeoutExpired):
        codex().run([ModelReply("x", fault=ModelFault.ENDLESS)], timeout_s=4)

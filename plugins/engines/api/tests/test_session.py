"""Whole sessions with each service: tools work in the workspace, facts are told, failures get their class."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Blame, EventKind, FailureClass, Limits, RunRequest, SandboxSpec, Usage
from skillgauge_engine_api.options import Service
from skillgauge_engine_api.session import summed
from skillgauge_model_client.options import Prices
from skillgauge_testkit import (
    ModelFault,
    ModelReply,
    ModelRequest,
    ModelServer,
    TemporarySandbox,
    ToolCall,
    in_turns,
    read_file,
    run_shell,
    use_skill,
    with_skill,
    write_file,
)

from .conftest import KEY, SKILL, Hold, engine_of

each_service = pytest.mark.parametrize("provider", list(Service))


@each_service
def test_a_session_from_prompt_to_answer(hold: Hold, provider: Service) -> None:
    """Several tools in one answer and in turn, thoughts and texts between; what comes without a tool is the answer."""
    replies = [
        ModelReply("I look.", tools=[read_file("in.txt"), run_shell("ls")], thinking="hm"),
        ModelReply("I write.", tools=[write_file("sub/out.txt", "made\n")]),
        ModelReply("All done."),
    ]
    with ModelServer(in_turns(*replies)) as server:
        held = hold(server, "make it", provider=provider, files={"in.txt": "content\n"})
        (session,) = server.sessions.values()
    assert held.execution.failure is None
    assert held.execution.text == "All done."
    assert held.files == {"in.txt": b"content\n", "sub/out.txt": b"made\n"}
    kinds = [event.kind for event in held.events if event.kind is not EventKind.REASONING]
    call, result = EventKind.TOOL_CALL, EventKind.TOOL_RESULT
    message = EventKind.MESSAGE
    assert kinds == [message, call, result, call, result, message, call, result, message]
    assert [event.name for event in held.events if event.kind is call] == ["read", "bash", "write"]
    assert held.told.events == tuple(held.events)
    totals = [usage.all_tokens for usage in held.usages]
    assert (len(totals), totals, held.usages[-1]) == (3, sorted(totals), held.execution.usage)
    assert (held.told.model_calls, held.told.turns, held.told.model) == (3, 3, "m-1")
    assert held.told.blocked is None
    assert held.execution.usage
    assert held.execution.usage.input_tokens == session.tokens.input == 33
    assert held.execution.usage.output_tokens == session.tokens.output == 21
    assert session.requests[0].prompt == "make it"
    assert session.requests[2].results == ("content\n", "in.txt\n[exit code 0]", "wrote sub/out.txt")


@each_service
def test_the_key_goes_with_requests_and_nowhere_else(hold: Hold, provider: Service) -> None:
    """Commands of the model do not see it, neither in their environment nor in that of a parent, nor by asking back."""
    look = "env; cat /proc/self/environ; cat ~/* ./* 2>&1"
    with ModelServer(in_turns(ModelReply(tools=[run_shell(look)]), ModelReply("x"))) as server:
        held = hold(server, provider=provider)
        assert [request.key for request in server.requests] == [KEY, KEY]
        assert all(KEY not in request.text for request in server.requests)
    (result,) = [event for event in held.events if event.kind is EventKind.TOOL_RESULT]
    assert "PATH=" in result.text
    assert KEY not in result.text


@each_service
@pytest.mark.requirement("SE-ARM-004")
def test_skills_are_listed_and_loaded_by_a_tool(hold: Hold, provider: Service) -> None:
    """The model sees name and description, gets the body when it loads it, and both facts are told."""
    skills = {"pdf/SKILL.md": SKILL, "pdf/scripts/go.sh": "echo hi", "other/SKILL.md": "no front matter"}
    script = with_skill("pdf", ModelReply("with"), ModelReply("without"))
    with ModelServer(script) as server:
        held = hold(server, provider=provider, skills=skills)
        bare = hold(server, provider=provider)
        first, second, plain = server.requests
    assert (held.execution.text, bare.execution.text) == ("with", "without")
    assert held.told.skills_offered == ("other", "pdf")
    assert [(one.name, one.how) for one in held.told.skills_fired or ()] == [("pdf", "invoked")]
    assert "- pdf: Makes PDF files." in first.text
    assert "Use the force" not in first.text
    assert "Use the force" in second.results[0]
    assert "description:" not in second.results[0]
    assert ".agents/skills/pdf/: scripts/go.sh" in second.results[0]
    assert (bare.told.skills_offered, bare.told.skills_fired) == ((), ())
    assert "load_skill" not in plain.tools
    assert "kill" not in plain.text


def test_reading_a_skill_counts_as_read_and_asking_for_none_as_nothing(hold: Hold) -> None:
    """By whatever gives its text back, and by nothing else (E-A6); one that is not there has not fired."""
    skills = {f"{name}/SKILL.md": f"---\nname: {name}\n---\nUse the force of {name}.\n" for name in ("a", "b", "c")}
    steps = [
        ModelReply(tools=[ToolCall("load_skill", {"name": "gone"})]),
        ModelReply(tools=[read_file("./.agents/skills/a/SKILL.md"), run_shell("cd .agents/skills/b; cat *.md")]),
        ModelReply(tools=[run_shell("ls -l .agents/skills/c/SKILL.md"), run_shell("cp .agents/skills/c/SKILL.md x")]),
        ModelReply(tools=[use_skill("a")]),
        ModelReply("done"),
    ]
    with ModelServer(in_turns(*steps)) as server:
        held = hold(server, skills=skills)
        results = server.requests[-1].results
    assert [(one.name, one.how) for one in held.told.skills_fired or ()] == [("a", "read"), ("b", "read")]
    assert results[0] == "Error: there is no skill 'gone', only a, b, c"


@each_service
def test_without_tools_there_is_one_question(hold: Hold, provider: Service) -> None:
    """The whole skill is in it, so nobody knows whether it fired; no tool is offered, the text is the answer."""
    with ModelServer([ModelReply("four"), ModelReply("five")]) as server:
        held = hold(server, "2 + 2?", provider=provider, skills={"pdf/SKILL.md": SKILL}, tools=False, temperature=0)
        bare = hold(server, "2 + 2?", provider=provider, tools=False)
        first, second = server.requests
    assert (held.execution.text, bare.execution.text) == ("four", "five")
    assert held.told.skills_offered == ("pdf",)
    assert held.told.skills_fired is None
    assert bare.told.skills_offered == ()
    assert "Use the force." in first.text
    assert "Use the force." not in second.text
    assert not first.tools
    assert first.prompt == "2 + 2?"
    assert "temperature" in str(first.body)
    assert "temperature" not in str(second.body)


FAULTS = [
    (ModelFault.UNAUTHORIZED, FailureClass.AUTH, False),
    (ModelFault.NOT_FOUND, FailureClass.MODEL_NOT_FOUND, False),
    (ModelFault.RATE_LIMITED, FailureClass.RATE_LIMITED, True),
    (ModelFault.SERVER_ERROR, FailureClass.SERVER, True),
    (ModelFault.OVERLOADED, FailureClass.OVERLOADED, True),
    (ModelFault.BAD_REQUEST, FailureClass.BAD_REQUEST, False),
    (ModelFault.TOO_LONG, FailureClass.CONTEXT_TOO_LONG, False),
    (ModelFault.REFUSED, FailureClass.REFUSED, False),
    (ModelFault.GARBAGE, FailureClass.PROTOCOL, False),
    (ModelFault.NOISE, FailureClass.PROTOCOL, False),
    (ModelFault.CUT_BODY, FailureClass.NETWORK, True),
    (ModelFault.DROPPED, FailureClass.NETWORK, True),
]


@pytest.mark.slow
def test_faults(hold: Hold, subtests: pytest.Subtests) -> None:
    """Each has its class and is nobody's fail, also in the middle of a session, whose facts up to there are told."""
    for provider, (fault, kind, retryable) in product(Service, FAULTS):
        with subtests.test(provider=provider, fault=fault):
            broken = ModelReply(fault=fault, headers={"Retry-After": "7"})
            with ModelServer(in_turns(ModelReply(tools=[write_file("a", "1")]), broken)) as server:
                held = hold(server, provider=provider)
            failure = held.execution.failure
            assert failure
            assert (failure.failure_class, failure.blame, failure.retryable) == (kind, Blame.INFRASTRUCTURE, retryable)
            assert failure.retry_after_s == (7 if retryable and kind is not FailureClass.NETWORK else None)
            assert held.execution.text is None
            assert held.files == {"a": b"1"}
            assert held.told.model_calls == 1
            assert held.execution.usage
            assert held.execution.usage.input_tokens == 11
            assert len(server.requests) == 2


def test_turns_are_limited(hold: Hold) -> None:
    """By the suite or user, else by the option; running out of them is the agent's, and the work done stays."""
    endless = ModelReply(tools=[run_shell("echo x >> log")])
    with ModelServer(lambda _request: endless) as server:
        held = hold(server, limits=Limits(max_turns=2), max_turns=9)
        own = hold(server, max_turns=3)
    failure = held.execution.failure
    assert failure
    assert (failure.failure_class, failure.blame) == (FailureClass.MAX_TURNS, Blame.AGENT_LIMIT)
    assert held.files == {"log": b"x\nx\n"}
    assert held.told.model_calls == 2
    assert own.told.model_calls == 3


@pytest.mark.slow
@pytest.mark.requirement("UA-FLOW-004")
@pytest.mark.parametrize(
    ("slow", "kind", "blame"),
    [
        (ModelReply("late", delay_s=30), FailureClass.NETWORK, Blame.INFRASTRUCTURE),
        (ModelReply(tools=[run_shell("sleep 60")]), FailureClass.TIMEOUT, Blame.AGENT_LIMIT),
    ],
    ids=["model", "tool"],
)
def test_the_time_of_a_session_is_limited(hold: Hold, slow: ModelReply, kind: FailureClass, blame: Blame) -> None:
    """A command that takes too long is the agent's, a model that does not answer is not (E-A3); what was done stays."""
    with ModelServer(in_turns(ModelReply(tools=[write_file("a", "1")]), slow)) as server:
        held = hold(server, limits=Limits(timeout_s=4))
    failure = held.execution.failure
    assert failure
    assert (failure.failure_class, failure.blame) == (kind, blame)
    assert held.files == {"a": b"1"}


def test_a_service_that_does_not_answer_in_time_is_the_networks(hold: Hold) -> None:
    """The limit of one request is not the session's: it is infrastructure, and trying again may help."""
    with ModelServer([ModelReply("late", delay_s=30)]) as server:
        held = hold(server, request_timeout_s=0.2)
    failure = held.execution.failure
    assert failure
    assert (failure.failure_class, failure.blame) == (FailureClass.NETWORK, Blame.INFRASTRUCTURE)
    assert failure.retryable


def test_an_answer_that_was_cut_is_told(hold: Hold) -> None:
    """With some text it is an answer with a note; without any there is none."""
    with ModelServer([ModelReply("half", is_cut=True), ModelReply("", is_cut=True)]) as server:
        held, empty = hold(server, max_output_tokens=50), hold(server)
        assert server.requests[0].body["max_tokens"] == 50
    assert (held.execution.text, held.execution.truncated) == ("half", True)
    assert held.execution.notes == ("the answer was cut at 50 tokens",)
    assert empty.execution.failure
    assert empty.execution.failure.failure_class is FailureClass.PROTOCOL


def test_an_empty_answer_after_some_work_is_one(hold: Hold) -> None:
    """A model may end without a word when it has done what was asked; at once it has answered nothing."""
    with ModelServer([ModelReply(tools=[write_file("a", "1")]), ModelReply(""), ModelReply("")]) as server:
        held, mute = hold(server), hold(server)
    assert (held.execution.text, held.execution.failure) == ("", None)
    assert mute.execution.failure
    assert "the answer is empty" in mute.execution.failure.message


@each_service
def test_what_the_model_gets_wrong_is_told_to_it(hold: Hold, provider: Service) -> None:
    """An unknown tool, wrong and missing arguments: errors that the model sees, and the session goes on."""
    wrong = [
        ToolCall("teleport", {}),
        ToolCall("bash", {"cmd": "ls"}),
        ToolCall("read", {"path": "in.txt", "offset": 0}),
        ToolCall("write", {"path": "../out", "content": "x"}),
    ]
    with ModelServer(in_turns(ModelReply(tools=wrong), ModelReply("sorry"))) as server:
        held = hold(server, provider=provider)
        results = server.requests[-1].results
    assert held.execution.text == "sorry"
    assert len(results) == 4
    joined = "\n".join(results)
    for words in (
        "there is no tool 'teleport'",
        "command: Field required",
        "greater than or equal to 1",
        "is outside of",
    ):
        assert words in joined
    assert [event.is_error for event in held.events if event.kind is EventKind.TOOL_RESULT] == [True] * 4


ODD_CALLS: Mapping[Service, Any] = {
    Service.OPENAI: {
        "choices": [
            {
                "message": {
                    "content": [{"text": "in "}, {"text": "parts"}, 5],
                    "reasoning_content": "thought",
                    "tool_calls": [
                        {"id": "1", "function": {"name": "bash", "arguments": "{broken"}},
                        {"id": "2", "function": {"name": "bash\ud800", "arguments": "[1]"}},
                        {"function": {"name": "bash", "arguments": '{"command": "a\\ud800"}'}},
                        {"id": "4"},
                        5,
                    ],
                }
            }
        ]
    },
    Service.ANTHROPIC: {
        "content": [
            {"type": "text", "text": "in "},
            {"type": "thinking", "thinking": "thought", "signature": "s"},
            {"type": "text", "text": "parts"},
            {"type": "tool_use", "id": "1", "name": "bash", "input": "{broken"},
            {"type": "tool_use", "id": "2", "name": "bash\ud800", "input": [1]},
            {"type": "tool_use", "name": "bash", "input": {"command": "a\ud800"}},
            5,
        ]
    },
    Service.GEMINI: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "thought", "thought": True},
                        {"text": "in "},
                        {"text": "parts"},
                        {"functionCall": {"name": "bash", "args": [1]}, "thoughtSignature": "s"},
                        {"functionCall": {"name": "bash\ud800", "args": "{broken"}},
                        {"functionCall": {"id": "3", "name": "bash", "args": {"command": "a\ud800"}}},
                        5,
                    ],
                }
            }
        ]
    },
}


@each_service
def test_odd_calls_end_nothing(hold: Hold, provider: Service) -> None:
    """Broken arguments, half surrogate pairs and strange parts become errors of the calls; thoughts are told apart."""
    with ModelServer([ModelReply(document=ODD_CALLS[provider]), ModelReply("done")]) as server:
        held = hold(server, provider=provider)
        again = str(server.requests[1].body)
    assert held.execution.text == "done"
    results = [event for event in held.events if event.kind is EventKind.TOOL_RESULT]
    assert [event.is_error for event in results] == [True] * 3
    assert [event.text for event in held.events if event.kind is EventKind.REASONING] == ["thought"]
    assert [event.text for event in held.events if event.kind is EventKind.MESSAGE] == ["in parts", "done"]
    # Signatures of thoughts must come back; the thoughts of servers that only add them to Chat Completions must not.
    assert ("thought" in again) is (provider is not Service.OPENAI)
    assert held.execution.usage is None


@pytest.mark.parametrize("document", [{}, {"choices": []}, {"content": 5}, {"candidates": [{}]}])
@each_service
def test_documents_that_are_no_answer(hold: Hold, provider: Service, document: Any) -> None:
    """They are errors of the protocol, whatever they lack."""
    with ModelServer([ModelReply(document=document)]) as server:
        held = hold(server, provider=provider)
    assert held.execution.failure
    assert held.execution.failure.failure_class is FailureClass.PROTOCOL


def test_the_vendors_own_words_for_endings(hold: Hold) -> None:
    """A context that is full, a filter, and a call that Google could not read."""
    endings: list[tuple[Service, Any, FailureClass]] = [
        (
            Service.ANTHROPIC,
            {"content": [], "stop_reason": "model_context_window_exceeded"},
            FailureClass.CONTEXT_TOO_LONG,
        ),
        (Service.OPENAI, {"choices": [{"message": {}, "finish_reason": "content_filter"}]}, FailureClass.REFUSED),
        (
            Service.GEMINI,
            {"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]},
            FailureClass.PROTOCOL,
        ),
        (Service.GEMINI, {"candidates": [{"finishReason": "SAFETY"}]}, FailureClass.REFUSED),
    ]
    for provider, document, kind in endings:
        with ModelServer([ModelReply(document=document)]) as server:
            held = hold(server, provider=provider)
        assert held.execution.failure
        assert held.execution.failure.failure_class is kind


def test_tokens_are_summed_by_kind_and_priced(hold: Hold) -> None:
    """Cached and thought tokens stay apart; with prices there is a cost, without one it is unknown."""
    reply = ModelReply(
        "x", 1000, 200, cache_read_tokens=3000, cache_write_tokens=500, thinking_tokens=50, tools=[run_shell("true")]
    )
    replies = [reply, ModelReply("done", 1000, 200, cache_read_tokens=1000, cache_write_tokens=0)]
    prices = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
    with ModelServer(in_turns(*replies)) as server:
        held = hold(server, provider=Service.ANTHROPIC, prices=prices)
        free = hold(server, provider=Service.ANTHROPIC)
        (one, other) = server.sessions.values()
    usage = held.execution.usage
    assert usage
    assert (usage.input_tokens, usage.output_tokens) == (one.tokens.input, one.tokens.output) == (2000, 400)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (4000, 500)
    assert usage.cost_usd == pytest.approx((2000 * 3 + 400 * 15 + 4000 * 0.3 + 500 * 3.75) / 1e6)
    assert usage.cost_basis == "price-list"
    assert free.execution.usage
    assert (free.execution.usage.cost_usd, free.execution.usage.cost_basis) == (None, None)
    assert other.tokens == one.tokens


counts = st.none() | st.integers(0, 10**6)
usages = st.lists(st.none() | st.builds(Usage, input_tokens=counts, output_tokens=counts), max_size=5)


@given(usages)
def test_sums_know_exactly_what_all_parts_know(parts: list[Usage | None]) -> None:
    """A kind that one answer does not tell is unknown; nothing unknown becomes 0."""
    total = summed(parts, Prices(input=1, output=2))
    if not parts or None in parts:
        assert total is None
        return
    assert total
    for kind in ("input_tokens", "output_tokens"):
        told = [getattr(part, kind) for part in parts]
        assert getattr(total, kind) == (None if None in told else sum(told))
    is_priced = total.input_tokens is not None and total.output_tokens is not None
    assert (total.cost_usd is not None) is is_priced


def test_cancelling_ends_its_command() -> None:
    """A command of the model does not outlive a session that is cancelled."""
    with ModelServer([ModelReply(tools=[run_shell("echo $$ > pid; sleep 60")])]) as server:
        assert not _alive(asyncio.run(_cancelled(server)))


async def _cancelled(server: ModelServer) -> int:
    async with TemporarySandbox().open(SandboxSpec(label="api")) as workspace:
        request = RunRequest(trial_id="t", case_id="c", prompt="p", model=None, limits=Limits())
        work = asyncio.ensure_future(engine_of(server).run(request, workspace, lambda _event: None))
        text = ""
        for _ in range(2000):
            if text := (workspace.root / "pid").read_text() if (workspace.root / "pid").exists() else "":
                break
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return int(text)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_many_sessions_share_the_connections(hold: Hold) -> None:
    """Sessions that run at once do not get in each other's way."""

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply(request.prompt) if request.turn else ModelReply(tools=[write_file("out", request.prompt)])

    async def run(server: ModelServer) -> list[tuple[str | None, bytes]]:
        engine = engine_of(server)

        async def one(prompt: str) -> tuple[str | None, bytes]:
            async with TemporarySandbox().open(SandboxSpec(label="api")) as workspace:
                request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=None, limits=Limits())
                execution = await engine.run(request, workspace, lambda _event: None)
                return execution.text, await workspace.collect("out", 100)

        return await asyncio.gather(*(one(f"prompt {number}") for number in range(12)))

    with ModelServer(answer) as server:
        found = asyncio.run(run(server))
    assert found == [(f"prompt {number}", f"prompt {number}".encode()) for number in range(12)]

"""Whole answers in four wire formats, lists of models, and wrong requests."""

from __future__ import annotations

from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, ScriptError, ToolCall

from .conftest import BODIES, BODY, PATHS, ask

CALLS = [ToolCall("look", {"at": "a"}), ToolCall("go", {})]


@pytest.mark.parametrize(
    ("dialect", "text", "model", "usage"),
    [
        ("anthropic", ("content", 0, "text"), "model", {"input_tokens": 3, "output_tokens": 4}),
        (
            "openai-responses",
            ("output", 0, "content", 0, "text"),
            "model",
            {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        ),
        (
            "openai-chat",
            ("choices", 0, "message", "content"),
            "model",
            {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        ),
        (
            "gemini",
            ("candidates", 0, "content", "parts", 0, "text"),
            "modelVersion",
            {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
        ),
    ],
)
def test_answers_in_every_format(dialect: str, text: tuple[Any, ...], model: str, usage: dict[str, int]) -> None:
    """Text, model and usage are where the wire format has them, and the request is remembered."""
    with ModelServer([ModelReply("héllo", 3, 4)]) as server:
        answer = ask(server, f"{PATHS[dialect]}?beta=true", BODIES[dialect], **{"X-Api-Key": "made-up"})
    document = said = answer.document
    for step in text:
        said = said[step]
    assert (answer.status, said, document[model]) == (200, "héllo", "m-1")
    assert usage in (document.get("usage"), document.get("usageMetadata"))
    (request,) = server.requests
    assert (request.dialect, request.model, request.body) == (dialect, "m-1", BODIES[dialect])
    assert request.path.endswith("?beta=true")
    assert (request.headers["x-api-key"], request.key) == ("made-up", "made-up")
    assert (request.text, request.prompt) == ("hello", "hello")


@pytest.mark.parametrize("dialect", PATHS)
def test_unknown_usage_other_model_and_cut_answers(dialect: str) -> None:
    """Silence about usage is silence, half of it is no total, another model can answer, and an answer can be cut."""
    replies = [ModelReply("x", None, None, model="m-1-2026", is_cut=True), ModelReply("x", 5, None)]
    with ModelServer(replies) as server:
        answer, half = ask(server, dialect), ask(server, dialect).document
    document = answer.document
    assert "m-1-2026" in (document.get("model"), document.get("modelVersion"))
    assert not {"usage", "usageMetadata"} & set(document)
    words = (b'"max_tokens"', b'"incomplete"', b'"length"', b'"MAX_TOKENS"')
    assert any(word in answer.content for word in words)
    assert list((half.get("usage") or half.get("usageMetadata")).values()) == [5]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (
            "anthropic",
            {
                "input_tokens": 10,
                "cache_creation_input_tokens": 5,
                "cache_read_input_tokens": 80,
                "output_tokens": 20,
                "output_tokens_details": {"thinking_tokens": 7},
            },
        ),
        (
            "openai-responses",
            {
                "input_tokens": 95,
                "output_tokens": 20,
                "total_tokens": 115,
                "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 5},
                "output_tokens_details": {"reasoning_tokens": 7},
            },
        ),
        (
            "openai-chat",
            {
                "prompt_tokens": 95,
                "completion_tokens": 20,
                "total_tokens": 115,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
        ),
        (
            "gemini",
            {
                "promptTokenCount": 95,
                "cachedContentTokenCount": 80,
                "candidatesTokenCount": 13,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 115,
            },
        ),
    ],
)
def test_cached_and_thinking_tokens(dialect: str, expected: dict[str, Any]) -> None:
    """One format counts the cache beside the input and the others inside; one counts thoughts beside the output."""
    reply = ModelReply("x", 10, 20, cache_read_tokens=80, cache_write_tokens=5, thinking_tokens=7)
    with ModelServer([reply]) as server:
        document = ask(server, dialect).document
    assert (document.get("usage") or document.get("usageMetadata")) == expected
    (session,) = server.sessions.values()
    count = session.tokens
    assert (count.input, count.cache_read, count.cache_write, count.output, count.thinking) == (10, 80, 5, 20, 7)


def test_tool_calls_and_thoughts() -> None:
    """Thoughts, text and calls come in this order, calls have ids of their own, and the reason to stop says so."""
    with ModelServer([ModelReply("I look.", thinking="hm", tools=CALLS)] * 4) as server:
        anthropic, responses, chat, gemini = (ask(server, dialect).document for dialect in PATHS)
    thought, text, look, go = anthropic["content"]
    assert (thought["thinking"], text["text"], anthropic["stop_reason"]) == ("hm", "I look.", "tool_use")
    assert (look["name"], look["input"], go["input"]) == ("look", {"at": "a"}, {})
    assert look["id"] != go["id"]
    reasoning, message, look, go = responses["output"]
    assert reasoning["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert message["content"][0]["text"] == "I look."
    assert (look["type"], look["name"], look["arguments"], go["arguments"]) == (
        "function_call",
        "look",
        '{"at": "a"}',
        "{}",
    )
    (choice,) = chat["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert (choice["message"]["reasoning_content"], choice["message"]["content"]) == ("hm", "I look.")
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "a"}'}
    parts = gemini["candidates"][0]["content"]["parts"]
    assert parts[:2] == [{"text": "hm", "thought": True}, {"text": "I look."}]
    assert parts[2]["functionCall"]["args"] == {"at": "a"}


@pytest.mark.parametrize("dialect", PATHS)
def test_calls_without_a_text(dialect: str) -> None:
    """An answer that only calls tools has no empty text in it."""
    with ModelServer([ModelReply(tools=CALLS[:1])]) as server:
        content = ask(server, dialect).content
    assert b'"text"' not in content.replace(b'"type": "text"', b'"text"')
    assert b'"look"' in content


def test_freeform_tools_get_their_text() -> None:
    """A tool that takes a text gets it as it is, also one that an item of the conversation offers."""
    offered = {"type": "custom", "name": "apply"}
    named = {"type": "namespace", "name": "functions", "tools": [offered]}
    bodies: list[dict[str, Any]] = [
        {"tools": [offered, {"type": "web_search"}, {"type": "namespace", "name": "x", "tools": [offered]}]},
        {"input": [{"type": "additional_tools", "tools": [named]}]},
    ]
    with ModelServer([ModelReply(tools=[ToolCall("apply", {"input": "a\nb"})])] * 2) as server:
        for body in bodies:
            (item,) = ask(server, "openai-responses", body).document["output"]
            assert (item["type"], item["input"]) == ("custom_tool_call", "a\nb")
    assert [list(request.tools) for request in server.requests] == [["apply"], ["apply"]]


def test_script_as_a_function() -> None:
    """A function sees the request and decides."""

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply(request.text.upper())

    body = {"system": "be terse", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    with ModelServer(answer) as server:
        assert ask(server, "anthropic", body).document["content"][0]["text"] == "BE TERSE\nHI"


def test_faults_of_a_script_are_seen() -> None:
    """Both an empty queue and a failing function answer with a status that nobody retries; the latter raises later."""

    def fail(_request: ModelRequest) -> ModelReply:
        raise KeyError("absent")

    with ModelServer() as server:
        answer = ask(server, "gemini")
    assert (answer.status, answer.document["error"]["message"]) == (400, "the script has no reply left")
    with pytest.raises(KeyError, match="absent"), ModelServer(fail) as server:
        assert ask(server, "gemini").status == 400
    with pytest.raises(ZeroDivisionError), ModelServer(fail) as server:
        assert 1 / (ask(server, "gemini").status - 400)  # what the test itself found comes first


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/models", BODY, {}, 404),
        (PATHS["gemini"] + "/..", BODY, {}, 404),
        (PATHS["anthropic"], b"{", {}, 400),
        (PATHS["anthropic"], b"[]", {"Content-Length": "x"}, 413),
        (PATHS["anthropic"], b"[]", {"Content-Length": "99999999"}, 413),
    ],
)
def test_wrong_requests(path: str, body: object, headers: dict[str, str], status: int) -> None:
    """No such path, no JSON, too much of it."""
    with ModelServer([ModelReply("8")]) as server:
        assert ask(server, path, body, **headers).status == status
    assert server.requests == []


@pytest.mark.parametrize("body", [[], {}, {"messages": 1, "input": [1], "contents": [{"parts": [2, {}]}], "tools": 3}])
@pytest.mark.parametrize("dialect", PATHS)
def test_requests_of_odd_shapes(dialect: str, body: object) -> None:
    """What is not as expected is left out, and the request gets its answer."""
    with ModelServer([ModelReply("8")]) as server:
        assert ask(server, dialect, body).status == 200
    (request,) = server.requests
    assert (request.prompt, request.results, dict(request.tools), dict(request.skills)) == ("", (), {}, {})


def test_budget_of_requests() -> None:
    """Beyond it every request is refused, none is remembered, and the test fails at the end."""
    answers = []
    with (
        pytest.raises(ScriptError, match="more than 2 requests"),
        ModelServer(lambda _request: ModelReply("8"), max_requests=2) as server,
    ):
        answers += [ask(server, "anthropic") for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 400, 400]
    assert "more than 2 requests" in answers[-1].document["error"]["message"]
    assert len(server.requests) == 2


def test_lists_of_models() -> None:
    """Each family of programs gets the list in its own format, and one model by its name."""
    with ModelServer(models=("m-1", "m-2")) as server:
        openai = ask(server, "/v1/models", method="GET").document
        anthropic = ask(server, "/v1/models?limit=9", method="GET", **{"anthropic-version": "2023-06-01"}).document
        gemini = ask(server, "/v1beta/models", method="GET").document
        one, none = (ask(server, f"/v1/models/{name}", method="GET") for name in ("m-2", "m-3"))
        nothing = ask(server, "/v2/models", method="GET")
    assert [model["id"] for model in openai["data"]] == ["m-1", "m-2"] == [model["id"] for model in anthropic["data"]]
    assert (openai["object"], anthropic["data"][0]["type"]) == ("list", "model")
    assert [model["name"] for model in gemini["models"]] == ["models/m-1", "models/m-2"]
    assert (one.document["id"], none.status, nothing.status) == ("m-2", 404, 404)
    assert server.requests == []
    assert server.others[1] == "GET /v1/models?limit=9"


def test_counts_of_tokens() -> None:
    """A longer conversation has more tokens; the script is not asked."""
    long = {"messages": [{"role": "user", "content": "hello " * 100}]}
    with ModelServer() as server:
        short, more = (ask(server, f"{PATHS['anthropic']}/count_tokens", body).document for body in (BODY, long))
        gemini = ask(server, PATHS["gemini"].replace("generateContent", "countTokens"), BODIES["gemini"]).document
    assert 0 < short["input_tokens"] < more["input_tokens"]
    assert gemini == {"totalTokens": short["input_tokens"]}
    assert (server.requests, len(server.others)) == ([], 3)


@pytest.mark.parametrize("dialect", PATHS)
def test_refusal_of_the_model(dialect: str) -> None:
    """A refusal is a well-formed answer without a text."""
    with ModelServer([ModelReply("secret", fault=ModelFault.REFUSED)]) as server:
        answer = ask(server, dialect)
    assert answer.status == 200
    assert b"secret" not in answer.content
    assert b"refus" in answer.content or b"SAFETY" in answer.content

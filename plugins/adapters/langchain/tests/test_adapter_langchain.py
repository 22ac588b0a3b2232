"""Runnables of the real LangChain in child processes, objects that only look like them, and tokens."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Target, Usage
from skillgauge_adapter_langchain.adapter import langchain_adapter
from skillgauge_adapter_langchain.in_child import plain, prepare, tokens, usage_of
from skillgauge_testkit import ADAPTERS, AdapterInputs, Maker, check_adapter, check_light_import, check_plugin

MODULE = "skillgauge_adapter_langchain.plugin"

MODELS = """
from itertools import repeat
from operator import itemgetter
from langchain_core.language_models import GenericFakeChatModel, FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import BaseModel

ASKED = RunnableLambda(itemgetter("sum"))
USAGE = {"input_tokens": 350, "output_tokens": 240, "total_tokens": 590,
         "input_token_details": {"cache_creation": 200, "cache_read": 100}, "output_token_details": {"reasoning": 40}}

def model(text="4", usage=USAGE, **more):
    return GenericFakeChatModel(messages=repeat(AIMessage(content=text, usage_metadata=usage, **more)))
"""
KNOWN = Usage(
    input_tokens=50,
    cache_read_tokens=100,
    cache_write_tokens=200,
    output_tokens=240,
    reasoning_tokens=40,
    total_tokens=590,
)


def wait(value: Any) -> Any:
    """What an awaitable comes to, and anything else as it is."""

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited()) if hasattr(value, "__await__") else value


def invoked(code: str, value: Any, method: str | None = None) -> dict[str, Any]:
    """The answer of a `runnable` that some code binds."""
    names: dict[str, Any] = {}
    exec(MODELS + code, names)
    return prepare(names["runnable"], {"method": method}, wait)(value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("runnable = ChatPromptTemplate.from_template('What is {sum}?') | model()", "4"),
        ("runnable = ASKED | model() | StrOutputParser()", "4"),
        ("runnable = RunnablePassthrough.assign(reply=ASKED | model())", {"sum": "2+2", "reply": "4"}),
        ("def runnable(): return ASKED | model()", "4"),
        ("async def runnable(): return ASKED | model()", "4"),
        ("class runnable:\n    def invoke(self, value): return (ASKED | model()).invoke(value)", "4"),
    ],
)
@pytest.mark.parametrize("method", [None, "ainvoke"])
def test_results_and_tokens_of_real_runnables(code: str, output: object, method: str | None) -> None:
    """A message is its content, a text itself, and the tokens are known even if no message comes out."""
    if method and code.startswith("class"):
        code = code.replace("def invoke", "async def ainvoke")
    answer = invoked(code, {"sum": "2+2"}, method)
    assert (answer["result"], answer["notes"]) == (output, [])
    assert Usage.model_validate(answer["usage"]) == KNOWN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "usage", "notes"),
    [
        ("runnable = ASKED | FakeListLLM(responses=['4'])", None, 1),
        ("runnable = ASKED | model(usage=None)", None, 1),
        ("runnable = ASKED | model() | StrOutputParser() | model(usage=None)", None, 1),
        ("runnable = ASKED", None, 0),
        ("runnable = ASKED | model(usage=USAGE | {'output_token_details': {}})", {"reasoning_tokens": None}, 0),
        (
            "runnable = ASKED | model() | StrOutputParser() | model()",
            {"input_tokens": 100, "cache_read_tokens": 200, "total_tokens": 1180},
            0,
        ),
    ],
)
def test_tokens_that_nobody_told_are_unknown(code: str, usage: dict[str, int | None] | None, notes: int) -> None:
    """Model calls add up; where one of them is silent the sum is unknown, never too small and never 0."""
    answer = invoked(code, {"sum": "2+2"})
    assert len(answer["notes"]) == notes
    if usage is None:
        assert answer["usage"] is None
    else:
        assert Usage.model_validate(answer["usage"]).model_dump().items() >= usage.items()


def test_each_call_has_its_own_tokens() -> None:
    """The tokens of one call are not counted again in the next."""
    names: dict[str, Any] = {}
    exec(MODELS + "runnable = ASKED | model()", names)
    call = prepare(names["runnable"], {"method": None}, wait)
    first, second = call({"sum": "1"}), call({"sum": "1"})
    assert first["usage"] == second["usage"]


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ("[Model(), {'a': Model()}]", [{"x": "y"}, {"a": {"x": "y"}}]),
        ("{'messages': (HumanMessage('a'), AIMessage('b'))}", {"messages": ["a", "b"]}),
        ("AIMessage([{'type': 'text', 'text': 'a'}])", [{"type": "text", "text": "a"}]),
        ("None", None),
        ("value['sum']", "2+2"),
    ],
)
def test_what_results_become(result: str, output: object) -> None:
    """Messages become their content and models dicts, also inside of lists and dicts."""
    code = f"class Model(BaseModel):\n    x: bytes = b'y'\nrunnable = RunnableLambda(lambda value: {result})"
    assert invoked(code, {"sum": "2+2"})["result"] == output


def test_tool_calls_are_left_out_aloud() -> None:
    """A message that asks for tools has an empty content, and a note says why."""
    code = "runnable = ASKED | model('', tool_calls=[{'name': 'add', 'args': {}, 'id': '1'}])"
    answer = invoked(code, {"sum": "2+2"})
    assert answer["result"] == ""
    assert answer["notes"] == ["the message asks for tool calls, which are not in the output"]


def test_a_chain_that_is_async_only_wants_ainvoke() -> None:
    """The setting chooses the method; the default is invoke, and LangChain says what to use instead."""
    code = "async def answer(_): return 'asynchronous'\nrunnable = RunnableLambda(answer)"
    assert invoked(code, {}, "ainvoke")["result"] == "asynchronous"
    with pytest.raises(TypeError, match="ainvoke"):
        invoked(code, {})


def test_a_method_that_does_not_exist_is_known_before(tmp_path: Path) -> None:
    """Settings are checked before anything runs."""
    (problem,) = langchain_adapter().check_target(like(tmp_path, config={"method": "stream"}))
    assert "'method' must be 'invoke' or 'ainvoke'" in problem.message


LIKE = """
import os, time

class Runnable:
    def invoke(self, data):
        if data == "crash":
            os._exit(1)
        if data == "raise":
            raise ValueError("no good")
        if data == "garble":
            return object()
        if data == "wait":
            time.sleep(60)
        return dict(os.environ) if data == "env" else {"echo": data}

runnable = Runnable()
number = 3
"""


def like(folder: Path, **changes: Any) -> Target:
    """A target that looks like a runnable and needs no LangChain."""
    (folder / "like.py").write_text(LIKE)
    return Target(**{"id": "like", "adapter": "langchain", "entrypoint": "like.py", "root": str(folder), **changes})


@pytest.mark.slow
def test_contract(tmp_path: Path) -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    check_adapter(
        Maker(ADAPTERS, MODULE),
        like(tmp_path),
        AdapterInputs(
            good={"a": 1},
            other={"b": [1, 2.5, None]},
            slow="wait",
            failing=["crash", "raise", "garble"],
            environment="env",
        ),
        failing_targets=[like(tmp_path, id="number", entrypoint="like:number")],
        wrong_targets=[
            like(tmp_path, entrypoint="like"),
            like(tmp_path, entrypoint="like:chain"),
            like(tmp_path, config={"methode": "invoke"}),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing imports nothing heavy."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)


def test_langchain_is_no_need_of_the_plugin() -> None:
    """It is imported where the skill runs, so whoever installs the adapter does not install it."""
    assert not [wanted for wanted in requires("skillgauge-adapter-langchain") or () if wanted.startswith("langchain")]


class Both:
    """Has both methods."""

    def invoke(self, value: object) -> object:
        """Says which."""
        return ["invoke", value]

    async def ainvoke(self, value: object) -> object:
        """Says which."""
        return ["ainvoke", value]


class OnlyAsync:
    """Has one method."""

    async def ainvoke(self, value: object) -> object:
        """Says which."""
        return ["ainvoke", value]


@pytest.mark.parametrize(
    ("found", "method", "result"),
    [
        (Both(), None, ["invoke", 1]),
        (Both(), "ainvoke", ["ainvoke", 1]),
        (Both, None, ["invoke", 1]),
        (lambda: Both(), None, ["invoke", 1]),
        (OnlyAsync(), None, ["ainvoke", 1]),
        (3, None, "an object of type int, which is no runnable"),
        (lambda: 3, None, "what the factory made, an object of type int, has no method 'invoke'"),
        (OnlyAsync(), "invoke", "an object of type OnlyAsync, has no method 'invoke'"),
        (len, None, "takes exactly one argument"),
    ],
)
def test_what_counts_as_a_runnable(found: object, method: str | None, result: object) -> None:
    """Objects with the method, and functions and classes that make one; anything else is refused with its type."""
    if isinstance(result, str):
        with pytest.raises(TypeError, match=result):
            prepare(found, {"method": method}, wait)
    else:
        assert prepare(found, {"method": method}, wait)(1) == {"result": result, "usage": None, "notes": []}


counts = st.integers(0, 10**9)
into = st.dictionaries(st.sampled_from(["cache_read", "cache_creation", "audio"]), counts | st.none())
out = st.dictionaries(st.sampled_from(["reasoning", "audio"]), counts | st.booleans())
usages = st.fixed_dictionaries(
    {},
    optional={
        "input_tokens": counts,
        "output_tokens": counts | st.none(),
        "total_tokens": counts | st.floats(),
        "input_token_details": st.none() | into,
        "output_token_details": st.none() | out,
    },
)


@given(st.lists(usages | st.none(), max_size=4))
def test_sums_are_sums_or_unknown(told: list[dict[str, Any] | None]) -> None:
    """Whatever providers say, a field is the sum over all calls or unknown, and fits the model of usage."""
    found = usage_of(told)
    if not told or not all(told):
        assert found is None
        return
    assert found is not None
    Usage.model_validate(found)
    for name in Usage.model_fields:
        parts = [tokens(usage or {}).get(name) for usage in told]
        assert found.get(name) == (None if None in parts else sum(part or 0 for part in parts))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 9, "input_token_details": {"cache_creation": 3, "cache_read": 4}}, (2, 4, 3)),
        (
            {
                "input_tokens": 150,
                "input_token_details": {
                    "cache_creation": 0,
                    "ephemeral_5m_input_tokens": 80,
                    "ephemeral_1h_input_tokens": 20,
                    "cache_read": None,
                },
            },
            (50, None, 100),
        ),
        ({"input_tokens": 9}, (9, None, None)),
        ({"input_tokens": 9, "input_token_details": {"cache_read": 10}}, (None, 10, None)),
        ({"input_tokens": True}, (None, None, None)),
    ],
)
def test_input_is_told_apart_from_the_cache(usage: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    """LangChain counts cached tokens as input, we do not; a contradiction makes the input unknown."""
    found = tokens(usage)
    assert (found.get("input_tokens"), found.get("cache_read_tokens"), found.get("cache_write_tokens")) == expected


def test_values_without_objects_stay_as_they_are() -> None:
    """What is no message and no model passes, for JSON to judge."""
    marker = object()
    assert plain({"a": [1, "x", (None, marker)]}, []) == {"a": [1, "x", [None, marker]]}


SUMS = """
def add(asked):
    return model(str(sum(int(part) for part in asked.split("+")))).invoke(asked)

sums = ASKED | RunnableLambda(add) | StrOutputParser()
"""


def skillgauge(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a clean environment."""
    environment = {"HOME": str(cwd), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "skillgauge", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


@pytest.mark.e2e
@pytest.mark.skipif(not find_spec("skillgauge_format_eval_skills"), reason="needs the format plugin")
@pytest.mark.requirement("ES-ADAPT-007")
@pytest.mark.slow
def test_the_whole_program(tmp_path: Path) -> None:
    """`eval` serves adapterType langchain: a real chain on a benchmark, with its tokens in the results."""
    (tmp_path / "chain.py").write_text(f"{MODELS}\n{SUMS}")
    described = {"id": "sums", "name": "Sums", "version": "1.0.0", "description": "", "entrypoint": "chain:sums"}
    (tmp_path / "skill.json").write_text(json.dumps({**described, "adapterType": "langchain"}))
    (tmp_path / "adapter.config.json").write_text(json.dumps({"type": "langchain", "method": "invoke"}))
    tasks = [
        {
            "id": name,
            "description": name,
            "inputData": {"sum": asked},
            "expectedOutput": {"type": "exact", "value": value},
            "evaluator": {"type": "exact"},
        }
        for name, asked, value in [("right", "2+2", "4"), ("wrong", "2+2", "5"), ("raises", "two", "2")]
    ]
    benchmark = {"id": "adding", "name": "Adding", "version": "1.0.0", "tasks": tasks}
    (tmp_path / "adding.json").write_text(json.dumps(benchmark))
    done = skillgauge("eval", "--skills", "skill.json", "--benchmark", "adding.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = {one["case_id"]: one for one in json.loads(done.stdout)["results"]}
    assert {name: one["verdict"] for name, one in results.items()} == {
        "right": "pass",
        "wrong": "fail",
        "raises": "fail",
    }
    assert results["right"]["execution"]["output"] == "4"
    assert results["right"]["execution"]["usage"]["total_tokens"] == 590
    assert results["raises"]["execution"]["failure"]["message"].startswith("ValueError: invalid literal")
    assert "usage" not in results["raises"]["execution"]

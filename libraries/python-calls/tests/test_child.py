"""What the child process makes of results and exceptions, and what is read of its replies."""

from __future__ import annotations

import ast
import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import canonical_json, thaw
from skillgauge_python_calls.child import TEXT_CHARS, TRACE_CHARS, Waiting, raised, reply_to
from skillgauge_python_calls.worker import Reply, read_reply

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def replied(result: Any, limit: int = 10_000_000) -> Reply:
    """What arrives of a result."""
    reply = reply_to(lambda _: {"result": result}, {"input": None, "limit": limit}, ".")
    encoded = reply.pop("result", None)
    line = json.dumps({"id": 7, **reply}).encode()
    if encoded is not None:
        line = line[:-1] + b', "result": ' + encoded + b"}"
    read = read_reply(line, 7)
    assert read is not None
    return read


@given(json_values)
def test_every_json_value_arrives(value: Any) -> None:
    """Whatever JSON a skill returns comes back equal, as the json module of Python understands it."""
    assert canonical_json(thaw(replied(value).result)) == canonical_json(value)


@given(
    st.recursive(
        st.none() | st.text(st.characters(categories=["Cs", "L"])) | st.floats() | st.binary(), st.lists, max_leaves=5
    )
)
def test_no_value_breaks_the_stream(value: Any) -> None:
    """Half surrogate pairs, numbers that are none and bytes give a reply that says so."""
    reply = replied(value)
    assert reply.unusable is None or "no JSON value" in reply.unusable


def test_keys_and_tuples_are_written_as_python_does() -> None:
    """A number as a key becomes a text, a tuple a list."""
    assert thaw(replied({1: (2, 3)}).result) == {"1": [2, 3]}


def test_the_limit_is_for_the_result_as_json() -> None:
    """A result of exactly the limit is taken, one byte more is not."""
    assert replied("é" * 4, limit=10).result == "éééé"
    assert replied("é" * 5, limit=10).unusable == "the result has 12 bytes as JSON, the limit is 10"


class MuteError(Exception):
    """Has no text to give."""

    def __str__(self) -> str:
        raise RuntimeError("no")


class Odd(dict[str, Any]):
    """Raises when it is looked at."""

    def items(self) -> Any:
        """Not even that."""
        raise OSError("disk on fire")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no good"), "ValueError: no good"),
        (ValueError(), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(3), "SystemExit: 3"),
        (MuteError(), "MuteError: its text cannot be had"),
        (ExceptionGroup("two", [ValueError("a"), TypeError("b")]), "ExceptionGroup: two (2 sub-exceptions)"),
    ],
)
def test_an_exception_in_a_line(error: BaseException, message: str) -> None:
    """Its type and its text."""
    assert raised(error)["raised"] == message


def test_long_texts_and_traces_are_cut() -> None:
    """A text keeps its beginning, a trace its end."""

    def deep(number: int) -> None:
        if number == 0:
            raise ValueError("x" * 100_000)
        deep(number - 1)

    with pytest.raises(ValueError, match="xxx") as caught:
        deep(50)
    told = raised(caught.value)
    assert len(told["raised"]) == TEXT_CHARS + len("ValueError: ")
    assert told["raised"].endswith("…")
    assert len(told["trace"]) == TRACE_CHARS


def test_a_result_that_raises_when_it_is_written() -> None:
    """That is no JSON value either."""
    assert replied(Odd(a=1)).unusable == "the result of type Odd is no JSON value: disk on fire"


def test_waiting_gives_what_is_awaitable_and_what_is_not() -> None:
    """A coroutine is awaited, anything else is itself."""

    async def later() -> str:
        return "later"

    wait = Waiting()
    assert (wait("now"), wait(later()), wait(later())) == ("now", "later", "later")
    wait._loop.close()


@pytest.mark.parametrize(
    "line",
    [b"", b"hello", b"{}", b'{"id": 17, "result": 1}', b'{"id":1, "result": 1}', b'  {"id": 1, "result": 1}', b"\xff"],
)
def test_noise_is_no_reply(line: bytes) -> None:
    """Lines of another program, and answers to another question, are passed over."""
    assert read_reply(line, 1) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"id": 1, "result": [1', "cannot be read"),
        (b'{"id": 1, "result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "cannot be read"),
        (b'{"id": 1, "result": NaN}', "no JSON value"),
        (b'{"id": 1, "result": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_a_reply_that_cannot_be_read_is_one(line: bytes, words: str) -> None:
    """Its call fails instead of waiting for ever."""
    reply = read_reply(line, 1)
    assert reply is not None
    assert words in (reply.unusable or "")


def test_words_of_a_reply_can_be_stored() -> None:
    """Texts lose their halves of surrogate pairs."""
    reply = read_reply(b'{"id": 1, "raised": "E: \\ud800", "trace": "\\udfff", "notes": ["\\ud800"]}', 1)
    assert reply == Reply(raised="E: ?", trace="?", notes=("?",))
    assert reply is not None
    assert Reply.model_validate_json(reply.model_dump_json()) == reply


def test_the_child_needs_nothing_new_and_nothing_of_ours() -> None:
    """Its program is Python 3.9 and imports the standard library alone."""
    tree = ast.parse(files("skillgauge_python_calls").joinpath("child.py").read_text("utf-8"), feature_version=(3, 9))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not [name for name in imported if name.startswith(("skillgauge", "pydantic"))]

"""JSON-RPC as skills write it, good and bad."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_adapter_subprocess.wire import Answer, NoAnswer, find_answer, request

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def line(**message: object) -> bytes:
    """An answer line with the given members."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@given(json_values)
def test_every_result_survives_the_wire(value: object) -> None:
    """Whatever JSON a skill answers arrives unchanged."""
    answer = find_answer(line(id=1, result=value))
    assert json.loads(json.dumps(answer.result)) == json.loads(json.dumps(value))


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="{}"), max_size=30), max_size=5))
def test_noise_around_the_answer_is_ignored(noise: list[str]) -> None:
    """A skill may log to stdout before and after its answer."""
    before = "\n".join(noise).encode("utf-8", "replace")
    assert find_answer(before + b"\n" + line(id=1, result="x") + before).result == "x"


def test_the_last_valid_answer_counts() -> None:
    """Of several answers the last one is the answer."""
    assert find_answer(line(id=1, result="first") + line(id=1, result="last")).result == "last"


def test_a_later_wrong_line_does_not_hide_a_valid_one() -> None:
    """An object that is no answer is noise, wherever it stands."""
    assert find_answer(line(id=1, result="x") + b'{"level": "info"}\n' + line(id=7, result="y")).result == "x"


def test_a_null_id_and_a_null_result_are_answers() -> None:
    """The specification allows a null id for an error that was found early, and null is a result."""
    assert find_answer(line(id=None, result=None)) == Answer(result=None)


def test_a_pretty_printed_answer_is_read() -> None:
    """An answer over several lines counts if it is all there is."""
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"result": "4"}}, indent=2)
    assert find_answer(text.encode()).result == {"result": "4"}


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (b"", "wrote nothing"),
        (b"hello\n", "no line of stdout is a JSON-RPC answer"),
        (line(id=2, result="x"), "id 2 instead of 1"),
        (line(id="1", result="x"), 'id "1" instead of 1'),
        (line(id=True, result="x"), "id true instead of 1"),
        (line(result="x"), 'id "absent" instead of 1'),
        (line(id=1), "neither result nor error"),
        (b'{"id": 1, "result": "x"}\n', '"jsonrpc": "2.0"'),
        (b'{"jsonrpc": "2.0", "id": 1, "result": NaN}\n', "no JSON value"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": "\\ud800"}\n', "no JSON value"),
        (b"\xff\xfe\n", "no line of stdout"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": ' + b"[" * 5000 + b"]" * 5000 + b"}\n", "no "),
    ],
)
def test_what_is_no_answer_says_why(output: bytes, reason: str) -> None:
    """Each way of not answering is told apart."""
    with pytest.raises(NoAnswer, match=reason.replace("(", r"\(")):
        find_answer(output)


@pytest.mark.parametrize(
    ("error", "text", "retryable"),
    [
        ({"code": -32000, "message": "busy"}, "JSON-RPC error -32000: busy", True),
        ({"code": -32603, "message": "internal"}, "JSON-RPC error -32603: internal", True),
        ({"code": -32602, "message": "bad input"}, "JSON-RPC error -32602: bad input", False),
        ("odd", "JSON-RPC error None: odd", False),
    ],
)
def test_errors_are_answers(error: object, text: str, retryable: bool) -> None:
    """A reported error is an answer; only server-side ones may pass."""
    assert find_answer(line(id=1, error=error)) == Answer(error=text, retryable=retryable)


def test_the_request_is_one_line_of_utf8() -> None:
    """The request is one line, so that skills may read a line or everything."""
    text = request({"query": "naïve\n🚀"}).decode()
    assert text.count("\n") == 1
    assert json.loads(text) == {"jsonrpc": "2.0", "method": "invoke", "params": {"query": "naïve\n🚀"}, "id": 1}

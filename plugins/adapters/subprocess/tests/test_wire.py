"""JSON-RPC as skills write it, good and bad."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_adapter_subprocess.wire import FIRST_WORKER_ID, Answer, NoAnswer, answer_in, find_answer, request

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


def test_an_answer_may_hold_what_some_take_for_the_end_of_a_line() -> None:
    """A line separator of Unicode inside a string divides no answer, with noise around it too."""
    message = {"jsonrpc": "2.0", "id": 1, "result": "a\u2028b\x85c"}
    assert find_answer(b"log\n" + json.dumps(message, ensure_ascii=False).encode()).result == "a\u2028b\x85c"


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


ASKED = FIRST_WORKER_ID + 5


@given(st.text() | st.text(alphabet='\x85\u2028\u2029\r\n\\"'), st.integers(min_value=1))
def test_a_request_is_one_line_to_whoever_reads_lines(text: str, request_id: int) -> None:
    """No reader finds the end of a line inside of a request, and its meaning is the same."""
    written = request({"q": text}, method="x", request_id=request_id).decode()
    assert written.splitlines() == [written.removesuffix("\n")]
    assert json.loads(written) == {"jsonrpc": "2.0", "method": "x", "params": {"q": text}, "id": request_id}


@given(json_values)
def test_every_result_of_a_worker_survives_the_wire(value: object) -> None:
    """Whatever JSON a worker answers arrives unchanged, with characters that some take for ends of lines too."""
    message = {"jsonrpc": "2.0", "id": ASKED, "result": value}
    answer = answer_in(json.dumps(message, ensure_ascii=False).encode(), ASKED)
    assert answer is not None
    assert answer.error is None
    assert json.loads(json.dumps(answer.result)) == json.loads(json.dumps(value))


@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_answer_of_a_worker_is_passed_over(noise: bytes) -> None:
    """Bytes that are no JSON-RPC, JSON of any other kind included, neither answer nor break anything."""
    if b"jsonrpc" not in noise and b'"id"' not in noise:
        assert answer_in(noise, ASKED) is None


@pytest.mark.parametrize(
    "noise",
    [
        line(id=FIRST_WORKER_ID, result="an earlier request"),
        line(id=ASKED - 1, error={"code": 1}),
        line(method="log", params=["x"]),
        line(method="ask", id=ASKED),
        b'{"level": "error", "error": "x", "id": 3}',
        b'{"id": %d, "level": "info"}' % ASKED,
        b'{"result": 1}',
        b"{broken}",
        b"{" + b"[" * 100_000 + b"}",
    ],
)
def test_what_a_worker_may_write_besides(noise: bytes) -> None:
    """Late answers, its own notifications and requests, and logs in JSON are no answers."""
    assert answer_in(noise, ASKED) is None


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (line(id=1, result="x"), "id 1 instead of"),
        (line(id=ASKED + 1, result="x"), "instead of"),
        (line(id=str(ASKED), result="x"), "instead of"),
        (line(result="x"), 'id "absent" instead of'),
        (line(id=None, result="x"), "id null instead of"),
        (line(id=ASKED), "neither result nor error"),
        (line(id=ASKED, result=float("nan")), "no JSON value"),
        (b'{"id": %d, "result": 1}' % ASKED, '"jsonrpc": "2.0"'),
    ],
)
def test_a_broken_answer_of_a_worker_says_why(output: bytes, reason: str) -> None:
    """What means to be an answer and is none to this request is not waited out."""
    with pytest.raises(NoAnswer, match=reason):
        answer_in(output, ASKED)


def test_a_worker_may_not_have_understood_the_id() -> None:
    """An error without an id is the answer to the one request that is under way."""
    assert answer_in(line(id=None, error={"code": -32700, "message": "what?"}), ASKED) == Answer(
        error="JSON-RPC error -32700: what?"
    )

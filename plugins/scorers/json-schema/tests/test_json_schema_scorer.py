"""Validation as the reference has it, with bounds that it lacks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import DIRECT, Case, Check, Execution, Score, ScoreContext, ScoreStatus
from skillgauge_scorer_json_schema.keywords import deadline
from skillgauge_scorer_json_schema.options import JsonSchemaOptions
from skillgauge_scorer_json_schema.schemas import validator_of
from skillgauge_scorer_json_schema.scorer import JsonSchemaScorer

BACKTRACKS = r"^(a|aa)+$"
"""Takes for ever on many a with a b behind them."""


def score(schema: Mapping[str, Any], output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of an output or an agent's text."""
    context = ScoreContext(
        check=Check(id="c", scorer="json-schema"),
        case=Case(id="c"),
        execution=Execution(output=output, text=text),
        arm=DIRECT,
    )
    chosen = JsonSchemaOptions.model_validate({"schema": schema, **options})
    return asyncio.run(JsonSchemaScorer(chosen).score(context))


def refusal(schema: Any) -> str:
    """What the options model says against a schema."""
    with pytest.raises(ValidationError) as raised:
        JsonSchemaOptions.model_validate({"schema": schema})
    (detail,) = raised.value.errors()
    return str(detail["msg"]).removeprefix("Value error, ")


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server that would answer with a schema: its address, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "object"}')

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({}, None),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2.0]),
        ({"type": "object", "required": ["a"]}, '{"a": 1}'),
        ({"type": "string"}, '"quoted"'),
        ({"type": "null"}, None),
        ({"const": {"a": [1, {"b": None}]}}, {"a": [1, {"b": None}]}),
        ({"$ref": "#/definitions/n", "definitions": {"n": {"type": "number"}}}, 1),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "string"}]}, ["a", 1]),
        ({"$schema": "https://json-schema.org/draft-07/schema#", "if": {"type": "string"}, "else": {"minimum": 1}}, 2),
        ({"properties": {"a": {"$ref": "#/$defs/any"}}, "$defs": {"any": True}}, {"a": 1}),
        ({"$ref": "http://json-schema.org/draft-07/schema#"}, {"type": "object"}),
        ({"type": "string", "pattern": r"^\p{Lu}"}, '"Éa"'),
        ({"patternProperties": {r"^\p{Ll}$": {"type": "integer"}}, "additionalProperties": False}, {"é": 1}),
        ({"format": "unheard-of"}, '"x"'),
    ],
)
@pytest.mark.requirement("ES-SCORE-005")
def test_valid(schema: Mapping[str, Any], output: object) -> None:
    """A valid output passes in full; text is read as JSON; the draft is that of the schema, else draft-07."""
    found = score(schema, output)
    assert (found.status, found.value) == (ScoreStatus.PASSED, 1)


@pytest.mark.parametrize(
    ("schema", "output", "reason"),
    [
        ({"type": "object"}, [], "/ [] is not of type 'object'"),
        ({"required": ["a", "b"]}, {}, "/ 'a' is a required property; / 'b' is a required property"),
        ({"properties": {"a/b~": {"type": "string"}}}, {"a/b~": 1}, "/a~1b~0 1 is not of type 'string'"),
        ({"items": {"maximum": 1}}, [0, 2], "/1 2 is greater than the maximum of 1"),
        ({"pattern": "^a"}, '"b"', "/ 'b' does not match '^a'"),
        ({"patternProperties": {"^a": {"type": "string"}}}, {"ab": 1}, "/ab 1 is not of type 'string'"),
        (
            {"additionalProperties": False, "properties": {"a": {}}},
            {"a": 1, "c": 2, "b": 3},
            "/ Additional properties are not allowed: 'c', 'b'",
        ),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, "/a 1 is not of type 'string'"),
        ({"uniqueItems": True}, [1, [True], True, 1.0], "/ 1.0 at 3 stands there before: items are not unique"),
    ],
)
@pytest.mark.requirement("ES-SCORE-005")
def test_invalid(schema: Mapping[str, Any], output: object, reason: str) -> None:
    """Each error is told with its place, in the order of the schema; there is no partial credit."""
    found = score(schema, output)
    assert (found.status, found.value, found.reason) == (ScoreStatus.FAILED, 0, reason)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-02-29T12:00:00Z", "2024-02-29"),
        ("time", "12:00:00Z", "noon"),
        ("duration", "P1DT2H", "P"),
        ("email", "a@b.example", "a"),
        ("hostname", "a.example", "-a"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "1"),
        ("uri", "https://a.example/b", "a b"),
        ("uri-reference", "/b", "a b"),
        ("uri-template", "/{a}", "/{a"),
        ("uuid", "8c9ac2dd-5b91-4d68-9b4d-1a1d7c7a2d6b", "8c9a"),
        ("json-pointer", "/a", "a"),
        ("regex", r"\p{Lu}", "("),
    ],
)
def test_formats_are_asserted(name: str, good: str, bad: str) -> None:
    """Each format refuses what is not of it, here in draft-07, and says nothing about what is no text."""
    schema = {"items": {"format": name}}
    assert score(schema, [good, 1]).status is ScoreStatus.PASSED
    assert score(schema, [bad]).reason == f"/0 {bad!r} is not a {name!r}"


@pytest.mark.parametrize("text", ["hello", "", "{'a': 1}", "NaN", "[" * 200 + "]" * 200, '"\\ud800"', "[" * 100_000])
def test_text_that_is_not_json_fails(text: str) -> None:
    """Whoever was to answer with JSON and did not has failed, and the reason says so."""
    found = score({}, text)
    assert (found.status, found.value) == (ScoreStatus.FAILED, 0)
    assert found.reason.startswith("The output is text that is not JSON: ")


NAMED = {"type": "object", "required": ["name"]}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('Here it is: {"name": "Jupiter"}.', ScoreStatus.PASSED),
        ('First {"title": 1}, [2] and {broken, then {"name": 3}', ScoreStatus.PASSED),
        ('{"name": "Jupiter"}', ScoreStatus.PASSED),
        ('Here it is: {"title": "Jupiter"}.', ScoreStatus.FAILED),
        ('Within another: {"planet": {"name": "Jupiter"}}', ScoreStatus.FAILED),
        ("Nothing of that kind.", ScoreStatus.FAILED),
        ("", ScoreStatus.FAILED),
    ],
)
def test_anywhere_in_a_text(text: str, status: ScoreStatus) -> None:
    """With `anywhere` one valid object or list within the text is enough; without it the text is the JSON."""
    assert score(NAMED, text, anywhere=True).status is status
    whole = ScoreStatus.PASSED if text.startswith('{"name') else ScoreStatus.FAILED
    assert score(NAMED, text).status is whole


def test_anywhere_says_what_it_found() -> None:
    """That nothing was there, or what was wrong with the last that was."""
    assert score(NAMED, "Nothing.", anywhere=True).reason == "There is no JSON in the output"
    assert score(NAMED, 'It is [1] or {"a": 1}.', anywhere=True).reason == "/ 'name' is a required property"
    assert score(NAMED, {"name": 1}, anywhere=True).status is ScoreStatus.PASSED  # a value is what it is


@pytest.mark.parametrize(
    ("text", "anywhere", "reason"),
    [
        ('{"name": 1}', False, "The output is valid"),
        ('So: {"name": 1}', True, "The output holds what is valid"),
    ],
)
def test_absent_fails_what_is_valid(text: str, anywhere: bool, reason: str) -> None:
    """With `absent` what would pass fails, and the reason says so."""
    found = score(NAMED, text, anywhere=anywhere, absent=True)
    assert (found.status, found.value, found.reason) == (ScoreStatus.FAILED, 0, reason)


@pytest.mark.parametrize(
    ("text", "anywhere"),
    [('{"title": 1}', False), ("no JSON", False), ("[" * 100_000, False), ('So: {"title": 1}', True), ("none", True)],
)
def test_absent_passes_what_is_not_valid(text: str, anywhere: bool) -> None:
    """What would fail passes, that there is no JSON at all, too."""
    found = score(NAMED, text, anywhere=anywhere, absent=True)
    assert (found.status, found.value) == (ScoreStatus.PASSED, 1)


def test_absent_decides_nothing_that_is_open() -> None:
    """Validation that did not end says nothing about the contrary either."""
    endless = {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}}
    assert score(endless, 1, absent=True).status is ScoreStatus.UNGRADED
    assert score({}, "[" * 5_000, anywhere=True, absent=True, timeout_s=1e-9).status is ScoreStatus.UNGRADED


def test_answer_of_an_agent_is_its_text() -> None:
    """Where there is no output, the final text is read; an output rules over it."""
    assert score({"type": "object"}, text='{"a": 1}').status is ScoreStatus.PASSED
    assert score({"type": "object"}, [1], text='{"a": 1}').status is ScoreStatus.FAILED


def test_reason_is_bounded() -> None:
    """Many long errors become ten cut ones; the evidence has their places and keywords."""
    found = score({"items": {"type": "integer"}}, ["x" * 1000] * 50)
    assert found.reason.count("more characters)") == 10
    assert found.reason.endswith("; and more")
    assert len(found.reason) < 5_000
    assert found.evidence["errors"][9] == {"path": "/9", "keyword": "type"}  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ([], "must be an object"),
        ({"type": "objekt"}, "/type: 'objekt' is not valid under any of the given schemas"),
        ({"properties": {"a": {"minimum": "1"}}}, "/properties/a/minimum: '1' is not of type 'number'"),
        ({"pattern": "("}, "/pattern: '(' is not a 'regex'"),
        ({"$schema": "http://example.com/mine"}, "/$schema: 'http://example.com/mine' is no draft"),
        ({"$schema": 7}, "/$schema: 7 is no draft"),
        ({"$ref": "#/definitions/a"}, "reference '#/definitions/a' leads to nothing inside the schema"),
        ({"$ref": "other.json"}, "reference 'other.json' leads to nothing inside the schema"),
        ({"$ref": "#/title", "title": "x"}, "reference '#/title': leads to something that is no schema"),
        ({"$ref": "#/x", "x": {"type": 1}}, "reference '#/x': /type: 1 is not valid"),
        ({"$ref": "#/x", "x": {"not": {"$ref": "#/y"}}}, "reference '#/y' leads to nothing inside the schema"),
        ({"required": [1, 2, 3, 4, 5, 6, 7]}, "; and 2 more"),
    ],
)
def test_malformed_schemas_are_refused(schema: object, told: str) -> None:
    """What is no schema is found before anything runs, with its place, references wherever they stand."""
    assert told in refusal(schema)


def test_options_are_checked() -> None:
    """The schema is required, and nothing unknown is accepted."""
    wrong: tuple[dict[str, Any], ...] = ({}, {"schema": {}, "json_schema": {}}, {"schema": {}, "timeout_s": 0})
    for options in wrong:
        with pytest.raises(ValidationError):
            JsonSchemaOptions.model_validate(options)


def test_nothing_is_fetched() -> None:
    """A server that holds what a schema refers to is never called, however the address is written."""
    with listening() as (address, asked):
        remote = {"$ref": f"{address}/other.json"}
        assert refusal(remote).startswith(f"reference '{address}/other.json' is elsewhere, and nothing is fetched")
        assert "leads to nothing" in refusal({"$id": f"{address}/mine.json", "items": {"$ref": "other.json"}})
        assert "is no draft" in refusal({"$schema": f"{address}/draft"})
        draft = "https://json-schema.org/draft/2020-12/schema"
        assert "is elsewhere" in refusal({"$schema": draft, "$dynamicRef": f"{address}/other.json#a"})
        found = score({"properties": {"$ref": {"const": f"{address}/a"}}, "$id": f"{address}/b"}, {"$ref": 1})
        assert found.status is ScoreStatus.FAILED
        assert asked == []


@pytest.mark.requirement("ES-SCORE-005")
def test_schemas_know_nothing_of_each_other() -> None:
    """Two tasks whose schemas have the same `$id` are judged each by its own."""
    one = {"$id": "https://a.example/task", "type": "string", "definitions": {"x": {"type": "string"}}}
    other = {"$id": "https://a.example/task", "$ref": "#/definitions/x", "definitions": {"x": {"type": "integer"}}}
    assert [score(schema, "1").status for schema in (one, other, one)] == [
        ScoreStatus.FAILED,
        ScoreStatus.PASSED,
        ScoreStatus.FAILED,
    ]


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": BACKTRACKS}, '"' + "a" * 60 + 'b"'),
        ({"patternProperties": {BACKTRACKS: {}}}, {"a" * 60 + "b": 1}),
        ({"patternProperties": {BACKTRACKS: {}}, "additionalProperties": False}, {"a" * 60 + "b": 1}),
    ],
)
def test_patterns_that_backtrack_do_not_hang(schema: Mapping[str, Any], output: object) -> None:
    """A pattern that would take for ever leaves the check ungraded."""
    found = score(schema, output, timeout_s=0.05)
    assert found.status is ScoreStatus.UNGRADED
    assert found.reason == "Validation was given up after 0.05 s; simplify the schema"


def test_schemas_that_branch_for_ever_do_not_hang() -> None:
    """Neither does a schema that doubles the work with each level of the answer."""
    branch = {"items": {"$ref": "#"}, "minItems": 1}
    answer: Any = []
    for _ in range(40):
        answer = [answer]
    assert score({"anyOf": [branch, branch]}, answer, timeout_s=0.05).status is ScoreStatus.UNGRADED


def test_schemas_that_go_in_circles_do_not_hang() -> None:
    """A schema that refers to itself on the spot leaves the check ungraded."""
    found = score({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}}, 1)
    assert found.status is ScoreStatus.UNGRADED
    assert "refers to itself" in found.reason


def test_long_lists_of_objects_are_compared_quickly() -> None:
    """Looking for a double among many objects is not quadratic, for which the time limit would be too short."""
    answer = [{"n": n} for n in range(20_000)]
    assert score({"uniqueItems": True}, answer, timeout_s=5).status is ScoreStatus.PASSED


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from([0.0, 1.0, 1.5, "", "a", "ab"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["", "a", "ab", "b"]), inner),
    max_leaves=8,
)
LEAVES = st.sampled_from([True, False, {"type": "integer"}, {"type": "string"}, {"pattern": "^a"}, {"minItems": 1}])
SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), LEAVES),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "^"]), LEAVES),
        "additionalProperties": LEAVES,
        "uniqueItems": st.booleans(),
        "items": LEAVES,
        "pattern": st.sampled_from(["^a", "b"]),
    },
)


@given(SCHEMAS, JSON)
def test_keywords_agree_with_the_reference(schema: dict[str, Any], value: Any) -> None:
    """Our own keywords find errors at the same places as those of the reference."""
    deadline.set(time.monotonic() + 60)
    ours = {(*error.absolute_path, error.validator) for error in validator_of(schema).iter_errors(value)}
    theirs = {
        (*error.absolute_path, error.validator) for error in jsonschema.Draft7Validator(schema).iter_errors(value)
    }
    assert ours == theirs

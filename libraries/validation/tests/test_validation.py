"""What a model refuses is explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from pydantic import AliasChoices, ConfigDict, Field, field_validator

from skillgauge.api import EMPTY, Document, Frozen, JsonObject, Origin, SuiteError, freeze
from skillgauge_validation import validate


class Part(Frozen):
    """A nested model with a bound."""

    model_config = ConfigDict(strict=True)
    scorer: str
    n: int = Field(default=1, gt=0)


class Sheet(Frozen):
    """One field of every sort that formats use."""

    model_config = ConfigDict(strict=True)
    id: str = Field(default="a", pattern="^[a-z]+$")
    timeout_ms: float | None = Field(default=None, alias="timeoutMs", gt=0)
    kind: str = Field(default="", validation_alias=AliasChoices("kind", "type"))
    check: str | Part | tuple[Part, ...] = ""
    mode: Literal["auto", "off"] | int = "auto"
    by_name: Mapping[str, Part] = Field(default_factory=dict)
    tags: tuple[str, ...] = ()
    data: JsonObject = EMPTY
    noted: Annotated[Part | None, "a remark"] = None
    listed: tuple[Annotated[Part, "each"], ...] = ()
    odd: str = ""

    @field_validator("odd")
    @classmethod
    def _never(cls, value: str) -> str:
        raise ValueError("this key is not in use")


def problems_of(value: object, *pointer: str | int) -> list[tuple[str, str]]:
    """Dotted pointer and message of every problem."""
    with pytest.raises(SuiteError) as caught:
        validate(Sheet, freeze(value), Document(None, "f.json"), *pointer)
    return [
        (
            ".".join(map(str, problem.origin.pointer if problem.origin else ())),
            f"{problem.code.removeprefix('suite.')}: {problem.message}",
        )
        for problem in caught.value.problems
    ]


def test_valid_value_makes_the_model() -> None:
    """What fits comes back as the model; a function may stand in for the document."""
    sheet = validate(Sheet, {"timeoutMs": 5, "type": "x", "check": {"scorer": "s"}}, lambda *p: Origin("f", p))
    assert (sheet.timeout_ms, sheet.kind, sheet.check) == (5, "x", Part(scorer="s"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], ("", "wrong-type: the document must be an object, not a list")),
        ({"id": "A1"}, ("id", "value: 'id' must match pattern '^[a-z]+$', not the text \"A1\"")),
        ({"timeoutMs": -1}, ("timeoutMs", "value: 'timeoutMs' must be greater than 0, not -1")),
        ({"timeoutMs": "5"}, ("timeoutMs", "wrong-type: 'timeoutMs' must be a number, not the text \"5\"")),
        ({"timeoutMS": 1}, ("timeoutMS", "unknown-key: unknown key 'timeoutMS' (did you mean timeoutMs?)")),
        ({"typ": ""}, ("typ", "unknown-key: unknown key 'typ' (did you mean type?)")),
        ({"tags": ["a", 3]}, ("tags.1", "wrong-type: 'tags[1]' must be text, not 3")),
        ({"tags": "a" * 99}, ("tags", f"wrong-type: 'tags' must be a list, not the text \"{'a' * 56}...")),
        ({"data": []}, ("data", "wrong-type: 'data' must be an object, not a list")),
        ({"id": {}}, ("id", "wrong-type: 'id' must be text, not an object")),
        ({"noted": [1]}, ("noted", "wrong-type: 'noted' must be an object, not a list")),
        (
            {"listed": [{"scorer": "", "scorr": 1}]},
            ("listed.0.scorr", "unknown-key: unknown key 'scorr' (did you mean scorer?)"),
        ),
        ({"odd": "x"}, ("odd", "value: 'odd': this key is not in use")),
        ({"by_name": {"a": {"scorer": None}}}, ("by_name.a.scorer", "wrong-type: 'scorer' must be text, not null")),
        (
            {"by_name": {"a": {"scorer": "", "nn": 1}}},
            ("by_name.a.nn", "unknown-key: unknown key 'nn' (did you mean n?)"),
        ),
        (
            {"noted": {"scorer": "", "scorr": 1}},
            ("noted.scorr", "unknown-key: unknown key 'scorr' (did you mean scorer?)"),
        ),
        ({"check": 5}, ("check", "wrong-type: 'check' must be text or an object or a list, not 5")),
        ({"check": {}}, ("check.scorer", "missing-key: 'scorer' is missing")),
        ({"check": [{"scorer": "x"}, {}]}, ("check.1.scorer", "missing-key: 'scorer' is missing")),
        ({"check": [{"scorer": "", "x": 1}]}, ("check.0.x", "unknown-key: unknown key 'x'")),
        (
            {"mode": "of"},
            (
                "mode",
                "value: 'mode' must be 'auto' or 'off' or a whole number, not the text \"of\" (did you mean off?)",
            ),
        ),
    ],
)
def test_errors_are_explained(value: object, expected: tuple[str, str]) -> None:
    """Each refusal becomes one sentence with a pointer, however many alternatives pydantic tried."""
    assert problems_of(value) == [expected]


def test_all_errors_are_told_at_once() -> None:
    """Problems of one part are told together, and pointers begin where the part stands."""
    assert problems_of({"id": 1, "tags": 2, "x": 3}, "tasks", 4) == [
        ("tasks.4.id", "wrong-type: 'id' must be text, not 1"),
        ("tasks.4.tags", "wrong-type: 'tags' must be a list, not 2"),
        ("tasks.4.x", "unknown-key: unknown key 'x'"),
    ]
    assert problems_of(3, "tasks", 4) == [("tasks.4", "wrong-type: 'tasks[4]' must be an object, not 3")]
    assert problems_of(3, 4) == [("4", "wrong-type: item [4] must be an object, not 3")]


def test_unknown_key_without_a_near_name_lists_the_known_ones() -> None:
    """The hint helps where no spelling is close."""
    with pytest.raises(SuiteError) as caught:
        validate(Part, {"scorer": "", "x": 1}, Document(None, "f.json"))
    assert caught.value.problems[0].hint == "Use one of scorer, n."

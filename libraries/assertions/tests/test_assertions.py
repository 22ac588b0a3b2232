"""What assertions say, as checks and back, and what of a file is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import FrozenDict, Origin
from skillgauge_assertions import RULES, Given, Node, Reading, TemplateError, assertions, filled, resolved

WRITTEN = [
    ("equals", "42"),
    ("contains", "a"),
    ("not-contains", "a"),
    ("icontains", "a"),
    ("regex", "a+"),
    ("not-regex", "a+"),
    ("is-json", None),
    ("contains-json", None),
    ("llm-rubric", "It is short."),
    ("factuality", "There are 42."),
    ("trajectory:tool-used", "Bash"),
    ("not-skill-used", "labels"),
]


@pytest.mark.parametrize(("kind", "value"), WRITTEN)
def test_there_and_back(kind: str, value: str | None) -> None:
    """An assertion becomes a check, and the check the same assertion."""
    plain = kind.removeprefix("not-")
    scorer, options = RULES[plain](Given(plain, kind != plain, value, None, ("labels",)))
    written = {"type": kind} | ({"value": value} if value is not None else {})
    assert assertions(scorer, options) == [written]


def test_only_variables_are_put_in() -> None:
    """A name and its members; whatever else stands in braces is an error that says so."""
    values = resolved({"a": FrozenDict({"b": 1}), "c": "{{ d }}", "d": "e"})
    assert filled("{{a.b}} {{ c }}", values) == "1 e"
    for text in ("{{ a | upper }}", "{% if a %}", "{{ x }}", "{{ a.x }}"):
        with pytest.raises(TemplateError):
            filled(text, values)


def test_what_has_no_effect_is_told_once(tmp_path: Path) -> None:
    """Keys without an effect are counted by place, and unknown ones have the nearest that is known."""
    reading = Reading(tmp_path)
    for number in (0, 0, 1):
        node = Node(FrozenDict({"kept": 1, "reed": 2}), Origin("f.yaml", (number,)))
        assert not reading.only(node, {"kept": "for people", "read": ""}, "a thing")
    assert [one.message for one in reading.told()] == ["`kept` of a thing: for people (2 times)"]
    assert "did you mean read" in reading.problems[0].message

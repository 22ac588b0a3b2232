"""Assertions that are read come back from their checks: every type of the reading table, and code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Origin, freeze
from skillgauge_assertions import RULES, Given, Node, Reading, assertions, effective, program, program_assertion

SKILLS = ("greet", "count")
WRITTEN: tuple[tuple[str, Any, float | None], ...] = (
    ("equals", "a b", None),
    ("equals", {"a": 1}, None),
    ("contains", "a.b", None),
    ("icontains", "a", None),
    ("contains-any", ["a", "b c", "d|e"], None),
    ("icontains-any", ["a", "b"], None),
    ("contains-all", ["a", "b (c)"], None),
    ("icontains-all", ["a", "b"], None),
    ("starts-with", "a+", None),
    ("regex", "a+[0-9]", None),
    ("is-json", None, None),
    ("is-json", {"type": "object"}, None),
    ("contains-json", {"type": "object"}, None),
    ("word-count", {"min": 2, "max": 5}, None),
    ("word-count", {"min": 2}, None),
    ("levenshtein", "a (b)", 3),
    ("latency", None, 2000),
    ("cost", None, 0.5),
    ("llm-rubric", "is kind", None),
    ("llm-rubric", "is kind", 0.8),
    ("factuality", "Two and two is four.", None),
    ("skill-used", "greet", None),
    ("skill-used", ["greet", "count"], None),
    ("trajectory:tool-used", "Bash", None),
    ("trajectory:tool-used", ["Bash", "Read"], None),
    ("trajectory:tool-used", {"name": "Bash", "min": 3}, None),
    ("trajectory:tool-used", {"pattern": "mcp_*.?"}, None),
    ("trajectory:tool-args-match", {"name": "Bash", "args": {"command": "ls -l"}}, None),
    ("trajectory:tool-args-match", {"pattern": "B*", "args": {"command": "ls"}}, None),
    ("trajectory:tool-sequence", ["Read", "Bash"], None),
    ("trajectory:tool-sequence", {"mode": "exact", "steps": ["Read", "Bash"]}, None),
    ("trajectory:step-count", {"type": "tool", "max": 4}, None),
)
NEGATED = ("equals", "contains", "icontains", "contains-any", "contains-all", "starts-with", "regex", "is-json")


def read(kind: str, value: Any, threshold: float | None) -> tuple[str, Any]:
    """The check of an assertion, with the options that take effect."""
    plain = kind.removeprefix("not-")
    made = RULES[plain](Given(plain, kind != plain, freeze(value), threshold, SKILLS))
    return made[0], effective(*made)


@pytest.mark.parametrize(("kind", "value", "threshold"), WRITTEN)
def test_assertions_are_written_as_they_were_meant(kind: str, value: Any, threshold: float | None) -> None:
    """One assertion is written, which is read as the same check."""
    scorer, options = read(kind, value, threshold)
    (written,) = assertions(scorer, options)
    assert read(written["type"], written.get("value"), written.get("threshold")) == (scorer, options)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(kind, value) for kind, value, _ in WRITTEN if kind in NEGATED and isinstance(value, str)]
    + [("trajectory:tool-used", "Bash"), ("trajectory:tool-used", ["Bash", "Read"]), ("is-json", None)],
)
def test_the_contrary_of_each(kind: str, value: Any) -> None:
    """So is an assertion that begins with `not-`."""
    scorer, options = read(f"not-{kind}", value, None)
    (written,) = assertions(scorer, options)
    assert read(written["type"], written.get("value"), None) == (scorer, options)


def test_what_takes_several_or_none() -> None:
    """Several texts become an assertion each; what promptfoo has no words for becomes none."""
    several = assertions("contains", {"keywords": ("a", "b"), "case_sensitive": True})
    assert several == [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b"}]
    assert assertions("regex", {"patterns": (r"a\Z",)}) == []
    assert assertions("contains", {"keywords": ("a",), "stream": "stderr"}) == []
    assert assertions("files", {"path": "a"}) == []


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("javascript", "output.length < 100"),
        ("javascript", "const n = output.length;\nreturn n > 3 && n < 9;"),
        ("javascript", "file://check.js"),
        ("javascript", "file://check.js:named"),
        ("python", "len(output) > 3"),
        ("python", "n = len(output)\nreturn n > 3"),
        ("python", "file://check.py:named"),
    ],
)
@pytest.mark.parametrize("is_negated", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_code_comes_out_of_its_program(
    kind: str, code: str, threshold: float | None, tmp_path: Path, *, is_negated: bool
) -> None:
    """The program that runs the code of an assertion gives the assertion again."""
    for name in ("check.js", "check.py"):
        (tmp_path / name).write_text("")
    node, reading = Node(code, Origin("a.yaml", ("tests", 0))), Reading(tmp_path)
    given = Given(kind, is_negated, code, threshold)
    (scorer, options), files = program(reading, node, given, {"topic": "x"}, "Say x.", 1)
    assert scorer == "command"
    found = program_assertion(options, files)
    assert found is not None
    expected = {"type": f"not-{kind}" if is_negated else kind, "value": code}
    assert found[0] == expected | ({} if threshold is None else {"threshold": threshold})
    assert program_assertion({"command": "node other.mjs"}, files) is None
    assert program_assertion(options, ()) is None


def test_programs_of_cases_lie_beside_each_other(tmp_path: Path) -> None:
    """The same code with other variables is another program, in another folder."""
    paths = set()
    for topic in ("a", "b"):
        node, given = Node("true", Origin("a.yaml")), Given("javascript", False, "true", None)
        _, files = program(Reading(tmp_path), node, given, {"topic": topic}, "Say it.", 1)
        paths |= {file.path for file in files}
    assert len(paths) == 2

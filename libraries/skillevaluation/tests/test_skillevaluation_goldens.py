"""The conformance data of skillevaluation's own wheel, through the functions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest

from skillgauge.api import SuiteError, parse_document
from skillgauge_skillevaluation import Unit, aggregate, outcome_of, read_cases, render, verdict_of

GOLDENS = files("skillevaluation").joinpath("compatibility-tests")
COUNTS = {"aggregation": 10, "outcomes": 6, "parser": 11, "trajectory": 7, "verdict": 5}
"""Fixtures that version 0.8.0 ships."""


def fixtures(category: str) -> list[Traversable]:
    """The fixtures of a category, by name."""
    found = sorted(GOLDENS.joinpath(category).iterdir(), key=lambda one: one.name)
    return [one for one in found if one.is_dir()]


def every(category: str) -> pytest.MarkDecorator:
    """Runs a test once for each fixture."""
    return pytest.mark.parametrize("golden", fixtures(category), ids=lambda one: one.name)


def parts(golden: Traversable) -> Iterator[object]:
    """Input and expectation."""
    for name in ("input.json", "expected.json"):
        yield json.loads(golden.joinpath(name).read_text("utf-8"))


@pytest.mark.requirement("SE-CONFORM-001")
def test_all_fixtures_are_there() -> None:
    """Else a category could pass because nothing is in it."""
    assert {name: len(fixtures(name)) for name in COUNTS} == COUNTS
    assert sum(COUNTS.values()) == 39


@pytest.mark.requirement("SE-CONFORM-001")
@every("outcomes")
def test_outcomes(golden: Traversable) -> None:
    """Two arms and an error make the published outcome."""
    given, wanted = parts(golden)
    assert isinstance(given, dict)
    assert {"outcome": outcome_of(**given).value} == wanted


@pytest.mark.requirement("SE-CONFORM-001")
@every("verdict")
def test_verdicts(golden: Traversable) -> None:
    """Outcomes make the published verdict."""
    given, wanted = parts(golden)
    assert isinstance(given, dict)
    assert {"verdict": verdict_of(given["outcomes"]).value} == wanted


@pytest.mark.requirement("SE-CONFORM-001")
@every("aggregation")
def test_aggregates(golden: Traversable) -> None:
    """Case records make the published aggregate, to the last digit."""
    given, wanted = parts(golden)
    assert isinstance(given, dict)
    assert aggregate(map(Unit.of, given["case_results"])).document() == wanted


@pytest.mark.requirement("SE-CONFORM-001")
@every("trajectory")
def test_trajectories(golden: Traversable) -> None:
    """Calls and spans make the published text, byte for byte."""
    given = json.loads(golden.joinpath("input.json").read_text("utf-8"))
    wanted = golden.joinpath("expected.txt").read_text("utf-8").removesuffix("\n")
    text = render(given["user_input"], given["final_output"], given["llm_calls"], given.get("spans", ()))
    assert text.encode() == wanted.encode()


@pytest.mark.requirement("SE-CONFORM-001")
@every("parser")
def test_parsing(golden: Traversable) -> None:
    """Files are read, or refused with the words that tell why."""
    text = golden.joinpath("input.yaml").read_text("utf-8")
    problems: tuple[object, ...]
    try:
        document = parse_document(text, file="eval.yaml", kind="yaml")
        cases, problems = read_cases(document.value, document.origin)
    except SuiteError as error:
        cases, problems = (), error.problems
    wanted = golden.joinpath("expected.json")
    if wanted.is_file():
        assert not problems
        assert {"cases": [case.document() for case in cases]} == json.loads(wanted.read_text("utf-8"))
        return
    told = "\n".join(map(str, problems))
    keywords = json.loads(golden.joinpath("expected-error.json").read_text("utf-8"))["message_keywords"]
    assert problems
    assert [word for word in keywords if word not in told] == []

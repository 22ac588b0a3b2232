"""Candidates: from targets of formats and from JSON files."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from skillgauge.api import Origin, SuiteError, Target, UsageError, located_all
from skillgauge_skill_selection.catalogue import Candidate, candidate_of, read_candidates, require_unique_ids
from skillgauge_skill_selection.history import KnownRate, RateSource, best_known
from skillgauge_skill_selection.parameters import RATE

SKILL = {"version": "1.0.0", "id": "a", "tags": ["x"], "adapterType": "http", "own": {"key": [1, None]}}


def test_the_skill_object_is_that_of_the_file(tmp_path: Path) -> None:
    """Keys, their order and values stay as they are written, unknown ones too."""
    path = tmp_path / "skill.json"
    path.write_text(json.dumps(SKILL))
    found = candidate_of(Target(id="a", adapter="http", tags=("x",), origin=Origin(str(path))))
    assert json.dumps(found.document) == json.dumps(SKILL)


def test_a_target_of_another_format_gets_an_object_in_its_likeness(tmp_path: Path) -> None:
    """What is no JSON object of the skill is not shown as one."""
    other = tmp_path / "evals.json"
    other.write_text('{"id": "something else"}')
    for origin in (None, Origin(str(tmp_path / "SKILL.md")), Origin(str(other)), Origin(str(other), ("id",))):
        target = Target(id="a", name="A", description="d", tags=("x",), metadata={"author": "me"}, origin=origin)
        document = dict(candidate_of(target).document)
        assert document == {
            "id": "a",
            "name": "A",
            "description": "d",
            "tags": ("x",),
            "metadata": {"author": "me"},
        }


def test_a_listed_skill_keeps_its_object(tmp_path: Path) -> None:
    """What `select --output` wrote is read back, and nothing of it is lost."""
    path = tmp_path / "selected.json"
    path.write_text(json.dumps([SKILL, {"id": "b"}]))
    candidates = read_candidates(path)
    assert candidates is not None
    assert [(one.id, one.adapter, one.tags) for one in candidates] == [("a", "http", ("x",)), ("b", None, ())]
    assert json.dumps(candidates[0].document) == json.dumps(SKILL)


def test_another_document_is_left_to_the_formats(tmp_path: Path) -> None:
    """An object is no list of skills."""
    path = tmp_path / "skill.json"
    path.write_text(json.dumps(SKILL))
    assert read_candidates(path) is None


def test_all_bad_objects_are_told_with_their_places(tmp_path: Path) -> None:
    """A list with things that are no skills names each of them."""
    path = tmp_path / "list.json"
    path.write_text('[\n{"id": "a"},\n{"name": "b"},\n3,\n{"id": "c", "tags": "x"}\n]')
    with pytest.raises(SuiteError) as error:
        read_candidates(path)
    texts = [str(problem) for problem in located_all(error.value.problems)]
    assert [text.removeprefix(str(path))[:3] for text in texts] == [":3:", ":4:", ":5:"]


def test_equal_ids_are_refused() -> None:
    """Reports name skills by id, so candidates must differ in it."""
    one, other = (Candidate(id="a", document={}, origin=Origin(file)) for file in ("x.json", "y.json"))
    require_unique_ids([one, Candidate(id="b", document={})])
    with pytest.raises(UsageError, match=r"x\.json and y\.json"):
        require_unique_ids([one, other])


def published(*results: object) -> Candidate:
    """A skill whose file publishes results."""
    return Candidate(id="a", document={"id": "a", "metadata": {"benchmarkResults": results}})


def test_the_best_known_rate_says_whose_it_is() -> None:
    """Published or measured here, whichever is higher; of equal ones the measured one."""
    own = KnownRate(rate=0.6, source=RateSource.OWN, benchmark="x", cases=20)
    results = ({"benchmarkId": "y", "completionRate": 0.5}, {"completionRate": 0.8, "timestamp": "2026-01-02"})
    best = best_known(published(*results), own)
    assert best == KnownRate(rate=0.8, source=RateSource.PUBLISHED, measured_at="2026-01-02")
    assert best_known(published(results[0]), own) == own
    assert best_known(published({"completionRate": 0.6}), own) == own
    assert best_known(published(), None) is None


@pytest.mark.parametrize("rate", [None, "0.9", True, -0.1, 1.1, [1], {"rate": 1}])
def test_what_is_no_rate_is_not_taken_for_one(rate: object) -> None:
    """A skill's metadata may say anything."""
    assert best_known(published({"completionRate": rate}, "text", None), None) is None


@pytest.mark.parametrize("metadata", [None, "text", [], {"benchmarkResults": {"completionRate": 1}}])
def test_metadata_of_any_shape(metadata: object) -> None:
    """Metadata that is no object publishes nothing."""
    assert best_known(Candidate(id="a", document={"metadata": metadata}), None) is None


@pytest.mark.requirement("ES-FIND-006")
@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "1.01", "-0.1", "abc", ""])
def test_what_is_no_rate_is_refused(text: str) -> None:
    """NaN above all: every comparison with it is false, so a filter with it would mean nothing."""
    with pytest.raises(click.BadParameter):
        RATE.convert(text, None, None)


@pytest.mark.parametrize(("text", "rate"), [("0", 0.0), ("1", 1.0), ("0.8", 0.8), ("8e-1", 0.8)])
def test_rates(text: str, rate: float) -> None:
    """Both ends belong to the range."""
    assert RATE.convert(text, None, None) == rate

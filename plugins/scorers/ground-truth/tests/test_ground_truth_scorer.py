"""Where an expected text is found, by our matching and by BenchFlow's."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    DIRECT,
    Case,
    Check,
    EventKind,
    Execution,
    FileChange,
    FileSpec,
    Score,
    ScoreContext,
    ScoreStatus,
    Trajectory,
    TrajectoryEvent,
)
from skillgauge_scorer_ground_truth.matching import between_boundaries, standing
from skillgauge_scorer_ground_truth.options import GroundTruthOptions
from skillgauge_scorer_ground_truth.scorer import MAX_BYTES, GroundTruthScorer
from skillgauge_testkit import FakeWorkspace

PUBLISHED = [
    ("5", "5", True),
    ("5", "15", False),
    ("5", "0.5", True),
    ("Paris", "paris", False),
    ("  Paris \n", "Paris.", True),
    ("New York", "New  York", False),
    ("foo", "foo_bar", False),
    ("Done.", "Done.", False),
    ("50%", "50%", False),
    ("$5", "$5", False),
    ("-5", "-5", False),
    ('{"a": 1}', '{"a": 1}', False),
    ("-5", "x-5", True),
]
"""What BenchFlow's own matching decides, as measured."""

OURS = [
    *((text, found, True) for text, found, _ in PUBLISHED if text.strip() == found),
    ("5", "15", False),
    ("5", "0.5", False),
    ("5", "5.25", False),
    ("5", "1,5", False),
    ("5", "-5", False),
    ("5", "is -5", False),
    ("5", "room a-5", True),
    ("5", "It is 5.", True),
    ("5", "(5)", True),
    ("5", "5, 6", True),
    ("50%", "150%", False),
    ("$5", "US$5", True),
    ("$5", "$5.30", False),
    ("-5", "x-5", False),
    ("New York", "New\nYork", True),
    ("Paris", "paris", False),
    ("foo", "foo_bar", False),
    ("Zürich", "in Zürich, late", True),
    ("東京", "東京タワー", False),
]


@pytest.mark.parametrize(("text", "found", "passes"), OURS)
def test_a_text_that_stands_by_itself(text: str, found: str, *, passes: bool) -> None:
    """Ends that are punctuation are fine; part of a number or word is not enough."""
    assert (standing(text).search(found) is not None) is passes


@pytest.mark.parametrize(("text", "found", "passes"), PUBLISHED)
def test_benchflows_own_verdicts(text: str, found: str, *, passes: bool) -> None:
    """The published table, wrong passes and wrong fails included."""
    assert (between_boundaries(text).search(found) is not None) is passes


@given(st.text(min_size=1).filter(str.strip))
def test_every_text_is_found_in_itself(text: str) -> None:
    """An answer that is just the expected text passes, whatever it is made of."""
    assert standing(text).search(text)
    assert standing(text).search(f"It is: {text.strip()}\n")


def context(execution: Execution, workspace: FakeWorkspace | None = None, prompt: str = "") -> ScoreContext:
    """What a scorer sees of an agent's session."""
    case = Case(id="c", prompt=prompt)
    check = Check(id="c", scorer="ground-truth")
    return ScoreContext(check=check, case=case, execution=execution, arm=DIRECT, workspace=workspace)


def score(text: str, given: ScoreContext, matching: str = "answer") -> Score:
    """The score of a session."""
    options = GroundTruthOptions.model_validate({"text": text, "matching": matching})
    return asyncio.run(GroundTruthScorer(options).score(given))


def workspace(**files: str) -> FakeWorkspace:
    """A workspace with files."""
    made = FakeWorkspace()
    asyncio.run(made.put([FileSpec(path=path.replace("_", "."), text=text) for path, text in files.items()]))
    return made


def test_files_that_the_agent_left() -> None:
    """What it made or changed counts; what was there before does not, and neither does a large file."""
    left = workspace(out_txt="the sum is 42\n", given_txt="17\n", large_txt="99\n" + "x" * MAX_BYTES)
    changes = (FileChange(path="out.txt", change="created"), FileChange(path="large.txt", change="created"))
    session = context(Execution(text="See out.txt.", files=changes), left)
    assert score("42", session).status is ScoreStatus.PASSED
    assert [score(text, session).status for text in ("17", "99")] == [ScoreStatus.FAILED] * 2
    assert score("17", session, "benchflow").status is ScoreStatus.PASSED


def test_a_workspace_that_is_gone() -> None:
    """Without its files nobody knows what an agent wrote into them."""
    changes = (FileChange(path="out.txt", change="created"),)
    gone = context(Execution(text="See out.txt.", files=changes))
    assert score("42", gone).status is ScoreStatus.UNGRADED
    assert score("out.txt", gone).status is ScoreStatus.PASSED
    assert score("42", context(Execution(text="none"))).status is ScoreStatus.FAILED


def test_the_question_and_what_tools_said_are_no_answer() -> None:
    """An agent that only repeats what it was told passes with BenchFlow's matching alone."""
    events = (
        TrajectoryEvent(kind=EventKind.TOOL_RESULT, text="SKILL.md: the answer is Lima"),
        TrajectoryEvent(kind=EventKind.MESSAGE, text="I found Quito."),
    )
    session = context(
        Execution(text="I am done.", trajectory=Trajectory(events=events)), workspace(), prompt="Is it Bogota?"
    )
    assert [score(city, session).status.value for city in ("Bogota", "Lima", "Quito")] == ["failed", "failed", "passed"]
    assert [score(city, session, "benchflow").status.value for city in ("Bogota", "Lima", "Quito")] == ["passed"] * 3


def test_nothing_is_expected() -> None:
    """A case without an answer never passes."""
    assert score("  ", context(Execution(text=json.dumps("")))).status is ScoreStatus.FAILED

"""Keywords in a text, as eval-skills has it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import (
    DIRECT,
    Case,
    Check,
    EventKind,
    Execution,
    Score,
    ScoreContext,
    ScoreStatus,
    Trajectory,
    TrajectoryEvent,
)
from skillgauge_scorer_contains.options import ContainsOptions
from skillgauge_scorer_contains.scorer import ContainsScorer


def score(keywords: list[str], output: Any = None, *, text: str | None = None, **options: Any) -> Score:
    """The score of an output or an agent's text."""
    check = Check(id="c", scorer="contains")
    context = ScoreContext(check=check, case=Case(id="c"), execution=Execution(output=output, text=text), arm=DIRECT)
    chosen = ContainsOptions.model_validate({"keywords": keywords, **options})
    return asyncio.run(ContainsScorer(chosen).score(context))


@pytest.mark.parametrize(
    ("keywords", "output"),
    [
        (["Paris"], "in paris"),
        (["a", "b"], "b a"),
        (['"result":"x"'], {"result": "x"}),
        (["résumé", "日本"], {"result": "RÉSUMÉ 日本"}),
        (["result"], {"result": 1}),
        ([":25,", "[1.0,2.5]"], {"a": 25, "b": [1.0, 2.5]}),
        (["true"], True),
        (["42"], 42),
        ([""], ""),
        (["1e+300"], 1e300),
    ],
)
def test_contained(keywords: list[str], output: object) -> None:
    """Text is searched as it is, anything else as compact JSON with its keys."""
    assert score(keywords, output).status is ScoreStatus.PASSED


@pytest.mark.requirement("ES-SCORE-003")
def test_partial_credit() -> None:
    """The value is the share of keywords found; only all of them pass."""
    found = score(["red", "green", "blue"], {"result": "red green"})
    assert found.status is ScoreStatus.FAILED
    assert found.value == pytest.approx(2 / 3)
    assert found.reason == 'Missing keywords: "blue" (2/3 matched), got "{"result":"red green"}"'
    assert found.evidence == {"missing": ("blue",), "matched": 2, "total": 3}


@pytest.mark.requirement("ES-SCORE-004")
def test_case_counts_only_if_asked() -> None:
    """Upper and lower case are the same unless the check says otherwise."""
    assert score(["PARIS"], "Paris").status is ScoreStatus.PASSED
    assert score(["PARIS"], "Paris", case_sensitive=True).status is ScoreStatus.FAILED


def test_no_keywords_pass() -> None:
    """An empty list asks nothing, as in the original."""
    found = score([], "x")
    assert (found.status, found.reason) == (ScoreStatus.PASSED, "No keywords to check")


def test_answer_of_an_agent_is_its_text() -> None:
    """Where there is no output, the final text is searched; an output rules over it."""
    assert score(["done"], text="All done.").status is ScoreStatus.PASSED
    assert score(["done"], "no", text="done").status is ScoreStatus.FAILED


def test_long_lists_and_keywords_are_cut() -> None:
    """A reason stays readable; the evidence has all."""
    found = score(["k" * 150, *(f"absent{n}" for n in range(30))], "x")
    assert f'"{"k" * 100}… (50 more characters)"' in found.reason
    assert found.reason.endswith(' and 11 more (0/31 matched), got "x"')
    assert score(["k" * 100], "x").reason == f'Missing keywords: "{"k" * 100}" (0/1 matched), got "x"'
    twenty = score([f"absent{n}" for n in range(20)], "x")
    assert twenty.reason.endswith('"absent18", "absent19" (0/20 matched), got "x"')
    assert found.evidence["missing"][30] == "absent29"  # type: ignore[index,call-overload]  # a tuple, see above


def test_options_are_checked() -> None:
    """Keywords are required and are texts, and nothing unknown is accepted."""
    for options in ({}, {"keywords": "text"}, {"keywords": [1]}, {"keywords": [], "value": 1}):
        with pytest.raises(ValidationError):
            ContainsOptions.model_validate(options)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5), st.text())
def test_value_is_the_share_of_the_keywords(keywords: list[str], text: str) -> None:
    """On random texts the value agrees with a count of its own."""
    share = sum(keyword in text for keyword in keywords) / len(keywords)
    assert score(keywords, text, case_sensitive=True).value == pytest.approx(share)


def of_streams(keywords: list[str], stdout: str | None, stderr: str | None, **options: Any) -> Score:
    """The score of what a process wrote."""
    execution = Execution(output="answer", stdout=stdout, stderr=stderr)
    check = Check(id="c", scorer="contains")
    context = ScoreContext(check=check, case=Case(id="c"), execution=execution, arm=DIRECT)
    return asyncio.run(ContainsScorer(ContainsOptions.model_validate({"keywords": keywords, **options})).score(context))


def test_streams_are_searched_by_themselves() -> None:
    """A keyword counts in the stream that is asked for, and never where one stream ends and the other begins."""
    assert of_streams(["out"], "out", "err", stream="stdout").status is ScoreStatus.PASSED
    assert of_streams(["err"], "out", "err", stream="stdout").status is ScoreStatus.FAILED
    assert of_streams(["out", "err"], "out", "err", stream="both").status is ScoreStatus.PASSED
    assert of_streams(["outerr"], "out", "err", stream="both").status is ScoreStatus.FAILED
    assert of_streams(["answer"], "out", "err", stream="both").status is ScoreStatus.FAILED


def test_absent() -> None:
    """None of the keywords may be there, and those that are get named."""
    assert of_streams(["Traceback"], "fine", "", stream="both", absent=True).status is ScoreStatus.PASSED
    found = of_streams(["Traceback", "ERROR"], "fine", "an ERROR", stream="both", absent=True)
    assert found.status is ScoreStatus.FAILED
    assert found.value == pytest.approx(0.5)
    assert found.reason == 'Keywords that must not be there in stdout or stderr: "ERROR" (1/2 absent)'


def test_unknown_stream_is_ungraded() -> None:
    """What an adapter does not tell holds no keyword and lacks none."""
    assert of_streams(["x"], "out", None, stream="both", absent=True).status is ScoreStatus.UNGRADED
    assert of_streams(["x"], None, "err", stream="stdout").status is ScoreStatus.UNGRADED


def test_messages_are_all_that_an_agent_said() -> None:
    """What it said on its way counts, what tools answered does not."""
    events = (
        TrajectoryEvent(kind=EventKind.MESSAGE, text="first I look"),
        TrajectoryEvent(kind=EventKind.TOOL_RESULT, text="secret of a tool"),
    )
    execution = Execution(text="the end", trajectory=Trajectory(events=events))
    context = ScoreContext(
        check=Check(id="c", scorer="contains"), case=Case(id="c", prompt="p"), execution=execution, arm=DIRECT
    )
    for keywords, passes in ((["first", "end"], True), (["secret"], False)):
        options = ContainsOptions.model_validate({"keywords": keywords, "stream": "messages"})
        found = asyncio.run(ContainsScorer(options).score(context))
        assert (found.status is ScoreStatus.PASSED) is passes

"""A judge without a model, asked by the scorer that asks judges."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from skillgauge.api import Execution, JudgeRequest, ScoreStatus
from skillgauge_judge_mock.judge import MockJudge
from skillgauge_testkit import check_light_import, check_plugin, score_context

rubric = pytest.importorskip("skillgauge_scorer_rubric.scorer")
options = pytest.importorskip("skillgauge_scorer_rubric.options")

MODULE = "skillgauge_judge_mock.plugin"


def status(said: str, **asked: object) -> ScoreStatus:
    """What becomes of a check by this judge."""
    context = replace(score_context(execution=Execution(text=said)), judge=MockJudge())
    scorer = rubric.RubricScorer(options.RubricOptions.model_validate(asked))
    return ScoreStatus(asyncio.run(scorer.score(context)).status)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"claims": ["Two LINES\n3. of text"]}, ScoreStatus.PASSED),
        ({"claims": ["two lines", "nothing like it"]}, ScoreStatus.FAILED),
        ({"criteria": ["two lines", "of text"]}, ScoreStatus.PASSED),
        ({"criteria": "not there"}, ScoreStatus.FAILED),
        ({"claims": ["two lines"] * 12}, ScoreStatus.PASSED),
        ({"criteria": "two lines", "scale": "0-10"}, ScoreStatus.UNGRADED),
    ],
)
def test_a_statement_holds_if_its_text_is_there(asked: dict[str, object], wanted: ScoreStatus) -> None:
    """Upper and lower case are alike; what it cannot answer it leaves open."""
    assert status("Here: two lines\n3. of text.", **asked) is wanted


def test_an_empty_output_holds_nothing() -> None:
    """Not even a statement of one character."""
    assert status("", claims=["a"]) is ScoreStatus.FAILED


def test_other_questions_are_refused() -> None:
    """With a reason, never with a guess."""
    reply = asyncio.run(MockJudge().ask(JudgeRequest(system="s", user="how good?")))
    assert reply.text is None
    assert "claims" in str(reply.error)
    assert asyncio.run(MockJudge().check()) == ()
    assert MockJudge().identity("any").complete


def test_announcements() -> None:
    """Hooks, providers and entry points fit together."""
    check_plugin(MODULE, "judges")
    check_light_import(MODULE)

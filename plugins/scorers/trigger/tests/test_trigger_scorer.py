"""Whether the right skill fired."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    Arm,
    ArmKind,
    Execution,
    FiredSkill,
    JsonObject,
    Score,
    ScoreStatus,
    SkillRef,
    Target,
    Trajectory,
)
from skillgauge_scorer_trigger.options import TriggerOptions
from skillgauge_scorer_trigger.scorer import TriggerScorer
from skillgauge_testkit import score_context

PDF = Target(id="pdf")
NAMES = st.sampled_from(["pdf", "pdf-pro", "csv", "mail"])


def score(
    options: JsonObject,
    fired: tuple[str, ...],
    *,
    present: tuple[str, ...] = ("pdf",),
    offered: tuple[str, ...] | None = None,
    beside: bool = False,
    target: Target = PDF,
    kind: ArmKind = ArmKind.AGENT,
) -> Score:
    """The score of a session in which all that its arm has was offered, or `offered`; the skill under test is `pdf`."""
    skills = tuple(SkillRef(name=name, root="/", digest="") for name in present)
    told = tuple(FiredSkill(name=name, how="read") for name in fired)
    trajectory = Trajectory(skills_offered=present if offered is None else offered, skills_fired=told)
    context = replace(
        score_context(options=options, execution=Execution(trajectory=trajectory), target=target),
        arm=Arm(name="arm", kind=kind, skills=skills),
    )
    context = replace(context, check=context.check.model_copy(update={"beside": beside}))
    return asyncio.run(TriggerScorer(TriggerOptions.model_validate(options)).score(context))


def test_confusion_is_in_the_evidence() -> None:
    """A wrong skill that fired beside the right one is told, and does not make it wrong."""
    found = score({"skill": "pdf"}, ("csv", "pdf"), present=("pdf", "csv"))
    assert found.status is ScoreStatus.PASSED
    assert found.evidence == {
        "skill": "pdf",
        "should_trigger": True,
        "owner": "pdf",
        "threshold": 0.5,
        "fired": ({"name": "csv", "how": "read"}, {"name": "pdf", "how": "read"}),
        "others": ("csv",),
        "offered": ("pdf", "csv"),
    }


def test_wrong_skill_is_named() -> None:
    """A reader sees which skill fired in place of the right one."""
    found = score({"skill": "pdf"}, ("csv",), present=("pdf", "csv"))
    assert (found.status, found.reason) == (ScoreStatus.FAILED, "Skill 'pdf' should have fired: fired: csv")
    found = score({"skill": "pdf", "acceptable": ["csv"]}, ("csv",), present=("pdf", "csv"))
    assert found.status is ScoreStatus.PASSED


def test_an_arm_with_an_acceptable_skill_alone_is_judged() -> None:
    """What is as right may be all that the arm has."""
    options: JsonObject = {"skill": "pdf", "acceptable": ("pdf-pro",)}
    assert score(options, ("pdf-pro",), present=("pdf-pro",)).status is ScoreStatus.PASSED
    assert score(options, (), present=("pdf-pro",)).status is ScoreStatus.FAILED


def test_a_baseline_may_count() -> None:
    """Where a suite says so, an arm without the skill is one in which it did not fire."""
    should: JsonObject = {"skill": "pdf", "counts_without": True}
    assert score(should, (), present=()).status is ScoreStatus.FAILED
    assert score({**should, "should_trigger": False}, (), present=()).status is ScoreStatus.PASSED
    assert score(should, ("pdf",), present=("pdf",)).status is ScoreStatus.PASSED


def test_a_baseline_gets_no_verdict() -> None:
    """D-1: an arm without the skill under test neither passes nor fails, and the way out is told where it is needed."""
    found = score({"skill": "pdf"}, (), present=())
    assert found.status is ScoreStatus.UNGRADED
    assert "has no skill 'pdf'" in found.reason
    assert "`beside: true`" in found.reason
    assert "`beside: true`" not in score({"skill": "pdf"}, (), present=(), beside=True).reason
    assert "`beside: true`" in score({"skill": "pdf"}, (), present=(), target=Target(id="t", name="pdf")).reason
    assert score({"skill": "pfd"}, (), present=("pdf",)).status is ScoreStatus.UNGRADED
    direct = score({"skill": "pdf"}, (), present=(), kind=ArmKind.DIRECT)
    assert (direct.status, "nobody knows" in direct.reason) == (ScoreStatus.UNGRADED, True)


@pytest.mark.parametrize("should", [True, False])
def test_what_the_arm_has_must_have_been_offered(should: bool) -> None:
    """Silence proves nothing where a session was offered only a name that the arm does not have."""
    options: JsonObject = {"skill": "pdf", "should_trigger": should, "acceptable": ("pdf-pro",)}
    found = score(options, (), present=("pdf",), offered=("pdf-pro",))
    assert found.status is ScoreStatus.UNGRADED
    assert "was not offered" in found.reason


@given(st.lists(NAMES, max_size=6).map(tuple), st.booleans())
def test_exactly_one_of_two_opposite_checks_passes(fired: tuple[str, ...], should: bool) -> None:
    """Where everything is known, a check and its opposite never agree, and only the right names count."""
    options: JsonObject = {"skill": "pdf", "should_trigger": should, "acceptable": ("pdf-pro",)}
    present = ("pdf", "pdf-pro", "csv", "mail")
    passed = score(options, fired, present=present).status is ScoreStatus.PASSED
    opposite = score({**options, "should_trigger": not should}, fired, present=present)
    assert passed is not (opposite.status is ScoreStatus.PASSED)
    assert passed is (bool({"pdf", "pdf-pro"} & set(fired)) is should)


def test_options_are_checked() -> None:
    """The skill is required, and nothing unknown is accepted."""
    for options in ({}, {"skill": ""}, {"skill": "a", "expect": True}):
        with pytest.raises(ValueError, match="validation error"):
            TriggerOptions.model_validate(options)

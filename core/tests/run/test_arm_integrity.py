"""Sessions that prove nothing about their arm: a skill was not offered, could not be loaded, or should not be there."""

from __future__ import annotations

import pytest

from skillgauge.run.arm_integrity import VERIFIED, arm_integrity
from skillgauge.types.arms import Arm, ArmKind, SkillRef
from skillgauge.types.trajectory import FiredSkill, RefusedSkill, Trajectory
from skillgauge.types.trial import Blame, Failure, FailureClass

PDF = SkillRef(name="pdf", root="/skills/pdf", digest="d1")
OTHER = SkillRef(name="other", root="/skills/other", digest="d2")
WITH = Arm(name="with_skill", kind=ArmKind.AGENT, skills=(PDF, OTHER))
WITHOUT = Arm(name="without_skill", kind=ArmKind.AGENT, skills=(OTHER,))
CANDIDATES = frozenset({"pdf"})
DENIED = RefusedSkill(name="pdf", reason="its permissions deny the tool", hint="Allow the tool")


def told(*offered: str) -> Trajectory:
    """Return what an engine tells that offered these skills."""
    return Trajectory(skills_offered=offered)


def judged(arm: Arm, *refused: RefusedSkill, fired: tuple[FiredSkill, ...] | None = ()) -> Failure | None:
    """Return the failure of a session that was offered all skills and refused some."""
    offered = tuple(skill.name for skill in arm.skills)
    trajectory = Trajectory(skills_offered=offered, skills_fired=fired, skills_refused=refused)
    integrity, failure = arm_integrity(arm, CANDIDATES, trajectory)
    assert integrity == (failure.message if failure else VERIFIED)
    return failure


@pytest.mark.parametrize(
    ("arm", "offered", "words"),
    [
        (WITH, ("pdf", "other"), ""),
        (WITH, ("other", "pdf", "bundled"), ""),
        (WITHOUT, ("other",), ""),
        (WITHOUT, ("other", "bundled"), ""),
        (WITH, ("other",), "arm 'with_skill' was not offered pdf"),
        (WITH, (), "arm 'with_skill' was not offered other, pdf"),
        (WITHOUT, ("other", "pdf"), "arm 'without_skill' was offered pdf"),
        (WITHOUT, ("pdf",), "arm 'without_skill' was not offered other and was offered pdf"),
    ],
)
def test_a_session_must_be_offered_what_its_arm_says(arm: Arm, offered: tuple[str, ...], words: str) -> None:
    """Every skill of the arm, and none that is under test in another; what the agent itself brings is no intruder."""
    integrity, failure = arm_integrity(arm, CANDIDATES, told(*offered))
    assert integrity == (words or VERIFIED)
    if words:
        assert failure
        assert (failure.failure_class, failure.blame) == (FailureClass.ARM_INTEGRITY, Blame.INFRASTRUCTURE)
        assert not failure.retryable
    else:
        assert failure is None


@pytest.mark.parametrize("trajectory", [None, Trajectory()])
def test_what_an_engine_does_not_tell_is_unknown(trajectory: Trajectory | None) -> None:
    """It is no error, and not called verified either."""
    integrity, failure = arm_integrity(WITH, CANDIDATES, trajectory)
    assert integrity.startswith("unknown: ")
    assert failure is None


@pytest.mark.parametrize("offered", [("pdf", "other"), ("other",), None])
def test_a_refused_skill_is_an_error_of_the_set_up(offered: tuple[str, ...] | None) -> None:
    """The message names arm, skill, reason and remedy, also where the engine reports nothing else of skills."""
    trajectory = Trajectory(skills_offered=offered, skills_refused=(DENIED,))
    integrity, failure = arm_integrity(WITH, CANDIDATES, trajectory)
    assert failure
    assert (failure.failure_class, failure.blame) == (FailureClass.SETUP, Blame.INFRASTRUCTURE)
    assert not failure.retryable
    told = "arm 'with_skill': skill 'pdf' could not be loaded: its permissions deny the tool. Allow the tool"
    assert failure.message == integrity == told


def test_a_refused_distractor_is_one_too() -> None:
    """Every skill of an arm must be loadable, in the arm without the skill under test as well."""
    failure = judged(WITHOUT, RefusedSkill(name="other", reason="broken"))
    assert failure
    assert "skill 'other' could not be loaded: broken. See the session's calls" in failure.message


def test_all_refused_skills_are_named_at_once() -> None:
    """Two skills with one remedy make one message, which gives the remedy once."""
    failure = judged(WITH, DENIED, DENIED.model_copy(update={"name": "other"}))
    assert failure
    assert "skill 'pdf'" in failure.message
    assert "skill 'other'" in failure.message
    assert failure.message.count("Allow the tool") == 1


@pytest.mark.parametrize(
    ("how", "is_error"), [("invoked", False), ("explicit", False), ("read", True)], ids=["tool", "prompt", "file"]
)
def test_a_refusal_counts_unless_the_program_loaded_the_skill(how: str, is_error: bool) -> None:
    """An agent that reads the file of a refused skill helps itself, and the arm is not what it should be."""
    failure = judged(WITH, DENIED, fired=(FiredSkill(name="pdf", how=how),))
    assert (failure is not None) is is_error


def test_a_skill_that_is_not_of_the_arm_may_be_refused() -> None:
    """What comes with the agent, or is not there, says nothing about the arm."""
    assert judged(WITH, RefusedSkill(name="bundled", reason="no")) is None
    assert judged(WITHOUT, DENIED) is None

"""Proof that a session stands for its arm: the skills of the arm were offered and could be loaded, and no other was.

It reads facts that the engine reports and knows nothing of any agent: why a program refuses a skill, and what to do
about it, are words of the engine.
"""

from __future__ import annotations

from ..types.arms import Arm
from ..types.trajectory import RefusedSkill, Trajectory
from ..types.trial import Failure, FailureClass

VERIFIED = "verified"
"""`Execution.arm_integrity` of a session that was offered exactly the skills of its arm, none of them in vain."""
UNKNOWN = "unknown"
"""Begins `Execution.arm_integrity` of a session that does not tell what it was offered."""
_NOT_REPORTED = f"{UNKNOWN}: the engine does not report which skills it offered"
_BY_ITS_FILE = "read"
_UNEXPLAINED = "See the session's calls with `skillgauge report show`"


def arm_integrity(arm: Arm, candidates: frozenset[str], trajectory: Trajectory | None) -> tuple[str, Failure | None]:
    """Check that a session had the skills of its arm, and no other that is under test.

    Args:
        arm: the condition the session stands for.
        candidates: every skill that is under test in any arm of the suite.
        trajectory: facts that the engine reports.

    Returns:
        What to record, and the failure of a session that proves nothing about its arm.
    """
    if trajectory is None:
        return _NOT_REPORTED, None
    if refused := _refused(arm, trajectory):
        return refused, Failure.of_agent(FailureClass.SETUP, refused)
    if trajectory.skills_offered is None:
        return _NOT_REPORTED, None
    deviations = _deviations(arm, candidates, frozenset(trajectory.skills_offered))
    if not deviations:
        return VERIFIED, None
    message = f"arm {arm.name!r} {' and '.join(deviations)}"
    return message, Failure.of_agent(FailureClass.ARM_INTEGRITY, message)


def _deviations(arm: Arm, candidates: frozenset[str], offered: frozenset[str]) -> list[str]:
    """Describe how the skills that were offered differ from those of the arm."""
    present = frozenset(skill.name for skill in arm.skills)
    missing, intruders = sorted(present - offered), sorted((candidates - present) & offered)
    deviations = []
    if missing:
        deviations.append(f"was not offered {', '.join(missing)}")
    if intruders:
        deviations.append(f"was offered {', '.join(intruders)}")
    return deviations


def _refused(arm: Arm, trajectory: Trajectory) -> str | None:
    """Describe the skills of the arm that the agent asked for in vain; `None` if there are none.

    A skill that its tool loaded at another time, or that the prompt named, was there. One whose file the agent read
    instead was not: the session shows how the agent helps itself, which another session need not do.
    """
    in_vain = {skill.name for skill in arm.skills} - _loaded(trajectory)
    refusals: dict[str, RefusedSkill] = {}
    for skill in trajectory.skills_refused or ():
        if skill.name in in_vain:
            refusals.setdefault(skill.name, skill)
    if not refusals:
        return None
    parts = [f"skill {skill.name!r} could not be loaded: {skill.reason}" for skill in refusals.values()]
    hints = dict.fromkeys(skill.hint or _UNEXPLAINED for skill in refusals.values())
    return f"arm {arm.name!r}: {'; '.join(parts)}. {'. '.join(hints)}"


def _loaded(trajectory: Trajectory) -> set[str]:
    return {skill.name for skill in trajectory.skills_fired or () if skill.how != _BY_ITS_FILE}

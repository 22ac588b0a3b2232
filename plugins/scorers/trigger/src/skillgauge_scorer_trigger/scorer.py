"""The firing of the right skill."""

from __future__ import annotations

from skillgauge.api import Arm, ArmKind, JsonObject, Score, ScoreContext, Trajectory

from .options import TriggerOptions


class TriggerScorer:
    """Passes if the skill fired, or did not, as it should, anywhere in the session.

    Three things are kept apart: it fired, it did not fire, and nobody knows. The last is ungraded: an engine that does
    not tell which skills fire, or a session that was perhaps never offered the skill, says nothing about it.
    """

    version = "3"

    def __init__(self, options: TriggerOptions) -> None:
        self._options = options
        self._right = frozenset({options.skill, *options.acceptable})

    async def score(self, context: ScoreContext) -> Score:
        """Look which skills fired."""
        skill, trajectory = self._options.skill, context.execution.trajectory
        if not self._right & _present(context.arm):
            return self._absent(context)
        if trajectory is None:
            return Score.ungraded("There is no record of what an agent did, so nobody knows which skills fired")
        if trajectory.skills_fired is None:
            return Score.ungraded("The engine does not tell which skills fired")
        fired = tuple(dict.fromkeys(one.name for one in trajectory.skills_fired))
        evidence = self._evidence(trajectory, fired)
        right = tuple(name for name in fired if name in self._right)
        if not right:
            unknown = self._not_offered(context.arm, trajectory)
            if unknown:
                return Score.ungraded(unknown, evidence=evidence)
        if bool(right) is self._options.should_trigger:
            return Score.passed(_told(fired), evidence=evidence)
        should = "should have fired" if self._options.should_trigger else "should not have fired"
        return Score.failed(f"Skill {skill!r} {should}: {_told(fired)}", evidence=evidence)

    def _absent(self, context: ScoreContext) -> Score:
        """Return the score of an arm that has no such skill."""
        skill, arm, target = self._options.skill, context.arm, context.target
        if self._options.counts_without:
            reason = f"Arm {arm.name!r} has no skill {skill!r}, so it did not fire"
            return Score.failed(reason) if self._options.should_trigger else Score.passed(reason)
        text = f"Arm {arm.name!r} has no skill {skill!r}"
        if arm.kind is ArmKind.AGENT and target is not None and skill in (target.id, target.name):
            # The skill under test is left out on purpose: a verdict of either kind would be compared with that of the
            # other arm, although it cannot fire in any session of this one.
            needs = "" if context.check.beside else "; let the check stand beside the verdict, with `beside: true`"
            return Score.ungraded(f"{text}, so this says nothing about it{needs}")
        return Score.ungraded(f"{text}, so nobody knows whether it would fire")

    def _not_offered(self, arm: Arm, trajectory: Trajectory) -> str:
        """Return the reason why silence proves nothing here; empty if it proves something."""
        if trajectory.skills_offered is None:
            return "No such skill fired, but the engine does not tell whether it was offered"
        offered = frozenset(trajectory.skills_offered)
        if self._right & _present(arm) & offered:
            return ""
        return f"Skill {self._options.skill!r} was not offered, so it could not fire"

    def _evidence(self, trajectory: Trajectory, fired: tuple[str, ...]) -> JsonObject:
        how = {one.name: one.how for one in trajectory.skills_fired or ()}
        options = self._options
        return {
            "skill": options.skill,
            "should_trigger": options.should_trigger,
            "owner": options.owner or (options.skill if options.should_trigger else None),
            "threshold": options.threshold,
            "fired": tuple({"name": name, "how": how[name]} for name in fired),
            "others": tuple(name for name in fired if name not in self._right),
            "offered": trajectory.skills_offered,
        }


def _present(arm: Arm) -> frozenset[str]:
    return frozenset(skill.name for skill in arm.skills)


def _told(fired: tuple[str, ...]) -> str:
    return f"fired: {', '.join(fired)}" if fired else "no skill fired"

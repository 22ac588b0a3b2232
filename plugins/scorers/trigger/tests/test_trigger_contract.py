"""The contract of scorers."""

from __future__ import annotations

from dataclasses import replace

from skillgauge.api import Arm, ArmKind, Execution, FiredSkill, JsonObject, ScoreContext, SkillRef, Trajectory
from skillgauge_testkit import SCORERS, Maker, check_light_import, check_plugin, check_scorer, score_context

MODULE = "skillgauge_scorer_trigger.plugin"
FIRES: JsonObject = {"skill": "pdf"}
SILENT: JsonObject = {"skill": "pdf", "should_trigger": False}
ARM = Arm(
    name="with_skill",
    kind=ArmKind.AGENT,
    skills=tuple(SkillRef(name=name, root=f"/skills/{name}", digest=name) for name in ("pdf", "csv")),
)


def session(
    options: JsonObject, fired: tuple[str, ...] | None, offered: tuple[str, ...] | None = ("pdf", "csv")
) -> ScoreContext:
    """A session in an arm with two skills."""
    told = None if fired is None else tuple(FiredSkill(name=name, how="invoked") for name in fired)
    trajectory = Trajectory(skills_offered=offered, skills_fired=told)
    context = score_context(options=options, execution=Execution(text="done", trajectory=trajectory))
    return replace(context, arm=ARM)


def test_scorer() -> None:
    """The same session has the same score; what the engine cannot tell is ungraded, never a fail."""
    check_scorer(
        Maker(SCORERS, MODULE),
        passing=[session(FIRES, ("pdf",)), session(FIRES, ("csv", "pdf"), None), session(SILENT, ("csv",))],
        failing=[session(FIRES, ()), session(FIRES, ("csv",)), session(SILENT, ("pdf",))],
        ungraded=[
            session(FIRES, None),
            session(SILENT, None),
            session(FIRES, (), None),
            session(SILENT, (), None),
            session(FIRES, (), ("csv",)),
            session({"skill": "nobody"}, ()),
            score_context(options=FIRES, execution=Execution(text="done")),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "scorers", options={"trigger": FIRES})
    check_light_import(MODULE)

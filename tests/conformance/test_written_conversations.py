"""No format that writes suites loses a conversation in silence."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Arm, ArmKind, Case, Check, SimulatedUser, SkillRef, SkillRole, Suite, SuiteFormat, Target
from skillgauge_testkit import FORMATS as KIND
from skillgauge_testkit import Maker

FORMATS = sorted({entry.value for entry in entry_points(group="skillgauge.formats")})
SAID, PLAYED = "And now in blue.", "You are Ann, and want a red boat."
USER = SimulatedUser(check=Check(id="user", scorer="simulated-user", options={"instructions": PLAYED}))


def made(module: str) -> SuiteFormat:
    """The format that a module announces."""
    (provider, *_) = import_module(module).skillgauge_formats()
    return Maker(KIND, module, provider.name)({})


def talking(root: Path, **said: Any) -> Suite:
    """A suite of one case whose user says more than a prompt."""
    root.mkdir()
    (root / "SKILL.md").write_text("---\nname: boat\ndescription: Use when a boat is folded.\n---\nFold.\n")
    skill = SkillRef(name="boat", root=str(root), digest="0", role=SkillRole.CANDIDATE)
    checks = (
        Check(id="floats", scorer="contains", options={"keywords": ("floats",), "case_sensitive": True}),
        Check(id="claim", scorer="rubric", options={"claims": ("It floats.",)}),
    )
    return Suite(
        id="boat",
        name="boat",
        format="other",
        root=str(root),
        cases=(Case(id="one", prompt="Fold a boat.", checks=checks, **said),),
        targets=(Target(id="boat", name="boat", root=str(root)),),
        arms=(Arm(name="with_skill", kind=ArmKind.AGENT, skills=(skill,)),),
    )


@pytest.mark.slow
@pytest.mark.parametrize("module", FORMATS)
def test_a_required_check_is_written_or_told(module: str, tmp_path: Path) -> None:
    """A check that ends a conversation is no ordinary one, in a format that knows conversations."""
    suite = talking(tmp_path / "boat", turns=(SAID,))
    (case,) = suite.cases
    gate = case.checks[0].model_copy(update={"turn": 0})
    checks = [gate.model_copy(update={"required": is_required}) for is_required in (False, True)]
    cases = [case.model_copy(update={"checks": (check,)}) for check in checks]
    plain, required = (made(module).dump(suite.model_copy(update={"cases": (one,)})) for one in cases)
    has_turns = any(SAID.encode() in content for _, content in required.artifacts)
    assert not has_turns or plain != required


@pytest.mark.parametrize("module", FORMATS)
@pytest.mark.parametrize(
    ("said", "text"), [({"turns": (SAID,)}, SAID), ({"user": USER}, PLAYED)], ids=["turns", "user"]
)
def test_a_conversation_is_written_or_told(module: str, said: dict[str, Any], text: str, tmp_path: Path) -> None:
    """What the user says after the prompt stands in a file, or the loss names the case."""
    dumped = made(module).dump(talking(tmp_path / "boat", **said))
    plain = made(module).dump(talking(tmp_path / "plain"))
    more = {loss.message for loss in dumped.losses} - {loss.message for loss in plain.losses}
    is_written = any(text.encode() in content for _, content in dumped.artifacts)
    is_nothing = not plain.artifacts or any("'one' is left out" in loss.message for loss in plain.losses)
    assert is_written or is_nothing or any("'one'" in message for message in more), (dumped.losses, dumped.artifacts)

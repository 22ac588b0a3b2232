"""Suites are written as scenarios of Tessl, with everything told that is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    FileSpec,
    Limits,
    Severity,
    SkillRole,
    Suite,
    SuiteDefaults,
    VerdictMode,
    VerdictRule,
)
from skillgauge_format_tessl.checks import claim_of, item_of
from skillgauge_format_tessl.written import Folders

from .conftest import (
    FORMAT,
    ITEMS,
    TILE,
    laid,
    loaded,
    only_case,
    plugin,
    scenario,
)


def rewritten(suite: Suite, folder: Path) -> Suite:
    """A suite that was written without a loss, read again."""
    dumped = FORMAT.dump(suite)
    assert [one.message for one in dumped.losses] == []
    return read_back(suite, folder)


def read_back(suite: Suite, folder: Path) -> Suite:
    """A suite that was written, read again."""
    for path, content in FORMAT.dump(suite).artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return loaded(folder / "evals")


def facts(suite: Suite) -> list[Any]:
    """Everything of the cases but their places."""
    return [
        [
            case.model_dump(exclude={"origin": True, "checks": True, "files": True, "grader_files": True}),
            [(check.digest, check.weight) for check in case.checks],
            sorted(file.content_id for file in case.files),
        ]
        for case in suite.cases
    ]


def test_there_and_back(skill: Path, tmp_path: Path) -> None:
    """A whole suite is read as it was written: files, script, private keys and doubled names included."""
    laid(skill / "evals", {"harbour/pier.txt": "p", "pond-/setup.sh": "#!/bin/sh\ntrue\n", "pond-/inputs/a.md": "a"})
    settings = {
        "description": "A boat.",
        "include": ["./inputs"],
        "fixtures": {"a": {"type": "directory", "path": "../harbour"}},
        "setup": ["./setup.sh"],
    }
    items = [ITEMS[0] | {"category": "MUST"}, ITEMS[1], ITEMS[1] | {"description": "boat.md is short"}]
    scenario(skill / "evals/pond-", *items, settings=settings, capability="Folds", metadata=[1])
    suite = loaded(skill / "evals")
    back = rewritten(suite, tmp_path / "back/paper-boats")
    assert facts(back) == facts(suite)
    assert (back.id, back.name, back.version, back.defaults) == (suite.id, suite.name, suite.version, suite.defaults)


def test_a_plugin_there_and_back(tmp_path: Path) -> None:
    """Several skills are written as a plugin, whose manifest lists them."""
    suite = loaded(plugin(tmp_path / "paper", {"tile.json": json.dumps(TILE)}) / "evals")
    back = rewritten(suite, tmp_path / "back")
    assert facts(back) == facts(suite)
    assert [one.name for one in back.arms[0].skills] == ["boats", "kites"]
    assert (back.id, back.version, back.description) == (suite.id, suite.version, suite.description)


def foreign_suite(skill: Path, *checks: Check, **more: Any) -> Suite:
    """A suite of another format with one case."""
    suite = loaded(skill / "evals/pond-")
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.8)
    fields: dict[str, Any] = {"id": "one", "prompt": "Fold.", "checks": checks, "rule": rule}
    case = Case(**(fields | more))
    return suite.model_copy(update={"format": "other", "cases": (case,)})


def claim_check(identity: str = "Dry", *claims: str, **more: Any) -> Check:
    """A check of claims as this format has it."""
    options = {"claims": claims or (f"{identity}: it is dry",), "trajectory": False} | more.pop("options", {})
    return Check(id=identity, scorer="rubric", options=options, **more)


def losses(suite: Suite) -> list[str]:
    """What is lost, each as a warning."""
    dumped = FORMAT.dump(suite)
    assert all((one.code, one.severity) == ("suite.loss", Severity.WARNING) for one in dumped.losses)
    return [one.message for one in dumped.losses]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"rule": VerdictRule()}, "its rule for a verdict"),
        ({"rule": VerdictRule(mode=VerdictMode.MEAN, threshold=0.9)}, "its rule for a verdict"),
        ({"limits": Limits(timeout_s=5)}, "its limits"),
        ({"limits": Limits(max_turns=5)}, "its limits"),
        ({"tags": ("a",)}, "tags cannot be written"),
        ({"env": {"A": "b"}}, "env cannot be written"),
        ({"weight": 2.0}, "weight cannot be written"),
        ({"cluster": "c"}, "cluster cannot be written"),
        ({"network": True}, "network cannot be written"),
        ({"skip": "later"}, "skip cannot be written"),
        ({"arm_prompts": (("a", "b"),)}, "prompts of single arms"),
        ({"image_files": (FileSpec(path="Dockerfile", text="FROM a"),)}, "image cannot be written"),
        ({"grader_files": (FileSpec(path="a", text="b"),)}, "files of graders"),
        ({"setup": ("make",)}, "setup cannot be written"),
        ({"files": (FileSpec(path="run", text="a", executable=True),)}, "'run' is executable"),
        ({"prompt": " "}, "is left out: it has no prompt"),
        ({"checks": (Check(id="a", scorer="exact", options={"text": "b"}),)}, "is left out: nothing of it"),
        ({"id": "../etc"}, "is called 'etc'"),
        ({"checks": (claim_check(beside=True), claim_check("Wet"))}, "check 'Dry' of scorer 'rubric' is left out"),
        ({"checks": (claim_check(weight=0), claim_check("Wet"))}, "check 'Dry' of scorer 'rubric' is left out"),
        ({"checks": (claim_check(stage=1),)}, "check 'Dry' would be asked whatever others say"),
        ({"checks": (claim_check("c1", "It floats.", "It is dry."),)}, "check 'c1' becomes 2 items"),
        (
            {"checks": (claim_check(options={"reference": "a", "model": "m", "trajectory": True}),)},
            "check 'Dry' loses model, reference, trajectory",
        ),
        ({"checks": (claim_check(weight=0.5), claim_check("Wet"))}, "its weights become whole numbers, in the same"),
    ],
)
def test_what_cannot_be_written_is_a_loss(skill: Path, more: dict[str, Any], word: str) -> None:
    """Everything that Tessl has no words for is told with the case, and nothing else is."""
    messages = losses(foreign_suite(skill, *more.pop("checks", (claim_check(),)), **more))
    assert any(one.startswith("case ") and word in one for one in messages), messages
    assert losses(foreign_suite(skill, claim_check())) == []


def test_wishes_of_the_suite_are_losses(skill: Path) -> None:
    """Repeats, models, other limits and skills beside the candidate are told."""
    defaults = SuiteDefaults(runs=3, model="m", judge_model="j", limits=Limits(timeout_s=60, max_turns=4))
    ref = loaded(skill / "evals").arms[0].skills[0]
    other = ref.model_copy(update={"name": "kites", "role": SkillRole.DISTRACTOR})
    arms = (Arm(name="with_skill", kind=ArmKind.AGENT, skills=(ref, other)),)
    update = {"defaults": defaults, "arms": arms}
    messages = losses(foreign_suite(skill, claim_check()).model_copy(update=update))
    for word in ("runs", "default model", "judge model", "600 seconds", "turns", "'kites'"):
        assert any(word in one for one in messages), (word, messages)


def test_nothing_is_written_for_nothing(skill: Path) -> None:
    """A suite of which no case can be written has no files."""
    assert FORMAT.dump(foreign_suite(skill, Check(id="a", scorer="exact", options={"text": "b"}))).artifacts == ()


def test_weights_keep_their_proportion(skill: Path, tmp_path: Path) -> None:
    """Points are whole numbers, so that the weighted mean stays what it was."""
    checks = (claim_check("A", weight=0.5), claim_check("B", weight=0.75), claim_check("C", weight=2))
    back = read_back(foreign_suite(skill, *checks), tmp_path / "back/paper-boats")
    assert [one.weight for one in only_case(back).checks] == [2.0, 3.0, 8.0]
    odd = foreign_suite(skill, claim_check("A", weight=0.123456789), claim_check("B"))
    assert any("rounded" in one for one in losses(odd))
    back = read_back(odd, tmp_path / "odd/paper-boats")
    assert [one.weight for one in only_case(back).checks] == [123.0, 1000.0]


def test_files_keep_their_places(skill: Path, tmp_path: Path) -> None:
    """Files lie in the workspace itself also where the task names a folder like the usual one."""
    files = (FileSpec(path="a/b.txt", text="b"), FileSpec(path="inputs/c.txt", text="c"))
    suite = foreign_suite(skill, claim_check(), prompt="Read inputs/c.txt and inputs-2/d.", files=files)
    (case,) = rewritten(suite, tmp_path / "back/paper-boats").cases
    assert {(file.path, Path(str(file.source)).read_text()) for file in case.files} == {
        ("a/b.txt", "b"),
        ("inputs/c.txt", "c"),
    }


@pytest.mark.parametrize(
    ("identity", "claim", "item"),
    [
        ("Dry", "Dry: it is dry", ("Dry", "it is dry")),
        ("Dry", "Dry it is", ("Dry", "Dry it is")),
        ("Dry", "Dry: Dry it is", ("Dry", "Dry: Dry it is")),
        ("Dry (2)", "Dry: it is dry", ("Dry", "it is dry")),
        ("c1", "It is dry.", ("It is dry.", "It is dry.")),
        ("c1", "Dry: it is dry", ("Dry: it is dry", "Dry: it is dry")),
        ("c1", "word " * 20, ("word " * 11 + "word", "word " * 20)),
        ("c1", "x" * 100, ("x" * 100, "x" * 100)),
        ("c1", "c1: ", ("c1", "c1: ")),
    ],
)
def test_items_of_claims(identity: str, claim: str, item: tuple[str, str]) -> None:
    """An item of a claim becomes that claim again."""
    assert item_of(identity, claim) == item
    assert claim_of(*item) == claim


def test_names_of_folders() -> None:
    """An id that can be a scenario's path stays; any other gets a name that resembles it, each once."""
    ids = ["a", "a/b", "x/y/z", "A", ".git", "build", "c d", "e: f?", "w/x/y/z", "", "../up", "e-f"]
    folders = Folders(ids)
    names = [folders.name(one) for one in ids]
    assert names == [
        *("a", "a-b", "x/y/z", "a-2", "git", "build-1"),
        *("c d", "e-f-2", "w-x-y-z", "scenario", "up", "e-f"),
    ]

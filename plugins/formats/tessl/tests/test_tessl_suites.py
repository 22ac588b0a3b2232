"""Scenarios of Tessl become suites: found, grouped, about the skills around them, and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    SuiteError,
)
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

from .conftest import (
    FORMAT,
    MODULE,
    SKILL,
    TILE,
    laid,
    load,
    loaded,
    notices,
    plugin,
    refusals,
    scenario,
)


def test_half_a_scenario(skill: Path) -> None:
    """A folder with one of the two files is told beside good ones, and is an error if it is named."""
    laid(skill / "evals", {"lost/task.md": "Fold.", "river/blind/criteria.json": "{}", "notes/a.txt": "a"})
    suite = loaded(skill / "evals")
    assert [case.id for case in suite.cases] == ["pond-", "river/scenario-0"]
    assert notices(suite)[-2:] == [
        "task.md:1:1 'lost' has task.md and no criteria.json, so it is no scenario and is not run",
        "criteria.json:1:1 'river/blind' has criteria.json and no task.md, so it is no scenario and is not run",
    ]
    assert any("'lost'" in one for one in notices(loaded(skill / "evals/pond-")))
    assert refusals(skill / "evals/lost") == ["task.md:1:1 there is no criteria.json beside task.md"]
    assert "criteria.json:1:1 there is no task.md beside criteria.json" in refusals(skill / "evals/river/blind")


def test_material_of_generators_is_no_case(skill: Path) -> None:
    """Lists of instructions beside the scenarios, and files in scenarios, are nothing to run."""
    laid(skill / "evals", {"instructions.json": '{"instructions": []}', "summary.json": "{}"})
    scenario(skill / "evals/pond-/inputs/evals/inner")
    assert [case.id for case in loaded(skill / "evals").cases] == ["pond-", "river/scenario-0"]


def test_scenarios_are_grouped(skill: Path, tmp_path: Path) -> None:
    """Claimed folders below one `evals` are one suite, each once; those of another skill are another one."""
    rafts = laid(tmp_path / "rafts", {"SKILL.md": SKILL.replace("paper-boats", "rafts")})
    scenario(rafts / "evals/one")
    claimed = (skill / "evals/river/scenario-0", skill / "evals/pond-", rafts / "evals/one")
    suites = load(searched=claimed).suites
    assert [(suite.id, [case.id for case in suite.cases]) for suite in suites] == [
        ("paper-boats", ["river/scenario-0", "pond-"]),
        ("rafts", ["one"]),
    ]
    again = load(skill / "evals/pond-/task.md", skill / "evals/pond-/criteria.json", searched=(skill / "evals",))
    assert [[case.id for case in suite.cases] for suite in again.suites] == [["pond-", "river/scenario-0"]]


def test_a_bad_scenario_among_searched_ones(skill: Path) -> None:
    """It is told and passed over; a named one stops everything."""
    scenario(skill / "evals/pond-", type="x")
    both = (skill / "evals/pond-", skill / "evals/river/scenario-0")
    partial = load(searched=both)
    assert [[case.id for case in suite.cases] for suite in partial.suites] == [["river/scenario-0"]]
    assert [one.message for one in partial.problems] == ["'type' must be 'weighted_checklist', not the text \"x\""]
    assert len(refusals(both[0], searched=both[1:])) == 1
    assert load(both[1], searched=both[:1]).suites[0].cases


def test_nothing_to_load(skill: Path, tmp_path: Path) -> None:
    """A place without a scenario is an error with a hint."""
    with pytest.raises(SuiteError) as caught:
        load(laid(tmp_path / "empty", {"notes.txt": ""}))
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint is not None) == ("there is no scenario here", True)
    assert refusals(skill / "evals/absent.json") == ["absent.json:1:1 there is no scenario here"]


def test_claim(skill: Path, tmp_path: Path) -> None:
    """Scenarios below `evals` are claimed, damaged ones too; nothing else is."""
    pond = skill / "evals/pond-"
    laid(skill / "evals", {"lost/task.md": "a", "blind/criteria.json": "{}"})
    scenario(skill / "evals/a/b/deep")
    scenario(skill / "evals/a/b/c/deeper")
    scenario(tmp_path / "scenarios/one")
    scenario(skill / "evals")
    laid(skill / "evals/other", {"task.md": "a", "criteria.json": '{"criteria": []}'})
    laid(skill / "evals/list", {"task.md": "a", "criteria.json": "[]"})
    laid(skill / "evals/broken", {"task.md": "a", "criteria.json": "{"})
    laid(skill / "evals/typed", {"task.md": "a", "criteria.json": '{"type": "weighted_checklist"}'})
    for path in (pond, pond / "task.md", pond / "criteria.json"):
        assert FORMAT.claim(path) is not None, path
    for name in ("river/scenario-0", "a/b/deep", "broken", "typed"):
        assert FORMAT.claim(skill / "evals" / name) is not None, name
    for name in ("", "river", "lost", "blind", "other", "list", "a/b/c/deeper", "pond-/capability.txt", "none"):
        assert FORMAT.claim(skill / "evals" / name) is None, name
    for path in (skill, skill / "SKILL.md", tmp_path / "scenarios/one", Path("/"), Path("x" * 5000)):
        assert FORMAT.claim(path) is None, path


@pytest.mark.parametrize(
    ("files", "skills"),
    [
        ({"tile.json": {"skills": {"k": {"path": "skills/kites/SKILL.md"}}}}, ["kites"]),
        ({"tile.json": {"skills": {"k": "skills/kites"}}}, ["kites"]),
        ({".tessl-plugin/plugin.json": {"skills": ["./skills/kites", "skills/boats"]}}, ["kites", "boats"]),
        ({".tessl-plugin/plugin.json": {"skills": "./skills/"}}, ["boats", "kites"]),
        ({".tessl-plugin/plugin.json": {"skills": ["skills/kites"]}, "tile.json": {"skills": {}}}, ["kites"]),
        ({"tessl.json": {"mode": "vendored", "dependencies": {}}}, ["boats", "kites"]),
        ({"tile.json": {}}, ["boats", "kites"]),
        ({}, ["boats", "kites"]),
    ],
)
def test_skills_of_a_plugin(tmp_path: Path, files: dict[str, Any], skills: list[str]) -> None:
    """All skills that the manifest lists are installed, else those in `skills/`; together they are one target."""
    written = {place: json.dumps(TILE | value) for place, value in files.items()}
    suite = loaded(plugin(tmp_path / "paper", written) / "evals")
    assert [one.name for one in suite.arms[0].skills] == skills
    assert suite.arms[1].skills == ()
    named = (suite.id, suite.version, suite.description)
    assert named == (("harbour/paper", "1.2.0", "Things of paper.") if files else ("paper", None, ""))
    assert [(one.id, one.root) for one in suite.targets] == [(suite.id, str(tmp_path / "paper"))]


def test_the_nearest_skill_is_under_test(tmp_path: Path) -> None:
    """A skill around the scenarios goes before the plugin around it, and before its own manifest."""
    folder = plugin(tmp_path / "paper", {"tile.json": json.dumps(TILE)})
    assert loaded(scenario(folder / "skills/kites/evals/one")).id == "kites"
    (folder / "SKILL.md").write_text(SKILL)
    suite = loaded(folder / "evals")
    assert (suite.id, [one.name for one in suite.arms[0].skills]) == ("paper-boats", ["paper-boats"])


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"tile.json": '{"skills": {"k": {"path": "skills/none/SKILL.md"}}}'}, "tile.json:1:19 there is no skill at"),
        ({"tile.json": '{"skills": ["../boats"]}'}, "tile.json:1:13 there is no skill at '../boats'"),
        ({"tile.json": '{"skills": "../"}'}, "tile.json:1:2 there is no skill at '../'"),
        ({"tile.json": '{"skills": '}, "tile.json:1:12"),
        ({"skills/kites/SKILL.md": SKILL.replace("paper-boats", "boats")}, "SKILL.md:1:1 two skills of the plugin"),
        ({"skills/kites/SKILL.md": SKILL.replace("paper-boats", "a/b")}, "SKILL.md:2:1 name 'a/b' cannot be"),
    ],
)
def test_plugins_that_are_refused(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    """What a manifest lists has to be there, and every skill needs a name of its own."""
    messages = refusals(plugin(tmp_path / "paper", files) / "evals")
    assert [one for one in messages if one.startswith(problem)], messages


def test_a_plugin_whose_skills_another_manifest_lists(tmp_path: Path) -> None:
    """A file that says nothing of skills leaves them to the manifest of Claude's plugins."""
    folder = scenario(tmp_path / "paper/evals/one").parents[1]
    manifest = json.dumps({"name": "paper", "skills": ["./folding"]})
    laid(folder, {"tessl.json": "{}", ".claude-plugin/plugin.json": manifest, "folding/SKILL.md": SKILL})
    assert [skill.name for skill in loaded(folder / "evals").arms[0].skills] == ["paper-boats"]


def test_no_skill(tmp_path: Path) -> None:
    """Scenarios about no skill, and a plugin without any, are refused."""
    folder = scenario(tmp_path / "nothing/evals/one").parents[1]
    assert refusals(folder / "evals") == ["criteria.json:1:1 there is no skill around these scenarios, and no plugin"]
    laid(folder, {"tile.json": json.dumps(TILE)})
    assert refusals(folder / "evals") == ["tile.json:1:1 this plugin has no skill, no rule and no documents to test"]


def test_files_of_others_are_left(skill: Path, tmp_path: Path) -> None:
    """The contract of formats, with folders that look like scenarios."""
    others = [
        laid(tmp_path / "evals/other", {"task.md": "a", "criteria.json": '{"criteria": []}'}),
        laid(tmp_path / "evals/half", {"task.md": "a"}),
        scenario(tmp_path / "tasks/one"),
        skill / "evals",
    ]
    samples = [skill / "evals/pond-", skill / "evals/river/scenario-0/criteria.json"]
    check_format(Maker(FORMATS, MODULE), samples=samples, foreign=others)


def test_mutants(skill: Path) -> None:
    """Damaged files: each is read, or refused with a place in a file."""
    folder = scenario(skill / "evals/only", settings={"description": "a", "include": []})
    for name in ("criteria.json", "scenario.json"):
        check_mutants(loaded, folder, 100, file=folder / name)


@pytest.mark.slow
def test_end_to_end(program: Program, skill: Path) -> None:
    """Found by a search, run in both arms, and graded by points: the mark decides what passes."""
    scenario(skill / "evals/pond-")
    (skill / "evals/river/scenario-0/task.md").unlink()
    claim = "Sheet: boat.md says that the sheet is square"
    reply = {"match": "boat", "skill": "paper-boats", "files": {"boat.md": "square"}, "text": claim}
    script = {"replies": [reply, {"match": "boat", "text": "No."}]}
    (program.work / "mock.yaml").write_text(json.dumps(script))
    words = ("eval", skill, "--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--judge", "mock")
    for mark, passed in (("0.8", "0 of 1"), ("0.7", "1 of 1")):
        done = program(*words, "--store", "none", "--runs", "1", "--set", f"formats.tessl.pass_mark={mark}")
        assert (done.code, f"with_skill: {passed} passed" in done.stderr) == (0, True), done.stderr
        assert "Score: 0.700" in done.stdout
        assert "'river/scenario-0' has criteria.json and no task.md" in done.stderr
    done = program("validate", skill / "evals/pond-", "--set", "formats.tessl.pass_mark=2")
    assert (done.code, "pass_mark" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


@pytest.mark.slow
def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)

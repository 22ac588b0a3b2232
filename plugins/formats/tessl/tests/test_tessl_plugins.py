"""Plugins of rules and documents: what of them is installed, where it is evaluated, and how it is written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Install, LoadRequest, Suite
from skillgauge_testkit import FORMATS, Maker
from skillgauge_testkit.program import Program

from .conftest import FORMAT, MODULE, SKILL, TILE, laid, load, loaded, notices, plugin, refusals, scenario

RULE = "---\nalwaysApply: true\n---\n\nFold twice.\n"
DOCS = {
    "docs/index.md": "# Paper\n\nSee [folds](folds.md).\n",
    "docs/folds.md": "Valley and mountain.\n",
    "docs/images/fold.svg": "<svg/>",
}


def tile(folder: Path, manifest: dict[str, Any], files: dict[str, str], place: str = "tile.json") -> Path:
    """A plugin without skills, with a scenario."""
    scenario(folder / "evals/one")
    return laid(folder, {place: json.dumps(TILE | manifest, indent=1)} | files)


def installs(suite: Suite) -> dict[str, list[str]]:
    """The installs of the arm with the plugin, by kind: names of rules, and paths of documents."""
    of_kind: dict[str, list[str]] = {}
    for install in suite.arms[0].installs:
        of_kind.setdefault(install.kind, []).extend([file.path for file in install.files] or [install.name])
    return of_kind


def rule(suite: Suite) -> Install:
    """The first rule of a suite."""
    return next(one for one in suite.arms[0].installs if one.kind == "rule")


@pytest.mark.parametrize(
    ("place", "manifest", "names"),
    [
        ("tile.json", {"steering": {"twice": {"rules": "rules/a.md"}}}, ["twice"]),
        ("tile.json", {"rules": {"twice": {"rules": "rules/a.md", "alwaysApply": True}}}, ["twice"]),
        ("tile.json", {"steering": {"twice": "rules/a.md"}}, ["twice"]),
        (".tessl-plugin/plugin.json", {"rules": ["rules/b.md", "rules/a.md"]}, ["b", "a"]),
        (".tessl-plugin/plugin.json", {"rules": "rules/"}, ["a", "b"]),
        (".tessl-plugin/plugin.json", {}, ["a", "b"]),
    ],
)
def test_rules_of_a_plugin(tmp_path: Path, place: str, manifest: dict[str, Any], names: list[str]) -> None:
    """In each shape of a manifest they are installed with the plugin, whole, and without it there is none."""
    files = {"rules/a.md": RULE, "rules/b.md": "Fold once.\n"}
    suite = loaded(tile(tmp_path / "paper", manifest, files, place) / "evals")
    assert installs(suite) == {"rule": names}
    assert {one.content["text"] for one in suite.arms[0].installs} <= {RULE, "Fold once.\n"}
    assert [(arm.name, arm.skills) for arm in suite.arms] == [("with_plugin", ()), ("without_plugin", ())]
    assert suite.arms[1].installs == ()
    assert [(one.candidate, one.baseline) for one in suite.comparisons] == [("with_plugin", "without_plugin")]


def test_documents_of_a_plugin(tmp_path: Path) -> None:
    """The folder of the entry point is installed; of the plugin's own folder that is what links lead to."""
    folder = tile(tmp_path / "paper", {"docs": "docs/index.md"}, DOCS | {"src/secret.py": "x"})
    suite = loaded(folder / "evals")
    assert installs(suite) == {"documents": [f"documents/{path}" for path in sorted(DOCS)]}
    (documents,) = suite.arms[0].installs
    assert documents.content == {"entry": "documents/docs/index.md", "about": "Things of paper."}
    readme = "[a](docs/folds.md) [b](./more.md#c) [c](https://example.org/x.md) [d](../x.md) [e](evals/one/task.md)\n"
    linked = {"README.md": readme, "more.md": "[back](README.md) [f](src/secret.py)"}
    suite = loaded(tile(tmp_path / "other", {"docs": "README.md"}, DOCS | linked | {"src/secret.py": "x"}) / "evals")
    assert installs(suite) == {"documents": ["documents/README.md", "documents/docs/folds.md", "documents/more.md"]}


def test_scenarios_are_in_no_arm(tmp_path: Path) -> None:
    """Documents and rules that lie around the scenarios bring none of them."""
    inner = tmp_path / "paper/docs"
    scenario(inner / "evals/one")
    laid(inner.parent, {"tile.json": json.dumps(TILE | {"docs": "docs/index.md", "rules": "docs"})} | DOCS)
    paths = [path for paths in installs(loaded(inner / "evals")).values() for path in paths]
    assert (len(paths), [path for path in paths if "evals" in path or "task" in path]) == (5, [])


def test_a_plugin_with_skills_is_installed_whole(tmp_path: Path) -> None:
    """Rules and documents come with its skills, unless the user wants the skills alone; hooks are told."""
    manifest = {"docs": "docs/index.md", "steering": {"twice": {"rules": "a.md"}}, "hooks": {}}
    files = {"tile.json": json.dumps(TILE | manifest, indent=1), "a.md": RULE} | DOCS
    folder = plugin(tmp_path / "paper", files)
    suite = loaded(folder / "evals")
    assert (len(suite.arms[0].skills), sorted(installs(suite))) == (2, ["documents", "rule"])
    assert any(one.startswith("tile.json:11:2 hooks of the plugin are not installed") for one in notices(suite))
    alone = Maker(FORMATS, MODULE)({"skills_only": True})
    (only,) = alone.load(LoadRequest(paths=(str(folder / "evals"),), cwd=str(folder))).suites
    assert [(arm.name, arm.installs) for arm in only.arms] == [("with_skill", ()), ("without_skill", ())]
    assert only.digest != suite.digest


def test_rules_of_a_folder_that_is_a_skill(tmp_path: Path) -> None:
    """The skill is under test together with the rules; it holds the documents already."""
    folder = tile(tmp_path / "boats", {"docs": "docs/index.md", "rules": {"r": "a.md"}}, DOCS | {"a.md": RULE})
    laid(folder, {"SKILL.md": SKILL})
    suite = loaded(folder / "evals")
    assert (suite.id, installs(suite)) == ("paper-boats", {"rule": ["r"]})


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ({"docs": "docs/none.md"}, "tile.json:5:2 there is no document at 'docs/none.md'"),
        ({"docs": "../docs/index.md"}, "tile.json:5:2 there is no document at '../docs/index.md'"),
        ({"steering": {"a": {"rules": "none.md"}}}, "tile.json:7:4 there is no rule at 'none.md'"),
        ({"rules": ["a.md", "../b.md"]}, "tile.json:7:3 there is no rule at '../b.md'"),
        ({}, "tile.json:1:1 this plugin has no skill, no rule and no documents to test"),
    ],
)
def test_parts_that_are_refused(tmp_path: Path, manifest: dict[str, Any], problem: str) -> None:
    """Everything that a manifest lists has to be there, within the plugin; and there has to be something."""
    folder = tile(tmp_path / "paper", manifest, {"a.md": RULE})
    laid(tmp_path, {"docs/index.md": "x", "b.md": "x"})
    assert refusals(folder / "evals") == [problem]


def test_a_plugin_comes_back(tmp_path: Path) -> None:
    """A written plugin is read as the same parts, with the same texts and files."""
    manifest = {"docs": "docs/index.md", "steering": {"twice": {"rules": "a.md"}, "a/b": {"rules": "b.md"}}}
    folder = plugin(tmp_path / "paper", {"tile.json": json.dumps(TILE | manifest), "a.md": RULE, "b.md": "x\n"} | DOCS)
    suite = loaded(folder / "evals")
    dumped = FORMAT.dump(suite)
    laid(tmp_path / "again", {path: data.decode() for path, data in dumped.artifacts})
    again = loaded(tmp_path / "again/evals")
    assert [one.digest for one in again.arms[0].installs] == [one.digest for one in suite.arms[0].installs]
    assert [one.name for one in again.arms[0].skills] == ["boats", "kites"]
    assert dumped.losses == ()


@pytest.mark.slow
def test_end_to_end(program: Program, tmp_path: Path) -> None:
    """A plugin of documents is evaluated with and without it; an engine that cannot place them is refused by name."""
    manifest = {"docs": "docs/index.md", "steering": {"twice": {"rules": "a.md"}}}
    folder = tile(tmp_path / "paper", manifest, DOCS | {"a.md": RULE})
    claim = "Sheet: boat.md says that the sheet is square\nNo glue: boat.md MUST NOT ask for glue"
    script = {"replies": [{"match": "boat", "files": {"boat.md": "square"}, "text": claim}]}
    (program.work / "mock.yaml").write_text(json.dumps(script))
    words = ("eval", folder, "--judge", "mock", "--store", "none", "--runs", "1")
    mock = ("--engine", "mock", "--set", "engines.mock.script=mock.yaml")
    done = program(*words, *mock)
    assert (done.code, "with_plugin: 1 of 1 passed" in done.stderr) == (0, True), done.stderr
    planned = program(*words, *mock, "--dry-run")
    assert "with_plugin: installed beside skills: rule twice, documents documents" in planned.stdout
    refused = program(*words, "--engine", "command", "--set", 'engines.command.argv=["true"]')
    assert refused.code == 2
    assert "engine 'command' cannot install documents, rule of suite 'harbour/paper'" in refused.stderr


def test_parts_are_found_once(tmp_path: Path) -> None:
    """Two manifests that list the same rule install it once."""
    listed = {"rules": {"a": "a.md"}}
    folder = tile(tmp_path / "paper", listed, {"a.md": RULE})
    laid(folder, {".tessl-plugin/plugin.json": json.dumps(TILE | {"rules": ["a.md"]})})
    (suite,) = load(folder / "evals").suites
    assert rule(suite).content == {"text": RULE}
    assert installs(suite) == {"rule": ["a"]}

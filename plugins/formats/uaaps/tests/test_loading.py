"""What a package is read as: artifacts, cases, permissions, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import ArmKind, LoadRequest, Severity, Suite, SuiteError, TargetKind, located_all
from skillgauge_testkit import FORMATS, Maker

EVAL = "name: {name}\ninput: {{ prompt: Go }}\njudge: {{ criteria: It went. }}\n"


def load(package: Path, stage: str = "evals", **options: Any) -> tuple[Suite, ...]:
    """The suites of a package."""
    request = LoadRequest(paths=(str(package),), cwd=str(package), options={"stage": stage, **options})
    return Maker(FORMATS, "skillgauge_format_uaaps.plugin")().load(request).suites


def refused(package: Path, stage: str = "evals", **options: Any) -> list[str]:
    """What is wrong with a package, as people read it."""
    with pytest.raises(SuiteError) as raised:
        load(package, stage, **options)
    return [str(problem).replace(f"{package}/", "") for problem in located_all(raised.value.problems)]


def manifest(package: Path, **changes: Any) -> None:
    """Change the manifest; a value of `None` takes a key out."""
    path = package / "package.agent.json"
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not None}, indent=1))


def config(package: Path, **changes: Any) -> None:
    """Change the configuration of the evals."""
    path = package / "evals/eval-config.json"
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not None}, indent=1))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A package with a manifest, and a case to evaluate it."""
    folder = tmp_path / "bare"
    (folder / "evals/cases").mkdir(parents=True)
    (folder / "package.agent.json").write_text('{"name": "bare", "version": "1.0.0"}')
    (folder / "evals/eval-config.json").write_text('{"version": 1, "engine": "codex"}')
    (folder / "evals/cases/one.yaml").write_text(EVAL.format(name="one"))
    return folder


@pytest.mark.requirement("UA-LAYOUT-001", "UA-LAYOUT-002", "UA-LAYOUT-013", "UA-CASE-002")
def test_a_manifest_makes_a_package(bare: Path) -> None:
    """Nothing else is required, and files that the specification knows for people or for installers do nothing."""
    (suite,) = load(bare)
    for name in ("README.md", "CHANGELOG.md", "LICENSE", "package.agent.lock"):
        (bare / name).write_text("words")
    (same,) = load(bare)
    assert (suite.id, suite.version, [case.id for case in suite.cases]) == ("bare", "1.0.0", ["one"])
    assert [case.execution_digest for case in same.cases] == [case.execution_digest for case in suite.cases]
    assert (suite.arms, suite.warnings) == (same.arms, ())


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_manifest_may_be_json_or_yaml(bare: Path, suffix: str) -> None:
    """Of both the first counts."""
    text = (bare / "package.agent.json").read_text()
    (bare / "package.agent.json").unlink()
    (bare / "package.agent.yaml").write_text("name: other\nversion: 2.0.0\n")
    if suffix == "json":
        (bare / "package.agent.json").write_text(text)
    assert load(bare)[0].id == ("bare" if suffix == "json" else "other")


def test_artifacts_by_convention_and_by_registry(word_tools: Path) -> None:
    """What the manifest lists is all there is of that kind."""
    (suite,) = load(word_tools)
    kinds = [(one.kind, one.name) for one in suite.arms[0].installs]
    assert kinds == [
        ("rule", "AGENTS.md"),
        ("rule", "text/plain"),
        ("command", "count"),
        ("agent", "auditor"),
        ("hooks", "@sample/word-tools"),
        ("servers", "@sample/word-tools"),
    ]
    assert [skill.name for skill in suite.arms[0].skills] == ["word-count"]
    manifest(word_tools, artifacts={"commands": [], "skills": [{"name": "wc", "path": "skills/word-count"}]})
    words = refused(word_tools)
    assert any("there is no skill 'word-count' in the package (there are: wc)" in word for word in words)
    manifest(word_tools, artifacts={"commands": []})
    assert "command" not in {one.kind for one in load(word_tools)[0].arms[0].installs}


@pytest.mark.requirement("UA-LAYOUT-003", "UA-LAYOUT-014")
def test_a_skill_is_installed_whole_but_for_its_tests(word_tools: Path) -> None:
    """Scripts, references and assets; what would give answers away is left out."""
    for folder in ("references", "assets"):
        (word_tools / "skills/word-count" / folder).mkdir()
        (word_tools / "skills/word-count" / folder / "a.md").write_text("x")
    (skill,) = load(word_tools)[0].arms[0].skills
    assert skill.leaves_out == ("tests",)
    installed = [file.path for one in load(word_tools)[0].arms[0].installs for file in one.files]
    assert "hooks/scripts/generated.py" in installed
    assert not [path for path in installed if {"tests", "evals"} & set(path.split("/"))]


@pytest.mark.requirement("UA-CONF-001", "UA-CONF-002")
@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"version": None}, "error[suite.missing-key]: 'version' is missing"),
        ({"version": 2}, "error[suite.value]: 'version' must be 1, not 2"),
        ({"engine": None}, "error[suite.missing-key]: 'engine' is missing"),
        ({"timeout": 0}, "error[suite.value]: 'timeout' must be greater than 0, not 0"),
        ({"sandbox": {"netwrok": True}}, "unknown key 'netwrok' (did you mean network?)"),
        ({"env": {"A": 1}}, "error[suite.wrong-type]: 'A' must be text, not 1"),
    ],
)
def test_a_configuration_that_is_none(bare: Path, changes: dict[str, Any], word: str) -> None:
    """Each thing has its place."""
    config(bare, **changes)
    (found,) = refused(bare)
    assert word in found
    assert found.startswith("evals/eval-config.json:")


@pytest.mark.requirement("UA-CONF-004", "UA-CONF-002")
def test_defaults_of_a_configuration(bare: Path) -> None:
    """A case has 120 seconds, its tools have no network, and it may write anywhere in its workspace."""
    (suite,) = load(bare)
    assert (suite.defaults.engine, suite.defaults.judge_model, suite.defaults.limits.timeout_s) == ("codex", None, 120)
    (case,) = suite.cases
    assert (case.network, case.setup, [check.id for check in case.checks]) == (False, (), ["judge"])
    config(bare, engine="claude-code", timeout=7.5)
    assert (load(bare)[0].defaults.engine, load(bare)[0].defaults.limits.timeout_s) == ("claude-code", 7.5)


@pytest.mark.requirement("UA-CONF-007")
@pytest.mark.parametrize(
    ("wanted", "permissions", "network"),
    [
        (False, None, False),
        (True, None, True),
        (True, {"network": {"hosts": ["a.example"]}}, True),
        (True, {"fs": {"read": ["**"]}}, False),
        (False, {"network": {"hosts": ["a.example"]}}, False),
    ],
)
def test_network(bare: Path, wanted: bool, permissions: dict[str, Any] | None, network: bool) -> None:
    """Only if the evals want it and the manifest does not deny it; a difference is told."""
    config(bare, sandbox={"network": wanted})
    manifest(bare, permissions=permissions)
    (suite,) = load(bare)
    assert [case.network for case in suite.cases] == [network]
    assert [warning.code for warning in suite.warnings] == (["suite.permissions"] if wanted and not network else [])


@pytest.mark.requirement("UA-CASE-001")
@pytest.mark.parametrize(
    ("name", "is_good"), [("a", True), ("a-1", True), ("a" * 64, True), ("a" * 65, False), ("A", False), ("a_b", False)]
)
def test_names_of_cases(bare: Path, name: str, is_good: bool) -> None:
    """Lower-case letters, digits and hyphens, at most 64."""
    (bare / "evals/cases/one.yaml").write_text(EVAL.format(name=name))
    if is_good:
        assert [case.id for case in load(bare)[0].cases] == [name]
    else:
        assert "evals/cases/one.yaml:1:1: error[suite.value]: 'name' must match" in refused(bare)[0].replace(
            "String must", "must"
        )


@pytest.mark.requirement("UA-CASE-003", "UA-LAYOUT-006")
def test_targets(word_tools: Path) -> None:
    """A skill, a hook or an agent; a case without one is about the package."""
    (suite,) = load(word_tools)
    kinds = {target.id: target.kind for target in suite.targets}
    assert kinds["skill:word-count"] is TargetKind.SKILL
    assert kinds["hook:pre-tool-use"] is TargetKind.HOOK
    assert kinds["agent:auditor"] is TargetKind.AGENT
    assert [case.targets for case in suite.cases][-1] == ("package",)
    assert {arm.kind for arm in suite.arms} == {ArmKind.AGENT}


@pytest.mark.requirement("UA-CASE-012")
def test_a_case_without_criteria(bare: Path) -> None:
    """It could not be judged."""
    (bare / "evals/cases/one.yaml").write_text("name: one\ninput: { prompt: Go }\njudge: {}\n")
    assert refused(bare) == ["evals/cases/one.yaml:3:1: error[suite.missing-key]: 'criteria' is missing"]


@pytest.mark.parametrize(
    ("head", "word"),
    [
        ("name: word-count", "there is no description"),
        (f"name: word-count\ndescription: {'x' * 1025}", "has 1025 characters, and may have 1024"),
        ("name: other\ndescription: d", "name 'other' is not that of the folder"),
        ("name: Word-Count\ndescription: d", "may have lower-case letters, digits and hyphens only"),
    ],
)
def test_rules_of_a_skill_file(word_tools: Path, head: str, word: str) -> None:
    """They are errors of evals, where agents may pass over the skill, and warnings of tests, which need no agent."""
    (word_tools / "skills/word-count/SKILL.md").write_text(f"---\n{head}\n---\nText.\n")
    found = [one for one in refused(word_tools) if "SKILL.md" in one]
    assert any(word in one and re.search(r"SKILL\.md:\d+:1: error", one) for one in found), found
    warnings = [warning for suite in load(word_tools, "tests") for warning in suite.warnings]
    assert any(word in warning.message and warning.severity is Severity.WARNING for warning in warnings)
    assert load(word_tools, strict=False)


def test_shapes_that_are_not_portable_are_told(word_tools: Path) -> None:
    """Both specifications have the key, each with another shape."""
    text = "---\nname: word-count\ndescription: d\ncompatibility: { requires: [a] }\nallowed-tools: [Read]\n---\n"
    (word_tools / "skills/word-count/SKILL.md").write_text(text)
    told = [warning.message for warning in load(word_tools)[0].warnings if warning.code == "suite.skill-not-portable"]
    assert len(told) == 2


def test_permissions_that_allow_too_much_are_told(bare: Path) -> None:
    """They are warnings, and stop nothing."""
    wide = {"shell": {"allow": True}, "fs": {"write": ["**"]}, "network": {"hosts": ["*"], "schemes": ["http"]}}
    manifest(bare, permissions=wide)
    assert [one.code for one in load(bare)[0].warnings] == ["suite.permissions"] * 4


def test_a_required_variable_without_a_value(bare: Path) -> None:
    """Evals do not begin without it."""
    manifest(bare, env={"TOKEN_NAME": {"description": "d", "required": True}})
    assert "variable 'TOKEN_NAME' is required and has no value" in refused(bare)[0]
    config(bare, env={"TOKEN_NAME": "value"})
    assert dict(next(iter(load(bare)[0].cases)).env) == {"TOKEN_NAME": "value"}


def test_a_program_that_the_package_needs_and_that_is_not_there(word_tools: Path) -> None:
    """Tests would fail for want of it; evals and `validate` only tell."""
    manifest(word_tools, systemDependencies={"binaries": ["sh", "no-such-program-anywhere"]})
    (problem,) = refused(word_tools, "tests")
    assert problem.startswith("package.agent.json:")
    assert "program 'no-such-program-anywhere' is not there, and the package needs it" in problem
    assert [one.code for one in load(word_tools)[0].warnings] == ["suite.missing-program"]


def test_what_is_no_package(tmp_path: Path) -> None:
    """A manifest of another tool is told by its name."""
    (tmp_path / "aam.yaml").write_text("name: a\n")
    assert "aam.yaml is the manifest of another tool" in refused(tmp_path)[0]


def test_forward_compatible(word_tools: Path) -> None:
    """Unknown fields of a manifest, unknown events and unknown rules of hooks are no mistakes."""
    manifest(word_tools, futureField={"a": 1})
    path = word_tools / "hooks/hooks.json"
    document = json.loads(path.read_text())
    document["hooks"]["future-event"] = [{"hooks": [{"type": "command", "command": "true"}]}]
    path.write_text(json.dumps(document))
    (suite,) = load(word_tools)
    assert [warning.code for warning in suite.warnings] == ["suite.unknown-event"]
    (hooks,) = [one for one in suite.arms[0].installs if one.kind == "hooks"]
    assert "future-event" not in json.dumps(hooks.model_dump(mode="json")["content"])

"""Suites written as packages: what a package says, and what the losses name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import Arm, ArmKind, Case, Check, Dumped, FileSpec, LoadRequest, Suite, SuiteDefaults
from skillgauge_format_uaaps.options import Stage
from skillgauge_skill_folders import skill_ref
from skillgauge_testkit import FORMATS, Maker

FORMAT = Maker(FORMATS, "skillgauge_format_uaaps.plugin")()
SKILL = "---\nname: greet\ndescription: Greets people by name when asked to say hello.\n---\nSay hello.\n"


def load(path: Path, stage: Stage = Stage.EVALS) -> tuple[Suite, ...]:
    """The suites of a package."""
    request = LoadRequest(paths=(str(path),), cwd=str(path), options={"stage": stage})
    return FORMAT.load(request).suites


def written(dumped: Dumped, folder: Path) -> Path:
    """The package on disk."""
    for name, content in dumped.artifacts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def about_a_skill(tmp_path: Path, cases: Sequence[Case], **more: Any) -> Suite:
    """A suite of another format about a skill with a script."""
    root = tmp_path / "greet"
    (root / "scripts").mkdir(parents=True)
    (root / "SKILL.md").write_text(SKILL)
    (root / "scripts/hello.sh").write_text("echo hello\n")
    arms = (Arm(name="with", kind=ArmKind.AGENT, skills=(skill_ref(root, "greet"),)),)
    return Suite(id="greet", name="greet", format="other", root=str(root), cases=tuple(cases), arms=arms, **more)


def case_of(dumped: Dumped, stem: str) -> Any:
    """A case as its file says it."""
    return yaml.safe_load(dict(dumped.artifacts)[f"evals/cases/{stem}.yaml"])


def messages(dumped: Dumped) -> str:
    """All losses."""
    return "\n".join(one.message for one in dumped.losses)


def test_a_package_is_the_same_again(word_tools: Path, tmp_path: Path) -> None:
    """Cases, settings and unknown keys survive without a loss, and so does every other file of the package."""
    first = word_tools / "evals/cases/01-count.yaml"
    first.write_text(first.read_text() + "x-note: {of: mine}\n")
    (before,) = load(word_tools)
    dumped = FORMAT.dump(before)
    assert dumped.losses == ()
    again = written(dumped, tmp_path / "again")
    (after,) = load(again)
    dumps = [
        [case.model_dump(mode="json", exclude={"origin": True, "checks": {"__all__": {"origin"}}, "files": True})
         for case in suite.cases]
        for suite in (before, after)
    ]  # fmt: skip
    assert dumps[0] == dumps[1]
    assert (before.defaults, before.extras, before.name) == (after.defaults, after.extras, after.name)
    assert [arm.digest for arm in before.arms] == [arm.digest for arm in after.arms]


def test_what_an_eval_says(tmp_path: Path) -> None:
    """Texts, made files, blocks and claims become the four expectations and the text for the judge."""
    checks = (
        Check(id="says", scorer="contains", options={"keywords": ("Ada",), "stream": "messages"}),
        Check(id="not", scorer="contains", options={"keywords": ("sorry",), "absent": True}),
        Check(id="made", scorer="files", options={"path": "out.txt", "state": "created"}),
        Check(id="b", scorer="blocked", options={"expect": False, "by": "hook"}),
        Check(id="one", scorer="rubric", options={"claims": ("It is polite.",)}),
        Check(id="two", scorer="rubric", options={"criteria": "It is short."}),
    )
    cases = [Case(id="Greets Ada", prompt="Greet Ada.", description="d", checks=checks, env={"A": "b"})]
    suite = about_a_skill(tmp_path, cases, defaults=SuiteDefaults(engine="codex", judge_model="m"))
    dumped = FORMAT.dump(suite)
    assert case_of(dumped, "01-greets-ada") == {
        "name": "greets-ada",
        "description": "d",
        "target": "skill:greet",
        "input": {"prompt": "Greet Ada."},
        "expected": {
            "contains": ["Ada"],
            "not-contains": ["sorry"],
            "files-created": ["out.txt"],
            "agent-blocked": False,
        },
        "judge": {"criteria": "All of this holds:\n- It is polite.\n- It is short."},
    }
    files = dict(dumped.artifacts)
    assert json.loads(files["evals/eval-config.json"]) == {
        "version": 1,
        "engine": "codex",
        "judge": "m",
        "env": {"A": "b"},
    }
    assert files["skills/greet/scripts/hello.sh"] == b"echo hello\n"
    told = messages(dumped)
    for what in ("called 'greets-ada'", "'says' becomes check 'contains'", "'two' becomes check 'judge'"):
        assert f"case 'Greets Ada': {'it is ' if what.startswith('called') else 'check '}{what}" in told
    (suite,) = load(written(dumped, tmp_path / "package"))
    assert [check.scorer for check in next(iter(suite.cases)).checks] == [
        "contains", "contains", "files", "blocked", "rubric",
    ]  # fmt: skip


def test_what_no_eval_can_say_is_named(tmp_path: Path) -> None:
    """Checks of other scorers, a missing prompt, variables and files that differ between cases: each by its case."""
    judged = Check(id="judge", scorer="rubric", options={"criteria": "It is right."})
    cases = [
        Case(id="a", prompt="A?", checks=(Check(id="x", scorer="exact"),), files=(FileSpec(path="in.txt", text="1"),)),
        Case(id="b", prompt="B?", checks=(judged,), env={"B": "1"}, files=(FileSpec(path="in.txt", text="2"),)),
        Case(id="c", prompt="C?", checks=(judged,), files=(FileSpec(path="in.txt", text="3"),), network=True),
        Case(id="d", input={"a": 1}, checks=(judged,)),
    ]
    dumped = FORMAT.dump(about_a_skill(tmp_path, cases))
    told = messages(dumped).splitlines()
    for what in (
        "case 'a': check 'x' of scorer 'exact' is left out",
        "case 'a': check 'judge' is new",
        "case 'b': env is for all cases of a package; left out: B",
        "case 'c': files: 'in.txt' has another content",
        "case 'c': network is for all cases",
        "case 'd' is left out: it has no prompt",
    ):
        assert [one for one in told if one.startswith(what)], (what, told)
    assert not [one for one in told if one.startswith("case 'b': files")]
    (suite,) = load(written(dumped, tmp_path / "package"))
    texts = [[Path(str(one.source)).read_text() for one in case.files if one.path == "in.txt"] for case in suite.cases]
    assert texts == [["1"], ["2"], []]


def test_tests_and_direct_calls_are_no_evals(word_tools: Path, tmp_path: Path) -> None:
    """Nothing is written where there is nothing to ask an agent, and the reason is said."""
    tests = FORMAT.dump(load(word_tools, Stage.TESTS)[0])
    assert (tests.artifacts, "deterministic tests" in messages(tests)) == ((), True)
    direct = FORMAT.dump(Suite(id="s", format="other", root=str(tmp_path), cases=(Case(id="a", input=1),)))
    assert (direct.artifacts, "case 'a' is left out" in messages(direct)) == ((), True)


def test_a_skill_does_not_become_a_package_of_its_own(tmp_path: Path) -> None:
    """A manifest inside a skill would make a second package there, so it is left out by name."""
    case = Case(
        id="greet", prompt="Say hello.", checks=(Check(id="judge", scorer="rubric", options={"criteria": "?"}),)
    )
    suite = about_a_skill(tmp_path, [case])
    (tmp_path / "greet/package.agent.json").write_text('{"name": "greet", "version": "1.0.0"}')
    dumped = FORMAT.dump(suite)
    assert "suite: 'package.agent.json' of skill 'greet' would make it a package, and is left out" in messages(dumped)
    (again,) = load(written(dumped, tmp_path / "there"))
    assert [one.prompt for one in again.cases] == ["Say hello."]

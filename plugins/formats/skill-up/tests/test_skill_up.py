"""eval.yaml of skill-up: read, refused by position, written, and told apart from others of that name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Case,
    Check,
    LimitOutcome,
    Loaded,
    LoadRequest,
    SkillRole,
    Suite,
    SuiteError,
    VerdictMode,
    VerdictRule,
    located_all,
    thaw,
)
from skillgauge.stats import weighted_mean
from skillgauge_format_skill_up.globs import glob, left_out
from skillgauge_format_skill_up.judges import least_of, mean_threshold, script_of
from skillgauge_format_skill_up.patterns import any_of, any_text, from_go, texts_of, to_go
from skillgauge_patterns import compiled
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_skill_up.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: boats\ndescription: Folds boats of paper. Use when somebody wants a boat.\n---\n\nFold twice.\n"
EVAL = """schema_version: v1alpha1
environment:
  type: none
  env: {PAPER: A4}
  setup_steps:
    - run: mkdir -p harbour
skills:
  - source: local_path
    path: .
    exclude: [drafts/**]
engine:
  name: claude_code
  model: {provider: anthropic, name: claude-sonnet-4-6}
cases:
  files:
    - evals/cases/fold.yaml
    - evals/cases/float.yaml
    - evals/cases/race.yaml
  defaults:
    timeout_seconds: 120
    max_turns: 12
    expect:
      exit_code: 0
      must_not_contain: [scissors]
  parallelism: 2
judge:
  type: agent_judge
  model: anthropic/claude-haiku-4-5
  criteria: [Names the paper]
  pass_threshold: 0.5
benchmark:
  enabled: true
report:
  formats: [json]
"""
FOLD = """title: Fold a boat
description: One sheet.
tag: functional_test
input:
  prompt: Fold a boat of this sheet.
context:
  repo_fixture: evals/fixtures/harbour
  git:
    init: true
    checkout: tide
    apply_diff: evals/fixtures/wind.patch
    remotes: [{name: origin, url: "https://example.invalid/harbour.git"}]
  files:
    notes/sheet.txt: "A4, blue\\n"
constraints:
  timeout_seconds: 90
expect:
  must_contain: [boat, sheet]
  must_not_contain: [scissors, glue]
  files_exist: [boat.txt]
  files_not_exist: [boat.tmp]
  file_contains:
    - {path: boat.txt, content: "Hull: paper"}
judge:
  type: rule_based
  failure:
    - output_contains: {any: [cannot, impossible]}
    - tool_called: {name: Delete}
  success:
    - output_contains:
        all: [Fold]
        any: [blue, "A4 (blue)"]
        not: [red]
    - output_matches:
        all: ["(?m)^Step 1$"]
        any: ["(?i)float", "sail\\\\b"]
    - tool_called: {name: Write, args: {file_path: boat.txt, count: 2, force: true}}
    - files_exist: [boat.txt, harbour/log.txt]
    - exit_code: 0
"""
FLOAT = """id: floats
input:
  turns:
    - {role: user, content: Let it float.}
expect:
  golden_file: evals/fixtures/answer.txt
judges:
  - id: dry
    type: script
    script_path: evals/scripts/dry.sh
    timeout_seconds: 9
  - id: nice
    type: agent_judge
    model: anthropic/claude-haiku-4-5
    criteria: [It floats, It is dry, It has a name, It has a flag]
    pass_threshold: 0.7
"""
RACE = "input: {prompt: Race two boats.}\n"
FILES = {
    "SKILL.md": SKILL,
    "drafts/old.md": "An old idea.\n",
    "evals/eval.yaml": EVAL,
    "evals/cases/fold.yaml": FOLD,
    "evals/cases/float.yaml": FLOAT,
    "evals/cases/race.yaml": RACE,
    "evals/fixtures/harbour/log.txt": "calm\n",
    "evals/fixtures/wind.patch": "--- a/log.txt\n+++ b/log.txt\n@@ -1 +1 @@\n-calm\n+windy\n",
    "evals/fixtures/answer.txt": "It floats.\n",
    "evals/scripts/dry.sh": '#!/bin/sh\ntest "$EVAL_EXIT_CODE" = 0 && echo "$EVAL_FINAL_MESSAGE" | grep -q floats\n',
}
WRITE = {"file_path": r"\Aboat\.txt\Z", "count": r"\A2\Z", "force": r"\Atrue\Z"}
HEAD = "schema_version: v1alpha1\nskills: [{path: .}]\nengine: {name: codex}\ncases: {files: [evals/cases/one.yaml]}\n"


def laid(skill: Path, more: dict[str, str]) -> Path:
    """The files of the suite, some of them in place of others."""
    for place, text in (FILES | more).items():
        (skill / place).parent.mkdir(parents=True, exist_ok=True)
        (skill / place).write_text(text)
    return skill / "evals/eval.yaml"


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """A skill with a suite and all that it names."""
    return laid(tmp_path / "boats", {})


def load(file: Path) -> Loaded:
    """What the format makes of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent)))


def loaded(file: Path) -> Suite:
    """The one suite of a file."""
    return load(file).suites[0]


def case_of(file: Path, **keys: Any) -> Case:
    """The one case of a suite that has nothing else."""
    case = {"input": {"prompt": "Fold."}} | keys
    (file.parent / "cases/one.yaml").write_text(json.dumps(case))
    file.write_text(HEAD)
    (only,) = loaded(file).cases
    return only


def rules(**lists: Any) -> dict[str, Any]:
    """A judge with rules."""
    return {"judge": {"type": "rule_based"} | lists}


def asserted(case: Case) -> list[tuple[str, dict[str, Any]]]:
    """Scorers and options of a case's checks."""
    return [(check.scorer, thaw(check.options)) for check in case.checks]


def refusals(file: Path) -> list[str]:
    """Place, message and hint of everything that is wrong with a suite."""
    with pytest.raises(SuiteError) as caught:
        load(file)
    problems = located_all(caught.value.problems)
    assert all(problem.span and problem.span.line for problem in problems)
    return [
        f"{Path(problem.span.file).name}:{problem.span.line}:{problem.span.column} {problem.message} / {problem.hint}"
        for problem in problems
        if problem.span
    ]


def notices(suite: Suite) -> list[str]:
    """Place and message of what is told of a suite."""
    problems = located_all(suite.warnings)
    return [f"{Path(one.span.file).name}:{one.span.line} {one.message}" for one in problems if one.span]


def written(suite: Suite, folder: Path) -> tuple[Suite, list[str]]:
    """A suite that was written, read again, and what was said to be lost."""
    dumped = FORMAT.dump(suite)
    for path, content in dumped.artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return loaded(folder / "evals/eval.yaml"), [loss.message for loss in dumped.losses]


def rewritten(suite: Suite, folder: Path) -> Suite:
    """A suite that was written without a loss, read again."""
    read, losses = written(suite, folder)
    assert losses == []
    return read


def test_the_suite(suite_file: Path) -> None:
    """Each key of eval.yaml becomes what the documentation says."""
    suite = loaded(suite_file)
    defaults = suite.defaults
    assert (suite.id, suite.format, suite.on_agent_limit) == ("boats", "skill-up", LimitOutcome.ERROR)
    assert (defaults.engine, defaults.model) == ("claude-code", "claude-sonnet-4-6")
    assert (defaults.judge_model, defaults.limits.timeout_s, defaults.limits.max_turns) == (
        "claude-haiku-4-5",
        120,
        None,
    )
    assert (defaults.baseline, defaults.runs) == (True, None)
    assert [(arm.name, [skill.name for skill in arm.skills]) for arm in suite.arms] == [
        ("with_skill", ["boats"]),
        ("without_skill", []),
    ]
    assert [(one.candidate, one.baseline) for one in suite.comparisons] == [("with_skill", "without_skill")]
    assert [case.id for case in suite.cases] == ["fold", "floats", "race"]
    assert {tuple(thaw(case.env).items()) for case in suite.cases} == {(("PAPER", "A4"),)}


def test_a_case(suite_file: Path) -> None:
    """Prompt, files, repository, limits and names of a case."""
    fold, floats, _ = loaded(suite_file).cases
    assert (fold.name, fold.description, fold.tags) == ("Fold a boat", "One sheet.", ("functional_test",))
    assert (fold.prompt, floats.prompt) == ("Fold a boat of this sheet.", "Let it float.")
    assert (fold.limits.timeout_s, fold.limits.max_turns, floats.limits.timeout_s) == (90, None, None)
    assert [(file.path, file.text) for file in fold.files] == [("log.txt", None), ("notes/sheet.txt", "A4, blue\n")]
    assert fold.setup == (
        "mkdir -p harbour",
        "git init -q && git config user.name skill-up && git config user.email skill-up@example.invalid",
        "git remote add origin https://example.invalid/harbour.git",
        "git symbolic-ref HEAD refs/heads/tide",
        "git apply -- context.git.patch",
    )
    assert [(file.path, file.text) for file in fold.setup_files] == [
        ("context.git.patch", FILES["evals/fixtures/wind.patch"])
    ]
    assert [(file.path, file.executable) for file in floats.grader_files] == [("evals/scripts/dry.sh", True)]


def test_the_checks_of_a_case(suite_file: Path) -> None:
    """Expectations come first, the judge is asked only if they hold, and every check says what it asserts."""
    fold = next(iter(loaded(suite_file).cases))
    assert fold.rule.mode is VerdictMode.ALL
    assert [(check.id, check.scorer, check.stage) for check in fold.checks] == [
        ("contains boat, sheet", "contains", 0),
        ("lacks scissors, glue", "contains", 0),
        ("boat.txt is present", "files", 0),
        ("boat.tmp is absent", "files", 0),
        ("boat.txt contains Hull: paper", "files", 0),
        ("lacks cannot, impossible", "contains", 1),
        ("does not call Delete", "tool-call", 1),
        ("contains Fold", "contains", 1),
        ("matches blue|A4\\ \\(blue\\)", "regex", 1),
        ("lacks red", "contains", 1),
        ("matches (?m)^Step 1$", "regex", 1),
        ("matches (?i:float)|(?:sail(?a:\\b))", "regex", 1),
        (f"calls Write with {json.dumps(WRITE)}", "tool-call", 1),
        ("boat.txt is present (2)", "files", 1),
        ("harbour/log.txt is present", "files", 1),
    ]


def test_the_judge_of_all_cases(suite_file: Path) -> None:
    """A case without a judge has that of eval.yaml, and expectations of all cases."""
    race = list(loaded(suite_file).cases)[2]
    assert asserted(race) == [
        ("contains", {"keywords": ["scissors"], "case_sensitive": True, "absent": True}),
        ("rubric", {"claims": ["Names the paper"]}),
    ]
    assert [Path(check.origin.file).name for check in race.checks if check.origin] == ["eval.yaml", "eval.yaml"]


EXPECTATIONS: list[tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
    ({"must_contain": ["a", "b"]}, [("contains", {"keywords": ["a", "b"], "case_sensitive": True})]),
    (
        {"must_not_contain": ["a"]},
        [("contains", {"keywords": ["a"], "case_sensitive": True, "absent": True})],
    ),
    (
        {"files_exist": ["a", "b/c"]},
        [("files", {"path": "a", "state": "present"}), ("files", {"path": "b/c", "state": "present"})],
    ),
    ({"files_not_exist": ["a"]}, [("files", {"path": "a", "state": "absent"})]),
    (
        {"file_contains": [{"path": "a", "content": "x"}, {"path": "a", "content": "y"}]},
        [("files", {"path": "a", "contains": ["x"]}), ("files", {"path": "a", "contains": ["y"]})],
    ),
    ({"golden_file": "evals/fixtures/answer.txt"}, [("exact", {"value": "It floats.\n"})]),
]


@pytest.mark.parametrize(("expect", "checks"), EXPECTATIONS)
def test_each_expectation(suite_file: Path, expect: dict[str, Any], checks: list[tuple[str, dict[str, Any]]]) -> None:
    """One check for each file and each list of texts; without a judge nothing waits."""
    case = case_of(suite_file, expect=expect)
    assert asserted(case) == checks
    assert {check.stage for check in case.checks} == {0}


RULES: list[tuple[str, dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
    ("success", {"output_contains": {"any": ["a"]}}, [("contains", {"keywords": ["a"], "case_sensitive": True})]),
    ("success", {"output_contains": {"any": ["a.", "b"]}}, [("regex", {"patterns": [r"a\.|b"]})]),
    (
        "success",
        {"output_contains": {"not": ["a", "b"]}},
        [("contains", {"keywords": ["a", "b"], "case_sensitive": True, "absent": True})],
    ),
    ("success", {"output_matches": {"all": ["a", "b"]}}, [("regex", {"patterns": ["a", "b"]})]),
    ("success", {"output_matches": {"any": ["(?i)a"]}}, [("regex", {"patterns": ["a"], "case_sensitive": False})]),
    ("success", {"output_matches": {"any": ["(?i)a", "b"]}}, [("regex", {"patterns": ["(?i:a)|(?:b)"]})]),
    ("success", {"output_matches": {"not": ["a"]}}, [("regex", {"patterns": ["a"], "absent": True})]),
    ("success", {"tool_called": {"name": "Read"}}, [("tool-call", {"tool": "Read", "called": True})]),
    (
        "success",
        {"tool_called": {"name": "Read", "args": {"path": "a b", "deep": False, "lines": 3}}},
        [
            (
                "tool-call",
                {
                    "tool": "Read",
                    "called": True,
                    "arguments": {"path": r"\Aa\ b\Z", "deep": r"\Afalse\Z", "lines": r"\A3\Z"},
                },
            )
        ],
    ),
    ("success", {"files_exist": ["a"]}, [("files", {"path": "a", "state": "present"})]),
    ("success", {"files_not_exist": ["a"]}, [("files", {"path": "a", "state": "absent"})]),
    (
        "failure",
        {"output_contains": {"all": ["a"]}},
        [("contains", {"keywords": ["a"], "case_sensitive": True, "absent": True})],
    ),
    (
        "failure",
        {"output_contains": {"any": ["a", "b"]}},
        [("contains", {"keywords": ["a", "b"], "case_sensitive": True, "absent": True})],
    ),
    ("failure", {"output_contains": {"not": ["a"]}}, [("contains", {"keywords": ["a"], "case_sensitive": True})]),
    ("failure", {"output_contains": {"not": ["a", "b"]}}, [("regex", {"patterns": ["a|b"]})]),
    ("failure", {"output_matches": {"any": ["a", "b"]}}, [("regex", {"patterns": ["a", "b"], "absent": True})]),
    ("failure", {"output_matches": {"all": ["a"]}}, [("regex", {"patterns": ["a"], "absent": True})]),
    ("failure", {"output_matches": {"not": ["a", "b"]}}, [("regex", {"patterns": ["(?:a)|(?:b)"]})]),
    ("failure", {"tool_called": {"name": "Read"}}, [("tool-call", {"tool": "Read", "called": False})]),
    ("failure", {"files_exist": ["a"]}, [("files", {"path": "a", "state": "absent"})]),
    ("failure", {"files_not_exist": ["a"]}, [("files", {"path": "a", "state": "present"})]),
]


@pytest.mark.parametrize(("key", "rule", "checks"), RULES)
def test_each_rule(suite_file: Path, key: str, rule: dict[str, Any], checks: list[tuple[str, dict[str, Any]]]) -> None:
    """Rules of success have to hold; a rule of failure is turned around."""
    assert asserted(case_of(suite_file, **rules(**{key: [rule]}))) == checks


@pytest.mark.parametrize(("key", "rule"), [(key, rule) for key, rule, _ in RULES])
def test_each_rule_there_and_back(suite_file: Path, tmp_path: Path, key: str, rule: dict[str, Any]) -> None:
    """What is written of a rule is read as the same checks, and nothing is said to be lost."""
    case = case_of(suite_file, **rules(**{key: [rule]}))
    (read,) = rewritten(loaded(suite_file), tmp_path / "back/boats").cases
    assert [check.digest for check in read.checks] == [check.digest for check in case.checks]


@pytest.mark.parametrize("expect", [one for one, _ in EXPECTATIONS])
def test_each_expectation_there_and_back(suite_file: Path, tmp_path: Path, expect: dict[str, Any]) -> None:
    """What is written of an expectation is read as the same checks."""
    case = case_of(suite_file, expect=expect)
    (read,) = rewritten(loaded(suite_file), tmp_path / "back/boats").cases
    assert [check.digest for check in read.checks] == [check.digest for check in case.checks]


def test_there_and_back(suite_file: Path, tmp_path: Path) -> None:
    """A whole suite is read as it was written: cases, checks, rules, files and defaults."""
    suite = loaded(suite_file)
    read = rewritten(suite, tmp_path / "back/boats")
    for case, other in zip(suite.cases, read.cases, strict=True):
        assert (case.id, case.name, case.description, case.tags) == (
            other.id,
            other.name,
            other.description,
            other.tags,
        )
        assert [check.digest for check in case.checks] == [check.digest for check in other.checks]
        assert (case.rule, case.limits, case.env, case.setup) == (other.rule, other.limits, other.env, other.setup)
        assert case.execution_digest == other.execution_digest
        assert case.checks_digest == other.checks_digest
    assert (read.defaults, read.extras, read.id) == (suite.defaults, suite.extras, suite.id)


def test_defaults_of_expect(suite_file: Path) -> None:
    """Lists are joined, each item once and those of all cases first; a golden answer of the case replaces theirs."""
    common = "cases: {files: [evals/cases/one.yaml], defaults: {expect: {must_contain: [a, b], exit_code: 3, "
    common += "golden_file: nowhere.txt, files_exist: [x]}}}"
    expect = {"must_contain": ["b", "c"], "exit_code": 0, "golden_file": "evals/fixtures/answer.txt"}
    case_of(suite_file)
    (suite_file.parent / "cases/one.yaml").write_text(json.dumps({"input": {"prompt": "Fold."}, "expect": expect}))
    suite_file.write_text(f"schema_version: v1alpha1\n{common}\n")
    (case,) = loaded(suite_file).cases
    assert asserted(case) == [
        ("contains", {"keywords": ["a", "b", "c"], "case_sensitive": True}),
        ("files", {"path": "x", "state": "present"}),
        ("exact", {"value": "It floats.\n"}),
    ]


def test_a_script(suite_file: Path) -> None:
    """A script runs in the workspace with the variables of skill-up; exit code 0 passes, and all else fails."""
    floats = list(loaded(suite_file).cases)[1]
    (script,) = (check for check in floats.checks if check.scorer == "command")
    assert thaw(script.options) == {
        "command": 'EVAL_FINAL_MESSAGE="$RESPONSE_TEXT" EVAL_EXIT_CODE=0 EVAL_TRANSCRIPT_PATH= ./evals/scripts/dry.sh',
        "fail_codes": "any",
        "label": "script evals/scripts/dry.sh",
        "timeout_s": 9.0,
    }
    assert script_of(str(script.options["command"])) == "evals/scripts/dry.sh"
    variables = 'EVAL_FINAL_MESSAGE="$RESPONSE_TEXT" EVAL_EXIT_CODE=0 EVAL_TRANSCRIPT_PATH= '
    others = ("true", "./check.sh", f"{variables}./a b", f"{variables}'", f"{variables}a")
    assert [script_of(command) for command in others] == [None] * 5


def test_criteria(suite_file: Path) -> None:
    """One claim for each criterion, and a share of them that has to hold: 0.7 where none is written."""
    judge = {"type": "agent_judge", "model": "m", "criteria": [f"Fold {number}" for number in range(10)]}
    case = case_of(suite_file, judge=judge)
    assert asserted(case)[:2] == [("rubric", {"claims": ["Fold 0"]}), ("rubric", {"claims": ["Fold 1"]})]
    assert (case.rule, {check.weight for check in case.checks}) == (
        VerdictRule(mode=VerdictMode.MEAN, threshold=0.7),
        {1.0},
    )
    assert case_of(suite_file, judge=judge | {"pass_threshold": 0.25}).rule.threshold == 0.25
    assert case_of(suite_file, judge=judge | {"pass_threshold": 1}).rule.mode is VerdictMode.ALL
    assert case_of(suite_file, judge=judge | {"criteria": ["A", "B"]}).rule.mode is VerdictMode.ALL


def passes(case: Case, values: dict[str, float]) -> bool:
    """Tell whether a case with the rule `mean` passes, where checks have such values; later stages may be missing."""
    stages = sorted({check.stage for check in case.checks})
    first = [check for check in case.checks if check.stage == stages[0]]
    is_over = len(stages) > 1 and any(values[check.id] < 1 for check in first)
    checks = first if is_over else case.checks
    mean = weighted_mean([values[check.id] for check in checks], [check.weight for check in checks])
    return mean >= case.rule.threshold


@pytest.mark.parametrize("criteria", [1, 2, 3, 5, 7, 10])
@pytest.mark.parametrize("threshold", [0, 0.3, 0.5, 0.7, 0.9])
def test_criteria_after_expectations(suite_file: Path, criteria: int, threshold: float) -> None:
    """Whatever the judge says, no expectation can be made up for, and as many criteria as in skill-up are enough."""
    judge = {"type": "agent_judge", "criteria": [f"Fold {number}" for number in range(criteria)]}
    expect = {"must_contain": ["a", "b"], "must_not_contain": ["c"], "files_exist": ["d"]}
    case = case_of(suite_file, expect=expect, judge=judge | {"pass_threshold": threshold})
    claims = [check.id for check in case.checks if check.scorer == "rubric"]
    others = [check.id for check in case.checks if check.scorer != "rubric"]
    if case.rule.mode is VerdictMode.ALL:
        assert (criteria - 1) / criteria < threshold
        return
    assert len(others) == 4
    for number in range(criteria + 1):
        values = dict.fromkeys(others, 1.0) | {one: float(at < number) for at, one in enumerate(claims)}
        assert passes(case, values) is (number / criteria >= threshold)
    for one in others:
        assert not passes(case, dict.fromkeys([*others, *claims], 1.0) | {one: 0.0})


def test_several_judges(suite_file: Path) -> None:
    """All judges of a list have to agree; of one of them a share of the criteria is enough."""
    floats = list(loaded(suite_file).cases)[1]
    assert [(check.scorer, check.stage, check.weight) for check in floats.checks] == [
        ("contains", 0, 8.0),
        ("exact", 0, 8.0),
        ("command", 1, 8.0),
        *[("rubric", 1, 1.0)] * 4,
    ]
    assert floats.rule == VerdictRule(mode=VerdictMode.MEAN, threshold=mean_threshold(3, 4, 3))
    assert [least_of(4, share) for share in (0, 0.5, 0.7, 0.76, 1)] == [0, 2, 3, 4, 4]


def test_a_judge_of_the_case_has_what_it_lacks_from_that_of_all_cases(suite_file: Path) -> None:
    """Model and threshold are inherited, criteria are not; several models stand in the checks."""
    file = suite_file.parent / "cases/race.yaml"
    file.write_text(f"{RACE}judge: {{type: agent_judge, criteria: [Fair, Fast]}}\n")
    race = list(loaded(suite_file).cases)[2]
    assert (asserted(race)[1:], race.rule.threshold) == (
        [("rubric", {"claims": ["Fair"]}), ("rubric", {"claims": ["Fast"]})],
        mean_threshold(1, 2, 1),
    )
    file.write_text(f"{RACE}judge: {{type: agent_judge, model: openai/gpt-x, criteria: [Fair]}}\n")
    suite = loaded(suite_file)
    assert suite.defaults.judge_model is None
    models = [thaw(check.options).get("model") for case in suite.cases for check in case.checks]
    assert sorted(set(filter(None, models))) == ["claude-haiku-4-5", "gpt-x"]
    file.write_text(f"{RACE}judge: {{type: script, script_path: evals/scripts/dry.sh}}\n")
    assert [check.scorer for check in list(loaded(suite_file).cases)[2].checks] == ["contains", "command"]


def test_what_has_no_effect_is_told_once(suite_file: Path) -> None:
    """Each thing once for each file, with its line; what all cases share is one place."""
    told = notices(loaded(suite_file))
    for place in (
        "eval.yaml:13 provider has no effect",
        "eval.yaml:21 max_turns counts messages of a user",
        "eval.yaml:23 exit_code 0 holds for every session",
        "eval.yaml:25 parallelism has no effect",
        "eval.yaml:33 report has no effect",
        "eval.yaml:5 setup steps run when the files of a case are there",
        "fold.yaml:28 tools are named as the agent that runs calls them",
        "fold.yaml:39 exit_code 0 holds",
    ):
        assert any(one.startswith(place) for one in told), (place, told)
    assert len(told) == len(set(told))
    assert not any("eval.yaml" in one and "places" in one for one in told)


@pytest.mark.parametrize(
    ("old", "new", "notice"),
    [
        ("  name: claude_code", "  name: qodercli", "eval.yaml:12 engine 'qodercli' is none here"),
        ("  name: claude_code", "  name: codex\n  version: 1.0.0", "eval.yaml:13 version has no effect"),
        ("  name: claude_code", "  name: codex\n  kwargs: {a: 'true'}", "eval.yaml:13 kwargs has no effect"),
        ("name: claude-sonnet-4-6", "name: a, base_url: 'http://a'", "eval.yaml:13 base_url has no effect"),
        ("    exclude: [drafts/**]", "    target: .codex/skills", "eval.yaml:10 target has no effect"),
        ("  type: none", "  type: none\n  workspace_mount: /w", "eval.yaml:4 workspace_mount has no effect"),
        ("  parallelism: 2", "  retry_policy: {max_retries: 1}", "eval.yaml:25 retry_policy has no effect"),
        ("    max_turns: 12", "    collect_artifacts: ['**']", "eval.yaml:21 collect_artifacts decides nothing"),
        ("  pass_threshold: 0.5", "  context: {profile: minimal}", "eval.yaml:30 a judge sees the answer"),
        ("  pass_threshold: 0.5", "  skills: [{path: x}]", "eval.yaml:30 a judge has no skills"),
        ("  pass_threshold: 0.5", "  timeout_seconds: 60", "eval.yaml:30 limits of judges"),
        ("  pass_threshold: 0.5", "  script_path: x.sh", "eval.yaml:30 script_path has no effect on a judge of type"),
    ],
)
def test_what_is_told(suite_file: Path, old: str, new: str, notice: str) -> None:
    """What has no effect here, or another one, is said at its line, and the suite is read."""
    assert old in EVAL
    suite_file.write_text(EVAL.replace(old, new, 1))
    told = notices(loaded(suite_file))
    assert any(one.startswith(notice) for one in told), told


def test_another_engine_keeps_its_model_for_itself(suite_file: Path) -> None:
    """The model of an agent that is none here says nothing to the one that the user names."""
    suite_file.write_text(EVAL.replace("claude_code", "opencode"))
    assert (loaded(suite_file).defaults.engine, loaded(suite_file).defaults.model) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "place", "word"),
    [
        ("  type: none", "  type: docker\n  image: node", "eval.yaml:3:", "--sandbox docker"),
        ("  type: none", "  type: vm", "eval.yaml:3:", "must be"),
        ("PAPER: A4", "PAPER: $HOME/a4", "eval.yaml:4:", "refers to another variable"),
        ("source: local_path", "source: registry", "eval.yaml:8:", "registry"),
        ("    path: .", "    path: ../nowhere", "eval.yaml:9:", "no skill in"),
        ("exclude: [drafts/**]", "exclude: ['{a']", "eval.yaml:10:", "no pattern for files"),
        ("exclude: [drafts/**]", "include: [drafts/**]", "eval.yaml:10:", "SKILL.md is not installed"),
        ("exclude: [drafts/**]", "exclude: ['*.md']", "eval.yaml:10:", "SKILL.md is not installed"),
        ("engine:", "mcp: {servers: [{name: tide, mode: real}]}\nengine:", "eval.yaml:11:", "has no endpoint"),
        ("engine:", "user_simulator: {modle: m}\nengine:", "eval.yaml:11:", "modle"),
        ("engine:", "engines:", "eval.yaml:11:", "unknown key 'engines'"),
        ("cases/float.yaml", "cases/none.yaml", "eval.yaml:17:", "no file 'evals/cases/none.yaml'"),
        ("evals/cases/float.yaml", "../other.yaml", "eval.yaml:17:", "no file"),
        ("cases/float.yaml", "cases/fold.yaml", "eval.yaml:17:", "listed twice"),
        ("timeout_seconds: 120", "timeout_second: 120", "eval.yaml:20:", "timeout_second"),
        ("exit_code: 0", "exit_code: 2", "eval.yaml:23:", "exit_code 2"),
        ("  type: agent_judge\n", "", "eval.yaml:26:", "without `type`"),
        ("  type: agent_judge", "  type: human", "eval.yaml:27:", "type"),
        ("criteria: [Names the paper]", "criteria: []", "eval.yaml:26:", "needs criteria"),
        ("pass_threshold: 0.5", "pass_threshold: 1.5", "eval.yaml:30:", "pass_threshold"),
        ("benchmark:", "judges: [{id: a, type: rule_based}]\nbenchmark:", "eval.yaml:26:", "not both"),
        ("v1alpha1", "v1", "eval.yaml:1:", "schema_version"),
        ("title: Fold a boat", "title: 3", "fold.yaml:1:", "title"),
        ("tag: functional_test", "tags: [a]", "fold.yaml:3:", "tags"),
        ("prompt: Fold a boat of this sheet.", "prompt: ' '", "fold.yaml:4:", "no prompt"),
        ("fixtures/harbour", "fixtures/none", "fold.yaml:7:", "no folder"),
        ("    init: true\n", "", "fold.yaml:9:", "init: true"),
        ("checkout: tide", "checkout: -tide", "fold.yaml:10:", "no name of a branch"),
        ("wind.patch", "none.patch", "fold.yaml:11:", "no file"),
        ("name: origin", "name: my origin", "fold.yaml:12:", "one word"),
        ("notes/sheet.txt", "/sheet.txt", "fold.yaml:14:", "no place in the workspace"),
        ("notes/sheet.txt", "../sheet.txt", "fold.yaml:14:", "no place in the workspace"),
        ("must_contain: [boat, sheet]", "must_contain: [3]", "fold.yaml:18:", "text"),
        ("must_contain: [boat, sheet]", "exit_code: 1", "fold.yaml:18:", "exit_code 1"),
        ("must_contain: [boat, sheet]", "golden_file: none.txt", "fold.yaml:18:", "no file"),
        ("files_exist: [boat.txt]", "files_exist: [../boat.txt]", "fold.yaml:20:", "inside the workspace"),
        ("files_exist: [boat.txt]", "files_exist: ['*.txt']", "fold.yaml:20:", "pattern"),
        ("files_exist: [boat.txt]", "files_exist: [harbour/]", "fold.yaml:20:", "folder"),
        ("{path: boat.txt, content", "{path: /boat.txt, content", "fold.yaml:23:", "inside the workspace"),
        ("  type: rule_based\n", "", "fold.yaml:24:", "without `type`"),
        ("any: [cannot, impossible]", "all: [cannot, impossible]", "fold.yaml:27:", "all of them are there"),
        ("any: [cannot, impossible]", "any: [a], not: [b]", "fold.yaml:27:", "several lists"),
        ("any: [cannot, impossible]", "", "fold.yaml:27:", "checks nothing"),
        ("tool_called: {name: Delete}", "{exit_code: 1, files_exist: [a]}", "fold.yaml:28:", "a rule has one key"),
        ("tool_called: {name: Delete}", "{}", "fold.yaml:28:", "checks nothing"),
        ("tool_called: {name: Delete}", "exit_code: 0", "fold.yaml:28:", "no session could pass"),
        ("tool_called: {name: Delete}", "files_exist: [a, b]", "fold.yaml:28:", "all of its files"),
        ("tool_called: {name: Delete}", "files_exist: []", "fold.yaml:28:", "checks nothing"),
        ("(?m)^Step 1$", "(?m^Step 1$", "fold.yaml:35:", "not valid"),
        ("(?m)^Step 1$", "(Step", "fold.yaml:35:", "not valid"),
        ("(?m)^Step 1$", "(?=Step)", "fold.yaml:35:", "lookaround"),
        ("count: 2", "count: [2]", "fold.yaml:37:", "argument 'count'"),
        ("count: 2", "count: ''", "fold.yaml:37:", "argument 'count'"),
        ("    - exit_code: 0", "    - exit_code: 7", "fold.yaml:39:", "exit_code 7"),
        ("id: floats", "id: fold", "float.yaml:1:", "two cases have the id 'fold'"),
        ("role: user", "role: assistant", "float.yaml:4:", "role"),
        ("content: Let it float.", "respond: Go on.", "float.yaml:4:", "nothing comes before the first message"),
        ("content: Let it float.", "content: ' '", "float.yaml:4:", "no message"),
        ("content: Let it float.", "content: a, timeout_seconds: 3", "float.yaml:4:", "constraints.timeout_seconds"),
        ("content: Let it float.", "content: a, capture: [{variable: '1'}]", "float.yaml:4:", "variable"),
        (
            "{role: user, content: Let it float.}",
            "{role: user, content: a}\n    - {role: user, respond: b}",
            "float.yaml:5:",
            "no user_simulator says who answers",
        ),
        ("  turns:", "  prompt: Float.\n  turns:", "float.yaml:4:", "not both"),
        ("  - id: dry", "  - id: nice", "float.yaml:12:", "no other has"),
        ("  - id: dry\n    type", "  - type", "float.yaml:8:", "an id that no other has"),
        ("scripts/dry.sh", "scripts/wet.sh", "float.yaml:10:", "no file"),
        ("    script_path: evals/scripts/dry.sh\n", "", "float.yaml:8:", "needs script_path"),
        ("timeout_seconds: 9", "timeout_seconds: 4000", "float.yaml:11:", "3600 seconds"),
        ("judges:", "judge: {type: rule_based}\njudges:", "float.yaml:7:", "not both"),
        ("expect:", "user_simulator: {scenario: a}\nexpect:", "float.yaml:5:", "the messages of turns are written"),
        ("expect:", "user_simulator: {model: a}\nexpect:", "float.yaml:5:", "scenario"),
        ("expect:", "mcp: {servers: [{name: a, mode: real}]}\nexpect:", "float.yaml:5:", "a mocked one"),
    ],
)
def test_what_cannot_be_honoured_is_refused(suite_file: Path, old: str, new: str, place: str, word: str) -> None:
    """Each thing that would change a verdict is an error at its line, in the file that it stands in, with a hint."""
    name = place.partition(":")[0]
    file = suite_file if name == "eval.yaml" else suite_file.parent / "cases" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    problems = refusals(suite_file)
    assert any(one.startswith(place) and word in one for one in problems), problems


def test_one_of_several_texts_is_a_rule_of_a_judge(suite_file: Path) -> None:
    """A key that skill-up has for turns alone is refused with what to write in its place, which then loads."""
    case = suite_file.parent / "cases/other.yaml"
    text = "input: {prompt: Fold a boat.}\nexpect: {must_contain_any: [crease, fold]}\n"
    case.write_text(text)
    suite_file.write_text(suite_file.read_text().replace("cases/float.yaml", "cases/other.yaml"))
    (refusal,) = refusals(suite_file)
    assert "output_contains: {any: [...]}" in refusal
    rule = "judge: {type: rule_based, success: [{output_contains: {any: [crease, fold]}}]}"
    case.write_text(text.replace("expect: {must_contain_any: [crease, fold]}", rule))
    assert load(suite_file).suites


@pytest.mark.parametrize(
    "rule",
    [
        {"turn_response_contains": {"turn": 1, "contains_all": ["a"]}},
        {"turn_response_not_contains": {"turn": 1, "not_contains": ["a"]}},
        {"tool_called_in_turn": {"turn": 1, "name": "Read"}},
        {"tool_not_called_in_turn": {"turn": 1, "name": "Read"}},
    ],
)
def test_rules_about_turns_of_a_prompt_are_refused(suite_file: Path, rule: dict[str, Any]) -> None:
    """In skill-up a prompt is no turn, and such a rule fails whatever is answered."""
    with pytest.raises(SuiteError) as caught:
        case_of(suite_file, **rules(success=[rule]))
    (problem,) = caught.value.problems
    assert problem.origin is not None
    assert problem.origin.pointer == ("judge", "success", 0, *rule)
    assert "there is no turn 1: a case with a prompt has none" in problem.message


def test_all_problems_of_all_files_at_once(suite_file: Path) -> None:
    """What is wrong in several files is told together, and what all cases share once."""
    suite_file.write_text(EVAL.replace("exit_code: 0", "exit_code: 4").replace("PAPER: A4", "PAPER: $A"))
    (suite_file.parent / "cases/fold.yaml").write_text(FOLD.replace("Delete}", "Delete}, files_exist: [a]"))
    (suite_file.parent / "cases/race.yaml").write_text("input: [")
    problems = refusals(suite_file)
    assert sorted(one.partition(":")[0] for one in problems) == ["eval.yaml", "eval.yaml", "fold.yaml", "race.yaml"]


def test_two_judges_that_may_miss_criteria_are_refused(suite_file: Path) -> None:
    """A verdict has one threshold."""
    file = suite_file.parent / "cases/float.yaml"
    more = "  - {id: calm, type: agent_judge, criteria: [A, B, C, D], pass_threshold: 0.5}\n"
    file.write_text(FLOAT + more)
    assert [one.partition(" /")[0] for one in refusals(suite_file)] == [
        "float.yaml:17:5 two judges of a case may each miss some criteria, and a verdict has one threshold"
    ]
    file.write_text(FLOAT + more.replace("0.5", "1"))
    assert len(list(loaded(suite_file).cases)[1].checks) == 11


def test_a_script_that_needs_the_transcript_is_refused(suite_file: Path) -> None:
    """The variable is empty here, so that its verdict would be another one."""
    (suite_file.parent / "scripts/dry.sh").write_text('grep -q Write "$EVAL_TRANSCRIPT_PATH"\n')
    assert refusals(suite_file)[0].startswith("float.yaml:10:5 the script reads EVAL_TRANSCRIPT_PATH")


def test_paths_start_at_the_skill_or_at_the_suite(suite_file: Path) -> None:
    """The skill's folder comes first; a path that is not found there may be one from the file itself."""
    text = EVAL.replace("evals/cases/", "cases/")
    suite_file.write_text(text)
    other = suite_file.parents[1] / "cases/race.yaml"
    other.parent.mkdir()
    other.write_text("id: near\ninput: {prompt: Race.}\n")
    assert [case.id for case in loaded(suite_file).cases] == ["fold", "floats", "near"]


def test_cases_that_are_not_listed_are_told(suite_file: Path) -> None:
    """They are not run; other files beside them are nobody's business."""
    folder = suite_file.parent / "cases"
    (folder / "sink.yaml").write_text("input: {prompt: Sink it.}\n")
    (folder / "notes.yaml").write_text("author: me\n")
    told = notices(loaded(suite_file))
    assert "eval.yaml:15 cases that are not listed are not run: evals/cases/sink.yaml" in told


def test_a_case_that_asserts_nothing_is_told(suite_file: Path) -> None:
    """An exit code of 0 holds for every session, so that there is no verdict."""
    assert case_of(suite_file, expect={"exit_code": 0}).checks == ()
    assert any("asserts nothing but that the session ends" in one for one in notices(loaded(suite_file)))
    dumped = FORMAT.dump(loaded(suite_file))
    assert any("'one' is left out: nothing of it can be checked" in one.message for one in dumped.losses)


def test_nothing_of_the_suite_is_installed(suite_file: Path) -> None:
    """Neither the suite nor what it excludes, nor results of skill-up, wherever they lie."""
    root = suite_file.parents[1]
    (root / "boats-workspace").mkdir()
    (root / "boats-workspace/result.json").write_text("{}")
    for name in ("harbour", "answer.txt"):
        (root / "evals/fixtures" / name).rename(root / name)
    for name in ("fold.yaml", "float.yaml"):
        path = suite_file.parent / "cases" / name
        path.write_text(path.read_text().replace("evals/fixtures/harbour", "harbour").replace("evals/fixtures/a", "a"))
    leaves_out = loaded(suite_file).arms[0].skills[0].leaves_out
    assert {"evals", "drafts/old.md", "boats-workspace", "harbour", "answer.txt"} <= set(leaves_out)
    assert "SKILL.md" not in leaves_out


def test_further_skills_are_installed_with_the_skill_alone(suite_file: Path) -> None:
    """The arm without the skill has none of the list; the one around the suite comes first."""
    other = suite_file.parents[2] / "sails"
    other.mkdir()
    (other / "SKILL.md").write_text(SKILL.replace("name: boats", "name: sails"))
    suite_file.write_text(EVAL.replace("skills:\n", "skills:\n  - path: ../sails\n"))
    suite = loaded(suite_file)
    assert [[(one.name, one.role) for one in arm.skills] for arm in suite.arms] == [
        [("boats", SkillRole.CANDIDATE), ("sails", SkillRole.CANDIDATE)],
        [],
    ]
    losses = [loss.message for loss in FORMAT.dump(suite).losses]
    assert losses == ["skill 'sails', which lies beside the candidate, is not written"]


def test_a_suite_without_a_list_of_skills(suite_file: Path) -> None:
    """The skill around it is taken, and told; without one there is nothing to evaluate."""
    text = EVAL.replace(EVAL[EVAL.index("skills:") : EVAL.index("engine:")], "")
    suite_file.write_text(text)
    suite = loaded(suite_file)
    assert [skill.name for skill in suite.arms[0].skills] == ["boats"]
    assert any("no skill is listed" in one for one in notices(suite))
    (suite_file.parents[1] / "SKILL.md").unlink()
    assert any("there is no skill around this suite" in one for one in refusals(suite_file))


@pytest.mark.parametrize(
    ("pattern", "here", "texts", "others"),
    [
        (r"(?i)boat", r"(?i)boat", ["a BOAT"], ["bo at"]),
        (r"\bboat\b", r"(?a:\b)boat(?a:\b)", ["一boat了"], ["boats"]),
        (r"float$", r"float\Z", ["float"], ["float\n"]),
        (r"(?m)^two$", r"(?m)^two$", ["one\ntwo\nthree"], ["two three"]),
        (r"(?m:^two$)$", r"(?m:^two$)\Z", ["one\ntwo"], ["two\n"]),
        (r"\d+\z", r"(?a:\d)+\Z", ["12"], ["١٢"]),
        (r"[\s\S]x", r"(?a:[\s\S])x", ["\nx"], ["x"]),
        (r"[[:alpha:]_]\w", r"[A-Za-z_](?a:\w)", ["_a"], ["éa"]),
        (r"[^[:punct:]\]]", r"[^!-/:-@\[-`\{-~\]]", ["a"], ["[", "]", "~"]),
        (r"\Qa.b\E+", r"a\.b+", ["a.bb"], ["axb"]),
        (r"\x{8239}", "船", ["船"], ["舟"]),
        (r"\p{Han}", r"\p{Han}", ["船"], ["boat"]),
        (r"a{,2}{e}", r"a\{,2\}\{e\}", ["a{,2}{e}"], ["aa"]),
        (r"(?U)a+(?s-U:.)", r"a+(?s:.)", ["a\n"], ["b"]),
    ],
)
def test_patterns_of_go(pattern: str, here: str, texts: list[str], others: list[str]) -> None:
    """A pattern finds here what it finds there, and is written as it was, or as one that is read alike."""
    assert from_go(pattern) == here
    assert all(compiled(here).search(text) for text in texts)
    assert not any(compiled(here).search(text) for text in others)
    again = to_go(here)
    assert again is not None
    assert from_go(again) == here


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        "(?<!a)",
        r"(a)\1",
        "a++",
        "b(?i)a",
        r"a\Z",
        "(?P=n)",
        r"[\p{L}\w]",
        "(?>a)",
        r"\x{110000}",
        "[[:boat:]]",
    ],
)
def test_patterns_that_go_does_not_know(pattern: str) -> None:
    """What means something here and nothing there is not read, and not written."""
    with pytest.raises(ValueError, match=r"Go|middle|mixes|repeats|no character|class"):
        from_go(pattern)


def test_patterns_of_several() -> None:
    """One of several texts or patterns: each keeps its own flags, and texts are found again."""
    assert any_of(["(?im)a|b", "c"]) == "(?im:a|b)|(?:c)"
    assert texts_of(any_text(["a b", "c|d", "e.f"])) == ("a b", "c|d", "e.f")
    assert [texts_of(pattern) for pattern in ("a|b.", "abc", r"\d|a", "(a|b)")] == [()] * 4


def test_patterns_for_files() -> None:
    """Those of doublestar, where who excludes a folder excludes what is in it."""
    paths = ["SKILL.md", "a/b.md", "a/c/d.md", "e.py"]
    matched = {
        pattern: [path for path in paths if glob(pattern)(path)]
        for pattern in ("*.md", "**/*.md", "a/**", "**", "a/*", "{e,f}.py", "[!S]*", "?.py", r"e\.py")
    }
    assert matched == {
        "*.md": ["SKILL.md"],
        "**/*.md": ["SKILL.md", "a/b.md", "a/c/d.md"],
        "a/**": ["a/b.md", "a/c/d.md"],
        "**": paths,
        "a/*": ["a/b.md"],
        "{e,f}.py": ["e.py"],
        "[!S]*": ["e.py"],
        "?.py": ["e.py"],
        r"e\.py": ["e.py"],
    }
    assert left_out(paths, ["SKILL.md", "a/**"], ["a/c"]) == ("a/c/d.md", "e.py")


def foreign_case(*checks: Check, **more: Any) -> Case:
    """A case as another format could have made it."""
    return Case(id="foreign", prompt="Fold.", checks=checks, **more)


def converted(suite_file: Path, tmp_path: Path, case: Case) -> tuple[Case, list[str]]:
    """A case of another format, written and read again, and what is said to be lost."""
    suite = loaded(suite_file).model_copy(update={"cases": (case,)})
    read, losses = written(suite, tmp_path / "back/boats")
    (only,) = read.cases
    return only, losses


def test_checks_of_other_formats(suite_file: Path, tmp_path: Path) -> None:
    """What can be said in other words is, each judge in its order; what cannot is named with its case."""
    checks = (
        Check(id="any case", scorer="contains", options={"keywords": ("Boat",)}),
        Check(id="pattern", scorer="regex", options={"patterns": (r"\d",), "case_sensitive": False}),
        Check(id="look", scorer="regex", options={"patterns": ("(?=a)",)}),
        Check(id="shell", scorer="command", options={"command": "grep -q boat response.txt", "expect_exit_code": 1}),
        Check(id="good", scorer="rubric", options={"claims": ("Good", "Dry")}),
        Check(id="fires", scorer="trigger", options={"skill": "boats"}),
        Check(id="not", scorer="tool-call", options={"tool": "Bash", "called": False}),
        Check(id="text", scorer="files", options={"path": "a", "contains": ("x",)}),
        Check(id="figure", scorer="contains", options={"keywords": ("a",)}, beside=True),
    )
    case, losses = converted(suite_file, tmp_path, foreign_case(*checks, weight=2.0, tags=("a", "b"), env={"A": "b"}))
    assert [(check.scorer, check.stage) for check in case.checks] == [
        ("files", 0),
        ("regex", 1),
        ("regex", 1),
        ("command", 1),
        ("rubric", 1),
        ("rubric", 1),
        ("tool-call", 1),
    ]
    assert case.rule.mode is VerdictMode.ALL
    assert all(loss.startswith("case 'foreign'") for loss in losses)
    for word in (
        "check 'look' of scorer 'regex' is left out",
        "check 'fires' of scorer 'trigger' is left out",
        "check 'figure' of scorer 'contains' is left out",
        "check 'shell' becomes the script",
        "check 'pattern' is read otherwise",
        "check 'any case' is asked at another stage",
        "its weight is left out",
        "tags but the first cannot be written: b",
    ):
        assert any(word in loss for loss in losses), (word, losses)
    script = next((tmp_path / "back/boats/evals/scripts").iterdir())
    assert "[ $? -eq 1 ]" in script.read_text()


def test_a_rule_for_a_verdict_that_cannot_be_written(suite_file: Path, tmp_path: Path) -> None:
    """A mean of anything but criteria is a loss; one of criteria is a threshold."""
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)
    checks = [Check(id=name, scorer="contains", options={"keywords": (name,), "case_sensitive": True}) for name in "ab"]
    case, losses = converted(suite_file, tmp_path, foreign_case(*checks, rule=rule))
    assert (case.rule.mode, any("its rule for a verdict is left out" in loss for loss in losses)) == (
        VerdictMode.ALL,
        True,
    )
    claims = [Check(id=name, scorer="rubric", options={"claims": (name,)}) for name in ("A", "B", "C")]
    case, losses = converted(suite_file, tmp_path, foreign_case(*claims, rule=rule))
    assert (case.rule, losses) == (rule, [])


def test_what_has_no_words_is_lost_by_name(suite_file: Path, tmp_path: Path) -> None:
    """Set-up that is not that of all cases, files of graders, limits of turns, and cases without a prompt."""
    suite = loaded(suite_file)
    fold, floats, race = suite.cases
    cases = (
        fold.model_copy(update={"setup": ("make harbour",)}),
        floats.model_copy(update={"grader_files": (*floats.grader_files, *fold.setup_files)}),
        race.model_copy(update={"limits": race.limits.model_copy(update={"max_turns": 3}), "skip": "later"}),
        race.model_copy(update={"id": "mute", "prompt": None}),
    )
    losses = [one.message for one in FORMAT.dump(suite.model_copy(update={"cases": cases})).losses]
    assert losses == [
        "case 'fold': its setup cannot be written",
        "case 'floats': its setup cannot be written",
        "case 'floats': grader file 'context.git.patch' cannot be written",
        "case 'race': its limit of turns is left out",
        "case 'race': skip cannot be written",
        "case 'race': its setup cannot be written",
        "case 'mute' is left out: it has no prompt",
    ]


def test_files_that_cannot_be_taken(suite_file: Path) -> None:
    """A golden answer that is no text, and a template that holds a repository with whatever its configuration says."""
    fixtures = suite_file.parent / "fixtures"
    (fixtures / "answer.txt").write_bytes(b"\xff\xfe")
    (fixtures / "harbour/.git").mkdir()
    (fixtures / "harbour/.git/config").write_text("[core]\n")
    problems = refusals(suite_file)
    assert [one.split(" ")[0] for one in problems] == ["fold.yaml:7:3", "float.yaml:6:3"]
    assert "repository of git, which is not copied / Take .git out" in problems[0]
    assert "cannot be read" in problems[1]
    assert "UTF-8" in problems[1]
    (fixtures / "answer.txt").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    assert any("larger than 4,194,304 bytes" in one for one in refusals(suite_file))


def test_what_does_nothing_in_a_case_is_told(suite_file: Path) -> None:
    """Remotes without a repository, limits of messages, files to collect, and exit codes that cannot be."""
    case = case_of(
        suite_file,
        context={"git": {"remotes": [{"name": "a", "url": "b"}]}},
        constraints={"max_turns": 3},
        collect_artifacts=["**"],
        **rules(failure=[{"exit_code": 1}], success=[{"files_exist": ["a"]}]),
    )
    assert (case.setup, len(case.checks)) == ((), 1)
    told = "\n".join(notices(loaded(suite_file)))
    for word in ("remotes have no effect", "max_turns counts", "collect_artifacts", "an error here, and no fail"):
        assert word in told


def test_lists_of_judges_and_judges_of_all_cases(suite_file: Path) -> None:
    """A list of all cases decides where a case has none; an empty one is a mistake."""
    judges = "judges: [{id: a, type: rule_based, success: [{files_exist: [a]}]}]\n"
    (suite_file.parent / "cases/one.yaml").write_text("input: {prompt: Fold.}\n")
    suite_file.write_text(HEAD + judges)
    (case,) = loaded(suite_file).cases
    assert asserted(case) == [("files", {"path": "a", "state": "present"})]
    suite_file.write_text(f"{HEAD}judges: []\n")
    assert refusals(suite_file)[0].startswith("eval.yaml:5:1 there is no judge in this list")
    suite_file.write_text(HEAD.replace("files: [evals/cases/one.yaml]", "files: []"))
    assert refusals(suite_file)[0].startswith("eval.yaml:4:1 there is no case to run")


@pytest.mark.parametrize(
    ("scorer", "options"),
    [
        ("contains", {"keywords": ("a",), "stream": "messages"}),
        ("contains", {"keywords": ()}),
        ("regex", {"patterns": ("a",), "at_least": 2}),
        ("regex", {"patterns": ("(?<=a)b",)}),
        ("files", {"path": "*.txt"}),
        ("files", {"path": "a", "state": "created"}),
        ("files", {"path": "a", "patterns": ("b",)}),
        ("exact", {"value": {"a": 1}}),
        ("exact", {"value": "a", "case_sensitive": False}),
        ("tool-call", {"tool_pattern": "a"}),
        ("tool-call", {"tool": "a", "arguments": {"b": "c"}}),
        ("command", {"command": "true", "reads": "score"}),
        ("rubric", {"criteria": "Good", "scale": "0-10"}),
        ("rubric", {"claims": ("Good",), "reference": "Better"}),
        ("usage", {"turns": 3}),
    ],
)
def test_checks_without_words_are_left_out(suite_file: Path, scorer: str, options: dict[str, Any]) -> None:
    """Nothing is written that would assert something else; the case is left out if nothing remains."""
    case = foreign_case(Check(id="odd", scorer=scorer, options=options))
    dumped = FORMAT.dump(loaded(suite_file).model_copy(update={"cases": (case,)}))
    losses = [one.message for one in dumped.losses]
    assert losses == [
        f"case 'foreign': check 'odd' of scorer {scorer!r} is left out",
        "case 'foreign' is left out: nothing of it can be checked in skill-up",
    ]


def test_what_a_suite_has_beyond_skill_up(suite_file: Path, tmp_path: Path) -> None:
    """Other engines, repeats, limits of turns, executable files and a second golden answer are losses."""
    suite = loaded(suite_file)
    (sheet,) = (file for file in next(iter(suite.cases)).files if file.text is not None)
    answers = [Check(id=name, scorer="exact", options={"value": name}) for name in "ab"]
    case = foreign_case(*answers, files=(sheet.model_copy(update={"executable": True}),))
    limits = suite.defaults.limits.model_copy(update={"max_turns": 3})
    defaults = suite.defaults.model_copy(update={"engine": "api", "runs": 3, "limits": limits})
    arms = tuple(arm.model_copy(update={"skills": ()}) for arm in suite.arms)
    other = suite.model_copy(update={"cases": (case,), "defaults": defaults, "arms": arms, "format": "other"})
    losses = {one.message for one in FORMAT.dump(other).losses}
    assert losses == {
        "the suite is about no skill with a SKILL.md, which has to lie above it",
        "case 'foreign': there is one golden answer: the first is kept, and each further check is left out",
        "case 'foreign': 'notes/sheet.txt' of its files is executable, which cannot be written",
        "default runs cannot be written",
        "a limit of turns cannot be written",
        "engine 'api' is none of skill-up",
    }


def test_files_of_others_are_left(tmp_path: Path, suite_file: Path) -> None:
    """The name alone is not enough, and nothing is without the name."""
    foreign = []
    for number, (name, text) in enumerate(
        [
            ("eval.yaml", "schema_version: v1alpha1\ntasks: []"),
            ("eval.yaml", "schema_version: v2\ncases: {files: []}\nengine: {name: codex}"),
            ("eval.yaml", "cases: [{name: a, prompt: b}]\nengine: codex"),
            ("eval.yaml", "skill: x\nconfig: {}\ntasks: [a.yaml]"),
            ("suite.yaml", HEAD),
        ]
    ):
        place = tmp_path / f"other{number}" / name
        place.parent.mkdir()
        place.write_text(text)
        foreign.append(place)
    check_format(Maker(FORMATS, MODULE), samples=[suite_file], foreign=foreign)


@pytest.mark.slow
def test_mutants(suite_file: Path) -> None:
    """Damaged files: no traceback; each is read, or refused with a place in a file."""
    check_mutants(load, suite_file, 100)
    check_mutants(load, suite_file, 100, file=suite_file.parent / "cases/fold.yaml")
    check_mutants(load, suite_file, 60, file=suite_file.parent / "cases/float.yaml")


@pytest.mark.slow
def test_end_to_end(program: Program, tmp_path: Path) -> None:
    """An agent that plays a script is graded by texts, a file, a repository and a script; a wrong answer fails."""
    case = {
        "input": {"prompt": "Let the boat float."},
        "context": {"git": {"init": True, "checkout": "tide"}, "files": {"log.txt": "calm\n"}},
        "expect": {"must_contain": ["floats"], "file_contains": [{"path": "log.txt", "content": "calm"}]},
        "judges": [
            {"id": "words", "type": "rule_based", "failure": [{"output_matches": {"any": [r"\bsinks\b"]}}]},
            {"id": "dry", "type": "script", "script_path": "evals/scripts/dry.sh"},
        ],
    }
    file = laid(tmp_path / "boats", {"evals/eval.yaml": HEAD, "evals/cases/one.yaml": json.dumps(case)})
    script = program.work / "mock.yaml"
    for text, code, passed in (("It floats.", 0, 1), ("It floats, 它sinks了.", 1, 0), ("It swims.", 1, 0)):
        script.write_text(json.dumps({"replies": [{"match": "boat", "text": text}]}))
        arguments = ("eval", file, "--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--store", "none")
        done = program(*arguments, "--exit-on-fail")
        assert (done.code, f"{passed} of 1 passed" in done.stderr) == (code, True), done.stderr


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


TALK: dict[str, Any] = {
    "input": {"turns": [{"role": "user", "content": text} for text in ("Fold.", "Float.", "Sink.")]}
}


@pytest.mark.parametrize(
    ("key", "rule", "checks"),
    [
        (
            "success",
            {"turn_response_contains": {"turn": 1, "contains_all": ["a", "b"], "contains_any": ["c", "d"]}},
            [
                ("contains", {"keywords": ["a", "b"], "case_sensitive": True}, 0),
                ("regex", {"patterns": [any_text(("c", "d"))]}, 0),
            ],
        ),
        (
            "failure",
            {"turn_response_contains": {"turn": 2, "contains_any": ["a", "b"]}},
            [("contains", {"keywords": ["a", "b"], "case_sensitive": True, "absent": True}, 1)],
        ),
        (
            "success",
            {"turn_response_not_contains": {"turn": 3, "not_contains": ["a", "b"]}},
            [("contains", {"keywords": ["a", "b"], "case_sensitive": True, "absent": True}, 2)],
        ),
        (
            "failure",
            {"turn_response_not_contains": {"turn": 3, "not_contains": ["a"]}},
            [("contains", {"keywords": ["a"], "case_sensitive": True}, 2)],
        ),
        (
            "success",
            {"tool_called_in_turn": {"turn": 1, "name": "Write", "args": {"count": 2}}},
            [("tool-call", {"tool": "Write", "called": True, "arguments": {"count": "\\A2\\Z"}}, 0)],
        ),
        (
            "failure",
            {"tool_called_in_turn": {"turn": 1, "name": "Write"}},
            [("tool-call", {"tool": "Write", "called": False}, 0)],
        ),
        (
            "success",
            {"tool_not_called_in_turn": {"turn": 2, "name": "Write"}},
            [("tool-call", {"tool": "Write", "called": False}, 1)],
        ),
        (
            "failure",
            {"tool_not_called_in_turn": {"turn": 2, "name": "Write"}},
            [("tool-call", {"tool": "Write", "called": True}, 1)],
        ),
    ],
)
def test_each_rule_about_a_turn(
    suite_file: Path, tmp_path: Path, key: str, rule: dict[str, Any], checks: list[tuple[str, dict[str, Any], int]]
) -> None:
    """Turns are one session, turns of rules count from 1, and both are written again."""
    case = case_of(suite_file, **TALK, **rules(**{key: [rule]}))
    assert (case.prompt, case.turns) == ("Fold.", ("Float.", "Sink."))
    assert [(check.scorer, thaw(check.options), check.turn) for check in case.checks] == checks
    again = rewritten(loaded(suite_file), tmp_path / "back/boats").cases[0]
    assert (again.prompt, again.turns) == (case.prompt, case.turns)
    assert [check.digest for check in again.checks] == [check.digest for check in case.checks]


@pytest.mark.parametrize(
    ("key", "rule", "word"),
    [
        (
            "success",
            {"turn_response_contains": {"turn": 4, "contains_all": ["a"]}},
            "there is no turn 4: the last one is 3",
        ),
        ("success", {"turn_response_contains": {"turn": 1}}, "checks nothing"),
        ("success", {"turn_response_contains": {"turn": 0, "contains_all": ["a"]}}, "turn"),
        ("success", {"tool_called_in_turn": {"turn": 1, "name": "Write", "args": {"a": []}}}, "argument 'a'"),
        ("failure", {"turn_response_contains": {"turn": 1, "contains_all": ["a", "b"]}}, "cannot be checked"),
        (
            "failure",
            {"turn_response_contains": {"turn": 1, "contains_all": ["a"], "contains_any": ["b"]}},
            "several lists",
        ),
    ],
)
def test_rules_about_turns_that_are_refused(suite_file: Path, key: str, rule: dict[str, Any], word: str) -> None:
    """A rule that cannot hold, or cannot be checked, is an error at its place."""
    with pytest.raises(SuiteError) as caught:
        case_of(suite_file, **TALK, **rules(**{key: [rule]}))
    (problem,) = caught.value.problems
    assert word in problem.message
    assert problem.origin is not None
    assert problem.origin.pointer[:3] == ("judge", key, 0)


CONDITION = {"must_contain_all": ["folds", "dry"], "must_contain_any": ["a", "b"], "must_not_contain": ["sinks"]}


def test_conditions_of_turns_end_the_conversation(suite_file: Path, tmp_path: Path) -> None:
    """Each list is a required check of its turn, before any judge is asked, and is written again."""
    turns = [{"role": "user", "content": text} for text in ("Fold.", "Float.")]
    talk = {"input": {"turns": [turns[0] | {"post_condition": CONDITION | {"on_fail": "fail"}}, turns[1]]}}
    case = case_of(
        suite_file, **talk, **rules(success=[{"turn_response_contains": {"turn": 2, "contains_all": ["x"]}}])
    )
    assert [(check.scorer, check.turn, check.required, check.stage) for check in case.checks] == [
        ("contains", 0, True, 0),
        ("regex", 0, True, 0),
        ("contains", 0, True, 0),
        ("contains", 1, False, 1),
    ]
    again, losses = written(loaded(suite_file), tmp_path / "back/boats")
    assert losses == []
    assert [check.digest for check in again.cases[0].checks] == [check.digest for check in case.checks]
    assert again.cases[0].execution_digest == case.execution_digest


def test_a_case_of_conditions_alone(suite_file: Path, tmp_path: Path) -> None:
    """It asserts something; a condition that cannot be written is told."""
    turns = [{"role": "user", "content": text} for text in ("Fold.", "Float.")]
    case_of(suite_file, input={"turns": [turns[0] | {"post_condition": {"must_contain_any": ["a"]}}, turns[1]]})
    suite = loaded(suite_file)
    case = suite.cases[0]
    again, _ = written(suite, tmp_path / "back/boats")
    assert [check.digest for check in again.cases[0].checks] == [check.digest for check in case.checks]
    call = Check(id="called", scorer="tool-call", options={"tool": "Write", "called": True}, turn=0, required=True)
    more = case.model_copy(update={"checks": (*case.checks, call)})
    _, losses = written(suite.model_copy(update={"cases": (more,)}), tmp_path / "more/boats")
    assert any("'called' ends no conversation" in loss for loss in losses)


def test_a_conversation_that_would_be_judged_all_the_same(suite_file: Path) -> None:
    """A condition that ends a conversation and fails nothing is refused at its place."""
    turn = {
        "role": "user",
        "content": "Fold.",
        "post_condition": {"must_contain_any": ["a"], "on_fail": "skip_remaining"},
    }
    with pytest.raises(SuiteError) as caught:
        case_of(suite_file, input={"turns": [turn, {"role": "user", "content": "Float."}]})
    (problem,) = caught.value.problems
    assert "would have the rest judged" in problem.message
    assert problem.origin is not None
    assert problem.origin.pointer == ("input", "turns", 0, "post_condition", "on_fail")


@pytest.mark.parametrize(
    ("keys", "model", "turns"),
    [
        ({}, None, 11),
        ({"constraints": {"max_turns": 4}}, None, 3),
        ({"user_simulator": {"scenario": "You are Ann.", "model": {"provider": "p", "name": "m"}}}, "m", 11),
    ],
)
def test_a_scenario_is_a_simulated_user(
    suite_file: Path, tmp_path: Path, keys: dict[str, Any], model: str | None, turns: int
) -> None:
    """A model goes on after the prompt, for so many messages of the user as there may be, and is written again."""
    scenario = {"user_simulator": {"scenario": "You are Ann."}, "expect": {"must_contain": ["a"]}}
    user = case_of(suite_file, **scenario | keys).user
    assert user is not None
    options = {"instructions": "You are Ann."} | ({"model": model} if model else {})
    assert (user.check.scorer, dict(user.check.options), user.turns) == ("simulated-user", options, turns)
    suite = loaded(suite_file)
    again, losses = written(suite, tmp_path / "back/boats")
    assert losses == []
    assert again.cases[0].execution_digest == suite.cases[0].execution_digest


def test_a_simulator_that_is_never_asked(suite_file: Path) -> None:
    """With one message of the user there is the prompt alone."""
    scenario = {"user_simulator": {"scenario": "You are Ann."}, "expect": {"must_contain": ["a"]}}
    assert case_of(suite_file, **scenario, constraints={"max_turns": 1}).user is None
    assert any("no simulator is asked" in one.message for one in loaded(suite_file).warnings)


def test_a_condition_of_the_only_turn(suite_file: Path) -> None:
    """There is nothing after it that it could end, and skill-up does not look at it."""
    turn = {"role": "user", "content": "Fold.", "post_condition": {"must_contain_any": ["a"]}}
    case = case_of(suite_file, input={"turns": [turn]}, expect={"must_contain": ["b"]})
    assert [check.required for check in case.checks] == [False]
    assert any("the only turn" in one.message for one in loaded(suite_file).warnings)


def test_the_only_turn_is_all_of_the_session(suite_file: Path, tmp_path: Path) -> None:
    """A rule about it is about the session, as it would be with a prompt."""
    turn = {"input": {"turns": [{"role": "user", "content": "Fold."}]}}
    rule = {"turn_response_contains": {"turn": 1, "contains_all": ["a"]}}
    case = case_of(suite_file, **turn, **rules(success=[rule]))
    assert (case.turns, [check.turn for check in case.checks]) == ((), [None])
    again = rewritten(loaded(suite_file), tmp_path / "back/boats").cases[0]
    assert [check.digest for check in again.checks] == [check.digest for check in case.checks]


def test_checks_of_a_turn_without_words_are_left_out(suite_file: Path, tmp_path: Path) -> None:
    """Scripts, criteria and patterns look at the end of a session, and are lost if they are about one turn."""
    case_of(suite_file, **TALK, **rules(success=[{"turn_response_contains": {"turn": 1, "contains_all": ["a"]}}]))
    suite = loaded(suite_file)
    case = suite.cases[0]
    more = (
        Check(id="judged", scorer="rubric", options={"claims": ("It is dry.",)}, turn=0),
        Check(id="matched", scorer="regex", options={"patterns": ("a+",)}, turn=0),
        Check(id="run", scorer="command", options={"command": "true"}, turn=0),
    )
    told = case.model_copy(update={"checks": (*case.checks, *more)})
    read, losses = written(suite.model_copy(update={"cases": (told,)}), tmp_path / "back/boats")
    assert [check.digest for check in read.cases[0].checks] == [check.digest for check in case.checks]
    assert [loss.split("check ")[1] for loss in losses] == [
        f"{check.id!r} of scorer {check.scorer!r} is left out" for check in more
    ]

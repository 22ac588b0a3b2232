"""eval.yaml of waza: read, refused by position, written, and told apart from others of that name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Case, Loaded, LoadRequest, SkillRole, Suite, SuiteError, VerdictMode, located_all, thaw
from skillgauge_format_waza.commands import assertions_of, program_of
from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_mutants, check_plugin
from skillgauge_testkit.program import Program

MODULE = "skillgauge_format_waza.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: labels\ndescription: Prints labels of parcels. Use when a parcel needs a label.\n---\n\nPrint.\n"
EVAL = """name: labels-eval
description: What the skill labels is good for.
skill: labels
version: "1.2"
config:
  trials_per_task: 2
  timeout_seconds: 60
  executor: mock
  model: some-model
  judge_model: judge-model
metrics:
  - {name: done, weight: 1.0, threshold: 0.8}
graders:
  - type: code
    name: says something
    config:
      assertions: ["len(output) > 0"]
  - type: text
    name: quiet
    config: {not_contains: [FATAL]}
tasks:
  - tasks/*.yaml
"""
TASK = """id: print
name: Print a label
description: One parcel.
tags: [parcel, print]
timeout_seconds: 30
inputs:
  prompt: Print the label of parcel 7.
  context: {kind: parcel}
  files:
    - path: parcels.csv
    - {path: in/note.txt, content: "Hurry.\\n"}
  environment: {UNIT: kg}
expected:
  output_contains: [parcel]
  should_trigger: true
  behavior: {max_iterations: 4}
  outcomes:
    - type: task_completed
graders:
  - type: text
    name: quiet
    config: {regex_not_match: ["(?i)fatal"]}
  - type: program
    name: checked
    weight: 2.5
    config: {command: python3, args: [graders/check.py, a b], timeout: 9}
"""
COUNT = "id: count\nname: Count\nenabled: false\ninputs: {prompt: Count the parcels.}\n"
CHECK = 'import sys; sys.exit(0 if "parcel" in sys.stdin.read() else 1)\n'


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """A skill with a suite and all that it names."""
    return laid(tmp_path / "labels", {})


def laid(skill: Path, more: dict[str, str]) -> Path:
    """The files of the suite, some of them in place of others."""
    files = {
        "SKILL.md": SKILL,
        "evals/eval.yaml": EVAL,
        "evals/tasks/a.yaml": TASK,
        "evals/tasks/b.yaml": COUNT,
        "evals/fixtures/parcels.csv": "a,b\n",
        "evals/graders/check.py": CHECK,
    }
    for place, text in (files | more).items():
        (skill / place).parent.mkdir(parents=True, exist_ok=True)
        (skill / place).write_text(text)
    return skill / "evals/eval.yaml"


def load(file: Path) -> Loaded:
    """What the format makes of a file."""
    return FORMAT.load(LoadRequest(paths=(str(file),), cwd=str(file.parent)))


def loaded(file: Path) -> Suite:
    """The one suite of a file."""
    return load(file).suites[0]


def case_of(file: Path, grader: dict[str, Any]) -> Case:
    """The task of a suite whose only grader is this one."""
    task = {"id": "one", "name": "One", "inputs": {"prompt": "Do it."}, "graders": [{"name": "g"} | grader]}
    (file.parent / "tasks/a.yaml").write_text(json.dumps(task))
    (file.parent / "tasks/b.yaml").unlink(missing_ok=True)
    file.write_text(file.read_text().replace(EVAL[EVAL.index("graders:") : EVAL.index("tasks:")], ""))
    (case,) = loaded(file).cases
    return case


def refusals(file: Path) -> list[str]:
    """Place and message of everything that is wrong with a suite."""
    with pytest.raises(SuiteError) as caught:
        load(file)
    found = located_all(caught.value.problems)
    return [f"{Path(one.span.file).name}:{one.span.line}:{one.span.column} {one.message}" for one in found if one.span]


def test_what_is_read(suite_file: Path) -> None:
    """Each key of eval.yaml and of a task becomes what the documentation says."""
    suite = loaded(suite_file)
    first, second = suite.cases
    defaults = suite.defaults
    assert (suite.id, suite.version, defaults.runs, defaults.limits.timeout_s) == ("labels-eval", "1.2", 2, 60)
    assert (defaults.engine, defaults.model, defaults.judge_model) == (None, None, "judge-model")
    assert (first.id, first.name, first.tags) == ("print", "Print a label", ("parcel", "print"))
    assert (first.limits.timeout_s, defaults.baseline) == (30, False)
    assert [one.path for one in first.files] == ["parcels.csv", "in/note.txt"]
    assert (thaw(first.env), second.skip) == ({"UNIT": "kg"}, "enabled: false")
    assert [one.path for one in first.grader_files] == ["graders/check.py"]
    assert first.rule.mode is VerdictMode.ALL
    assert [(one.id, one.scorer, one.beside) for one in first.checks] == [
        ("says something", "command", False),
        ("quiet", "regex", False),
        ("checked", "command", False),
        ("expected: output_contains", "contains", False),
        ("expected: max_iterations", "usage", False),
        ("expected: should_trigger", "trigger", True),
    ]
    assert first.checks[2].weight == 2.5
    assert [one.id for one in second.checks] == ["says something", "quiet"]


def test_what_has_no_effect_is_told_once(suite_file: Path) -> None:
    """Each thing once for each file, with its place."""
    (suite_file.parent / "tasks/c.yaml").write_text(TASK.replace("id: print", "id: again"))
    warnings = located_all(loaded(suite_file).warnings)
    told = [one.message for one in warnings]
    for word in ("executor", "model has", "metrics", "context", "outcomes", "what is expected"):
        assert any(word in one for one in told), (word, told)
    assert len({(one.message, one.span.file) for one in warnings if one.span}) == len(told)
    assert all(one.span and one.span.line for one in warnings)


GRADERS: list[tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
    (
        {"type": "text", "config": {"contains": ["a"], "not_contains_cs": ["b"], "regex_match": ["c"]}},
        [
            ("contains", {"keywords": ["a"], "case_sensitive": False, "absent": False}),
            ("contains", {"keywords": ["b"], "case_sensitive": True, "absent": True}),
            ("regex", {"patterns": ["c"], "absent": False}),
        ],
    ),
    ({"type": "regex", "config": {"must_match": ["a"]}}, [("regex", {"patterns": ["a"], "absent": False})]),
    (
        {"type": "keyword", "config": {"must_not_contain": ["a"]}},
        [("contains", {"keywords": ["a"], "case_sensitive": False, "absent": True})],
    ),
    ({"type": "code", "assertions": ["duration_ms < 30000"]}, [("usage", {"duration_s": 29.999})]),
    ({"type": "code", "assertions": ["len(tool_calls) <= 3"]}, [("usage", {"tool_calls": 3})]),
    ({"type": "code", "assertions": ["len(tool_calls) < 1"]}, [("usage", {"tool_calls": 0})]),
    ({"type": "code", "assertions": ["len(tool_calls) > 0"]}, [("tool-call", {"tool_pattern": ".", "called": True})]),
    (
        {"type": "file", "config": {"must_exist": ["a"], "must_not_exist": ["b"]}},
        [("files", {"path": "a", "state": "present"}), ("files", {"path": "b", "state": "absent"})],
    ),
    (
        {"type": "file", "config": {"content_patterns": [{"path": "a", "must_match": ["x"], "must_not_match": ["y"]}]}},
        [("files", {"path": "a", "patterns": ["x", r"\A(?!(?s:.*)(?:y))"]})],
    ),
    (
        {"type": "diff", "config": {"expected_files": [{"path": "a", "contains": ["+ x", "-y", "z"]}]}},
        [("files", {"path": "a", "contains": ["x", "z"], "lacks": ["y"]})],
    ),
    (
        {"type": "diff", "config": {"expected_files": [{"path": "a", "snapshot": "parcels.csv"}]}},
        [("files", {"path": "a", "equals": "a,b\n"})],
    ),
    (
        {"type": "json_schema", "config": {"schema": {"type": "object"}}},
        [("json-schema", {"schema": {"type": "object"}})],
    ),
    (
        {"type": "behavior", "config": {"max_tool_calls": 3, "max_tokens": 4, "max_duration_ms": 5000}},
        [("usage", {"tool_calls": 3}), ("usage", {"tokens": 4}), ("usage", {"duration_s": 5.0})],
    ),
    (
        {"type": "behavior", "config": {"required_tools": ["a"], "forbidden_tools": ["b"]}},
        [("tool-call", {"tool": "a", "called": True}), ("tool-call", {"tool": "b", "called": False})],
    ),
    (
        {"type": "action_sequence", "config": {"matching_mode": "exact_match", "expected_actions": ["a", "b"]}},
        [("sequence", {"tools": ["a", "b"], "order": "exact"})],
    ),
    (
        {"type": "skill_invocation", "config": {"mode": "in_order", "required_skills": ["labels"]}},
        [("sequence", {"skills": ["labels"], "order": "in-order"})],
    ),
    (
        {"type": "tool_constraint", "config": {"reject_tools": [{"tool": "bash", "command_pattern": "rm"}]}},
        [("tool-call", {"tool_pattern": "bash", "called": False, "arguments": {"command": "(?i)rm"}})],
    ),
    (
        {"type": "prompt", "config": {"prompt": "Is it?", "model": "m"}},
        [("rubric", {"criteria": "Is it?", "model": "m"})],
    ),
    ({"type": "prompt", "rubric": "Is it?"}, [("rubric", {"criteria": "Is it?"})]),
]


@pytest.mark.parametrize(("grader", "checks"), GRADERS)
def test_each_grader(suite_file: Path, grader: dict[str, Any], checks: list[tuple[str, dict[str, Any]]]) -> None:
    """A grader becomes a check for each thing that a scorer decides, which share its weight."""
    case = case_of(suite_file, grader | {"weight": 3.0})
    assert [(one.scorer, thaw(one.options)) for one in case.checks] == checks
    assert sum(one.weight for one in case.checks) == pytest.approx(3.0)
    assert len({one.id for one in case.checks}) == len(checks)


@pytest.mark.parametrize("grader", [one for one, _ in GRADERS])
def test_each_grader_there_and_back(suite_file: Path, tmp_path: Path, grader: dict[str, Any]) -> None:
    """What is written of a grader is read as the same checks, and nothing is said to be lost."""
    case = case_of(suite_file, grader)
    (back,) = rewritten(loaded(suite_file), tmp_path / "back/labels").cases
    assert [one.digest for one in back.checks] == [one.digest for one in case.checks]


def rewritten(suite: Suite, folder: Path) -> Suite:
    """A suite that was written without a loss, read again."""
    dumped = FORMAT.dump(suite)
    assert dumped.losses == ()
    for path, content in dumped.artifacts:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return loaded(folder / "eval.yaml")


def test_there_and_back(suite_file: Path, tmp_path: Path) -> None:
    """A whole suite is read as it was written."""
    suite = loaded(suite_file)
    back = rewritten(suite, tmp_path / "back/labels")
    for one, other in zip(suite.cases, back.cases, strict=True):
        assert (one.id, one.name, one.tags, one.description) == (other.id, other.name, other.tags, other.description)
        assert {check.digest for check in one.checks} == {check.digest for check in other.checks}
        assert {file.path for file in one.files} == {file.path for file in other.files}
        assert (one.prompt, one.env, one.skip, one.limits) == (other.prompt, other.env, other.skip, other.limits)
    assert back.defaults == suite.defaults
    assert (back.name, back.version, back.extras) == (suite.name, suite.version, suite.extras)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("skill: labels", "skill: lables", "eval.yaml:3:"),
        ("  executor: mock", "  executor: other", "eval.yaml:8:"),
        ("  executor: mock", "  mcp_servers: {a: {command: 3}}", "eval.yaml:8:"),
        (
            "metrics:",
            "mcp_mocks: [{name: a, tools: {t: {responses: [{match_schema: {a: 1}}]}}}]\nmetrics:",
            "eval.yaml:11",
        ),
        ("  executor: mock", "  skill_directories: [nowhere]", "eval.yaml:8:"),
        ("  executor: mock", "  required_skills: [other]", "eval.yaml:8:"),
        ("  executor: mock", "  timeouts: 3", "eval.yaml:8:"),
        ("trials_per_task: 2", "trials_per_task: 0", "eval.yaml:6:"),
        ("tasks/*.yaml", "tasks/none.yaml", "eval.yaml:22:"),
        ("tasks/*.yaml", "/tasks/*.yaml", "eval.yaml:22:"),
        ("tasks/*.yaml", "../*.yaml", "eval.yaml:22:"),
        ("tasks/*.yaml", ".", "eval.yaml:22:"),
        ("- tasks/*.yaml", "- {id: a, prompt: b}", "eval.yaml:22:"),
        ("name: quiet", "name: says something", "eval.yaml:19:"),
        ("type: code", "type: human", "eval.yaml:14:"),
        ("len(output) > 0", "len(errors) == 0", "eval.yaml:17:"),
        ("len(output) > 0", "len(output", "eval.yaml:17:"),
        ("metrics:", "hooks: {before_task: [{command: make}]}\nmetrics:", "eval.yaml:11:"),
        ("metrics:", "tasks_from: rows.csv\nmetrics:", "eval.yaml:11:"),
        ("metrics:", "range: [1, 2]\nmetrics:", "eval.yaml:11:"),
        ("id: print", "id: count", "b.yaml:1:"),
        ("path: parcels.csv", "path: other.csv", "a.yaml:10:"),
        ("path: in/note.txt", "path: /note.txt", "a.yaml:11:"),
        ("timeout_seconds: 30", "context_dir: other", "a.yaml:5:"),
        ("timeout_seconds: 30", "timeout: 30", "a.yaml:5:"),
        ("output_contains:", "output_contain:", "a.yaml:14:"),
        ("max_iterations: 4", "max_iterations: 0", "a.yaml:16:"),
        (
            "  context: {kind: parcel}",
            "  responder: {instructions: Say yes.}\n  follow_up_prompts: [Pack it.]",
            "a.yaml:8:3 a task has follow_up_prompts or a responder",
        ),
        ("  context: {kind: parcel}", "  responder: {max_followups: 2}", "a.yaml:8:"),
        ("  context: {kind: parcel}", "  follow_up_prompts: [Pack it., ' ']", "a.yaml:8:33"),
        ('"(?i)fatal"', '"(fatal"', "a.yaml:22:"),
        ("regex_not_match", "regexp", "a.yaml:22:"),
        ('{regex_not_match: ["(?i)fatal"]}', "{}", "a.yaml:22:"),
        ("    weight: 2.5", "    script: a.py", "a.yaml:25:"),
        ("    weight: 2.5", "    rubric: Is it?", "a.yaml:25:"),
        ("    weight: 2.5", "    weight: .nan", "a.yaml:25:"),
        ("type: program", "type: programm", "a.yaml:23:"),
        ("name: checked", "name: quiet", "a.yaml:24:"),
    ],
)
def test_what_does_not_map_is_refused(suite_file: Path, old: str, new: str, place: str) -> None:
    """Each thing that would be lost is an error at its line, in the file that it stands in."""
    is_of_suite = old in EVAL and place.startswith("eval.yaml")
    file, text = (suite_file, EVAL) if is_of_suite else (suite_file.parent / "tasks/a.yaml", TASK)
    assert old in text
    file.write_text(text.replace(old, new, 1))
    found = refusals(suite_file)
    assert any(one.startswith(place) for one in found), found


@pytest.mark.parametrize(
    ("grader", "word"),
    [
        ({"type": "code", "config": {"language": "javascript", "assertions": ["true"]}}, "JavaScript"),
        ({"type": "code", "config": {"assertions": ["sorted(output)"]}}, "sorted"),
        ({"type": "prompt", "config": {"prompt": "a", "mode": "pairwise"}}, "two arms"),
        ({"type": "prompt", "config": {}}, "needs `prompt`"),
        ({"type": "file", "config": {"must_exist": ["../a"]}}, "inside the workspace"),
        ({"type": "file", "config": {"must_exist": ["a*"]}}, "pattern"),
        ({"type": "file", "config": {"content_patterns": [{"path": "a"}]}}, "no pattern"),
        ({"type": "diff", "config": {"expected_files": [{"path": "a"}]}}, "nothing to compare"),
        ({"type": "diff", "config": {"expected_files": [{"path": "a", "snapshot": "none"}]}}, "no file"),
        ({"type": "json_schema", "config": {}}, "exactly one"),
        ({"type": "json_schema", "config": {"schema_file": "none.json"}}, "no file"),
        ({"type": "behavior", "config": {"max_tokens": 0}}, "max_tokens"),
        ({"type": "tool_constraint", "config": {"expect_tools": [{"tool": "("}]}}, "pattern"),
        ({"type": "text", "assertions": ["a"], "config": {"contains": ["a"]}}, "assertions"),
        ({"type": "llm"}, "no grader of type"),
        ({}, "type"),
    ],
)
def test_graders_that_are_refused(suite_file: Path, grader: dict[str, Any], word: str) -> None:
    """What no scorer decides is an error with a place and a reason."""
    with pytest.raises(SuiteError) as caught:
        case_of(suite_file, grader)
    found = located_all(caught.value.problems)
    assert any(word in one.message or word in str(one.hint) for one in found), [str(one) for one in found]
    assert all(one.span and one.span.line for one in found)


def test_skills_beside_the_candidate(tmp_path: Path) -> None:
    """Skills of the directories lie beside the candidate in both arms; the suite finds it by name."""
    for name in ("labels", "stamps"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(SKILL.replace("name: labels", f"name: {name}"))
    config = "  executor: mock\n  skill_directories: [../skills]\n  required_skills: [stamps]"
    file = laid(tmp_path, {"evals/eval.yaml": EVAL.replace("  executor: mock", config)})
    (tmp_path / "SKILL.md").unlink()
    arms = {arm.name: [(one.name, one.role) for one in arm.skills] for arm in loaded(file).arms}
    other = ("stamps", SkillRole.DISTRACTOR)
    assert arms == {"with_skill": [("labels", SkillRole.CANDIDATE), other], "without_skill": [other]}


def test_nothing_of_the_suite_is_installed(suite_file: Path, tmp_path: Path) -> None:
    """Fixtures, tasks and graders are left out of the skill, also where they lie beside SKILL.md."""
    back = rewritten(loaded(suite_file), tmp_path / "flat/labels")
    assert {"eval.yaml", "fixtures", "tasks/00001-print.yaml"} <= set(back.arms[0].skills[0].leaves_out)


def test_commands_are_read_again() -> None:
    """Commands that the user wrote are not taken for those of graders."""
    for command in ("python3 check.py < response.txt", "true", "'", 'WAZA_WORKSPACE_DIR="$PWD" a; b < response.txt'):
        assert assertions_of(command) is None
        assert program_of(command) is None


def test_files_of_others_are_left(tmp_path: Path, suite_file: Path) -> None:
    """The name alone is not enough."""
    check_format(Maker(FORMATS, MODULE), samples=[suite_file], foreign=_foreign(tmp_path))


def _foreign(folder: Path) -> list[Path]:
    texts = [
        "cases: [{name: a, prompt: b}]",
        "skill: x\nconfig: {}\ntasks: [{name: a, instruction: b}]",
        "tests: [{vars: {a: b}}]",
        "skill: x\ntasks: [a.yaml]",
    ]
    found = []
    for number, text in enumerate(texts):
        place = folder / f"other{number}/eval.yaml"
        place.parent.mkdir()
        place.write_text(text)
        found.append(place)
    return found


@pytest.mark.slow
def test_mutants(program: Program, suite_file: Path) -> None:
    """Damaged files: no traceback; each is read, or refused with a place in a file."""
    check_mutants(load, suite_file, 100)
    check_mutants(load, suite_file, 100, file=suite_file.parent / "tasks/a.yaml")
    suite_file.write_text(EVAL.replace("type: code", "type: human"))
    done = program("validate", suite_file)
    assert (done.code, "eval.yaml:14:" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


@pytest.mark.slow
def test_end_to_end(program: Program, suite_file: Path) -> None:
    """An agent that plays a script is graded by commands, patterns and limits; a wrong answer fails."""
    (suite_file.parent / "tasks/b.yaml").unlink()
    script = program.work / "mock.yaml"
    arguments = ("eval", suite_file.parent, "--engine", "mock", "--set", "engines.mock.script=mock.yaml")
    for text, code, passed in (("The label of parcel 7.", 0, 1), ("A letter.", 1, 0)):
        script.write_text(json.dumps({"replies": [{"match": "parcel", "text": text, "turns": 2}]}))
        done = program(*arguments, "--store", "none", "--runs", "1", "--exit-on-fail")
        assert (done.code, f"{passed} of 1 passed" in done.stderr) == (code, True), done.stderr


def test_announcement() -> None:
    """Hook, provider and entry points fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)


def test_conversations(suite_file: Path, tmp_path: Path) -> None:
    """Follow-up prompts are further turns of the session, whose end all graders look at, and are written again."""
    task = TASK.replace("  context: {kind: parcel}", "  follow_up_prompts: [Pack it., Send it.]")
    (suite_file.parent / "tasks/a.yaml").write_text(task)
    suite = loaded(suite_file)
    case, single = suite.cases
    assert (case.prompt, case.turns) == ("Print the label of parcel 7.", ("Pack it.", "Send it."))
    assert [check.turn for check in case.checks] == [None] * len(case.checks)
    assert single.turns == ()
    back = rewritten(suite, tmp_path / "back/labels").cases[0]
    assert (back.prompt, back.turns) == (case.prompt, case.turns)
    assert {check.digest for check in back.checks} == {check.digest for check in case.checks}


@pytest.mark.parametrize(
    ("written", "options", "most"),
    [
        ("{instructions: Say yes., max_followups: 2}", {"instructions": "Say yes."}, 2),
        ("{instructions: Ask back., model: m-1}", {"instructions": "Ask back.", "model": "m-1"}, 10),
    ],
)
def test_a_responder_is_a_simulated_user(
    suite_file: Path, tmp_path: Path, written: str, options: dict[str, str], most: int
) -> None:
    """A model says what comes after the prompt, and the responder is written again."""
    (suite_file.parent / "tasks/a.yaml").write_text(TASK.replace("context: {kind: parcel}", f"responder: {written}"))
    suite = loaded(suite_file)
    case = suite.cases[0]
    assert case.user is not None
    assert (case.user.check.scorer, dict(case.user.check.options), case.user.turns) == ("simulated-user", options, most)
    back = rewritten(suite, tmp_path / "back/labels").cases[0]
    assert back.execution_digest == case.execution_digest
    assert [loss.message for loss in FORMAT.dump(suite).losses if "simulated" in loss.message] == []
    talking = case.model_copy(update={"turns": ("And?",)})
    losses = FORMAT.dump(suite.model_copy(update={"cases": (talking,)})).losses
    assert any("after further turns" in loss.message for loss in losses)


def test_a_check_of_one_turn_is_a_loss(suite_file: Path) -> None:
    """Graders look at the end of a session, so that a check of one turn is told when it is written."""
    case = loaded(suite_file).cases[0]
    checks = (case.checks[0].model_copy(update={"turn": 1}), *case.checks[1:])
    suite = loaded(suite_file).model_copy(
        update={"cases": (case.model_copy(update={"turns": ("On.",), "checks": checks}),)}
    )
    assert any("is about turn 1, and would be about the whole" in loss.message for loss in FORMAT.dump(suite).losses)


MOCKS = """\
mcp_mocks:
  - name: post
    tools:
      track:
        description: Tracks a parcel.
        input_schema: {type: object}
        responses:
          - match: {id: 7}
            return: {state: sent}
          - match_regex: {id: "^[0-9]+$"}
            error: no such parcel
"""


def test_servers(suite_file: Path, tmp_path: Path) -> None:
    """Each task has them in both arms, a mock in the place of a server of its name, and they come back."""
    servers = "  mcp_servers: {post: {command: post}, map: {type: local, command: map, args: [-v], tools: ['*']}}"
    changed = EVAL.replace("  executor: mock", f"{servers}\n  executor: mock").replace("metrics:", f"{MOCKS}metrics:")
    suite_file.write_text(changed)
    suite = loaded(suite_file)
    expected, mocked = next(iter(suite.cases)).installs
    assert thaw(expected.content)["servers"] == {"map": {"command": "map", "args": ["-v"]}}
    mock = thaw(mocked.content)["servers"]["post"]["mock"]
    assert mock["tools"] == [{"name": "track", "description": "Tracks a parcel.", "inputSchema": {"type": "object"}}]
    first, second = mock["answers"]["track"]
    assert first == {"text": '{"state":"sent"}', "equals": {"id": 7}}
    assert (second["text"], second["is_error"], second["when"][0]["at"]) == ("no such parcel", True, "id")
    assert any("'tools' of a server has no effect" in one.message for one in suite.warnings)
    back = rewritten(suite, tmp_path / "back/labels")
    assert [one.digest for one in next(iter(back.cases)).installs] == [expected.digest, mocked.digest]
    other = suite.model_copy(update={"format": "other"})
    assert any("installs cannot be written" in one.message for one in FORMAT.dump(other).losses)

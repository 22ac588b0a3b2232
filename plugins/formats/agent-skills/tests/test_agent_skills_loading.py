"""From files to suites."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex

from skillgauge.api import ArmKind, Case, LimitOutcome, Loaded, Severity, Suite
from skillgauge_format_agent_skills.checks.rules import nowhere

from .conftest import Load, Write, told

Faults = Callable[..., list[tuple[str, int | None, str]]]
SkillMaker = Callable[..., Path]


def only(loaded: Loaded) -> Suite:
    """The one suite, of a load without problems."""
    assert not loaded.problems
    (suite,) = loaded.suites
    return suite


def case_of(loaded: Loaded) -> Case:
    """The one case of the one suite."""
    (case,) = only(loaded).cases
    return case


def warnings(loaded: Loaded) -> list[str]:
    """Messages of all warnings."""
    found = [one for suite in loaded.suites for one in suite.warnings]
    assert all(one.severity is Severity.WARNING for one in found)
    return [one.message for one in found]


def test_two_arms_differ_by_the_skill_alone(skill: SkillMaker, load: Load, write: Write) -> None:
    """One arm has the skill without its suites, the other has none; nothing else is told apart."""
    root = skill({"prompt": "p", "assertions": ["a"]})
    write("tables/scripts/convert.py", "")
    suite = only(load(root))
    with_skill, without_skill = suite.arms
    (ref,) = with_skill.skills
    assert (ref.name, ref.root, ref.leaves_out) == ("tables", str(root), ("evals",))
    assert (without_skill.skills, without_skill.kind) == ((), ArmKind.AGENT)
    assert [(one.candidate, one.baseline) for one in suite.comparisons] == [("with_skill", "without_skill")]
    assert (suite.id, suite.document, suite.dialect) == ("tables", "agent-skills", "agentskills")
    before = suite
    write("tables/scripts/convert.py", "changed")
    after = only(load(root))
    assert before.arms[0].digest != after.arms[0].digest
    assert before.arms[1].digest == after.arms[1].digest
    assert before.targets == after.targets  # so that sessions of the arm without the skill can be used again


@pytest.mark.requirement("SE-FORMAT-004")
def test_assertions_are_for_a_judge(skill: SkillMaker, load: Load) -> None:
    """D-2: each text of both keys is a claim, true or false, in the order of the file, each once."""
    root = skill(
        {
            "id": 7,
            "prompt": "p",
            "expected_output": "a table",
            "expectations": ["First.", "Second."],
            "assertions": ["Second.", " Third. ", {"name": "Fourth.", "type": "quality"}],
        }
    )
    case = case_of(load(root))
    assert case.id == "7"
    assert [check.id for check in case.checks] == ["First.", "Second.", "Third.", "Fourth."]
    assert {check.scorer for check in case.checks} == {"rubric"}
    assert case.checks[0].options == {"claims": ("First.",), "reference": "a table"}
    assert only(load(root)).dialect == "skill-creator"


def test_expected_output_alone_is_enough(skill: SkillMaker, load: Load) -> None:
    """The least that is valid everywhere can be judged."""
    case = case_of(load(skill({"id": 1, "prompt": "p", "expected_output": {"rows": 3}})))
    (check,) = case.checks
    assert (check.id, check.scorer, check.options["reference"]) == ("expected_output", "rubric", {"rows": 3})
    assert "claims" in check.options


@pytest.mark.parametrize(
    ("assertion", "scorer", "options"),
    [
        ({"type": "contains", "value": "x"}, "contains", {"keywords": ("x",), "case_sensitive": True}),
        ({"type": "icontains_all", "value": ["x", "y"]}, "contains", {"keywords": ("x", "y"), "case_sensitive": False}),
        ({"type": "contains-any", "value": ["x", "1+1"]}, "regex", {"patterns": (r"x|1\+1",), "case_sensitive": True}),
        (
            {"type": "not-contains", "value": "a.b"},
            "contains",
            {"keywords": ("a.b",), "case_sensitive": True, "absent": True},
        ),
        ({"type": "Regex", "value": r"\d+"}, "regex", {"patterns": (r"\d+",), "case_sensitive": True}),
        ({"type": "starts-with", "value": "{"}, "regex", {"patterns": (r"\A\{",), "case_sensitive": True}),
        ({"type": "equals", "value": 3}, "exact", {"value": 3}),
        ({"type": "is-json"}, "json-schema", {"schema": {}}),
        ({"type": "json-schema", "value": {"type": "array"}}, "json-schema", {"schema": {"type": "array"}}),
        ({"type": "file-created", "value": "a/*.md"}, "files", {"path": "a/*.md", "state": "created"}),
        ({"type": "not-file-exists", "value": "a"}, "files", {"path": "a", "state": "absent"}),
        (
            {"type": "command", "value": "exit 3", "expect_exit_code": 3, "text": "t"},
            "command",
            {"command": "exit 3", "fail_codes": "any", "expect_exit_code": 3, "label": "t"},
        ),
    ],
)
def test_what_a_program_decides(
    assertion: dict[str, Any], scorer: str, options: dict[str, Any], skill: SkillMaker, load: Load
) -> None:
    """An object with a type that a program can decide, and a value, needs no judge."""
    (check,) = case_of(load(skill({"prompt": "p", "assertions": [assertion]}))).checks
    assert (check.scorer, dict(check.options)) == (scorer, options)
    assert check.id


ABSENT = {"patterns": ("TODO|FIXME",), "case_sensitive": True, "absent": True}


@pytest.mark.parametrize(
    ("assertion", "scorer", "options"),
    [
        ({"type": "contains_pattern", "pattern": "a|b"}, "regex", {"patterns": ("a|b",), "case_sensitive": True}),
        ({"type": "content_regex", "regex": "a+"}, "regex", {"patterns": ("a+",), "case_sensitive": True}),
        (
            {"type": "regex_present", "pattern": "a", "flags": "i"},
            "regex",
            {"patterns": ("a",), "case_sensitive": False},
        ),
        ({"type": "regex_absent", "pattern": "TODO|FIXME"}, "regex", ABSENT),
        (
            {"type": "not_contains_pattern", "pattern": "TODO|FIXME"},
            "regex",
            ABSENT,
        ),
        ({"type": "contains_phrase", "phrase": "a b"}, "contains", {"keywords": ("a b",), "case_sensitive": True}),
        ({"type": "content_contains", "value": "plan"}, "contains", {"keywords": ("plan",), "case_sensitive": True}),
        ({"type": "content_contains", "pattern": "plan"}, "regex", {"patterns": ("plan",), "case_sensitive": True}),
        (
            {"type": "content_contains", "target": "output", "pattern": "f(x)"},
            "regex",
            {"patterns": (r"(?:f(x))|f\(x\)",), "case_sensitive": True},
        ),
        (
            {"type": "content_contains", "pattern": "f(x", "case_sensitive": False},
            "regex",
            {"patterns": (r"f\(x",), "case_sensitive": False},
        ),
        (
            {"type": "content_contains", "path": "report.md", "value": "Verdict"},
            "files",
            {"path": "report.md", "state": "present", "contains": ("Verdict",), "case_sensitive": True},
        ),
        (
            {"type": "content_regex", "file": "report.md", "pattern": "V.*"},
            "files",
            {"path": "report.md", "state": "present", "patterns": ("V.*",), "case_sensitive": True},
        ),
        ({"type": "file_exists", "path": "a"}, "files", {"path": "a", "state": "present"}),
        ({"type": "command", "command": "true"}, "command", {"command": "true", "fail_codes": "any"}),
    ],
    ids=str,
)
def test_types_and_keys_of_real_files(
    assertion: dict[str, Any], scorer: str, options: dict[str, Any], skill: SkillMaker, load: Load
) -> None:
    """D-4: types and keys that public suites have are decided by a program, and nothing of them is told as unknown."""
    loaded = load(skill({"prompt": "p", "assertions": [{"text": "t", **assertion}]}))
    (check,) = case_of(loaded).checks
    assert (check.scorer, {key: value for key, value in check.options.items() if key != "label"}) == (scorer, options)
    assert not warnings(loaded)


def test_types_without_a_rule_go_to_a_judge_with_all_they_say(skill: SkillMaker, load: Load) -> None:
    """D-4: no value is dropped, a key that turns the meaning keeps programs from deciding, and one notice tells all."""
    items = [
        {"text": "It has 5.", "type": "contains", "value": {"n": 5}},
        {"text": "It greps.", "type": "tool_use", "tool": "grep", "min": 2},
        {"text": "It is kind.", "type": "semantic", "prompt": "Would a guest feel welcome?"},
        {"type": "llm-rubric", "value": "It is short."},
        {"text": "No plan.", "type": "sentiment", "mood": "glad", "negate": True},
        {"text": "The log names it.", "type": "contains", "value": "x", "target": "transcript"},
        {"text": "It has x.", "type": "contains"},
        {"text": "It is fine.", "type": "tool_use"},
    ]
    loaded = load(skill({"prompt": "p", "assertions": items}))
    checks = case_of(loaded).checks
    assert {check.scorer for check in checks} == {"rubric"}
    assert [check.options["claims"] for check in checks] == [
        ('It has 5. (contains; value: {"n":5})',),
        ("It greps. (tool_use; tool: grep; min: 2)",),
        ("It is kind. (semantic; prompt: Would a guest feel welcome?)",),
        ("It is short.",),
        ("No plan. (sentiment; mood: glad; negate: true)",),
        ("The log names it. (contains; value: x; target: transcript)",),
        ("It has x.",),
        ("It is fine.",),
    ]
    assert warnings(loaded) == [
        "a judge decides assertions of types for which there is no rule, or no fitting value: "
        "'contains' (3), 'tool_use' (2), 'sentiment' (1)"
    ]


def test_how_an_assertion_counts(skill: SkillMaker, load: Load) -> None:
    """D-4: weight, threshold and what is optional are followed; what cannot be is told with its count."""
    items = [
        {"text": "a", "weight": 5, "critical": True},
        {"text": "b", "type": "contains", "value": "b", "threshold": 0.9, "provider": "openai:gpt"},
        {"text": "c", "threshold": 0.9},
        {"text": "d", "optional": True},
        {"text": "e", "weight": 0},
    ]
    loaded = load(skill({"prompt": "p", "expected_output": "r", "assertions": items}))
    checks = {check.id: check for check in case_of(loaded).checks}
    assert [check.weight for check in checks.values()] == [5, 1, 1, 1, 1]
    assert [check.beside for check in checks.values()] == [False, False, False, True, True]
    told = {"criteria": "c", "scale": "0-1", "threshold": 0.9, "reference": "r"}
    assert dict(checks["c"].options) == told
    (warning,) = warnings(loaded)
    assert warning.endswith("without effect: 'threshold' (1), 'provider' (1)")


def test_a_trigger_check_beside_assertions(skill: SkillMaker, load: Load) -> None:
    """D-1: both arms are graded by the same checks; whether the skill fired stands beside the verdict."""
    evals = [
        {"prompt": "p", "assertions": ["a"], "should_trigger": True},
        {"prompt": "q", "assertions": ["a"], "should_trigger": False},
        {"prompt": "r", "should_trigger": True},
    ]
    both, queries = load(skill(*evals)).suites
    assert [[(check.id, check.beside) for check in case.checks] for case in both.cases] == [
        [("a", False), ("Fired when it should", True)],
        [("a", False), ("Silent when it should be", True)],
    ]
    assert [[(check.id, check.beside) for check in case.checks] for case in queries.cases] == [[("trigger", False)]]


def test_the_same_words_twice(skill: SkillMaker, load: Load) -> None:
    """Two assertions with the same text that are checked differently are two checks."""
    items = [{"text": "It has x.", "type": "contains", "value": "x"}, "It has x."]
    checks = case_of(load(skill({"prompt": "p", "assertions": items}))).checks
    assert [(check.id, check.scorer) for check in checks] == [("It has x.", "contains"), ("It has x. (2)", "rubric")]


def test_other_names_of_keys(skill: SkillMaker, load: Load) -> None:
    """Names of other tools are read, and each is told once, with the preferred one."""
    evals = [{"query": f"p{n}", "expectedOutput": "e", "assertions": ["a"], "case_set": "dev"} for n in range(3)]
    loaded = load(skill(*evals, schema_version=1))
    assert [case.prompt for case in only(loaded).cases] == ["p0", "p1", "p2"]
    assert [case.id for case in only(loaded).cases] == ["1", "2", "3"]
    (named,) = [message for message in warnings(loaded) if "under the names" in message]
    assert named.endswith("'query' (3) as 'prompt', 'expectedOutput' (3) as 'expected_output'")
    (kept,) = [message for message in warnings(loaded) if "kept for people" in message]
    assert kept.endswith("becomes a tag: 'case_set' (3); kept for people: 'schema_version' (1)")
    assert {case.tags for case in only(loaded).cases} == {("case_set:dev",)}


def test_input_files(skill: SkillMaker, load: Load, write: Write) -> None:
    """Files are found from the skill's folder, then from `evals/`, and keep the path that the prompt knows."""
    write("tables/evals/files/a.csv", "1")
    write("tables/evals/files/deep/b.csv", "2")
    written = ["evals/files/a.csv", "./files/a.csv", "evals/files/deep"]
    files = case_of(load(skill({"prompt": "p", "assertions": ["a"], "files": written}))).files
    assert [file.path for file in files] == ["evals/files/a.csv", "files/a.csv", "evals/files/deep/b.csv"]
    assert all(file.digest for file in files)


def test_mistakes_have_places(skill: SkillMaker, faults: Faults, write: Write, tmp_path: Path) -> None:
    """Everything that is wrong is told at once, with its line, before anything runs."""
    (tmp_path / "secret").write_text("x")
    root = skill()
    (root / "link").symlink_to(tmp_path / "secret")
    text = """{"evals": [
 {"id": "a", "prompt": "p", "assertions": ["x"], "files": ["../secret"]},
 {"id": "a", "prompt": "p", "assertions": [5]},
 {"id": true, "prompt": "p"},
 {"id": "b", "assertions": ["x"]},
 {"id": "c", "prompt": "", "files": ["absent.csv"]},
 {"id": "d", "prompt": "p", "assertions": [{"type": "quality"}],
  "files": ["absent.csv", "link"]},
 "e"
]}"""
    write("tables/evals/evals.json", text)
    found = {(code.removeprefix("suite."), line) for code, line, _ in faults(root)}
    assert found == {
        ("escaping-path", 2),
        ("duplicate-id", 3),
        ("wrong-type", 3),
        ("value", 4),
        ("missing-key", 5),
        ("value", 6),
        ("no-text", 7),
        ("missing-file", 8),
        ("escaping-path", 8),
        ("wrong-type", 9),
    }


def test_lines_of_json_lines(skill: SkillMaker, faults: Faults, write: Write) -> None:
    """In a file of lines, a problem is at the line of its eval."""
    root = skill()
    file = write(
        "tables/evals/evals.jsonl", '{"prompt": "p", "assertions": ["a"]}\n\n{"prompt": "q", "assertions": [1]}\n'
    )
    assert [(code, line) for code, line, _ in faults(file)] == [("suite.wrong-type", 3)]
    file.write_text('{"prompt": "p", "assertions": ["a"]}\n{"prompt"\n')
    assert [line for _, line, _ in faults(root)] == [2]


def test_json_lines_are_read_whole_or_refused(skill: SkillMaker, faults: Faults, write: Write) -> None:
    """A file of many megabytes loses no eval, and one beyond the limit of documents says so (R3-V2)."""
    root = skill()
    line = json.dumps({"prompt": "p" * 1_000_000, "assertions": ["a"]})
    file = write("tables/evals/evals.jsonl", f"{line}\n" * 12 + '{"prompt"\n')
    assert [line for _, line, _ in faults(root)] == [13]
    with file.open("r+b") as stream:
        stream.truncate(64 * 1024 * 1024 + 1)
    assert [code for code, _, _ in faults(root)] == ["document.too-large"]


def test_yaml(skill: SkillMaker, load: Load, write: Write) -> None:
    """YAML says the same."""
    root = skill()
    write("tables/evals/evals.yaml", "skill_name: tables\nevals:\n- prompt: p\n  assertions: [a]\n")
    assert case_of(load(root)).prompt == "p"


def test_nothing_in_it(skill: SkillMaker, faults: Faults, write: Write, tmp_path: Path) -> None:
    """A skill without evals, evals without a skill, and an empty list are told apart."""
    assert [code for code, _, _ in faults(skill())] == ["suite.no-evals"]
    lonely = write("lonely/evals.json", {"evals": [{"prompt": "p", "assertions": ["a"]}]})
    ((code, _, message),) = faults(lonely)
    assert (code, "there is no SKILL.md" in message) == ("suite.no-skill", True)
    assert [code for code, _, _ in faults(write("tables/evals/evals.json", {"evals": []}))] == ["suite.no-cases"]
    assert [code for code, _, _ in faults(write("tables/evals/other.json", {"a": 1}))] == ["suite.unknown-shape"]


def test_evals_elsewhere(skill: SkillMaker, load: Load, write: Write) -> None:
    """Some keep evals away from the skill, because whole folders are copied to users."""
    root = skill()
    write("suites/input.csv", "1")
    file = write("suites/evals.json", {"evals": [{"prompt": "p", "assertions": ["a"], "files": ["input.csv"]}]})
    suite = only(load(file, skill_path="tables"))
    assert (suite.id, suite.arms[0].skills[0].root) == ("tables", str(root))
    assert [file.path for case in suite.cases for file in case.files] == ["input.csv"]


def test_the_skill_of_another_name(skill: SkillMaker, load: Load) -> None:
    """The name in SKILL.md rules; a suite that names another one gets a warning."""
    loaded = load(skill({"prompt": "p", "assertions": ["a"]}, skill_name="table"))
    assert "skill_name is 'table', but the skill is called 'tables' (did you mean tables?)" in warnings(loaded)


def test_skills_of_one_name(skill: SkillMaker, load: Load) -> None:
    """Of two copies of a skill that a search finds, the first is evaluated and the other reported."""
    first = skill({"prompt": "p", "assertions": ["a"]})
    second = skill({"prompt": "q", "assertions": ["a"]}, folder="copy/tables")
    loaded = load(searched=(first, second))
    assert [case.prompt for suite in loaded.suites for case in suite.cases] == ["p"]
    assert [one.code for one in loaded.problems] == ["suite.duplicate-id"]
    assert len(load(first, searched=(first / "evals/evals.json",)).suites) == 1


@pytest.mark.requirement("SE-FORMAT-010")
def test_what_only_commands_name_is_not_installed(skill: SkillMaker, load: Load, write: Write) -> None:
    """A key that a command reads stays away from the agent and is there for the command, in every arm."""
    write("tables/scripts/convert.py", "")
    write("tables/scripts/grade.py", "")
    write("tables/answers.json", "{}")
    command = "python3 scripts/grade.py answers.json"
    loaded = load(skill({"prompt": "p", "assertions": [{"text": "t", "type": "command", "value": command}]}))
    suite = only(loaded)
    assert set(suite.arms[0].skills[0].leaves_out) == {"evals", "scripts/grade.py", "answers.json"}
    assert [file.path for file in case_of(loaded).grader_files] == [
        "answers.json",
        "scripts/convert.py",
        "scripts/grade.py",
    ]
    assert any("not installed for the agent" in message for message in warnings(loaded))


@pytest.mark.parametrize(
    "content",
    [
        [{"query": "q1", "should_trigger": True}, {"prompt": "q2", "should_trigger": False}],
        {"skill_name": "tables", "should_trigger": ["q1"], "should_not_trigger": ["q2"]},
        {"should_trigger_prompts": [{"prompt": "q1"}], "should_not_trigger_prompts": [{"prompt": "q2"}]},
    ],
)
def test_trigger_sets(content: object, skill: SkillMaker, load: Load, write: Write) -> None:
    """Queries in all known shapes are a suite of one arm, in which a limit proves nothing."""
    root = skill()
    write("tables/evals/queries.json", content)
    suite = only(load(root))
    assert (suite.id, suite.dialect, suite.comparisons) == ("tables-queries", "triggers", ())
    assert [arm.name for arm in suite.arms] == ["with_skill"]
    assert (suite.on_agent_limit, suite.defaults.runs) == (LimitOutcome.ERROR, 3)
    assert [(case.id, case.prompt, case.tags, case.checks[0].options["should_trigger"]) for case in suite.cases] == [
        ("1", "q1", ("should_trigger",), True),
        ("2", "q2", ("should_not_trigger",), False),
    ]


def test_trigger_mistakes_have_places(skill: SkillMaker, faults: Faults, write: Write) -> None:
    """A query without text, and an answer that is no yes or no, are told with their lines."""
    skill()
    items = ('{"query": "q", "should_trigger": true}', '{"query": "", "should_trigger": true}')
    text = f'[{items[0]},\n{items[1]},\n{{"query": "q", "should_trigger": 1}}]'
    assert [line for _, line, _ in faults(write("tables/evals/queries.json", text))] == [2, 3]
    lists = write("tables/evals/queries.json", {"should_trigger": ["q"], "should_not_trigger": [5]})
    assert [code for code, _, _ in faults(lists)] == ["suite.wrong-type"]


def test_expected_skill(skill: SkillMaker, load: Load) -> None:
    """Who should fire is checked beside the rest; evals that ask for nothing else are queries."""
    loaded = load(
        skill(
            {"id": "own", "prompt": "p", "assertions": ["a"], "expected_skill": "tables"},
            {"id": "too", "prompt": "p", "assertions": ["a"], "expected_skill": "x", "acceptable_skills": ["tables"]},
            {"id": "none", "prompt": "p", "assertions": ["a"], "expected_skill": None},
            {"id": "other", "prompt": "p", "assertions": ["a"], "expected_skill": "charts"},
            {"id": "only", "prompt": "p", "should_trigger": False},
        )
    )
    evals, queries = loaded.suites
    options = {case.id: case.checks[-1].options for case in (*evals.cases, *queries.cases)}
    assert {name: one["should_trigger"] for name, one in options.items()} == {
        "own": True,
        "too": True,
        "none": False,
        "other": False,
        "only": False,
    }
    assert (queries.id, [case.tags for case in queries.cases]) == ("tables-triggers", [("should_not_trigger",)])
    said = "expected_skill is 'charts': checked is that 'tables' does not fire, not that 'charts' does"
    assert any(said in message for message in warnings(loaded))


def test_broken_rules_of_the_skill_are_told(skill: SkillMaker, load: Load, write: Write) -> None:
    """A skill that breaks the specification is evaluated all the same; what is wrong is a warning with a line."""
    root = skill({"prompt": "p", "assertions": ["a"]})
    write("tables/SKILL.md", "---\nname: Tables\ndescription: d\n---\n")
    suite = only(load(root))
    assert suite.targets[0].id == "Tables"
    assert ("suite.skill-name", 2) in [(code, line) for code, line, _ in told(suite.warnings)]


@pytest.mark.requirement("BF-ENV-001")
def test_a_dockerfile_is_the_image_of_every_case(skill: SkillMaker, load: Load, write: Write) -> None:
    """It comes with the requirements and with nothing else of the folder, and whoever has no docker is told."""
    root = skill({"prompt": "p", "assertions": ["a"]})
    write("tables/evals/trigger_evals.json", '[{"query": "q", "should_trigger": true}]')
    write("tables/evals/requirements.txt", "six\n")
    assert not any(case.image_files for suite in load(root).suites for case in suite.cases)
    write("tables/evals/Dockerfile", "FROM python:3.12-slim\nCOPY requirements.txt .\n")
    loaded = load(root)
    cases = [case for suite in loaded.suites for case in suite.cases]
    assert len(cases) == 2
    for case in cases:
        assert [(file.path, Path(file.source or "").parent) for file in case.image_files] == [
            ("Dockerfile", root / "evals"),
            ("requirements.txt", root / "evals"),
        ]
    assert {one for one in warnings(loaded) if "Dockerfile" in one} == {
        "evals/Dockerfile is the image of these cases, which sandbox 'docker' runs; others refuse"
    }


def test_a_bare_list_of_questions(skill: Callable[..., Path], load: Load) -> None:
    """The most common dialect of all: every expected behaviour is an assertion, the question is the prompt."""
    root = skill()
    shape = Path(__file__).parent / "data/shapes/bird-counts/evals/evals.json"
    (root / "evals").mkdir()
    (root / "evals/evals.json").write_bytes(shape.read_bytes())
    cases = [case for suite in load(root).suites for case in suite.cases]
    assert len(cases) == len(json.loads(shape.read_bytes()))
    assert all(case.prompt and any(check.scorer == "rubric" for check in case.checks) for case in cases)
    assert all("reference" in check.options for case in cases for check in case.checks if check.scorer == "rubric")


@pytest.mark.parametrize(
    ("answer", "is_absent"), [("a\nc", True), ("abc", False), ("first\nabc", False), ("abc\nlast", False)]
)
def test_a_pattern_that_may_not_be_found_means_what_it_says(answer: str, is_absent: bool) -> None:
    """Its dot is no line break, and it is looked for in every line."""
    assert (regex.search(nowhere("a.c"), answer) is not None) is is_absent


@pytest.mark.parametrize(
    ("assertion", "sought"),
    [
        ({"type": "file_not_contains", "path": "a.md", "value": "a.c"}, {"lacks": ("a.c",)}),
        ({"type": "not_regex", "path": "a.md", "pattern": "a.c"}, {"patterns": (nowhere("a.c"),)}),
    ],
    ids=str,
)
def test_what_a_file_may_not_have(
    assertion: dict[str, Any], sought: dict[str, object], skill: SkillMaker, load: Load
) -> None:
    """The same is asked of a file as of an answer."""
    (check,) = case_of(load(skill({"prompt": "p", "assertions": [{"text": "t", **assertion}]}))).checks
    assert check.scorer == "files"
    assert {key: check.options[key] for key in sought} == sought

"""Dialects of evals: what each key and each shape comes to, and that nothing is passed over in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Case, Loaded, SuiteError, VerdictMode, located_all
from skillgauge_format_agent_skills.recognition.claiming import claim

from .conftest import Load, Write

SkillMaker = Callable[..., Path]
EVAL = {"id": 1, "prompt": "p", "assertions": ["a"]}


def the_case(loaded: Loaded) -> Case:
    """The only case."""
    (case,) = (case for suite in loaded.suites for case in suite.cases)
    return case


def told(loaded: Loaded) -> str:
    """All warnings."""
    return "\n".join(warning.message for suite in loaded.suites for warning in suite.warnings)


def decided(case: Case) -> list[tuple[str, Any]]:
    """Scorer and what it looks for, of each check; `not` before the name of one that may not find it."""
    keys = ("claims", "criteria", "keywords", "patterns", "command", "tool", "words", "path")
    return [
        (
            f"{'not ' if check.options.get('absent') else ''}{check.scorer}",
            next((check.options[key] for key in keys if key in check.options), None),
        )
        for check in case.checks
    ]


@pytest.mark.parametrize(
    ("assertion", "found"),
    [
        ({"type": "contains_pattern", "pattern": "a|b"}, ("regex", ("a|b",))),
        ({"type": "contains_phrase", "phrase": "a b"}, ("contains", ("a b",))),
        ({"type": "content_contains", "value": "a"}, ("contains", ("a",))),
        ({"type": "contains", "values": ["a", "b"]}, ("contains", ("a", "b"))),
        ({"type": "contains", "value": 7}, ("contains", ("7",))),
        ({"type": "semantic", "text": "t", "prompt": "How so?"}, ("rubric", ("t (semantic; prompt: How so?)",))),
        ({"type": "llm-rubric", "value": "It is kind."}, ("rubric", ("It is kind.",))),
        ({"type": "tool_use", "value": "Grep"}, ("tool-call", "Grep")),
        ({"type": "regex", "value": "a", "negate": True}, ("not regex", ("a",))),
        ({"type": "contains", "value": "a", "min_count": 2}, ("regex", (r"(?s)\A(?:.*?(?:a)){2}",))),
        ({"type": "file_contains", "path": "a.md", "value": "x"}, ("files", "a.md")),
        ({"check": "c", "text": "t"}, ("rubric", ("t (check: c)",))),
        ({"cmd": ["test", "-f", "a b"], "check": "c"}, ("command", "test -f 'a b'")),
        (
            {"type": "code_contains", "check": "new('x')", "name": "n", "description": "d"},
            ("command", "grep -rqF --exclude-dir='.[!.]*' -- 'new('\"'\"'x'\"'\"')' ."),
        ),
        ("contains 'x'", ("contains", ("x",))),
        ("contains 'x' or contains 'y'", ("regex", ("x|y",))),
        ('does not contain "x"', ("not contains", ("x",))),
        ("matches regex /a+/", ("regex", ("a+",))),
        ("is valid JSON", ("json-schema", None)),
        ("The output contains 'x' in a table.", ("rubric", ("The output contains 'x' in a table.",))),
    ],
    ids=str,
)
def test_no_value_of_an_assertion_is_lost(assertion: object, found: object, skill: SkillMaker, load: Load) -> None:
    """D-4: a program decides what it can, and a judge sees all that is left."""
    assert decided(the_case(load(skill({"prompt": "p", "assertions": [assertion]})))) == [found]


def case_rule(case: Case) -> list[tuple[str, Any]]:
    """Scorer and its rule for upper and lower case, of each check."""
    return [(check.scorer, check.options.get("case_sensitive")) for check in case.checks]


ABOUT_OUTPUT = ("output_contains", "output-not-contains", "output_matches", "Output not matches", "output_regex")


@pytest.mark.parametrize("kind", ABOUT_OUTPUT)
def test_case_rules_of_scenarios(kind: str, skill: SkillMaker, write: Write, load: Load) -> None:
    """Types about the answer ignore case in a document with `scenarios` alone; a stated rule always holds."""
    assertions = [
        {"type": kind, "value": "Paper"},
        {"type": kind, "value": "Boat", "case_sensitive": True},
        {"type": "file_contains", "path": "a.md", "value": "Paper"},
        {"type": "contains", "value": "Paper"},
    ]
    scenario = {"name": "n", "prompt": "p", "assertions": assertions}
    scorer = "contains" if "contains" in kind else "regex"
    rest = [(scorer, True), ("files", True), ("contains", True)]
    root = skill()
    for key, expected in (("scenarios", False), ("evals", True), ("cases", True)):
        file = write("tables/evals/evals.json", {key: [scenario]})
        loaded = load(file)
        assert case_rule(the_case(loaded)) == [(scorer, expected), *rest], key
        notice = f"upper and lower case differ: {kind!r} (1)"
        assert (notice in told(loaded)) is expected
    assert root.is_dir()


def test_success_of_a_scenario_is_an_answer(skill: SkillMaker, write: Write, load: Load) -> None:
    """`exit_success` is a check of its own there, also negated, and holds of every session in other documents."""
    skill()
    success = [{"type": "exit_success"}, {"type": "exit_success", "text": "It is silent.", "negate": True}]
    scenario = {"name": "n", "prompt": "p", "assertions": ["It is kind.", *success]}
    case = the_case(load(write("tables/evals/evals.json", {"scenarios": [scenario]})))
    assert decided(case)[1:] == [("regex", ("(?s).",)), ("not regex", ("(?s).",))]
    assert [check.id for check in case.checks] == ["It is kind.", "exit_success", "It is silent."]
    loaded = load(write("tables/evals/evals.json", {"evals": [scenario]}))
    assert len(the_case(loaded).checks) == 1
    assert "holds of every session with a verdict: 'exit-success' (2)" in told(loaded)


LOST: list[tuple[str, object, str]] = [
    ("discriminating", True, "kept for people: 'discriminating' (1)"),
    ("why_kept", "w", "kept for people: 'why_kept' (1)"),
    ("id", "i", "kept for people: 'id' (1)"),
    ("name", "n", "kept for people: 'name' (1)"),
    ("provider", "openai", "without effect: 'provider' (1)"),
    ("mood", "glad", "without effect: 'mood' (1)"),
]


@pytest.mark.parametrize(("key", "value", "words"), LOST)
def test_keys_of_assertions_that_decide_nothing_are_told(
    key: str, value: object, words: str, skill: SkillMaker, load: Load
) -> None:
    """The list of lost fields: each is told once per file, with its count and what was done."""
    assert words in told(load(skill({"prompt": "p", "assertions": [{"text": "t", key: value}]})))


KEYS: list[tuple[str, object, str]] = [
    ("case_set", "dev", "becomes a tag: 'case_set' (1)"),
    ("split", "train", "becomes a tag: 'split' (1)"),
    ("category", "c", "becomes a tag: 'category' (1)"),
    ("role", "r", "becomes a tag: 'role' (1)"),
    ("expected_script", "run.py", "a figure beside the verdict tells whether it was used: 'expected_script' (1)"),
    ("must_have", ["x"], "each item is looked for in the answer: 'must_have' (1)"),
    ("must_not_have", ["x"], "no item may be in the answer: 'must_not_have' (1)"),
    ("manual_review_expected", True, "kept for people: 'manual_review_expected' (1)"),
    ("expected_status", "ok", "without effect: 'expected_status' (1)"),
    ("min_confidence", 1, "without effect: 'min_confidence' (1)"),
    ("command", "/scan", "without effect: 'command' (1)"),
    ("hints", ["h"], "kept for people: 'hints' (1)"),
    ("prompt_baseline", "q", "is asked in place of the prompt where the skill is absent: 'prompt_baseline' (1)"),
    ("eval_name", "n", "'eval_name' (1) as 'name'"),
]


@pytest.mark.parametrize(("key", "value", "words"), KEYS)
def test_keys_of_evals_are_honoured_or_told(key: str, value: object, words: str, skill: SkillMaker, load: Load) -> None:
    """The list of lost fields: each is told once per file, with its count and what was done."""
    assert words in told(load(skill({**EVAL, key: value})))


def test_what_a_key_of_an_eval_comes_to(skill: SkillMaker, load: Load) -> None:
    """Keys with something to check become checks, those that say how it counts are followed."""
    case = the_case(
        load(
            skill(
                {
                    "question": "q",
                    "expected_behavior": ["It works."],
                    "ground_truth": "g",
                    "must_have": [r"a\s+b", "Explains every single one of them."],
                    "must_not_have": ["TODO", "It is rude to everybody here."],
                    "fail": ["It gives up."],
                    "required_output_sections": ["Plan"],
                    "rubric": [{"dimension": "d", "pass_if": "It is short."}],
                    "expect_tools": ["Grep"],
                    "expected_script": "run.py",
                    "difficulty": "hard",
                    "weight": 2,
                    "pass_threshold": 0.5,
                    "timeout": 30,
                    "max_turns": 4,
                    "prompt_baseline": "q without it",
                }
            )
        )
    )
    assert decided(case) == [
        ("rubric", ("It works.",)),
        ("regex", (r"(?:a\s+b)|a\\s\+b",)),
        ("rubric", ("Explains every single one of them.",)),
        ("not regex", ("TODO",)),
        ("rubric", ("This is not so: It is rude to everybody here.",)),
        ("rubric", ("This is not so: It gives up.",)),
        ("rubric", ("The answer has this section: Plan",)),
        ("rubric", ("It is short.",)),
        ("tool-call", "Grep"),
        ("tool-call", ("run.py",)),
    ]
    assert [check.beside for check in case.checks] == [False] * 9 + [True]
    assert (case.rule.mode, case.rule.threshold, case.weight) == (VerdictMode.MEAN, 0.5, 2)
    assert (case.limits.timeout_s, case.limits.max_turns, case.tags) == (30, 4, ("difficulty:hard",))
    assert (case.prompt, case.arm_prompts) == ("q", (("without_skill", "q without it"),))


def test_patterns_alone_need_no_type(skill: SkillMaker, load: Load) -> None:
    """What has to be there, or may not, may be an object with nothing but a pattern."""
    case = the_case(
        load(skill({"prompt": "p", "must_contain": [{"regex": "a+"}], "must_not_contain": [{"regex": "b"}]}))
    )
    assert decided(case) == [("regex", ("a+",)), ("not regex", ("b",))]


def test_input_with_its_content(skill: SkillMaker, load: Load, write: Write) -> None:
    """Files may stand in the eval, or have another path in the workspace."""
    write("tables/evals/fixtures/b.csv", "2")
    files = [{"path": "a.csv", "content": "1"}, {"path": "in/b.csv", "source": "fixtures/b.csv"}]
    for given in ({"files": files}, {"setup": {"files": files}}):
        first, second = the_case(load(skill({**EVAL, **given}))).files
        assert (first.path, first.text, second.path, Path(second.source or "").name) == (
            "a.csv",
            "1",
            "in/b.csv",
            "b.csv",
        )


def test_what_is_done_before_a_session(skill: SkillMaker, load: Load, write: Write) -> None:
    """Commands of `setup` run in the workspace, and all that lies beside the suite may be input."""
    write("tables/evals/project/a.cs", "1")
    case = the_case(load(skill({**EVAL, "setup": {"commands": ["make"], "copy_test_files": True}})))
    assert (case.setup, [file.path for file in case.files]) == (("make",), ["project/a.cs"])


def refused(load: Load, path: Path) -> list[tuple[str, int, int | None, str]]:
    """Code, line, column and message of all that is wrong."""
    with pytest.raises(SuiteError) as raised:
        load(path)
    found = []
    for one in located_all(raised.value.problems):
        assert one.span is not None
        assert one.span.line is not None
        found.append((one.code.removeprefix("suite."), one.span.line, one.span.column, one.message))
    return found


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ('{"evals": {"a": {}}}', "unknown-shape", 1, "'evals' must be a list"),
        ('[[{"prompt": "p", "assertions": ["a"]}]]', "unknown-shape", 1, "a list in a list"),
        ('{"evalss": [{"prompt": "p"}]}', "unknown-shape", 1, "'evalss' is nearly 'evals'"),
        ('{"cases": []}', "unknown-shape", 1, "the list is empty"),
        ('[\n{"id": 1,\n "question": "q"}]', "unknown-shape", 2, "without anything to check"),
        ('[{"prompt": "p", "assertons": ["a"]}]', "unknown-shape", 1, "'assertons' is nearly 'assertions'"),
        ('{"cases": [{"id": 1}]}', "unknown-shape", 1, "without a prompt"),
        ('{"evals": [\n{"id": 1, "promt": "p", "assertions": ["a"]}]}', "missing-key", 2, "(misspelt as promt?)"),
        ("null", "unknown-shape", 1, "the document is empty"),
        ('"x"', "unknown-shape", 1, "the document is a text"),
        ('{"evals": [\n"x",\n{"prompt": "p", "assertions": ["a"]},\n7]}', "wrong-type", 2, "an eval must be an object"),
        ('{"evals": [{"prompt": "p",\n"expected_output": "e", "expectationss": ["a"]}]}', "misspelt-key", 2, "nearly"),
        (
            '{"evals": [{"prompt": "p", "assertions": [\n{"type": "file-exist", "value": "a"}]}]}',
            "unknown-type",
            2,
            "file-exists",
        ),
        (
            '{"evals": [{"prompt": "p", "assertions": [\n{"type": "sentiment", "value": 3}]}]}',
            "unknown-type",
            2,
            "no text",
        ),
        (
            '{"evals": [{"prompt": "p", "assertions": [\n{"type": "contains-some", "value": ["a"]}]}]}',
            "unknown-type",
            2,
            "did you mean contains-",
        ),
        (
            '{"evals": [{"prompt": "p", "assertions": [\n{"The node sets profile": true}]}]}',
            "no-text",
            2,
            "a colon has made an object of a sentence",
        ),
        ('{"evals": [{"prompt": "p", "assertions": [{"text": "t",\n"patern": "x"}]}]}', "misspelt-key", 1, "'pattern'"),
        ('{"evals": [{"prompt": "p", "assertions": [{"text": "t", "weight": -1}]}]}', "value", 1, "weight"),
        ('{"evals": [{"prompt": "p", "assertions": [{"text": "t", "threshold": 2}]}]}', "value", 1, "threshold"),
        ('{"evals": [{"prompt": "p\\u0000q", "assertions": ["a"]}]}', "value", 1, "NUL"),
        (
            '{"evals": [{"prompt": "p", "threshold": 0.5, "assertions": [{"text": "t", "critical": true}]}]}',
            "critical-threshold",
            1,
            "no rule",
        ),
        (
            '{"evals": [{"prompt": "p", "checks": [{"check": "c", "cmd": ["ls", "{case_dir}"]}]}]}',
            "placeholder",
            1,
            "another tool",
        ),
    ],
)
def test_what_is_refused_has_a_place_and_a_reason(
    text: str, code: str, line: int, words: str, skill: SkillMaker, write: Write, load: Load
) -> None:
    """D-13, F-5: an unknown shape says where, why and what is nearest; what would not be checked is an error."""
    file = write("tables/evals/evals.json", text)
    assert claim(skill() / "evals/evals.json", lambda _: False) is not None
    found = refused(load, file)
    assert (code, line) in {(one[0], one[1]) for one in found}
    assert any(words in one[3] for one in found)
    assert all(one[2] for one in found)


def test_bad_elements_are_told_and_the_others_counted(skill: SkillMaker, write: Write, load: Load) -> None:
    """Each bad element of a mixed list has its place."""
    file = write("tables/evals/evals.json", '["x",\n{"prompt": "p", "assertions": ["a"]},\n7]')
    skill()
    assert [(code, line) for code, line, _, _ in refused(load, file)] == [("wrong-type", 1), ("wrong-type", 3)]


def test_files_like_suites_are_told(skill: SkillMaker, write: Write, load: Load) -> None:
    """D-9: what lies in `evals/` and is read by nobody is named; input and results are no suites."""
    root = skill({**EVAL, "files": ["evals/input.json"]})
    write("tables/evals/input.json", [{"id": 1}])
    write("tables/evals/trigger-eval.json", {"q": [{"text": "t"}]})
    write("tables/evals/config.yml", "a: 1\n")
    write("tables/evals/benchmark.json", {"runs": []})
    write("tables/data/faq.json", [{"id": 1, "question": "What?"}])
    (message,) = [line for line in told(load(root)).splitlines() if "not read" in line]
    assert message.endswith("in it: evals/config.yml, evals/trigger-eval.json")
    assert "not read" not in told(load(root / "evals/evals.json"))


def test_questions_alone_are_no_suite(write: Write) -> None:
    """D-8: a JSON file that merely has `question` and `id` is nobody's."""
    file = write("data/faq.json", [{"id": 1, "question": "What?"}])
    assert claim(file, lambda _: False) is None


def test_a_check_that_names_a_type(skill: SkillMaker, load: Load) -> None:
    """R3-W-7: `check` is the type where a value stands beside it; else it is the text of a claim."""
    assertions = [
        {"assertion": "Starts with one", "check": "regex", "pattern": "^one", "flags": "i"},
        {"assertion": "Names the ticket", "check": "substring", "value": "#4"},
        {"name": "kind", "check": "The answer is kind."},
    ]
    case = the_case(load(skill({"prompt": "p", "expectations": assertions})))
    assert [check.scorer for check in case.checks] == ["regex", "contains", "rubric"]
    assert case.checks[1].options["keywords"] == ("#4",)


def test_a_value_without_a_type_is_told(skill: SkillMaker, load: Load) -> None:
    """R3-W-7: the message says what is missing, and not that the key is nearly itself."""
    file = skill({"prompt": "p", "assertions": [{"text": "t", "pattern": "a"}]})
    ((code, _, _, message),) = refused(load, file)
    assert (code, message.startswith("'pattern' stands beside no 'type' that takes it")) == ("misspelt-key", True)


def test_queries_and_evals_in_one_document(skill: SkillMaker, write: Write, load: Load) -> None:
    """R3-W-8: both are read, and evals in any further list are an error that counts them."""
    both: dict[str, object] = {
        "name": "n",
        "trigger_evals": [{"prompt": "a", "should_trigger": True}],
        "quality_evals": [{"prompt": "b", "assertions": ["c"]}, {"prompt": "d", "assertions": ["e"]}],
    }
    skill()
    file = write("tables/evals/evals.json", both)
    assert sorted(len(suite.cases) for suite in load(file).suites) == [1, 2]
    for rest in (both, {"evals": [{"prompt": "p", "assertions": ["a"]}]}):
        file = write("tables/evals/evals.json", {**rest, "agent_evals": both["quality_evals"]})
        ((code, _, _, message),) = refused(load, file)
        assert (code, message) == ("unread-evals", "2 evals stand under 'agent_evals', which is not read")


def test_camel_case_is_snake_case(skill: SkillMaker, write: Write, load: Load) -> None:
    """R3-W-8: keys of the document and of its evals, with their places."""
    skill()
    item = {"query": "q", "rule": "r", "expectedBehavior": ["a", "b"], "timeoutSeconds": 5}
    case = the_case(load(write("tables/evals/evals.json", {"skill": "tables", "testCases": [item]})))
    assert (case.prompt, len(case.checks), case.limits.timeout_s) == ("q", 2, 5.0)
    text = '{"testCases": [{"query": "q", "expectedBehavior": ["a"],\n"maxTurns": "x"}]}'
    ((code, line, _, _),) = refused(load, write("tables/evals/evals.json", text))
    assert (code, line) == ("wrong-type", 2)

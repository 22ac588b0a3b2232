"""From benchmark and task files to cases and checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Case, Check, Loaded, Problem, Severity, Suite, SuiteError, TextStyle
from skillgauge.api.report import AnswerStyle
from skillgauge_format_eval_skills.benchmarks import built_in_ids
from skillgauge_format_eval_skills.checks import DEFAULT_CRITERIA

Skill = Callable[..., Path]
Write = Callable[[str, object], Path]
Refused = Callable[..., list[Problem]]
Told = Callable[[list[Problem]], list[tuple[str, str]]]
Load = Callable[..., Loaded]

EXACT = {"type": "exact", "value": "2"}


def task(name: str = "t", **changes: object) -> dict[str, object]:
    """A task that is right, but for the changes; `None` takes a key out."""
    whole = {"id": name, "description": "", "inputData": {}, "expectedOutput": EXACT, "evaluator": {"type": "exact"}}
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


@pytest.fixture
def suite(skill: Skill, write: Write, load: Load) -> Callable[..., Suite]:
    """The suite of a benchmark with the given tasks."""

    def make(*tasks: object, options: dict[str, Any] | None = None, **head: object) -> Suite:
        write("b.json", {"id": "b", **head, "tasks": tasks})
        return load(skill(), benchmark="b.json", **(options or {})).suites[0]

    return make


@pytest.fixture
def faults(skill: Skill, write: Write, refused: Refused, told: Told) -> Callable[..., list[tuple[str, str]]]:
    """What is wrong with a benchmark of the given tasks."""

    def make(*tasks: object, **head: object) -> list[tuple[str, str]]:
        write("b.json", {"id": "b", **head, "tasks": tasks})
        return told(refused(skill(), benchmark="b.json"))

    return make


def only_case(suite: Suite) -> Case:
    """The one case of a suite."""
    (case,) = suite.cases
    return case


def only_check(suite: Suite) -> Check:
    """The one check of the one case."""
    (check,) = only_case(suite).checks
    return check


def test_head_of_a_benchmark_arrives(suite: Callable[..., Suite], tmp_path: Path) -> None:
    """A suite has what the file says, its place, and the parameters of the format's figures."""
    loaded = suite(
        task(),
        name="N",
        version="2.0.0",
        description="D",
        domain="web",
        scoringMethod="weighted_mean",
        maxLatencyMs=5000,
        metadata={"source": "me"},
        license="x",
    )
    assert (loaded.id, loaded.name, loaded.version, loaded.description) == ("b", "N", "2.0.0", "D")
    assert (loaded.format, loaded.document, loaded.root) == ("eval-skills", "eval-skills", str(tmp_path / "b.json"))
    assert loaded.parameters == {"scoringMethod": "weighted_mean", "maxLatencyMs": 5000, "domain": "web"}
    assert loaded.extras == {"metadata": {"source": "me"}, "license": "x"}
    assert (loaded.gates, loaded.completion) == ((), "completionRate")


def test_every_field_of_a_task_arrives(suite: Callable[..., Suite]) -> None:
    """Input, tags, weight and time limit become those of the case."""
    case = only_case(suite(task("a", description="d", inputData={"x": 1}, timeoutMs=1500, tags=["p", "q"], weight=2)))
    assert (case.id, case.description, case.input) == ("a", "d", {"x": 1})
    assert (case.tags, case.weight, case.limits.timeout_s) == (("p", "q"), 2, 1.5)
    assert case.origin is not None
    assert case.origin.pointer == ("tasks", 0)


def test_limits_are_left_to_the_user(suite: Callable[..., Suite]) -> None:
    """Without `timeoutMs` the command line or the configuration decides."""
    loaded = suite(task())
    assert only_case(loaded).limits.timeout_s is None
    assert loaded.defaults.limits.timeout_s is None


def test_prompt_stands_in_for_description_and_input(suite: Callable[..., Suite]) -> None:
    """Definitions that only have a prompt still give the skill something to answer."""
    case = only_case(suite(task(description=None, inputData=None, prompt="1 + 1?")))
    assert (case.description, case.input) == ("1 + 1?", {"prompt": "1 + 1?"})
    assert case.prompt is None


SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    ("evaluator", "expected", "scorer", "options"),
    [
        ({"type": "exact"}, {"value": 2}, "exact", {"value": 2, "case_sensitive": True}),
        ({"type": "exact_match"}, {"value": None}, "exact", {"value": None, "case_sensitive": True}),
        (
            {"type": "exact", "caseSensitive": False},
            {"value": "a", "caseSensitive": True},
            "exact",
            {"value": "a", "case_sensitive": False},
        ),
        ({"type": "exact"}, {"value": "a", "caseSensitive": False}, "exact", {"value": "a", "case_sensitive": False}),
        ({"type": "contains"}, {"keywords": ["a"]}, "contains", {"keywords": ("a",), "case_sensitive": False}),
        (
            {"type": "contains", "caseSensitive": True},
            {"keywords": ["a"]},
            "contains",
            {"keywords": ("a",), "case_sensitive": True},
        ),
        ({"type": "schema"}, {"schema": SCHEMA}, "json-schema", {"schema": SCHEMA}),
        ({"type": "json_schema"}, {"schema": SCHEMA}, "json-schema", {"schema": SCHEMA}),
        ({"type": "regex"}, {"patterns": ["^a"]}, "regex", {"patterns": ("^a",)}),
        (
            {"type": "llm_judge"},
            {"judgePrompt": "Good?", "value": "yes"},
            "rubric",
            {"criteria": "Good?", "reference": "yes", "scale": "0-10"},
        ),
        ({"type": "llm_judge"}, {"criteria": "Fine?"}, "rubric", {"criteria": "Fine?", "scale": "0-10"}),
        ({"type": "llm_judge"}, {}, "rubric", {"criteria": DEFAULT_CRITERIA, "scale": "0-10"}),
        (
            {"type": "regex", "options": {"case_sensitive": False, "timeout_s": 2}},
            {"patterns": ["^a"]},
            "regex",
            {"patterns": ("^a",), "case_sensitive": False, "timeout_s": 2},
        ),
        (
            {"type": "llm_judge", "options": {"scale": "pass-fail", "max_chars": 100}},
            {"judgePrompt": "Good?"},
            "rubric",
            {"criteria": "Good?", "max_chars": 100},
        ),
        (None, {"type": "exact_match", "value": 1}, "exact", {"value": 1, "case_sensitive": True}),
        (None, {"type": "schema", "schema": SCHEMA}, "json-schema", {"schema": SCHEMA}),
        ({}, {"value": 1}, "exact", {"value": 1, "case_sensitive": True}),
        (
            {"type": "acme-cosine", "threshold": 0.8, "caseSensitive": True},
            {"type": "x", "vector": [1], "keywords": {"any": 1}},
            "acme-cosine",
            {"vector": (1,), "keywords": {"any": 1}, "threshold": 0.8, "caseSensitive": True},
        ),
    ],
)
def test_expectations_become_checks(
    suite: Callable[..., Suite], evaluator: object, expected: object, scorer: str, options: object
) -> None:
    """Every spelling of an evaluator means its scorer; any other name is a private scorer with all keys as options."""
    check = only_check(suite(task(evaluator=evaluator, expectedOutput=expected)))
    assert (check.scorer, check.options) == (scorer, options)


@pytest.mark.parametrize(
    ("scorer", "style"),
    [
        ("exact", AnswerStyle(keys=("result", "output", "answer"), text=TextStyle.JAVASCRIPT)),
        ("contains", AnswerStyle(text=TextStyle.JAVASCRIPT_JSON)),
        ("regex", AnswerStyle(text=TextStyle.JAVASCRIPT_JSON)),
        ("llm_judge", AnswerStyle(text=TextStyle.JAVASCRIPT_JSON)),
        ("schema", AnswerStyle()),
        ("acme", AnswerStyle()),
    ],
)
def test_answers_are_read_as_the_original_does(suite: Callable[..., Suite], scorer: str, style: AnswerStyle) -> None:
    """How an answer becomes text is said with the check, so that scorers know nothing of the format."""
    expected = {"value": "a", "keywords": ["a"], "patterns": ["a"], "schema": SCHEMA}
    assert only_check(suite(task(evaluator={"type": scorer}, expectedOutput=expected))).answer == style


def test_private_scorer_needs_no_expectation(suite: Callable[..., Suite]) -> None:
    """What a private scorer needs is its own business."""
    check = only_check(suite(task(evaluator={"type": "acme:polite"}, expectedOutput=None)))
    assert (check.scorer, check.options) == ("acme:polite", {})


def test_evaluator_option_is_for_tasks_whose_evaluator_names_none(suite: Callable[..., Suite]) -> None:
    """`--evaluator` rules over `expectedOutput.type`, as in the original, and under `evaluator.type`."""
    loaded = suite(
        task("own", expectedOutput={"keywords": ["a"]}, evaluator={"type": "contains"}),
        task("none", expectedOutput={"type": "contains", "value": "a"}, evaluator=None),
        options={"evaluator": "exact"},
    )
    assert [case.checks[0].scorer for case in loaded.cases] == ["contains", "exact"]
    assert only_check(suite(task(evaluator=None), options={"evaluator": "acme"})).scorer == "acme"


def test_custom_scorer_is_found_beside_the_file_then_in_the_current_folder(
    skill: Skill, write: Write, load: Load, tmp_path: Path
) -> None:
    """A script's path is relative to the benchmark; benchmarks written for the original named it from the caller."""
    write("bench/near.py", "")
    write("far.py", "")
    write(
        "bench/b.json",
        {
            "id": "b",
            "tasks": [
                task("1", expectedOutput={"customScorerPath": "near.py"}, evaluator={"type": "custom"}),
                task("2", expectedOutput={}, evaluator={"type": "custom", "customScorerPath": "./far.py"}),
            ],
        },
    )
    (loaded,) = load(skill(), benchmark="bench/b.json").suites
    paths = [case.checks[0].options["path"] for case in loaded.cases]
    assert paths == [str(tmp_path / "bench/near.py"), str(tmp_path / "far.py")]


def test_a_custom_scorer_enters_ids_by_its_content(skill: Skill, write: Write, load: Load) -> None:
    """The same script in another folder makes the same checks, and a changed one others."""
    for folder, script in (("one", "a = 1"), ("two", "a = 1"), ("three", "a = 2")):
        write(f"{folder}/near.py", script)
        expected = {"customScorerPath": "near.py"}
        write(
            f"{folder}/b.json", {"id": "b", "tasks": [task("1", expectedOutput=expected, evaluator={"type": "custom"})]}
        )
    digests = [
        case.checks_digest
        for folder in ("one", "two", "three")
        for loaded in load(skill(), benchmark=f"{folder}/b.json").suites
        for case in loaded.cases
    ]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("way", ["climbing", "absolute", "link"])
def test_a_custom_scorer_from_elsewhere_is_refused(
    skill: Skill, write: Write, load: Load, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    """T-M8: what a suite names lies in its own folder or in the current one, by whatever way it is named."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "evil.py"
    elsewhere.write_text("")
    (tmp_path / "link.py").symlink_to(elsewhere)
    named = {"climbing": f"../{elsewhere.parent.name}/evil.py", "absolute": str(elsewhere), "link": "link.py"}[way]
    tasks = [task("1", expectedOutput={"customScorerPath": named}, evaluator={"type": "custom"})]
    write("b.json", {"id": "b", "tasks": tasks})
    with pytest.raises(SuiteError) as raised:
        load(skill(), benchmark="b.json")
    (problem,) = raised.value.problems
    assert problem.code.endswith("escaping-path")
    assert problem.origin is not None
    assert problem.origin.pointer == ("tasks", 0, "expectedOutput", "customScorerPath")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"id": None}, [("missing-key", "tasks.0.id")]),
        ({"id": ""}, [("value", "tasks.0.id")]),
        ({"inputData": [1]}, [("wrong-type", "tasks.0.inputData")]),
        ({"timeoutMs": 0}, [("value", "tasks.0.timeoutMs")]),
        ({"timeoutMs": "1000"}, [("wrong-type", "tasks.0.timeoutMs")]),
        ({"weight": -1}, [("value", "tasks.0.weight")]),
        ({"tags": "a"}, [("wrong-type", "tasks.0.tags")]),
        ({"expectedOutput": "2"}, [("wrong-type", "tasks.0.expectedOutput")]),
        ({"expectedOutput": None}, [("missing-key", "tasks.0.expectedOutput")]),
        ({"expectedOutput": {}}, [("missing-key", "tasks.0.expectedOutput.value")]),
        ({"evaluator": {"type": ""}}, [("value", "tasks.0.evaluator.type")]),
        ({"evaluator": {"type": "exact", "caseSensitive": "no"}}, [("wrong-type", "tasks.0.evaluator.caseSensitive")]),
        ({"evaluator": {"type": "contains"}}, [("missing-key", "tasks.0.expectedOutput.keywords")]),
        ({"evaluator": {"type": "regex"}}, [("missing-key", "tasks.0.expectedOutput.patterns")]),
        ({"evaluator": {"type": "schema"}}, [("missing-key", "tasks.0.expectedOutput.schema")]),
        (
            {"evaluator": {"type": "contains"}, "expectedOutput": {"keywords": ["a", 1]}},
            [("wrong-type", "tasks.0.expectedOutput.keywords.1")],
        ),
        (
            {"evaluator": {"type": "schema"}, "expectedOutput": {"schema": {"type": 5}}},
            [("json-schema", "tasks.0.expectedOutput.schema.type")],
        ),
        ({"evaluator": {"type": "custom"}}, [("missing-key", "tasks.0.expectedOutput.customScorerPath")]),
        (
            {"evaluator": {"type": "custom"}, "expectedOutput": {"customScorerPath": "gone.py"}},
            [("missing-file", "tasks.0.expectedOutput.customScorerPath")],
        ),
        (
            {"evaluator": {"type": "custom", "customScorerPath": "gone.py"}},
            [("missing-file", "tasks.0.evaluator.customScorerPath")],
        ),
    ],
)
def test_bad_tasks_are_pointed_to(
    faults: Callable[..., list[tuple[str, str]]], changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Whatever a task lacks or says wrongly is a problem at its place."""
    assert faults(task(**changes)) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({"id": ""}, ("value", "id")),
        ({"scoringMethod": "median"}, ("value", "scoringMethod")),
        ({"maxLatencyMs": 0}, ("value", "maxLatencyMs")),
        ({"metadata": 1}, ("wrong-type", "metadata")),
        ({"version": 1}, ("wrong-type", "version")),
    ],
)
def test_bad_heads_are_pointed_to(
    faults: Callable[..., list[tuple[str, str]]], head: dict[str, Any], expected: tuple[str, str]
) -> None:
    """The keys around the tasks are checked too."""
    assert faults(task(), **head) == [expected]


def test_all_problems_of_a_file_are_told_at_once(faults: Callable[..., list[tuple[str, str]]]) -> None:
    """One look shows everything: here a doubled id, a missing piece, an absent script, odd tasks and a bad head."""
    assert faults(
        task("a", weight=-1, evaluator={"type": "exact", "caseSensitive": 1}),
        5,
        task("a", expectedOutput={}),
        task("b", evaluator={"type": "custom"}, expectedOutput={"customScorerPath": "x"}),
        scoringMethod="median",
    ) == [
        ("value", "scoringMethod"),
        ("value", "tasks.0.weight"),
        ("wrong-type", "tasks.0.evaluator.caseSensitive"),
        ("wrong-type", "tasks.1"),
        ("missing-key", "tasks.2.expectedOutput.value"),
        ("duplicate-id", "tasks.2.id"),
        ("missing-file", "tasks.3.expectedOutput.customScorerPath"),
    ]


def test_doubled_id_names_both_places(skill: Skill, write: Write, refused: Refused) -> None:
    """The message says where the first one is."""
    write("b.json", '{"id": "b", "tasks": [\n' + json.dumps(task("a")) + ",\n" + json.dumps(task("a")) + "]}")
    (problem,) = refused(skill(), benchmark="b.json")
    assert "b.json:2:2" in problem.message


def test_no_tasks_are_a_problem(faults: Callable[..., list[tuple[str, str]]]) -> None:
    """A benchmark that asks nothing cannot be evaluated."""
    assert faults() == [("no-cases", "tasks")]


def test_unknown_keys_are_kept_and_told_once_per_file(suite: Callable[..., Suite]) -> None:
    """Foreign keys at every level are one warning with near matches, and travel in the extras."""
    odd = task("a", difficulty=3, expectedOutput={"value": 1, "valeu": 2}, evaluator={"type": "exact", "strict": True})
    loaded = suite(odd, task("b", difficulty=4), owner="me")
    (warning,) = loaded.warnings
    assert warning.severity is Severity.WARNING
    assert "'strict', 'valeu' (did you mean value?), 'difficulty', 'owner'" in warning.message
    first, second = loaded.cases
    assert first.extras == {"difficulty": 3, "expectedOutput": {"valeu": 2}, "evaluator": {"strict": True}}
    assert second.extras == {"difficulty": 4}


def test_empty_keyword_list_is_pointed_out(suite: Callable[..., Suite]) -> None:
    """A check that every output passes is allowed, as in the original, but not silently."""
    loaded = suite(task(evaluator={"type": "contains"}, expectedOutput={"keywords": []}))
    assert [warning.code for warning in loaded.warnings] == ["suite.no-check"]


def test_task_file_may_be_a_list_or_a_benchmark(skill: Skill, write: Write, load: Load) -> None:
    """`--tasks` takes a bare list, which is called custom, and a whole benchmark, with or without an id."""
    write("list.json", [task("a")])
    write("whole.json", {"id": "mine", "tasks": [task("b")]})
    write("anonymous.json", {"tasks": [task("c")]})
    loaded = [load(skill(), tasks=name).suites[0] for name in ("list.json", "whole.json", "anonymous.json")]
    assert [suite.id for suite in loaded] == ["custom", "mine", "custom"]
    assert [case.id for suite in loaded for case in suite.cases] == ["a", "b", "c"]


def test_problems_of_a_task_list_have_its_pointers(skill: Skill, write: Write, refused: Refused, told: Told) -> None:
    """In a bare list a task's place is its index alone."""
    write("list.json", [task("a"), task("b", weight=-1)])
    assert told(refused(skill(), tasks="list.json")) == [("value", "1.weight")]
    write("list.json", '"text"')
    assert told(refused(skill(), tasks="list.json")) == [("wrong-type", "")]


# --- built-in benchmarks ----------------------------------------------------------------------------------


@pytest.mark.requirement("ES-BENCH-001", "ES-BENCH-002", "ES-BENCH-003")
def test_built_in_benchmarks_are_complete(skill: Skill, load: Load) -> None:
    """Those with published tasks have as many, graded by the published scorers."""
    scorers = {}
    for name in built_in_ids():
        (suite,) = load(skill(), benchmark=name).suites
        scorers[name] = [case.checks[0].scorer for case in suite.cases]
    assert scorers == {
        "coding-easy": ["exact"] * 20,
        "gaia-v1": ["contains", "exact"],
        "skill-quality": ["contains"] * 4 + ["exact"],
        "toolbench-lite": ["json-schema", "contains"],
        "web-search-basic": ["contains"] * 7 + ["json-schema"],
    }


def test_coding_easy_is_as_published(skill: Skill, load: Load) -> None:
    """Version, limits and a sample of the tasks agree with the original."""
    (suite,) = load(skill(), benchmark="coding-easy").suites
    cases = {case.id: case for case in suite.cases}
    assert (suite.id, suite.version, suite.warnings) == ("coding-easy", "1.1.0", ())
    assert {case.limits.timeout_s for case in suite.cases} == {10.0}
    assert cases["coding_006"].input == {"expression": "100/4"}
    assert cases["coding_006"].checks[0].options["value"] == "25.0"
    assert cases["coding_020"].input == {"operation": "reverse", "input": ""}
    assert cases["coding_009"].tags == ("math", "factorial", "edge-case")


@pytest.mark.requirement("ES-BENCH-004")
@pytest.mark.parametrize("name", ["gaia-v1", "toolbench-lite"])
def test_placeholders_are_shown_as_such(skill: Skill, load: Load, name: str) -> None:
    """Nobody takes two sample tasks for the benchmark of that name."""
    (suite,) = load(skill(), benchmark=name).suites
    assert [warning.code for warning in suite.warnings] == ["suite.placeholder"]
    assert suite.extras["metadata"] == {"placeholder": True}

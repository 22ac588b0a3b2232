"""Suites of skillevaluation through the whole program, beside the package's own runner."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_testkit.program import Program

EXAMPLES = ("api-error-envelope", "commit-conventions", "refund-policy", "outcomes")
OUTCOMES = """
cases:
  - name: turned
    prompt: first question
    validators: [{cmd: "grep -q 'with-skill r' response.txt", label: skill only}]
  - name: kept
    prompt: second question
    expectations: [SECOND question]
    validators: [{cmd: 'test -n "$RESPONSE_TEXT"'}]
  - {name: lost, prompt: third question, expectations: [words that nobody says]}
  - name: harmed
    prompt: fourth question
    max_turns: 2
    setup: {files: {in/seed.txt: "seed"}, commands: [test -f in/seed.txt, cp in/seed.txt copy.txt]}
    validators:
      - {cmd: "grep -q 'without-skill' response.txt && test -f copy.txt"}
      - {cmd: exit 4, expect_exit_code: 4, label: declared}
  - {name: broken, prompt: fifth question, validators: [{cmd: exit 9, label: broken}]}
  - {name: asked, prompt: sixth question, should_trigger: true}
  - {name: both, prompt: seventh question, should_trigger: true, expectations: [seventh]}
"""
SKILL = "---\nname: outcomes\ndescription: Something of everything.\n---\n\nAnswer.\n"
MEASURES = [
    {"skill": "{}", "duration_s": 1.2, "turns": 2, "tokens": 400},
    {"duration_s": 2.4, "turns": 4, "tokens": 900},
]
"""What the reference runner's made-up agent reports, with a skill and without."""


@pytest.fixture
def examples(work: Path) -> Path:
    """The examples of the package and one that has every outcome."""
    with as_file(files("skillevaluation").joinpath("examples")) as found:
        shutil.copytree(found, work / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (work / "examples/outcomes").mkdir()
    (work / "examples/outcomes/SKILL.md").write_text(SKILL)
    (work / "examples/outcomes/eval.yaml").write_text(OUTCOMES)
    return work / "examples"


def theirs(folder: Path, work: Path) -> dict[str, Any]:
    """The document of the package's own runner."""
    program = Path(sys.executable).with_name("skillevaluation")
    target = work / "theirs.json"
    command = [program, "run", folder, "--adapter", "mock", "--no-cache", "-o", target]
    subprocess.run(command, check=True, capture_output=True, cwd=work)
    return json.loads(target.read_text())  # type: ignore[no-any-return]


def ours(program: Program, folder: Path, *arguments: str) -> dict[str, Any]:
    """Our document of the same suite."""
    measures = json.dumps(MEASURES).replace("{}", folder.name)
    done = program(
        "eval", folder, "--engine", "mock", "-o", "ours.json", "--set", f"engines.mock.replies={measures}", *arguments
    )
    assert done.code in (0, 3), done.stderr
    return json.loads((program.work / "ours.json").read_text())  # type: ignore[no-any-return]


CALLS = ("tool_calls", "tool_calls_correctness_gated")
"""The reference's made-up agent reports calls that are in no transcript of it; ours are counted in the transcript."""
TOLD = {"format", "skill", "cache_hits", "cases_skipped_trigger_only"}


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what must differ: who made it and when, calls, and the words of the judge."""
    aggregate = {key: value for key, value in document.items() if key not in CALLS and key not in ("cases", "runner")}
    told = {key: value for key, value in aggregate.items() if key not in ("started_at", "completed_at", "skillgauge")}
    return told | {"cases": [_case(case) for case in document["cases"]]}


def _case(case: dict[str, Any]) -> dict[str, Any]:
    arms = {
        arm: {key: value for key, value in case[arm].items() if key != "tool_call_count"}
        for arm in ("with_skill", "without_skill")
    }
    expectations = [{key: one[key] for key in ("expectation", "passed")} for one in case["expectation_results"]]
    validators = [one | {"stderr": "", "stdout": ""} for one in case["validator_results"]]
    told = {key: value for key, value in case.items() if key != "error"}
    return told | arms | {"expectation_results": expectations, "validator_results": validators}


@pytest.mark.requirement("SE-FORMAT-005", "SE-FORMAT-009", "SE-ARM-002", "SE-HEAD-003", "SE-HOST-001")
@pytest.mark.parametrize("name", EXAMPLES)
def test_both_programs_say_the_same(program: Program, examples: Path, work: Path, name: str) -> None:
    """Field by field, on the package's own examples and on a suite with every outcome."""
    wanted, found = theirs(examples / name, work), ours(program, examples / name)
    assert comparable(found) == comparable(wanted)
    assert found.keys() >= TOLD


@pytest.mark.requirement("SE-VERDICT-001", "SE-VERDICT-002", "SE-VERDICT-003", "SE-VERDICT-004", "SE-VERDICT-005")
def test_every_outcome(program: Program, examples: Path) -> None:
    """Five outcomes, one of them an error that is in no rate, and a case that is not run is counted as such."""
    document = ours(program, examples / "outcomes")
    assert [case["outcome"] for case in document["cases"]] == [
        *("flip_to_pass", "pass_kept", "fail_kept", "flip_to_fail", "error", "pass_kept")
    ]
    assert (document["errors"], document["total_cases"], document["cases_aggregated"]) == (1, 6, 5)
    assert document["cases_skipped_trigger_only"] == 1
    assert "exit code 9" in document["cases"][4]["error"]
    assert document["verdict"] == "mixed"


@pytest.mark.requirement("SE-SCHEMA-001", "SE-SCHEMA-002", "SE-SCHEMA-003")
def test_documents_fit_the_schemas(program: Program, examples: Path) -> None:
    """Results validate against the package's schema and against ours, and eval.yaml against ours."""
    yaml = pytest.importorskip("yaml")
    resources = pytest.importorskip("skillevaluation.resources")
    results = json.loads(program("schema", "skillevaluation-results").stdout)
    suites = json.loads(program("schema", "skillevaluation-eval").stdout)
    case = resources.load_schema("test-case-result")
    for name in EXAMPLES:
        document = ours(program, examples / name)
        jsonschema.validate(document, resources.load_schema("test-run-result"))
        jsonschema.validate(document, results)
        for one in document["cases"]:
            jsonschema.validate(one, case)
        written = yaml.safe_load((examples / name / "eval.yaml").read_text())
        jsonschema.validate(written, suites)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(written | {"mode": "agentic"}, suites)


@pytest.mark.requirement("SE-ARM-003")
def test_documents_are_read_again(program: Program, examples: Path, work: Path) -> None:
    """Both runners' documents can be shown and compared, and ours says the same after it was read."""
    wanted = theirs(examples / "outcomes", work)
    found = ours(program, examples / "outcomes")
    shown = program("report", "convert", "--input", "ours.json", "--format", "json", "--output", "again.json")
    assert shown.code == 0, shown.stderr
    again = json.loads((work / "again.json").read_text())
    told = ("pass_rate", "errors", "cases_aggregated", "total_cases", "verdict", "turns", "duration_ms", "tokens")
    assert {key: again[key] for key in told} == {key: found[key] for key in told}
    outcomes = [case["outcome"] for case in wanted["cases"]]
    assert [case["outcome"] for case in again["cases"]] == outcomes
    done = program("report", "diff", "theirs.json", "ours.json", "--fail-on-regression")
    assert done.code != 1, done.stderr


WRITING = [
    {"skill": "outcomes", "text": "done", "files": {"out.txt": "with"}, "tokens": 10},
    {"text": "done", "files": {"out.txt": "without"}, "tokens": 30},
]
"""Both arms leave a file, each its own."""
FILES = """
cases:
  - {name: there, prompt: "write it", setup: [touch seed], validators: [{cmd: "test -f out.txt && test -f seed"}]}
  - {name: mine, prompt: "write it", validators: [{cmd: "grep -qx without out.txt"}]}
"""


def warm(program: Program, folder: Path, *arguments: str) -> dict[str, Any]:
    """The document of a run whose agent writes a file."""
    done = program(
        *("eval", folder, "--engine", "mock", "-o", "ours.json", "--store", "none"),
        *("--set", f"engines.mock.replies={json.dumps(WRITING)}", *arguments),
    )
    assert done.code == 0, done.stderr
    return json.loads((program.work / "ours.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture
def writing(examples: Path) -> Path:
    """A suite whose validators look at files."""
    (examples / "outcomes/eval.yaml").write_text(FILES)
    return examples / "outcomes"


@pytest.mark.requirement("SE-RUN-008", "SE-RUN-009")
def test_a_warm_cache_gives_the_same_lift(program: Program, writing: Path) -> None:
    """Files of the kept session are there for validators, and editing SKILL.md uses every baseline again."""
    cold = warm(program, writing)
    assert (cold["cache_hits"], cold["pass_rate"]["delta_pts"]) == (0, -50.0)
    again = warm(program, writing)
    assert again["cache_hits"] == 2
    assert again["pass_rate"] == cold["pass_rate"]
    assert [case["outcome"] for case in again["cases"]] == [case["outcome"] for case in cold["cases"]]
    assert [case["without_skill"].get("cached", False) for case in again["cases"]] == [True, True]
    assert [case["with_skill"].get("cached", False) for case in again["cases"]] == [False, False]
    (writing / "SKILL.md").write_text(SKILL + "\nBetter.\n")
    assert warm(program, writing)["cache_hits"] == 2
    assert warm(program, writing, "--no-cache")["cache_hits"] == 0


@pytest.mark.parametrize(
    ("before", "after", "hits"),
    [
        ("touch seed]", "touch seed other]", 1),
        ("setup: [touch seed]", "setup: {files: {seed: s}}", 1),
        ("name: mine, prompt: ", "name: mine, max_turns: 3, prompt: ", 1),
        ('name: mine, prompt: "write it"', 'name: mine, prompt: "write it now"', 1),
        ("test -f out.txt && ", "test -s out.txt && ", 2),
    ],
)
def test_whatever_enters_a_session_without_the_skill_is_part_of_its_key(
    program: Program, writing: Path, before: str, after: str, hits: int
) -> None:
    """A change of set-up, files, limits or prompt runs the session again; a change of what grades it does not."""
    warm(program, writing)
    suite = writing / "eval.yaml"
    assert before in suite.read_text()
    suite.write_text(suite.read_text().replace(before, after))
    assert warm(program, writing)["cache_hits"] == hits


def test_settings_of_the_engine_are_part_of_the_key(program: Program, writing: Path) -> None:
    """Another model, and another script of the made-up agent, are another session."""
    warm(program, writing)
    assert warm(program, writing, "--model", "other")["cache_hits"] == 0
    WRITING[1]["tokens"] = 31
    assert warm(program, writing)["cache_hits"] == 0
    WRITING[1]["tokens"] = 30
    assert warm(program, writing)["cache_hits"] == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": "9.0"}', '{"key": "x"}'])
def test_a_damaged_entry_is_a_miss(program: Program, environment: dict[str, str], writing: Path, content: str) -> None:
    """Never a wrong figure, and never a run that fails for it."""
    cold = warm(program, writing)
    entries = sorted(Path(environment["HOME"], ".cache/skillgauge/baselines").rglob("*.json"))
    assert len(entries) == 2
    entries[0].write_text(content)
    found = warm(program, writing)
    assert (found["cache_hits"], found["pass_rate"]) == (1, cold["pass_rate"])
    assert warm(program, writing)["cache_hits"] == 2


def test_an_entry_of_another_session_is_a_miss(program: Program, environment: dict[str, str], writing: Path) -> None:
    """What lies under a key says of which session it is."""
    warm(program, writing)
    entries = sorted(Path(environment["HOME"], ".cache/skillgauge/baselines").rglob("*.json"))
    entries[0].write_bytes(entries[1].read_bytes())
    assert warm(program, writing)["cache_hits"] == 1

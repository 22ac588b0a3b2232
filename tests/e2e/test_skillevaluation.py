"""Suites of skillevaluation through the whole program, beside the package's own runner."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_testkit.program import Program

from .conftest import ROOT

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
    """Our document of the same suite, by the line that takes the place of the package's."""
    done = program("eval", folder, "--engine", "mock", "-o", "ours.json", *arguments)
    assert done.code in (0, 3), done.stderr
    assert done.verdict
    return json.loads((program.work / "ours.json").read_text())  # type: ignore[no-any-return]


WHO_AND_WHEN = ("runner", "started_at", "completed_at")
"""Who made a document and when: no two programs can say the same there."""
FIGURES = ("duration_ms", "turns", "total_tokens", "tool_call_count")


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """A document without who made it and when."""
    return {key: value for key, value in document.items() if key not in WHO_AND_WHEN}


@pytest.mark.slow
@pytest.mark.requirement("SE-FORMAT-005", "SE-FORMAT-009", "SE-ARM-002", "SE-HEAD-003", "SE-HOST-001")
@pytest.mark.parametrize("name", EXAMPLES)
def test_both_programs_say_the_same(program: Program, examples: Path, work: Path, name: str) -> None:
    """Every field, on the package's own examples and on a suite with every outcome; ours may say more."""
    wanted, found = theirs(examples / name, work), ours(program, examples / name)
    assert found["runner"].keys() == wanted["runner"].keys()
    assert found["runner"]["adapter"] == wanted["runner"]["adapter"] == "mock"
    own = found.pop("skillgauge")
    assert own["made_up"] is True
    causes = [case.pop("error", "") for case in found["cases"]]
    assert [bool(cause) for cause in causes] == [case["outcome"] == "error" for case in wanted["cases"]]
    assert comparable(found) == comparable(wanted)


def test_made_up_figures_are_in_no_other_report(program: Program, examples: Path, work: Path) -> None:
    """What the format's mock run says of every session stands in its own document; the rest tells what was measured."""
    document = ours(program, examples / "outcomes", "--format", "record", "--output-dir", "reports")
    case = document["cases"][0]
    assert [case["with_skill"][name] for name in FIGURES] == [1200, 2, 400, 1]
    (record,) = (work / "reports").glob("run-*.record.json")
    results = [one for one in json.loads(record.read_text())["results"] if one["verdict"] != "skipped"]
    assert len(results) == 12
    assert all(one["execution"]["trajectory"]["turns"] == 1 for one in results)
    assert all(one["execution"]["usage"]["input_tokens"] < 10 for one in results)
    assert all(one["execution"]["duration_s"] != pytest.approx(1.2) for one in results)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ours", "theirs"])
def test_a_document_with_made_up_figures_is_read_without_them(
    program: Program, examples: Path, work: Path, who: str
) -> None:
    """Whoever reads such a document is told no times, and writing it again gives the same figures."""
    document = (ours if who == "ours" else _theirs)(program, examples / "outcomes")
    (work / "read.json").write_text(json.dumps(document))
    again = _converted(program, "skillevaluation")
    assert again["skillgauge"]["made_up"] is True
    for name in ("duration_ms", "turns", "tokens", "tool_calls", "duration_ms_correctness_gated", "pass_rate"):
        assert again[name] == document[name]
    executions = [one["execution"] for one in _converted(program, "record")["results"]]
    assert {one.get("duration_s") for one in executions} == {None}
    assert {(one["trajectory"] or {}).get("turns") for one in executions} == {None}


def _converted(program: Program, reporter: str) -> dict[str, Any]:
    done = program("report", "convert", "--input", "read.json", "--format", reporter)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _theirs(program: Program, folder: Path) -> dict[str, Any]:
    return theirs(folder, program.work)


@pytest.mark.slow
def test_what_a_user_scripts_goes_before_what_the_format_makes_up(program: Program, examples: Path) -> None:
    """A reply of the configuration is played, and what was measured of it stands in the document."""
    replies = 'engines.mock.replies=[{"match": "first", "text": "with-skill r", "turns": 7}]'
    document = ours(program, examples / "outcomes", "--set", replies)
    assert document["cases"][0]["with_skill"]["turns"] == 7
    assert document["cases"][0]["with_skill"]["duration_ms"] < 1200
    assert document["cases"][1]["with_skill"]["turns"] == 2
    nothing = ours(program, examples / "outcomes", "--set", "engines.mock.otherwise=[]")
    assert nothing["skillgauge"]["made_up"] is False
    assert {case["without_skill"]["turns"] for case in nothing["cases"]} == {1}


@pytest.mark.slow
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
@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_settings_of_the_engine_are_part_of_the_key(program: Program, writing: Path) -> None:
    """Another model, and another script of the made-up agent, are another session."""
    warm(program, writing)
    assert warm(program, writing, "--model", "other")["cache_hits"] == 0
    WRITING[1]["tokens"] = 31
    assert warm(program, writing)["cache_hits"] == 0
    WRITING[1]["tokens"] = 30
    assert warm(program, writing)["cache_hits"] == 2


@pytest.mark.slow
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


@pytest.mark.slow
def test_two_runs_write_the_same_entries(program: Program, environment: dict[str, str], writing: Path) -> None:
    """Both say what a run alone says, whoever was first, and what they leave is whole."""
    alone = warm(program, writing, "--no-cache")
    replies = f"engines.mock.replies={json.dumps(WRITING)}"
    command = [sys.executable, "-m", "skillgauge", "eval", str(writing), "--engine", "mock", "--store", "none"]
    running = [
        subprocess.Popen(
            [*command, "--set", replies, "-o", f"own-{number}.json", "--output-dir", f"out-{number}"],
            cwd=program.work,
            env=program.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(4)
    ]
    for number, one in enumerate(running):
        _, said = one.communicate()
        assert one.returncode == 0, said
        found = json.loads((program.work / f"own-{number}.json").read_text())
        assert found["pass_rate"] == alone["pass_rate"]
        assert [case["outcome"] for case in found["cases"]] == [case["outcome"] for case in alone["cases"]]
    folder = Path(environment["HOME"], ".cache/skillgauge/baselines")
    assert [path.suffix for path in folder.rglob("*") if path.is_file()] == [".json"] * 2
    after = warm(program, writing)
    assert (after["cache_hits"], after["pass_rate"]) == (2, alone["pass_rate"])


@pytest.mark.slow
def test_an_entry_of_another_session_is_a_miss(program: Program, environment: dict[str, str], writing: Path) -> None:
    """What lies under a key says of which session it is."""
    warm(program, writing)
    entries = sorted(Path(environment["HOME"], ".cache/skillgauge/baselines").rglob("*.json"))
    entries[0].write_bytes(entries[1].read_bytes())
    assert warm(program, writing)["cache_hits"] == 1


@pytest.mark.requirement("SE-RUN-010", "SE-RUN-011", "SE-RUN-012")
@pytest.mark.parametrize(
    ("gates", "code"),
    [
        ((), 0),
        (("--fail-on-verdict", "fail"), 0),
        (("--fail-on-verdict", "mixed"), 1),
        (("--fail-on-verdict", "fail", "--fail-on-verdict", "mixed", "--fail-on-verdict", "error"), 1),
        (("--min-delta-pts", "-50"), 0),
        (("--min-delta-pts", "10"), 1),
        (("--gate", "better"), 3),
        (("--fail-on-verdict", "perfect"), 2),
        (("--min-delta-pts", "nan"), 2),
    ],
)
def test_gates(program: Program, writing: Path, gates: tuple[str, ...], code: int) -> None:
    """Each gate has its exit code; what a run of two cases cannot tell is not passed."""
    replies = f"engines.mock.replies={json.dumps(WRITING)}"
    done = program("eval", writing, "--engine", "mock", "--store", "none", "--set", replies, *gates)
    assert done.code == code, done.stderr


@pytest.mark.slow
@pytest.mark.requirement("SE-RUN-012")
def test_a_lift_that_nobody_measured_passes_no_gate(program: Program, writing: Path) -> None:
    """Null is no number: a run of errors, and one without the arm it is compared with, end with 3."""
    (writing / "eval.yaml").write_text("cases: [{name: a, prompt: p, validators: [{cmd: exit 9}]}]")
    common = ("eval", writing, "--engine", "mock", "--store", "none", "--min-delta-pts", "10")
    assert program(*common).code == 3
    (writing / "eval.yaml").write_text("cases: [{name: a, prompt: p, validators: [{cmd: 'true'}]}]")
    assert program(*common).code == 1
    done = program(*common, "--no-baseline")
    assert (done.code, "nothing was compared" in done.verdict) == (3, True)


@pytest.mark.requirement("SE-RUN-014")
def test_old_spelling_of_the_engine(program: Program, writing: Path) -> None:
    """`--adapter` names the engine, and `llm` is the one that asks a provider's model."""
    assert program("eval", writing, "--adapter", "mock", "--store", "none", "--no-cache").code == 0
    done = program("eval", writing, "--adapter", "llm", "--model", "gpt-4o", "--dry-run", "--json")
    assert [one["name"] for one in done.document["plan"]["runners"]] == ["api"]


def test_transcripts_and_bundles(program: Program, examples: Path, work: Path) -> None:
    """Each session as text, and what others need to grade again, as the package's own runner writes it."""
    folder = examples / "outcomes"
    command = [Path(sys.executable).with_name("skillevaluation"), "run", folder, "--adapter", "mock", "--no-cache"]
    emitted = ["--emit-replay-bundle", "bundle.json", "--emit-attestation", "attested.json", "--trajectories", "texts"]
    subprocess.run([*command, *emitted, "-o", "theirs.json"], check=True, capture_output=True, cwd=work)
    ours(program, folder, "--format", "transcripts", "attestation", "--output-dir", "out", "--store", "none")
    (bundle,) = (work / "out").glob("*/attestation/replay-bundle.json")
    assert _without_calls(json.loads(bundle.read_text())) == _without_calls(
        json.loads((work / "bundle.json").read_text())
    )
    found = json.loads(bundle.with_name("attestation.json").read_text())
    wanted = json.loads((work / "attested.json").read_text())
    assert [one["name"] for one in found["cases"]] == [one["name"] for one in wanted["cases"]]
    for one, other in zip(found["cases"], wanted["cases"], strict=True):
        for arm in ("with_skill", "without_skill"):
            assert (one[arm]["output"], one[arm]["passed"]) == (other[arm]["output"], other[arm]["passed"])
            assert one[arm]["validator_results"] == other[arm]["validator_results"]
    assert found["judge_model"] == "mock"
    (texts,) = (work / "out").glob("*/transcripts")
    index = {(one["case"], one["arm"]): one["file"] for one in json.loads((texts / "index.json").read_text())}
    assert len(index) == 12
    for case in ("turned", "lost"):
        for arm, short in (("with_skill", "with"), ("without_skill", "without")):
            same = (work / "texts" / f"{case}__{short}.txt").read_text().removesuffix("\n")
            assert (texts / index[case, arm]).read_text().removesuffix("\n") == same


def _without_calls(bundle: dict[str, Any]) -> dict[str, Any]:
    for case in bundle["cases"]:
        for arm in ("with_skill_meta", "without_skill_meta"):
            case[arm].pop("tool_call_count")
    return bundle


MANIFEST = {
    "name": "agent",
    "evaluation": {"gates": [{"name": "other", "threshold": 1, "actual_score": 1, "passed": True, "ran_at": "x"}]},
    "kept": [1, {"a": None}],
}


@pytest.mark.requirement(
    "SE-GATE-001", "SE-GATE-002", "SE-GATE-003", "SE-GATE-004", "SE-GATE-005", "SE-GATE-006", "SE-GATE-007"
)
def test_a_gate_for_a_manifest(program: Program, writing: Path, work: Path) -> None:
    """It is entered beside what the manifest holds, and replaced when it is entered again."""
    warm(program, writing)
    manifest = work / "agent.json"
    manifest.write_text(json.dumps(MANIFEST))
    enter = ("report", "convert", "--input", "ours.json", "--format", "agentversion", "--into", "agent.json")
    assert program(*enter).code == 0
    done = program("--set", "reporters.agentversion.threshold=0.4", *enter)
    assert done.code == 0, done.stderr
    found = json.loads(manifest.read_text())
    other, gate = found["evaluation"].pop("gates")
    assert (other, found) == (MANIFEST["evaluation"]["gates"][0], {**MANIFEST, "evaluation": {}})  # type: ignore[index]
    score = json.loads((work / "ours.json").read_text())["pass_rate"]["with_skill"]
    assert (gate["name"], gate["actual_score"]) == ("skillevaluation:outcomes", score)
    assert (gate["threshold"], gate["passed"]) == (0.4, score >= 0.4)
    assert "set by the user" in gate["notes"]
    assert program(*enter, "--gate-threshold", "0.95").code == 0
    gate_now = json.loads(manifest.read_text())["evaluation"]["gates"][1]
    assert (gate_now["threshold"], gate_now["passed"]) == (0.95, score >= 0.95)
    assert re.fullmatch(r"skillevaluation://[0-9a-f]{12}@v0\.8\.0", gate["evaluator_ref"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", gate["ran_at"])


@pytest.mark.slow
@pytest.mark.requirement("SE-GATE-008")
def test_an_invalid_run_makes_no_gate(program: Program, writing: Path, work: Path) -> None:
    """The manifest stays as it is, to the byte."""
    (writing / "eval.yaml").write_text("cases: [{name: a, prompt: p, validators: [{cmd: exit 9}]}]")
    assert program("eval", writing, "--engine", "mock", "-o", "ours.json", "--store", "none").code == 3
    manifest = work / "agent.json"
    manifest.write_text(json.dumps(MANIFEST, indent=7))
    done = program("report", "convert", "--input", "ours.json", "--format", "agentversion", "--into", "agent.json")
    assert (done.code, "nothing is entered" in done.verdict) == (3, True)
    assert manifest.read_text() == json.dumps(MANIFEST, indent=7)


TWO_CASES = """
cases:
  - name: finds-the-total
    prompt: "Add up the amounts in sales.csv and write {\\"total\\": N} to output.json."
    setup:
      files: {sales.csv: "a,1\\nb,2\\n"}
    validators:
      - cmd: "grep -q '\\"total\\": 3' output.json"
    expectations:
      - The total is 3.
  - name: stays-silent
    prompt: What is the capital of France?
    expectations:
      - Paris
"""
"""A command and a claim in one case, a claim alone in the other."""


@pytest.mark.requirement("SE-FORMAT-002", "SE-FORMAT-007", "SE-HEAD-001", "SE-HEAD-002", "SE-RUN-007", "SE-FORMAT-008")
def test_two_cases_from_end_to_end(program: Program, writing: Path, work: Path) -> None:
    """A document is written unasked, the headline tells points and turns, and a missing file fails the case."""
    (writing / "eval.yaml").write_text(TWO_CASES)
    replies = [
        {"match": "total", "skill": "outcomes", "files": {"output.json": '{"total": 3}'}, "text": "The total is 3."},
        {"match": "total", "text": "I do not know.", "turns": 4},
        {"match": "capital", "skill": "outcomes", "text": "Paris", "turns": 2},
        {"match": "capital", "text": "Paris", "turns": 4},
    ]
    done = program(
        "eval", writing, "--engine", "mock", "--store", "none", "--set", f"engines.mock.replies={json.dumps(replies)}"
    )
    assert done.code == 0, done.stderr
    document = json.loads((work / "reports/eval-result.json").read_text())
    outcomes = {case["case_name"]: case["outcome"] for case in document["cases"]}
    assert outcomes == {"finds-the-total": "flip_to_pass", "stays-silent": "pass_kept"}
    assert (document["errors"], document["pass_rate"]["delta_pts"]) == (0, 50.0)
    resources = pytest.importorskip("skillevaluation.resources")
    jsonschema.validate(document, resources.load_schema("test-run-result"))
    assert "+50.0 points" in done.verdict
    assert "times the turns" not in done.verdict, "one case that both passed says nothing of turns"
    assert "reads output.json" in done.stderr


@pytest.mark.requirement("SE-RUN-005")
def test_the_judge_is_the_agents_model(program: Program, writing: Path) -> None:
    """Where nobody names one, and at the agent's own service only."""
    (writing / "eval.yaml").write_text(TWO_CASES)
    env = {"OPENAI_API_KEY": "made-up-key-0123456789"}
    done = program("eval", writing, "--engine", "api", "--model", "gpt-4o", "--dry-run", "--json", env=env)
    assert done.code == 0, done.stderr
    judges = done.document["plan"]["judges"]
    assert [(one["name"], one["settings"]["model"]) for one in judges] == [("openai", "gpt-4o")]


@pytest.mark.requirement("SE-HOST-002")
def test_what_stays_with_the_vendor_is_said() -> None:
    """The page names what is not offered."""
    page = (ROOT / "docs/from-skillevaluation.md").read_text()
    section = page.partition("## What stays with the vendor\n")[2].partition("\n## ")[0].casefold()
    for word in ("push", "hosted", "verified", "quotas", "rankings", "skillscore"):
        assert word in section


def mutants(count: int) -> list[str]:
    """Damaged copies of a good suite, the same in every run."""
    lines = OUTCOMES.strip().splitlines()
    keys = sorted(set(re.findall(r"\b(cases|name|prompt|validators|cmd|setup|files|commands)\b(?=:)", OUTCOMES)))
    chance = random.Random(12)
    odd = ["null", "[]", "{}", "5", "1e999", ".nan", "true", "'''", "&a [*a]", "!!python/name:os.system x", "9" * 5000]
    tops = ["", "- a\n", "text", "5", f"---\n{OUTCOMES}\n---\na: 1\n", "[" * 3000, "{" * 200, "\0"]
    bits = ["\t", "\x07", "]}", '"', ": :", "\n\n  - [", "%"]

    def dropped() -> str:
        at = chance.randrange(len(lines))
        shorter = re.sub(r"(name|prompt): [^,}\n]+,? ?", "", lines[at], count=1)
        return "\n".join([*lines[:at], shorter, *lines[at + 1 :]])

    def renamed() -> str:
        key = chance.choice(keys)
        return OUTCOMES.replace(f"{key}:", f"{key}{chance.choice('xyz')}:", 1)

    def retyped() -> str:
        key = chance.choice(keys)
        return re.sub(rf"\b{key}: [^,}}\n]+", f"{key}: {chance.choice(odd)}", OUTCOMES, count=1)

    def doubled() -> str:
        twice = OUTCOMES.replace("prompt: ", "prompt: twice, prompt: ", 1)
        return twice if chance.random() < 0.5 else OUTCOMES + OUTCOMES

    def top() -> str:
        return chance.choice(tops)

    def broken() -> str:
        at = chance.randrange(8, len(OUTCOMES) - 8)
        return OUTCOMES[:at] + chance.choice(bits) + OUTCOMES[at:]

    kinds = [dropped, renamed, retyped, doubled, top, broken]
    found: dict[str, None] = {}
    while len(found) < count:
        made = chance.choice(kinds)()
        found.setdefault(made)
    return list(found)


@pytest.mark.slow
def test_a_hundred_damaged_suites(program: Program, writing: Path) -> None:
    """Each is good all the same, or exit code 2 with line and column in the file; nothing breaks."""
    suite, refused = writing / "eval.yaml", 0
    for text in mutants(100):
        suite.write_text(text)
        done = program("eval", writing, "--engine", "mock", "--dry-run", "--json")
        if done.code == 0:
            continue
        assert done.code == 2, (text, done.stderr)
        problems = done.document["problems"]
        errors = [one for one in problems if one["severity"] == "error"]
        assert errors
        assert all(one["file"] and one["line"] and one["column"] for one in errors), (text, errors)
        real = program("eval", writing, "--engine", "mock", "--json", "--output-dir", "refused")
        assert (real.code, real.document["problems"]) == (2, problems), text
        refused += 1
    assert refused >= 70
    assert not (program.work / "refused").exists()
    assert not (program.work / "skillgauge.db").exists()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (OUTCOMES.encode("utf-16"), 1),
        (b"\xef\xbb\xbf" + OUTCOMES.encode(), None),
        (OUTCOMES.replace("\n", "\r\n").encode(), None),
        (OUTCOMES.encode().replace(b"first", b"f\xffrst"), 4),
    ],
)
def test_encodings(program: Program, writing: Path, data: bytes, line: int | None) -> None:
    """A byte order mark and other line ends are read; what is no UTF-8 is refused with its line."""
    (writing / "eval.yaml").write_bytes(data)
    done = program("eval", writing, "--engine", "mock", "--dry-run", "--json")
    assert done.code == (2 if line else 0), done.stderr
    if line:
        assert done.document["problems"][0]["line"] == line

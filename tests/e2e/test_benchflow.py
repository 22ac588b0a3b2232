"""Suites of BenchFlow through the whole program, with agents that follow a script."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Program

from .judge_replies import claims_reply, said

SKILL = "---\nname: tables\ndescription: Convert tables. Use when there is a table.\n---\n\nRun scripts/convert.py.\n"
CASES = [
    {"id": "sum", "question": "Sum 1 and 4.", "ground_truth": "5", "expected_script": "scripts/convert.py"},
    {"question": "Half of all, in percent?", "ground_truth": "50%"},
    {"id": "same", "question": "Say a city.", "ground_truth": "Lima"},
    {"id": "nothing", "question": "Say nothing that counts."},
]
REPLIES = [
    {"match": "Sum", "skill": "tables", "fires": ["tables"], "text": "The sum is 5."},
    {"match": "Sum", "text": "The sum is 15."},
    {"match": "Half", "skill": "tables", "run": "echo 'it is 50%' > out.txt", "text": "See out.txt."},
    {"match": "Half", "text": "I do not know."},
    {"match": "city", "text": "Lima"},
    {"match": "token", "run": 'echo "token $TOKEN of $PLACE" > token.txt', "text": "Written."},
]


def suite(work: Path, *cases: Any, folder: str = "tables", **keys: Any) -> Path:
    """A skill with these cases."""
    root = work / folder
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text(SKILL)
    document = {"skill_name": "tables", "cases": cases, **keys}
    (root / "evals/evals.json").write_text(json.dumps(document))
    (work / "mock.json").write_text(json.dumps({"replies": REPLIES}))
    return root


def run(program: Program, folder: Path, *arguments: str) -> dict[str, Any]:
    """The document of a run with the scripted agent."""
    done = program(
        "eval", folder, "--engine", "mock", "--set", "engines.mock.script=mock.json", "-o", "lift.json", *arguments
    )
    assert done.code == 0, done.stderr
    return json.loads((program.work / "lift.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.requirement(
    "BF-RUN-001",
    "BF-RUN-002",
    "BF-CASE-001",
    "BF-CASE-002",
    "BF-CASE-003",
    "BF-GRADE-002",
    "BF-GRADE-003",
    "BF-CRED-001",
)
def test_lift_without_a_judge(program: Program, work: Path) -> None:
    """Answers have to stand in what the agent says or leaves; a case that expects nothing has the reward 0."""
    found = run(program, suite(work, *CASES))
    rewards = {case["case_id"]: case["rewards"] for case in found["cases"]}
    assert rewards == {
        "sum": {"with-skill": [1.0], "baseline": [0.0]},
        "case-001": {"with-skill": [1.0], "baseline": [0.0]},
        "same": {"with-skill": [1.0], "baseline": [1.0]},
        "nothing": {"with-skill": [0.0], "baseline": [0.0]},
    }
    (lift,) = found["lifts"]
    assert (lift["lift"], lift["with_skill_passed"], lift["baseline_passed"], lift["pairs"]) == (0.5, 3, 1, 4)
    assert {case["question"] for case in found["cases"]} == {case["question"] for case in CASES}


@pytest.mark.slow
@pytest.mark.requirement("BF-CASE-005", "BF-CASE-006", "BF-GRADE-003", "BF-TIPS-005")
def test_what_the_terminal_says(program: Program, work: Path) -> None:
    """Lift, what fired beside it, what is wrong with the suite before it runs, and a baseline that needs no skill."""
    folder = suite(work, *CASES)
    done = program("eval", folder, "--engine", "mock", "--set", "engines.mock.script=mock.json")
    text = " ".join(done.stdout.split())
    for told in ("Reward lift: 0.500", "Expected skill fired: 25.0%", "Expected script was run: 0.0%"):
        assert told in text
    assert "neither expected_behavior nor ground_truth" in done.stderr
    (folder / "evals/evals.json").write_text(json.dumps({"cases": [CASES[2], CASES[2] | {"id": "again"}]}))
    done = program("eval", folder, "--engine", "mock", "--set", "engines.mock.script=mock.json")
    assert "the baseline alone is this good" in " ".join(done.stdout.split())


def test_the_matching_of_the_original(program: Program, work: Path) -> None:
    """`--compat benchflow` never finds a text that ends with punctuation."""
    found = run(program, suite(work, *CASES), "--compat", "benchflow")
    rewards = {case["case_id"]: case["rewards"]["with-skill"] for case in found["cases"]}
    assert rewards["case-001"] == [0.0]


@pytest.mark.slow
@pytest.mark.requirement("BF-RUN-003")
def test_several_agents(program: Program, work: Path) -> None:
    """Each agent has a lift of its own."""
    folder = suite(work, *CASES)
    options = ["--set", 'engines.command.argv=["sh", "-c", "echo 5"]', "--set", "engines.command.skill_folder=skills"]
    found = run(program, folder, "--engine", "command", *options)
    assert {(one["agent"], one["lift"]) for one in found["lifts"]} == {("mock", 0.5), ("command", 0.0)}


@pytest.mark.slow
@pytest.mark.requirement("BF-RUN-005")
def test_old_spellings(program: Program, work: Path) -> None:
    """Old names of options are understood, or answered with the new one."""
    folder = suite(work, *CASES)
    done = program(
        "eval",
        folder,
        "--agent",
        "mock",
        "--jobs-dir",
        "jobs",
        "--format",
        "json",
        "--set",
        "engines.mock.script=mock.json",
    )
    assert done.code == 0, done.stderr
    assert (work / "jobs/eval-result.json").is_file()
    done = program("eval", folder, "--agent", "mock", "--export-gepa")
    assert done.code == 2
    assert "--format gepa" in done.stderr


@pytest.mark.slow
@pytest.mark.requirement("BF-CASE-007")
def test_variables_of_the_user(program: Program, work: Path) -> None:
    """A session gets the value, and nothing that is written holds it; without one nothing runs."""
    secret = "canary-4711-not-to-be-seen"
    environment = {"TOKEN": "${HOST_TOKEN}", "PLACE": "${HOST_PLACE:-here}"}
    folder = suite(
        work, {"question": "Write the token.", "ground_truth": "of here", "environment": environment}, CASES[0]
    )
    done = program("eval", folder, "--engine", "mock", "--set", "engines.mock.script=mock.json")
    assert done.code == 2
    assert "HOST_TOKEN" in done.stderr
    program = replace(program, environment={**program.environment, "HOST_TOKEN": secret})
    found = run(program, folder, "--format", "record", "html")
    assert found["cases"][0]["rewards"]["with-skill"] == [1.0]
    for path in (path for path in work.rglob("*") if path.is_file()):
        assert secret.encode() not in path.read_bytes(), path
    record = next((work / "reports").glob("run-*.record.json")).read_text()
    assert "token [redacted:HOST_TOKEN] of here" in record
    refused = program("eval", folder, "--engine", "mock", "--untrusted")
    assert refused.code == 2
    assert "HOST_TOKEN" in refused.stderr


@pytest.mark.parametrize(("value", "shown"), [("production", "production"), ("quartzite", "[redacted:STAGE_VAR]")])
def test_a_word_of_the_suite_is_no_secret(program: Program, work: Path, value: str, shown: str) -> None:
    """R3-M11: a variable that holds a word which the suite says itself hides nothing; any other word is hidden."""
    environment = {"TOKEN": "${STAGE_VAR}", "PLACE": "${HOST_PLACE:-here}"}
    question = "Write the token of production."
    folder = suite(work, {"question": question, "ground_truth": "of here", "environment": environment})
    program = replace(program, environment={**program.environment, "STAGE_VAR": value})
    run(program, folder, "--format", "record")
    record = next((work / "reports").glob("run-*.record.json")).read_text()
    assert f"token {shown} of here" in record
    assert "of production." in record


@pytest.mark.requirement("BF-GEPA-001", "BF-GEPA-003", "BF-OUT-001", "BF-OUT-002")
def test_folders_of_results(program: Program, work: Path) -> None:
    """Traces and the tree of results stand under the folder of the run, and the tree gives the same lift."""
    folder = suite(work, *CASES)
    lift = run(program, folder, "--format", "gepa", "benchflow-jobs", "--output-dir", "jobs")["lifts"]
    (stamp,) = (path for path in (work / "jobs").iterdir() if path.is_dir())
    traces = sorted(path.name for path in (stamp / "gepa/traces").iterdir())
    assert traces[:2] == ["case-001-mock-with.json", "case-001-mock-without.json"]
    trace = json.loads((stamp / "gepa/traces/sum-mock-with.json").read_text())
    assert (trace["with_skill"], trace["score"], trace["skill_text"]) == (True, 1.0, SKILL)
    assert json.loads((stamp / "gepa/summary.json").read_text())["lifts"][0]["lift"] == 0.5
    tree = stamp / "benchflow-jobs/skill-eval/tables/mock"
    assert {path.name for path in tree.iterdir()} == {"with-skill", "baseline"}
    done = program("report", "convert", "--input", tree.parent, "--format", "json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["lifts"] == lift


@pytest.mark.requirement("BF-EMBED-001")
def test_skills_of_tasks(program: Program, work: Path) -> None:
    """A skill below a task's environment is found by a search, and evaluated."""
    suite(work, *CASES, folder="tasks/sums/environment/skills/tables")
    found = run(program, work / "tasks")
    assert (found["skill_name"], found["lifts"][0]["lift"]) == ("tables", 0.5)


BOOK = "@article{k, title = {A Tale of Two {Kites}}, author = {Lee, Ann}, year = {2020}, doi = {10.1/k}}"
REFERENCES = {
    "skill_name": "references",
    "version": "1",
    "defaults": {"timeout_sec": 900, "judge_model": "gemini-3.1-flash-lite", "skill_mount_dir": "/skills"},
    "cases": [
        {
            "id": name,
            "question": f"{question}\n\n```bibtex\n{BOOK}\n```\n",
            "ground_truth": truth,
            "expected_behavior": [f"{name}: the {what} is right." for what in ("source", "title", "year", "shape")],
        }
        for name, question, truth in (
            ("invented", "Name the invented references.", '{"invented": ["A Tale of Two Kites"]}'),
            ("repaired", "Repair this entry by its DOI.", "A Tale of Three Kites, 2021"),
            ("crossed", "Does the DOI belong to the title?", '{"consistent": false}'),
        )
    ],
}
"""As long questions with code, JSON as truth, four items each and all defaults said, as in the published example."""


def graded(request: ModelRequest) -> ModelReply:
    """A judge that finds every item met where the agent looked things up, and the last one only where it did not."""
    looked = "looked up" in said(request)[2]
    return ModelReply(claims_reply(request, looked, looked, looked, True, quote="I" if looked else None))


@pytest.mark.slow
@pytest.mark.requirement("BF-EMBED-003", "BF-CRED-004", "BF-GRADE-001")
def test_a_suite_like_the_published_example(program: Program, work: Path) -> None:
    """The judge that the file names is found by its model and asked once a session; half of a rubric is no pass."""
    root = work / "references"
    (root / "evals").mkdir(parents=True)
    head = "name: references\ndescription: Check references.\nmetadata: {source: a library, author: somebody}\n"
    (root / "SKILL.md").write_text(f"---\n{head}---\n# References\nLook up every DOI.\n")
    (root / "evals/evals.json").write_text(json.dumps(REFERENCES))
    replies = [{"skill": "references", "fires": ["references"], "text": "I looked up the DOI."}, {"text": "I guess."}]
    program = replace(program, environment={**program.environment, "GEMINI_API_KEY": "made-up-key-0123456789"})
    with ModelServer(graded) as server:
        settings = (
            "--set",
            f"judges.gemini.base_url={server.url}",
            "--set",
            f"engines.mock.replies={json.dumps(replies)}",
        )
        done = program("eval", root, "--engine", "mock", "-o", "lift.json", "--json", *settings)
    assert done.code == 0, done.stderr
    assert {request.model for request in server.requests} == {"gemini-3.1-flash-lite"}
    assert len(server.requests) == 6
    found = json.loads((work / "lift.json").read_text())
    assert [case["rewards"] for case in found["cases"]] == [{"with-skill": [1.0], "baseline": [0.25]}] * 3
    (lift,) = found["lifts"]
    assert (lift["lift"], lift["with_skill_passed"], lift["baseline_passed"]) == (0.75, 3, 0)
    assert {suite["timeout_s"] for suite in done.document["plan"]["suites"]} == {900.0}


@pytest.mark.requirement("BF-ENV-003")
def test_where_the_skill_is_found(program: Program, work: Path) -> None:
    """The default place stands for the one where the agent looks, in the arm with the skill; others are refused."""
    folder = suite(work, {"id": "where", "question": "Where?", "ground_truth": "convert.py"})
    (folder / "scripts").mkdir()
    (folder / "scripts/convert.py").write_text("print(5)\n")
    (work / "mock.json").write_text(json.dumps({"replies": [{"match": "Where", "run": "find . > found.txt"}]}))
    found = run(program, folder, "--format", "record")
    assert found["cases"][0]["rewards"] == {"with-skill": [1.0], "baseline": [0.0]}
    evals = folder / "evals/evals.json"
    document = json.loads(evals.read_text())
    evals.write_text(json.dumps(document | {"defaults": {"skill_mount_dir": "/opt/skills"}}))
    refused = program("eval", folder, "--engine", "mock")
    assert refused.code == 2
    assert "skill_mount_dir '/opt/skills' is not supported" in refused.stderr

"""Numbers that the programs we take suites from get wrong, each through the whole program with the cause in it.

`tests/conformance/findings_comparisons.py` lists all of them, those proved elsewhere too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

from .judge_replies import claims_reply, said

pytestmark = pytest.mark.e2e

KEY = "made-up-key-of-the-tests-0123456789"

SKILL = (
    "---\nname: sums\ndescription: Adds numbers. Use when numbers are to be added.\n---\n\nAdd with scripts/add.py.\n"
)
ENGINE = """
import json
from pathlib import Path
from skillgauge.api import Execution, Identity, Provider, Traits, Trajectory, hookimpl

class Told:
    async def check(self):
        return ()
    def identity(self, model):
        return Identity(name="told", version=Path("version.txt").read_text(), model=model)
    def routes(self, model):
        return ()
    async def run(self, request, workspace, emit):
        with Path("limits.jsonl").open("a") as file:
            print(json.dumps([request.case_id, request.limits.max_turns]), file=file)
        offered = tuple(one.ref.name for one in request.skills)
        return Execution(text="done", trajectory=Trajectory(skills_offered=offered))

@hookimpl
def skillgauge_engines():
    traits = Traits(skill_folder="skills")
    yield Provider(name="told", factory=Told, summary="Tells its limits.", traits=traits)
"""
"""An engine that writes down what limits reach it, and whose version is that of a file."""


@pytest.fixture
def skill(work: Path) -> Callable[..., Path]:
    """Makes the skill with these cases of an eval.yaml, and further files."""

    def make(*cases: dict[str, Any], **files: str) -> Path:
        root = work / "sums"
        for name in ("scripts", "references"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "SKILL.md").write_text(SKILL)
        (root / "scripts/add.py").write_text("print(5)\n")
        (root / "references/sums.md").write_text("Sums are added.\n")
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        (root / "eval.yaml").write_text(json.dumps({"cases": [{"prompt": "Add 2 and 3.", **case} for case in cases]}))
        return root

    return make


@pytest.fixture
def evaluate(program: Program, work: Path) -> Callable[..., tuple[Done, dict[str, Any]]]:
    """Evaluates with an agent that does what is said; how it ended, and the document of the suite."""

    def call(root: Path, *replies: dict[str, Any], code: int = 0, more: tuple[str, ...] = ()) -> tuple[Done, Any]:
        engine = ("--engine", "mock", "--set", f"engines.mock.replies={json.dumps(replies)}") if replies else ()
        done = program("eval", root, *engine, "-o", "own.json", "--json", "--store", "none", *more)
        assert done.code == code, done.stdout + done.stderr
        return done, json.loads((work / "own.json").read_text())

    return call


def sessions(done: Done) -> dict[str, dict[str, Any]]:
    """What happened, by arm."""
    return {one["arm"]: one["execution"] for one in done.document["results"]}


GREP = {"name": "a", "validators": [{"cmd": "grep -q done response.txt"}]}


@pytest.mark.slow
def test_2_whatever_enters_a_baseline_is_part_of_its_key(
    work: Path, skill: Callable[..., Path], evaluate: Callable[..., Any]
) -> None:
    """W-2: a bundled file that sets the case up and the agent's version make another baseline; a grader does not."""
    (work / "told.py").write_text(ENGINE)
    (work / "version.txt").write_text("1")
    case = {
        "name": "a",
        "setup": ["python3 templates/seed.py"],
        "validators": [{"cmd": "python3 scripts/grade.py"}],
    }
    files = {"templates/seed.py": "open('seed.txt', 'w')\n", "scripts/grade.py": "open('seed.txt')\n"}

    def hits(changed: str = "", more: str = "") -> int:
        root = skill(case, **{name: text + (more if name == changed else "") for name, text in files.items()})
        told = ("--plugin", "told.py", "--engine", "told")
        return int(evaluate(root, more=told)[1]["cache_hits"])

    assert (hits(), hits()) == (0, 1)
    assert hits("scripts/grade.py", "# Better.\n") == 1
    assert hits("templates/seed.py", "# Better.\n") == 0
    (work / "version.txt").write_text("2")
    assert (hits(), hits()) == (0, 1)


@pytest.mark.slow
def test_3_and_4_what_lies_in_the_arms(skill: Callable[..., Path], evaluate: Callable[..., Any]) -> None:
    """W-3, W-4: one arm has the skill as it ships, without what grades it; the other has nothing of it."""
    root = skill({"name": "a", "validators": [{"cmd": "python3 scripts/grade.py"}]}, **{"scripts/grade.py": "print(5)"})
    look = "find . -type f | sort; find . -name SKILL.md -exec cat {} +"
    done, document = evaluate(root, {"run": look, "text": "5"})
    seen = {arm: one["trajectory"]["events"][-2].get("text", "") for arm, one in sessions(done).items()}
    home = "./.agents/skills/sums"
    listed = f"{home}/SKILL.md\n{home}/references/sums.md\n{home}/scripts/add.py\n"
    assert seen == {"with_skill": f"{listed}{SKILL}", "without_skill": seen["without_skill"]}
    assert seen["without_skill"] == ""
    assert document["cases"][0]["outcome"] == "pass_kept"  # the grader was there for both, afterwards


@pytest.mark.parametrize(("text", "counted"), [("5", 1), ("", 0)])
def test_5_short_answers_are_answers(
    skill: Callable[..., Path], evaluate: Callable[..., Any], text: str, counted: int
) -> None:
    """W-5: one character is an attempt; only who says nothing and does nothing made none."""
    root = skill({"name": "a", "validators": [{"cmd": "grep -qx 5 response.txt"}]})
    _, document = evaluate(root, {"skill": "sums", "fires": [], "text": text}, {"fires": [], "text": "6"})
    assert (document["cases_aggregated"], document["cases_skipped_apples_oranges"]) == (counted, 1 - counted)
    assert document["pass_rate"]["delta_pts"] == (100.0 if counted else None)


def test_6_turns_of_a_case_reach_the_agent(
    work: Path, skill: Callable[..., Path], evaluate: Callable[..., Any]
) -> None:
    """W-6: each case has its own limit, in both arms."""
    (work / "told.py").write_text(ENGINE)
    (work / "version.txt").write_text("1")
    root = skill({**GREP, "max_turns": 3}, {**GREP, "name": "b", "max_turns": 7}, {**GREP, "name": "c"})
    evaluate(root, more=("--plugin", "told.py", "--engine", "told"))
    told = [json.loads(line) for line in (work / "limits.jsonl").read_text().splitlines()]
    assert sorted(told, key=str) == sorted([["a", 3], ["b", 7], ["c", None]] * 2, key=str)


JUDGED = {"name": "a", "expectations": ["It added with a tool."]}


def judged(server: ModelServer) -> tuple[str, ...]:
    """Options that have this server judge."""
    return ("--judge", "openai", "--judge-model", "gpt-x", "--set", f"judges.openai.base_url={server.url}/v1")


@pytest.fixture
def program(program: Program) -> Program:
    """With a key for the judge."""
    return replace(program, environment={**program.environment, "OPENAI_API_KEY": KEY})


def test_6_the_judge_sees_tool_calls(skill: Callable[..., Path], evaluate: Callable[..., Any]) -> None:
    """W-6: what the agent ran decides a claim about how it worked."""

    def answer(request: ModelRequest) -> ModelReply:
        used = "expr 2 + 3" in said(request)[2]
        return ModelReply(claims_reply(request, used, quote="expr 2 + 3" if used else None, absent="a tool"))

    with ModelServer(answer) as server:
        replies = ({"skill": "sums", "run": "expr 2 + 3", "text": "5"}, {"text": "5"})
        _, document = evaluate(skill(JUDGED), *replies, more=judged(server))
    assert document["cases"][0]["outcome"] == "flip_to_pass"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holds", "outcome", "questions"),
    [
        ("yes", "error", 2),
        ("1", "error", 2),
        (1, "error", 2),
        (None, "error", 2),
        ("false", "fail_kept", 1),
        ("true", "pass_kept", 1),
    ],
)
def test_7_only_true_is_true(
    skill: Callable[..., Path], evaluate: Callable[..., Any], holds: object, outcome: str, questions: int
) -> None:
    """W-7: a judge that does not answer true or false is asked once more, then the claim is ungraded, never passed.

    R3-W-11: either word is one as a text, too.
    """
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> ModelReply:
        asked.append(request)
        reply = json.loads(claims_reply(request, True, quote="5"))
        reply["answers"][0]["holds"] = holds
        return ModelReply(json.dumps(reply))

    with ModelServer(answer) as server:
        code = 3 if outcome == "error" else 0
        _, document = evaluate(skill(JUDGED), {"text": "5"}, more=judged(server), code=code)
    assert [case["outcome"] for case in document["cases"]] == [outcome]
    assert len(asked) == questions  # both arms say the same, so their question is one


def test_8_a_file_that_was_not_made_is_a_failure(skill: Callable[..., Path], evaluate: Callable[..., Any]) -> None:
    """W-8: a grader that ends with 2 for want of the agent's file leaves the case in the divisor."""
    root = skill({"name": "a", "validators": [{"cmd": "grep -q 5 sum.txt"}]}, {**GREP, "name": "b"})
    made = {"match": "Add", "skill": "sums", "files": {"sum.txt": "5\n"}, "text": "done"}
    _, document = evaluate(root, made, {"text": "done"})
    assert [case["outcome"] for case in document["cases"]] == ["flip_to_pass", "pass_kept"]
    assert (document["errors"], document["pass_rate"]) == (
        0,
        {"with_skill": 1.0, "without_skill": 0.5, "delta_pts": 50.0},
    )


@pytest.fixture
def evals(work: Path) -> Callable[..., Path]:
    """Makes a skill with these cases of BenchFlow's evals.json; with `named` it says what skill it is about."""

    def make(*cases: dict[str, Any], folder: str = "sums", named: bool = True, **keys: Any) -> Path:
        root = work / folder
        (root / "evals").mkdir(parents=True)
        (root / "SKILL.md").write_text(SKILL)
        document = {"cases": [{"question": "Add 2 and 3.", **case} for case in cases], **keys}
        (root / "evals/evals.json").write_text(json.dumps(document | ({"skill_name": "sums"} if named else {})))
        return root

    return make


SUM = {"ground_truth": "5"}
RUBRIC = {"expected_behavior": ["It adds.", "It says 5.", "It is short."]}


@pytest.mark.requirement("BF-FILE-001", "BF-FILE-002")
def test_a_suite_that_names_no_skill(evals: Callable[..., Path], evaluate: Callable[..., Any]) -> None:
    """The name is that of SKILL.md, whatever its folder is called, and no version is version 1."""
    _, document = evaluate(evals(SUM, folder="other", named=False), {"skill": "sums", "text": "5"}, {"text": "6"})
    assert (document["skill_name"], document["lifts"][0]["lift"]) == ("sums", 1.0)


def test_gap_2_what_is_missing_is_said_before_anything_runs(
    program: Program, work: Path, evals: Callable[..., Path]
) -> None:
    """G-2: without the container program there is one message and no table of failures."""
    sandbox = ("--sandbox", "docker", "--set", f"sandboxes.docker.program={work}/nowhere")
    done = program("eval", evals(SUM), "--engine", "mock", *sandbox)
    assert done.code == 2
    assert f"{work}/nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert "LIFT" not in done.stdout.upper()
    assert not (work / "reports").exists()


@pytest.mark.slow
@pytest.mark.requirement("BF-RUN-002")
def test_gap_3_repeats_have_an_interval(program: Program, evals: Callable[..., Path]) -> None:
    """G-3: several sessions of a case and arm, the lift of each agent with an interval, printed for each."""
    argv = ("--set", 'engines.command.argv=["sh", "-c", "echo 6"]', "--set", "engines.command.skill_folder=skills")
    replies = ("--set", 'engines.mock.replies=[{"skill": "sums", "text": "5"}, {"text": "6"}]')
    cases = [{**SUM, "id": str(number)} for number in range(4)]
    line = ("eval", evals(*cases), "--engine", "mock,command", "--runs", "3", *argv, *replies)
    done = program(*line, "-o", "own.json")
    assert done.code == 0, done.stderr
    text = " ".join(done.stdout.split())
    for agent, lift in (("mock", "1.000"), ("command", "0.000")):
        assert f"sums · with-skill · {agent}" in text
        assert f"Reward lift: {lift}" in text
    document = json.loads((program.work / "own.json").read_text())
    rewards = [case["rewards"]["with-skill"] for case in document["cases"] if case["agent"] == "mock"]
    assert rewards == [[1.0] * 3] * 4
    pairs = program(*line, "--json").document["summary"]["pairs"]
    assert [one["evidence"]["n"] for one in pairs] == [4, 4]
    assert text.count("95% interval") >= 4  # with and without the skill, of each agent


def test_gap_4_a_judge_that_is_down_is_no_zero(evals: Callable[..., Path], evaluate: Callable[..., Any]) -> None:
    """G-4: no reward is an error, in no mean, and the run is invalid."""
    root = evals(RUBRIC, {**SUM, "id": "b"}, defaults={"judge_model": "gpt-x"})
    with ModelServer(lambda _request: ModelReply(fault=ModelFault.UNAUTHORIZED)) as server:
        _, document = evaluate(root, {"text": "5"}, more=judged(server), code=3)
    (lift,) = document["lifts"]
    assert (lift["with_skill_score"], lift["baseline_score"], lift["pairs"], lift["unpaired"]) == (
        *(1.0, 1.0, 1),
        ["case-000"],
    )
    assert lift["errors"] == {"with-skill": 1, "baseline": 1}


@pytest.mark.requirement("BF-FILE-004")
def test_gap_6_no_other_judge_is_taken(program: Program, evals: Callable[..., Path], work: Path) -> None:
    """G-6: a judge's model whose provider has no key is refused beforehand, not replaced by one that has."""
    environment = {**program.environment, "ANTHROPIC_API_KEY": KEY}
    done = program("eval", evals(RUBRIC), "--engine", "mock", env=environment)
    assert done.code == 2
    assert "GEMINI_API_KEY" in done.stderr
    assert not (work / "reports").exists()

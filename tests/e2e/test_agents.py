"""Suites for agents through the whole program: engines without a model, recordings, budgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelServer, run_shell, with_skill, write_file
from skillgauge_testkit.program import Done, Program

PLUGIN = Path(__file__).parent / "agent_suites.py"
PROMPT = "make the pdf"
SCRIPT = """
replies:
- match: make
  skill: pdf
  files: { go.sh: "#!/bin/sh\\ncat data.bin\\n" }
  run: chmod +x go.sh; rm old.txt; printf '\\377\\000' > data.bin; printf new > changed.txt
  text: made
"""
VALIDATOR = """test "$(./go.sh | od -An -tx1 | tr -d ' ')" = ff00 && test ! -e old.txt && grep -q new changed.txt"""

Evaluate = Callable[..., Done]


@pytest.fixture
def suite(work: Path) -> Callable[..., Path]:
    """Write a suite of a skill, and a script for the agent that has no model."""

    def write(*cases: dict[str, Any], name: str = "demo", **more: Any) -> Path:
        skill = work / "skills" / "pdf"
        skill.mkdir(parents=True, exist_ok=True)
        (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Makes PDF files.\n---\nUse the force.\n")
        (work / "mock.yaml").write_text(SCRIPT)
        path = work / f"{name}.agents.json"
        files = {"old.txt": "old", "changed.txt": "old"}
        usual = {"id": "a", "prompt": PROMPT, "shell": VALIDATOR, "files": files}
        path.write_text(json.dumps({"skill": "skills/pdf", "cases": cases or [usual], **more}))
        return path

    return write


@pytest.fixture
def evaluate(program: Program) -> Evaluate:
    """Run `eval` with the plugin file of this folder; nothing is kept in a store unless one is named."""

    def call(*arguments: str | Path, **more: Any) -> Done:
        store = () if "--store" in arguments else ("--store", "none")
        script = ("--set", "engines.mock.script=mock.yaml") if "mock" in arguments else ()
        return program("eval", "--plugin", PLUGIN, "--json", *store, *script, *arguments, **more)

    return call


def verdicts(done: Done) -> dict[tuple[str, str], str]:
    """Verdict by case and arm."""
    return {(one["case_id"], one["arm"]): one["verdict"] for one in done.document["results"]}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("SE-RUN-013", "BF-OUT-003", "SE-HOST-003")
def test_the_mock_runs_the_whole_pipeline_for_nothing(evaluate: Evaluate, suite: Callable[..., Path]) -> None:
    """Both arms, real validators, no key; results hold model, time, trajectory and a cost of 0, arms are verified."""
    done = evaluate(suite(), "--engine", "mock", "--model", "m1")
    assert done.code == 0, done.stderr
    assert verdicts(done) == {("a", "with_skill"): "pass", ("a", "without_skill"): "fail"}
    for one in done.document["results"]:
        execution = one["execution"]
        assert (one["model"], one["runner"]) == ("m1", "mock")
        assert one["started_at"] > 0
        assert execution["duration_s"] > 0
        assert execution["usage"]["cost_usd"] == 0
        assert execution["arm_integrity"] == "verified"
        assert execution["trajectory"]["events"]
    (found,) = [one for one in done.document["results"] if one["arm"] == "with_skill"]
    changes = {change["path"]: change["change"] for change in found["execution"]["files"]}
    assert changes == {"changed.txt": "modified", "data.bin": "created", "go.sh": "created", "old.txt": "deleted"}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("BF-RUN-006")
def test_without_baseline_only_the_arm_with_the_skill_runs(evaluate: Evaluate, suite: Callable[..., Path]) -> None:
    """`--no-baseline` halves the work; with it the run is as valid as without."""
    done = evaluate(suite(), "--engine", "mock", "--no-baseline")
    assert done.code == 0, done.stderr
    assert verdicts(done) == {("a", "with_skill"): "pass"}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("BF-RUN-007")
def test_every_engine_runs_with_every_model_and_pairs_are_exceptions(
    evaluate: Evaluate, suite: Callable[..., Path]
) -> None:
    """One model is broadcast, several make a product, and one for each engine is a pair; a dry run tells it all."""

    def runners(*words: str) -> list[tuple[str, str]]:
        done = evaluate(suite(), *words)
        assert done.code in (0, 3), done.stderr
        return sorted({(one["runner"], one["model"]) for one in done.document["results"]})

    assert runners("--engine", "mock,paid", "--model", "m1") == [("mock", "m1"), ("paid", "m1")]
    assert runners("--engine", "mock", "--engine", "paid", "--model", "m1", "--model", "m2") == [
        ("mock", "m1"),
        ("mock", "m2"),
        ("paid", "m1"),
        ("paid", "m2"),
    ]
    assert runners("--engine", "mock/m1,paid/m2") == [("mock", "m1"), ("paid", "m2")]
    assert runners("--engine", "mock/m1,paid", "--model", "m2") == [("mock", "m1"), ("paid", "m2")]
    refused = evaluate(suite(), "--engine", "mock/m1,paid/m2", "--model", "m3")
    assert refused.code == 2
    assert "--model m3 has no effect" in refused.stdout
    planned = evaluate(suite(), "--engine", "mock,paid", "--model", "m1,m2,m3", "--dry-run")
    assert len(planned.document["arms"]) == 12
    told = evaluate(suite(), "--engine", "mock,paid", "--model", "m1,m2,m3")
    assert "6 combinations of engine and model: 12 sessions, of which 6 cost money" in told.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_a_recording_replays_with_the_same_verdicts(evaluate: Evaluate, suite: Callable[..., Path], work: Path) -> None:
    """Created, changed, deleted, binary and executable files are restored, and the validators really run on them."""
    path = suite()
    recorded = evaluate(path, "--engine", "mock", "--model", "m1", "--record", "cassettes")
    assert recorded.code == 0, recorded.stderr
    assert len(list((work / "cassettes").rglob("*.cassette.json"))) == 2
    (work / "mock.yaml").unlink()  # the engine is not asked again
    replayed = evaluate(path, "--replay", "cassettes")
    assert replayed.code == 0, replayed.stderr
    assert verdicts(replayed) == verdicts(recorded)
    for old, new in zip(recorded.document["results"], replayed.document["results"], strict=True):
        assert new["execution"] == old["execution"] | {"replayed": True}
        assert (new["runner"], new["model"]) == ("mock", "m1")
    document = json.loads(path.read_text())
    document["cases"][0]["shell"] = "test -e old.txt"
    path.write_text(json.dumps(document))
    regraded = evaluate(path, "--replay", "cassettes")
    assert verdicts(regraded) == {("a", "with_skill"): "fail", ("a", "without_skill"): "pass"}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize(
    ("changed", "words", "missed"), [("prompt", "these differ: prompt", 2), ("skill", "these differ: skills", 9)]
)
def test_what_was_edited_is_missed_aloud(
    evaluate: Evaluate, suite: Callable[..., Path], work: Path, changed: str, words: str, missed: int
) -> None:
    """One edited case among nine is few, but a replay that misses anything is invalid and names what changed."""
    cases = [{"id": f"c{number}", "prompt": f"say {number}", "says": "say"} for number in range(9)]
    path = suite(*cases)
    assert evaluate(path, "--engine", "mock", "--record", "cassettes").code == 0
    if changed == "prompt":
        cases[4]["prompt"] += "!"
        suite(*cases)
    else:
        (work / "skills" / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: Makes more.\n---\n")
    done = evaluate(path, "--replay", "cassettes")
    assert done.code == 3
    errors = [one for one in done.document["results"] if one["verdict"] == "error"]
    assert len(errors) == missed
    assert words in errors[0]["execution"]["failure"]["message"]
    assert words in done.verdict


@pytest.mark.slow
@pytest.mark.e2e
def test_only_what_is_missing_is_recorded(evaluate: Evaluate, suite: Callable[..., Path], work: Path) -> None:
    """Recordings that fit are played, an edited case is run and recorded again, and a damaged one is named."""
    cases = [{"id": f"c{number}", "prompt": f"say {number}", "says": "say"} for number in range(4)]
    path = suite(*cases)
    command = ("--engine", "mock", "--record", "cassettes", "--only-missing")
    first = evaluate(path, *command)
    assert first.code == 0, first.stdout
    made = {file: file.read_bytes() for file in work.rglob("*.cassette.json")}
    cases[2]["prompt"] += "!"
    again = evaluate(suite(*cases), *command)
    assert again.code == 0, again.stdout
    results = again.document["results"]
    assert {one["case_id"] for one in results if not one["execution"].get("replayed")} == {"c2"}
    assert [one["execution"]["text"] for one in results if one["case_id"] != "c2"] == [
        one["execution"]["text"] for one in first.document["results"] if one["case_id"] != "c2"
    ]
    new = {*work.rglob("*.cassette.json")} - made.keys()
    assert [file.name.partition(".")[0] for file in new] == ["c2"] * len(new)
    assert len(new) == sum(one["case_id"] == "c2" for one in results)
    assert all(file.read_bytes() == content for file, content in made.items())
    assert evaluate(path, "--replay", "cassettes").code == 0
    spoilt = next(file for file in made if file.name.startswith("c0."))
    spoilt.write_text("{")
    damaged = evaluate(path, *command)
    failures = [
        one["execution"]["failure"]["message"] for one in damaged.document["results"] if one["verdict"] == "error"
    ]
    assert failures == [
        f"a recorded session cannot be played: {spoilt} is damaged; remove it, and it is recorded again"
    ]


@pytest.mark.e2e
def test_only_missing_needs_a_folder(evaluate: Evaluate, suite: Callable[..., Path]) -> None:
    """Without recordings nothing can be missing."""
    alone = evaluate(suite(), "--engine", "mock", "--only-missing")
    assert alone.code == 2
    assert "--record DIR --only-missing" in alone.stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_a_replay_that_is_not_clear_starts_nothing(evaluate: Evaluate, suite: Callable[..., Path], work: Path) -> None:
    """Recordings of two models must be chosen from; an empty folder and other engines beside it are refused."""
    path = suite()
    for model in ("m1", "m2"):
        assert evaluate(path, "--engine", "mock", "--model", model, "--record", "cassettes").code == 0
    unclear = evaluate(path, "--replay", "cassettes", "--output-dir", "replayed")
    assert unclear.code == 2
    assert "mock with m1, mock with m2" in unclear.stdout
    assert not (work / "replayed").exists()
    assert evaluate(path, "--replay", "cassettes", "--model", "m2").code == 0
    assert "no recording in this folder" in evaluate(path, "--replay", "skills").stdout
    both = evaluate(path, "--replay", "cassettes", "--engine", "mock")
    assert both.code == 2
    assert "exclude each other" in both.stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_an_exhausted_budget_ends_with_4_and_the_rest_runs_later(
    evaluate: Evaluate, suite: Callable[..., Path], work: Path
) -> None:
    """The report is partial; a limit holds for the run, and the same command goes on with a higher one."""
    cases = [{"id": f"c{number}", "prompt": "x", "says": "done"} for number in range(3)]
    command = [suite(*cases), "--engine", "paid", "--store", "runs.db"]
    first = evaluate(*command, "--max-cost", "4")
    assert first.code == 4, first.stderr
    assert first.verdict == "stopped by a budget: 4 of 6 trials are done (with_skill: 2 of 2 passed)"
    assert len(first.document["results"]) == 4
    assert list((work / "reports").glob("eval-result-*.md"))
    again = evaluate(*command, "--max-cost", "4")
    assert (again.code, len(again.document["results"])) == (4, 4)
    second = evaluate(*command, "--max-cost", "6")
    assert second.code == 0, second.stderr
    assert len(second.document["results"]) == 6
    assert second.document["run"]["resumed"]


@pytest.mark.slow
@pytest.mark.e2e
def test_keys_that_the_run_does_not_use_are_in_nothing_that_it_writes(
    evaluate: Evaluate, suite: Callable[..., Path], work: Path
) -> None:
    """E-C3: an agent that nothing confines can read all of the user's environment, and tell it."""
    key, plain = "canary-of-somebody-0123456789", "a value that is no secret"
    path = suite()
    (work / "mock.yaml").write_text(f"replies: [{{text: 'I found {key} and {plain}'}}]")
    variables = {"SOMEBODYS_API_KEY": key, "SOMEBODYS_NOTE": plain}
    command = [path, "--engine", "mock", "--format", "record", "markdown", "html", "--record", "tapes"]
    done = evaluate(*command, "--store", "runs.db", env=variables)
    written = [
        one.read_bytes() for folder in ("reports", "tapes") for one in (work / folder).rglob("*") if one.is_file()
    ]
    written += [one.read_bytes() for one in work.glob("runs.db*")]
    assert not [one for one in (done.stdout.encode(), *written) if key.encode() in one]
    assert "I found [redacted:SOMEBODYS_API_KEY] and a value that is no secret" in done.stdout


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("UA-CASE-011")
def test_an_engine_that_cannot_report_blocks_fails_nobody(evaluate: Evaluate, suite: Callable[..., Path]) -> None:
    """Whether a call was to be stopped or not, the trial is an error that says why, and the run proves nothing."""
    path = suite({"id": "a", "prompt": "x", "says": "done"})
    for expected in ("true", "false"):
        done = evaluate(path, "--engine", "paid", "--check", f'blocked={{"expect": {expected}}}')
        assert done.code == 3, done.stderr
        assert set(verdicts(done).values()) == {"error"}
        for one in done.document["results"]:
            (score,) = [score for score in one["scores"] if score["scorer"] == "blocked"]
            assert score["status"] == "ungraded"
            assert score["reason"] == "The engine does not tell whether a tool call was stopped"


@pytest.mark.slow
@pytest.mark.e2e
def test_tokens_are_a_budget_too(evaluate: Evaluate, suite: Callable[..., Path]) -> None:
    """Sessions of 100 tokens: three fit into 350."""
    cases = [{"id": f"c{number}", "prompt": "x", "says": "done"} for number in range(3)]
    done = evaluate(suite(*cases), "--engine", "paid", "--max-tokens", "350")
    assert done.code == 4
    assert len(done.document["results"]) == 3


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "mock", "--timeout", "5000"], "Write --timeout 5000ms or --timeout 5000s"),
        (
            ["--engine", "paid", "--max-cost", "1", "--set", "engines.paid.tells=[]"],
            "does not report what it costs, so --max-cost cannot be enforced",
        ),
        (
            ["--engine", "paid", "--max-tokens", "1", "--set", "engines.paid.tells=[]"],
            "so --max-tokens cannot be enforced",
        ),
        (["--engine", "api", "--model", "gpt-a", "--max-cost", "1"], "Use --max-tokens, or set its prices"),
        (["--engine", "codex", "--max-cost", "1"], "engine 'codex' does not report what it costs"),
        (["--engine", "nobody"], "engine 'nobody' is not installed"),
        (["--engine", "replay"], "engines.replay.folder"),
        (["--engine", "mock", "--set", "engines.mock.replise=[]"], "unknown option"),
    ],
)
def test_what_an_engine_cannot_do_is_known_before_anything_runs(
    evaluate: Evaluate, suite: Callable[..., Path], work: Path, arguments: list[str], words: str
) -> None:
    """A time without a unit, a budget that cannot hold, an engine or an option that is not there: exit 2."""
    done = evaluate(suite(), *arguments)
    assert done.code == 2
    assert words in json.dumps(done.document, ensure_ascii=False)
    assert not (work / "reports").exists()


@pytest.mark.e2e
def test_what_is_wrong_with_an_engine_that_the_user_names_is_in_no_file(
    evaluate: Evaluate, suite: Callable[..., Path]
) -> None:
    """F-A1: a missing option is none of the suite's faults, and the next step says where all options are listed."""
    done = evaluate(suite(), "--engine", "command")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert (problem["message"], problem["file"]) == ("engines.command.argv: Field required", None)
    assert problem["hint"] == "skillgauge plugins info engines command"


@pytest.mark.slow
@pytest.mark.e2e
def test_a_time_with_a_unit_reaches_the_agent(evaluate: Evaluate, suite: Callable[..., Path], work: Path) -> None:
    """An agent that runs out of time has failed, and is no error."""
    path = suite({"id": "slow", "prompt": "wait", "says": "x"})
    (work / "mock.yaml").write_text("replies: [{match: wait, run: sleep 60}]")
    done = evaluate(path, "--engine", "mock", "--timeout", "500ms")
    assert verdicts(done) == {("slow", "with_skill"): "fail", ("slow", "without_skill"): "fail"}
    assert {one["execution"]["failure"]["failure_class"] for one in done.document["results"]} == {"timeout"}


AGENT = """
import json, pathlib, sys
prompt, model, skills = sys.argv[1:]
offered = sorted(path.name for path in pathlib.Path(skills).glob("*")) if pathlib.Path(skills).exists() else []
print("thinking...")
pathlib.Path("out.txt").write_text(f"{model} {offered}")
print(json.dumps({"result": {"text": f"I did: {prompt}"}}))
"""


@pytest.mark.slow
@pytest.mark.e2e
def test_any_program_is_an_agent(evaluate: Evaluate, suite: Callable[..., Path], work: Path, program: Program) -> None:
    """Its options say where it looks for skills; what it does not tell is unknown, and a budget is refused."""
    (work / "agent.py").write_text(AGENT)
    path = suite({"id": "a", "prompt": "do {it}", "shell": "grep -q pdf out.txt", "says": "I did: do {it}"})
    argv = ["python3", str(work / "agent.py"), "{prompt}", "{model}", "{skill_folder}"]
    options = {"argv": argv, "skill_folder": ".my/skills", "answer_key": "result.text"}
    (work / "skillgauge.config.yaml").write_text(json.dumps({"plugins": {"engines": {"command": options}}}))
    assert evaluate(path, "--engine", "command", "--model", "m1").code == 2  # a folder's word
    assert program("config", "trust").code == 0
    done = evaluate(path, "--engine", "command", "--model", "m1")
    assert done.code == 0, done.stderr
    assert verdicts(done) == {("a", "with_skill"): "pass", ("a", "without_skill"): "fail"}
    for one in done.document["results"]:
        assert one["execution"]["arm_integrity"].startswith("unknown")
        assert "usage" not in one["execution"]
    assert "arm integrity unknown: no session of pdf in arm 'with_skill' tells" in done.stderr.replace("\n", " ")
    refused = evaluate(path, "--engine", "command", "--model", "m1", "--max-tokens", "10")
    assert refused.code == 2
    assert "engine 'command' does not report what it uses, so --max-tokens cannot be enforced" in refused.stdout
    nameless = evaluate(path, "--engine", "command")
    assert nameless.code == 2
    assert "--model" in nameless.stdout
    (work / "skillgauge.config.yaml").write_text(json.dumps({"plugins": {"engines": {"command": {"argv": ["sh"]}}}}))
    unskilled = evaluate(path, "--engine", "command", "--trust-config")
    assert unskilled.code == 2
    assert "cannot use skills" in unskilled.stdout


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("codes", "code", "verdict"),
    [({}, 3, "error"), ({"1": "failed"}, 0, "fail")],
)
def test_a_program_that_breaks_is_no_failed_skill(
    evaluate: Evaluate, suite: Callable[..., Path], work: Path, codes: dict[str, str], code: int, verdict: str
) -> None:
    """An expired key makes the run invalid and its message is shown; only `exit_codes` makes an ending a fail."""
    argv = ["sh", "-c", "echo 'Error: 401 invalid key'; exit 1"]
    options = {"argv": argv, "skill_folder": ".my/skills", "exit_codes": codes}
    (work / "skillgauge.config.yaml").write_text(json.dumps({"plugins": {"engines": {"command": options}}}))
    path = suite({"id": "a", "prompt": "do it", "says": "done"})
    done = evaluate(path, "--engine", "command", "--trust-config")
    assert done.code == code, done.stderr
    assert verdicts(done) == {("a", "with_skill"): verdict, ("a", "without_skill"): verdict}
    messages = {one["execution"]["failure"]["message"] for one in done.document["results"]}
    assert messages == {"exit code 1: Error: 401 invalid key"}


KEY = "sk-canary-of-the-agent-0123456789"


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("BF-CRED-006")
def test_a_model_is_an_agent(evaluate: Evaluate, suite: Callable[..., Path], work: Path) -> None:
    """With the skill it does what it must, without it does not; the key is in no file, its absence is told first."""
    path = suite({"id": "a", "prompt": "make it", "shell": "test -s out.pdf && ! grep -q sk-canary env.txt"})
    look = run_shell("env > env.txt; cat /proc/self/environ >> env.txt")
    skilled = [ModelReply(tools=[look, write_file("out.pdf", "PDF")]), ModelReply("made")]

    def script(request: Any) -> ModelReply:
        return with_skill("pdf", skilled[min(request.turn, 2) - 1], ModelReply("cannot"))(request)

    command = [path, "--engine", "api", "--model", "claude-1", "--record", "cassettes", "--format", "json", "record"]
    missing = evaluate(*command)
    assert missing.code == 2
    assert "ANTHROPIC_API_KEY" in missing.stdout
    with ModelServer(script) as server:
        address = ("--set", f"engines.api.base_url={server.url}", "--set", "engines.api.provider=anthropic")
        done = evaluate(*command, *address, env={"ANTHROPIC_API_KEY": KEY})
        sessions = server.sessions.values()
        tokens = {(session.tokens.input, session.tokens.output) for session in sessions}
    assert done.code == 0, done.stderr
    assert verdicts(done) == {("a", "with_skill"): "pass", ("a", "without_skill"): "fail"}
    results = {one["arm"]: one["execution"] for one in done.document["results"]}
    assert results["with_skill"]["trajectory"]["skills_fired"] == [{"name": "pdf", "how": "invoked"}]
    assert {(one["usage"]["input_tokens"], one["usage"]["output_tokens"]) for one in results.values()} == tokens
    assert {one["arm_integrity"] for one in results.values()} == {"verified"}
    assert KEY not in done.stdout + done.stderr
    for file in work.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    replayed = evaluate(path, "--replay", "cassettes")
    assert replayed.code == 0, replayed.stderr
    assert verdicts(replayed) == verdicts(done)

"""`skillgauge eval PACKAGE` with a scripted agent and a scripted judge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_format_uaaps.schemas import schemas
from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

KEY = "made-up-key-of-the-judge-0123456789"
BLOCK = {"tool": "Write", "by": "hook", "event": "pre-tool-use"}
REPLIES: list[dict[str, Any]] = [
    {"match": "Count the words", "text": "There are 9 words.", "files": {"out/count.txt": "9\n"}},
    {"match": "generated", "text": "The write was denied by a hook.", "blocks": [BLOCK]},
    {"match": "src/note", "text": "Done.", "files": {"src/note.txt": "ready\n"}},
    {"match": "Audit", "text": "The count is right."},
    {"match": "package", "text": "It counts words."},
]
NAMES = [
    "counts-a-proverb",
    "generated-file-is-kept",
    "source-file-is-written",
    "auditor-agrees",
    "says-what-it-is",
]


def judged(request: ModelRequest, *, holds: bool) -> ModelReply:
    """What a judge answers that is convinced, or is not."""
    marker = re.search(r"END <name> ([0-9a-f]{32})\.", request.body["system"])
    assert marker
    output = re.search(rf"^BEGIN OUTPUT {marker[1]}\s+(\S+)", request.text, re.MULTILINE)
    quote = output[1] if holds and output else None
    evidence = {"quote": quote, "absent": "anything else", "reason": "because it is so"}
    answer = {"number": 1, "result": "PASS" if holds else "FAIL", **evidence}
    return ModelReply(text=json.dumps({"marker": marker[1], "answers": [answer]}))


@contextmanager
def judge(says: Callable[[str], bool] = lambda _: True) -> Iterator[ModelServer]:
    """A judge that decides by what it is shown."""
    with ModelServer(lambda request: judged(request, holds=says(request.text))) as server:
        yield server


@pytest.fixture
def evaluate(program: Program, work: Path, word_tools: Path) -> Callable[..., Done]:
    """Evaluate the package with the scripted agent."""

    def run(server: ModelServer, *options: str | Path, replies: list[dict[str, Any]] = REPLIES) -> Done:
        script = work / "script.json"
        script.write_text(json.dumps({"replies": replies}))
        return program(
            "eval",
            *([word_tools] if not any(isinstance(one, Path) for one in options) else []),
            *(["--engine", "mock"] if "--engine" not in options else []),
            *options,
            "--set",
            f"engines.mock.script={script}",
            "--set",
            f"judges.anthropic.base_url={server.url}",
            env={**program.environment, "ANTHROPIC_API_KEY": KEY},
        )

    return run


Evaluate = Callable[..., Done]


def report_of(package: Path, number: int = -1) -> dict[str, Any]:
    """The newest report beside the cases; it is what its schema says."""
    path = sorted((package / "evals/reports").glob("*.json"))[number]
    document: dict[str, Any] = json.loads(path.read_text())
    jsonschema.Draft202012Validator(schemas()["uaaps-report"]).validate(document)
    return document


@pytest.mark.slow
@pytest.mark.requirement(
    "UA-REPORT-001",
    "UA-REPORT-003",
    "UA-REPORT-005",
    "UA-REPORT-006",
    "UA-REPORT-007",
    "UA-REPORT-008",
    "UA-REPORT-009",
    "UA-REPORT-010",
    "UA-REPORT-011",
    "UA-REPORT-012",
    "UA-CONF-005",
    "UA-LAYOUT-011",
    "UA-FLOW-007",
)
def test_a_run_and_its_report(evaluate: Evaluate, word_tools: Path) -> None:
    """Every field of the report is filled with what happened, or null; the judge's alias is resolved to an id."""
    with judge() as server:
        done = evaluate(server)
    assert done.code == 0, done.stdout + done.stderr
    report = report_of(word_tools)
    assert [(case["name"], case.get("target"), case["verdict"]) for case in report["cases"]] == [
        (NAMES[0], "skill:word-count", "PASS"),
        (NAMES[1], "hook:pre-tool-use", "PASS"),
        (NAMES[2], "hook:pre-tool-use", "PASS"),
        (NAMES[3], "agent:auditor", "PASS"),
        (NAMES[4], None, "PASS"),
    ]
    first, second = report["cases"][:2]
    assert first["deterministic_checks"] == {"contains": "PASS", "not_contains": "PASS", "files_created": "PASS"}
    assert second["deterministic_checks"] == {"not_contains": "PASS", "agent_blocked": "PASS"}
    assert not report["cases"][4].get("deterministic_checks"), "it declares none"
    assert {tuple(case["package_checks"].items()) for case in report["cases"]} == {(("writable_paths", "PASS"),)}
    told = first["judge_verdict"]
    assert (told["result"], told["model"]) == ("PASS", "claude-sonnet-4-5")
    assert first["agent_output_snippet"] == "There are 9 words."
    assert report["summary"] == {
        "total": 5,
        "passed": 5,
        "failed": 0,
        "skipped": 0,
        "pass_rate": 1.0,
        "errors": 0,
    }
    assert (report["version"], report["package"]) == (1, {"name": "@sample/word-tools", "version": "0.4.0"})
    assert report["id"] == f"eval-run-{report['timestamp'].replace(':', '-')}"
    assert report["config"]["engine"] == "mock"
    assert (report["config"]["judge"], report["config"]["timeout"]) == ("claude-sonnet-4-5", 90)
    assert report["judge"] == {"model": "claude-sonnet-4-5", "model_provider": "anthropic"}
    assert (report["agent"]["runtime"], report["agent"]["session_id"]) == ("mock", None)
    assert {"os", "arch", "aam_version", "node_version", "python_version"} <= report["environment"].keys()
    assert report["duration_seconds"] > 0
    assert {request.body["model"] for request in server.requests} == {"claude-sonnet-4-5"}
    for path in word_tools.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.slow
def test_a_second_run_has_a_report_of_its_own(evaluate: Evaluate, word_tools: Path) -> None:
    """Also one that begins within the same second."""
    with judge() as server:
        evaluate(server, "says-what-it-is")
        evaluate(server, "says-what-it-is")
    assert len(list((word_tools / "evals/reports").glob("*.json"))) == 2


@pytest.mark.slow
@pytest.mark.requirement(
    "UA-FLOW-006", "UA-CASE-007", "UA-CASE-008", "UA-CASE-009", "UA-CASE-010", "UA-REPORT-014", "UA-CONF-008"
)
def test_deterministic_checks_go_before_the_judge(evaluate: Evaluate, word_tools: Path) -> None:
    """A case that fails by itself is not judged, and a failed case fails the run."""
    replies = [
        {"match": "Count the words", "text": "There are 9 words.", "files": {"elsewhere.txt": "9\n"}},
        {"match": "generated", "text": "Successfully wrote it."},
        {"match": "src/note", "text": "I was blocked.", "blocks": [BLOCK]},
        *REPLIES[3:],
    ]
    with judge() as server:
        done = evaluate(server, replies=replies)
    assert done.code == 1, done.stderr
    report = report_of(word_tools)
    assert [case["verdict"] for case in report["cases"]] == ["FAIL", "FAIL", "FAIL", "PASS", "PASS"]
    assert [case["deterministic_checks"] for case in report["cases"][:3]] == [
        {"contains": "PASS", "not_contains": "PASS", "files_created": "FAIL"},
        {"not_contains": "FAIL", "agent_blocked": "FAIL"},
        {"files_created": "FAIL", "agent_blocked": "FAIL"},
    ]
    outside = [case["package_checks"] for case in report["cases"][:3]]
    assert outside == [{"writable_paths": word} for word in ("FAIL", "PASS", "PASS")], "no case declares it (R3-M8)"
    assert all("judge_verdict" not in case and case["error"] for case in report["cases"][:3])
    assert len(server.requests) == 2
    assert report["summary"]["pass_rate"] == pytest.approx(0.4)


@pytest.mark.slow
def test_the_judge_decides(evaluate: Evaluate, word_tools: Path) -> None:
    """What it says fails the case, with its reason."""
    with judge(lambda text: "invents nothing" not in text) as server:
        done = evaluate(server, "--case", "01-*")
    assert done.code == 1
    (case,) = report_of(word_tools)["cases"]
    assert (case["verdict"], case["judge_verdict"]["result"]) == ("FAIL", "FAIL")
    assert case["error"].startswith("judge: ")
    (request,) = server.requests
    assert "There are 9 words." in request.text


@pytest.mark.slow
@pytest.mark.requirement("UA-FLOW-008")
def test_an_error_of_the_surroundings_is_no_failure(evaluate: Evaluate, word_tools: Path) -> None:
    """Where nobody could judge, nothing was found out: skipped, in no rate, with its class, and exit code 3."""
    with ModelServer(lambda _: ModelReply(fault=ModelFault.UNAUTHORIZED)) as server:
        done = evaluate(server, "says-what-it-is")
    assert done.code == 3, done.stderr
    report = report_of(word_tools)
    (case,) = report["cases"]
    assert (case["verdict"], case["error_class"]) == ("SKIP", "ungraded")
    assert "401" in case["error"]
    assert report["summary"] == {"total": 1, "passed": 0, "failed": 0, "skipped": 1, "pass_rate": None, "errors": 1}


@pytest.mark.slow
def test_an_agent_out_of_time_has_failed(evaluate: Evaluate, word_tools: Path) -> None:
    """The specification's limit is the package's to keep."""
    with judge() as server:
        done = evaluate(server, "says-what-it-is", replies=[{"fail": "timeout"}])
    assert done.code == 1, done.stderr
    (case,) = report_of(word_tools)["cases"]
    assert (case["verdict"], case["deterministic_checks"]) == ("FAIL", {})
    assert case["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--target", "skill:word-count"], NAMES[:1]),
        (["--target", "hook:pre-tool-use"], NAMES[1:3]),
        (["--target", "agent:auditor"], NAMES[3:4]),
        (["auditor-agrees"], NAMES[3:4]),
        (["--case", "05-untargeted"], NAMES[4:]),
    ],
)
@pytest.mark.requirement("UA-CLI-005")
def test_selection(evaluate: Evaluate, word_tools: Path, options: list[str], names: list[str]) -> None:
    """By what a case is about, by its name, by its file."""
    with judge() as server:
        assert evaluate(server, *options).code == 0
    assert [case["name"] for case in report_of(word_tools)["cases"]] == names


@pytest.mark.slow
@pytest.mark.requirement("UA-CLI-003", "UA-REPORT-004")
def test_command_line_rules_over_the_configuration(evaluate: Evaluate, word_tools: Path) -> None:
    """Engine and judge of the file are replaced; a model's family is never taken for a plugin."""
    with judge() as server:
        done = evaluate(server, "says-what-it-is", "--judge", "claude-opus")
    assert done.code == 0, done.stderr
    report = report_of(word_tools)
    assert (report["config"]["engine"], report["judge"]["model"]) == ("mock", "claude-opus-4-1")
    assert [request.body["model"] for request in server.requests] == ["claude-opus-4-1"]


@pytest.mark.slow
@pytest.mark.requirement("UA-CLI-006", "UA-CLI-007", "UA-CLI-008", "UA-REPORT-002")
def test_places_of_the_report(evaluate: Evaluate, work: Path, word_tools: Path) -> None:
    """`-o` and `--output-dir` move it; a dry run has none."""
    with judge() as server:
        assert evaluate(server, "says-what-it-is", "--report", "-o", "mine.json").code == 0
        assert evaluate(server, "says-what-it-is", "--output-dir", "out").code == 0
        assert evaluate(server, "--dry-run").code == 0
    assert json.loads((work / "mine.json").read_text())["version"] == 1
    assert json.loads((work / "out/eval-result.json").read_text())["version"] == 1
    assert not (word_tools / "evals/reports").exists()
    assert len(server.requests) == 2 or len(server.requests) == 1


@pytest.mark.requirement("UA-CONF-003")
def test_reserved_engines_are_refused(evaluate: Evaluate, word_tools: Path) -> None:
    """Before anything is created, with what is installed."""
    config = word_tools / "evals/eval-config.json"
    config.write_text(config.read_text().replace("claude-code", "copilot"))
    with judge() as server:
        for options in ([], ["--dry-run"]):
            done = evaluate(server, *options)
            assert done.code == 2
            assert "eval-config.json:3:3: error[suite.unsupported-engine]: engine 'copilot' is reserved" in done.stderr
    assert not (word_tools / "evals/reports").exists()


def test_skills_of_a_package_keep_their_other_evals(evaluate: Evaluate, word_tools: Path) -> None:
    """A package's claim does not hide what another format reads."""
    evals = word_tools / "skills/word-count/evals/evals.json"
    evals.parent.mkdir()
    evals.write_text(json.dumps({"evals": [{"id": 1, "prompt": "How many?", "assertions": ["It is a number."]}]}))
    with judge() as server:
        done = evaluate(server, "--dry-run", "--json")
    assert done.code == 0, done.stdout
    assert {suite["format"] for suite in done.document["plan"]["suites"]} == {"uaaps", "agent-skills"}


@pytest.mark.slow
@pytest.mark.requirement("UA-FLOW-001", "UA-FLOW-002", "UA-CASE-004", "UA-CASE-005", "UA-CASE-006", "UA-CONF-009")
def test_an_agent_gets_its_workspace(evaluate: Evaluate, work: Path) -> None:
    """Fixtures, files to begin with, folders that it may write, a minimal manifest, and no answers."""
    replies = [{"match": "Count", "text": "9", "run": "find . -type f | sort > out/count.txt; cat out/count.txt; env"}]
    with judge() as server:
        done = evaluate(server, "counts-a-proverb", "--json", replies=replies)
    (result,) = done.document["results"]
    told = next(event["text"] for event in result["execution"]["trajectory"]["events"] if event.get("text"))
    for path in ("./fixtures/proverb.txt", "./src/empty.txt", "./package.agent.json", "skills/word-count/SKILL.md"):
        assert path in told
    assert "EVAL_MODE=true" in told
    assert "WORDS_LOCALE=en" in told
    assert "tests/" not in told
    assert "criteria" not in told


@pytest.mark.slow
@pytest.mark.requirement("UA-REPORT-013")
def test_a_snippet_is_short(evaluate: Evaluate, word_tools: Path) -> None:
    """Five hundred characters of what the agent answered."""
    with judge() as server:
        assert evaluate(server, "says-what-it-is", replies=[{"text": "words " * 200}]).code == 0
    (case,) = report_of(word_tools)["cases"]
    assert case["agent_output_snippet"] == ("words " * 200)[:500]


def test_an_uninstalled_engine_is_refused(evaluate: Evaluate, word_tools: Path) -> None:
    """Also by its name in the command, with what is installed."""
    with judge() as server:
        done = evaluate(server, "--engine", "copilot")
    assert done.code == 2
    assert "engine 'copilot' is not installed" in done.stderr
    assert not (word_tools / "evals/reports").exists()


@pytest.mark.requirement("UA-CLI-001", "UA-CLI-002")
def test_the_package_of_the_current_folder(program: Program, word_tools: Path) -> None:
    """Without a path it is the package here, and a word that is no path is one of its cases."""
    for words, cases in (([], 5), (["auditor-agrees"], 1)):
        done = program("eval", *words, "--engine", "mock", "--dry-run", "--json", cwd=word_tools)
        assert [suite["case_count"] for suite in done.document["plan"]["suites"]] == [cases]


@pytest.mark.requirement("UA-CONF-010")
def test_a_limit_in_the_command_needs_a_unit(program: Program, word_tools: Path) -> None:
    """The file's number is seconds, others mean milliseconds by one: a bare number is refused with both spellings."""
    done = program("eval", word_tools, "--engine", "mock", "--timeout", "30", "--dry-run")
    assert done.code == 2
    assert "Write --timeout 30ms or --timeout 30s." in done.stderr
    assert program("eval", word_tools, "--engine", "mock", "--timeout", "30s", "--dry-run").code == 0

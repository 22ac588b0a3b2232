"""Evals of a package through the whole program: real agents on scripted models, hooks that block, any sandbox."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, run_shell, write_file
from skillgauge_testkit.program import Program

from .conftest import ROOT
from .judge_replies import first_word, said

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

PACKAGE = ROOT / "plugins/formats/uaaps/tests/data/word-tools"
KEY = "made-up-key-of-the-tests-0123456789"
ENGINES = {"claude-code": ("claude", "ANTHROPIC_API_KEY", ""), "codex": ("codex", "OPENAI_API_KEY", "/v1")}
COUNTED = "python3 {skill}/scripts/count.py fixtures/proverb.txt; mkdir -p out; echo 9 > out/count.txt"


def agent(engine: str) -> Callable[[ModelRequest], ModelReply]:
    """What the model of the agent says to each case."""
    skill = {"claude-code": ".claude/skills/word-count", "codex": ".agents/skills/word-count"}[engine]
    first: dict[str, tuple[Any, str]] = {
        "Count the words of fixtures": (run_shell(COUNTED.format(skill=skill)), "There are 9 words."),
        "src/generated/a.txt": (write_file("src/generated/a.txt", "test\n"), "The write was refused."),
        "src/note.txt": (write_file("src/note.txt", "ready\n"), "Written."),
        "Audit the count": (run_shell("echo counting"), "The count is right."),
        "What is this package": (run_shell("ls"), "It counts words."),
    }

    def answer(request: ModelRequest) -> ModelReply:
        tool, text = next(found for prompt, found in first.items() if prompt in request.text)
        return ModelReply(text) if request.results else ModelReply(tools=[tool])

    return answer


def judged(request: ModelRequest) -> ModelReply:
    """A judge that is convinced."""
    answer = {"number": 1, "result": "PASS", "quote": first_word(request), "reason": "so it is"}
    return ModelReply(text=json.dumps({"marker": said(request)[0], "answers": [answer]}))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("untrusted", [False, True], ids=["trusted", "untrusted"])
@pytest.mark.requirement(
    "UA-LAYOUT-007", "UA-LAYOUT-008", "UA-LAYOUT-012", "UA-TIER-004", "UA-FLOW-003", "UA-CASE-013", "UA-REPORT-015"
)
def test_a_package_on_a_real_program(
    program: Program, work: Path, agent_program: Callable[[str], Path], engine: str, untrusted: bool
) -> None:
    """Text is counted into a file, the protected write is blocked and leaves no file, the allowed one passes."""
    name, variable, path = ENGINES[engine]
    package = work / "word-tools"
    shutil.copytree(PACKAGE, package)
    with ModelServer(agent(engine)) as model, ModelServer(judged) as judge:
        done = program(
            "eval",
            package,
            "--engine",
            engine,
            "--model",
            "claude-sonnet-4-5" if engine == "claude-code" else "gpt-5",
            "--json",
            "--set",
            f"engines.{engine}.program={agent_program(name)}",
            "--set",
            f"engines.{engine}.base_url={model.url}{path}",
            "--set",
            f"judges.anthropic.base_url={judge.url}",
            *(["--untrusted", "--sandbox", "bubblewrap"] if untrusted else []),
            env={**program.environment, "ANTHROPIC_API_KEY": KEY, variable: KEY},
        )
    results: dict[str, dict[str, Any]] = {one["case_id"]: one for one in done.document.get("results", ())}
    told = {case: (one["verdict"], [score.get("reason") for score in one["scores"]]) for case, one in results.items()}
    assert done.code == 0, json.dumps(told)
    assert {verdict for verdict, _ in told.values()} == {"pass"}
    assert all(one["execution"]["arm_integrity"] == "verified" for one in results.values())
    kept, written = results["generated-file-is-kept"]["execution"], results["source-file-is-written"]["execution"]
    assert [(one["by"], one["event"]) for one in kept["trajectory"]["blocked"]] == [("hook", "pre-tool-use")]
    assert "src/generated/a.txt" not in [one["path"] for one in kept.get("files", ())]
    assert [one["path"] for one in written["files"]] == ["src/note.txt"]
    assert not written["trajectory"].get("blocked")
    asked = json.dumps([request.body for request in model.requests])
    for words in ("Answer in plain text without markup.", "This project counts words.", "You are the auditor."):
        assert words in asked
    assert "invents nothing" not in asked
    (report,) = map(json.loads, (path.read_text() for path in (package / "evals/reports").glob("*.json")))
    assert (report["summary"]["passed"], report["agent"]["runtime"]) == (5, engine)
    assert report["agent"]["runtime_version"]
    assert report["agent"]["session_id"]
    for path_ in work.rglob("*"):
        assert not path_.is_file() or KEY.encode() not in path_.read_bytes()


@pytest.mark.requirement("UA-CONF-006", "UA-LAYOUT-010")
def test_the_agents_own_model_judges_where_none_is_named(
    program: Program, work: Path, agent_program: Callable[[str], Path]
) -> None:
    """At the service that the agent asks; a server's configuration reaches the program, and its secrets no file."""
    package = work / "word-tools"
    shutil.copytree(PACKAGE, package)
    config = package / "evals/eval-config.json"
    config.write_text(config.read_text().replace('"judge": "claude-sonnet",', ""))
    says = agent("claude-code")
    with ModelServer(lambda request: judged(request) if "END <name>" in request.text else says(request)) as server:
        done = program(
            "eval",
            package,
            "says-what-it-is",
            "--json",
            "--set",
            f"engines.claude-code.program={agent_program('claude')}",
            "--set",
            f"engines.claude-code.base_url={server.url}",
            "--set",
            f"judges.anthropic.base_url={server.url}",
            env={**program.environment, "ANTHROPIC_API_KEY": KEY},
        )
    assert done.code == 0, done.stdout + done.stderr
    (report,) = map(json.loads, (path.read_text() for path in (package / "evals/reports").glob("*.json")))
    assert report["judge"]["model"] == report["agent"]["model"] == "claude-sonnet-4-5"
    (result,) = done.document["results"]
    init = next(
        line
        for line in map(json.loads, result["execution"]["trajectory"]["raw"].splitlines())
        if line.get("subtype") == "init"
    )
    assert [one["name"] for one in init["mcp_servers"]] == ["words"]

"""Every command line of UAAPS about evals, in the order of its page, in the folder of one package.

Only the name of the program is another, and `eval diff` is `report diff`. Agent and judge are scripted, and stand in
the user's own configuration, so that the lines are those that people type.
"""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

from .conftest import ROOT
from .judge_replies import first_word, said

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PACKAGE = ROOT / "plugins/formats/uaaps/tests/data/word-tools"
KEY = "made-up-key-of-the-tests-0123456789"
BLOCK = {"tool": "Write", "by": "hook", "event": "pre-tool-use"}
REPLIES = [
    {"match": "Count the words", "text": "There are 9 words.", "files": {"out/count.txt": "9\n"}},
    {"match": "generated", "text": "The write was denied by a hook.", "blocks": [BLOCK]},
    {"match": "src/note", "text": "Done.", "files": {"src/note.txt": "ready\n"}},
    {"match": "Audit", "text": "The count is right."},
    {"match": "package", "text": "It counts words."},
]


def judge(request: ModelRequest) -> ModelReply:
    """One that is convinced."""
    answer = {"number": 1, "result": "PASS", "quote": first_word(request), "reason": "so it is"}
    return ModelReply(json.dumps({"marker": said(request)[0], "answers": [answer]}))


@pytest.mark.requirement("UA-CLI-001", "UA-CLI-002", "UA-CLI-004", "UA-CLI-005", "UA-CLI-006", "UA-CLI-007")
@pytest.mark.requirement("UA-CLI-008", "UA-CLI-009", "UA-REPORT-001", "UA-DIFF-001")
def test_the_page_of_uaaps(program: Program, work: Path) -> None:
    """All, one, another judge, one target, a look; then reports, and two of them beside each other."""
    package = work / "word-tools"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    home = Path(program.environment["HOME"]) / ".config/skillgauge"
    home.mkdir(parents=True)

    def say(line: str, code: int = 0) -> Done:
        name, *words = shlex.split(line)
        assert name == "skillgauge"
        done = program(*words, cwd=package, env={**program.environment, "ANTHROPIC_API_KEY": KEY})
        assert done.code == code, done.stdout + done.stderr
        return done

    def reports() -> list[Path]:
        return sorted((package / "evals/reports").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)

    with ModelServer(judge) as server:
        plugins = {
            "engines": {"mock": {"replies": REPLIES}},
            "judges": {"anthropic": {"base_url": server.url}},
        }
        (home / "config.yaml").write_text(json.dumps({"engine": "mock", "plugins": plugins}))
        say("skillgauge eval")
        (first,) = reports()
        assert json.loads(first.read_text())["summary"]["passed"] == 5
        assert "done: 1 of 1 passed" in say("skillgauge eval counts-a-proverb").verdict
        assert "'codex'" in say("skillgauge eval --engine codex --dry-run").stderr
        say("skillgauge eval --judge claude-opus")
        assert {json.loads(path.read_text())["judge"]["model"] for path in reports()} >= {"claude-sonnet-4-5"}
        assert any("opus" in json.loads(path.read_text())["judge"]["model"] for path in reports())
        say("skillgauge eval --target skill:word-count")
        assert [case["name"] for case in json.loads(reports()[-1].read_text())["cases"]] == ["counts-a-proverb"]
        before, asked = reports(), len(server.requests)
        assert "5 trials" in say("skillgauge eval --dry-run").stdout
        assert (reports(), len(server.requests)) == (before, asked)
        say("skillgauge eval --report")
        assert len(reports()) == len(before) + 1
        say("skillgauge eval --report -o report.json")
    assert json.loads((package / "report.json").read_text())["summary"]["total"] == 5
    assert "report diff" in say(f"skillgauge eval diff {first} report.json", 2).stderr
    beside = json.loads(say(f"skillgauge report diff {first} report.json --json").stdout)
    assert beside["exit_code"] == 0

"""Agents that spoil their grading: whatever they leave, the verdict is honest or a fail."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.attacks.spoiling import CONFINED_ONLY, SPOILERS
from skillgauge_testkit.program import Program

GRADER = """
import json
from pathlib import Path
from helpers import wanted

answer = json.loads(Path("answer.json").read_text())
raise SystemExit(0 if answer == wanted() else 1)
"""
HELPERS = """
import json
from pathlib import Path

def wanted():
    return json.loads(Path(__file__).with_name("expected.json").read_text())
"""
AGENT = """
word=${1%% *} name=${1#* }
test "$word" = honest && printf '{"answer": 42}' >answer.json
exec sh %s/"$name".sh
"""


def write_skill(work: Path, names: list[str]) -> None:
    """A skill whose cases let an agent spoil the grading in each way, after the work and in its place."""
    place = work / "adv"
    (place / "scripts").mkdir(parents=True)
    (place / "evals").mkdir()
    (place / "SKILL.md").write_text("---\nname: adv\ndescription: Writes an answer.\n---\nWrite answer.json.\n")
    (place / "scripts/grade.py").write_text(GRADER)
    (place / "scripts/helpers.py").write_text(HELPERS)
    (place / "scripts/expected.json").write_text('{"answer": 42}')
    check = {"text": "validator", "type": "command", "value": "python3 scripts/grade.py"}
    evals = [
        {"id": f"{word}-{name}", "prompt": f"{word} {name}", "assertions": [check]}
        for name in names
        for word in ("honest", "lazy")
    ]
    (place / "evals/evals.json").write_text(json.dumps({"skill_name": "adv", "evals": evals}))
    scripts = work / "spoilers"
    scripts.mkdir()
    for name in names:
        (scripts / f"{name}.sh").write_text(SPOILERS[name])
    (scripts / "agent.sh").write_text(AGENT % scripts)


EVERY_ENDING_FAILS = json.dumps({str(code): "failed" for code in range(1, 256)})


def verdicts(
    program: Program, work: Path, names: list[str], sandbox: str, *more: object, exit_codes: str = EVERY_ENDING_FAILS
) -> dict[str, Any]:
    """Verdict by case, from a run in which nothing but the agent has failed, which its options say."""
    write_skill(work, names)
    argv = ["sh", str(work / "spoilers/agent.sh"), "{prompt}"]
    settings = [
        f"engines.command.argv={json.dumps(argv)}",
        "engines.command.skill_folder=.skills",
        f"engines.command.exit_codes={exit_codes}",
        "sandboxes.bubblewrap.memory_mb=256",
        f"sandboxes.bubblewrap.readable={json.dumps([str(work / 'spoilers')])}",
    ]
    words = [word for setting in settings for word in ("--set", setting)]
    words += ["--no-baseline", "--sandbox", sandbox, "--store", "none", "--format", "record", "--concurrency", "2"]
    # A virtual environment reads no folder of its user, and so would be safe from what others are not.
    path = f"{sys.base_prefix}/bin:{program.environment['PATH']}"
    done = program("eval", "./adv", "--engine", "command", *words, *more, env={"PATH": path}, timeout_s=500)
    (record,) = (work / "reports").glob("run-*.record.json")
    results = json.loads(record.read_text())["results"]
    assert len(results) == 2 * len(names), done.stderr
    return {one["case_id"]: one for one in results}


def told(result: Any) -> str:
    """What a result says for itself."""
    scores = [score.get("reason", "") for score in result.get("scores", [])]
    what = f"{result['case_id']}: {result['verdict']} {scores} {result['execution'].get('failure')}"
    return textwrap.shorten(what, 400)


def require_honest(found: dict[str, Any]) -> None:
    """None passes without the work, and none is an error."""
    unearned = [told(one) for name, one in found.items() if name.startswith("lazy-") and one["verdict"] != "fail"]
    away = [told(one) for name, one in found.items() if one["verdict"] not in ("pass", "fail")]
    assert not unearned, "\n".join(unearned)
    assert not away, "\n".join(away)


def test_there_are_enough() -> None:
    """The aim was 60 kinds."""
    assert len(SPOILERS) >= 60


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["bubblewrap", "local"])
@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_no_agent_spoils_its_grading(program: Program, work: Path, sandbox: str, recorded: bool) -> None:
    """60 kinds of behaviour give the honest verdict or a fail (T-S2, T-S3, T-S7, T-M1, T-M2)."""
    if sandbox == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    names = sorted(set(SPOILERS) - (CONFINED_ONLY if sandbox == "local" else set()))
    more = ("--record", "recordings") if recorded else ()
    found = verdicts(program, work, names, sandbox, *more)
    require_honest(found)
    honest = {name for name in names if found[f"honest-{name}"]["verdict"] == "pass"}
    assert {"conftest", "module-beside", "folder-answer", "link-folder", "usercustomize-home", "deep"} <= honest


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["usercustomize-folder", "module-beside", "folder-answer", "not-utf-8", "killed"])
def test_the_quickest_ways(program: Program, work: Path, name: str) -> None:
    """A few of them, each in a run of its own, where nothing confines."""
    require_honest(verdicts(program, work, [name], "local", "--record", "recordings"))


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["killed", "polite-end", "odd-code"])
def test_an_agent_that_ends_itself_never_passes(program: Program, work: Path, name: str) -> None:
    """Without options that explain its ending it looks like one without a key: an error, with and without the work."""
    found = verdicts(program, work, [name], "local", exit_codes="{}")
    assert {one["verdict"] for one in found.values()} == {"error"}

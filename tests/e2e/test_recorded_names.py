"""What an agent calls its files is no way out of a verdict, when its sessions are recorded as little as else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

AGENT = r"""
printf done > answer.txt
printf x > "$(printf 'bad\377\376name')"
mkdir "$(printf 'deep\200')" && printf y > "$(printf 'deep\200')/$(printf 'a\nb')"
"""


@pytest.mark.slow
@pytest.mark.e2e
def test_names_that_are_no_text_are_recorded(program: Program, work: Path) -> None:
    """T-M2: the session has its verdict, the recording is written, and a replay of it has the same."""
    skill = work / "adv"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: adv\ndescription: Writes an answer.\n---\nWrite answer.txt.\n")
    check = {"text": "there", "type": "command", "value": "grep -q done answer.txt"}
    evals = {"skill_name": "adv", "evals": [{"id": 1, "prompt": "write", "assertions": [check]}]}
    (skill / "evals/evals.json").write_text(json.dumps(evals))
    (work / "agent.sh").write_text(AGENT)
    argv = json.dumps(["sh", str(work / "agent.sh")])
    engine = ["--engine", "command", "--set", f"engines.command.argv={argv}"]
    engine += ["--set", "engines.command.skill_folder=.skills"]
    common = ["--no-baseline", "--store", "none", "--exit-on-fail", "--min-completion", "1"]
    recorded = program("eval", "./adv", *engine, *common, "--record", "cassettes")
    assert recorded.code == 0, recorded.stdout + recorded.stderr
    assert list((work / "cassettes").rglob("*.json"))
    replayed = program("eval", "./adv", *common, "--replay", "cassettes")
    assert replayed.code == 0, replayed.stdout + replayed.stderr

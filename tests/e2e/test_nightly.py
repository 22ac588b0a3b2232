"""Nightly runs of one repeat: what they show together, on one disk and brought together from many jobs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from skillgauge_command_history.documents import TrendsDocument
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

COIN = '''#!/usr/bin/env python3
"""An agent that can do nothing without the skill, and tosses a coin where it is asked to."""
import os, random, sys
from pathlib import Path

prompt, skills = sys.argv[1:]
coin = random.Random(f"{os.environ['NIGHT']}: {prompt}").random() < 0.5
print("GOOD" if Path(skills).is_dir() and ("toss" not in prompt or coin) else "BAD")
'''
TOSSES = "fpfpfp"
"""The coin in the nights 1 to 6."""


class Nights:
    """A skill of two evals, one of which an agent passes by chance.

    Args:
        program: the command line.
        work: the current folder.
    """

    def __init__(self, program: Program, work: Path) -> None:
        self.program, self.work = program, work
        agent = work / "agent.py"
        agent.write_text(COIN)
        agent.chmod(0o755)
        options = {
            "argv": [str(agent), "{prompt}", "{skill_folder}"],
            "skill_folder": ".my/skills",
            "pass_env": ["NIGHT"],
        }
        (work / "skillgauge.config.yaml").write_text(json.dumps({"plugins": {"engines": {"command": options}}}))
        self.write_evals("toss a coin")

    def write_evals(self, second: str) -> None:
        """The skill, with a prompt of its second eval."""
        (self.work / "s/evals").mkdir(parents=True, exist_ok=True)
        (self.work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
        good = {"text": "good", "type": "equals", "value": "GOOD"}
        prompts = {"steady": "do it", "coin": second}
        evals = [{"id": name, "prompt": prompt, "assertions": [good]} for name, prompt in prompts.items()]
        (self.work / "s/evals/evals.json").write_text(json.dumps({"skill_name": "s", "evals": evals}))

    def run(self, night: int, *arguments: str) -> None:
        """Evaluate once."""
        command = ("eval", "s", "--engine", "command", "--trust-config", "--fresh", *arguments)
        done = self.program(*command, env={"NIGHT": str(night)})
        assert done.code == 0, done.stderr


@pytest.fixture
def nights(program: Program, work: Path) -> Nights:
    """The skill and its agent."""
    return Nights(program, work)


@pytest.mark.slow
def test_six_nights_of_one_repeat(nights: Nights) -> None:
    """The flaky list names the case with its rate and an interval, and proposes the entry that quarantines it."""
    for night in range(1, 7):
        nights.run(night)
    done = nights.program("history", "flaky", "--until", "2030-01-31")
    assert done.verdict == "1 of 4 repeated cases flaky in 6 runs"
    row = next(line for line in done.stdout.splitlines() if line.startswith("coin"))
    assert row.split("  ")[0] == "coin"
    for part in ("s · with_skill", "3 of 6", "50.0%", "18.8% to 81.2%", TOSSES):
        assert part in row
    entry = yaml.safe_load(done.stdout[done.stdout.index("    quarantine:") :])["quarantine"][0]
    assert (entry["case"], entry["suite"], str(entry["until"])) == ("coin", "s", "2030-01-31")
    assert entry["reason"].startswith("passed 3 of 6 (18.8% to 81.2%) in 6 runs")
    config = nights.work / "skillgauge.config.yaml"
    config.write_text(json.dumps(yaml.safe_load(config.read_text()) | {"quarantine": [entry]}, default=str))
    nights.run(7, "--exit-on-fail", "--min-completion", "1.0")
    assert nights.program("history", "flaky", "--json").document["proposals"] == []


@pytest.mark.slow
def test_changed_content_starts_anew(nights: Nights) -> None:
    """A case with another prompt is another case; its neighbour goes on, and a changed skill begins both anew."""
    for night in (1, 2, 3):
        nights.run(night)
    nights.write_evals("toss a coin, please")
    nights.run(2)
    document = nights.program("history", "flaky", "--json").document
    assert [(case["case"], case["graded"]) for case in document["cases"]] == [("coin", 3)]
    assert document["restarted"] == 2, "the case, in both arms"
    skill = nights.work / "s/SKILL.md"
    skill.write_text(skill.read_text() + "Be brief.\n")
    nights.run(3)
    document = nights.program("history", "flaky", "--json").document
    assert document["restarted"] == 4
    assert "4 counted anew after a change" in nights.program("history", "flaky").verdict


@pytest.mark.slow
def test_records_of_many_jobs_become_one_history(nights: Nights) -> None:
    """Each job has a store and a folder of its own; their records are brought together, each once, in any order."""
    home = nights.work
    for night in range(1, 7):
        job = home / f"job-{night}"
        job.mkdir()
        shutil.copytree(home / "s", job / "s")
        place = ("--store", f"{job}/runs.db", "--output-dir", f"artifacts/night-{night}", "--format", "record")
        nights.run(night, *place)
    done = nights.program("history", "import", "artifacts", "--store", "team.db")
    assert done.code == 0, done.stderr
    assert done.verdict.startswith("imported 6 runs into team.db")
    again = nights.program("history", "import", "artifacts", "--store", "team.db")
    assert again.verdict.startswith("imported 0 runs into team.db, 6 had been imported before")
    document = nights.program("history", "flaky", "--store", "team.db", "--json").document
    assert [(case["case"], case["verdicts"]) for case in document["cases"]] == [("coin", TOSSES)]
    nights.run(7, "--store", "team.db")
    document = nights.program("history", "flaky", "--store", "team.db", "--json").document
    assert document["cases"][0]["graded"] == 7, "a run of this machine goes on where the jobs ended"


@pytest.mark.slow
def test_all_skills_with_a_line_each(nights: Nights) -> None:
    """Pictures of rate and lift over the nights, the newest of each with its interval, and what changed."""
    for night in (1, 2, 3, 4):
        nights.run(night)
    done = nights.program("history", "trend")
    row = next(line for line in done.stdout.splitlines() if line.startswith("s · with_skill"))
    for part in ("▅█▅█", "100.0%", "34.2% to 100.0%", "+50.0", "▇█▇█", "+100.0", "-19.3 to +100.0"):
        assert part in row
    assert done.verdict == "1 skill in 4 runs: 0 lower than in the run before, 1 higher, 0 the same"
    document = TrendsDocument.model_validate(nights.program("history", "trend", "--json").document)
    assert [(trend.target, [series.arm for series in trend.series]) for trend in document.targets] == [
        ("s", ["with_skill"])
    ]
    limited = nights.program("history", "trend", "--limit", "2", "--json").document
    assert len(limited["targets"][0]["series"][0]["points"]) == 2
    one = nights.program("history", "trend", "s")
    assert "s · s · with_skill  rate ▅█▅█  lift ▇█▇█  4 runs" in one.stdout
    assert "+100.0 undecided (-19.3 to +100.0; n = 2)" in one.stdout

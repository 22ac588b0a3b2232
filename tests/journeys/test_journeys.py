"""What a user does with the documents alone: the scripts beside this file run as they stand, and they stay short."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import HERE, TIME_LIMIT_S, travel

ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Journey:
    """A script, how long it may be, and the page that leads through it."""

    name: str
    page: str
    most_commands: int
    most_lines: int

    @property
    def script(self) -> Path:
        """The script."""
        return HERE / f"{self.name}.sh"


JOURNEYS = (
    Journey("private_scorer", "writing-a-plugin.md", most_commands=10, most_lines=30),
    Journey("one_adapter", "minimal.md", most_commands=5, most_lines=20),
    Journey("first_agent_eval", "first-agent-eval.md", most_commands=8, most_lines=50),
    Journey("first_ci_gate", "first-ci-gate.md", most_commands=9, most_lines=30),
    Journey("vendor_engine", "writing-an-engine.md", most_commands=10, most_lines=50),
)
each_journey = pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.name)


def steps(script: Path) -> tuple[list[str], dict[str, str]]:
    """The commands of a script, and the files that it writes by hand, each with its content."""
    commands: list[str] = []
    files: dict[str, str] = {}
    lines = iter(script.read_text().splitlines(keepends=True))
    for line in lines:
        written = re.fullmatch(r"cat > (\S+) <<'(\w+)'\n", line)
        if written:
            path, end = written.groups()
            files[path] = "".join(iter(lambda end=end: next(lines), f"{end}\n"))
        elif line.strip() and not line.startswith("#"):
            commands.append(line.strip())
    return commands, files


def own_lines(files: Mapping[str, str]) -> int:
    """Lines that a user writes, blank ones not counted."""
    return sum(bool(line.strip()) for content in files.values() for line in content.splitlines())


@each_journey
def test_it_is_short(journey: Journey) -> None:
    """Commands and lines written by hand stay below their bounds; a command is one command, whatever the line."""
    commands, files = steps(journey.script)
    assert len(commands) <= journey.most_commands
    assert own_lines(files) <= journey.most_lines
    hidden = [command for command in commands if re.search(r"[;&|\\]", command)]
    assert hidden == []


@each_journey
def test_the_page_says_the_same(journey: Journey) -> None:
    """The page has every command and every file as the script has them, in its order, and counts them."""
    commands, files = steps(journey.script)
    page = (ROOT / "docs" / journey.page).read_text()
    blocks = re.findall(r"^```\w+\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    shown = [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]
    place = -1
    for command in commands:
        assert command in shown[place + 1 :], command
        place = shown.index(command, place + 1)
    assert [path for path, content in files.items() if content not in blocks] == []
    assert f"{len(commands)} commands and {own_lines(files)} lines" in page


def results(work: Path, user: Mapping[str, str], *arguments: str) -> list[dict[str, Any]]:
    """Evaluate once more with what the journey left behind, and give all that is known of every trial."""
    command = [str(work / ".venv/bin/skillgauge"), "eval", "my-skill", *arguments, "--json"]
    environment = {**user, "PATH": f"{work}/.venv/bin:{user['PATH']}"}
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return found


@pytest.mark.e2e
@pytest.mark.slow
def test_private_scorer(work: Path, user: dict[str, str]) -> None:
    """A scorer of one's own is tested, packed, and decides over cases of a suite that knows nothing of it."""
    shutil.copytree(ROOT / "examples/skills/calculator", work / "my-skill")
    done = travel("private_scorer", work, user)
    assert "3 passed" in done.stdout
    assert done.stderr.count("20 of 20 passed") == 2
    (wheel,) = (work / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"skillgauge_scorer_acme_brief/scorer.py", "skillgauge_scorer_acme_brief/py.typed"} <= set(names)

    configured = results(work, user)
    checked = [one for one in configured if len(one["scores"]) == 2]
    assert {one["case_id"] for one in checked} == {one["case_id"] for one in configured if "string" in one["tags"]}
    assert all(score["status"] == "passed" for one in checked for score in one["scores"])
    (work / "skillgauge.config.yaml").unlink()
    too_strict = results(work, user, "--case", "coding_001", "--check", 'acme-brief={"words": 0}')
    assert [score["status"] for score in too_strict[0]["scores"]] == ["passed", "failed"]
    assert too_strict[0]["scores"][1]["reason"] == "2 words, but at most 0 are allowed"


@pytest.mark.e2e
@pytest.mark.slow
def test_one_adapter(work: Path, user: dict[str, str]) -> None:
    """The kernel and four plugins evaluate a skill that was just written; nothing else of ours is installed."""
    done = travel("one_adapter", work, user)
    assert "2 of 2 passed" in done.stderr
    listed = subprocess.run(
        [work / ".venv/bin/skillgauge", "plugins", "list", "--json"], env=user, capture_output=True, check=True
    )
    distributions = {one["distribution"] for one in json.loads(listed.stdout)["plugins"]}
    assert distributions == {
        f"skillgauge-{name}" for name in ("format-eval-skills", "adapter-subprocess", "scorer-exact", "sandbox-local")
    }
    (work / "my-skill/greet.py").write_text("raise SystemExit(1)\n")
    assert [one["verdict"] for one in results(work, user, "--tasks", "tasks.json")] == ["fail", "fail"]


@pytest.mark.e2e
@pytest.mark.slow
def test_first_agent_eval_and_first_ci_gate(work: Path, user: dict[str, str]) -> None:
    """A new user learns whether a skill helps, sees what failed, and has a build that is red until it is mended."""
    done = travel("first_agent_eval", work, user)
    lines = done.stderr.splitlines()
    assert "valid: 1 suite, 4 cases" in lines
    answer = "done: commit-message · with_skill helps on these cases: +50.0 points against without_skill"
    assert [line for line in lines if line.startswith(answer)]
    assert "docs: Fixed typo (77)" in done.stdout
    assert (work / "reports/eval-result.html").is_file()

    done = travel("first_ci_gate", work, user)
    assert "gate missed: pass rate below 90.0%: commit-message · with_skill 75.0%" in done.stderr
    assert "12 sessions could not be replayed" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("gate met: ")

"""Every command line that BenchFlow documents for skill evals, in the order of its page, in one folder that was empty.

Only the name of the program is another, and the word `skills` is left out, which the program says. The agents are the
real ones under the names of that page; their models and the judges are scripted servers, which stand in the user's own
configuration, so that the lines are those that people type. Installing is `tests/journeys/test_ci_installs.py`.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, with_skill
from skillgauge_testkit.program import Done, Program

from .conftest import ROOT
from .judge_replies import claims_reply, said

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

KEY = "made-up-key-of-the-tests-0123456789"
STAND_IN = ROOT / "plugins/sandboxes/docker/tests/stand_in.py"
SKILL = "---\nname: {0}\ndescription: Knows the stamp of {0}. Use when the stamp of {0} is wanted.\n---\n\nIt is {1}.\n"
STAMPS = {"my-skill": "S-11", "references": "S-22", "calculator": "S-33", "mail-drafts": "S-44"}
RUBRIC = ["The answer names the stamp.", "The answer names no other stamp.", "The answer is short."]
AGENTS = {"claude-agent-acp": "", "codex-acp": "/v1", "gemini": ""}
"""Names on that page, and the path after the address of their model."""
VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")


def answer(request: ModelRequest) -> ModelReply:
    """A model that knows a stamp from the skill alone; as judge it believes who names one."""
    if "END <name>" in request.text:
        found = next((one for one in STAMPS.values() if one in said(request)[2]), None)
        return ModelReply(claims_reply(request, found is not None, True, True, quote=found, absent="a stamp")[:])
    if not request.tools:
        return ModelReply("A title")
    name = next((one for one in STAMPS if f"stamp of {one}?" in request.text), "my-skill")
    return with_skill(name, ModelReply(f"It is {STAMPS[name]}."), ModelReply("It is not known."))(request)


def suite(folder: Path, name: str, cases: int, *, judge: str = "") -> None:
    """A skill with evals that are judged by this model, or matched."""
    (folder / "evals").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(SKILL.format(name, STAMPS[name]))
    graded: dict[str, Any] = {"expected_behavior": RUBRIC} if judge else {"ground_truth": STAMPS[name]}
    made = [
        {"id": f"case-{number}", "question": f"What is the stamp of {name}? ({number})", **graded}
        for number in range(cases)
    ]
    defaults = {"defaults": {"judge_model": judge}} if judge else {}
    document = {"version": "1", "skill_name": name, **defaults, "cases": made}
    (folder / "evals/evals.json").write_text(json.dumps(document))


def lifts(document: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """By agent: both means, and how many passed in each arm."""
    keys = ("with_skill_score", "baseline_score", "with_skill_passed", "baseline_passed")
    return {one["agent"]: tuple(one[key] for key in keys) for one in document["lifts"]}


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder for temporary files that is not below /tmp."""
    with TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.requirement("BF-RUN-001", "BF-RUN-003", "BF-RUN-004", "BF-RUN-005", "BF-RUN-006", "BF-RUN-008")
@pytest.mark.requirement("BF-EMBED-003", "BF-GEPA-001", "BF-OUT-001", "BF-OUT-002", "BF-OUT-003", "BF-CRED-004")
def test_the_page_of_benchflow(
    program: Program, work: Path, elsewhere: Path, agent_program: Callable[[str], Path]
) -> None:
    """From one agent to a job of CI: each line runs as it stands, and its lift is the planted one."""
    docker = work / "docker"
    docker.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
    docker.chmod(0o755)
    environment = {**program.environment, **dict.fromkeys(VARIABLES, KEY), "DOCKER_STAND_IN": str(work / "daemon")}
    # For a moment codex, in whatever test, puts a `.git` into /tmp, and gemini would read it above its workspace.
    environment["TMPDIR"] = str(elsewhere)

    def say(line: str, code: int = 0, cwd: Path = work) -> Done:
        name, *words = shlex.split(line)
        assert name == "skillgauge"
        done = program(*words, cwd=cwd, env=environment)
        assert done.code == code, done.stdout + done.stderr
        return done

    def written(folder: str = "reports") -> dict[str, Any]:
        return json.loads((work / folder / "eval-result.json").read_text())  # type: ignore[no-any-return]

    with ExitStack() as servers:
        url = servers.enter_context(ModelServer(answer)).url
        engines = {
            name: {"program": str(agent_program(name)), "base_url": f"{url}{path}", "api_retries": 0}
            for name, path in AGENTS.items()
        }
        plugins = {
            "engines": engines,
            "judges": {name: {"base_url": url} for name in ("gemini", "anthropic")},
            "sandboxes": {"docker": {"program": str(docker)}},
        }
        home = Path(program.environment["HOME"]) / ".config/skillgauge"
        home.mkdir(parents=True)
        (home / "config.yaml").write_text(json.dumps({"plugins": plugins}))

        suite(work / "my-skill", "my-skill", 1, judge="gemini-3.1-flash-lite")
        refused = say("skillgauge skills eval my-skill/ --agent claude-agent-acp", 2)
        line = "skillgauge eval my-skill/ --agent claude-agent-acp"
        assert f"there is no command 'skills'; here it is: {line}" in refused.stderr
        first = say(line)
        assert lifts(written()) == {"claude-agent-acp": (1.0, pytest.approx(2 / 3, abs=1e-6), 1, 1)}
        assert "Reward lift: 0.333" in " ".join(first.stdout.split())

        suite(work / "skills/references", "references", 1)
        say(
            "skillgauge eval skills/references --agent gemini --model gemini-3.1-flash-lite-preview --sandbox docker "
            "--jobs-dir jobs/skill-eval-references --concurrency 1"
        )
        own = written("jobs/skill-eval-references")
        assert lifts(own) == {"gemini": (1.0, 0.0, 1, 0)}
        assert {one["model"] for one in own["lifts"]} == {"gemini-3.1-flash-lite-preview"}
        assert any(json.loads(call)["argv"][0] == "run" for call in (work / "daemon/journal").read_text().splitlines())

        suite(work / "my-skill", "my-skill", 1)
        say("skillgauge eval my-skill/ --agent claude-agent-acp --agent codex-acp --agent gemini")
        assert lifts(written()) == dict.fromkeys(AGENTS, (1.0, 0.0, 1, 0))
        suite(work / "calculator", "calculator", 3)
        say("skillgauge eval ./calculator/ --agent claude-agent-acp --agent codex-acp")
        assert lifts(written()) == dict.fromkeys(("claude-agent-acp", "codex-acp"), (1.0, 0.0, 3, 0))

        line = "skillgauge eval my-skill/ --agent claude-agent-acp"
        assert "--format gepa" in say(f"{line} --export-gepa", 2).stderr
        say(f"{line} --format gepa benchflow-jobs --jobs-dir jobs")
        (made,) = (path for path in (work / "jobs").iterdir() if (path / "gepa").is_dir())
        traces = {path.name for path in (made / "gepa/traces").iterdir()}
        assert traces == {f"case-0-claude-agent-acp-{arm}.json" for arm in ("with", "without")}
        assert (made / "gepa/skill.md").read_text() == (work / "my-skill/SKILL.md").read_text()
        assert json.loads((made / "gepa/summary.json").read_text())["lifts"][0]["lift"] == 1.0

        suite(work / "mail-skill", "mail-drafts", 2, judge="claude-haiku-4-5-20251001")
        say(
            "skillgauge eval ./mail-skill/ --agent claude-agent-acp --agent codex-acp --jobs-dir jobs/mail "
            "--format json benchflow-jobs"
        )
        some = (1.0, pytest.approx(2 / 3, abs=1e-6), 2, 2)
        found = written("jobs/mail")
        assert lifts(found) == dict.fromkeys(("claude-agent-acp", "codex-acp"), some)
        (tree,) = (work / "jobs/mail").glob("*/benchflow-jobs/skill-eval/mail-drafts")
        rollouts = sorted(tree.glob("*/*/*/*/result.json")) or sorted(tree.glob("*/*/*/result.json"))
        assert len(rollouts) == 8
        assert all((path.parent / "trajectory/acp_trajectory.jsonl").is_file() for path in rollouts)
        again = say(f"skillgauge report convert --input {tree.relative_to(work)} --format json")
        assert json.loads(again.stdout)["lifts"] == found["lifts"]

        suite(work / "my-skill", "my-skill", 1)
        say("skillgauge eval . --agent claude-agent-acp --no-baseline", cwd=work / "my-skill")
        (alone,) = json.loads((work / "my-skill/reports/eval-result.json").read_text())["lifts"]
        assert (alone["with_skill_passed"], alone["baseline_ran"], alone["lift"]) == (1, False, None)
    for path in (path for path in work.rglob("*") if path.is_file() and not path.is_symlink()):
        assert KEY.encode() not in path.read_bytes(), path

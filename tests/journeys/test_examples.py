"""The projects in `examples/`: built, installed from their wheel into an environment of their own, and run."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from .conftest import HERE, TIME_LIMIT_S

ROOT = HERE.parents[1]
SECRETS = (
    "made-up-password-of-acme",
    "made-up-token-of-acme",
    "made-up-key-of-acme",
    "made-up-secret-of-acme",
    "made-up-access-token-of-acme",
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def tried(name: str, work: Path, user: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run an example's script in a copy of its folder; no secret that it was given is in anything that is left."""
    place = work / name
    shutil.copytree(ROOT / "examples" / name, place)
    done = subprocess.run(
        ["sh", "-e", "try.sh"],
        cwd=place,
        env=dict(user),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIME_LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    left = [path for folder in ("reports", ".") for path in (place / folder).glob("*") if path.is_file()]
    for path in left:
        if not (ROOT / "examples" / name / path.relative_to(place)).exists():
            assert not any(secret.encode() in path.read_bytes() for secret in SECRETS), path
    return done


def test_a_private_scorer_asks_its_database(work: Path, user: dict[str, str]) -> None:
    """The check that no suite names decides, with its reason and evidence, over one connection that was closed."""
    done = tried("private-scorer", work, user)
    assert "acme-terms (scorers): Answers use the words that our database of terms approves." in done.stdout
    assert done.stderr.splitlines()[-1] == "done: 1 of 2 passed"
    assert "uses login" in (work / "private-scorer/reports/eval-result.md").read_text()


def test_a_webhook_hears_of_the_run(work: Path, user: dict[str, str]) -> None:
    """What was posted has the counts of the run."""
    tried("webhook", work, user)
    posted = json.loads((work / "webhook/posted.json").read_text())
    assert posted | {"run": ""} == {"run": "", "state": "finished", "passed": 1, "failed": 1, "errors": 0}


def test_an_engine_of_a_vendor_answers_whether_a_skill_helps(work: Path, user: dict[str, str]) -> None:
    """`init --engine` finds it like a built-in one, and the run compares both arms."""
    done = tried("vendor-engine", work, user)
    assert "works    acme-agent: key ACME_API_KEY" in done.stdout
    answer = done.stderr.splitlines()[-1]
    assert answer.startswith("done: greeting · with_skill · acme-large helps on these cases: +100.0 points"), answer


def test_a_format_of_one_s_own_gives_places(work: Path, user: dict[str, str]) -> None:
    """A spreadsheet is evaluated and written again as it was; each mistake in another has its cell."""
    done = tried("own-format", work, user)
    assert "12 passed" in done.stdout
    place = work / "own-format"
    assert (place / "sheets/shop.csv").read_text() == (place / "my-skill/shop.csv").read_text()
    assert "done: 2 of 3 passed" in done.stderr
    for where in ("broken.csv:4:8: error[acme.match]", "broken.csv:5:1: error[suite.duplicate-id]", "broken.csv:5:19"):
        assert where in done.stderr, where


def test_a_store_of_one_s_own_keeps_a_run(work: Path, user: dict[str, str]) -> None:
    """The run is on the service, in lines of JSON, and its history is read from there."""
    done = tried("own-store", work, user)
    assert "7 passed" in done.stdout
    (run,) = (work / "own-store/shelf/team").iterdir()
    assert run.name in done.stdout.splitlines()[-1]
    lines = [line for part in sorted(run.glob("*.jsonl")) for line in part.read_text().splitlines()]
    verdicts = [json.loads(line)["result"]["verdict"] for line in lines if line.startswith('{"result"')]
    assert sorted(verdicts) == ["fail", "pass"]
    assert not (run / "owner.json").exists()


def test_a_judge_behind_oauth_grades(work: Path, user: dict[str, str]) -> None:
    """A token that is withdrawn in the middle costs no answer, and none that the gateway repeats is written down."""
    done = tried("oauth-judge", work, user)
    assert "6 passed" in done.stdout
    assert done.stderr.splitlines()[-1] == "done: 1 of 3 passed"
    assert "of 10: as [redacted:ACME_TOKEN]" in " ".join(done.stdout.split())


def test_an_executor_replaces_processes(work: Path, user: dict[str, str]) -> None:
    """The skill counts to two in each process."""
    done = tried("fresh-executor", work, user)
    assert "5 passed" in done.stdout
    assert done.stderr.splitlines()[-1] == "gate met: 4 of 4 passed"


def test_a_sandbox_in_a_cloud_runs_a_skill(work: Path, user: dict[str, str]) -> None:
    """Each result says that it came from there, and what the cloud vouches for."""
    done = tried("cloud-sandbox", work, user)
    assert "7 passed" in done.stdout
    assert done.stderr.splitlines()[-1] == "done: 3 of 3 passed"
    (record,) = (work / "cloud-sandbox/reports").glob("run-*.record.json")
    results = [json.loads(line.rstrip(",")) for line in record.read_text().splitlines() if '"trial_id"' in line]
    assert [one["execution"]["sandbox"] for one in results] == ["acme-cloud/none"] * 3


def test_workers_take_attempts_from_a_queue(work: Path, user: dict[str, str]) -> None:
    """Workers that dial in make every attempt, and end with the evaluation."""
    done = tried("queue-executor", work, user)
    assert "11 passed" in done.stdout
    assert done.stderr.splitlines()[-1] == "gate met: 6 of 6 passed"

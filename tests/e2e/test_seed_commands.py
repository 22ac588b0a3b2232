"""Every command line that eval-skills documents, in the order of its documents, in one folder that was empty.

Only the name of the program is another. What the page presupposes (skills to find, a strategy, reports to compare) is
made by the test, as the page describes it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done

from .conftest import ROOT

CALCULATOR = ROOT / "examples" / "skills" / "calculator"
STRATEGY = """filters:
  minCompletionRate: 0.8
  maxErrorRate: 0.1
  maxLatencyP95Ms: 5000
  adapterTypes: [http, subprocess]
  requiredTags: [production-ready]
sortBy: compositeScore
order: desc
topK: 5
"""
BENCHMARK = {
    "id": "my-benchmark",
    "name": "Two questions of ours",
    "version": "1.0.0",
    "domain": "general",
    "scoringMethod": "mean",
    "maxLatencyMs": 30000,
    "metadata": {"source": "internal", "lastUpdated": "2026-02-28"},
    "tasks": [
        {
            "id": "task_001",
            "description": "Adds two figures",
            "inputData": {"expression": "2+3"},
            "expectedOutput": {"type": "exact", "value": "5"},
            "evaluator": {"type": "exact"},
            "timeoutMs": 10000,
            "tags": ["math"],
        },
        {
            "id": "task_002",
            "description": "Names what holds a ship",
            "inputData": {"query": "anchor"},
            "expectedOutput": {"type": "contains", "keywords": ["chain", "seabed"]},
            "evaluator": {"type": "contains", "caseSensitive": False},
            "timeoutMs": 15000,
            "tags": ["search"],
        },
    ],
}
Say = Callable[..., Done]


def add_skill(folder: Path, **changes: object) -> None:
    """A copy of the calculator under another name."""
    shutil.copytree(CALCULATOR, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "skill.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id": folder.name} | changes))


@pytest.fixture
def say(environment: dict[str, str], work: Path) -> Say:
    """Give a command line to a shell, as the documents have it but for the program's name."""

    def call(line: str, code: int = 0) -> Done:
        assert line.startswith("eval-skills ")
        words = f"skillgauge {line.removeprefix('eval-skills ')}"
        done = subprocess.run(
            ["bash", "-c", words], cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
        return Done(done.returncode, done.stdout, done.stderr)

    return call


def reports(work: Path, name: str = "eval-result.json") -> list[dict[str, Any]]:
    """The reports in a file."""
    found: list[dict[str, Any]] = json.loads((work / "reports" / name).read_text())
    return found


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.requirement(
    "ES-EVAL-013", "ES-EVAL-014", "ES-REPORT-001", "ES-REPORT-002", "ES-REPORT-003", "ES-DEFECT-07"
)
def test_the_capabilities_one_after_the_other(say: Say, work: Path) -> None:
    """Find, create, evaluate, select, run, convert, compare, set up, configure, and a benchmark of one's own."""
    add_skill(work / "skills" / "calculator", tags=["math", "production-ready"])
    add_skill(work / "skills" / "search", tags=["production-ready"], description="Looks things up.")
    known = {"benchmarkId": "web", "completionRate": 0.9, "compositeScore": 0.8, "timestamp": "2026-01-01T00:00:00Z"}
    add_skill(
        work / "skills" / "web_search",
        name="Web search",
        tags=["retrieval", "api"],
        adapterType="http",
        entrypoint="http://127.0.0.1:9/",
        metadata={"benchmarkResults": [known]},
    )
    found = say(
        'eval-skills find --query "web search" --tag retrieval api --adapter http --min-completion 0.8 '
        "--skills-dir ./skills --limit 10"
    )
    assert "web_search" in found.stdout
    assert "calculator" not in found.stdout

    say(
        "eval-skills create --name my_api_skill --from-template http_request --output-dir ./skills "
        '--description "Tells the weather at sea"'
    )
    made = work / "skills" / "my_api_skill"
    assert json.loads((made / "skill.json").read_text())["description"] == "Tells the weather at sea"
    assert (made / "adapter.config.json").is_file()
    assert (made / "tests" / "basic.eval.json").is_file()

    gate = say(
        "eval-skills eval --skills ./skills/calculator/skill.json ./skills/search/ --benchmark coding-easy "
        "--concurrency 4 --timeout 30000 --retries 2 --runs 3 --evaluator exact --format json markdown html "
        "--output-dir ./reports --exit-on-fail --min-completion 0.8 --store ./eval-skills.db"
    )
    assert gate.verdict == "gate met: 120 of 120 passed"
    assert {path.suffix for path in (work / "reports").glob("eval-result-*")} == {".json", ".md", ".html"}
    assert (work / "eval-skills.db").is_file()
    assert [one["summary"]["completionRate"] for one in reports(work)] == [1, 1]

    (work / "strategy.yaml").write_text(STRATEGY)
    say(
        "eval-skills select --from ./skills --reports ./reports/eval-result.json --strategy ./strategy.yaml "
        "--min-completion 0.8 --top-k 5 --output ./selected.json"
    )
    assert {one["id"] for one in json.loads((work / "selected.json").read_text())} == {"calculator", "search"}

    ran = say(
        'eval-skills run --query "math" --benchmark coding-easy --skills-dir ./skills --top-k 3 --min-completion 0.7 '
        "--format json markdown --output-dir ./reports"
    )
    assert "calculator" in ran.stdout
    assert [one["skillId"] for one in reports(work)] == ["calculator"]

    say(
        "eval-skills report convert --input ./reports/eval-result.json --format html "
        "--output ./reports/eval-result.html"
    )
    assert "<html" in (work / "reports" / "eval-result.html").read_text()[:500]

    worse = reports(work)
    composite = worse[0]["summary"]["compositeScore"]  # latency counts in it, so it is no constant
    worse[0]["summary"] |= {"completionRate": 0.8, "compositeScore": composite - 0.103}
    for task in worse[0]["taskResults"][:4]:
        task |= {"status": "fail", "score": 0}
    (work / "reports" / "v1.json").write_text(json.dumps(worse))
    shutil.copy(work / "reports" / "eval-result.json", work / "reports" / "v2.json")
    say(
        'eval-skills report diff ./reports/v1.json ./reports/v2.json --label-a "v1.0" --label-b "v2.0" '
        "--output ./reports/diff.md"
    )
    diff = (work / "reports" / "diff.md").read_text()
    assert "v1.0" in diff
    assert "v2.0" in diff
    assert "80.0%" in diff
    assert "0.103" in diff  # not rounded to nothing

    say("eval-skills init --dir .")
    assert (work / "skillgauge.config.yaml").is_file()
    assert all((work / name).is_dir() for name in ("skills", "benchmarks", "reports"))

    assert json.loads(say("eval-skills config list").stdout)["concurrency"] == 4
    say("eval-skills config get llm.model")
    say("eval-skills config set concurrency 8")
    say("eval-skills config set llm.model gpt-4o")
    say("eval-skills config set llm.temperature 0")
    assert say("eval-skills config get llm.model").stdout.strip() == "gpt-4o"
    assert say("eval-skills config get llm.temperature").stdout.strip() == "0"

    add_skill(work / "my-skill")
    (work / "my-benchmark.json").write_text(json.dumps(BENCHMARK))
    say("eval-skills eval --skills ./my-skill/ --benchmark ./my-benchmark.json")
    (own,) = reports(work)
    assert (own["benchmarkId"], [one["status"] for one in own["taskResults"]]) == ("my-benchmark", ["pass", "fail"])


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.requirement("ES-FLOW-001")
def test_a_single_skill(say: Say, work: Path) -> None:
    """Make a skeleton, put the logic in, evaluate it three times, read the report."""
    say("eval-skills create --name my_calc --from-template python_script")
    shutil.copy(CALCULATOR / "skill.py", work / "skills" / "my_calc" / "skill.py")
    say("eval-skills eval --skills ./skills/my_calc/skill.json --benchmark coding-easy --runs 3 --format json markdown")
    read = subprocess.run("cat ./reports/eval-result-*.md", shell=True, cwd=work, capture_output=True, text=True)
    assert read.returncode == 0
    assert "my\\_calc" in read.stdout or "my_calc" in read.stdout


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.requirement("ES-FLOW-002", "ES-FLOW-005")
def test_several_candidates(say: Say, work: Path) -> None:
    """Find them, evaluate all on one benchmark, select with a glob, compare two; then today against the baseline."""
    for number in (1, 2, 3):
        add_skill(work / "skills" / f"weather_v{number}", description="Tells the weather.")
    found = say('eval-skills find --query "weather" --skills-dir ./skills')
    assert all(f"weather_v{number}" in found.stdout for number in (1, 2, 3))
    say(
        "eval-skills eval --skills ./skills/weather_v1 ./skills/weather_v2 ./skills/weather_v3 "
        "--benchmark web-search-basic --runs 3"
    )
    assert [one["skillId"] for one in reports(work)] == ["weather_v1", "weather_v2", "weather_v3"]
    chosen = say(
        "eval-skills select --from ./skills --reports ./reports/eval-result-*.json --min-completion 0.8 --top-k 2"
    )
    assert "weather_v1" not in chosen.stdout  # a calculator knows nothing of the weather
    for name in ("v1", "v2", "baseline", "latest"):
        shutil.copy(work / "reports" / "eval-result.json", work / "reports" / f"{name}.json")
    say('eval-skills report diff ./reports/v1.json ./reports/v2.json --label-a "weather_v1" --label-b "weather_v2"')
    say(
        "eval-skills report diff ./reports/baseline.json ./reports/latest.json "
        '--label-a "baseline" --label-b "latest" --output ./reports/regression-check.md'
    )
    assert "baseline" in (work / "reports" / "regression-check.md").read_text()


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.requirement("ES-FLOW-003", "ES-FLOW-004")
def test_the_pipeline_and_the_gate(say: Say, work: Path) -> None:
    """One command for all of it, and a build that fails when a skill gets worse."""
    add_skill(work / "skills" / "good")
    add_skill(work / "skills" / "production_skill")
    ran = say(
        "eval-skills run --skills-dir ./skills --benchmark coding-easy --top-k 3 --min-completion 0.7 "
        "--format json markdown html --output-dir ./reports"
    )
    assert "good" in ran.stdout
    assert "production_skill" in ran.stdout
    assert {path.suffix for path in (work / "reports").glob("eval-result.*")} == {".json", ".md", ".html"}
    gate = (
        "eval-skills eval --skills ./skills/production_skill --benchmark coding-easy --exit-on-fail "
        "--min-completion 0.8 --format json"
    )
    say(gate)
    program = work / "skills" / "production_skill" / "skill.py"
    program.write_text("import sys\nsys.exit('broken by a change')\n")
    failed = say(gate, code=1)
    assert "production_skill" in failed.verdict

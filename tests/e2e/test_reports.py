"""Reports of one real run: the documented numbers with known answers, and every rate with what it takes to trust it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

from .conftest import MakeSkill

Tasks = Callable[..., Path]

CODE = """import json, sys
request = json.loads(sys.stdin.read())
say = request["params"]["say"]
if say == "crash":
    sys.exit(3)
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": say}))
"""


def words(name: str, say: str, keywords: list[str], *tags: str) -> dict[str, object]:
    """A task that asks for words, with partial credit for some of them."""
    expected = {"type": "contains", "keywords": keywords}
    return {"id": name, "description": name, "inputData": {"say": say}, "expectedOutput": expected, "tags": tags}


@pytest.fixture
def reports(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> tuple[Path, str]:
    """The reports of a run over four tasks with scores 1, 1/2, 2/3 and a crash, and what was printed."""
    file = tasks(
        words("a", "one", ["one"], "math"),
        words("b", "one", ["one", "two"], "math", "words"),
        words("c", "one two", ["one", "two", "three"], "words"),
        words("d", "crash", ["one"], "words"),
    )
    formats = ("--format", "json", "markdown", "html", "csv", "record")
    done = program("eval", "--skills", make_skill(CODE), "--tasks", file, *formats)
    assert done.code == 0, done.stderr
    return work / "reports", done.stdout


@pytest.mark.e2e
@pytest.mark.requirement("ES-METRIC-002", "ES-METRIC-005")
def test_numbers_with_known_answers(reports: tuple[Path, str]) -> None:
    """Partial score is the mean of the task scores; percentiles are nearest ranks of the latencies, the crash's too."""
    (report,) = json.loads((reports[0] / "eval-result.json").read_text())
    assert [task["score"] for task in report["taskResults"]] == pytest.approx([1, 1 / 2, 2 / 3, 0])
    assert report["summary"]["partialScore"] == 0.5417
    second, fourth = (sorted(task["latencyMs"] for task in report["taskResults"])[rank] for rank in (1, 3))
    p50, p95, p99 = report["latency"].values()
    assert (p50, p95, p99) == (pytest.approx(second, abs=0.5), pytest.approx(fourth, abs=0.5), p95)
    assert all(task["latencyMs"] > 0 for task in report["taskResults"])


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-BENCH-009")
def test_every_report_breaks_results_down_by_tag(reports: tuple[Path, str]) -> None:
    """A task counts under each of its tags; beside each rate stand n, errors and interval, in every format."""
    folder, printed = reports
    (report,) = json.loads((folder / "eval-result.json").read_text())
    (path,) = folder.glob("run-*.record.json")
    (group,) = json.loads(path.read_text())["summary"]["groups"]
    told: list[dict[str, Any]] = report["evaluatorMetadata"]["skillgauge"]["tags"]
    for rates in ([tag["passRate"] for tag in told], [tag["pass_rate"] for tag in group["tags"]]):
        assert [(rate["rate"], rate["n"], rate["method"], rate["level"]) for rate in rates] == [
            (0.5, 2, "wilson", 0.95),
            (0.0, 3, "wilson", 0.95),
        ]
        assert [bound for rate in rates for bound in (rate["lower"], rate["upper"])] == pytest.approx(
            [0.094531, 0.905469, 0.0, 0.561497], abs=1e-6
        )
    assert [(tag["tag"], tag["counts"]["failed"], tag["counts"]["errors"]) for tag in told] == [
        ("math", 1, 0),
        ("words", 3, 0),
    ]
    with next(folder.glob("*/csv/tags.csv")).open(newline="") as file:
        rows = [tuple(row.values())[5:] for row in csv.DictReader(file, strict=True)]
    assert rows == [
        ("math", "0.5000", "0.0945", "0.9055", "0.95", "wilson", "2", "1", "1", "0", "0"),
        ("words", "0.0000", "0.0000", "0.5615", "0.95", "wilson", "3", "0", "3", "0", "0"),
    ]
    markdown = (folder / "eval-result.md").read_text()
    assert "| math | 50.0% | 9.5% to 90.5% | 2 | 1 of 2 | 1 | 0 | 0 | 95 % wilson |" in markdown
    page = " ".join(unescape(re.sub("<[^>]*>", " ", (folder / "eval-result.html").read_text())).split())
    assert "words 0.0% 0.0% to 56.1% 3 0 of 3 3 0 0 95 % wilson" in page
    assert (
        "  weakest tags: words: pass rate 0.0% (n = 3 cases, 0 errors, 95% interval 0.0% to 56.1%);\n"
        "    math: pass rate 50.0% (n = 2 cases, 0 errors, 95% interval 9.5% to 90.5%)\n"
    ) in printed

"""`select` on real skills and reports, in the installed program."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_command_select.command import schemas
from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill

ORIGINAL = Path(__file__).parents[4] / "plugins/formats/eval-skills/tests/data"
"""Reports that the original program wrote."""


def report(
    skill: str, *, at: str = "2026-03-01T00:00:00.000Z", p95: float = 100, benchmark: str = "b", **summary: float
) -> dict[str, Any]:
    """A report as the original writes it."""
    rates = {"completionRate": 1, "partialScore": 1, "errorRate": 0, "consistencyScore": 1, "compositeScore": 0.9}
    task = {"taskId": "t", "skillId": skill, "status": "pass", "score": 1, "latencyMs": 10, "scorerType": "exact_match"}
    return {
        "skillId": skill,
        "skillVersion": "1.0.0",
        "benchmarkId": benchmark,
        "timestamp": at,
        "summary": rates | summary,
        "latency": {"p50Ms": 10, "p95Ms": p95, "p99Ms": p95},
        "taskResults": [task | {"runId": 1}],
        "evaluatorMetadata": {},
    }


def with_usage(one: dict[str, Any], **usage: float) -> dict[str, Any]:
    """A report whose task tells what it used."""
    one["taskResults"][0]["usage"] = usage
    return one


def write(path: Path, *reports: dict[str, Any]) -> Path:
    """A report document."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(reports))
    return path


def chosen(done: Done) -> list[str]:
    """Ids of the selected skills, best first; the document is what its schema says."""
    assert done.code == 0, done.stderr
    jsonschema.validate(done.document, schemas()["select"])
    return [one["skill"]["id"] for one in done.document["selected"]]


@pytest.fixture
def three(make_skill: MakeSkill, work: Path) -> Path:
    """Skills a, b and c, and a report about them in which a is best, b is slow and c is often wrong."""
    make_skill("a")
    make_skill("b", tags=["production-ready"], adapterType="http", entrypoint="http://127.0.0.1:9/")
    make_skill("c")
    return write(
        work / "reports/eval-result.json",
        report("a", compositeScore=0.95, p95=200),
        report("b", compositeScore=0.85, p95=900),
        report("c", compositeScore=0.5, completionRate=0.4, errorRate=0.3, p95=50),
    )


@pytest.mark.requirement("ES-SELECT-001", "ES-SELECT-002", "ES-SELECT-007")
def test_the_table(program: Program, three: Path) -> None:
    """Candidates of a folder, best composite score first; the documented columns; the verdict is last on stderr."""
    done = program("select", "--from", "./skills", "--reports", three, "--min-completion", "0.4")
    assert done.code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["Selected", "3", "of", "3", "skills:"]
    assert lines[1] == ["Rank", "Skill", "ID", "Completion", "Error", "Rate", "Score"]
    assert lines[2] == ["1", "a", "100.0%", "(n", "=", "1)", "0.0%", "0.950"]
    assert lines[4] == ["3", "c", "40.0%", "(n", "=", "1)", "30.0%", "0.500"]
    assert done.verdict == "3 of 3 skills selected"


@pytest.mark.requirement("ES-DEFECT-14")
@pytest.mark.requirement("ES-SELECT-007")
def test_the_output_is_an_array_of_the_skill_objects(program: Program, work: Path, three: Path) -> None:
    """Selected skills are written as they stand in their files, best first, and are candidates themselves."""
    done = program("select", "--from", "skills", "--reports", three, "--top-k", "2", "--output", "out/selected.json")
    assert done.code == 0
    written = json.loads((work / "out/selected.json").read_text())
    assert written == [json.loads((work / f"skills/{name}/skill.json").read_text()) for name in "ab"]
    assert list(written[0]) == list(json.loads((work / "skills/a/skill.json").read_text()))
    again = program("select", "--from", "out/selected.json", "--reports", three, "--strategy", "by_rate.json", "--json")
    assert again.code == 2
    (work / "by_rate.json").write_text('{"sortBy": "latency", "filters": {"adapterTypes": ["http", "subprocess"]}}')
    again = program("select", "--from", "out/selected.json", "--reports", three, "--strategy", "by_rate.json", "--json")
    assert chosen(again) == ["a", "b"]
    assert again.document["selected"][0]["skill"] == written[0]


def test_the_output_is_all_of_stdout(program: Program, work: Path, three: Path) -> None:
    """A program that reads stdout gets what a file would hold; two documents are refused, and no file is called -."""
    base = ["select", "--from", "skills", "--reports", three, "--top-k", "2", "--output"]
    program(*base, "selected.json")
    done = program(*base, "-")
    assert done.code == 0, done.stderr
    assert done.document == json.loads((work / "selected.json").read_text())
    assert "2 of 3 skills selected" in done.stderr
    refused = program(*base, "-", "--json")
    assert refused.code == 2
    assert "--json and --output - are two documents" in refused.stdout
    assert not (work / "-").exists()


@pytest.mark.requirement("ES-SELECT-001")
def test_candidates_must_be_there(program: Program, work: Path, three: Path) -> None:
    """Without --from, with a place that is absent, empty or no list of skills: exit 2 and the reason."""
    (work / "empty").mkdir()
    (work / "list.json").write_text('[{"name": "no id"}]')
    (work / "twice.json").write_text('[{"id": "a"}, {"id": "a"}]')
    for source, told in (
        ("absent", "does not exist"),
        ("empty", "holds nothing"),
        ("list.json", "list.json:1:2: error[suite.missing-key]: 'id' is missing"),
        ("twice.json", "two candidates have the id 'a'"),
    ):
        done = program("select", "--from", source, "--reports", three)
        assert done.code == 2
        assert told in done.stderr
    done = program("select", "--reports", three)
    assert done.code == 2
    assert "--from" in done.stderr
    assert chosen(program("select", "--from", "skills/b/skill.json", "--reports", three, "--json")) == ["b"]


@pytest.mark.requirement("ES-SELECT-002")
def test_reports_must_be_there(program: Program, work: Path, three: Path) -> None:
    """No report, an absent one, a folder, something else and a damaged one: exit 2, all of them at once."""
    done = program("select", "--from", "skills")
    assert done.code == 2
    assert "--reports ./reports/eval-result.json" in done.stderr
    (work / "other.json").write_text('{"no": "report"}')
    write(work / "damaged.json", report("a") | {"summary": 3})
    done = program(
        "select", "--from", "skills", "--reports", "gone.json", "reports", "other.json", "damaged.json", three
    )
    assert done.code == 2
    for told in ("'gone.json' does not exist", "'reports' is a folder", "other.json", "damaged.json:1:"):
        assert told in done.stderr


@pytest.mark.requirement("ES-SELECT-002")
def test_reports_of_the_original_program(program: Program, make_skill: MakeSkill) -> None:
    """Documents that eval-skills wrote are read with the numbers that they were published with."""
    make_skill("calculator")
    make_skill("newcomer")
    done = program("select", "--from", "skills", "--reports", ORIGINAL / "diff-baseline.json", "--json")
    assert chosen(done) == ["calculator"]
    figures = done.document["selected"][0]["report"]
    assert (figures["completion_rate"], figures["composite_score"], figures["latency_p95_ms"]) == (0.8, 0.8972, 300)
    assert done.document["without_report"] == ["newcomer"]
    assert "no report of newcomer (there are reports of removed_skill)" in done.stderr


@pytest.mark.requirement("ES-SELECT-003")
def test_the_newest_report_of_a_skill_wins(program: Program, work: Path, three: Path) -> None:
    """By time, not by the order of the arguments or in a file; the copy of the newest document does no harm."""
    old, new = work / "reports/eval-result-2.json", work / "reports/eval-result-1.json"
    write(old, report("a", at="2026-01-01T00:00:00Z", completionRate=0.1))
    write(new, report("a", at="2026-05-01T00:00:00Z", completionRate=0.9), report("c", at="2026-01-01T00:00:00Z"))
    files = [str(path.relative_to(work)) for path in (old, new, three)]
    for order in (files, files[::-1]):
        done = program("select", "--from", "skills", "--reports", *order, "--json")
        rates = {one["skill"]["id"]: one["report"]["completion_rate"] for one in done.document["selected"]}
        assert rates == {"a": 0.9, "b": 1.0, "c": 0.4}
        assert done.document["notices"] == []
    merged = write(
        work / "merged.json",
        report("a", at="2026-05-01T00:00:00Z", completionRate=0.9),
        report("a", at="2026-01-01T00:00:00Z", completionRate=0.1),
    )
    done = program("select", "--from", "skills/a", "--reports", merged, "--json")
    assert done.document["selected"][0]["report"]["completion_rate"] == 0.9
    assert done.document["notices"] == [f"a has 2 reports in {merged}; the newest, on b, counts"]


@pytest.mark.slow
@pytest.mark.requirement("ES-SELECT-003")
def test_the_documented_glob_of_real_runs(program: Program, work: Path, make_skill: MakeSkill) -> None:
    """Evaluate twice, the second time with a skill that got worse, and select with everything that lies there."""
    make_skill("one")
    make_skill("two")
    task = {"id": "t", "inputData": {"expression": "1+1"}, "expectedOutput": {"value": "2"}}
    (work / "tasks.json").write_text(json.dumps([task]))
    assert program("eval", "skills", "--tasks", "tasks.json", "--format", "json", "record").code == 0
    (work / "skills/one/skill.py").write_text('print(\'{"jsonrpc": "2.0", "id": 1, "result": "?"}\')\n')
    assert program("eval", "skills/one", "--tasks", "tasks.json", "--format", "json").code == 0
    files = sorted(str(path) for path in (work / "reports").glob("*.json"))
    assert len(files) == 4
    done = program(
        "select", "--from", "skills", "--reports", *files, "--min-completion", "0.8", "--top-k", "2", "--json"
    )
    assert chosen(done) == ["two"]
    (rejected,) = done.document["rejected"]
    assert (rejected["skill"]["id"], rejected["reasons"]) == ("one", ["completion rate 0% is below 80%"])


@pytest.mark.slow
@pytest.mark.requirement("ES-SELECT-004", "ES-SELECT-005", "ES-SELECT-006", "ES-SELECT-010")
def test_strategy_and_command_line(program: Program, work: Path, three: Path) -> None:
    """A strategy file rules, without filters too; an option replaces its value only if it is given."""
    base = ["select", "--from", "skills", "--reports", three, "--json"]
    assert chosen(program(*base)) == ["a", "b", "c"]
    (work / "s.yaml").write_text("sortBy: latency\n")
    assert chosen(program(*base, "--strategy", "s.yaml")) == ["c", "a", "b"]
    (work / "s.yaml").write_text("filters:\n  minCompletionRate: 0.8\n  maxErrorRate: 0.1\nsortBy: latency\ntopK: 1\n")
    assert chosen(program(*base, "--strategy", "s.yaml")) == ["a"]
    assert chosen(program(*base, "--strategy", "s.yaml", "--top-k", "5")) == ["a", "b"]
    assert chosen(program(*base, "--strategy", "s.yaml", "--top-k", "0", "--min-completion", "0")) == ["a", "b"]
    (work / "s.json").write_text('{"filters": {"minCompletionRate": 0.8, "requiredTags": ["production-ready"]}}')
    assert chosen(program(*base, "--strategy", "s.json")) == ["b"]
    assert chosen(program(*base, "--min-completion", "0.4")) == ["a", "b", "c"]
    assert chosen(program(*base, "--min-completion", "0.41")) == ["a", "b"]


def test_a_wrong_strategy_is_told_with_its_place(program: Program, work: Path, three: Path) -> None:
    """Exit 2, file, line and column, the near match, and nothing written."""
    (work / "s.yaml").write_text("filters:\n  minCompletion: 0.8\nsortBy: compositScore\n")
    done = program("select", "--from", "skills", "--reports", three, "--strategy", "s.yaml", "--output", "out.json")
    assert done.code == 2
    assert (
        "s.yaml:2:3: error[suite.unknown-key]: unknown key 'minCompletion' (did you mean minCompletionRate"
        in done.stderr
    )
    assert "s.yaml:3:1: error[suite.value]" in done.stderr
    assert not (work / "out.json").exists()
    for wrong in (["--top-k", "-1"], ["--top-k", "few"], ["--min-completion", "2"], ["--min-completion", "nan"]):
        assert program("select", "--from", "skills", "--reports", three, *wrong).code == 2


@pytest.mark.requirement("ES-SELECT-009", "ES-SELECT-011")
def test_token_cost(program: Program, work: Path, three: Path) -> None:
    """Cheapest first, by what the calls really used; a skill that does not tell is unknown and last."""
    reports = write(
        work / "cost.json",
        report("a"),
        with_usage(report("b"), promptTokens=80, completionTokens=20, totalTokens=100),
        with_usage(report("c"), totalTokens=90),
    )
    (work / "s.yaml").write_text("sortBy: tokenCost\n")
    base = ["select", "--from", "skills", "--reports", reports, "--strategy", "s.yaml"]
    assert chosen(program(*base, "--json")) == ["c", "b", "a"]
    rows = [line.split() for line in program(*base).stdout.splitlines()[1:]]
    assert rows[0][-3:] == ["tokens", "per", "call"]
    assert [(row[1], row[-1]) for row in rows[1:]] == [("c", "90"), ("b", "100"), ("a", "–")]


def test_nothing_selected_is_no_error(program: Program, work: Path, three: Path) -> None:
    """Exit 0, an empty array, no table, and each skill with its reason."""
    base = ["select", "--from", "skills", "--reports", three, "--strategy", "s.json", "--output", "out.json"]
    (work / "s.json").write_text('{"filters": {"maxLatencyP95Ms": 10}}')
    done = program(*base)
    assert done.code == 0
    assert json.loads((work / "out.json").read_text()) == []
    assert "Rank" not in done.stdout
    assert done.stderr.count("not selected: ") == 3
    assert "p95 latency 900 ms is above 10 ms" in done.stderr
    assert done.verdict == "none of 3 skills selected"


def test_different_benchmarks_are_told(program: Program, work: Path, three: Path) -> None:
    """Ranks of skills that solved different tasks mean little, and the user learns it."""
    reports = write(work / "mixed.json", report("a", benchmark="easy"), report("b", benchmark="hard"))
    done = program("select", "--from", "skills", "--reports", reports)
    assert "measured on different benchmarks (easy: a; hard: b)" in done.stderr


def test_a_bad_candidate_is_told_and_passed_over(program: Program, work: Path, three: Path) -> None:
    """An unreadable skill hides no other; as with every search, the exit code says that something is wrong."""
    shutil.copytree(work / "skills/a", work / "skills/bad")
    (work / "skills/bad/skill.json").write_text("{")
    done = program("select", "--from", "skills", "--reports", three, "--top-k", "1", "--json")
    assert done.code == 2
    assert [one["skill"]["id"] for one in done.document["selected"]] == ["a"]
    assert done.document["problems"][0]["file"].endswith("bad/skill.json")
    assert "bad/skill.json:1:2: error[" in done.stderr

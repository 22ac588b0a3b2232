"""`report` as a user runs it, on the original's own reports, in an empty folder."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from skillgauge_run_comparisons.document import DiffDocument
from skillgauge_run_views.looking import CasesDocument
from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e


@pytest.fixture
def baseline(data: Path) -> Path:
    """Sixteen of twenty passed, and a second skill."""
    return data / "diff-baseline.json"


@pytest.fixture
def latest(data: Path) -> Path:
    """Twenty of twenty passed."""
    return data / "calculator-coding-easy.json"


@pytest.mark.requirement("ES-DEFECT-06")
@pytest.mark.requirement("ES-REPORT-001")
@pytest.mark.parametrize(("name", "mark"), [("markdown", "# "), ("html", "<!doctype html>"), ("csv", "skillId,")])
def test_convert(program: Program, work: Path, latest: Path, name: str, mark: str) -> None:
    """A report of the original becomes any installed report, in a file or on stdout."""
    done = program("report", "convert", "--input", latest, "--format", name, "--output", "reports/out")
    assert done.code == 0, done.stderr
    assert done.stdout == f"{name} report: reports/out\n"
    written = (work / "reports" / "out").read_text()
    assert written.startswith(mark)
    printed = program("report", "convert", "--input", latest, "--format", name)
    assert (printed.code, printed.stdout) == (0, written)


@pytest.mark.requirement("ES-REPORT-001")
def test_convert_without_a_format_gives_markdown(program: Program, latest: Path) -> None:
    """Markdown is the default, as documented."""
    assert program("report", "convert", "--input", latest).stdout.startswith("# ")


def test_convert_there_and_back(program: Program, work: Path, latest: Path) -> None:
    """A report becomes a record, and the record the document of the format itself, with all that the original said."""
    assert (
        program("report", "convert", "--input", latest, "--format", "record", "--output", "run.record.json").code == 0
    )
    assert (
        program("report", "convert", "--input", "run.record.json", "--format", "json", "--output", "back.json").code
        == 0
    )
    (there,), (back,) = (json.loads(path.read_text()) for path in (latest, work / "back.json"))
    assert back["summary"] == there["summary"]
    assert back["latency"] == there["latency"]
    assert [one["taskId"] for one in back["taskResults"]] == [one["taskId"] for one in there["taskResults"]]
    done = program("report", "diff", latest, "back.json", "--fail-on-regression")
    assert (done.code, done.verdict) == (0, "no regression: 1 skill compared on 20 cases")


def test_convert_says_everything_that_is_wrong_at_once(program: Program, work: Path) -> None:
    """An unknown format with its near match, and the missing file."""
    done = program("report", "convert", "--input", "absent.json", "--format", "markdwon", "--output", "out.md")
    assert done.code == 2
    assert "reporter 'markdwon' is not installed (did you mean markdown?)" in done.stderr
    assert "'absent.json' does not exist" in done.stderr
    assert list(work.iterdir()) == []


def test_convert_to_a_bad_place(program: Program, work: Path, latest: Path) -> None:
    """A place that cannot be written is a usage error."""
    (work / "file").write_text("x")
    done = program("report", "convert", "--input", latest, "--output", "file/out.md")
    assert done.code == 2
    assert "cannot write" in done.stderr


@pytest.mark.parametrize("output", [[], ["--output", "out.md"]])
def test_convert_as_json(program: Program, latest: Path, output: list[str]) -> None:
    """One document, with the report in it or with its place."""
    document = program("report", "convert", "--input", latest, "--json", *output).document
    assert document["files"] == output[1:]
    assert bool(document["content"]) != bool(output)


def test_show(program: Program, baseline: Path) -> None:
    """Rates with n, what failed and why, and the verdict last."""
    done = program("report", "show", baseline)
    assert done.code == 0
    assert "calculator — pass rate 80.0%\n  (n = 20 cases" in done.stdout
    assert re.search(r"calculator +coding_001 +1 +fail +baseline failure", done.stdout)
    assert done.verdict == "32 of 40 passed"
    document = program("report", "show", baseline, "--json").document
    assert len(document["results"]) == 40
    assert document["summary"]["counts"]["passed"] == 32


@pytest.mark.slow
def test_show_what_happened_in_a_case(program: Program, work: Path, baseline: Path) -> None:
    """With a case every trial of it is printed in full, and `--json` gives the same as one document."""
    document = program("report", "show", baseline, "--json").document
    failed = [one for one in document["results"] if one["case_id"] == "coding_004"]
    done = program("report", "show", baseline, "--case", "coding_004")
    assert (done.code, done.stderr) == (0, "0 of 2 passed\n")
    assert done.stdout.startswith("Case coding_004 of ")
    assert "run 1: FAIL" in done.stdout
    shown = program("report", "show", baseline, "--case", "coding_*4", "--json").document
    CasesDocument.model_validate(shown)
    assert shown["cases"][0]["trials"] == failed
    assert len(shown["cases"]) == 2
    assert "ShownCase" in program("schema", "report-show-case").stdout
    unknown = program("report", "show", baseline, "--case", "no-such")
    assert unknown.code == 2
    assert "error[report.no-such-case]: the run has no case 'no-such'" in unknown.stderr
    assert program("report", "show", baseline, "--arm", "with_skill").code == 2


def test_a_dash_is_stdout(program: Program, work: Path, baseline: Path, latest: Path) -> None:
    """The word of other programs for stdout makes no file of that name."""
    assert program("report", "diff", baseline, latest, "--output", "-").stdout.startswith("## Delta Report")
    converted = program("report", "convert", "--input", latest, "--format", "csv", "--output", "-")
    assert converted.stdout == program("report", "convert", "--input", latest, "--format", "csv").stdout
    assert not (work / "-").exists()


@pytest.mark.requirement("ES-REPORT-002", "ES-REPORT-003")
def test_diff_as_documented(program: Program, work: Path, baseline: Path, latest: Path) -> None:
    """Labels, a table per skill with four deltas and arrows that say what is better, flips, and a removed skill."""
    labels = ["--label-a", "v1.0", "--label-b", "v2.0"]
    done = program("report", "diff", baseline, latest, *labels, "--output", "reports/diff.md")
    assert done.code == 0, done.stderr
    assert done.stdout == "comparison: reports/diff.md\n"
    lines = (work / "reports" / "diff.md").read_text().splitlines()
    assert lines[0] == "## Delta Report: v1.0 → v2.0"
    start = lines.index("### calculator")
    table = [line for line in lines[start:] if line.startswith("| ")]
    assert table[:6] == [
        "| Metric | v1.0 | v2.0 | Δ |",
        "| --- | --- | --- | --- |",
        "| Completion rate | 80.0% | 100.0% | **+20.0 points** ↑ better |",
        "| Error rate | 0.0% | 0.0% | **0.0 points** |",
        "| P95 latency | 300 ms | 421 ms | **+121 ms** ↑ worse |",
        "| Composite score | 0.897 | 0.997 | **+0.100** ↑ better |",
    ]
    assert "| coding\\_001 | fail | pass | fixed | baseline failure |" in table
    assert "### removed\\_skill (removed in v2.0)" in lines
    assert done.verdict == "no regression: 1 skill compared on 20 cases, 4 fixed, 1 removed, not judged"


@pytest.mark.requirement("ES-FLOW-005")
def test_the_regression_workflow(program: Program, work: Path, baseline: Path, latest: Path) -> None:
    """The diff of a saved baseline and the latest report goes to a file; what got worse fails the job and is named."""
    gate = ["--fail-on-regression", "--output", "./reports/diff.md"]
    assert program("report", "diff", baseline, latest, *gate).code == 0
    done = program("report", "diff", latest, baseline, *gate)
    assert done.code == 1
    assert (
        done.verdict
        == "regressed: calculator: cases coding_001, coding_002, coding_003 and 1 more passed before and fail now"
    )
    assert "--runs 3 or more" in done.stderr
    assert "| coding\\_001 | pass | fail | broke | baseline failure |" in (work / "reports" / "diff.md").read_text()
    told = program("report", "diff", latest, baseline)
    assert told.code == 0
    assert told.verdict == done.verdict
    assert "add --fail-on-regression to make this fail the command" in told.stderr


@pytest.mark.slow
@pytest.mark.requirement("SE-ARM-003")
def test_two_runs_of_our_own(program: Program, work: Path, evaluate: Callable[..., None]) -> None:
    """Two evaluations of the same cases, before and after a change of the skill, and their records are compared."""
    for name, answer in (("old", SAYS), ("new", "'one'")):
        evaluate(answer, "--store", "none", "--format", "record", "--output-dir", name)
    (before,), (after,) = ((work / name).glob("*.record.json") for name in ("old", "new"))
    done = program("report", "diff", before, after, "--fail-on-regression")
    assert (done.code, done.verdict) == (1, "regressed: echo: case two passed before and fails now")


ECHO = "import json,sys; r=json.load(sys.stdin); print(json.dumps({'jsonrpc':'2.0','id':r['id'],'result':%s}))"


@pytest.fixture
def evaluate(program: Program, work: Path) -> Callable[..., None]:
    """Evaluate a skill that answers with a Python expression on two tasks."""

    def call(answer: str, *options: str, expected: str = "two") -> None:
        skill = {"id": "echo", "name": "Echo", "version": "1.0.0", "description": "", "entrypoint": "python3 skill.py"}
        (work / "skill.json").write_text(json.dumps(skill | {"adapterType": "subprocess"}))
        (work / "skill.py").write_text(ECHO % answer)
        tasks = [
            {
                "id": name,
                "description": "",
                "inputData": {"say": name},
                "expectedOutput": {"type": "exact", "value": say},
            }
            for name, say in (("one", "one"), ("two", expected))
        ]
        (work / "tasks.json").write_text(json.dumps(tasks))
        done = program("eval", "--skills", "skill.json", "--tasks", "tasks.json", *options)
        assert done.code == 0, done.stderr

    return call


SAYS = "r['params']['say']"


@pytest.mark.slow
def test_runs_of_the_store_are_compared_by_their_ids(
    program: Program, work: Path, evaluate: Callable[..., None]
) -> None:
    """`latest`, `latest~1` and ids stand for runs; a file beside them, too; what is neither is refused by name."""
    evaluate(SAYS)
    evaluate("'one'")
    done = program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert (done.code, done.verdict) == (1, "regressed: echo: case two passed before and fails now")
    newest, oldest = (one["run"]["run_id"] for one in program("history", "list", "--json").document["runs"])
    assert program("report", "diff", newest, oldest, "--fail-on-regression").code == 0
    assert program("report", "convert", "--input", "latest", "--format", "record", "--output", "new.json").code == 0
    assert program("report", "diff", oldest, "new.json", "--fail-on-regression").code == 1
    assert newest in program("report", "show", "latest").stdout
    evaluate(SAYS, "--store", "other.db")
    assert newest not in program("report", "show", "latest", "--store", "other.db").stdout
    lost = program("report", "diff", "latest", "latest~7")
    assert (lost.code, "there is no run latest~7: the store has 2" in lost.stderr) == (2, True)
    nowhere = program("report", "show", "latest", "--store", "none.db")
    assert (nowhere.code, "'latest' is no file, and no runs are stored in" in nowhere.stderr) == (2, True)
    assert not (work / "none.db").exists()


@pytest.mark.slow
def test_a_task_that_was_changed_is_no_regression(program: Program, work: Path, evaluate: Callable[..., None]) -> None:
    """Same id, another expectation: it is named and left out, in records and in documents (N-A11)."""
    evaluate(SAYS, "--output-dir", "old", "--format", "json", "record")
    evaluate(SAYS, "--output-dir", "new", "--format", "json", "record", expected="three")
    for name in ("eval-result.json", "*.record.json"):
        before, after = (next((work / folder).glob(name)) for folder in ("old", "new"))
        done = program("report", "diff", before, after, "--fail-on-regression")
        assert (done.code, done.verdict) == (0, "no regression: 1 skill compared on 1 case")
        assert "not compared, because they ask or check something else now: two" in done.stderr


@pytest.mark.slow
def test_a_stopped_run_is_refused_in_every_form(program: Program, work: Path, evaluate: Callable[..., None]) -> None:
    """Its own document keeps that it stopped, so the gate does not pass by it (N-A4)."""
    evaluate(SAYS)
    with closing(sqlite3.connect(work / "skillgauge.db")) as db, db:
        db.execute("UPDATE runs SET state = 'stopped'")
    for name in ("json", "record"):
        assert program("report", "convert", "--input", "latest", "--format", name, "--output", f"{name}.json").code == 0
        assert program("report", "show", f"{name}.json").verdict == "stopped: 2 of 2 passed"
        done = program("report", "diff", "latest", f"{name}.json", "--fail-on-regression")
        assert done.code == 3
        assert "the run of After is stopped" in done.verdict


def test_nothing_in_common_does_not_pass_the_gate(program: Program, data: Path, latest: Path) -> None:
    """Reports of different suites are told apart, and the gate is neither met nor missed."""
    done = program("report", "diff", latest, data / "h1-unicode.json", "--fail-on-regression")
    assert done.code == 3
    assert "the reports are of different suites (Before: coding-easy; After: h1)" in done.stderr
    assert done.verdict == "invalid: the reports have no case of a skill in common (nothing was compared)"


def test_diff_as_json_and_as_a_page(program: Program, work: Path, baseline: Path, latest: Path) -> None:
    """`--json` and `--format json` are the same document, of the documented shape; a page can be written beside it."""
    done = program("report", "diff", baseline, latest, "--json", "--format", "html", "--output", "diff.html")
    document = DiffDocument.model_validate(done.document)
    assert [skill.skill for skill in document.skills] == ["calculator", "removed_skill"]
    assert (work / "diff.html").read_text().startswith("<!doctype html>")
    assert json.loads(program("report", "diff", baseline, latest, "--format", "json").stdout) == done.document


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "no installed reporter knows this document"),
        ('[{"skillId": "x", "benchmarkId": "y"}]', "summary"),
        ('[{"skillId": "x", "benchmarkId": ', "bad.json:1"),
    ],
)
def test_bad_reports(program: Program, work: Path, latest: Path, content: str, said: str) -> None:
    """Both files are examined, and each is told by name with what is wrong."""
    (work / "bad.json").write_text(content)
    done = program("report", "diff", "absent.json", "bad.json")
    assert done.code == 2
    assert "'absent.json' does not exist" in done.stderr
    assert "bad.json" in done.stderr
    assert said in done.stderr
    problems = program("report", "diff", latest, "bad.json", "--json").document["problems"]
    assert problems
    assert all("bad.json" in problem["file"] for problem in problems)


@pytest.mark.parametrize("arguments", [["--max-drop", "1.5"], ["--max-drop", "nan"], ["--format", "pdf"]])
def test_bad_options(program: Program, latest: Path, arguments: list[str]) -> None:
    """A margin that is none and a format that is none are refused."""
    assert program("report", "diff", latest, latest, *arguments).code == 2


def test_hostile_ids_stay_on_their_line(program: Program, work: Path, latest: Path) -> None:
    """Escape sequences and line breaks in ids reach neither the terminal nor the Markdown."""
    report = json.loads(latest.read_text())
    nasty = "\x1b[2J\n| x |\u202e<script>"
    report[0]["skillId"] = nasty
    for result in report[0]["taskResults"]:
        result["taskId"] += nasty
        result["skillId"] = nasty
    (work / "a.json").write_text(json.dumps(report))
    report[0]["taskResults"][0]["status"] = "fail"
    (work / "b.json").write_text(json.dumps(report))
    for command in (["diff", "a.json", "b.json"], ["show", "b.json"], ["convert", "--input", "b.json"]):
        done = program("report", *command)
        assert done.code == 0, done.stderr
        assert not set(done.stdout + done.stderr) & set("\x1b\u202e"), command
        assert "\n| x |" not in done.stdout


def test_help_names_all(program: Program) -> None:
    """The three commands with their summaries."""
    done = program("report", "--help")
    assert done.code == 0
    for line in (
        "convert  Write a report in another format.",
        "diff     Compare two reports.",
        "show     Show a run, or what happened in a case of it.",
    ):
        assert line in done.stdout
    for command in ("convert", "diff", "show"):
        assert program("report", command, "--help").code == 0


def test_a_threshold_for_a_report_without_gates(program: Program, latest: Path) -> None:
    """It is refused with the name of the reporter, and nothing is written."""
    done = program("report", "convert", "--input", latest, "--format", "markdown", "--gate-threshold", "0.5")
    assert done.code == 2, done.stdout
    assert "threshold" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_what_the_terminal_says_of_a_run_stands_in_its_comparison(program: Program, work: Path) -> None:
    """That nobody calibrated its judge, in each form and after it; a file is looked for where the command runs."""
    skill = work / "greeter"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: greeter\ndescription: Greets. Use it to greet.\n---\n\nGreet.\n")
    checks = "    expectations:\n      - It greets.\n"
    (skill / "eval.yaml").write_text(f"cases:\n  - name: greets\n    prompt: Say hello.\n{checks}")
    for _ in range(2):
        assert program("eval", "greeter", "--engine", "mock", "--judge", "mock", "--no-cache").code in (0, 1)
    remark = "Before and After: the judge of this run is not calibrated"
    for form in ("markdown", "html", "json"):
        done = program("report", "diff", "latest~1", "latest", "--format", form)
        assert remark in done.stdout
        assert remark in done.stderr
    (warning,) = program("report", "diff", "latest~1", "latest", "--json").document["warnings"]
    assert warning.startswith(remark)

"""JUnit XML, and the contract of reporters."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from junitparser import JUnitXml

from skillgauge.api import CaseHead, Comparison, Execution, Failure, FailureClass, Origin, Score, TrialResult, Verdict
from skillgauge.api.report import Figure
from skillgauge_reporter_junit.reporter import JunitReporter
from skillgauge_testkit import (
    REPORTERS,
    Maker,
    check_light_import,
    check_plugin,
    check_reporter,
    run_view,
    trial_result,
)

MODULE = "skillgauge_reporter_junit.plugin"
SCHEMA = Path(__file__).parent / "data/junit.xsd"
HOSTILE = 'a "b" <c> & ]]> \x00\x1b[31m\uffff \u2028 ü'


def written(results: Sequence[TrialResult], *comparisons: Comparison, cases: Sequence[CaseHead] = ()) -> bytes:
    """The report of a run with these results."""
    made = run_view(results, *comparisons, cases=cases)
    (artifact,) = JunitReporter().render(made)
    return b"".join(artifact.chunks)


def document(results: Sequence[TrialResult], *comparisons: Comparison) -> ElementTree.Element:
    """The same, read."""
    return ElementTree.fromstring(written(results, *comparisons))


def run_of_every_sort(folder: Path) -> bytes:
    """A report of a run of two skills by two engines, with cases of every sort and hostile texts, in a repository."""
    (folder / ".git").mkdir()
    file = folder / "skills/greet/evals.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"evals": [{"id": 1}, {"id": 2}]}, indent=1))
    scores = (Score.failed(HOSTILE).model_copy(update={"scorer": "contains", "check_id": "k"}),)
    broken = Execution(failure=Failure.of_agent(FailureClass.SANDBOX, "no sandbox"), duration_s=1.0)
    results = [
        one
        for runner in ("claude-code", "codex")
        for one in (
            trial_result("good", Verdict.PASS, runner=runner),
            trial_result("flaky", Verdict.PASS, index=1, runner=runner),
            trial_result("flaky", Verdict.FAIL, index=1, repeat=2, scores=scores, runner=runner),
            trial_result(HOSTILE, Verdict.FAIL, index=2, scores=scores, runner=runner),
            trial_result("broken", Verdict.ERROR, index=3, execution=broken, runner=runner),
            trial_result(
                "left", Verdict.SKIPPED, index=4, execution=Execution(notes=("needs a model",)), runner=runner
            ),
        )
    ]
    results.append(trial_result("good", Verdict.PASS, index=5, target_id="skill:other"))
    cases = [
        CaseHead(suite_id="pack", index=place, id=name, origin=Origin(str(file), ("evals", place)))
        for place, name in enumerate(("good", "flaky"))
    ]
    return written(results, cases=cases)


def test_reporter() -> None:
    """Runs of every sort become well-formed XML, the same every time."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_verdicts_are_kept_apart() -> None:
    """A failure, an error and a skipped case are three things, each with its reason and in the counts."""
    failed = Score.failed("Exit code 3, expected 0").model_copy(update={"scorer": "exit_code", "check_id": "exit_code"})
    broken = Failure.of_agent(FailureClass.SANDBOX, "no sandbox <here>")
    root = document(
        [
            trial_result("good", Verdict.PASS),
            trial_result("bad", Verdict.FAIL, index=1, scores=(failed,)),
            trial_result("broken", Verdict.ERROR, index=2, execution=Execution(failure=broken)),
            trial_result("left", Verdict.SKIPPED, index=3, execution=Execution(notes=("needs a model",))),
        ]
    )
    suite = root.find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "0.500",
    }
    inner = {case.get("name"): [(one.tag, one.get("message")) for one in case] for case in suite.iter("testcase")}
    assert inner == {
        "good": [],
        "bad": [("failure", "Exit code 3, expected 0")],
        "broken": [("error", "sandbox: no sandbox <here>")],
        "left": [("skipped", "needs a model")],
    }


@pytest.mark.parametrize(
    ("letters", "sort", "message", "property_"),
    [
        ("pfp", None, None, ("flaky", "passed 2 of 3")),
        ("pff", "flaky", "passed 1 of 3: k: wrong", ("flaky", "passed 1 of 3")),
        ("pf", "flaky", "passed 1 of 2: k: wrong", ("flaky", "passed 1 of 2")),
        ("ppe", None, None, ("errors", "passed 2 of 2, 1 error")),
        ("fe", "failure", "passed 0 of 1, 1 error: k: wrong", None),
    ],
)
def test_repeats_are_one_case_and_unsteady_ones_are_marked(
    letters: str, sort: str | None, message: str | None, property_: tuple[str, str] | None
) -> None:
    """More than half of the graded repeats decide; what others gave is a property."""
    verdicts = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}
    wrong = (Score.failed("wrong").model_copy(update={"scorer": "contains", "check_id": "k"}),)
    root = document(
        [
            trial_result("c", verdicts[letter], repeat=n, scores=wrong if letter == "f" else ())
            for n, letter in enumerate(letters, 1)
        ]
    )
    (case,) = root.iter("testcase")
    failure = case.find("failure")
    assert (failure is not None) is (sort is not None)
    if failure is not None:
        assert (failure.get("type"), failure.get("message")) == (sort, message)
    marks = [(one.get("name"), one.get("value")) for one in case.iter("property")]
    assert marks == ([property_] if property_ else [])


def test_what_must_be_known_beside_a_rate_is_told() -> None:
    """R3-T5: notes of figures are properties of their group, one for each."""
    view = run_view([trial_result("c", Verdict.PASS)])
    notes = ("1 check decided by a judge that is not calibrated", 'the output of "c" speaks to the judge')
    figures = tuple(Figure(name=f"f{at}", label="F", value=1.0, note=note) for at, note in enumerate(notes))
    (group,) = view.summary.groups
    summary = view.summary.model_copy(update={"groups": (group.model_copy(update={"figures": figures}),)})
    (artifact,) = JunitReporter().render(replace(view, summary=summary))
    content = b"".join(artifact.chunks)
    properties = ElementTree.fromstring(content).iterfind("testsuite/properties/property[@name='note']")
    assert set(notes) <= {one.get("value") for one in properties}
    xmlschema.XMLSchema(SCHEMA).validate(content.decode())


def test_baselines_are_left_out() -> None:
    """That an agent fails without the skill is no failure of anything."""
    results = [trial_result("c", Verdict.PASS, arm="with"), trial_result("c", Verdict.FAIL, arm="without")]
    root = document(results, Comparison(candidate="with", baseline="without"))
    assert [suite.get("failures") for suite in root.iter("testsuite")] == ["0"]


def test_cases_stand_where_their_file_has_them(tmp_path: Path) -> None:
    """File and line, seen from the root of the repository; a case of which no place is known has neither."""
    root = ElementTree.fromstring(run_of_every_sort(tmp_path))
    lines = (tmp_path / "skills/greet/evals.json").read_text().splitlines()
    places = {case.get("name"): (case.get("file"), case.get("line")) for case in root.iter("testcase")}
    assert places["good"] == (None, None)  # the last one of that name: of the other skill
    assert places["flaky"] == ("skills/greet/evals.json", str(lines.index('   "id": 2')))  # its brace, a line before
    assert places["left"] == (None, None)


def test_places_are_found_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cases there are: each has its own place, those of suites before and after are passed over."""
    monkeypatch.setattr("skillgauge_run_views.tested._BATCH", 2)
    monkeypatch.chdir(tmp_path)
    Path("cases.json").write_text(json.dumps(list(range(7)), indent=0))
    results = [trial_result(f"c{index}", Verdict.PASS, index=index) for index in range(7)]
    cases = [
        CaseHead(suite_id=suite, index=index, id=f"c{index}", origin=Origin("cases.json", (index,)))
        for suite in ("earlier", "pack", "quite")
        for index in range(7)
        if (suite, index) != ("pack", 3)
    ]
    root = ElementTree.fromstring(written(results, cases=cases))
    assert [case.get("line") for case in root.iter("testcase")] == ["2", "3", "4", None, "6", "7", "8"]


def test_schema(tmp_path: Path) -> None:
    """Nothing is in a report that strict readers refuse, and no two cases are called the same."""
    xmlschema.XMLSchema(SCHEMA).validate(run_of_every_sort(tmp_path).decode())


def test_junitparser_reads_it(tmp_path: Path) -> None:
    """A library that many tools read reports with finds suites, cases and what became of them."""
    report = JUnitXml.fromstring(run_of_every_sort(tmp_path))
    suites = {suite.name: suite for suite in report}
    names = ["skill:greet · claude-code", "skill:greet · codex", "skill:other · command"]
    assert list(suites) == names
    (first, *_) = suites.values()
    assert (first.tests, first.failures, first.errors, first.skipped) == (5, 2, 1, 1)
    assert {case.name: [type(one).__name__ for one in case.result] for case in first} == {
        "good": [],
        "flaky": ["Failure"],
        HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\uffff", "\ufffd"): ["Failure"],
        "broken": ["Error"],
        "left": ["Skipped"],
    }
    counted = (report.tests, report.failures, report.errors, report.skipped)
    report.update_statistics()
    assert (report.tests, report.failures, report.errors, report.skipped) == counted == (11, 4, 2, 2)


def test_junit2html_reads_it(tmp_path: Path) -> None:
    """A program that makes a page of reports shows every case, and counts what failed."""
    (tmp_path / "report.xml").write_bytes(run_of_every_sort(tmp_path))
    command = [sys.executable, "-m", "junit2htmlreport", "report.xml"]
    matrix = subprocess.run(
        [*command, "--summary-matrix", "--max-failures", "1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert matrix.returncode == 6, matrix.stderr  # two failures and an error of each of two engines
    subprocess.run([*command, "report.html"], cwd=tmp_path, check=True)
    page = (tmp_path / "report.html").read_text()
    assert "<c>" not in page
    assert all(name in page for name in ("flaky", "broken", "left", "no sandbox", "needs a model", "ü"))


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)

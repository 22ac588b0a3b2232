"""A run on the terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

import pytest

from skillgauge.api import Kept, UsageError
from skillgauge.api.report import RunView, catalogue, sentences
from skillgauge.api.run import Output, human_lines
from skillgauge_run_views.showing import RunDocument, run_document, run_verdict, show_run
from skillgauge_testkit import contract_views

VIEWS = dict(contract_views())
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def shown(view: RunView, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for people."""
    show_run(view, Output(as_json=False, quiet=False))
    return capsys.readouterr().out


@each_view
def test_no_run_can_change_what_the_terminal_shows(
    view: RunView, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hostile ids and texts add no line and no control character."""
    monkeypatch.delenv("COLUMNS", raising=False)  # in a narrow terminal rows are written in lines
    out = shown(view, capsys)
    assert out.startswith("Run ")
    assert not {one for one in out if one < " " or "\x7f" <= one <= "\x9f"} - {"\n"}
    listed = sum(result.verdict != "pass" for result in view.results())
    rows = min(listed, 50) + 2 * bool(listed) + (listed > 50)
    invalid = sum(not one.valid for one in view.summary.validity)
    told = len(list(human_lines(view))) + (0 if catalogue(view) else len(list(sentences(view))))
    suites = len(view.head.suites) if len(view.head.suites) <= 8 else 1
    assert len(out.splitlines()) == 2 + suites + invalid + told + rows


@each_view
def test_the_document_has_its_documented_shape(view: RunView) -> None:
    """It can be written as JSON, read back, and holds the whole run."""
    document = RunDocument.model_validate_json(json.dumps(run_document(view)))
    assert document == RunDocument(run=view.run, plan=view.head, summary=view.summary, results=tuple(view.results()))


def test_what_did_not_pass_is_listed_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """Case, run, verdict and reason of each; the target too, where there are several."""
    view = VIEWS["a run with 1,000 results"]
    out = shown(view, capsys)
    assert "skill   case-2   1    fail     sum: expected 4, got 5" in out
    assert "\nTarget  Case" in out
    only = [result for result in view.results() if result.target_id == "skill"]
    summary = view.summary.model_copy(update={"groups": view.summary.groups[:1]})
    out = shown(replace(view, summary=summary, source=Kept(lambda: only)), capsys)
    assert "\ncase-2   1    fail     sum: expected 4, got 5" in out


def test_whatever_tells_trials_apart_has_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    """Arm, suite, engine and model where there are several, and cases by their names."""
    view = VIEWS["a comparison of two arms"]
    out = shown(view, capsys)
    assert "\nArm            Case    Run  Verdict  Reason\nwithout_skill  case-1  1    fail     no such file\n" in out
    groups = (*view.summary.groups, view.summary.groups[1].model_copy(update={"runner": "codex", "suite_id": "s"}))
    more = [next(view.results()), *view.results(replace(view.summary.groups[1].key))]
    more = [one.model_copy(update={"runner": "codex"}) for one in more]
    cases = [case.model_copy(update={"name": f"name {case.index}"}) for case in view.cases()]
    summary = view.summary.model_copy(update={"groups": groups})
    out = shown(replace(view, summary=summary, source=Kept(lambda: more, cases)), capsys)
    assert "\nSuite  Arm            Engine  Case    Run  Verdict  Reason\n" in out
    assert "\ndemo   without_skill  codex   name 1  1    fail     no such file\n" in out


def test_one_arm_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Only its trials are listed, for people and as JSON; an unknown one is refused with those that there are."""
    view = VIEWS["a comparison of two arms"]
    show_run(view, Output(as_json=False, quiet=False), "with_skill")
    assert "no such file" not in capsys.readouterr().out
    document = RunDocument.model_validate_json(json.dumps(run_document(view, "with_skill")))
    assert {result.arm for result in document.results} == {"with_skill"}
    with pytest.raises(UsageError, match=r"did you mean with_skill(.|\n)*Its arms are: with_skill, without_skill"):
        show_run(view, Output(as_json=False, quiet=False), "with_skil")


def test_a_long_list_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """Fifty trials are listed, the rest is counted."""
    view = VIEWS["a run with 1,000 results"]
    failed = sum(result.verdict != "pass" for result in view.results())
    assert f"and {failed - 50} more; the report `record` holds all of them" in shown(view, capsys)


def test_with_json_nothing_is_printed_for_people_or_read(capsys: pytest.CaptureFixture[str]) -> None:
    """The results are not even asked for."""
    asked = count()
    view = replace(VIEWS["a run with errors"], source=Kept(lambda: [next(asked)]))
    show_run(view, Output(as_json=True, quiet=False))
    assert capsys.readouterr().out == ""
    assert next(asked) == 0


def test_verdict() -> None:
    """Passed trials, errors, and that a run is partial."""
    assert run_verdict(VIEWS["a run with 1,000 results"]) == "670 of 1000 passed"
    assert run_verdict(VIEWS["a run with errors"]).startswith("interrupted: ")
    assert "error" in run_verdict(VIEWS["a run with errors"])

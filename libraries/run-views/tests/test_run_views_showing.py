"""A run on the terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

import pytest

from skillgauge.api import Output, RunView, human_lines
from skillgauge_run_views import RunDocument, run_document, run_verdict, show_run
from skillgauge_testkit import contract_views

VIEWS = dict(contract_views())
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def shown(view: RunView, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for people."""
    show_run(view, Output(as_json=False, quiet=False))
    return capsys.readouterr().out


@each_view
def test_no_run_can_change_what_the_terminal_shows(view: RunView, capsys: pytest.CaptureFixture[str]) -> None:
    """Hostile ids and texts add no line and no control character."""
    out = shown(view, capsys)
    assert out.startswith("Run ")
    assert not {one for one in out if one < " " or "\x7f" <= one <= "\x9f"} - {"\n"}
    listed = sum(result.verdict != "pass" for result in view.results())
    rows = min(listed, 50) + 2 * bool(listed) + (listed > 50)
    invalid = sum(not one.valid for one in view.summary.validity)
    told = len(list(human_lines(view)))
    assert len(out.splitlines()) == 2 + len(view.head.suites) + invalid + told + rows


@each_view
def test_the_document_has_its_documented_shape(view: RunView) -> None:
    """It can be written as JSON, read back, and holds the whole run."""
    document = RunDocument.model_validate_json(json.dumps(run_document(view)))
    assert document == RunDocument(run=view.run, plan=view.head, summary=view.summary, results=tuple(view.results()))


def test_what_did_not_pass_is_listed_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """Case, run, verdict and reason of each; the target too, where there are several."""
    view = VIEWS["a run with 1,000 results"]
    out = shown(view, capsys)
    assert "skill   case-2   1    fail     expected 4, got 5" in out
    assert "Target  Case" in out
    only = [result for result in view.results() if result.target_id == "skill"]
    summary = view.summary.model_copy(update={"groups": view.summary.groups[:1]})
    out = shown(replace(view, summary=summary, results=lambda: iter(only)), capsys)
    assert "\ncase-2   1    fail     expected 4, got 5" in out


def test_a_long_list_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """Fifty trials are listed, the rest is counted."""
    view = VIEWS["a run with 1,000 results"]
    failed = sum(result.verdict != "pass" for result in view.results())
    assert f"and {failed - 50} more; the report `record` holds all of them" in shown(view, capsys)


def test_with_json_nothing_is_printed_for_people_or_read(capsys: pytest.CaptureFixture[str]) -> None:
    """The results are not even asked for."""
    asked = count()
    view = replace(VIEWS["a run with errors"], results=lambda: iter([next(asked)]))
    show_run(view, Output(as_json=True, quiet=False))
    assert capsys.readouterr().out == ""
    assert next(asked) == 0


def test_verdict() -> None:
    """Passed trials, errors, and that a run is partial."""
    assert run_verdict(VIEWS["a run with 1,000 results"]) == "670 of 1000 passed"
    assert run_verdict(VIEWS["a run with errors"]).startswith("interrupted: ")
    assert "error" in run_verdict(VIEWS["a run with errors"])

"""The page of a case gives the lines that put it into quarantine, for the file that `eval` reads."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import CaseHead
from skillgauge.api.report import RunView
from skillgauge.api.run import Globals, invocation
from skillgauge_command_view.quarantining import Quarantine
from skillgauge_testkit.contract.views import HOSTILE

PAGE = "/runs/run6/cases/0-1"
DAY = (datetime.now(UTC).date() + timedelta(days=40)).isoformat()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the pages are served."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(page: str) -> str:
    """The lines that a page gives."""
    return unescape(page.partition('aria-label="Lines for the configuration">\n')[2].partition("</pre>")[0])


def quarantine() -> Quarantine:
    """The quarantine of the current folder."""
    return Quarantine(invocation(Globals(quiet=True), {}))


def head(case_id: str) -> CaseHead:
    """A case of some name."""
    return CaseHead(suite_id="suite", index=0, id=case_id)


def test_the_lines_of_a_case(serve: Any, views: list[RunView], folder: Path) -> None:
    """A form with a day and a reason, the lines for a new file, and nothing written."""
    with serve(views, quarantine=quarantine()) as served:
        before = served.get(PAGE).text
        assert '<details id="quarantine">' in before
        usual = datetime.now(UTC).date() + timedelta(days=14)
        assert abs(yaml.safe_load(lines(before))["quarantine"][0]["until"] - usual) <= timedelta(days=1)
        page = served.get(PAGE, params={"until": DAY, "reason": "the <mail> server: drops"}).text
        assert '<details id="quarantine" open>' in page
        (rule,) = yaml.safe_load(lines(page))["quarantine"]
        case = next(case for case in views[6].cases() if case.index == 1)
        assert rule == {
            "case": case.id,
            "suite": case.suite_id,
            "until": date.fromisoformat(DAY),
            "reason": "the <mail> server: drops",
        }
        assert str(folder / "skillgauge.config.yaml") in page
        assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("day", ["2020-01-01", datetime.now(UTC).date().isoformat()])
def test_a_day_that_is_over_is_refused(serve: Any, views: list[RunView], folder: Path, day: str) -> None:
    """The page says so and gives no lines."""
    with serve(views, quarantine=quarantine()) as served:
        page = served.get(PAGE, params={"until": day}).text
    assert "a quarantine ends on a later day than today" in page
    assert lines(page) == ""


@pytest.mark.parametrize(
    "content",
    [
        "runs: 2\nquarantine:\n- case: other\n  until: 2027-01-31\n",
        "quarantine: # flaky\n\n  # the mail server\n    - case: other\n      until: 2027-01-31\n",
    ],
)
def test_lines_for_a_file_that_has_such_a_list(folder: Path, content: str) -> None:
    """The entries alone, as far in as those that are there."""
    (folder / "skillgauge.config.yaml").write_text(content)
    given = quarantine().lines(head("sum"), DAY, "")
    assert given.is_addition
    read = yaml.safe_load(content + given.text)["quarantine"]
    assert [rule["case"] for rule in read] == ["other", "sum"]
    assert "reason" not in read[1]


@pytest.mark.parametrize("name", ["a [b]*", 'quote " and \\', "snow ☃ \U0001f40d", "line\nbreak", *HOSTILE])
def test_lines_for_a_project_of_python(folder: Path, name: str) -> None:
    """A folder that is configured by `pyproject.toml` gets lines of TOML that say the same, in ASCII."""
    project = folder / "pyproject.toml"
    project.write_text("[tool.skillgauge]\nruns = 2\n")
    given = quarantine().lines(head(name), DAY, name)
    assert given.text.isascii()
    assert given.file == str(project)
    (rule,) = tomllib.loads(project.read_text() + given.text)["tool"]["skillgauge"]["quarantine"]
    (folder / "skillgauge.config.yaml").touch()
    (same,) = yaml.safe_load(quarantine().lines(head(name), DAY, name).text)["quarantine"]
    assert rule == same


def test_a_variable_that_goes_before_the_file_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines in a file that is passed over would change nothing."""
    monkeypatch.setenv("SKILLGAUGE_QUARANTINE", "[]")
    assert quarantine().lines(head("sum"), DAY, "").stronger


def test_a_file_of_another_program_that_would_be_passed_over_is_named(
    serve: Any, views: list[RunView], folder: Path
) -> None:
    """The file that the lines are for does not exist, and from then on is the one that counts."""
    (folder / "eval-skills.config.yaml").write_text("concurrency: 3\n")
    with serve(views, quarantine=quarantine()) as served:
        page = served.get(PAGE).text
        assert "eval-skills.config.yaml</bdi></code> is not read any more: copy its settings, too" in page
        (folder / "skillgauge.config.yaml").write_text("concurrency: 3\n")
        assert "is not read any more" not in served.get(PAGE).text


def test_a_case_in_quarantine_says_so(serve: Any, views: list[RunView], folder: Path) -> None:
    """The page tells the day and the reason that the run was begun with, be they hostile."""
    view = views[6]
    case = next(case for case in view.cases() if case.index == 1)
    entry = {"case": case.id, "until": "2027-01-31", "reason": HOSTILE[0]}
    suites = tuple(
        type(suite).model_validate({**suite.model_dump(), "quarantined": [entry]}) for suite in view.head.suites
    )
    with serve([replace(view, head=view.head.model_copy(update={"suites": suites}))]) as served:
        page = served.get(PAGE).text
    assert "gates nothing before <bdi>2027-01-31</bdi>" in page
    assert "<script" not in page
    assert 'id="quarantine"' not in page

"""People name runs, keep notes beside them and label them, in the store of the runs, and find them by that."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import RunNotes
from skillgauge.api.report import RunView
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.sources import StoredRuns
from skillgauge_testkit.contract.views import HOSTILE

SAID = {"name": "before  the <change>", "note": "two\r\nlines & more", "labels": "team=search\r\n\r\nx/y=é "}
KEPT = RunNotes(name="before the <change>", note="two\nlines & more", labels=(("team", "search"), ("x/y", "é")))
"""The same as it is kept."""


def form(page: str) -> dict[str, str]:
    """The hidden fields of the form."""
    own = page.partition('<form class="words"')[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in re.findall('type="hidden" name="([a-z]+)" value="([^"]*)"', own)}


def post(served: Any, run: str, values: dict[str, str], **headers: str) -> Any:
    """Send a form as a browser does from a page of this server."""
    return served.client.post(f"/runs/{run}/notes", data=values, headers={"Origin": served.origin, **headers})


def writable(serve: Any, stored: StoredRuns) -> Any:
    """A server that takes words."""
    return serve([], source=stored, labels=Labels(Path("no-such-folder/labels.jsonl"), can_add=True))


def said(stored: StoredRuns, run: str) -> RunNotes | None:
    """The words in the store."""
    return next(row.notes for row in stored.rows() if row.run_id == run)


@pytest.mark.slow
def test_what_is_said_is_kept_shown_and_found(serve: Any, stored: StoredRuns) -> None:
    """From the form into the store, onto the page of the run and into the list, where a label leads to its runs."""
    with writable(serve, stored) as served:
        before = served.get("/runs/run1").text
        answer = post(served, "run1", {**form(before), **SAID})
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs/run1")
        assert said(stored, "run1") == KEPT
        assert said(stored, "run0") == said(stored, "run2") == RunNotes()
        page = served.get("/runs/run1").text
        assert "<strong><bdi>before the &lt;change&gt;</bdi></strong>" in page
        assert "<bdi>two</bdi><br><bdi>lines &amp; more</bdi>" in page
        assert 'value="before the &lt;change&gt;"' in page
        assert "team=search\nx/y=é</textarea>" in page
        post(served, "run2", {**form(served.get("/runs/run2").text), "name": "", "note": "", "labels": "team=search"})
        (link,) = set(re.findall('class="tag" href="([^"]+)"><bdi>team=search<', served.get("/runs").text))
        assert link == "/runs?label=team%3Dsearch"
        assert [f"/runs/run{n}" in served.get(link).text for n in range(3)] == [False, True, True]
        assert [f"/runs/run{n}" in served.get("/runs?q=CHANGE").text for n in range(3)] == [False, True, False]
        assert '<option value="x/y=é">' in served.get("/runs").text
        post(served, "run1", {**form(page), "name": "", "note": "", "labels": ""})
        assert said(stored, "run1") == RunNotes()
        assert re.sub("[0-9a-f]{32}", "", served.get("/runs/run1").text) == re.sub("[0-9a-f]{32}", "", before)


@pytest.mark.slow
def test_hostile_words_do_nothing(serve: Any, stored: StoredRuns) -> None:
    """Text that somebody else wrote into the store is shown as text."""
    with writable(serve, stored) as served:
        for text in HOSTILE:
            assert stored.annotate("run0", RunNotes(name=text[:200], note=text, labels=(("k", text[:200]),)))
            for path in ("/runs", "/runs/run0"):
                page = served.get(path).text
                assert "<script" not in page
                assert "<img" not in page
                assert "javascript:" not in re.findall('href="([^"]*)"', page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"key": ""}, 403, "not from a page of this server"),
        ({"key": "x" * 43}, 403, "not from a page of this server"),
        ({"seen": "0" * 32}, 400, "Somebody has changed"),
        ({"labels": "team"}, 400, "Write KEY=VALUE"),
        ({"labels": "a b=1"}, 400, "cannot be kept"),
        ({"name": "x" * 201}, 400, "cannot be kept"),
        ({"note": "x" * 10_001}, 400, "cannot be kept"),
        ({"note": "x" * 300_000}, 413, "too large"),
    ],
)
def test_other_forms_write_nothing(
    serve: Any, stored: StoredRuns, change: dict[str, str], status: int, reason: str
) -> None:
    """Forms of others, of an earlier state, and words that cannot be kept are refused with the reason."""
    with writable(serve, stored) as served:
        answer = post(served, "run1", {**form(served.get("/runs/run1").text), **SAID, **change})
        assert answer.status_code == status
        assert reason in unescape(answer.text)
        foreign = {**form(served.get("/runs/run1").text), "name": "x"}
        assert post(served, "run1", foreign, Origin="https://stranger.example").status_code == 403
        assert post(served, "run9", foreign).status_code == 404
    assert said(stored, "run1") == RunNotes()


@pytest.mark.slow
def test_read_only_takes_nothing(serve: Any, stored: StoredRuns) -> None:
    """Words are shown, without a form, and a form is refused."""
    stored.annotate("run1", KEPT)
    with writable(serve, stored) as served:
        values = form(served.get("/runs/run1").text)
    with serve([], source=stored) as served:
        page = served.get("/runs/run1").text
        assert "before the &lt;change&gt;" in page
        assert '<form class="words"' not in page
        assert post(served, "run1", {**values, "name": "another"}).status_code == 403
    assert said(stored, "run1") == KEPT


def test_reports_take_no_words(serve: Any, views: list[RunView]) -> None:
    """A run of a document has no form, since documents are not changed."""
    with serve(views, labels=Labels(Path("no-such-folder/labels.jsonl"), can_add=True)) as served:
        assert '<form class="words"' not in served.get("/runs/run6").text

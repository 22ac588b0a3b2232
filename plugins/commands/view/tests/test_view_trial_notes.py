"""People keep notes and tags of single sessions in the store of the runs, by a form."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import TrialNotes
from skillgauge.api.report import RunView
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.sources import StoredRuns
from skillgauge_testkit.contract.views import HOSTILE

TRIAL = "/runs/run1/trials/2"
WORDS = {"note": "looked at\r\nthe <wrong> file", "tags": "wrong-tool, flaky  flaky"}
KEPT = TrialNotes(note="looked at\nthe <wrong> file", tags=("flaky", "wrong-tool"))
"""The same as it is kept."""


def form(page: str) -> dict[str, str]:
    """The hidden fields of the form."""
    own = page.partition('<form class="words"')[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in re.findall('type="hidden" name="([a-z]+)" value="([^"]*)"', own)}


def post(served: Any, path: str, values: dict[str, str], **headers: str) -> Any:
    """Send a form as a browser does from a page of this server."""
    return served.client.post(f"{path}/notes", data=values, headers={"Origin": served.origin, **headers})


def writable(serve: Any, stored: StoredRuns) -> Any:
    """A server that takes words."""
    return serve([], source=stored, labels=Labels(Path("no-such-folder/labels.jsonl"), can_add=True))


@pytest.mark.slow
def test_words_about_a_session_are_kept_and_shown(serve: Any, stored: StoredRuns) -> None:
    """From the form into the store, onto the pages of trial, case and run, and away again."""
    with writable(serve, stored) as served:
        before = served.get(TRIAL).text
        answer = post(served, TRIAL, {**form(before), **WORDS})
        assert (answer.status_code, answer.headers["location"]) == (303, TRIAL)
        assert stored.trial_notes("run1") == {2: KEPT}
        assert stored.trial_notes("run0") == {}
        page = served.get(TRIAL).text
        case = re.findall('href="(/runs/run1/cases/[^"]+)"', page)[0]
        for shown in (page, served.get(case).text):
            assert '<span class="tag"><bdi>flaky</bdi></span> <span class="tag"><bdi>wrong-tool</bdi></span>' in shown
            assert "<bdi>looked at</bdi><br><bdi>the &lt;wrong&gt; file</bdi>" in shown
        assert 'value="flaky, wrong-tool"' in page
        run = served.get("/runs/run1").text
        assert re.findall(f'<a href="{TRIAL}">(.*?)</a>', run) == ["<bdi>case-1</bdi>, <bdi>with_skill</bdi>, run 1"]
        assert "Notes on sessions" not in served.get("/runs/run0").text
        post(served, TRIAL, {**form(page), "note": "", "tags": ""})
        assert stored.trial_notes("run1") == {}
        assert re.sub("[0-9a-f]{32}", "", served.get(TRIAL).text) == re.sub("[0-9a-f]{32}", "", before)


@pytest.mark.slow
def test_hostile_words_about_a_session_do_nothing(serve: Any, stored: StoredRuns) -> None:
    """Text that somebody else wrote into the store is shown as text."""
    with writable(serve, stored) as served:
        for text in HOSTILE:
            assert stored.annotate_trial("run0", 0, TrialNotes(note=text, tags=("x",)))
            for path in ("/runs/run0", "/runs/run0/trials/0", "/runs/run0/cases/0-0"):
                page = served.get(path).text
                assert "<script" not in page
                assert "<img" not in page
                assert "javascript:" not in re.findall('href="([^"]*)"', page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"key": ""}, 403, "not from a page of this server"),
        ({"seen": "0" * 32}, 400, "Somebody has changed"),
        ({"tags": "<b>"}, 400, "at most 20 tags"),
        ({"tags": "x" * 61}, 400, "at most 20 tags"),
        ({"tags": " ".join(f"t{place}" for place in range(21))}, 400, "at most 20 tags"),
        ({"note": "x" * 10_001}, 400, "at most 10,000 characters"),
        ({"note": "x" * 300_000}, 413, "too large"),
    ],
)
def test_other_forms_about_a_session_write_nothing(
    serve: Any, stored: StoredRuns, change: dict[str, str], status: int, reason: str
) -> None:
    """Forms of others, of an earlier state, and words that cannot be kept are refused with the reason."""
    with writable(serve, stored) as served:
        own = {**form(served.get(TRIAL).text), **WORDS}
        answer = post(served, TRIAL, {**own, **change})
        assert answer.status_code == status
        assert reason in unescape(answer.text)
        assert post(served, TRIAL, own, Origin="https://stranger.example").status_code == 403
        assert post(served, "/runs/run9/trials/2", own).status_code == 404
        assert post(served, "/runs/run1/trials/99999", own).status_code == 404
        assert served.client.get(f"{TRIAL}/notes").status_code == 405
    assert stored.trial_notes("run1") == {}


def test_read_only_takes_no_words_about_a_session(serve: Any, stored: StoredRuns) -> None:
    """Words are shown, without a form, and a form is refused."""
    stored.annotate_trial("run1", 2, KEPT)
    with writable(serve, stored) as served:
        values = form(served.get(TRIAL).text)
    with serve([], source=stored) as served:
        page = served.get(TRIAL).text
        assert "wrong-tool" in page
        assert "<form" not in page
        assert post(served, TRIAL, {**values, "note": "another"}).status_code == 403
    assert stored.trial_notes("run1") == {2: KEPT}


@pytest.mark.slow
def test_sessions_of_reports_take_no_words(serve: Any, views: list[RunView]) -> None:
    """A trial of a document has no form, since documents are not changed, and takes none."""
    with serve(views, labels=Labels(Path("no-such-folder/labels.jsonl"), can_add=True)) as served:
        assert "<form" not in served.get("/runs/run6/trials/2").text
        key = served.server._tickets.form_key
        assert post(served, "/runs/run6/trials/2", {"key": key, "note": "x"}).status_code == 404

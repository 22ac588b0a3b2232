"""A person labels what a judge decided: blind, once a check, from these pages alone, into the file of `judge label`."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api.report import RunView
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_judge_labels import judged_of, read_labels
from skillgauge_reporter_record.reporter import RecordReporter
from skillgauge_testkit.contract.views import HOSTILE
from skillgauge_testkit.program import Program


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the form of a page."""
    found = re.findall('<input type="hidden" name="([a-z]+)" value="([^"]*)">', page)
    return {name: unescape(value) for name, value in found}


def post(served: Any, values: dict[str, str], **more: Any) -> Any:
    """Send a form as a browser does from a page of this server."""
    return served.client.post(
        "/runs/judged/labels", data=values, headers={"Origin": served.origin, **more.pop("headers", {})}, **more
    )


def test_every_check_is_asked_once(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """Each answer is kept at once, under the check that was asked; the judge's word is not shown before."""
    file = tmp_path / "new/labels.jsonl"
    total = len({one.key for one in judged_of(judged_view).judged})
    asked = set()
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        for number in range(total):
            page = served.get("/runs/judged/labels").text
            assert f"{number} of {total} judged checks labelled" in page
            assert "secret opinion" not in page
            values = fields(page)
            asked.add((values["execution"], values["check"], values["answer"]))
            answer = post(served, {**values, "holds": "yes" if number % 2 else "no"})
            assert (answer.status_code, answer.headers["location"]) == (303, "/runs/judged/labels")
            assert len(read_labels(file)[0]) == number + 1
        assert "has its label" in served.get("/runs/judged/labels").text
    assert len(asked) == total
    lines, problems = read_labels(file)
    assert problems == []
    assert [line.label.passes for line in lines] == [bool(number % 2) for number in range(total)]
    assert {line.label.key for line in lines} == asked
    assert {line.label.run for line in lines} == {"judged"}


@pytest.mark.slow
def test_the_page_of_judges_counts(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """Agreement is counted by arm, and what the two differ on comes first with a link to its trial."""
    file = tmp_path / "labels.jsonl"
    judged = {one.key: one for one in judged_of(judged_view).judged}
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        assert "0 of" in served.get("/runs/judged/judges").text
        for _ in judged:
            post(served, {**fields(served.get("/runs/judged/labels").text), "holds": "yes"})
        page = served.get("/runs/judged/judges").text
    strict = sum(not one.passes for one in judged.values())
    rows = re.findall(r'<td class="number" data-label="([^"]+)">(\d+)</td>', page)
    sums = {label: sum(int(value) for name, value in rows if name == label) for label, _ in rows}
    assert sums == {
        "Labels": len(judged),
        "Agree": len(judged) - strict,
        "Judge passed, label did not": 0,
        "Judge failed, label did not": strict,
    }
    table = page.partition("Labelled checks")[2]
    assert table.count('<tr class="bad">') == strict > 0
    assert table.rindex('<tr class="bad">') < table.index('<tr class="">')
    for one in judged.values():
        assert f'href="/runs/judged/trials/{one.ordinal}"' in page


def test_skipping_passes_over(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """A skipped check is asked again when the others are done, and an answer keeps the place."""
    with serve([judged_view], labels=Labels(tmp_path / "labels.jsonl", can_add=True)) as served:
        first = fields(served.get("/runs/judged/labels").text)
        page = served.get("/runs/judged/labels?skipped=1").text
        second = fields(page)
        assert first["execution"] != second["execution"]
        answer = post(served, {**second, "holds": "no"})
        assert answer.headers["location"] == "/runs/judged/labels?skipped=1"
        assert fields(served.get("/runs/judged/labels").text)["execution"] == first["execution"]
        assert "Begin again" in served.get("/runs/judged/labels?skipped=999999").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"key": ""}, 403),
        ({"key": "x" * 43}, 403),
        ({"holds": "maybe"}, 400),
        ({"holds": ""}, 400),
        ({"execution": "another"}, 400),
        ({"answer": "0" * 64}, 400),
        ({"check": "<script>"}, 400),
        ({"check": "x" * 300_000}, 413),
    ],
)
def test_other_forms_write_nothing(
    serve: Any, judged_view: RunView, tmp_path: Path, change: dict[str, str], status: int
) -> None:
    """A form without the key of our pages, or about something that no judge decided, is refused."""
    file = tmp_path / "labels.jsonl"
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        values = {**fields(served.get("/runs/judged/labels").text), "holds": "yes"}
        assert post(served, {**values, **change}).status_code == status
        for body in (b"\xff", b"=" * 100, b"&".join(b"a%d=1" % number for number in range(100))):
            assert post(served, {}, content=body).status_code in (400, 403)
    assert not file.exists()


@pytest.mark.parametrize("origin", ["http://example.invalid", "null", ""])
def test_a_form_of_a_stranger_writes_nothing(serve: Any, judged_view: RunView, tmp_path: Path, origin: str) -> None:
    """Even with the cookie and the key; and no label is written by reading."""
    file = tmp_path / "labels.jsonl"
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        values = {**fields(served.get("/runs/judged/labels").text), "holds": "yes"}
        headers = {"Origin": origin} if origin else {}
        assert served.client.post("/runs/judged/labels", data=values, headers=headers).status_code == 403
        served.get("/runs/judged/labels", params=values)
    assert not file.exists()


def test_a_check_has_one_label(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """A form that is sent again, or from a second window, adds nothing."""
    file = tmp_path / "labels.jsonl"
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        values = {**fields(served.get("/runs/judged/labels").text), "holds": "yes"}
        assert [post(served, {**values, "holds": word}).status_code for word in ("yes", "no", "yes")] == [303] * 3
    lines, _ = read_labels(file)
    assert [line.label.passes for line in lines] == [True]


@pytest.mark.slow
def test_without_leave_nothing_is_asked(serve: Any, judged_view: RunView, views: list[RunView]) -> None:
    """With `--read-only` no page asks; a run without a judge has neither page."""
    with serve([judged_view, *views]) as served:
        assert served.get("/runs/judged/labels").status_code == 403
        assert post(served, {"key": "x"}).status_code == 403
        judges = served.get("/runs/judged/judges")
        assert judges.status_code == 200
        assert "/judged/labels" not in judges.text
        assert served.get("/runs/run6/judges").status_code == 404
        assert "/judges" not in served.get("/runs/run6").text
        assert "/runs/judged/judges" in served.get("/runs/judged").text


def test_a_broken_file_is_named(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """A line that is no label is said with its place, and nothing is added; the page of the run is as before."""
    file = tmp_path / "labels.jsonl"
    file.write_text("nothing\n")
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        answer = served.get("/runs/judged/labels")
        assert answer.status_code == 503
        assert "this is no label" in answer.text
        assert served.get("/runs/judged/judges").status_code == 503
        assert served.get("/runs/judged").status_code == 200
    assert file.read_text() == "nothing\n"


@pytest.mark.slow
def test_hostile_statements_are_texts(serve: Any, judged_view: RunView, tmp_path: Path) -> None:
    """Each stands on a page, and none of it acts."""
    shown = ""
    with serve([judged_view], labels=Labels(tmp_path / "labels.jsonl", can_add=True)) as served:
        for skipped in range(len(HOSTILE) + 1):
            page = served.get(f"/runs/judged/labels?skipped={skipped}").text
            assert not re.search("<(script|img|iframe|svg|style)|\\son\\w+=|[\u202a-\u202e\u2066-\u2069]", page)
            shown += page
    assert "It greets the reader by name." in shown


def test_the_command_line_goes_on_where_the_browser_ended(
    serve: Any, judged_view: RunView, program: Program, work: Path
) -> None:
    """`judge label` asks for what is left, and `judge calibrate` takes the labels as its own."""
    record = work / "run.record.json"
    (artifact,) = RecordReporter().render(judged_view)
    record.write_bytes(b"".join(artifact.chunks))
    with serve([judged_view], labels=Labels(work / "labels.jsonl", can_add=True)) as served:
        for _ in range(2):
            post(served, {**fields(served.get("/runs/judged/labels").text), "holds": "yes"})
    total = len({one.key for one in judged_of(judged_view).judged})
    done = program("judge", "label", record, stdin="y\n" * (total - 2))
    assert done.code == 0, done.stderr
    assert f"{total - 2} added, 0 skipped; {total} labels in all, 0 checks without one" in done.stdout + done.stderr


def test_what_judges_decided_is_read_without_what_they_judged(judged_view: RunView) -> None:
    """The same checks, without the digest of an answer."""
    whole, short = judged_of(judged_view), judged_of(judged_view, with_answers=False)
    assert all(one.answer for one in whole.judged)
    assert [replace(one, answer="") for one in whole.judged] == list(short.judged)
    assert whole.untold == short.untold

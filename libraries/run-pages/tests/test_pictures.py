"""Pictures to take away are whole documents of the numbers in a page, and as inert as the page."""

from __future__ import annotations

import csv
import io
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from skillgauge.api import Usage
from skillgauge.api.report import PairSummary, compared
from skillgauge_run_pages.efforts import Efforts
from skillgauge_run_pages.pictures import Picture, forest, matrix_text, quality, session, spread, squares
from skillgauge_run_pages.waterfall import Bar, Waterfall
from skillgauge_testkit import contract_views

HOSTILE = '=cmd|"</svg><script>alert(1)</script>'


def content(address: str, kind: str) -> str:
    """The document of an address of that kind."""
    start, _, data = address.partition(";base64,")
    assert start == f"data:{kind}"
    return b64decode(data).decode()


def checked(picture: Picture) -> tuple[str, list[list[str]]]:
    """The text of a drawing and the rows of its numbers, once it is known that they are whole and load nothing."""
    document = content(picture.svg_address, "image/svg+xml")
    elements = list(ElementTree.fromstring(document).iter())
    assert {element.tag.rpartition("}")[2] for element in elements} <= {
        "svg",
        "title",
        "style",
        "rect",
        "text",
        "path",
        "g",
        "circle",
    }
    assert not any(name.startswith("on") or "href" in name for element in elements for name in element.attrib)
    rows = list(csv.reader(io.StringIO(content(picture.csv_address, "text/csv;charset=utf-8"))))
    assert {len(row) for row in rows} == {len(picture.heads)}
    return " ".join(element.text or "" for element in elements), rows


@pytest.fixture(scope="module")
def pair() -> PairSummary:
    """A comparison with an estimate."""
    views = (view for what, view in contract_views() if "two arms" in what)
    return next(pair for view in views for pair in compared(view) if pair.evidence)


def pairs_of(pair: PairSummary) -> Iterator[PairSummary]:
    """The comparison with two estimates, the lower one of a target whose name is an attack."""
    assert pair.evidence
    for estimate, target in ((-0.25, HOSTILE), (0.75, "pdf")):
        evidence = replace(pair.evidence, estimate=estimate)
        candidate = replace(pair.candidate, target_id=target)
        yield pair.model_copy(update={"evidence": evidence, "candidate": candidate})


def test_a_forest_plot_has_the_greatest_lift_on_top(pair: PairSummary) -> None:
    """Names, estimates and intervals are in the drawing and in the rows; no cell is taken for a formula."""
    text, (heads, first, second) = checked(forest(list(pairs_of(pair))))
    assert text.index("pdf") < text.index("=cmd")
    assert heads[4:8] == ["lift_points", "lower_points", "upper_points", "n_cases"]
    assert (first[0].split(" ")[0], first[4], second[4]) == ("pdf", "75", "-25")
    assert second[0].startswith("'=cmd")


def test_the_squares_of_a_matrix_are_shares_of_the_cases(pair: PairSummary) -> None:
    """Areas add up to one whole, those of the same outcome stand in one place, and words say the same."""
    counts = pair.outcomes.model_copy(update={"pass_kept": 3, "flip_to_pass": 1, "fail_kept": 0, "flip_to_fail": 0})
    drawn = list(squares(pair.model_copy(update={"outcomes": counts})))
    assert sum(size * size for _, _, size, _ in drawn) == pytest.approx(19 * 19, rel=0.02)
    assert [outcome for _, _, size, outcome in drawn if size] == ["pass_kept", "flip_to_pass"]
    assert "75.0% of them alike" in matrix_text(pair.model_copy(update={"outcomes": counts}))
    nothing = counts.model_copy(update={"pass_kept": 0, "flip_to_pass": 0})
    assert {size for _, _, size, _ in squares(pair.model_copy(update={"outcomes": nothing}))} == {0.0}


def test_amounts_of_sessions_can_be_taken_away() -> None:
    """Each measure that a run tells has a drawing with its groups, and cost against pass rate where it is known."""
    view = next(view for what, view in contract_views() if "two arms" in what)
    efforts = Efforts()
    for place, result in enumerate(view.results()):
        changes = {"duration_s": 2.0 + place, "replayed": False, "usage": Usage(cost_usd=0.5)}
        efforts.add([result.model_copy(update={"execution": result.execution.model_copy(update=changes)})])
    for boxes in efforts.boxes():
        text, rows = checked(spread(boxes))
        assert boxes.measure.title in text
        assert len(rows) == 1 + len(boxes.boxes)
    plane = efforts.against_quality(view.summary.groups)
    assert plane
    assert len(checked(quality(plane))[1]) == 1 + len(plane.dots)


def test_a_session_can_be_taken_away() -> None:
    """The bars of a session with their seconds; the name of a tool stays text."""
    bars = (Bar(1, "Model", "", 0.0, 1.5, False), Bar(2, "Tool", HOSTILE, 1.5, 4.0, True))
    text, (_, model, tool) = checked(session(Waterfall(bars, 0, 4.0, 1.5, 2.5)))
    assert "1 Model" in text
    assert "error" in text
    assert model == ["1", "Model", "", "0", "1.5", "false"]
    assert tool[2].startswith("'=cmd")

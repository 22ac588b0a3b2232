"""Pages show what is in a run, and nothing in a run acts on them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from skillgauge.api import CaseHead, Kept, ResultOrder, Score, SuiteHead, TrialResult, UnderWay, Verdict
from skillgauge.api.report import GroupKey, Progress, RunState, RunVerdict, RunView
from skillgauge_command_view.links import ServedLinks
from skillgauge_command_view.rendering import Pages
from skillgauge_command_view.rows import row_of

HARMLESS = {
    *("html", "head", "meta", "title", "link", "body", "a", "header", "nav", "main", "h1", "h2", "h3", "p", "span"),
    *("div", "section", "table", "caption", "thead", "tbody", "tr", "th", "td", "form", "label", "input", "select"),
    *("option", "button", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary", "pre", "code", "strong", "bdi"),
    *("mark", "br", "title"),
    *("svg", "path", "rect", "line", "circle", "text", "g", "polyline", "figure", "figcaption"),
}
ADDRESSES = re.compile(
    r"^(/|/(runs|history|compare|maps|view\.(css|svg)|map\.css)([/?#].*)?|#t\d+-s\d+|#\w+"
    r"|data:(image/svg\+xml|text/csv;charset=utf-8);base64,[A-Za-z0-9+/=]+)$"
)
"""Pages of ours, places in them, and pictures to take away."""


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        self.found.append((tag, dict(attrs)))


def links(page: str) -> list[str]:
    """The addresses that a page leads to."""
    return [str(attributes["href"]) for tag, attributes in Elements(page).found if tag == "a" and "href" in attributes]


def faults(page: str) -> Iterator[str]:
    """The parts of a page that could act."""
    for tag, attributes in Elements(page).found:
        if tag not in HARMLESS:
            yield f"<{tag}>"
        for name, value in attributes.items():
            if name.startswith("on") or name == "style":
                yield f"{name}={value}"
            if name in ("href", "src", "action") and not ADDRESSES.match(value or ""):
                yield f"{name}={value}"
    if found := re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\x0e-\x1f\x7f]", page):
        yield f"the character {found[0]!r}"


def test_the_search_finds_what_acts() -> None:
    """All that these tests look for is found."""
    acting = "<script></script><a href='javascript:x'></a><p onclick=1 style=2>\u202e<a href='//example.invalid/'></a>"
    assert len(list(faults(acting))) == 6


def all_pages(served: Any) -> dict[str, str]:
    """Every page that leads from the list, by its address."""
    pages: dict[str, str] = {}
    todo = ["/runs"]
    while todo:
        path = todo.pop()
        if path in pages:
            continue
        answer = served.get(path)
        assert answer.status_code == 200, path
        pages[path] = answer.text
        todo += [one.partition("#")[0] for one in links(answer.text) if one.startswith("/") and "sort=" not in one]
        assert len(pages) < 3_000
    return pages


@pytest.mark.slow
def test_every_page_of_every_run_is_inert(served: Any) -> None:
    """No page has an element or an address of theirs."""
    pages = all_pages(served)
    assert sum("/cases/" in path for path in pages) > 20
    assert sum("/history" in path for path in pages) > 5
    assert sum("/compare" in path for path in pages) > 0
    wrong = {path: found for path, page in pages.items() if (found := list(faults(page)))}
    assert wrong == {}


def test_the_list_names_every_run(served: Any, views: list[RunView]) -> None:
    """The newest comes first."""
    page = served.get("/runs").text
    places = [page.index(f'href="/runs/{view.run.run_id}"') for view in reversed(views)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("query", "fitting"),
    [
        ("model=model-1", {"run6"}),
        ("engine=contract-agent", {"run6"}),
        ("skill=other", {"run2", "run7"}),
        ("q=contract-AGENT+run6", {"run6"}),
        ("q=nothing-of-this-name", set()),
        ("since=2100-01-01", set()),
        ("until=1999-01-01", set()),
        ("verdict=incomplete", {"run4"}),
    ],
)
def test_filters(served: Any, query: str, fitting: set[str]) -> None:
    """Each filter leaves what it names."""
    page = served.get(f"/runs?{query}").text
    assert set(re.findall(r'href="/runs/(run\d+)"', page)) == fitting


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=99999999999999", "page=x", "sort=x", "since=x", "nothing=1", "q=%00%ff"]
)
def test_an_odd_filter_is_no_error(served: Any, query: str) -> None:
    """A query that nobody's form makes gets a page."""
    assert served.get(f"/runs?{query}").status_code == 200
    assert served.get(f"/runs/run2?{query}").status_code == 200


class NoTrials:
    """A run whose trials must not be read."""

    def results(self, _order: ResultOrder, _group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Fail."""
        raise AssertionError("a trial was read")

    def cases(self) -> Iterator[CaseHead]:
        """Fail."""
        raise AssertionError("a case was read")


def test_the_list_reads_no_trial(serve: Any, views: list[RunView]) -> None:
    """A list of many runs costs no more than their heads and summaries."""
    with serve([replace(view, source=NoTrials()) for view in views]) as served:
        assert served.get("/runs").status_code == 200
        assert served.get("/runs?q=skill&sort=lift").status_code == 200


def test_a_case_shows_both_arms_and_links_to_each_step(served: Any) -> None:
    """Arms stand beside each other; each step has an anchor, and the repeats have their verdicts."""
    page = served.get("/runs/run6/cases/0-1").text
    assert page.count('<section class="side') == 2
    assert "with_skill" in page
    assert "without_skill" in page
    anchors = set(re.findall(r'id="(t\d+-s\d+)"', page))
    assert len(anchors) == 2
    assert anchors == set(re.findall(r'href="#(t\d+-s\d+)"', page))
    assert "no such file" in page
    assert "rescued" in page


def test_a_trial_bears_the_name_of_its_case(serve: Any, views: list[RunView]) -> None:
    """As the page of the case does, with the id beside it."""
    view = next(view for view in views if view.run.run_id == "run6")
    cases = [case.model_copy(update={"name": f"Case {case.index}"}) for case in view.cases()]
    result = next(view.results())
    with serve([replace(view, source=Kept(lambda: list(view.results()), cases))]) as served:
        page = served.get(f"/runs/run6/trials/{result.ordinal}").text
    heading = re.search(r"<h1>(.*?)</h1>", page)
    assert heading is not None
    plain = re.sub("<[^>]+>", "", heading[1])
    assert plain == f"Case {result.case_index} {result.case_id} · {result.arm}, run {result.repeat}"


def test_cases_are_filtered(served: Any) -> None:
    """Those that did not pass, and those where the arms differ."""

    def cases(query: str) -> int:
        return len(re.findall(r'href="/runs/run6/cases/', served.get(f"/runs/run6?{query}").text))

    assert (cases("show=all"), cases("show=bad"), cases("show=changed"), cases("q=case-3")) == (6, 0, 3, 1)


def test_rows_of_cases_are_those_of_the_report(serve: Any, views: list[RunView]) -> None:
    """The worst first, the reason with the arm that it is of, and beside a case without a name what it asks."""
    view = next(view for view in views if view.run.run_id == "run6")
    first, *others = [case.model_copy(update={"name": ""}) for case in view.cases()]
    cases = [first.model_copy(update={"prompt": "Write a <b>note</b>."}), *others]
    results = [
        result.model_copy(update={"verdict": Verdict.FAIL, "scores": (Score.failed("nothing there"),)})
        if (result.case_index, result.arm) == (3, "with_skill")
        else result
        for result in view.results()
    ]
    with serve([replace(view, source=Kept(lambda: results, cases))]) as served:
        page = served.get("/runs/run6").text
    places = re.findall(r'href="/runs/run6/cases/0-(\d)"', page)
    assert places == ["3", "0", "1", "2", "4", "5"]
    assert "<div><bdi>with_skill: nothing there</bdi></div>" in page
    assert '<span class="by"><bdi>Write a &lt;b&gt;note&lt;/b&gt;.</bdi></span>' in page


def test_a_run_of_recordings_says_so(serve: Any, views: list[RunView]) -> None:
    """As the report does: the costs beside the cases are those of the recordings."""
    view = next(view for view in views if view.run.run_id == "run6")
    results = [
        result.model_copy(update={"execution": result.execution.model_copy(update={"replayed": True})})
        for result in view.results()
    ]
    with serve([replace(view, source=Kept(lambda: results, list(view.cases())))]) as served:
        page = served.get("/runs/run6").text
    assert "<strong><bdi>Replayed</bdi>:</strong> <bdi>all trials are recordings" in page


def test_what_is_not_there_is_said(served: Any) -> None:
    """A run, a case and a trial that do not exist."""
    for path in ("/runs/nothing", "/runs/run2/cases/0-99", "/runs/run2/cases/7-0", "/runs/run2/trials/99", "/x"):
        answer = served.get(path)
        assert answer.status_code == 404
        assert "<h1>Not found</h1>" in answer.text


@pytest.mark.slow
def test_two_runs_beside_each_other(serve: Any, views: list[RunView]) -> None:
    """The verdict is that of `report diff`, the older run comes first, and cases lead to both runs."""
    before, after = worse(views[6])
    with serve([before, after]) as served:
        for query in (f"a={before.run.run_id}&b={after.run.run_id}", "run=after&run=before"):
            page = served.get(f"/compare?{query}").text
            assert "case-2" in page
            assert page.index('href="/runs/before"') < page.index('href="/runs/after"')
            assert re.search(r'href="/runs/before/cases/0-2">before</a>\s*<a href="/runs/after/cases/0-2">after', page)
            assert ">broke<" in page
            assert ">fixed<" not in page


@pytest.mark.parametrize(
    "query", ["", "a=run6", "run=run6", "run=run6&run=run2&run=nothing", "a=run6&b=nothing", "a=run6&b="]
)
def test_a_choice_that_cannot_be_compared(served: Any, query: str) -> None:
    """One run, or one that is not there: the page says so."""
    answer = served.get(f"/compare?{query}")
    assert answer.status_code in (400, 404)
    assert "<h1>Not" in answer.text


def test_a_skill_from_run_to_run(serve: Any, views: list[RunView]) -> None:
    """The newest run stands first, with lift and interval; a picture has a point for each run; no trial is read."""
    runs = [replace(view, source=NoTrials()) for view in worse(views[6])]
    with serve(runs) as served:
        page = served.get("/history?skill=skill").text
        assert page.index('href="/runs/after"') < page.index('href="/runs/before"')
        assert "+50.0 points" in page
        with_skill = page.split("without_skill · model-1</h2>")[0]
        assert with_skill.count('<circle class="point"') == 6, "two runs, each with rate, lift and cost"
        assert with_skill.count('<path class="bounds"') == 4
        assert 'href="/compare?a=before&amp;b=after"' in page
        assert served.get("/history?skill=nothing").status_code == 404


@pytest.mark.slow
def test_a_change_stands_in_the_picture(serve: Any, views: list[RunView]) -> None:
    """A broken line between two runs where the skill changed, in rate and lift; none where nothing did."""
    before, after = (replace(view, source=NoTrials()) for view in worse(views[6]))
    with serve([before, after]) as served:
        page = served.get("/history?skill=skill").text
        assert '<path class="change"' not in page
        assert "vertical bars are 95% intervals.</p>" in page
    with serve([of_version(before, "1"), of_version(after, "2")]) as served:
        page = served.get("/history?skill=skill").text
        first = page.split("without_skill · model-1</h2>")[0]
        assert first.count('<path class="change"') == 2
        assert "<title>changed: version</title>" in first
        assert "A broken line stands where" in first


@pytest.mark.slow
def test_gates_are_met_only_where_any_was_asked(serve: Any, views: list[RunView]) -> None:
    """A run without a gate has finished; nothing was missed and nothing was met."""
    plain = replace(views[6], verdict=None, decided=None, run=views[6].run.model_copy(update={"run_id": "plain"}))
    assert not any(suite.gates for suite in plain.head.suites)
    gates = {"gates": [{"figure": "failed", "threshold": 99}]}
    asked = SuiteHead.model_validate(plain.head.suites[0].model_dump() | gates)
    head = plain.head.model_copy(update={"suites": (asked, *plain.head.suites[1:])})
    gated = replace(plain, verdict=RunVerdict.PASSED, head=head)
    with serve([plain]) as served:
        page = served.get("/runs/plain").text
        assert ">finished</span>" in page
        assert "gate" not in page.split("</header>")[-1].split("<h2")[0]
    assert row_of(gated, "plain", "here").verdict_text == "gates met"


def of_version(view: RunView, version: str) -> RunView:
    """The same run of targets of some version."""
    suites = [
        suite.model_copy(
            update={"targets": tuple(target.model_copy(update={"version": version}) for target in suite.targets)}
        )
        for suite in view.head.suites
    ]
    return replace(view, head=view.head.model_copy(update={"suites": tuple(suites)}))


def worse(view: RunView) -> tuple[RunView, RunView]:
    """A run, and a later one in which a case broke in both arms."""
    results = list(view.results())
    broken = [
        one.model_copy(update={"verdict": "fail", "value": 0.0, "scores": (Score.failed("gone"),)})
        if one.case_id == "case-2"
        else one
        for one in results
    ]
    before = replace(view, run=view.run.model_copy(update={"run_id": "before", "started_at": 1_700_000_000.0}))
    run = view.run.model_copy(update={"run_id": "after", "started_at": 1_700_000_100.0})
    return before, replace(view, run=run, source=Kept(lambda: broken, view.cases()))


def test_several_runs_stand_beside_each_other(served: Any, views: list[RunView]) -> None:
    """Three to five are compared, each with the one before it; a case that did not end alike leads to each run."""
    page = served.get("/compare?run=run7&run=run2&run=run6").text
    places = [page.index(f'href="/runs/run{number}"') for number in (2, 6, 7)]
    assert places == sorted(places), "the oldest first"
    assert 'href="/compare?a=run2&amp;b=run6"' in page
    assert 'href="/compare?a=run6&amp;b=run7"' in page
    listed = page.partition("Cases that did not end alike")[2]
    assert 'href="/runs/run6/cases/0-0"' in listed
    assert list(faults(page)) == []


def test_the_same_run_twice_differs_in_nothing(serve: Any, views: list[RunView]) -> None:
    """Only cases that end otherwise are listed, and all are counted."""
    copies = [
        replace(views[6], run=views[6].run.model_copy(update={"run_id": f"copy{number}", "started_at": float(number)}))
        for number in range(5)
    ]
    total = len({(result.case_id, result.arm) for result in views[6].results()})
    with serve(copies) as served:
        page = served.get("/compare?" + "&".join(f"run=copy{number}" for number in range(5))).text
    assert f"(0 of {total}, each arm counted)" in page
    assert "<table" not in page.partition("Cases that did not end alike")[2]


@pytest.mark.parametrize(
    "query", ["run=run1", "&".join(f"run=run{number}" for number in range(6)), "run=run1&run=run1"]
)
def test_too_few_and_too_many(served: Any, query: str) -> None:
    """Two to five runs can be chosen; the same run twice is one."""
    answer = served.get(f"/compare?{query}")
    assert answer.status_code == 400
    assert "two to 5 runs" in answer.text


def test_lifts_with_intervals_and_outcomes(served: Any, views: list[RunView]) -> None:
    """Each comparison has its estimate, its interval as a picture and in numbers, and how its cases came out."""
    page = served.get("/runs/run6").text
    pairs = [pair for pair in views[6].summary.pairs if pair.evidence]
    table = page.partition('aria-label="Lifts"')[2].partition("</table>")[0]
    assert table.count("<svg") == 2 * len(pairs) > 0
    for pair in pairs:
        assert f'data-label="Rescued">{pair.outcomes.flip_to_pass}<' in table
        assert f'data-label="Lost">{pair.outcomes.flip_to_fail}<' in table
        assert f'data-label="n (cases)">{pair.n}<' in table


@pytest.mark.slow
def test_a_run_under_way_is_followed_when_asked(serve: Any, views: list[RunView]) -> None:
    """Its page tells how far it is, and is loaded again only for a person who wants that; at the end no more."""
    running = replace(views[6], run=views[6].run.model_copy(update={"state": RunState.RUNNING, "finished_at": None}))
    with serve([running]) as served:
        page = served.get("/runs/run6")
        done, total = running.summary.counts.total, running.head.trial_count
        assert f"{done} of {total} trials" in page.text
        assert "refresh" not in page.headers
        followed = served.get("/runs/run6?follow=1")
        assert followed.headers["refresh"] == "5"
        assert "Stop following" in followed.text
    with serve([views[6]]) as served:
        assert "refresh" not in served.get("/runs/run6?follow=1").headers


@pytest.mark.slow
def test_sessions_under_way_are_listed(serve: Any, views: list[RunView], going_on: Any) -> None:
    """The page of a run that another process works on tells what has come, and since when each session lasts."""
    began = time.time() - 754
    session = UnderWay(
        trial_id="t", ordinal=7, suite_id="s", case_index=1, case_id="a <slow> case", arm="with-skill", runner="engine",
        model="m-1", repeat=2, since=began, where="builder-7, process 4711", last_step="tool_call <Bash>",
    )  # fmt: skip
    group = GroupKey("s", None, "with-skill", "engine", "m-1")
    progress = Progress({group: {Verdict.PASS: 1041, Verdict.FAIL: 3}}, (session,))
    running = going_on(views[6], progress)
    with serve([running]) as served:
        page = served.get("/runs/run6?follow=1").text
        assert "1044 of" in page
        assert "of which 1,041 passed, 3 failed" in page
        table = page.partition('aria-label="Sessions under way"')[2].partition("</table>")[0]
        assert "a &lt;slow&gt; case" in table
        assert "builder-7, process 4711" in table
        assert "calls &lt;Bash&gt;" in table
        assert re.search(r"75\d\.\d s", table)
    with serve([views[6]]) as served:
        assert "Sessions under way" not in served.get("/runs/run6").text


def test_no_first_look_waits_for_a_template() -> None:
    """What `prepare` has compiled is every template that a page is made of."""
    pages = Pages(ServedLinks(), inline_style=False)
    pages.prepare()
    compiled = {name for _, name in pages._environment.cache}
    assert compiled == set(pages._environment.list_templates(extensions=["jinja"]))
    assert "run.html.jinja" in compiled

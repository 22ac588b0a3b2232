"""The routes of the server: each answers with a page, and two take the words of people."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from skillgauge.api import SkillgaugeError, TrialNotes, plain
from skillgauge.api.report import RunState, RunView, counted, result_of_trial

from .access import ICON, STYLE, Gate, Names, Tickets
from .downloads import DownloadResponse, Downloads
from .forms import count_of, form_of, number_of, page_of, words_of
from .links import key_of
from .noting import NotTakenError, notes_of_form, seen, trial_notes_of_form
from .pages.case_page import case_page, find_case, name_in, trial_page
from .pages.compare_page import compare_page
from .pages.history_page import history_page, newest_rows
from .pages.label_page import Labels
from .pages.map_page import Maps, map_page
from .pages.remarks import Remarks
from .pages.run_cases import Cases
from .pages.run_page import PAGE, CaseFilter, RunPage
from .pages.searching import search
from .pages.several_page import MOST, several_page
from .pages.sparklines import sparklines
from .quarantining import Quarantine
from .rendering import Pages, icon, map_style, style
from .rows import RunRow
from .run_list import RunFilter, choices
from .sources import Runs
from .stopping import Stopper

_PAUSE_S = 5
"""Seconds after which the page of a run that is followed is loaded again."""


@dataclass(frozen=True)
class Viewer:
    """Answers requests for pages.

    Args:
        runs: what can be looked at.
        pages: draws.
        cases: the cases of runs.
        tickets: know which forms are from our pages.
        desk: what they offer beyond showing runs.
    """

    runs: Runs
    pages: Pages
    cases: Cases
    tickets: Tickets
    desk: Desk

    def routes(self) -> list[Route]:
        """Every address that there is."""
        return [
            Route("/", self.start),
            Route(STYLE, self.style),
            Route(ICON, self.icon),
            Route("/runs", self.list),
            Route("/runs/{run}", self.run),
            Route("/runs/{run}/cases/{suite:int}-{case:int}", self.case),
            Route("/runs/{run}/trials/{trial:int}", self.trial),
            Route("/runs/{run}/trials/{trial:int}/notes", self.note_trial, methods=["POST"]),
            Route("/runs/{run}/labels", self.label),
            Route("/runs/{run}/labels", self.add_label, methods=["POST"]),
            Route("/runs/{run}/judges", self.judges),
            Route("/runs/{run}/notes", self.note, methods=["POST"]),
            Route("/runs/{run}/stop", self.stop, methods=["POST"]),
            Route("/runs/{run}/reports/{reporter}", self.report),
            Route("/compare", self.compare),
            Route("/history", self.history),
            Route("/maps/{map}", self.map),
            Route("/map.css", self.map_style),
        ]

    def start(self, _request: Request) -> Response:
        """Lead to the list of runs."""
        return RedirectResponse(self.pages.links.runs(), status_code=303)

    def style(self, _request: Request) -> Response:
        """The style of all pages."""
        return Response(style(), media_type="text/css")

    def icon(self, _request: Request) -> Response:
        """The sign of these pages in a browser."""
        return Response(icon(), media_type="image/svg+xml")

    def list(self, request: Request) -> Response:
        """The runs that fit a filter."""
        rows = self.runs.rows()
        chosen = RunFilter.of(words_of(request))
        part, sources = chosen.part(rows), self.runs.labels
        maps = self.desk.maps.all() if chosen.is_empty else {}
        return self._page(
            "runs",
            chosen=chosen,
            part=part,
            choices=choices(rows),
            lines=sparklines(rows, part.rows),
            sources=sources,
            maps=maps,
        )

    def run(self, request: Request) -> Response:
        """A run."""
        row, view = self._run_of(request)
        words = words_of(request)
        show = words.get("show", "all")
        chosen = CaseFilter(show if show in ("all", "bad", "changed") else "all", words.get("q", ""), page_of(words))
        cases = self.cases.of(row, view)
        is_followed = view.run.state is RunState.RUNNING and bool(words.get("follow"))
        remarked, remarks = self.desk.remarks.on(view)
        page = RunPage(row, remarked, now=time.time(), downloads=self.desk.downloads.names, remarks=remarks)
        # A form on a page that is loaded again would lose what is being typed.
        can_note = self.desk.labels.can_add and row.notes is not None and not is_followed
        answer = self._page(
            "run",
            page=page,
            cases=cases,
            chosen=chosen,
            size=PAGE,
            is_followed=is_followed,
            pause_s=_PAUSE_S,
            form_key=self.tickets.form_key if can_note else None,
            stop_key=self.tickets.form_key if self._can_stop(row) else None,
            seen=seen(row.notes) if row.notes else "",
            noted_trials=sorted((self.runs.trial_notes(row) or {}).items()),
            maps=self.desk.maps.of_run(row.run_id),
        )
        if is_followed:
            answer.headers["Refresh"] = str(_PAUSE_S)
        return answer

    def case(self, request: Request) -> Response:
        """A case of a run."""
        row, view = self._run_of(request)
        report = find_case(view, request.path_params["suite"], request.path_params["case"])
        if report is None:
            raise HTTPException(404, "The run has no such case, or no trial of it has ended.")
        words = words_of(request)
        lines = self.desk.quarantine and self.desk.quarantine.lines(
            report.case, words.get("until", ""), words.get("reason", "")
        )
        return self._page(
            "case",
            row=row,
            page=case_page(report),
            case=f"{request.path_params['suite']}-{request.path_params['case']}",
            search=search(report, words.get("q", "")),
            trial_notes=self.runs.trial_notes(row) or {},
            quarantine=lines,
            is_asked="until" in words,
            apart=view.head.suites[request.path_params["suite"]].quarantine_of(report.case.id),
        )

    def trial(self, request: Request) -> Response:
        """A trial of a run."""
        row, view = self._run_of(request)
        result = result_of_trial(view.source, request.path_params["trial"])
        if result is None:
            raise HTTPException(404, "The run has no such trial, or it has not ended.")
        first = number_of(words_of(request).get("from", "1"))
        suites = [suite.id for suite in view.head.suites]
        place = suites.index(result.suite_id) if result.suite_id in suites else 0
        noted = self.runs.trial_notes(row)
        notes = (noted or {}).get(result.ordinal, TrialNotes())
        return self._page(
            "trial",
            row=row,
            page=trial_page(result, name_in(view, result), first),
            case=f"{place}-{result.case_index}",
            notes=notes,
            seen=seen(notes),
            form_key=self.tickets.form_key if self.desk.labels.can_add and noted is not None else None,
        )

    def label(self, request: Request) -> Response:
        """The next judged check to label."""
        row, view = self._judged(request)
        page = self.desk.labels.page(row, view, count_of(words_of(request).get("skipped", "")))
        return self._page("label", row=row, page=page, form_key=self.tickets.form_key)

    async def add_label(self, request: Request) -> Response:
        """Take a label, and lead to the next check."""
        words = await form_of(request)
        self._require_own(words)
        return await run_in_threadpool(self._added, request, words)

    def _added(self, request: Request, words: Mapping[str, str]) -> Response:
        row, view = self._judged(request)
        if not self.desk.labels.add(row, view, words):
            raise HTTPException(400, "This is no label for a check that a judge decided in this run.")
        skipped = count_of(words.get("skipped", ""))
        address = self.pages.links.labels(row.key, skipped=str(skipped) if skipped else "")
        return RedirectResponse(address, status_code=303)

    async def note(self, request: Request) -> Response:
        """Take what a person says of a run, and lead back to it."""
        words = await form_of(request)
        self._require_own(words)
        return await run_in_threadpool(self._noted, request, words)

    def _noted(self, request: Request, words: Mapping[str, str]) -> Response:
        self._require_writable()
        row, _ = self._run_of(request)
        if row.notes is None:
            raise HTTPException(404, "The place of this run keeps no names, notes or labels.")
        try:
            notes = notes_of_form(row.notes, words)
        except NotTakenError as error:
            raise HTTPException(400, str(error)) from None
        if not self.runs.annotate(row, notes):
            raise HTTPException(404, "The run is gone.")
        return RedirectResponse(self.pages.links.run(row.key), status_code=303)

    async def note_trial(self, request: Request) -> Response:
        """Take what a person says of a trial, and lead back to it."""
        words = await form_of(request)
        self._require_own(words)
        return await run_in_threadpool(self._noted_trial, request, words)

    def _noted_trial(self, request: Request, words: Mapping[str, str]) -> Response:
        self._require_writable()
        row, _ = self._run_of(request)
        ordinal = request.path_params["trial"]
        noted = self.runs.trial_notes(row)
        if noted is None:
            raise HTTPException(404, "The place of this run keeps no notes or tags of trials.")
        try:
            notes = trial_notes_of_form(noted.get(ordinal, TrialNotes()), words)
        except NotTakenError as error:
            raise HTTPException(400, str(error)) from None
        if not self.runs.annotate_trial(row, ordinal, notes):
            raise HTTPException(404, "The run has no such trial, or it has not ended.")
        return RedirectResponse(self.pages.links.trial(row.key, ordinal), status_code=303)

    async def stop(self, request: Request) -> Response:
        """Stop a run that goes on, and lead back to it."""
        words = await form_of(request)
        self._require_own(words)
        return await run_in_threadpool(self._stopped, request)

    def _stopped(self, request: Request) -> Response:
        self._require_writable()
        row, _ = self._run_of(request)
        if self.desk.stopper is None or not self._can_stop(row) or not self.desk.stopper.stop(row):
            raise HTTPException(409, "No process of yours on this machine carries out this run.")
        return RedirectResponse(self.pages.links.run(row.key, follow="1"), status_code=303)

    def _can_stop(self, row: RunRow) -> bool:
        is_going_on = self.desk.labels.can_add and row.state is RunState.RUNNING
        return is_going_on and self.desk.stopper is not None and self.desk.stopper.can_stop(row)

    def _require_own(self, words: Mapping[str, str]) -> None:
        if not self.tickets.admits_form(words.get("key", "")):
            raise HTTPException(403, "The form is not from a page of this server; open the page anew.")

    def _require_writable(self) -> None:
        if not self.desk.labels.can_add:
            raise HTTPException(403, "These pages were opened with --read-only.")

    def judges(self, request: Request) -> Response:
        """The labels of a run beside what its judges said."""
        row, view = self._run_of(request)
        if not view.head.judges:
            raise HTTPException(404, "No judge decided anything in this run.")
        return self._page("judges", row=row, page=self.desk.labels.judges(row, view), can_add=self.desk.labels.can_add)

    def report(self, request: Request) -> Response:
        """A run as a report, to be downloaded."""
        row, view = self._run_of(request)
        document = self.desk.downloads.make(view, row.key, request.path_params["reporter"])
        if document is None:
            raise HTTPException(404, "No reporter of that name is installed.")
        return DownloadResponse(document)

    def _judged(self, request: Request) -> tuple[RunRow, RunView]:
        """The run of a request that is about labels to add."""
        self._require_writable()
        row, view = self._run_of(request)
        if not view.head.judges:
            raise HTTPException(404, "No judge decided anything in this run.")
        return row, view

    def compare(self, request: Request) -> Response:
        """Runs beside each other: `a` and `b`, or two to five that were chosen in the list, the oldest first."""
        keys = list(dict.fromkeys(request.query_params.getlist("run")))
        if not keys:
            keys = [request.query_params.get(name, "") for name in ("a", "b")]
        elif not 2 <= len(keys) <= MOST:
            raise HTTPException(400, f"Choose two to {MOST} runs to compare; {counted(len(keys), 'run')} chosen.")
        else:
            keys = sorted(keys, key=lambda key: self._run(key)[0].started_at)
        pairs = [self._run(key) for key in keys]
        if len(pairs) > 2:
            return self._page("several", page=several_page(pairs, self.cases, self.desk.remarks))
        before, after = pairs
        return self._page("compare", page=compare_page(before, after, self.desk.remarks))

    def history(self, request: Request) -> Response:
        """A skill from run to run."""
        target = request.query_params.get("skill", "")
        rows, older = newest_rows(self.runs.rows(), target)
        if not rows:
            raise HTTPException(404, "No run here is of that skill.")
        return self._page("history", page=history_page(target, rows, self.runs.views(rows), older))

    def map(self, request: Request) -> Response:
        """The map of a catalogue."""
        document = self.desk.maps.all().get(request.path_params["map"])
        if document is None:
            raise HTTPException(404, "No such map is here.")
        return self._page("map", page=map_page(document, self.runs.rows()))

    def map_style(self, _request: Request) -> Response:
        """The style of maps, beside that of all pages."""
        return Response(map_style(), media_type="text/css")

    def _run_of(self, request: Request) -> tuple[RunRow, RunView]:
        return self._run(request.path_params["run"])

    def _run(self, key: str) -> tuple[RunRow, RunView]:
        pair = self.runs.find(key)
        if pair is None:
            raise HTTPException(404, "No such run is here.")
        return pair

    def _page(self, template: str, **values: object) -> Response:
        return HTMLResponse(self.pages.draw(template, **values))


@dataclass(frozen=True)
class Desk:
    """All that the pages offer beyond showing runs.

    Args:
        labels: what people say of judged checks.
        downloads: renders runs through reporters.
        quarantine: makes the lines by which a case goes into quarantine; `None` if no folder is known.
        stopper: stops runs that go on; `None` if none can be stopped.
        maps: the maps of catalogues.
        remarks: those of plugins on runs.
    """

    labels: Labels
    downloads: Downloads
    quarantine: Quarantine | None = None
    stopper: Stopper | None = None
    maps: Maps = field(default_factory=Maps)
    remarks: Remarks = field(default_factory=Remarks)


def make_app(runs: Runs, tickets: Tickets, names: Names, desk: Desk, pages: Pages) -> Gate:
    """Return the whole server as an ASGI application."""

    def message(status: int, title: str, text: str) -> Response:
        return HTMLResponse(pages.draw("message", title=title, text=text, leads_to=None), status_code=status)

    def welcome(run: str) -> Response:
        leads_to = pages.links.run(run, follow="1") if key_of(run) == run else pages.links.runs()
        return HTMLResponse(pages.draw("message", title="Opening", text="The pages open.", leads_to=leads_to))

    def failed(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return message(error.status_code, "Not found" if error.status_code == 404 else "Not possible", error.detail)

    def broken(_request: Request, error: Exception) -> Response:
        assert isinstance(error, SkillgaugeError)
        text = "; ".join(dict.fromkeys(plain(one.message, 500) for one in error.problems))
        return message(503, "It cannot be read", text)

    handlers: Mapping[object, Callable[[Request, Exception], Response]] = {
        HTTPException: failed,
        SkillgaugeError: broken,
    }
    viewer = Viewer(runs, pages, Cases(), tickets, desk)
    app = Starlette(routes=viewer.routes(), exception_handlers=dict(handlers))
    return Gate(
        app,
        tickets,
        names,
        refuse=message,
        welcome=welcome,
    )

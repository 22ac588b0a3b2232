"""A server that answers on this machine, and the runs that it shows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from skillgauge.api import (
    Archive,
    EventKind,
    Identity,
    Kept,
    RunNotes,
    Score,
    Trajectory,
    TrajectoryEvent,
    TrialNotes,
    TrialResult,
    Usage,
)
from skillgauge.api.report import Progress, RunState, RunView, Summary
from skillgauge.api.run import Globals, invocation
from skillgauge_command_view.app import Desk
from skillgauge_command_view.downloads import Downloads
from skillgauge_command_view.links import key_of
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.pages.map_page import Maps
from skillgauge_command_view.pages.remarks import Remarks
from skillgauge_command_view.quarantining import Quarantine
from skillgauge_command_view.rows import RunRow, row_of
from skillgauge_command_view.serving import Place, Server
from skillgauge_command_view.sources import Runs, Source, StoredRuns
from skillgauge_command_view.stopping import Stopper
from skillgauge_skill_maps import NAME, MapDocument, PlannedSessions, QueryRow
from skillgauge_skill_maps.model import Action, MatrixRow, SkillRow
from skillgauge_testkit import contract_views
from skillgauge_testkit.contract.views import HOSTILE


class GivenRuns:
    """Runs in memory: a source of the viewer."""

    label = "memory"

    def __init__(self, views: Sequence[RunView]) -> None:
        """Take the runs."""
        self._views = {view.run.run_id: view for view in views}

    def rows(self) -> Iterator[RunRow]:
        """Every run."""
        for view in self._views.values():
            yield row_of(view, key_of(view.run.run_id), self.label)

    def views(self, rows: Sequence[RunRow]) -> Iterator[RunView]:
        """The runs of some rows."""
        return (self._views[row.run_id] for row in rows)

    def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """Keep nothing that people say."""
        return False

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes] | None:
        """Keep nothing that people say."""
        return None

    def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """Keep nothing that people say."""
        return False

    def find(self, key: str) -> tuple[RunRow, RunView] | None:
        """A run by its name in addresses."""
        row = next((row for row in self.rows() if row.key == key), None)
        return (row, self._views[row.run_id]) if row else None


def numbered(views: Sequence[RunView]) -> list[RunView]:
    """The same runs with an id of their own each."""
    return [
        replace(
            view, run=view.run.model_copy(update={"run_id": f"run{number}", "started_at": 1_700_000_000.0 + number})
        )
        for number, view in enumerate(views)
    ]


@pytest.fixture(scope="session")
def views() -> list[RunView]:
    """Every kind of run that a reporter has to show."""
    return numbered([view for _, view in contract_views()])


@dataclass
class Served:
    """A server and a client that its token let in."""

    server: Server
    client: httpx.Client

    @property
    def origin(self) -> str:
        """The beginning of each of its addresses."""
        return f"http://127.0.0.1:{self.server.port}"

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Ask for a page."""
        return self.client.get(path, **more)

    def stranger(self, **more: Any) -> httpx.Client:
        """A client without the cookie."""
        return httpx.Client(base_url=self.origin, trust_env=False, **more)


Serve = Callable[..., Any]


def judged(view: RunView, run_id: str) -> RunView:
    """The same run with a check in each trial that a judge decided, about hostile texts among others."""
    statements = ["It greets the reader by name.", *HOSTILE]

    def result(place: int, before: TrialResult) -> TrialResult:
        evidence = {
            "model": "judge-model",
            "prompt": "a" * 64,
            "rubric": "b" * 64,
            "answers": [{"statement": statements[place % len(statements)]}],
        }
        make = Score.passed if place % 3 else Score.failed
        score = make("secret opinion of the judge", evidence=evidence)
        words = {"check_id": "greets", "scorer": "rubric", "scorer_version": "5"}
        return before.model_copy(
            update={"scores": (*before.scores, score.model_copy(update=words)), "execution_id": f"execution-{place}"}
        )

    results = [result(place, before) for place, before in enumerate(view.results())]
    head = view.head.model_copy(update={"judges": (Identity(name="made-up-judge", version="1", model="judge-model"),)})
    run = view.run.model_copy(update={"run_id": run_id})
    return replace(view, head=head, run=run, source=Kept(lambda: results, list(view.cases())))


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Serve some runs while a context lasts."""

    @contextmanager
    def serving(
        views: Sequence[RunView],
        *,
        is_open: bool = True,
        labels: Labels | None = None,
        downloads: Downloads | None = None,
        source: Source | None = None,
        quarantine: Quarantine | None = None,
        stopper: Stopper | None = None,
        maps: Maps | None = None,
        remarks: Remarks | None = None,
    ) -> Iterator[Served]:
        labels = labels or Labels(Path("no-such-folder/labels.jsonl"), can_add=False)
        desk = Desk(labels, downloads or Downloads(), quarantine, stopper, maps or Maps(), remarks or Remarks())
        server = Server(Runs([source or GivenRuns(views)]), Place("127.0.0.1", 0), desk)
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            origin = f"http://127.0.0.1:{server.port}"
            with httpx.Client(base_url=origin, trust_env=False, timeout=30) as client:
                if is_open:
                    assert client.get(server.address).status_code == 200
                yield Served(server, client)
        finally:
            server.stop()
            thread.join()

    return serving


@pytest.fixture(scope="session")
def served(serve: Serve, views: list[RunView]) -> Iterator[Served]:
    """A server that shows every kind of run."""
    with serve(views) as running:
        yield running


@pytest.fixture
def judged_view(views: list[RunView]) -> RunView:
    """A comparison of two arms in which a judge decided a check of each trial."""
    return judged(views[6], "judged")


@pytest.fixture(scope="session")
def downloads() -> Downloads:
    """Reports of the installed reporters."""
    return Downloads(invocation(Globals(quiet=True), {}))


@pytest.fixture
def eventful_view(views: list[RunView]) -> RunView:
    """A comparison of two arms whose sessions tell when everything happened and what it cost."""

    def events(place: int) -> Iterator[TrajectoryEvent]:
        for turn in range(3 + place):
            start = turn * 7.0
            yield TrajectoryEvent(kind=EventKind.MESSAGE, text="I look at it.", at_s=start + 1)
            yield TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", call_id=f"{turn}", at_s=start + 2)
            yield TrajectoryEvent(kind=EventKind.TOOL_RESULT, text="done", call_id=f"{turn}", at_s=start + 6)

    def result(place: int, before: TrialResult) -> TrialResult:
        usage = Usage(total_tokens=1_000 + 300 * place, cost_usd=0.02 * (1 + place % 3))
        trajectory = Trajectory(events=tuple(events(place)))
        update = {"usage": usage, "trajectory": trajectory, "duration_s": 21.0 + 7 * place, "failure": None}
        return before.model_copy(update={"execution": before.execution.model_copy(update=update)})

    results = [result(place, before) for place, before in enumerate(views[6].results())]
    run = views[6].run.model_copy(update={"run_id": "eventful"})
    return replace(views[6], run=run, source=Kept(lambda: results, list(views[6].cases())))


def awaited(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: the browser's thread has an event loop that goes on."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()


@pytest.fixture
def stored(views: list[RunView], tmp_path: Path) -> Iterator[StoredRuns]:
    """The same finished comparison three times in a store, as `run0` to `run2`."""
    store = invocation(Globals(), {"store": str(tmp_path / "runs.db")}).open_store()
    try:
        assert isinstance(store, Archive)
        for view in numbered([views[6]] * 3):
            assert awaited(store.keep(view))
        yield StoredRuns("runs.db", store)
    finally:
        awaited(store.close())


ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def kept_skill(name: str) -> SkillRow:
    """A skill to keep."""
    return SkillRow(
        name=name,
        action=Action.KEEP,
        partners=(),
        evidence=(f"{name} fired",),
        own=None,
        others_fired=0,
        none_fired=0,
        for_others=0,
        never_chosen=False,
        description_tokens=5,
        input_tokens=None,
    )


def map_of(*runs: str) -> MapDocument:
    """A map of two skills, one of which has a hostile name, that rests on these runs."""
    return MapDocument(
        exit_code=0,
        verdict=f"2 skills: {ATTACK}",
        state="finished",
        started_at=1_700_000_000.0,
        engine="mock",
        model=None,
        runs=runs,
        sessions=PlannedSessions(screening=2, leave_one_out=0, skills=2, queries=2, runs=1),
        unknown=0,
        tokens=0,
        cost_usd=0.0,
        description_tokens=10,
        level=0.05,
        tested=0,
        skills=(kept_skill("pdf"), kept_skill(ATTACK)),
        pairs=(),
        matrix=(MatrixRow(query_of="pdf", sessions=2, fired={"pdf": 1, ATTACK: 1}),),
        queries=(QueryRow(query_of="pdf", id="q1", prompt=ATTACK),),
    )


@pytest.fixture
def map_folder(tmp_path: Path) -> Path:
    """A folder of reports with a map."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / f"{NAME}-1.json").write_text(map_of("run6", "gone").model_dump_json())
    return tmp_path / "reports"


class Watched:
    """The source of a run whose store tells how far it is."""

    def __init__(self, view: RunView, progress: Progress) -> None:
        """Take what there is to read."""
        self._view = view
        self._progress = progress

    def __getattr__(self, name: str) -> Any:
        """Give what the run's own source gives."""
        return getattr(self._view.source, name)

    def progress(self) -> Progress:
        """How far it is."""
        return self._progress

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """The results; the page asks for none of them this way."""
        return iter(())


@pytest.fixture(scope="session")
def going_on() -> Callable[[RunView, Progress], RunView]:
    """The same run while another process works on it."""

    def make(view: RunView, progress: Progress) -> RunView:
        run = view.run.model_copy(update={"state": RunState.RUNNING, "finished_at": None})
        return replace(view, run=run, summary=Summary.empty(), source=Watched(view, progress))

    return make

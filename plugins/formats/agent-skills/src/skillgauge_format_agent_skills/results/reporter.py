"""Write benchmark.json of skill-creator; reading it is in `reading`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from skillgauge.api import Artifact, SuiteHead, TrialResult, Verdict, json_text
from skillgauge.api.report import RunView, case_by_case

from .benchmark import Key, Tally, compared, is_graded, metadata, run_document, run_summary
from .reading import read_benchmark

_RUNS, _UNGRADED = "runs", "ungraded_runs"
_SPOOLED = 1 << 20
"""Bytes of runs that are held in memory; more of them wait in a file."""
_CHUNK = 1 << 16


class AgentSkillsReporter:
    """One document per skill, engine and model; several of them are a list."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The document, eval by eval. Runs are read once and not kept, so their number does not matter."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A document of skill-creator itself or of this reporter."""
        return read_benchmark(path)


@dataclass
class Draft:
    """A document whose runs wait aside, because what stands before them tells of all of them."""

    runs: IO[bytes]
    ungraded: IO[bytes]
    """Runs without a pass rate, in a list of their own."""
    tally: Tally = field(default_factory=Tally)

    def add_case(self, suite: SuiteHead, results: Sequence[TrialResult]) -> None:
        """Take all trials of one case."""
        for result in results:
            place = self.runs if is_graded(result) else self.ungraded
            run = _indented(run_document(suite, result)).replace("\n", "\n    ")
            place.write(f"{',' if place.tell() else ''}\n    {run}".encode())
        self.tally.add_case(results, compared(suite))


def _chunks(view: RunView) -> Iterator[bytes]:
    suites = {suite.id: suite for suite in view.head.suites}
    with drafts_of(view, suites) as drafts:
        if len(drafts) == 1:
            ((key, draft),) = drafts.items()
            yield from document_of(view, suites[key.suite_id], key, draft)
            yield b"\n"
            return
        yield b"["
        in_plan_order = sorted(drafts, key=lambda key: [*suites].index(key.suite_id))
        for number, key in enumerate(in_plan_order):
            yield b",\n" if number else b"\n"
            yield from document_of(view, suites[key.suite_id], key, drafts[key])
        yield b"\n]\n"


@contextmanager
def drafts_of(view: RunView, suites: Mapping[str, SuiteHead]) -> Iterator[dict[Key, Draft]]:
    """Return the results of these suites' runs; read once and not kept."""
    drafts: dict[Key, Draft] = {}
    with ExitStack() as spools:
        for case in case_by_case(view):
            of_key: dict[Key, list[TrialResult]] = {}
            for result in chain.from_iterable(case.results.values()):
                if result.verdict is not Verdict.SKIPPED and result.suite_id in suites:
                    of_key.setdefault(Key.of(result), []).append(result)
            for key, results in of_key.items():
                if key not in drafts:
                    runs = spools.enter_context(SpooledTemporaryFile(_SPOOLED))
                    drafts[key] = Draft(runs, spools.enter_context(SpooledTemporaryFile(_SPOOLED)))
                drafts[key].add_case(suites[key.suite_id], results)
        yield drafts


def document_of(view: RunView, suite: SuiteHead, key: Key, draft: Draft) -> Iterator[bytes]:
    """The document of one suite, engine and model."""
    summary, notes = run_summary(suite, draft.tally)
    lists = {_RUNS: draft.runs, **({_UNGRADED: draft.ungraded} if draft.ungraded.tell() else {})}
    document = {
        "metadata": metadata(view, suite, key, draft.tally),
        _RUNS: [],
        "run_summary": summary,
        "notes": notes,
        **{name: [] for name in lists},
    }
    rest = _indented(document)
    for name, runs in lists.items():
        before, _, rest = rest.partition(f'"{name}": []')
        yield f'{before}"{name}": ['.encode()
        runs.seek(0)
        while chunk := runs.read(_CHUNK):
            yield chunk
        rest = f"\n  ]{rest}"
    yield rest.encode()


def _indented(value: dict[str, Any]) -> str:
    return json_text(json.dumps(value, indent=2, ensure_ascii=False))

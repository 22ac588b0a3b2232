"""Write benchmark.json of skill-creator; reading it is in `reading`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from skillgauge.api import Artifact, RunView, SuiteHead, TrialResult, Verdict, case_by_case, json_text

from .benchmark import Key, Tally, compared, metadata, run_document, run_summary
from .reading import read_benchmark

_NO_RUNS = '"runs": []'
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
class _Draft:
    """A document whose runs wait aside, because what stands before them tells of all of them."""

    runs: IO[bytes]
    tally: Tally = field(default_factory=Tally)

    def add_case(self, suite: SuiteHead, results: Sequence[TrialResult]) -> None:
        for result in results:
            run = _indented(run_document(suite, result)).replace("\n", "\n    ")
            self.runs.write(f"{',' if self.runs.tell() else ''}\n    {run}".encode())
        self.tally.add_case(results, compared(suite))


def _chunks(view: RunView) -> Iterator[bytes]:
    suites = {suite.id: suite for suite in view.head.suites}
    with ExitStack() as spools:
        drafts: dict[Key, _Draft] = {}
        for case in case_by_case(view):
            of_key: dict[Key, list[TrialResult]] = {}
            for result in chain.from_iterable(case.results.values()):
                if result.verdict is not Verdict.SKIPPED and result.suite_id in suites:
                    of_key.setdefault(Key.of(result), []).append(result)
            for key, results in of_key.items():
                if key not in drafts:
                    drafts[key] = _Draft(spools.enter_context(SpooledTemporaryFile(_SPOOLED)))
                drafts[key].add_case(suites[key.suite_id], results)
        if len(drafts) == 1:
            ((key, draft),) = drafts.items()
            yield from _document(view, suites[key.suite_id], key, draft)
            yield b"\n"
            return
        yield b"["
        in_plan_order = sorted(drafts, key=lambda key: [*suites].index(key.suite_id))
        for number, key in enumerate(in_plan_order):
            yield b",\n" if number else b"\n"
            yield from _document(view, suites[key.suite_id], key, drafts[key])
        yield b"\n]\n"


def _document(view: RunView, suite: SuiteHead, key: Key, draft: _Draft) -> Iterator[bytes]:
    summary, notes = run_summary(suite, draft.tally)
    document = {
        "metadata": metadata(view, suite, key, draft.tally),
        "runs": [],
        "run_summary": summary,
        "notes": notes,
    }
    before, _, after = _indented(document).partition(_NO_RUNS)
    yield f'{before}"runs": ['.encode()
    draft.runs.seek(0)
    while chunk := draft.runs.read(_CHUNK):
        yield chunk
    yield f"\n  ]{after}".encode()


def _indented(value: dict[str, Any]) -> str:
    return json_text(json.dumps(value, indent=2, ensure_ascii=False))

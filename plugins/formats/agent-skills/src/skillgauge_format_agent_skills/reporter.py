"""Write benchmark.json of skill-creator; reading it is in `reading`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from skillgauge.api import Artifact, RunView, SuiteHead, Verdict

from .benchmark import Key, Tally, key_of, metadata, run_document, run_summary
from .reading import read_benchmark

_NO_RUNS = '"runs": []'


class AgentSkillsReporter:
    """One document per skill, engine and model; several of them are a list."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The document. Runs are written as they are read, so their number does not matter."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A document of skill-creator itself or of this reporter."""
        return read_benchmark(path)


def _chunks(view: RunView) -> Iterator[bytes]:
    suites = {suite.id: suite for suite in view.head.suites}
    tallies: dict[Key, Tally] = {}
    for result in view.results():
        if result.verdict is not Verdict.SKIPPED and result.suite_id in suites:
            tallies.setdefault(key_of(result), Tally()).add(result)
    if len(tallies) == 1:
        ((key, tally),) = tallies.items()
        yield from _document(view, suites[key[0]], key, tally)
        yield b"\n"
        return
    yield b"["
    for number, (key, tally) in enumerate(tallies.items()):
        yield b",\n" if number else b"\n"
        yield from _document(view, suites[key[0]], key, tally)
    yield b"\n]\n"


def _document(view: RunView, suite: SuiteHead, key: Key, tally: Tally) -> Iterator[bytes]:
    summary, notes = run_summary(suite, tally)
    document = {
        "metadata": metadata(view, suite, key[2], key[1], tally),
        "runs": [],
        "run_summary": summary,
        "notes": notes,
    }
    before, _, after = _indented(document).partition(_NO_RUNS)
    yield f'{before}"runs": ['.encode()
    between = "\n"
    for result in view.results():
        if key_of(result) == key and result.verdict is not Verdict.SKIPPED:
            run = _indented(run_document(suite, result)).replace("\n", "\n    ")
            yield f"{between}    {run}".encode()
            between = ",\n"
    yield f"\n  ]{after}".encode()


def _indented(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

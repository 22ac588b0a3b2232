"""An expected text in what was answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

from skillgauge.api import EventKind, Score, ScoreContext, TrajectoryEvent, thaw

from .matching import between_boundaries, standing
from .options import GroundTruthOptions, Matching

MAX_BYTES = 100_000
"""Larger files are not read, as with BenchFlow."""
_SHOWN = 60


class GroundTruthScorer:
    """Passes if the text stands in one of the places that its matching looks at."""

    version = "1"

    def __init__(self, options: GroundTruthOptions) -> None:
        self._as_benchflow = options.matching is Matching.BENCHFLOW
        self._shown = options.text.strip()
        self._find = between_boundaries if self._as_benchflow else standing

    async def score(self, context: ScoreContext) -> Score:
        """Search place after place."""
        if not self._shown:
            return Score.failed("Nothing is expected, so nothing can be found")
        pattern = self._find(self._shown)
        for place, text in self._said(context):
            if match := pattern.search(text):
                return _found(place, text, match.start())
        if context.workspace is None:
            paths = [change.path for change in context.execution.files if change.change != "deleted"]
            if paths or self._as_benchflow:
                return Score.ungraded("The workspace is gone, so nobody knows what is in its files")
            return self._nowhere(context)
        async for place, text in self._files(context):
            if match := pattern.search(text):
                return _found(place, text, match.start())
        return self._nowhere(context)

    def _said(self, context: ScoreContext) -> Iterator[tuple[str, str]]:
        yield "the answer", context.answer.text
        events = context.execution.trajectory.events if context.execution.trajectory else ()
        if self._as_benchflow:
            yield "the question", context.case.prompt or ""
            yield from (("the log", _line(event)) for event in events)
        else:
            # What a tool gave back is not the agent's answer: it may be the skill, or the question.
            yield from (("a message", event.text) for event in events if event.kind is EventKind.MESSAGE)

    async def _files(self, context: ScoreContext) -> AsyncIterator[tuple[str, str]]:
        workspace = context.workspace
        assert workspace is not None
        if self._as_benchflow:
            paths = [*await workspace.snapshot()]
        else:
            paths = [change.path for change in context.execution.files if change.change != "deleted"]
        for path in sorted(paths):
            try:
                data = await workspace.collect(path, MAX_BYTES + 1)
                if len(data) <= MAX_BYTES:
                    yield path, data.decode()
            except (OSError, ValueError, KeyError):
                continue  # gone since, or no text

    def _nowhere(self, context: ScoreContext) -> Score:
        shown = self._shown if len(self._shown) <= _SHOWN else f"{self._shown[:_SHOWN]}…"
        answer = context.answer.text.strip() or "nothing"
        text_shown = answer if len(answer) <= _SHOWN else f"{answer[:_SHOWN]}…"
        return Score.failed(f"{shown!r} stands neither in the answer nor in a file; answered was: {text_shown}")


def _line(event: TrajectoryEvent) -> str:
    return json.dumps({"text": event.text, "name": event.name, "data": thaw(event.data)})


def _found(place: str, text: str, at: int) -> Score:
    around = text[max(0, at - _SHOWN) : at + _SHOWN]
    return Score.passed(f"Found in {place}", evidence={"place": place, "around": around})

"""A reporter as an outsider writes it: each case with its prompt, both arms, outcome, difference and transcripts."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import skillgauge.api as sg


class PairsReporter:
    """Plain text; nothing is computed here, and one case at a time is in memory."""

    suffix = "pairs.txt"

    def render(self, view: sg.RunView) -> Iterable[sg.Artifact]:
        """The cases, then what each comparison comes to."""
        yield sg.Artifact(chunks=(f"{line}\n".encode() for line in _lines(view)))

    def read(self, path: Path) -> sg.RunView | None:
        """Nothing is read back."""
        return None


def _lines(view: sg.RunView) -> Iterator[str]:
    for report in sg.case_by_case(view):
        yield f"case {report.case.id}: {report.case.prompt or report.case.input}"
        for pair in report.pairs:
            yield from _pair(report, pair)
    for pair in view.summary.pairs:
        lift = "unknown" if pair.lift is None else f"{100 * pair.lift:+.1f} points"
        yield f"{pair.candidate.arm} against {pair.baseline.arm}: lift {lift} over {pair.n} cases"
        yield f"outcomes: {pair.outcomes.model_dump_json()}, dropped: {pair.dropped.model_dump_json()}"


def _pair(report: sg.CaseReport, pair: sg.CasePair) -> Iterator[str]:
    told = f"not comparable: {pair.dropped}" if pair.difference is None else f"difference {pair.difference:+.2f}"
    yield f"  {pair.outcome or 'not run'}, {told}"
    for group in (pair.candidate, pair.baseline):
        for result in report.results.get(group, ()):
            yield f"  {group.arm} run {result.repeat}: {result.verdict}"
            yield from (f"    {line}" for line in _transcript(result))


def _transcript(result: sg.TrialResult) -> Iterator[str]:
    trajectory = result.execution.trajectory
    for event in trajectory.events if trajectory else ():
        yield f"{event.kind}: {event.name or event.text}"
    yield f"answer: {result.execution.text}"


@sg.hookimpl
def skillgauge_reporters() -> Iterable[sg.Provider[PairsReporter]]:
    """The reporter `pairs`."""
    yield sg.Provider(name="pairs", options=sg.NoOptions, factory=PairsReporter, summary="Cases in both arms.")

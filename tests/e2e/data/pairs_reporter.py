"""A reporter as an outsider writes it: each case with its prompt, both arms, outcome, difference and transcripts."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from skillgauge.api import Artifact, NoOptions, Provider, TrialResult, hookimpl
from skillgauge.api.report import CasePair, CaseReport, RunView, case_by_case


class PairsReporter:
    """Plain text; nothing is computed here, and one case at a time is in memory."""

    suffix = "pairs.txt"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The cases, then what each comparison comes to."""
        yield Artifact(chunks=(f"{line}\n".encode() for line in _lines(view)))

    def read(self, path: Path) -> RunView | None:
        """Nothing is read back."""
        return None


def _lines(view: RunView) -> Iterator[str]:
    for report in case_by_case(view):
        yield f"case {report.case.id}: {report.case.prompt or report.case.input}"
        for pair in report.pairs:
            yield from _pair(report, pair)
    for pair in view.summary.pairs:
        lift = "unknown" if pair.lift is None else f"{100 * pair.lift:+.1f} points"
        yield f"{pair.candidate.arm} against {pair.baseline.arm}: lift {lift} over {pair.n} cases"
        yield f"outcomes: {pair.outcomes.model_dump_json()}, dropped: {pair.dropped.model_dump_json()}"


def _pair(report: CaseReport, pair: CasePair) -> Iterator[str]:
    told = f"not comparable: {pair.dropped}" if pair.difference is None else f"difference {pair.difference:+.2f}"
    yield f"  {pair.outcome or 'not run'}, {told}"
    for group in (pair.candidate, pair.baseline):
        for result in report.results.get(group, ()):
            yield f"  {group.arm} run {result.repeat}: {result.verdict}"
            yield from (f"    {line}" for line in _transcript(result))


def _transcript(result: TrialResult) -> Iterator[str]:
    trajectory = result.execution.trajectory
    for event in trajectory.events if trajectory else ():
        yield f"{event.kind}: {event.name or event.text}"
    yield f"answer: {result.execution.text}"


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[PairsReporter]]:
    """The reporter `pairs`."""
    yield Provider(name="pairs", options=NoOptions, factory=PairsReporter, summary="Cases in both arms.")

"""Read the result document of eval-skills back into a run.

A document says less than a run: what it does not say is unknown, and the numbers of its summary are kept as they were
published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from skillgauge.api import CaseHead, JsonValue, Kept, PlanHead, SuiteError, SuiteHead, TargetHead, digest
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, SuiteValidity, Summary
from skillgauge_validation import result_document

from ..benchmarks import COMPLETION
from ..findings import Findings
from ..loading import FORMAT
from .files import ReportFile, SkillgaugeFile, ValidityFile
from .summaries import summary_of
from .trials import PublishedGroup, groups_of, seconds

_MARKS = ("skillId", "benchmarkId")


def read_reports(path: Path) -> RunView | None:
    """A run as far as a document of eval-skills tells it; `None` if the file is something else.

    Raises:
        SuiteError: it is such a document, but damaged.
    """
    document = result_document(path, is_own=_are_reports, was_own=_were_reports)
    if document is None:
        return None
    items = document.value if isinstance(document.value, tuple) else ()
    findings = Findings()
    reports = [
        findings.validated(ReportFile, item, partial(document.origin, index)) for index, item in enumerate(items)
    ]
    if findings.errors:
        raise SuiteError(findings.errors)
    return _view(path, digest(document.value), [report for report in reports if report is not None])


def _are_reports(value: JsonValue) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_is_report, value))


def _is_report(item: object) -> bool:
    return isinstance(item, Mapping) and all(mark in item for mark in _MARKS)


def _were_reports(beginning: bytes) -> bool:
    return beginning.startswith(b"[") and all(f'"{mark}"'.encode() in beginning for mark in _MARKS)


def _view(path: Path, content: str, reports: list[ReportFile]) -> RunView:
    groups = groups_of(reports)
    suites: dict[str, list[PublishedGroup]] = {}
    for group in groups:
        suites.setdefault(group.report.benchmark_id, []).append(group)
    extras = [extra for report in reports if (extra := report.evaluator_metadata.skillgauge)]
    started = min(seconds(report.timestamp) for report in reports)
    summaries = tuple(map(summary_of, groups))
    return RunView(
        run=RunInfo(run_id=content, state=_state(extras), started_at=started),
        head=_plan_head(path, content, suites, extras),
        summary=Summary(
            counts=_total(summaries),
            groups=summaries,
            validity=tuple(_validity(suite_id, members) for suite_id, members in suites.items()),
        ),
        source=Kept(lambda: (result for group in groups for result in group.results()), _heads(suites)),
    )


def _plan_head(
    path: Path, content: str, suites: Mapping[str, list[PublishedGroup]], extras: Sequence[SkillgaugeFile]
) -> PlanHead:
    tasks = [task for groups in suites.values() for group in groups for task in group.report.task_results]
    return PlanHead(
        plan_id=content,
        suites=tuple(_suite_head(path, content, suite_id, groups) for suite_id, groups in suites.items()),
        trial_count=len(tasks),
        runs=max((task.run_id for task in tasks), default=1),
        seed=next((extra.seed for extra in extras), 0),
        judges=next((extra.judges for extra in extras if extra.judges), ()),
    )


def _total(summaries: Iterable[GroupSummary]) -> Counts:
    return Counts(**{name: sum(getattr(summary.counts, name) for summary in summaries) for name in Counts.model_fields})


def _state(extras: Iterable[SkillgaugeFile]) -> RunState:
    """Return the state of the run; the original writes finished ones only."""
    return next((extra.state for extra in extras if extra.state is not RunState.FINISHED), RunState.FINISHED)


def _validity(suite_id: str, groups: Iterable[PublishedGroup]) -> SuiteValidity:
    """As the document says; whether a run proves anything the original does not say."""
    extras = (group.report.evaluator_metadata.skillgauge for group in groups)
    validities = [extra.validity for extra in extras if extra and extra.validity]
    certain = validities[0] if validities else ValidityFile(valid=True)
    validity = next((validity for validity in validities if not validity.valid), certain)
    return SuiteValidity(
        suite_id=suite_id, valid=validity.valid, error_share=validity.error_share, reason=validity.reason
    )


def _heads(suites: Mapping[str, list[PublishedGroup]]) -> Iterator[CaseHead]:
    """Yield the known facts of the tasks."""
    for suite_id, groups in suites.items():
        extras = (group.report.evaluator_metadata.skillgauge for group in groups)
        digests = {task: content for extra in extras if extra for task, content in extra.cases.items()}
        for task, index in groups[0].case_indices.items():
            yield CaseHead(suite_id=suite_id, index=index, id=task, digest=digests.get(task, ""))


def _suite_head(path: Path, content: str, suite_id: str, groups: list[PublishedGroup]) -> SuiteHead:
    versions = {group.report.skill_id: group.report.skill_version or None for group in groups}
    return SuiteHead(
        id=suite_id,
        format=FORMAT,
        root=str(path.absolute()),
        content_digest=content,
        case_count=len(groups[0].case_indices),
        targets=tuple(TargetHead(id=skill, name=skill, version=version) for skill, version in versions.items()),
        arms=tuple(dict.fromkeys(group.arm for group in groups)),
        document=FORMAT,
        completion=COMPLETION,
        case_weights=any(task.weight != 1 for group in groups for task in group.report.task_results),
    )

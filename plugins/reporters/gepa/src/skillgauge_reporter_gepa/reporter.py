"""The material from which GEPA learns: each session with its score, and its faults in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Artifact,
    CaseHead,
    EventKind,
    Score,
    SuiteHead,
    TrajectoryEvent,
    TrialResult,
    Verdict,
    digest,
    thaw,
)
from skillgauge.api.report import CaseReport, GroupKey, GroupSummary, PairSummary, RunView, case_by_case

COMPONENT = "skill_md"
"""Name of the text that is evolved, in `seed_candidate` and the reflective dataset."""
_SKILL_BYTES = 4 * 1024 * 1024
_LONGEST = 60
"""Bytes of a part of a name that are kept."""
_RESULTS = {EventKind.TOOL_CALL: "tool_call", EventKind.TOOL_RESULT: "tool_result"}


class GepaReporter:
    """A folder for each skill: BenchFlow's layout, and what `gepa.optimize` takes."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The files of each suite, case by case; the results are read once, and one case is held."""
        suites = list(view.head.suites)
        folders = _folders(suites)
        for suite in suites:
            text = _skill_text(suite)
            if text is not None:
                yield Artifact(chunks=[text.encode()], path=f"{folders[suite.id]}skill.md")
            yield Artifact(chunks=[_json(_summary(view, suite))], path=f"{folders[suite.id]}summary.json")
        yield from self._sessions(view, suites)
        if len(suites) != 1:
            yield Artifact(chunks=[_json([_name(suite.name or suite.id) for suite in suites])], path="skills.json")

    def read(self, path: Path) -> RunView | None:
        """Traces are for GEPA; a run is read from its record."""
        return None

    def _sessions(self, view: RunView, suites: list[SuiteHead]) -> Iterator[Artifact]:
        """Yield a trace for each session, then the dataset of each suite."""
        folders = _folders(suites)
        suites_by_id = {suite.id: suite for suite in suites}
        datasets = {suite.id: _Dataset() for suite in suites}
        runners = Counter(runner for runner, _ in {(one.key.runner, one.key.model) for one in view.summary.groups})
        for case in case_by_case(view):
            suite = suites_by_id.get(case.case.suite_id)
            if suite is None:
                continue
            text = _skill_text(suite)
            for name, result in _named(case, suite, runners):
                content = _json(_trace(result, case.case, suite, text))
                yield Artifact(chunks=[content], path=f"{folders[suite.id]}traces/{name}.json")
                datasets[suite.id].add_session(result, case.case, suite)
            datasets[suite.id].add_case(case, suite)
        for suite in suites:
            content = _json(datasets[suite.id].document(_skill_text(suite) or ""))
            yield Artifact(chunks=[content], path=f"{folders[suite.id]}reflective_dataset.json")


@dataclass
class _Dataset:
    """The cases and sessions of a suite, as `gepa.optimize` takes them."""

    records: list[dict[str, Any]] = field(default_factory=list)
    examples: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)

    def add_session(self, result: TrialResult, case: CaseHead, suite: SuiteHead) -> None:
        """Add a session, if it tells something about the skill."""
        if suite.is_baseline(result.arm) or result.verdict is Verdict.ERROR:
            return
        self.records.append(_record(result, case))

    def add_case(self, report: CaseReport, suite: SuiteHead) -> None:
        """Add a case with its score."""
        case = report.case
        self.scores[case.id] = _score(report, suite)
        self.examples.append({"case_id": case.id, "input": case.prompt, "tags": [*case.tags]})

    def document(self, text: str) -> dict[str, Any]:
        """Return the dataset; `text` is that of the skill."""
        return {
            "seed_candidate": {COMPONENT: text},
            "trainset": self.examples,
            "reflective_dataset": {COMPONENT: self.records},
            "scores": self.scores,
        }


def _folders(suites: Sequence[SuiteHead]) -> dict[str, str]:
    """Return the folder of each suite by its id, with a slash at its end; a single suite needs none."""
    if len(suites) <= 1:
        return {suite.id: "" for suite in suites}
    return {suite.id: f"{_name(suite.name or suite.id)}/" for suite in suites}


def _named(case: CaseReport, suite: SuiteHead, runners: Counter[str]) -> Iterator[tuple[str, TrialResult]]:
    """Every session of a case under the name of its trace, with the model where an agent has several."""
    for group, results in case.results.items():
        side = "without" if suite.is_baseline(group.arm) else "with"
        agent = f"{group.runner}-{group.model}" if runners[group.runner] > 1 else group.runner
        stem = f"{_name(case.case.id)}-{_name(agent)}-{side}"
        if _is_ambiguous(case, group, suite):
            stem += f"-{digest(group.target_id, group.arm)[:6]}"
        for result in results:
            if result.verdict is Verdict.SKIPPED:
                continue
            is_repeated = len(results) > 1 or result.repeat > 1
            yield f"{stem}-{result.repeat}" if is_repeated else stem, result


def _is_ambiguous(case: CaseReport, group: GroupKey, suite: SuiteHead) -> bool:
    """Tell whether another group of the case would have a trace of the same name."""
    side = suite.is_baseline(group.arm)
    same = [
        result
        for result in case.results
        if (result.runner, result.model) == (group.runner, group.model) and suite.is_baseline(result.arm) is side
    ]
    return len(same) > 1


def _trace(result: TrialResult, case: CaseHead, suite: SuiteHead, skill: str | None) -> dict[str, Any]:
    events = result.execution.trajectory.events if result.execution.trajectory else ()
    failure = result.execution.failure
    trajectory = [_event(event) for event in events]
    graded = [score for score in result.scores if score.value is not None]
    return {
        "case_id": result.case_id,
        "agent": result.runner,
        "model": result.model,
        "with_skill": not suite.is_baseline(result.arm),
        "score": None if result.verdict is Verdict.ERROR else result.value,
        "rubric_results": [
            {"criterion": score.check_id, "pass": score.value == 1, "evidence": score.reason} for score in graded
        ]
        or None,
        "n_tool_calls": sum(event.kind is EventKind.TOOL_CALL for event in events),
        "error": failure.message if failure else None,
        "skill_text": skill,
        "prompt": case.prompt,
        "trajectory": trajectory,
        "tool_calls": [event for event in trajectory if event["type"] in _RESULTS.values()],
        "answer": result.execution.text,
    }


def _event(event: TrajectoryEvent) -> dict[str, Any]:
    kinds = {EventKind.MESSAGE: "agent_message", EventKind.REASONING: "agent_thought", EventKind.NOTICE: "notice"}
    entry = {"type": kinds.get(event.kind) or _RESULTS[event.kind], "text": event.text}
    more = {"tool": event.name, "tool_call_id": event.call_id, "data": thaw(event.data)}
    return {**entry, **{key: value for key, value in more.items() if value is not None}}


def _record(result: TrialResult, case: CaseHead) -> dict[str, Any]:
    """One example of what the skill brought about, as GEPA's reflection reads it."""
    events = result.execution.trajectory.events if result.execution.trajectory else ()
    calls = [f"{event.name}: {json.dumps(thaw(event.data), ensure_ascii=False)}" for event in events if event.name]
    return {
        "Inputs": {"task": case.prompt or ""},
        "Generated Outputs": {"answer": result.execution.text or "", "tool_calls": calls},
        "Feedback": feedback(result),
    }


def feedback(result: TrialResult) -> str:
    """The score and what was wrong, in sentences."""
    value = 0.0 if result.value is None else result.value
    wrong = [_fault(score) for score in result.scores if score.value is not None and score.value < 1]
    right = [score.check_id for score in result.scores if score.value == 1]
    failure = result.execution.failure
    parts = [f"Score {value:.2f} of 1."]
    if failure:
        parts.append(f"The session ended early: {failure.message}")
    parts += [f"Not met: {fault}" for fault in wrong]
    if right:
        parts.append(f"Met: {'; '.join(right)}")
    return "\n".join(parts)


def _fault(score: Score) -> str:
    return f"{score.check_id} ({score.reason})" if score.reason else score.check_id


def _score(case: CaseReport, suite: SuiteHead) -> float:
    """The mean score of a case in the arms that hold the skill; 0 where no session came to a result, as GEPA asks."""
    values = [
        summary.mean_value
        for group, summary in case.summaries.items()
        if not suite.is_baseline(group.arm) and summary.mean_value is not None
    ]
    return sum(values) / len(values) if values else 0.0


def _summary(view: RunView, suite: SuiteHead) -> dict[str, Any]:
    groups = {group.key: group for group in view.summary.groups if group.suite_id == suite.id}
    pairs = {pair.candidate: pair for pair in view.summary.pairs}
    lifts = [_lift(group, pairs.get(key), groups) for key, group in groups.items() if not suite.is_baseline(key.arm)]
    return {
        "skill_name": suite.name or suite.id,
        "n_cases": suite.case_count,
        "agents": list(dict.fromkeys(key.runner for key in groups)),
        "lifts": lifts,
    }


def _lift(group: GroupSummary, pair: PairSummary | None, groups: Mapping[GroupKey, GroupSummary]) -> dict[str, Any]:
    """Return what the skill brought an agent, beside the arm without it where there is one."""
    baseline = groups.get(pair.baseline) if pair else None
    baseline_score = baseline.mean_value if baseline else None
    baseline_errors = baseline.counts.errors if baseline else 0
    return {
        "agent": group.key.runner,
        "model": group.key.model,
        "with_skill_score": group.mean_value,
        "baseline_score": baseline_score,
        "lift": _difference(group.mean_value, baseline_score) if pair and _is_complete(pair) else None,
        "with_skill_passed": group.counts.passed,
        "baseline_passed": baseline.counts.passed if baseline else None,
        "baseline_ran": baseline is not None,
        "errors": group.counts.errors + baseline_errors,
    }


def _is_complete(pair: PairSummary) -> bool:
    """Return whether every case is compared: only then do two means differ by the skill alone."""
    return not any(count for _, count in pair.dropped)


def _difference(value: float | None, baseline: float | None) -> float | None:
    if value is None or baseline is None:
        return None
    return value - baseline


def _skill_text(suite: SuiteHead) -> str | None:
    """The skill as it is now; `None` if it is no longer there."""
    path = Path(suite.root, "SKILL.md")
    try:
        with path.open("rb") as stream:
            return stream.read(_SKILL_BYTES).decode(errors="replace")
    except OSError:
        return None


def _name(text: str) -> str:
    """A text as part of a file's name; one that cannot be its own is told apart by its digest."""
    name = "".join(one if one.isprintable() and one not in "/\\" else "-" for one in text).strip(" .") or "-"
    short = name.encode()[:_LONGEST].decode(errors="ignore")
    return short if short == text else f"{short}-{digest(text)[:8]}"


def _json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()

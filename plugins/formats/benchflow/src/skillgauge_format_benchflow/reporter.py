"""The lift of each agent and model, and what it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Artifact, JsonValue, SuiteHead, Verdict
from skillgauge.api.report import CaseReport, GroupKey, RunState, RunView, case_by_case
from skillgauge.stats import PairedDifference
from skillgauge_validation import result_document, validate

from .views import FORMAT, PASSES_ABOVE, Row, view_of


class BenchflowReporter:
    """One document per skill; several of them are a list."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The document; the results are read once, case by case."""
        documents = [_document(view, suite, tallies) for suite, tallies in _tallies(view)]
        content = documents[0] if len(documents) == 1 else documents
        yield Artifact(chunks=[f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()])

    def read(self, path: Path) -> RunView | None:
        """The run as far as the document tells it; its figures are computed anew.

        Raises:
            SuiteError: it is such a document, but damaged.
        """
        document = result_document(path, is_own=_is_own, was_own=_was_own)
        if document is None:
            return None
        value = document.value
        by_itself = not isinstance(value, tuple)
        items = value if isinstance(value, tuple) else (value,)
        files = [validate(_File, item, document, *(() if by_itself else (at,))) for at, item in enumerate(items)]
        rows = [row for file in files for row in file.rows()]
        if not rows:
            return None
        extra = files[0].benchflow
        return view_of(rows, extra.root, started_at=extra.started_at, state=extra.state)


def _is_own(value: JsonValue) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return bool(items) and all(isinstance(item, Mapping) and "lifts" in item and FORMAT in item for item in items)


def _was_own(beginning: bytes) -> bool:
    return beginning[:1] in (b"{", b"[") and b'"lifts"' in beginning and b'"skill_name"' in beginning


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Rollouts(_Part):
    """One of `cases`."""

    case_id: str
    question: str | None = None
    agent: str
    model: str | None = None
    rewards: Mapping[str, tuple[Annotated[float, Field(ge=0, le=1)] | None, ...]]


class _Told(_Part):
    """`benchflow` of a document: what the original has no place for."""

    version: Literal[1]
    root: str
    started_at: float
    state: RunState


class _File(_Part):
    skill_name: str
    cases: tuple[_Rollouts, ...]
    benchflow: _Told

    def rows(self) -> Iterator[Row]:
        for case in self.cases:
            for arm, rewards in case.rewards.items():
                for repeat, reward in enumerate(rewards, 1):
                    yield Row(
                        self.skill_name,
                        case.case_id,
                        case.agent,
                        case.model,
                        arm,
                        repeat,
                        reward,
                        question=case.question,
                    )


@dataclass
class _Tally:
    """One agent and model on the cases of a skill."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    rewards: dict[str, list[float]] = field(default_factory=dict)
    """Of each arm, the mean of each case over its repeats."""
    errors: dict[str, int] = field(default_factory=dict)
    lift: PairedDifference = field(default_factory=PairedDifference)
    """Over the cases with a reward in both arms."""
    passed_lift: int = 0
    unpaired: list[str] = field(default_factory=list)

    def add(self, case: CaseReport, suite: SuiteHead, key: GroupKey) -> None:
        """Take the repeats of one case in all arms."""
        means: dict[str, float] = {}
        rewards: dict[str, list[float | None]] = {}
        for arm in suite.arms:
            results = [pair for pair in case.results.get(key.in_arm(arm), ()) if pair.verdict is not Verdict.SKIPPED]
            if not results:
                continue
            rewards[arm] = [None if pair.verdict is Verdict.ERROR else pair.value for pair in results]
            values = [value for value in rewards[arm] if value is not None]
            self.errors[arm] = self.errors.get(arm, 0) + len(results) - len(values)
            self.rewards.setdefault(arm, [])
            if values:
                means[arm] = sum(values) / len(values)
                self.rewards[arm].append(means[arm])
        for pair in suite.compared:
            if pair.candidate in means and pair.baseline in means:
                self.lift.add(means[pair.candidate], means[pair.baseline])
                self.passed_lift += (means[pair.candidate] > PASSES_ABOVE) - (means[pair.baseline] > PASSES_ABOVE)
            elif pair.candidate in rewards or pair.baseline in rewards:
                self.unpaired.append(case.case.id)
        self.cases.append(
            {
                "case_id": case.case.id,
                "question": case.case.prompt,
                "agent": key.runner,
                "model": key.model,
                "rewards": rewards,
            }
        )


def _tallies(view: RunView) -> list[tuple[SuiteHead, dict[tuple[str, str | None], _Tally]]]:
    found: dict[str, dict[tuple[str, str | None], _Tally]] = {suite.id: {} for suite in view.head.suites}
    suites = {suite.id: suite for suite in view.head.suites}
    for case in case_by_case(view):
        suite_id = case.case.suite_id
        if suite_id not in suites:
            continue
        for key in {(group.runner, group.model): group for group in case.results}.values():
            tally = found[suite_id].setdefault((key.runner, key.model), _Tally())
            tally.add(case, suites[suite_id], key)
    return [(suites[one], tallies) for one, tallies in found.items()]


def _document(view: RunView, suite: SuiteHead, tallies: Mapping[tuple[str, str | None], _Tally]) -> dict[str, Any]:
    validity = next((one for one in view.summary.validity if one.suite_id == suite.id), None)
    return {
        "skill_name": suite.name or suite.id,
        "n_cases": suite.case_count,
        "agents": list(dict.fromkeys(agent for agent, _ in tallies)),
        "lifts": [_lift(agent, model, suite, tally) for (agent, model), tally in tallies.items()],
        "cases": [case for tally in tallies.values() for case in tally.cases],
        FORMAT: {
            "version": 1,
            "root": suite.root,
            "started_at": view.run.started_at,
            "state": view.run.state,
            "valid": validity.valid if validity else None,
            "reason": validity.reason if validity else "",
        },
    }


def _lift(agent: str, model: str | None, suite: SuiteHead, tally: _Tally) -> dict[str, Any]:
    """The keys of the original, with null for what is unknown; and what it takes to trust them."""
    pair = next(iter(suite.compared), None)
    with_skill = pair.candidate if pair else next(iter(tally.rewards), "")
    baseline = pair.baseline if pair else ""
    return {
        "agent": agent,
        "model": model,
        "with_skill_score": _mean(tally.rewards.get(with_skill)),
        "baseline_score": _mean(tally.rewards.get(baseline)),
        "lift": _rounded(tally.lift.mean),
        "with_skill_passed": _passed(tally.rewards.get(with_skill)),
        "baseline_passed": _passed(tally.rewards.get(baseline)),
        "baseline_ran": baseline in tally.rewards,
        "passed_lift": tally.passed_lift if tally.lift.n else None,
        "pairs": tally.lift.n,
        "unpaired": tally.unpaired,
        "errors": tally.errors,
    }


def _mean(values: list[float] | None) -> float | None:
    return _rounded(sum(values) / len(values)) if values else None


def _passed(values: list[float] | None) -> int | None:
    return sum(value > PASSES_ABOVE for value in values) if values is not None else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)

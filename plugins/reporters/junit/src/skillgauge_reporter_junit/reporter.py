"""JUnit XML: what continuous integration shows of a run, whatever was evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from skillgauge.api import (
    Artifact,
    GroupSummary,
    ResultOrder,
    RunView,
    ScoreStatus,
    TrialResult,
    Verdict,
    counted,
    labels,
)

_NAME, _TEXT = 200, 4_000
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Kind(StrEnum):
    """What becomes of a case, in the words of JUnit."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class _Case:
    """A case with all its repeats in one group."""

    results: tuple[TrialResult, ...]

    @property
    def kind(self) -> Kind:
        """A repeat that failed is a failure, however many passed; without one, an error is an error."""
        verdicts = {result.verdict for result in self.results}
        for verdict, kind in (
            (Verdict.FAIL, Kind.FAILED),
            (Verdict.ERROR, Kind.ERROR),
            (Verdict.PASS, Kind.PASSED),
        ):
            if verdict in verdicts:
                return kind
        return Kind.SKIPPED

    @property
    def is_flaky(self) -> bool:
        """Whether some of its repeats passed and some failed."""
        return {Verdict.PASS, Verdict.FAIL} <= {result.verdict for result in self.results}

    @property
    def seconds(self) -> float:
        """Of all its repeats."""
        return sum(result.execution.duration_s or 0.0 for result in self.results)


class JunitReporter:
    """Writes a test suite for each group of results that is under test; baselines are left out."""

    suffix = "junit.xml"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """One document; results are read once to count them and once to write them."""
        yield Artifact(chunks=_document(view))

    def read(self, path: Path) -> RunView | None:
        """Too much of a run is not in it."""
        return None


@dataclass(frozen=True)
class _Tally:
    """What a group comes to."""

    kinds: Counter[Kind]
    seconds: float

    @classmethod
    def of(cls, cases: Iterable[_Case]) -> _Tally:
        """Count, and add up."""
        kinds, seconds = Counter[Kind](), 0.0
        for case in cases:
            kinds[case.kind] += 1
            seconds += case.seconds
        return cls(kinds, seconds)


def _document(view: RunView) -> Iterator[bytes]:
    suites = {suite.id: suite for suite in view.head.suites}
    groups = [
        one
        for one in view.summary.groups
        if one.suite_id not in suites or not suites[one.suite_id].is_baseline(one.arm)
    ]
    tallies = [_Tally.of(_cases(view, group)) for group in groups]
    everything = sum((tally.kinds for tally in tallies), Counter[Kind]())
    began = datetime.fromtimestamp(view.run.started_at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="skillgauge"{_counts(everything)}>\n'.encode()
    for name, group, tally in zip(labels(groups, _NAME), groups, tallies, strict=True):
        took = f'time="{tally.seconds:.3f}" timestamp="{began}"'
        yield f"  <testsuite name={_attribute(name)}{_counts(tally.kinds)} {took}>\n".encode()
        yield _properties(group)
        for case in _cases(view, group):
            yield _test_case(case, group)
        yield b"  </testsuite>\n"
    yield b"</testsuites>\n"


def _cases(view: RunView, group: GroupSummary) -> Iterator[_Case]:
    results = view.source.results(ResultOrder.CASE, group.key)
    for _, found in groupby(results, lambda result: result.case_index):
        yield _Case(tuple(found))


def _counts(tally: Counter[Kind]) -> str:
    total = sum(tally.values())
    return (
        f' tests="{total}" failures="{tally[Kind.FAILED]}" errors="{tally[Kind.ERROR]}" skipped="{tally[Kind.SKIPPED]}"'
    )


def _properties(group: GroupSummary) -> bytes:
    told = {
        "suite": group.suite_id,
        "target": group.target_id,
        "arm": group.arm,
        "runner": group.runner,
        "model": group.model,
    }
    lines = (
        f"      <property name={_attribute(name)} value={_attribute(value)}/>\n"
        for name, value in told.items()
        if value
    )
    return f"    <properties>\n{''.join(lines)}    </properties>\n".encode()


def _test_case(case: _Case, group: GroupSummary) -> bytes:
    first = case.results[0]
    where = " ".join(part for part in (group.suite_id, group.target_id) if part)
    head = f'    <testcase classname={_attribute(where)} name={_attribute(first.case_id)} time="{case.seconds:.3f}"'
    if case.kind is Kind.PASSED:
        return f"{head}/>\n".encode()
    inner = _flaky(case) if case.is_flaky else ""
    if case.kind is Kind.SKIPPED:
        inner += f"      <skipped message={_attribute(' '.join(first.execution.notes))}/>\n"
    else:
        wrong = [one for one in case.results if one.verdict.value == _VERDICT_OF[case.kind]]
        reasons = [reason for one in wrong for reason in _reasons(one)] or ["no reason is known"]
        sort = "flaky" if case.is_flaky else case.kind.value
        message = _passed_text(case) + reasons[0] if len(case.results) > 1 else reasons[0]
        text = escape(_clean("\n".join(dict.fromkeys(reasons)))[:_TEXT])
        inner += f'      <{case.kind} type="{sort}" message={_attribute(message)}>{text}</{case.kind}>\n'
    return f"{head}>\n{inner}    </testcase>\n".encode()


_VERDICT_OF = {Kind.FAILED: Verdict.FAIL.value, Kind.ERROR: Verdict.ERROR.value}


def _flaky(case: _Case) -> str:
    mark = f'<property name="flaky" value={_attribute(_passed_text(case).rstrip(": "))}/>'
    return f"      <properties>{mark}</properties>\n"


def _passed_text(case: _Case) -> str:
    passed = sum(result.verdict is Verdict.PASS for result in case.results)
    return f"{passed} of {counted(len(case.results), 'repeat')} passed: "


def _reasons(result: TrialResult) -> Iterator[str]:
    if result.execution.failure:
        yield result.execution.failure.message
    for score in result.scores:
        if score.status is not ScoreStatus.PASSED and not score.beside:
            yield f"{score.check_id}: {score.reason}"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text).replace("\n", " ")[:_TEXT])


def _clean(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)

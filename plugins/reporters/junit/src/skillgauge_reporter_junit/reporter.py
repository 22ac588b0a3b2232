"""JUnit XML: what continuous integration shows of a run, whatever was evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from skillgauge.api import Artifact
from skillgauge.api.report import GroupSummary, RunView, labels
from skillgauge_run_views.tested import CaseKind, CaseOutcome, Place, groups_under_test, outcomes, placed

_NAME, _TEXT = 200, 4_000
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_ELEMENTS = {CaseKind.FAILED: "failure", CaseKind.ERROR: "error", CaseKind.SKIPPED: "skipped"}
"""What becomes of a case, in the words of JUnit."""


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
    """The sums of a group."""

    kinds: Counter[CaseKind]
    seconds: float

    @classmethod
    def of(cls, cases: Iterable[CaseOutcome]) -> _Tally:
        """Count, and add up."""
        kinds, seconds = Counter[CaseKind](), 0.0
        for case in cases:
            kinds[case.kind] += 1
            seconds += case.seconds
        return cls(kinds, seconds)


def _document(view: RunView) -> Iterator[bytes]:
    groups = groups_under_test(view)
    tallies = [_Tally.of(outcomes(view, group)) for group in groups]
    everything = sum((tally.kinds for tally in tallies), Counter[CaseKind]())
    began = datetime.fromtimestamp(view.run.started_at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    seconds = sum(tally.seconds for tally in tallies)
    yield f'<testsuites name="skillgauge"{_counts(everything)} time="{seconds:.3f}">\n'.encode()
    for name, group, tally in zip(labels(groups, _NAME), groups, tallies, strict=True):
        took = f'time="{tally.seconds:.3f}" timestamp="{began}"'
        yield f"  <testsuite name={_attribute(name)}{_counts(tally.kinds)} {took}>\n".encode()
        yield _properties(group)
        for case, place in placed(view, group):
            yield _test_case(case, name, place)
        yield b"  </testsuite>\n"
    yield b"</testsuites>\n"


def _counts(tally: Counter[CaseKind]) -> str:
    attributes = {"tests": tally.total(), "failures": tally[CaseKind.FAILED], "errors": tally[CaseKind.ERROR]}
    attributes["skipped"] = tally[CaseKind.SKIPPED]
    return "".join(f' {name}="{count}"' for name, count in attributes.items())


def _properties(group: GroupSummary) -> bytes:
    properties = {
        "suite": group.suite_id,
        "target": group.target_id,
        "arm": group.arm,
        "runner": group.runner,
        "model": group.model,
    }
    lines = (
        f"      <property name={_attribute(name)} value={_attribute(value)}/>\n"
        for name, value in properties.items()
        if value
    )
    return f"    <properties>\n{''.join(lines)}    </properties>\n".encode()


def _test_case(case: CaseOutcome, suite: str, place: Place | None) -> bytes:
    first = case.results[0]
    # The suite's name once more: GitLab shows no other, and of two cases that are called the same it drops one.
    told = {"classname": suite, "name": first.case_id, "file": place.file if place else ""}
    told["line"] = str(place.line or "") if place else ""
    attributes = "".join(f" {name}={_attribute(value)}" for name, value in told.items() if value)
    head = f'    <testcase{attributes} time="{case.seconds:.3f}"'
    if case.kind is CaseKind.PASSED:
        return f"{head}/>\n".encode()
    inner = _flaky(case) if case.is_flaky else ""
    if case.kind is CaseKind.SKIPPED:
        why = " ".join(first.execution.notes)
        inner += f"      <skipped message={_attribute(why)}>{_text(why)}</skipped>\n"
    else:
        element, reasons = _ELEMENTS[case.kind], case.reasons
        sort = "flaky" if case.is_flaky else element
        message = f"{case.passed_text}: {reasons[0]}" if len(case.results) > 1 else reasons[0]
        text = _text("\n".join(reasons))
        inner += f'      <{element} type="{sort}" message={_attribute(message)}>{text}</{element}>\n'
    return f"{head}>\n{inner}    </testcase>\n".encode()


def _flaky(case: CaseOutcome) -> str:
    return f'      <properties><property name="flaky" value={_attribute(case.passed_text)}/></properties>\n'


def _attribute(text: str) -> str:
    return quoteattr(_clean(text).replace("\n", " ")[:_TEXT])


def _text(text: str) -> str:
    return escape(_clean(text)[:_TEXT])


def _clean(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)

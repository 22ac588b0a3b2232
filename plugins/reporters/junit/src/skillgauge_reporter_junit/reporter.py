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
from skillgauge.api.report import (
    CaseCounts,
    CaseOutcome,
    GroupSummary,
    Opening,
    RunView,
    groups_under_test,
    labels,
    opening,
    rate_notes,
)
from skillgauge_run_views.tested import Place, TestedCase, placed, tested

_NAME, _TEXT = 200, 4_000
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_ELEMENTS = {
    CaseOutcome.FAILED: "failure",
    CaseOutcome.ERROR: "error",
    CaseOutcome.SKIPPED: "skipped",
    CaseOutcome.QUARANTINED: "skipped",
}
"""What becomes of a case, in the words of JUnit, which knows no case that runs and counts for nothing."""


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

    cases: CaseCounts
    seconds: float

    @classmethod
    def of(cls, cases: Iterable[TestedCase]) -> _Tally:
        """Count, and add up."""
        outcomes, seconds = Counter[str](), 0.0
        for case in cases:
            outcomes[case.outcome.value] += 1
            seconds += case.seconds
        return cls(CaseCounts(**outcomes), seconds)


def _document(view: RunView) -> Iterator[bytes]:
    groups = groups_under_test(view)
    tallies = [_Tally.of(tested(view, group)) for group in groups]
    begins = opening(view)
    everything = CaseCounts.sum((*(tally.cases for tally in tallies), _gate_counts(begins)))
    began = datetime.fromtimestamp(view.run.started_at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    seconds = sum(tally.seconds for tally in tallies)
    yield f'<testsuites name="skillgauge"{_counts(everything)} time="{seconds:.3f}">\n'.encode()
    yield from _gates(begins)
    for name, group, tally in zip(labels(groups, _NAME), groups, tallies, strict=True):
        took = f'time="{tally.seconds:.3f}" timestamp="{began}"'
        yield f"  <testsuite name={_attribute(name)}{_counts(tally.cases)} {took}>\n".encode()
        yield _properties(group)
        for case, place in placed(view, group):
            yield _test_case(case, name, place)
        yield b"  </testsuite>\n"
    yield b"</testsuites>\n"


_GATES = {"gate met": CaseOutcome.PASSED, "gate inconclusive": CaseOutcome.ERROR}


def _gate_outcome(line: str) -> CaseOutcome:
    return _GATES.get(line.partition(":")[0], CaseOutcome.FAILED)


def _gate_counts(begins: Opening) -> CaseCounts:
    """Count the answers of the gates as cases, so that a red job has an entry that says why."""
    return CaseCounts(**Counter(_gate_outcome(line).value for line in begins.gates))


def _gates(begins: Opening) -> Iterator[bytes]:
    """Yield a suite of the answers that the gates got, with what changed since an earlier run, if there is either."""
    if not begins.gates:
        return
    yield f'  <testsuite name="gates"{_counts(_gate_counts(begins))} time="0.000">\n'.encode()
    changes = "\n".join(begins.changes)
    for line in begins.gates:
        answer, _, what = line.partition(": ")
        head = f'    <testcase classname="gates" name={_attribute(answer)} time="0.000">\n'
        element = _ELEMENTS.get(_gate_outcome(line))
        if element:
            body = f"      <{element} message={_attribute(what)}>{_text(changes or what)}</{element}>\n"
        else:
            body = f"      <system-out>{_text(what)}</system-out>\n"
        yield f"{head}{body}    </testcase>\n".encode()
    yield b"  </testsuite>\n"


def _counts(cases: CaseCounts) -> str:
    skipped = cases.skipped + cases.quarantined
    attributes = {"tests": cases.graded + cases.error + skipped, "failures": cases.failed, "errors": cases.error}
    attributes["skipped"] = skipped
    return "".join(f' {name}="{count}"' for name, count in attributes.items())


def _properties(group: GroupSummary) -> bytes:
    properties = [
        ("suite", group.suite_id),
        ("target", group.target_id),
        ("arm", group.arm),
        ("runner", group.runner),
        ("model", group.model),
        *(("note", note) for note in rate_notes(group)),
    ]
    lines = (
        f"      <property name={_attribute(name)} value={_attribute(value)}/>\n" for name, value in properties if value
    )
    return f"    <properties>\n{''.join(lines)}    </properties>\n".encode()


def _test_case(case: TestedCase, suite: str, place: Place | None) -> bytes:
    # The suite's name once more: GitLab shows no other, and of two cases that are called the same it drops one.
    told = {"classname": suite, "name": case.title, "file": place.file if place else ""}
    told["line"] = str(place.line or "") if place else ""
    attributes = "".join(f" {name}={_attribute(value)}" for name, value in told.items() if value)
    head = f'    <testcase{attributes} time="{case.seconds:.3f}"'
    inner = f"{_unsteady(case)}{_element(case)}"
    return f"{head}>\n{inner}    </testcase>\n".encode() if inner else f"{head}/>\n".encode()


def _unsteady(case: TestedCase) -> str:
    """Return a property for a case of which some repeats passed and others did not, whatever its outcome is."""
    counts = case.summary.counts
    if not counts.passed or counts.passed == counts.total:
        return ""
    name = "flaky" if case.is_flaky else "errors"
    value = _attribute(case.repeats_text)
    return f'      <properties><property name="{name}" value={value}/></properties>\n'


def _element(case: TestedCase) -> str:
    """Return what tells that a case did not pass, or does not count; empty for one that passed."""
    if case.outcome is CaseOutcome.PASSED:
        return ""
    element = _ELEMENTS[case.outcome]
    if case.outcome is CaseOutcome.SKIPPED:
        why = " ".join(case.results[0].execution.notes)
        return f"      <{element} message={_attribute(why)}>{_text(why)}</{element}>\n"
    if case.outcome is CaseOutcome.QUARANTINED:
        why = f"{case.quarantine}; {case.repeats_text}"
        return f"      <{element} message={_attribute(why)}>{_text(why)}</{element}>\n"
    reasons = case.reasons
    sort = "flaky" if case.is_flaky else element
    message = f"{case.repeats_text}: {reasons[0]}" if len(case.results) > 1 else reasons[0]
    text = _text("\n".join(reasons))
    return f'      <{element} type="{sort}" message={_attribute(message)}>{text}</{element}>\n'


def _attribute(text: str) -> str:
    return quoteattr(_clean(text).replace("\n", " ")[:_TEXT])


def _text(text: str) -> str:
    return escape(_clean(text)[:_TEXT])


def _clean(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)

"""Lints of whole suites, packages, and what earlier runs tell of them."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import LintFinding, LintSubject, TargetKind

FEWEST = 4
"""Cases of a comparison below which nothing can be told: three that all turn out in favour are what chance gives in one
of eight."""
_CODE = "exit-code"


def too_few(subject: LintSubject) -> Iterator[LintFinding]:
    """Comparisons of so few cases that no outcome could decide them."""
    suite = subject.suite
    if not suite.comparisons or any(check.scorer == "trigger" for case in suite.cases for check in case.checks):
        return
    count = sum(not case.skip for case in suite.cases)
    if 0 < count < FEWEST:
        chance = 2**count
        message = (
            f"{count} case{'' if count == 1 else 's'}: even if all speak for the skill, "
            f"chance alone would do that in one of {chance} suites"
        )
        yield LintFinding(message, suite.origin)


def baseline_passes(subject: LintSubject) -> Iterator[LintFinding]:
    """Suites that the arm without the skill already passes, so that there is nothing to gain."""
    suite = subject.suite
    baselines = {pair.baseline for pair in suite.comparisons}
    for view in subject.runs[:1]:
        groups = [one for one in view.summary.groups if one.suite_id == suite.id and one.arm in baselines]
        graded = [one for one in groups if one.counts.passed + one.counts.failed]
        if graded and all(not one.counts.failed and not one.counts.errors for one in graded):
            passed = sum(one.counts.passed for one in graded)
            message = (
                f"without the skill all of {passed} trials passed in run {view.run.run_id}: no skill can do better"
            )
            yield LintFinding(message, suite.origin)


def untested(subject: LintSubject) -> Iterator[LintFinding]:
    """Hooks and skills of a package that no case is about."""
    suite = subject.suite
    named = {target for case in suite.cases for target in case.targets}
    if not named or any(not case.targets for case in suite.cases):
        return
    for target in suite.targets:
        if target.id not in named:
            yield LintFinding(f"{target.kind} {target.name or target.id!r} is tested by no case", target.origin)


def one_way_hooks(subject: LintSubject) -> Iterator[LintFinding]:
    """Hooks whose cases all expect the same exit code: one that always refuses, or never does, would pass."""
    suite = subject.suite
    for target in suite.targets:
        if target.kind is not TargetKind.HOOK:
            continue
        cases = [case for case in suite.cases if target.id in case.targets]
        codes = {check.options.get("codes") for case in cases for check in case.checks if check.scorer == _CODE}
        if len(cases) > 1 and len(codes) == 1 and all({one.scorer for one in case.checks} == {_CODE} for case in cases):
            message = f"all {len(cases)} cases of hook {target.name or target.id!r} expect the same exit code"
            yield LintFinding(message, target.origin or cases[0].origin)


def exit_code_only(subject: LintSubject) -> Iterator[LintFinding]:
    """Skills whose every test looks at the exit code and never at what came out."""
    suite = subject.suite
    for target in suite.targets:
        if target.kind is TargetKind.HOOK:
            continue
        scorers = [{check.scorer for check in case.checks} for case in suite.cases if target.id in case.targets]
        if scorers and all(one == {_CODE} for one in scorers):
            message = f"every case of {target.name or target.id!r} looks at the exit code alone, never at the output"
            yield LintFinding(message, target.origin)

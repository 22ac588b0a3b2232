"""Lints of whole suites, packages, and what earlier runs tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import Case, Check, JsonValue, Origin, Suite, Target, TargetKind, digest
from skillgauge.api.run import LintFinding, LintSubject
from skillgauge_skill_folders import SKILL_FILE

FEWEST = 4
"""Cases of a comparison below which nothing can be told: three that all turn out in favour are what chance gives in one
of eight."""
_CODE = "exit-code"


def too_few(subject: LintSubject) -> Iterator[LintFinding]:
    """Comparisons of so few cases that no outcome could decide them."""
    suite = subject.suite
    if not suite.comparisons or any(_asks_for_skill(check) for case in suite.cases for check in case.checks):
        return
    count = sum(not case.skip for case in suite.cases)
    if 0 < count < FEWEST:
        chance = 2**count
        message = (
            f"{count} case{'' if count == 1 else 's'}: even if all speak for the skill, "
            f"chance alone would do that in one of {chance} suites"
        )
        yield LintFinding(message, suite.origin)


def _asks_for_skill(check: Check) -> bool:
    return check.scorer == "trigger" and not check.beside


def baseline_passes(subject: LintSubject) -> Iterator[LintFinding]:
    """Suites that the arm without the skill already passes, so that there is nothing to gain."""
    suite = subject.suite
    baselines = {pair.baseline for pair in suite.comparisons}
    for view in subject.runs[:1]:
        groups = [group for group in view.summary.groups if group.suite_id == suite.id and group.arm in baselines]
        graded = [group.counts for group in groups if group.counts.passed + group.counts.failed]
        has_losses = any(counts.failed or counts.errors for counts in graded)
        if graded and not has_losses:
            passed = sum(counts.passed for counts in graded)
            message = (
                f"without the skill all of {passed} trials passed in run {view.run.run_id}: no skill can do better"
            )
            yield LintFinding(message, suite.origin)


def untested(subject: LintSubject) -> Iterator[LintFinding]:
    """Hooks and skills of a package that no case is about, where other cases name what they are about."""
    suite = subject.suite
    named = {target for case in suite.cases for target in case.targets}
    targets = [target for target in suite.targets if target.id in named]
    for kind, present in ((TargetKind.SKILL, _skills(suite)), (TargetKind.HOOK, _events(suite))):
        tested = {target.name for target in targets if target.kind is kind}
        if not tested & present.keys():
            continue
        for name, origin in present.items():
            if name not in tested:
                yield LintFinding(f"{kind} {name!r} is tested by no case", origin)


def _skills(suite: Suite) -> dict[str, Origin | None]:
    """The suite's own skills; those of other folders come with what it needs."""
    return {
        skill.name: Origin(str(Path(skill.root, SKILL_FILE)))
        for arm in suite.arms
        for skill in arm.skills
        if Path(skill.root).is_relative_to(suite.root)
    }


def _events(suite: Suite) -> dict[str, Origin | None]:
    """Events for which the suite installs hooks."""
    listed = [one.content.get("hooks") for arm in suite.arms for one in arm.installs if one.kind == "hooks"]
    entries = [entry for hooks in listed if isinstance(hooks, tuple) for entry in hooks]
    return {str(entry["event"]): suite.origin for entry in entries if isinstance(entry, Mapping) and "event" in entry}


def one_way_hooks(subject: LintSubject) -> Iterator[LintFinding]:
    """Hooks whose cases all expect the same exit code: one that always refuses, or never does, would pass."""
    suite = subject.suite
    for target in suite.targets:
        if target.kind is not TargetKind.HOOK:
            continue
        hooks: dict[str, list[Case]] = {}
        for case in _about(suite, target):
            hooks.setdefault(digest(_commands(case)), []).append(case)
        for cases in hooks.values():
            codes = {check.options.get("codes") for case in cases for check in _counted(case)}
            if len(cases) > 1 and len(codes) == 1 and all(_looks_at_code_only(case) for case in cases):
                message = f"all {len(cases)} cases of this hook expect the same exit code"
                yield LintFinding(message, cases[0].origin or target.origin)


def exit_code_only(subject: LintSubject) -> Iterator[LintFinding]:
    """Skills whose every test looks at the exit code and never at what came out."""
    suite = subject.suite
    for target in suite.targets:
        cases = _about(suite, target) if target.kind is TargetKind.SKILL else []
        if cases and all(_looks_at_code_only(case) for case in cases):
            message = f"every case of {(target.name or target.id)!r} looks at the exit code alone, never at the output"
            yield LintFinding(message, cases[0].origin or target.origin)


def _about(suite: Suite, target: Target) -> list[Case]:
    """The cases of a target; one that names none is about all."""
    return [case for case in suite.cases if not case.skip and (not case.targets or target.id in case.targets)]


def _commands(case: Case) -> JsonValue:
    """Return the commands of a case without their input: cases of one hook have the same."""
    return case.input.get("steps") if isinstance(case.input, Mapping) else case.input


def _counted(case: Case) -> list[Check]:
    return [check for check in case.checks if not check.beside]


def _looks_at_code_only(case: Case) -> bool:
    return {check.scorer for check in _counted(case)} == {_CODE}

"""Lints of cases and their checks. Which options of which scorer say what is asked is known here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import Case, Check, Origin, Suite, VerdictMode
from skillgauge.api.run import Fix, LintFinding, LintSubject

from .claims import is_prose, is_several
from .commands import Trap, cannot_fail, trap

SHORTEST = 4
"""Characters of an expected text that counts as an answer: shorter ones stand everywhere."""
FEWEST_CLAIMS, MOST_CLAIMS = 3, 5
"""Claims of a case that passes by the share of them that holds: of fewer the share says no more than yes or no, of more
each one hardly counts."""
_FIXTURE = re.compile(r"(?<![\w/.:-])((?:\./)?(?:evals/)?(?:files|fixtures)/[\w./-]+\.\w+)\b")
_SCRIPT = re.compile(r"(?:python3?|bash|sh|node|deno|ruby)\s+((?:\./)?[\w.-]+(?:/[\w.-]+)*\.(?:py|sh|js|mjs|ts|rb))\b")
_EMPTY = re.compile(r"(?:\(\?[a-z]+\))?(?:\^?(?:(?:\\?\w|\.|\[[^\]]+\])[*?]\??)*|\^?(?:\.|\[\\s\\S\])\*\??\$)")
_GRADERS = ("scripts/", "evals/", "graders/", "validators/", "tests/", "checks/")
_SHOWN = 60


def nothing_can_fail(subject: LintSubject) -> Iterator[LintFinding]:
    """Checks that hold whatever the output is."""
    for case, check in checks_of(subject.suite):
        why, reason = _granted(check)
        if why:
            yield LintFinding(f"{named(case, check)} cannot fail: {why}", at(case, check), fix=_fix(reason))


def _granted(check: Check) -> tuple[str, Trap | None]:
    options = check.options
    if check.scorer == "command" and options.get("expect_exit_code", 0) == 0:
        reason = cannot_fail(str(options.get("command", "")))
        return (reason.reason, reason) if reason else ("", None)
    if check.scorer == "regex" and not options.get("absent"):
        patterns = texts_of(options.get("patterns"))
        if patterns and all(map(_matches_nothing, patterns)):
            return "its pattern matches the empty text", None
    is_asked = any(text.strip() for text in texts_of(options.get("keywords")))
    if check.scorer == "contains" and not options.get("absent") and not is_asked:
        return "it asks for no text", None
    return "", None


def _matches_nothing(pattern: str) -> bool:
    """Tell whether a pattern is found in every text, by its form alone: no pattern is tried here."""
    return _EMPTY.fullmatch(pattern) is not None


def exit_code_traps(subject: LintSubject) -> Iterator[LintFinding]:
    """Commands whose exit code hides what happened."""
    for case, check in checks_of(subject.suite):
        command = str(check.options.get("command", "")) if check.scorer == "command" else ""
        hidden = trap(command) if command and not cannot_fail(command) else None
        if hidden:
            yield LintFinding(f"{named(case, check)} may pass where it should not: {hidden.reason}", at(case, check))


def answer_in_prompt(subject: LintSubject) -> Iterator[LintFinding]:
    """Checks that an agent meets by repeating what it was asked."""
    for case, check in checks_of(subject.suite):
        prompt = (case.prompt or "").casefold()
        texts = _asked(check)
        if prompt and texts and all(len(one.strip()) >= SHORTEST and one.casefold() in prompt for one in texts):
            shown = ", ".join(map(_cut, texts))
            message = f"{named(case, check)} is met by repeating the prompt, in which {shown} stands"
            yield LintFinding(message, at(case, check))


def _asked(check: Check) -> list[str]:
    """Texts that have to stand in an answer."""
    options = check.options
    match check.scorer:
        case "contains" if not options.get("absent") and options.get("stream", "answer") == "answer":
            return texts_of(options.get("keywords"))
        case "exact":
            return [value] if isinstance(value := options.get("value"), str) else []
        case "ground-truth":
            return texts_of([options.get("text")])
    return []


def prose_as_truth(subject: LintSubject) -> Iterator[LintFinding]:
    """Sentences that an answer has to contain word for word."""
    for case, check in checks_of(subject.suite):
        for text in _asked(check):
            if is_prose(text):
                words = len(text.split())
                message = f"{named(case, check)} wants {words} words of prose word for word; right answers will fail it"
                yield LintFinding(message, at(case, check))
                break


def several_claims(subject: LintSubject) -> Iterator[LintFinding]:
    """Claims for a judge that are more than one."""
    for case, check in checks_of(subject.suite):
        for claim in claims_of(check):
            if is_several(claim):
                message = f"{named(case, check)} says several things: one that is wrong hides those that are right"
                yield LintFinding(message, at(case, check))
                break


def rubric_size(subject: LintSubject) -> Iterator[LintFinding]:
    """Cases that pass by a share of their claims, which are so few or so many that it tells little."""
    for case in subject.suite.cases:
        checks = [check for check in case.checks if not check.beside]
        if case.skip or case.rule.mode is not VerdictMode.MEAN or any(check.scorer != "rubric" for check in checks):
            continue
        claims = sum(len(texts_of(check.options.get("claims"))) for check in checks)
        if claims and not FEWEST_CLAIMS <= claims <= MOST_CLAIMS:
            count = "one claim" if claims == 1 else f"{claims} claims"
            best = f"{FEWEST_CLAIMS} to {MOST_CLAIMS} tell most"
            yield LintFinding(f"case {case.id!r} passes by the share of {count} that holds; {best}", case.origin)


def missing_files(subject: LintSubject) -> Iterator[LintFinding]:
    """Find input files that prompts name, and graders that commands run, that nothing provides."""
    suite = subject.suite
    roots = [Path(ref.root) for arm in suite.arms for ref in arm.skills] + [Path(suite.root)]
    for case in suite.cases:
        if not case.setup:  # a program that prepares the workspace can write any file
            yield from _missing_inputs(case)
            yield from _missing_graders(case, roots)


def _missing_inputs(case: Case) -> Iterator[LintFinding]:
    provided = {file.path for file in (*case.files, *case.setup_files)}
    for path in dict.fromkeys(_FIXTURE.findall(case.prompt or "")):
        if not _is_provided(path, provided):
            message = f"case {case.id!r} names {path!r} in its prompt, and no such file is put into the workspace"
            yield LintFinding(message, case.origin)


def _missing_graders(case: Case, roots: Sequence[Path]) -> Iterator[LintFinding]:
    provided = {file.path for file in (*case.files, *case.setup_files, *case.grader_files)}
    for check in case.checks:
        for path in _grader_scripts(check):
            is_there = any((root / path).is_file() for root in roots)
            if not is_there and not _is_provided(path, provided):
                message = f"{named(case, check)} runs {path!r}, and there is no such file"
                yield LintFinding(message, at(case, check))


def _grader_scripts(check: Check) -> list[str]:
    """Return the scripts that a command runs from a folder of graders."""
    if check.scorer != "command":
        return []
    scripts = dict.fromkeys(_SCRIPT.findall(str(check.options.get("command", ""))))
    return [path for path in scripts if path.removeprefix("./").startswith(_GRADERS)]


def _is_provided(path: str, provided: set[str]) -> bool:
    name = path.removeprefix("./")
    return any(there == name or there.endswith(f"/{name}") or name.endswith(f"/{there}") for there in provided)


def repeated(subject: LintSubject) -> Iterator[LintFinding]:
    """Checks that stand twice in a case, and cases that ask the same twice."""
    questions: dict[tuple[object, ...], str] = {}
    for case in subject.suite.cases:
        reported: set[str] = set()
        for check in case.checks:
            if check.scorer_digest in reported:
                message = f"{named(case, check)} stands twice in case {case.id!r}, and counts twice"
                yield LintFinding(message, at(case, check))
            reported.add(check.scorer_digest)
        if not case.prompt or case.skip:
            continue
        key = (case.execution_digest, case.targets, tuple(sorted(reported)))
        if key in questions:
            message = f"case {case.id!r} asks what {questions[key]!r} asks, with the same checks"
            yield LintFinding(message, case.origin)
        questions.setdefault(key, case.id)


def checks_of(suite: Suite) -> Iterator[tuple[Case, Check]]:
    """Every check of the cases that are run."""
    return ((case, check) for case in suite.cases if not case.skip for check in case.checks)


def claims_of(check: Check) -> list[str]:
    """What a judge is to decide, each claim by itself."""
    if check.scorer != "rubric":
        return []
    return texts_of(check.options.get("claims")) or texts_of(check.options.get("criteria"))


def texts_of(value: Any) -> list[str]:
    """Texts of an option that is one or several, or maps names to them."""
    if isinstance(value, str | Mapping):
        value = [value]
    items = value if isinstance(value, list | tuple) else []
    inner = [item.get("text", item.get("statement", "")) if isinstance(item, Mapping) else item for item in items]
    return [item for item in inner if isinstance(item, str)]


def at(case: Case, check: Check) -> Origin | None:
    """The place of a check, else of its case."""
    return check.origin or case.origin


def named(case: Case, check: Check) -> str:
    """The name of a check in a message."""
    return f"check {_cut(check.id)} of case {case.id!r}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...")


def _fix(found: Trap | None) -> Fix | None:
    return Fix(found.ending, "") if found and found.ending and '"' not in found.ending else None

"""The file of labels: one JSON object a line, so that what is written is kept whatever happens next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path

from pydantic import ValidationError

from skillgauge.api import Frozen, Problem, SourceSpan, UsageError, plain

from .grading import Grader, Judged


class Label(Frozen):
    """The opinion of a person on one check of one execution."""

    run: str
    """Id of the run that was labelled."""
    execution: str
    check: str
    answer: str
    """Digest of what was done, answered and left behind."""
    passes: bool
    """Whether the check holds."""
    grader: Grader
    """What had decided the check."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The check that it is about."""
        return self.execution, self.check, self.answer


@dataclass(frozen=True)
class Line:
    """A label and where it stands."""

    label: Label
    span: SourceSpan


def read_labels(path: Path) -> tuple[list[Line], list[Problem]]:
    """The labels of a file, and what is wrong with it: every line that is none, or why it cannot be read at all."""
    file = str(path)
    try:
        texts = path.read_bytes().decode("utf-8-sig").removesuffix("\n").split("\n")
    except FileNotFoundError:
        hint = "Make it with: skillgauge judge label RUN"
        return [], [Problem("judge.no-labels", f"there is no file {plain(file)!r}", hint=hint)]
    except (OSError, UnicodeDecodeError) as error:
        return [], [Problem("judge.labels", f"it cannot be read: {plain(error)}", span=SourceSpan(file))]
    if texts == [""]:
        hint = "Add some with: skillgauge judge label RUN"
        return [], [Problem("judge.no-labels", "there is no label in it", hint=hint, span=SourceSpan(file))]
    lines: list[Line] = []
    problems: list[Problem] = []
    for number, text in enumerate(texts, 1):
        span = SourceSpan(file, number)
        try:
            lines.append(Line(Label.model_validate_json(text, strict=True), span))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            message = f"this is no label: {f'{where}: ' if where else ''}{first['msg']}"
            problems.append(Problem("judge.label", plain(message), span=span))
    return lines, problems


def labels_so_far(path: Path) -> tuple[list[Line], list[Problem]]:
    """Return what `read_labels` does, and nothing of a file that is not there yet or empty."""
    is_begun = path.exists() and (not path.is_file() or path.stat().st_size > 0)
    return read_labels(path) if is_begun else ([], [])


def label_of(run_id: str, judged: Judged, *, passes: bool) -> Label:
    """Return a person's opinion on a check that a judge has decided."""
    return Label(
        run=run_id,
        execution=judged.execution_id,
        check=judged.check_id,
        answer=judged.answer,
        passes=passes,
        grader=judged.grader,
    )


def append(path: Path, label: Label) -> None:
    """Add a label to a file, where it stays even if the next moment is the last.

    Raises:
        UsageError: the place cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(-1 if file.tell() else 0, SEEK_END)
            separator = b"" if file.read(1) in (b"", b"\n") else b"\n"
            file.write(separator + label.model_dump_json().encode() + b"\n")
    except OSError as error:
        message = f"{str(path)!r} cannot be written: {error.strerror or error}"
        raise UsageError(Problem("judge.labels", message)) from None


def mismatches(lines: Sequence[Line], judged: Sequence[Judged]) -> list[Problem]:
    """Report everything that keeps labels from being compared with the judge's decisions, label by label."""
    by_key = {one.key: one for one in reversed(judged)}
    executions = {one.execution_id for one in judged}
    answers = {(one.execution_id, one.answer) for one in judged}
    first: dict[tuple[str, str, str], Line] = {}
    problems = []
    for line in lines:
        label = line.label
        found = by_key.get(label.key)
        before = first.setdefault(label.key, line)
        if label.execution not in executions:
            fault = "no-execution", "this run has no judged execution of that id"
        elif (label.execution, label.answer) not in answers:
            fault = "other-answer", "what this run did or answered in that execution is something else"
        elif found is None:
            fault = "no-check", f"in this run no judge decided check {plain(label.check)!r} of that execution"
        elif differences := label.grader.differences(found.grader):
            fault = "other-grader", f"labelled for another grader: the {', the '.join(differences)} differs in this run"
        elif before is not line:
            relation = "the same" if before.label.passes is label.passes else "the opposite"
            fault = "twice", f"line {before.span.line} has {relation} label for this check"
        else:
            continue
        problems.append(Problem(f"judge.{fault[0]}", fault[1], span=line.span))
    return problems


def by_key(lines: Sequence[Line]) -> Mapping[tuple[str, str, str], bool]:
    """Return people's opinions on each labelled check."""
    return {line.label.key: line.label.passes for line in lines}

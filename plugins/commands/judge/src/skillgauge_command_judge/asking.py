"""Ask a person about checks that a judge has decided, without telling what the judge said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from enum import StrEnum

import click

from skillgauge.api import CaseHead, Problem, TrialResult, UsageError, plain, plain_lines, text_of
from skillgauge.api.report import counted, listed
from skillgauge_judge_labels import Question
from skillgauge_run_views.transcripts import Room, transcript

_ROOM = Room(characters=600, steps=20)
"""What is shown of a session: enough to know what was done, and not more than a screen or two."""


class Word(StrEnum):
    """The possible answers; the first letter will do."""

    YES = "yes"
    NO = "no"
    SKIP = "skip"
    QUIT = "quit"


def question_lines(question: Question) -> Iterator[str]:
    """Yield the lines that a person needs; the judge's words are left out, since they would lead the answer."""
    case, judged = question.case, question.judged
    has_own_name = case is not None and bool(case.name) and case.name != case.id
    name = f" ({plain(case.name)})" if case and has_own_name else ""
    yield f"Case {plain(judged.case_id)}{name}, check {plain(judged.check_id)}"
    if case is not None:
        yield from _question(case)
    execution = question.result.execution
    answer = execution.answer().text
    yield from _steps(question.result, answer)
    yield from ("", "Answer:", *(_indented(answer) or ["  (empty)"]))
    if execution.files:
        yield f"Files changed: {listed(f'{one.path} ({one.change})' for one in execution.files)}"
    yield from ("", "What must hold:" if len(question.statements) < 2 else "What must hold, all of it:")
    for statement in question.statements or ("(the run does not tell: see the check in its suite)",):
        yield from _indented(statement)


def _steps(result: TrialResult, answer: str) -> Iterator[str]:
    """Yield the steps of an agent before it answered."""
    shown = transcript(result, _ROOM)
    steps = [step for step in shown.steps if step.content is None or step.content.text != plain_lines(answer)]
    if steps:
        left_out = f" ({counted(shown.steps_left_out, 'step')} left out)" if shown.steps_left_out else ""
        yield from ("", f"What the agent did{left_out}:")
    for step in steps:
        failed = " (an error)" if step.is_error else ""
        yield f"  {step.title}{f' {plain(step.name, 60)}' if step.name else ''}{failed}"
        yield from (f"  {line}" for line in _indented(step.content.text if step.content else ""))


def replies(most: int) -> Callable[[], Word]:
    """Return the source of answers: a person at a terminal, else the lines of stdin.

    Lines of a file or a program are read all at once, so that none is taken for the answer to another question.

    Args:
        most: how many questions there are.

    Raises:
        UsageError: with every line that is no answer; nothing has been asked.
    """
    if sys.stdin.isatty():
        return _asked
    lines = sys.stdin.read().splitlines()
    words = [_word(line) for line in lines]
    problems = [
        Problem("judge.answer", f"stdin, line {number}: {plain(line)!r} is none of y, n, skip, quit")
        for number, (line, word) in enumerate(zip(lines, words, strict=True), 1)
        if word is None
    ]
    if len(lines) > most:
        problems.append(Problem("judge.answer", f"stdin has {len(lines)} lines for {counted(most, 'question')}"))
    if problems:
        raise UsageError(problems)
    rest = iter(word for word in words if word is not None)
    return lambda: next(rest, Word.QUIT)


def show(question: Question, place: str) -> None:
    """Show a question on stderr: stdout is for what comes of it."""
    click.echo(f"\n{'─' * 72}\n{place}", err=True)
    for line in question_lines(question):
        click.echo(line, err=True)


def _asked() -> Word:
    while True:
        click.echo("\nDoes it hold? [y]es, [n]o, [s]kip, [q]uit: ", err=True, nl=False)
        line = sys.stdin.readline()
        word = _word(line) if line else Word.QUIT
        if word is not None:
            return word


def _word(text: str) -> Word | None:
    text = text.strip().lower()
    return next((word for word in Word if text and text in (word, word[0])), None)


def _question(case: CaseHead) -> Iterator[str]:
    """Yield what the case asks, under a heading."""
    if case.prompt is not None:
        yield from ("", "Task:", *_indented(case.prompt))
    elif case.input is not None:
        yield from ("", "Input:", *_indented(text_of(case.input)))


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in plain_lines(text).splitlines()]

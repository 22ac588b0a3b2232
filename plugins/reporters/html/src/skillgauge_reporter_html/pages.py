"""The pages of a run: one for all of it, or an overview of very many skills with a page for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from skillgauge.api.report import (
    Counts,
    RunView,
    case_by_case,
    catalogue,
    compared,
    judge_notes,
    run_notes,
    sentences,
    stamp,
)
from skillgauge_run_pages.skills import skills_of, worst_cases

from .content import Page, page_of

FILES = 60
"""Suites from which each has a file of its own, so that the page of all of them stays small."""


def has_files(view: RunView) -> bool:
    """Tell whether the suites of a run have files of their own."""
    return len(view.head.suites) > FILES and catalogue(view) is not None


def page(view: RunView) -> Page:
    """Return the page of a run; results are read once, or twice if there are several skills."""
    skills = catalogue(view)
    whole = page_of(view)
    if skills is None:
        return whole
    numbers = _numbers(view)

    answers: dict[str, list[str]] = {}
    for pair, sentence in zip(compared(view), sentences(view), strict=True):
        answers.setdefault(pair.candidate.suite_id, []).append(sentence)
    suites = tuple(replace(suite, answers=tuple(answers.get(suite.figures.head.id, ()))) for suite in whole.suites)
    return replace(
        whole,
        suites=suites,
        skills=skills_of(skills, lambda group: f"#skill-{numbers[group.suite_id]}"),
        worst=worst_cases(view, lambda suite_id, case: f"#case-{numbers[suite_id]}-{case}"),
        has_anchors=True,
    )


def overview(view: RunView) -> Page:
    """Return the page of a run whose suites have files of their own; see `part_of`."""
    skills = catalogue(view)
    if skills is None:
        raise AssertionError("a run with files has several skills")
    numbers, folder = _numbers(view), f"{stamp(view.run.started_at)}/html"

    def file(suite_id: str) -> str:
        return f"{folder}/{file_of(numbers[suite_id])}"

    notes = tuple(("Note", note) for note in (*run_notes(view), *judge_notes(view)))
    worst = worst_cases(view, lambda suite_id, case: f"{file(suite_id)}#case-1-{case}")
    return Page(view, (), notes, skills_of(skills, lambda group: file(group.suite_id)), worst)


def file_of(number: int) -> str:
    """Return the name of the file of a suite, by its place among them from 1."""
    return f"skill-{number:04}.html"


def parts(view: RunView) -> Iterator[tuple[str, Page]]:
    """Yield the page of each suite with the name of its file; all results are read once, one suite is in memory."""
    numbers = _numbers(view)
    for suite_id, reports in groupby(case_by_case(view), key=lambda report: report.case.suite_id):
        if suite_id in numbers:
            part = replace(page_of(_only(view, suite_id), reports), has_anchors=True)
            yield file_of(numbers[suite_id]), part


def _only(view: RunView, suite_id: str) -> RunView:
    """The plan and the summary of one suite; the results are those of the run."""
    head, summary = view.head, view.summary
    groups = tuple(group for group in summary.groups if group.suite_id == suite_id)
    changes = {
        "groups": groups,
        "pairs": tuple(pair for pair in summary.pairs if pair.candidate.suite_id == suite_id),
        "validity": tuple(validity for validity in summary.validity if validity.suite_id == suite_id),
        "counts": Counts.sum(group.counts for group in groups),
    }
    suites = tuple(suite for suite in head.suites if suite.id == suite_id)
    return replace(
        view,
        head=head.model_copy(update={"suites": suites, "trial_count": suites[0].trial_count or head.trial_count}),
        summary=summary.model_copy(update=changes),
        decided=None,
    )


def _numbers(view: RunView) -> dict[str, int]:
    """The place of each suite among them, from 1."""
    return {suite.id: number for number, suite in enumerate(view.head.suites, 1)}

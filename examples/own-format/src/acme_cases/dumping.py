"""From a suite to a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgauge.api import Case, Check, Dumped, Problem, Severity, Suite

from .claiming import MARK
from .loading import HEADS, check_of
from .sheet import written


def dump(suite: Suite) -> Dumped:
    """Write a suite, and say what is lost."""
    rows = [_row(case) for case in suite.cases]
    losses = tuple(
        Problem("suite.loss", f"case {case.id!r}: {lost}", origin=case.origin, severity=Severity.WARNING)
        for case in suite.cases
        for lost in _lost(case)
    )
    program = suite.targets[0].entrypoint if suite.targets else None
    return Dumped(((f"{suite.id}.csv", written([[MARK, program or ""], HEADS, *rows])),), losses)


def _row(case: Case) -> tuple[str, ...]:
    """What is written of a case, whoever made it."""
    question = case.input.get("question") if isinstance(case.input, Mapping) else None
    check = next(iter(case.checks), Check(id="is", scorer="exact"))
    match = "has" if check.scorer == "contains" else "is"
    keywords = check.options.get("keywords")
    answer = check.options.get("value") if match == "is" else keywords[0] if isinstance(keywords, tuple) else None
    texts = (value if isinstance(value, str) else "" for value in (question, answer))
    return case.id, next(texts), match, next(texts), " ".join(case.tags)


def _lost(case: Case) -> Iterator[str]:
    """What is not read back as it is: one field after another, so that nobody has to guess."""
    name, question, match, answer, tags = _row(case)
    again = Case(id=name, input={"question": question}, checks=(check_of(match, answer),), tags=tuple(tags.split()))
    if not question or not answer:
        yield "a sheet needs a question and an answer, both texts"
    for field in type(case).model_fields:
        if field == "checks":
            checks = tuple(check.model_copy(update={"origin": None}) for check in case.checks)
            if checks != again.checks:
                yield "of its checks a sheet can say one, whole answer or part of it, without options"
        elif field != "origin" and getattr(case, field) != getattr(again, field):
            yield f"{field} is not kept as it is"

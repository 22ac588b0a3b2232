"""Problems as SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from .. import __version__
from ..config.documents import located_all
from ..errors import Problem
from .linting import Lint

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Node = dict[str, object]


def sarif(problems: Iterable[Problem], lints: Sequence[Lint], cwd: Path) -> Node:
    """One SARIF document.

    Args:
        problems: what was found.
        lints: what was looked for, so that a rule without a result is known, too.
        cwd: places are told relative to it where they lie below it.
    """
    told = located_all(problems)
    rules = {lint.code: _rule(lint) for lint in lints}
    for problem in told:
        rules.setdefault(problem.code, {"id": problem.code, "shortDescription": {"text": problem.code}})
    order = {code: number for number, code in enumerate(rules)}
    driver = {"name": "skillgauge", "version": __version__, "rules": list(rules.values())}
    results = [_result(problem, order[problem.code], cwd) for problem in told]
    run: Node = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(lint: Lint) -> Node:
    return {
        "id": lint.code,
        "name": "".join(word.capitalize() for word in lint.id.split("-")),
        "shortDescription": {"text": lint.summary},
        "help": {"text": lint.hint},
        "defaultConfiguration": {"level": lint.severity.value},
    }


def _result(problem: Problem, rule: int, cwd: Path) -> Node:
    text = f"{problem.message}\nNext: {problem.hint}" if problem.hint else problem.message
    found: Node = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity.value,
        "message": {"text": _without_links(text)},
    }
    span = problem.span
    file = span.file if span else problem.origin.file if problem.origin else None
    if file is not None:
        place: Node = {"artifactLocation": {"uri": _uri(file, cwd)}}
        if span and span.line:
            place["region"] = {"startLine": span.line, **({"startColumn": span.column} if span.column else {})}
        found["locations"] = [{"physicalLocation": place}]
    return found


def _without_links(text: str) -> str:
    """A message without links: code hosts make one of `[words](address)`, and suites write messages."""
    return text.replace("[", "\\[").replace("]", "\\]") if "](" in text else text


def _uri(file: str, cwd: Path) -> str:
    path = (cwd / file).absolute()
    return quote(path.relative_to(cwd).as_posix()) if path.is_relative_to(cwd) else path.as_uri()

"""Problems as SARIF 2.1.0, for code hosts that show them beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from skillgauge.api import Problem
from skillgauge.api.run import Lint

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Node = dict[str, object]


def sarif(problems: Sequence[Problem], lints: Sequence[Lint], cwd: Path) -> Node:
    """One SARIF document.

    Args:
        problems: with their places, where these are known.
        lints: what was looked for, so that a rule without a result is known, too.
        cwd: places are told relative to it where they lie below it.
    """
    rules = {lint.code: _rule(lint) for lint in lints}
    for problem in problems:
        rules.setdefault(problem.code, {"id": problem.code, "shortDescription": {"text": problem.code}})
    order = {code: number for number, code in enumerate(rules)}
    driver = {"name": "skillgauge", "version": version("skillgauge-core"), "rules": list(rules.values())}
    results = [_result(problem, order[problem.code], cwd) for problem in problems]
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
    if problem.hint:
        text = f"{problem.message}\nNext: {problem.hint}"
    else:
        text = problem.message
    found: Node = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity.value,
        "message": {"text": _without_links(text)},
    }
    span = problem.span
    file = None
    if span:
        file = span.file
    elif problem.origin:
        file = problem.origin.file
    if file is not None:
        place: Node = {"artifactLocation": {"uri": _uri(file, cwd)}}
        if span and span.line:
            place["region"] = {"startLine": span.line, **({"startColumn": span.column} if span.column else {})}
        found["locations"] = [{"physicalLocation": place}]
    return found


def _without_links(text: str) -> str:
    """A message without links: code hosts make one of `[words](address)`, and suites write messages."""
    if "](" in text:
        return text.replace("[", "\\[").replace("]", "\\]")
    return text


def _uri(file: str, cwd: Path) -> str:
    path = (cwd / file).absolute()
    if path.is_relative_to(cwd):
        return quote(path.relative_to(cwd).as_posix())
    return path.as_uri()

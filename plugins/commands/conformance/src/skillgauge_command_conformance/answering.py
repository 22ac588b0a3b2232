"""The answers of this program to a fixture."""

from __future__ import annotations

import json
from typing import Any

from skillgauge.api import SuiteError, parse_document
from skillgauge_skillevaluation import Unit, aggregate, outcome_of, read_cases, render, verdict_of


def answered(category: str, data: bytes) -> tuple[str, int]:
    """The answer to a fixture, and the exit code.

    Raises:
        ValueError: the fixture is none of this category.
    """
    text = data.decode("utf-8")
    if category == "parser":
        return _parsed(text)
    request = json.loads(text)
    if category == "trajectory":
        rendered = render(
            request["user_input"], request["final_output"], request["llm_calls"], request.get("spans") or ()
        )
        return rendered, 0
    answer: dict[str, Any]
    match category:
        case "outcomes":
            answer = {"outcome": outcome_of(**request).value}
        case "verdict":
            answer = {"verdict": verdict_of(request["outcomes"]).value}
        case _:
            answer = dict(aggregate(map(Unit.of, request["case_results"])).document())
    return json.dumps(answer), 0


def _parsed(text: str) -> tuple[str, int]:
    try:
        document = parse_document(text, file="eval.yaml", kind="yaml")
        cases, problems = read_cases(document.value, document.origin)
    except SuiteError as error:
        return "\n".join(map(str, error.problems)), 2
    if problems:
        return "\n".join(map(str, problems)), 2
    return json.dumps({"cases": [case.document() for case in cases]}), 0

"""A judge that looks for the text of a claim in the output, and asks nobody."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import version

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage

NAME = "mock"
_BEGIN = re.compile(r"^BEGIN (?P<name>CLAIMS|CRITERIA) (?P<marker>[0-9a-f]+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)


@cache
def _version() -> str:
    """Looked up once: in an environment with many distributions each look costs more than an answer."""
    return version(f"skillgauge-judge-{NAME}")


class MockJudge:
    """Finds what stands in the output word for word, and nothing else."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing can be missing."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Complete; at the service of the engine of the same name, which asks nobody either."""
        return Identity(name=NAME, version=_version(), service=NAME)

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Answer each statement of a question."""
        begin = _BEGIN.search(request.user)
        marker = begin["marker"] if begin else ""
        statements = _statements(_section(request.user, begin["name"], marker)) if begin else []
        if begin is None or not statements:
            error = f"judge {NAME!r} understands only questions with a list of claims or criteria"
            return JudgeReply(text=None, error=error, failure_class=FailureClass.BAD_REQUEST)
        output = _section(request.user, "OUTPUT", marker)
        key, words = ("holds", (True, False)) if begin["name"] == "CLAIMS" else ("result", ("PASS", "FAIL"))
        answers = []
        for number, statement in enumerate(statements, 1):
            match = re.search(re.escape(statement), output, re.IGNORECASE)
            answers.append(
                {
                    "number": number,
                    key: words[0] if match else words[1],
                    "quote": match[0] if match else None,
                    "absent": None if match else "the text of the statement",
                    "reason": f"[mock judge] expectation text {'' if match else 'not '}found verbatim in the response",
                }
            )
        text = json.dumps({"marker": marker, "answers": answers})
        return JudgeReply(text=text, usage=Usage(total_tokens=0, cost_usd=0.0, cost_basis="free"))


def _section(text: str, name: str, marker: str) -> str:
    """Return the text between two lines; no pattern, since none fits a second question: every marker is another one."""
    inside = f"\n{text}\n".partition(f"\nBEGIN {name} {marker}\n")[2]
    return inside.partition(f"\nEND {name} {marker}\n")[0] if f"\nEND {name} {marker}\n" in inside else ""


def _statements(section: str) -> list[str]:
    """Numbered statements, which may have several lines: a number that is not the next one is part of a statement."""
    starts: list[re.Match[str]] = []
    for match in _NUMBERED.finditer(section):
        if int(match[1]) == len(starts) + 1:
            starts.append(match)
    ends = [*(one.start() - 1 for one in starts[1:]), *([len(section)] if starts else [])]
    return [section[one.end() : end] for one, end in zip(starts, ends, strict=True)]

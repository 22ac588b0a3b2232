"""A scripted judge, and what it was asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from skillgauge.api import Case, Execution, Identity, Judge, JudgeReply, JudgeRequest, Problem, Score, Workspace
from skillgauge_scorer_rubric.options import RubricOptions
from skillgauge_scorer_rubric.scorer import RubricScorer
from skillgauge_testkit import score_context

OPTIONS = {"criteria": "Names the planet Jupiter.", "scale": "0-10"}


def holds(*verdicts: object, quote: str | None = None, absent: str | None = "the planet", **more: object) -> str:
    """An answer to claims: the verdicts in their order, all with the same evidence; what is true quotes the output."""
    answers = []
    for number, verdict in enumerate(verdicts, 1):
        in_favour = verdict is True or more.get("result") == "PASS"
        evidence = {"quote": quote or ("Saturn" if in_favour else None), "absent": absent}
        answers.append({"number": number, "holds": verdict, **evidence, "reason": f"reason {number}", **more})
    return json.dumps({"marker": "<marker>", "answers": answers})


def number(value: object, reason: str = "r") -> str:
    """An answer on the scale from 0 to 10."""
    return json.dumps({"marker": "<marker>", "score": value, "reason": reason})


class ScriptedJudge:
    """Answers with replies in their order, or with what a function says; remembers what it was asked."""

    def __init__(
        self,
        *replies: JudgeReply | str,
        decide: Callable[[JudgeRequest], str] | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self._replies = list(replies)
        self._decide = decide
        self.requests: list[JudgeRequest] = []

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Complete, because nothing else decides."""
        return Identity(name=self.name, settings={"model": model})

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """The next reply."""
        self.requests.append(request)
        reply = self._decide(request) if self._decide else self._replies.pop(0)
        if isinstance(reply, str):
            reply = JudgeReply(text=reply, model="m-1")
        text = reply.text and reply.text.replace("<marker>", marker_of(request))
        return reply.model_copy(update={"text": text})


def score(
    judge: ScriptedJudge | None,
    output: Any = "Saturn",
    *,
    pauses: list[float] | None = None,
    mark: Callable[[str], str] | None = None,
    case: Case | None = None,
    text: str | None = None,
    execution: Execution | None = None,
    workspace: Workspace | None = None,
    others: Sequence[Judge] = (),
    clean: Callable[[str], str] = str,
    **options: Any,
) -> Score:
    """The score of an output, or of a whole execution; pauses are noted, not made."""

    async def sleep(pause_s: float) -> None:
        if pauses is not None:
            pauses.append(pause_s)

    marks: dict[str, Any] = {"mark": mark} if mark else {}
    given = options if {"claims", "criteria"} & options.keys() else {**OPTIONS, **options}
    scorer = RubricScorer(RubricOptions.model_validate(given), sleep=sleep, **marks)
    execution = execution or Execution(output=output, text=text)
    context = score_context(execution=execution, case=case, judge=judge, workspace=workspace)
    panel = (judge, *others) if judge and others else ()
    return asyncio.run(scorer.score(replace(context, panel=panel, clean=clean)))


def marker_of(request: JudgeRequest) -> str:
    """The marker that the judge was told about."""
    found = re.search(r"END <name> ([0-9a-z]+)\.", request.system)
    assert found is not None
    return found[1]


def fenced(request: JudgeRequest, name: str = "OUTPUT") -> str:
    """What stands between the only true lines of a name."""
    marker = marker_of(request)
    begin, end = f"BEGIN {name} {marker}\n", f"\nEND {name} {marker}"
    assert request.user.count(begin) == 1
    assert request.user.count(end) == 1
    return request.user.partition(begin)[2].partition(end)[0]

"""Claims of several checks of a trial in one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skillgauge.api import Case, Check, Execution, JudgeReply, JudgeRequest, Score, ScoreStatus, Usage
from skillgauge.api.report import AnswerStyle
from skillgauge_scorer_rubric.options import MOST, RubricOptions
from skillgauge_scorer_rubric.scorer import RubricScorer
from skillgauge_testkit import score_context

from .conftest import ScriptedJudge, fenced, holds


def check(name: str, *claims: str, **options: Any) -> Check:
    """A check of claims, by default of the one that is its name."""
    return Check(id=name, scorer="rubric", options={"claims": claims or (name,), **options})


def scores_of(judge: ScriptedJudge | None, *checks: Check, others: tuple[ScriptedJudge, ...] = ()) -> dict[str, Score]:
    """The scores of a case's checks, one after another as in a run, by id."""
    context = score_context(execution=Execution(text="Saturn"), judge=judge)
    context = replace(context, case=Case(id="c", checks=checks), panel=(judge, *others) if judge else ())

    async def each() -> dict[str, Score]:
        return {
            one.id: await RubricScorer(RubricOptions.model_validate(one.options)).score(replace(context, check=one))
            for one in checks
            if one.scorer == "rubric"
        }

    return asyncio.run(each())


def evidence(score: Score) -> Mapping[str, Any]:
    """What a score rests on."""
    assert isinstance(score.evidence, Mapping)
    return score.evidence


def test_seven_checks_are_one_request() -> None:
    """D-2: every check has the verdict, the quotation and the reason of its own claims, and only theirs."""
    verdicts = [number % 2 == 0 for number in range(7)]
    judge = ScriptedJudge(holds(*verdicts))
    found = scores_of(judge, *(check(f"claim {number}") for number in range(7)))
    (request,) = judge.requests
    assert fenced(request, "CLAIMS") == "\n".join(f"{number + 1}. claim {number}" for number in range(7))
    assert [score.status is ScoreStatus.PASSED for score in found.values()] == verdicts
    assert [score.value for score in found.values()] == [float(verdict) for verdict in verdicts]
    assert found["claim 1"].reason == "0 of 1 claims are true; not: claim 1 (reason 2)"
    (answer,) = evidence(found["claim 3"])["answers"]
    assert (answer["statement"], answer["absent"]) == ("claim 3", "the planet")


def test_a_call_counts_once() -> None:
    """Usage, reply and number of calls stand at the first check; the others say with which they were asked."""
    used = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5)
    reply = JudgeReply(text=holds(True, True), model="m-1", usage=used)

    class Paid(ScriptedJudge):
        async def ask(self, request: JudgeRequest) -> JudgeReply:
            text = (await super().ask(request)).text
            return reply.model_copy(update={"text": text})

    found = scores_of(Paid(holds(True, True)), check("a"), check("b"))
    assert [score.usage for score in found.values()] == [used, None]
    assert evidence(found["a"])["calls"] == 1
    assert "asked_with" not in evidence(found["a"])
    told = evidence(found["b"])
    assert set(told) == {"model", "answers", "asked_with", "prompt", "rubric"}
    assert (told["model"], told["asked_with"]) == ("m-1", "a")


def test_a_judge_that_fails_leaves_all_of_them_ungraded() -> None:
    """One question, one failure: nothing is asked again for the other checks."""
    judge = ScriptedJudge(JudgeReply(text=None, error="gone"))
    found = scores_of(judge, check("a"), check("b"))
    assert [score.status for score in found.values()] == [ScoreStatus.UNGRADED] * 2
    assert len(judge.requests) == 1
    assert len({score.reason for score in found.values()}) == 1


def test_only_what_is_alike_is_asked_together() -> None:
    """Another reference, model or way of seeing is another question; checks of other scorers and scales are none."""
    checks = (
        check("a"),
        Check(id="other", scorer="contains", options={"claims": ("x",)}),
        Check(id="scale", scorer="rubric", options={"criteria": "x", "scale": "0-10"}),
        check("b", reference="r"),
        check("c", "c1", "c2"),
        check("d", reference="r"),
        check("e", files=False),
    )
    judge = ScriptedJudge(holds(True, True, False), "7", holds(True, True), holds(True))
    found = scores_of(judge, *checks)
    asked = [fenced(request, "CLAIMS") for request in judge.requests if "BEGIN CLAIMS" in request.user]
    assert asked == ["1. a\n2. c1\n3. c2", "1. b\n2. d", "1. e"]
    assert (found["c"].value, found["c"].status) == (0.5, ScoreStatus.FAILED)


def test_answers_that_are_read_otherwise_are_asked_about_apart() -> None:
    """A judge is shown the answer in one style, which is that of all checks in the question."""
    judge = ScriptedJudge(holds(True), holds(True))
    scores_of(judge, check("a"), check("b").model_copy(update={"answer": AnswerStyle(keys=("result",))}))
    assert [fenced(request, "CLAIMS") for request in judge.requests] == ["1. a", "1. b"]


def test_each_judge_of_a_panel_is_told_for_the_claims_of_a_check() -> None:
    """What a judge said of claims of other checks does not count into its value."""
    judges = [ScriptedJudge(holds(True, False), name=name) for name in ("j1", "j2", "j3")]
    found = scores_of(judges[0], check("a"), check("b"), others=tuple(judges[1:]))
    told = {name: [seat["value"] for seat in evidence(score)["panel"]] for name, score in found.items()}
    assert told == {"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0]}


def test_many_claims_are_several_questions() -> None:
    """No question has more than one check may ask for; every claim is asked once and answered to its own check."""

    def answer(request: JudgeRequest) -> str:
        claims = fenced(request, "CLAIMS").split("\n")
        answers = [
            {"number": number, "holds": claim.endswith("0"), "quote": "Saturn", "reason": "r"}
            for number, claim in enumerate(claims, 1)
        ]
        return json.dumps({"marker": "<marker>", "answers": answers})

    judge = ScriptedJudge(decide=answer)
    count = 2 * MOST + 1
    found = scores_of(judge, *(check(f"n{number}") for number in range(count)))
    assert [len(fenced(request, "CLAIMS").split("\n")) for request in judge.requests] == [MOST, MOST, 1]
    assert [score.value == 1 for score in found.values()] == [number % 10 == 0 for number in range(count)]


def test_the_burden_of_proof_is_on_the_claim() -> None:
    """D-2: the judge is told that what is in doubt is false, and evidence is demanded."""
    judge = ScriptedJudge(holds(True))
    scores_of(judge, check("a"))
    assert "when in doubt, the answer is false" in judge.requests[0].system.replace("\n", " ")
    assert "Every answer needs evidence" in judge.requests[0].system

"""Claims, criteria and the number with evidence: what counts as an answer, and what it is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import Case, ScoreStatus
from skillgauge_scorer_rubric.options import RubricOptions
from skillgauge_scorer_rubric.reading import Answer, Unreadable, folded, occurs
from skillgauge_scorer_rubric.shapes import Claims, Shape, shape_of

from .conftest import ScriptedJudge, fenced, holds, score

THREE = ["It names Jupiter.", "It is short.", "It has no price."]
ABSENT = {"quote": None, "absent": "a price", "reason": "r"}
UNIT = {"marker": "m", "score": 0.5, "quote": "Saturn", "reason": "r"}
MATERIAL = (folded('It is Saturn,\n  they said: "quite\tfar".'),)


def read(shape: Shape, document: object) -> Answer:
    """What a shape makes of an answer, given as a JSON value or as text."""
    text = document if isinstance(document, str) else json.dumps(document)
    return shape.read(text, "m", MATERIAL)


def answers(*found: dict[str, Any]) -> dict[str, Any]:
    """An answer to claims."""
    return {"marker": "m", "answers": [{**ABSENT, **one} for one in found]}


def claims(size: int = 1) -> Claims:
    """That many claims."""
    return Claims(["c"] * size)


@pytest.mark.parametrize(
    ("verdicts", "value", "status", "reason"),
    [
        ((True, True, True), 1.0, ScoreStatus.PASSED, "3 of 3 claims are true"),
        ((True, False, True), 2 / 3, ScoreStatus.FAILED, "2 of 3 claims are true; not: It is short. (reason 2)"),
        ((True, False, False), 1 / 3, ScoreStatus.FAILED, "1 of 3 claims is true; not: It is short. (reason 2); It "),
        ((False, False, False), 0.0, ScoreStatus.FAILED, "0 of 3 claims are true; not: It names Jupiter. (reason 1); "),
    ],
)
def test_claims(verdicts: tuple[bool, ...], value: float, status: ScoreStatus, reason: str) -> None:
    """All must be true to pass; the value is the share; the reason says which are not, and why."""
    judge = ScriptedJudge(holds(*verdicts, quote="names\n Saturn"))
    found = score(judge, "It names Saturn.", claims=THREE)
    assert (found.status, found.value) == (status, pytest.approx(value))
    assert found.reason.startswith(reason)
    assert isinstance(found.evidence, dict)
    told = found.evidence["answers"]
    assert isinstance(told, tuple)
    assert told[1] == {
        "statement": "It is short.",
        "holds": verdicts[1],
        "quote": "names Saturn",
        "absent": "the planet",
        "reason": "reason 2",
    }
    (request,) = judge.requests
    assert fenced(request, "CLAIMS") == "1. It names Jupiter.\n2. It is short.\n3. It has no price."


def test_many_claims_that_are_false() -> None:
    """The reason names the first three and counts the others."""
    found = score(ScriptedJudge(holds(*[False] * 5)), claims=[f"claim {number}" for number in range(5)])
    assert found.reason.endswith("claim 2 (reason 3); and 2 more")


@pytest.mark.parametrize("criteria", [["Names Jupiter."], "Names Jupiter."])
@pytest.mark.parametrize(("result", "status"), [("PASS", ScoreStatus.PASSED), ("FAIL", ScoreStatus.FAILED)])
def test_criteria_pass_or_fail(criteria: object, result: str, status: ScoreStatus) -> None:
    """A list of criteria, or a text with that scale: PASS or FAIL each."""
    judge = ScriptedJudge(holds(None, result=result))
    assert score(judge, criteria=criteria, scale="pass-fail").status is status
    assert fenced(judge.requests[0], "CRITERIA") == "1. Names Jupiter."


@pytest.mark.parametrize(
    ("threshold", "given_score", "status"),
    [(None, 0.5, ScoreStatus.PASSED), (None, 0.49, ScoreStatus.FAILED), (0.8, 0.8, ScoreStatus.PASSED)],
)
def test_number_with_a_threshold(threshold: float | None, given_score: float, status: ScoreStatus) -> None:
    """A number from 0 to 1 passes from the threshold on; quotation and reason are kept."""
    reply = json.dumps({"marker": "<marker>", "score": given_score, "quote": "Saturn", "reason": "so"})
    found = score(ScriptedJudge(reply), scale="0-1", threshold=threshold)
    assert (found.status, found.value, found.reason) == (status, given_score, f"{given_score:g} of 1: so")
    assert isinstance(found.evidence, dict)
    assert (found.evidence["quote"], found.evidence["reply"]) == ("Saturn", reply)


@pytest.mark.parametrize("verdict", [True, False], ids=["true", "false"])
def test_readable_claims(verdict: bool) -> None:
    """Answers in any order, with further keys, in a fence."""
    found = answers({"number": 2, "holds": verdict, "sure": 1}, {"number": 1, "holds": True, "quote": "Saturn"})
    answer = read(claims(2), f"```json\n{json.dumps({**found, 'notes': []})}\n```")
    assert [finding.holds for finding in answer.findings] == [True, verdict]
    assert (answer.findings[0].evidence.quote, answer.findings[1].evidence.absent) == ("Saturn", "a price")


ONE = {"number": 1, "holds": True}
BAD_CLAIMS = {
    "no object": "true",
    "a list": [ONE],
    "text around it": 'Here: {"marker": "m"}',
    "no marker": {"answers": [{**ABSENT, **ONE}]},
    "wrong marker": {"marker": "M", "answers": [{**ABSENT, **ONE}]},
    "marker twice": '{"marker": "m", "marker": "m", "answers": []}',
    "no answers": {"marker": "m"},
    "answers of one": {"marker": "m", "answers": {**ABSENT, **ONE}},
    "none": answers(),
    "an answer that is no object": {"marker": "m", "answers": [True]},
    "the same twice": answers(ONE, ONE),
    "one too many": answers(ONE, {"number": 2, "holds": True}),
    "number 0": answers({"number": 0, "holds": True}),
    "number true": answers({"number": True, "holds": True}),
    "number as text": answers({"number": "1", "holds": True}),
    "number 1.0": answers({"number": 1.0, "holds": True}),
    "no verdict": answers({"number": 1}),
    "verdict as text": answers({"number": 1, "holds": "true"}),
    "verdict false as text": answers({"number": 1, "holds": "false"}),
    "verdict 1": answers({"number": 1, "holds": 1}),
    "verdict null": answers({"number": 1, "holds": None}),
    "verdict PASS": answers({"number": 1, "holds": "PASS"}),
    "no evidence": answers({**ONE, "absent": None}),
    "blank evidence": answers({**ONE, "quote": " ", "absent": "\n"}),
    "quote from nowhere": answers({**ONE, "quote": "Jupiter"}),
    "quote from nowhere beside an absence": answers({**ONE, "quote": "Saturn, he said"}),
    "quote that is no text": answers({**ONE, "quote": ["Saturn"]}),
    "absent that is no text": answers({**ONE, "absent": True}),
}


@pytest.mark.parametrize("document", BAD_CLAIMS.values(), ids=BAD_CLAIMS)
def test_unreadable_claims(document: object) -> None:
    """Real booleans, every number once, the marker and evidence, or it is no answer; why quotes nothing of it."""
    with pytest.raises(Unreadable) as raised:
        read(claims(), document)
    assert not {"Saturn", "Jupiter"} & set(str(raised.value).split())


@pytest.mark.parametrize("result", ["pass", "Pass", "PASSED", True, None, 1, ["PASS"], {"PASS": 1}])
def test_unreadable_criteria(result: object) -> None:
    """Only the two words count."""
    with pytest.raises(Unreadable, match='neither "PASS" nor "FAIL"'):
        read(shape_of(RubricOptions(criteria=("c",))), answers({"number": 1, "result": result}))


@pytest.mark.parametrize(
    "change",
    [{"score": True}, {"score": "0.5"}, {"score": 1.01}, {"score": -1}, {"score": None}, {"marker": ""}, {"quote": ""}],
)
def test_unreadable_numbers(change: dict[str, object]) -> None:
    """A number in range with marker and evidence, or it is no answer."""
    shape = shape_of(RubricOptions(criteria="c", scale="0-1"))
    assert read(shape, UNIT).value == 0.5
    with pytest.raises(Unreadable):
        read(shape, UNIT | change)
    with pytest.raises(Unreadable):
        read(shape, {key: value for key, value in UNIT.items() if key not in change})


@pytest.mark.parametrize(
    ("quote", "is_there"),
    [
        ("Saturn", True),
        ("Saturn, they", True),
        ('said: "quite far"', True),
        ("saturn", False),
        ("Saturn they", False),
        ("quite … far", False),
    ],
)
def test_quotations(quote: str, is_there: bool) -> None:
    """Word for word, however blanks and line breaks fall."""
    assert occurs(quote, MATERIAL) is is_there


def test_quotations_of_json() -> None:
    """What stands escaped in a JSON output may be quoted with and without the escapes."""
    material = (folded(json.dumps({"say": 'a "b"\nc'})),)
    assert occurs('a "b"\nc', material)
    assert occurs(r"a \"b\"\nc", material)


def test_evidence_is_asked_for_once_more() -> None:
    """A quotation that is not there is asked for again, and then leaves the check ungraded."""
    forged = holds(True, quote="It is Jupiter")
    judge = ScriptedJudge(forged, holds(True, quote="Saturn"))
    assert score(judge, claims=THREE[:1]).status is ScoreStatus.PASSED
    assert "answer 1 had a quote that is not in the material" in judge.requests[1].user
    found = score(ScriptedJudge(forged, forged), claims=THREE[:1])
    assert found.status is ScoreStatus.UNGRADED
    assert "quote that is not in the material" in found.reason


def test_task_and_reference_are_no_evidence() -> None:
    """Only what is judged can be quoted: what was asked for proves nothing."""
    for quote in ("question", "expected", "names Jupiter"):
        given_answer = holds(True, quote=quote)
        case = Case(id="c", prompt="the question")
        found = score(ScriptedJudge(given_answer, given_answer), claims=THREE, case=case, reference="expected")
        assert found.status is ScoreStatus.UNGRADED


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criteria": "c", "claims": ["d"]},
        {"criteria": []},
        {"claims": []},
        {"claims": ["  "]},
        {"criteria": " "},
        {"criteria": ["c"] * 101},
        {"criteria": ["c"], "scale": "0-1"},
        {"claims": ["c"], "scale": "pass-fail"},
        {"criteria": "c", "threshold": 0.5},
        {"criteria": "c", "scale": "0-1", "threshold": 1.5},
        {"criteria": "c", "scale": "1-5"},
    ],
)
def test_options_that_do_not_fit_together(options: dict[str, object]) -> None:
    """A check that cannot mean anything is refused before anything runs."""
    with pytest.raises(ValidationError):
        RubricOptions.model_validate(options)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["m", "Saturn"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["marker", "answers", "number", "holds", "result", "score", "quote", "absent", "reason"]),
            inner,
        )
    ),
    max_leaves=12,
)
SHAPES = (claims(2), shape_of(RubricOptions(criteria=("c",))), shape_of(RubricOptions(criteria="c", scale="0-1")))


@settings(deadline=None)
@given(st.sampled_from(SHAPES), values | st.text(max_size=40))
def test_any_answer_is_read_or_refused(shape: Shape, document: object) -> None:
    """Whatever a judge says, there is an answer within its range and with evidence, or a refusal, and nothing else."""
    try:
        answer = read(shape, document)
    except Unreadable:
        return
    assert 0 <= answer.value <= 1
    for evidence in [finding.evidence for finding in answer.findings] or [answer.evidence]:
        assert evidence.absent or (evidence.quote and occurs(evidence.quote, MATERIAL))


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=20), st.randoms())
def test_right_answers_are_read(verdicts: list[bool], random: Any) -> None:
    """Any verdicts in any order come back as they were given."""
    found = [{"number": number, "holds": verdict} for number, verdict in enumerate(verdicts, 1)]
    random.shuffle(found)
    answer = read(claims(len(verdicts)), answers(*found))
    assert [finding.holds for finding in answer.findings] == verdicts
    assert answer.value == pytest.approx(sum(verdicts) / len(verdicts))


@settings(deadline=None)
@given(st.text(min_size=1), st.text(), st.text())
def test_a_passage_occurs_in_its_text(passage: str, before: str, after: str) -> None:
    """Whatever is around it, unless the characters at its edges combine with their neighbours."""
    assert occurs(passage, (folded(f"{before} {passage} {after}"),)) or folded(passage) != folded(f" {passage} ")

"""Claims, criteria and the number with evidence: what counts as an answer, and what it is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from skillgauge.api import Case, ScoreStatus
from skillgauge_judge_answers import Exhibits, Unreadable, folded
from skillgauge_scorer_rubric.options import RubricOptions
from skillgauge_scorer_rubric.reading import Answer, occurs
from skillgauge_scorer_rubric.shapes import Claims, Criteria, OutOfOne, Shape, shape_of

from .conftest import ScriptedJudge, fenced, holds, score

THREE = ["It names Jupiter.", "It is short.", "It has no price."]
ABSENT = {"quote": None, "absent": "a price", "reason": "r"}
UNIT = {"marker": "m", "score": 0.5, "quote": "Saturn", "reason": "r"}
EXHIBITS = Exhibits({"OUTPUT": 'It is Saturn,\n  they said: "quite\tfar".'})


def read(shape: Shape, document: object) -> Answer:
    """What a shape makes of an answer, given as a JSON value or as text."""
    text = document if isinstance(document, str) else json.dumps(document)
    return shape.read(text, "m", EXHIBITS)


def answers(*found: dict[str, Any]) -> dict[str, Any]:
    """An answer to claims."""
    return {"marker": "m", "answers": [{**ABSENT, **one} for one in found]}


def claims(size: int = 1) -> Claims:
    """That many claims, which something absent may show."""
    return Claims(["not c"] * size)


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


@pytest.mark.parametrize(
    ("shape", "document", "value"),
    [
        (Claims(["not c"]), answers({"number": "1", "holds": "True"}), 1.0),
        (Claims(["not c"]), answers({"number": " 1 ", "holds": " false"}), 0.0),
        (OutOfOne("not c", 0.5), UNIT | {"score": "0.25"}, 0.25),
        (OutOfOne("not c", 0.5), UNIT | {"score": ".5"}, 0.5),
    ],
)
def test_values_given_as_text(shape: Shape, document: dict[str, Any], value: float) -> None:
    """R3-W-11: models that write every value as a text mean the value."""
    assert read(shape, document).value == value


@pytest.mark.parametrize(
    ("statement", "needs_quote"),
    [
        ("It names Jupiter.", True),
        ("Der Planet wird genannt.", True),
        ("It has no price.", False),
        ("The agent didn't ask.", False),
        ("Only one file was changed.", False),
        ("At most three sentences.", False),
        ("Es gibt keinen Preis.", False),
        ("Il n'y a pas de prix.", False),
        ("価格がない", False),
        ("没有价格", False),
    ],
)
def test_what_holds_needs_a_quotation(statement: str, needs_quote: bool) -> None:
    """R3-T5: unless something absent meets it, which no passage can show. What does not hold needs none."""
    absent = {"quote": None, "absent": "a price", "reason": "r"}
    for shape, found in (
        (Claims([statement]), {"number": 1, "holds": True, **absent}),
        (Criteria([statement]), {"number": 1, "result": "PASS", **absent}),
    ):
        against = {**found, "holds": False, "result": "FAIL"}
        assert read(shape, {"marker": "m", "answers": [against]}).value == 0
        assert read(shape, {"marker": "m", "answers": [{**found, "quote": "Saturn"}]}).value == 1
        if needs_quote:
            with pytest.raises(Unreadable, match="answer 1 was in favour without a quote"):
                read(shape, {"marker": "m", "answers": [found]})
        else:
            assert read(shape, {"marker": "m", "answers": [found]}).value == 1


def test_a_number_that_passes_needs_a_quotation() -> None:
    """From the threshold on; a lower one may rest on what is absent."""
    shape = OutOfOne("It names Jupiter.", 0.7)
    assert read(shape, UNIT | {"score": 0.6, "quote": None, "absent": "the planet"}).value == 0.6
    with pytest.raises(Unreadable, match="it was in favour without a quote"):
        read(shape, UNIT | {"score": 0.7, "quote": None, "absent": "the planet"})


def test_where_nothing_can_be_quoted_nothing_is_asked_for() -> None:
    """An empty output holds no passage."""
    found = score(
        ScriptedJudge(holds(True, quote=None, absent="all of it").replace('"Saturn"', "null")), "", claims=["c"]
    )
    assert found.status is ScoreStatus.PASSED


def test_a_missing_quotation_is_asked_for_and_then_named() -> None:
    """The judge is told what is wrong; if it repeats it, the reason of the score says why there is no verdict."""
    bare = holds(True, absent="nothing").replace('"Saturn"', "null")
    judge = ScriptedJudge(bare, holds(True))
    assert score(judge, claims=THREE[:1]).status is ScoreStatus.PASSED
    assert "was in favour without a quote, though it is about something that has to be there" in judge.requests[1].user
    found = score(ScriptedJudge(bare, bare), claims=THREE[:1])
    assert found.status is ScoreStatus.UNGRADED
    assert found.reason.endswith("in favour without a quote, though it is about something that has to be there")


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
    "number as a word": answers({"number": "one", "holds": True}),
    "number of nothing as text": answers({"number": "0", "holds": True}),
    "number 1.0": answers({"number": 1.0, "holds": True}),
    "no verdict": answers({"number": 1}),
    "verdict in other words": answers({"number": 1, "holds": "yes"}),
    "verdict 1 as text": answers({"number": 1, "holds": "1"}),
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
    [
        {"score": True},
        {"score": "half"},
        {"score": "1.5"},
        {"score": 1.01},
        {"score": -1},
        {"score": None},
        {"marker": ""},
        {"quote": ""},
    ],
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
        ("t", False),
        ("he", False),
        ("is", True),
        ("It", True),
    ],
)
def test_quotations(quote: str, is_there: bool) -> None:
    """Word for word, however blanks and line breaks fall; a letter or two out of a word are no quotation."""
    assert occurs(quote, EXHIBITS.passages) is is_there


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
        assert evidence.absent or (evidence.quote and occurs(evidence.quote, EXHIBITS.passages))


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
@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_a_passage_occurs_in_its_text(passage: str, before: str, after: str) -> None:
    """Whatever is around it, unless the characters at its edges combine with their neighbours."""
    assert occurs(passage, (folded(f"{before} {passage} {after}"),)) or folded(passage) != folded(f" {passage} ")

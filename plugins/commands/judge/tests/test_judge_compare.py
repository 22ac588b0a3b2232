"""`judge compare`: answers of two arms, shown to a judge in both orders."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable

import pytest

from skillgauge.api import CaseHead, Identity, JudgeReply, JudgeRequest, Problem
from skillgauge.api.report import GroupKey
from skillgauge_command_judge.comparing import Duel, Match, summary, verdict
from skillgauge_command_judge.documents import CompareDocuments
from skillgauge_command_judge.duel import Better, Word, ask
from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

from .conftest import Biased

FIRST, SECOND, TIE = Word(Better.FIRST), Word(Better.SECOND), Word(Better.TIE)
GROUP = GroupKey("suite", "skill", "with_skill", "engine", None)
MARKER = re.compile(r"END FIRST ([0-9a-f]{32})$", re.MULTILINE)


def match(n: int) -> Match:
    """So many cases."""
    duels = tuple(Duel(CaseHead(suite_id="suite", id=f"c{at}", index=at), "ours", "theirs") for at in range(n))
    return Match("skill", GROUP, GROUP.in_arm("without_skill"), duels, n)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ((FIRST, SECOND), "win"),
        ((SECOND, FIRST), "loss"),
        ((FIRST, FIRST), "tie"),
        ((SECOND, SECOND), "tie"),
        ((TIE, FIRST), "tie"),
        ((TIE, TIE), "tie"),
        ((FIRST, Word(None, "it is down")), None),
    ],
)
def test_the_same_winner_twice_counts(words: tuple[Word, Word], outcome: str | None) -> None:
    """Everything else is a tie, and a missing word is neither."""
    compared = summary("r", "j", "clear", match(1), [words])
    assert compared.cases[0].outcome == outcome
    assert compared.unanswered == int(outcome is None)
    assert (compared.wins, compared.losses, compared.ties) == tuple(
        int(outcome == one) for one in ("win", "loss", "tie")
    )


def test_known_answers() -> None:
    """8 wins, 1 loss and 1 tie: sign test 0.039, +70 points, above 0; six firsts are ties."""
    words = [*[(FIRST, SECOND)] * 8, (SECOND, FIRST), (TIE, TIE)]
    compared = summary("r", "j", "clear", match(10), words)
    assert compared.chance == pytest.approx(2 * (1 + 9) / 2**9)
    assert (compared.net, compared.consistent) == (pytest.approx(0.7), 1.0)
    assert compared.lower is not None
    assert compared.upper is not None
    assert 0 < compared.lower < 0.7 < compared.upper <= 1
    assert verdict(compared).startswith("8 wins, 1 loss, 1 tie: wins minus losses +70.0 points (95% interval +")
    biased = summary("r", "j", "clear", match(6), [(FIRST, FIRST)] * 6)
    assert (biased.ties, biased.both_first, biased.consistent) == (6, 6, 0.0)
    assert biased.position_chance == pytest.approx(2 / 2**6)
    assert (biased.chance, biased.net, biased.lower) == (1.0, 0.0, None)


def test_without_a_word_there_is_no_figure() -> None:
    """A judge that is down decides nothing."""
    compared = summary("r", "j", "clear", match(1), [(Word(None, "it is down"), FIRST)])
    assert (compared.net, compared.consistent, compared.unanswered) == (None, None, 1)
    assert verdict(compared) == "0 wins, 0 losses, 0 ties: the judge gave no word"


class Scripted:
    """A judge that gives these replies, with the marker of the question where they have M."""

    def __init__(self, *replies: JudgeReply) -> None:
        self.replies = list(replies)
        self.requests: list[JudgeRequest] = []

    async def check(self) -> tuple[Problem, ...]:
        """Nothing can be missing."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """It is known by its name."""
        return Identity(name="scripted")

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Give the next reply."""
        self.requests.append(request)
        marker = MARKER.search(request.user)
        assert marker
        reply = self.replies.pop(0)
        text = None if reply.text is None else reply.text.replace("M", marker[1])
        return reply.model_copy(update={"text": text})


def word(judge: Scripted) -> Word:
    """Its word on two answers."""

    async def pause(_seconds: float) -> None:
        """Nobody waits."""

    return asyncio.run(ask(judge, "Write.", "Clear?", ("a", "b" * 70_000), pause))


def reply(better: str, marker: str = "M") -> JudgeReply:
    """A reply as it is asked for."""
    return JudgeReply(text=f'Here: {{"marker": "{marker}", "better": "{better}", "reason": "so"}}')


def test_an_answer_must_be_the_one_that_was_asked_for() -> None:
    """Another marker, an unknown word and no JSON are asked for once more, and then give no word."""
    judge = Scripted(reply("FIRST", "other"), reply("SECOND"))
    assert word(judge) == SECOND
    assert "the marker is missing" in judge.requests[1].user
    assert "characters are left out here" in judge.requests[0].user
    for bad in (JudgeReply(text="First."), reply("BOTH"), JudgeReply(text="[1]")):
        failed = word(Scripted(bad, bad))
        assert failed.better is None
        assert failed.failure.startswith("the judge's answer cannot be read, also when it was asked again: ")


def test_a_judge_that_is_busy_is_asked_again() -> None:
    """Three times at most, and not if it asks for too long a pause."""
    busy = JudgeReply(text=None, error="busy", retryable=True)
    assert word(Scripted(busy, busy, reply("TIE"))) == TIE
    assert word(Scripted(busy, busy, busy)) == Word(None, "the judge failed: busy")
    assert word(Scripted(busy.model_copy(update={"retry_after_s": 3600.0}))).better is None
    assert word(Scripted(JudgeReply(text=None))).failure.endswith("it gave neither an answer nor an error")


Preference = Callable[[str, str], str]


def preferring(prefers: Preference) -> Callable[[ModelRequest], ModelReply]:
    """A model that compares two answers."""

    def answer(request: ModelRequest) -> ModelReply:
        marker = MARKER.search(request.text)
        assert marker
        parts = [re.search(rf"BEGIN {name} {marker[1]}\n(.*)\nEND", request.text) for name in ("FIRST", "SECOND")]
        better = prefers(*(part[1] if part else "" for part in parts))
        return ModelReply(json.dumps({"marker": marker[1], "better": better, "reason": "so"}))

    return answer


def run(program: Program, server: ModelServer, *arguments: str, code: int = 0) -> Done:
    """Compare the newest run."""
    words = ["judge", "compare", "latest", "--judge", "openai", "--judge-model", "m-1", *arguments]
    words += ["--set", f"judges.openai.base_url={server.url}/v1"]
    done = program(*words, env={"OPENAI_API_KEY": "made-up-key", "SKILLGAUGE_SANDBOX": "local"})
    assert done.code == code, done.stdout + done.stderr
    return done


@pytest.mark.e2e
def test_answers_of_both_arms_are_compared(program: Program, biased: Biased) -> None:
    """A judge that prefers GOOD to BAD: 15 cases differ and are won; `--dry-run` asks nothing."""
    biased.evaluate()

    def prefers(first: str, second: str) -> str:
        return "TIE" if first == second else "FIRST" if first == "GOOD" else "SECOND"

    with ModelServer(preferring(prefers)) as server:
        dry = run(program, server, "--rubric", "Is it good?", "--dry-run", "--sample", "30")
        assert dry.verdict == "would ask 60 questions about 30 cases to judge openai, each in both orders"
        assert not server.requests
        done = run(program, server, "--rubric", "Is it good?", "--sample", "30", "--json")
        assert len(server.requests) == 60
        few = run(program, server, "--rubric", "Is it good?", "--sample", "3")
        assert len(server.requests) == 66
    (compared,) = CompareDocuments.model_validate(done.document).comparisons
    assert (compared.wins, compared.losses, compared.ties, compared.cases_in_run) == (15, 0, 15, 30)
    assert (compared.net, compared.consistent) == (0.5, 1.0)
    assert done.verdict.startswith("15 wins, 0 losses, 15 ties: wins minus losses +50.0 points (95% interval +")
    assert "my-skill · with_skill against without_skill: " in few.stdout


@pytest.mark.e2e
def test_a_judge_that_takes_the_first_finds_nothing(program: Program, biased: Biased) -> None:
    """All are ties, and the place that wins twice is told."""
    biased.evaluate()
    with ModelServer(preferring(lambda first, second: "FIRST")) as server:
        done = run(program, server, "--rubric", "Is it good?")
    assert done.verdict.startswith("0 wins, 0 losses, 20 ties: wins minus losses +0.0 points")
    assert "the same place in both orders: 20 times the first, 0 times the second (p < 0.001)" in done.stdout


@pytest.mark.e2e
def test_what_cannot_be_compared_is_refused(program: Program, biased: Biased) -> None:
    """An empty rubric and a run of one arm; nothing is asked."""
    biased.evaluate("--no-baseline")
    with ModelServer(preferring(lambda first, second: "TIE")) as server:
        assert "error[judge.rubric]" in run(program, server, "--rubric", " ", code=2).stderr
        refused = run(program, server, "--rubric", "Is it good?", code=2)
        assert not server.requests
    assert "error[judge.nothing-compared]" in refused.stderr

"""`judge noise`: how often a judge contradicts itself, and what of the noise of a rate is its own."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from skillgauge.api.report import GroupKey
from skillgauge_command_judge.documents import NoiseDocument
from skillgauge_command_judge.noise import group_noise, sampled
from skillgauge_judge_labels import Grader, Judged, JudgedRun
from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

from .conftest import marker_of

Evaluate = Callable[..., Done]
GROUP = GroupKey("suite", "skill", "with_skill", "engine", None)
GRADER = Grader(judges=("j m 0",), models=("m",), scorer="rubric 4", prompt="p", rubric="r")


def judged(case: str, run: int, passes: bool, check: str = "check", answer: str | None = None) -> Judged:
    """A check of one run of a case."""
    trial = f"{case} {run}"
    return Judged(GROUP, case, f"e {trial}", check, trial if answer is None else answer, passes, GRADER, trial)


def test_noise_of_judge_and_agent_are_told_apart() -> None:
    """A case that turns once in two runs, and one word of four that turns: half of the variance is the judge's."""
    checks = [judged("a", 1, True), judged("a", 2, False), judged("b", 1, True), judged("b", 2, True)]
    answers = [[(check, check.passes is not (check.answer == "a 1"))] for check in checks]
    (group,) = group_noise(checks, answers, 1)
    assert (group.answers, group.disagreement.rate) == (4, 0.25)
    assert group.spread == pytest.approx(math.sqrt(0.25 / 4))
    assert group.judge_spread == pytest.approx(math.sqrt(0.125 / 4))
    assert group.agent_spread == pytest.approx(math.sqrt(0.125 / 4))


def test_a_steady_judge_leaves_all_noise_to_the_agent() -> None:
    """No word turns; and a judge that turns more often than the runs do leaves nothing."""
    checks = [judged("a", 1, True), judged("a", 2, False)]
    (steady,) = group_noise(checks, [[(check, check.passes)] for check in checks], 1)
    assert (steady.judge_spread, steady.agent_spread) == (0.0, steady.spread)
    (wild,) = group_noise([replace(check, passes=True) for check in checks], [[(checks[0], False)]], 1)
    assert (wild.spread, wild.agent_spread) == (0.0, 0.0)


def test_claims_of_an_answer_turn_together_or_against_each_other() -> None:
    """Two words that turn in opposite directions leave the share as it was: no noise of the rate."""
    checks = [judged("a", 1, True, "x"), judged("a", 1, False, "y")]
    (group,) = group_noise(checks, [[(check, not check.passes) for check in checks]], 1)
    assert (group.disagreement.rate, group.judge_spread) == (1.0, 0.0)
    assert group.agent_spread is None  # one run of each case says nothing of it


def test_equal_answers_are_drawn_once() -> None:
    """The sample is the same for the same run, and has all checks of an answer."""
    same = [judged("a", 1, True, answer="same"), judged("a", 2, True, answer="same")]
    others = [judged(f"case {at}", 1, True, check) for at in range(9) for check in "xy"]
    run = JudgedRun((*same, *others))
    sample = sampled(run, 4, 7)
    assert sample == sampled(run, 4, 7) != sampled(run, 4, 8)
    assert (len(sample.answers), sample.of) == (4, 10)
    assert len(sampled(run, 99, 7).answers) == 10
    assert {len(answer) for answer in sampled(run, 99, 7).answers} == {1, 2}


class Moody:
    """A model that says the opposite about the first three tasks when it is asked again."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()

    def __call__(self, request: ModelRequest) -> ModelReply:
        """Answer, and count the question."""
        found = re.search(r"greeting (\d+)", request.text)
        assert found
        number = int(found[1])
        self.asked[number] += 1
        is_kind = (number < 6) is not (number < 3 and self.asked[number] > 1)
        score = 8 if is_kind else 2
        return ModelReply(json.dumps({"marker": marker_of(request), "score": score, "reason": "an opinion"}))


@pytest.fixture
def moody() -> Moody:
    """The model that judges."""
    return Moody()


@pytest.fixture
def judge(moody: Moody) -> Iterator[ModelServer]:
    """It at its address, in place of the steady one."""
    with ModelServer(moody) as server:
        yield server


@pytest.mark.slow
@pytest.mark.e2e
def test_a_judge_is_asked_again(program: Program, evaluate: Evaluate, judge: ModelServer, moody: Moody) -> None:
    """`--dry-run` asks nothing; then three of ten words turn, nothing is executed and no run is kept."""
    evaluate("--output-dir", "first")
    words = ["judge", "noise", "latest", "--skills", "skill", "--tasks", "tasks.json"]
    words += ["--set", f"judges.openai.base_url={judge.url}/v1"]
    environment = {"OPENAI_API_KEY": "made-up-key", "SKILLGAUGE_SANDBOX": "local"}
    dry = program(*words, "--dry-run", env=environment)
    assert dry.code == 0, dry.stderr
    assert dry.verdict.startswith("would be graded again: 10 answers of 10 with 10 checks, by the judge of the run")
    assert moody.asked.total() == 10
    shared = {"SKILLGAUGE_BUDGET_USD": "5", "SKILLGAUGE_SERVICE_LIMITS": "judge.example=1"}  # no store counts it
    again = program(*words, "--json", env=environment | shared)
    assert again.code == 0, again.stderr
    noise = NoiseDocument.model_validate(again.document)
    assert (noise.answers, noise.answers_in_run, noise.ungraded) == (10, 10, 0)
    assert (noise.disagreement.rate, noise.disagreement.n) == (0.3, 10)
    (check,) = noise.checks
    assert (check.n, check.changed) == (10, 3)
    (group,) = noise.groups
    assert (group.target, group.spread, group.agent_spread) == ("echo", None, None)
    assert group.judge_spread == pytest.approx(math.sqrt(0.15 / 10))
    assert again.verdict.startswith("the judge contradicts itself in 30.0% (")
    assert moody.asked.total() == 20
    few = program(*words, "--sample", "2", env=environment)
    assert "Answers graded again: 2 of 10" in few.stdout
    assert moody.asked.total() == 22
    assert len(program("history", "list", "--json").document["runs"]) == 1


@pytest.mark.e2e
@pytest.mark.parametrize("change", ["base_url={url}/other/v1", "temperature=1"])
def test_another_judge_is_refused(
    program: Program, evaluate: Evaluate, judge: ModelServer, moody: Moody, change: str
) -> None:
    """At another address or temperature it is another judge, whose words would be no noise; nothing is asked."""
    evaluate()
    words = ["judge", "noise", "latest", "--skills", "skill", "--tasks", "tasks.json"]
    words += ["--set", f"judges.openai.base_url={judge.url}/v1"]
    words += ["--set", f"judges.openai.{change.format(url=judge.url)}"]
    done = program(*words, env={"OPENAI_API_KEY": "made-up-key", "SKILLGAUGE_SANDBOX": "local"})
    assert (done.code, moody.asked.total()) == (2, 10)
    assert "error[judge.other-judge]: the judge is openai m-1" in done.stderr

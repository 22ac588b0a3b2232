"""`eval --confirm`: from an open comparison to a decision, by the commands that are printed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


def printed(done: Done) -> list[list[str]]:
    """The commands that a comparison prints."""
    found = re.findall(r"skillgauge (eval --confirm .*?)(?= \(with the skill|$)", done.verdict)
    return [shlex.split(one) for one in found]


@pytest.mark.slow
def test_the_printed_commands_decide(scripted: Scripted) -> None:
    """One broken case of four is undecided; both runs continued as printed, all cases of them, it is a regression."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.evaluate(letters("p", case_2="f"), letters("f"))
    undecided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert undecided.code == 0
    assert undecided.verdict.startswith("undecided: s · with_skill: ")
    before, after = printed(undecided)
    assert "--case" not in before + after
    scripted.script(letters("p"), letters("f"))
    first = scripted.program(*before, *scripted.options, "--format", "record")
    assert first.code == 0, first.stderr
    assert {line.split()[1] for line in scripted.sessions()} == set("1234"), "every case is run again, in both arms"
    scripted.script(letters("p", case_2="f"), letters("f"))
    second = scripted.program(*after, *scripted.options, "--format", "record")
    assert second.code == 0, second.stderr
    decided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert decided.code == 1, decided.verdict
    assert decided.verdict.startswith("regressed: s · with_skill: ")


@pytest.mark.slow
def test_a_doubt_that_was_noise_is_no_acquittal(scripted: Scripted) -> None:
    """The case that failed once passes ever after; the failure still counts, and so few runs exclude no loss."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.evaluate(letters("p", case_2="f"), letters("f"))
    commands = printed(scripted.program("report", "diff", "latest~1", "latest"))
    scripted.script(letters("p"), letters("f"))
    for command in commands:
        assert scripted.program(*command, *scripted.options).code == 0
    decided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert (decided.code, decided.verdict.split(":")[0]) == (0, "undecided")
    assert "pass rate -6.2 points" in decided.verdict


@pytest.mark.slow
def test_what_a_lift_needs(scripted: Scripted) -> None:
    """Four cases run once cannot show a lift; the run knows how many repeats do, and every report says what counts."""
    undecided = scripted.evaluate(letters("p"), letters("f"))
    assert "not enough data" in undecided.verdict
    (before,) = scripted.work.glob("reports/run-*.record.json")
    done = scripted.program("eval", "--confirm", "latest", *scripted.options, "--format", "record", "markdown", "html")
    assert done.code == 0, done.stderr
    assert "s · with_skill helps on these cases: +100.0 points against without_skill" in done.verdict
    assert "p = 0.002, at look 2 at most 0.025 decides" in done.verdict
    assert len(scripted.sessions()) == 8 + 8
    run_id = json.loads(before.read_text())["run"]["run_id"]
    origin = f"ade from run {run_id}: 1, 2, 3, 4 run once more; old and new results count together"
    assert f"m{origin}" in done.stdout
    assert f"m{origin}" in scripted.program("report", "show", "latest").stdout
    assert f"M{origin}" in (scripted.work / "reports/eval-result.md").read_text()
    assert f"m{origin}" in (scripted.work / "reports/eval-result.html").read_text()
    again = scripted.program("eval", "--confirm", "latest", *scripted.options)
    assert (again.code, again.stderr.splitlines()[0][:24]) == (2, "error[confirm.decided]: ")


@pytest.mark.slow
def test_old_and_new_results_count_together(scripted: Scripted) -> None:
    """The continued run holds every trial of both, also from a record without a store, and knows its looks."""
    scripted.evaluate(letters("pf"), letters("f"), "--runs", "2", "--store", "none")
    (record,) = scripted.work.glob("reports/run-*.record.json")
    scripted.run("eval", "--confirm", str(record), "--runs", "4", "--format", "record")
    joined = _newest(scripted, record)
    passed: dict[tuple[str, str], list[str]] = {}
    for result in joined["results"]:
        passed.setdefault((result["arm"], result["case_id"]), []).append(result["verdict"])
    assert {key: len(verdicts) for key, verdicts in passed.items()} == dict.fromkeys(passed, 6)
    assert passed["with_skill", "3"].count("pass") == 3
    assert joined["plan"]["trial_count"] == len(joined["results"]) == 2 * 4 * 6
    assert len({result["ordinal"] for result in joined["results"]}) == len(joined["results"])
    assert [case["id"] for case in joined["cases"]] == list("1234")
    (suite,) = joined["plan"]["suites"]
    assert (suite["runs"], suite["looks"]) == (6, [2])
    evidence = joined["summary"]["pairs"][0]["evidence"]
    assert evidence["estimate"] == pytest.approx(0.5)
    assert (evidence["look"], evidence["level"]) == (2, pytest.approx((0.05 - 0.0) / 2, abs=0.02))


@pytest.mark.slow
def test_chosen_cases_carry_no_evidence(scripted: Scripted) -> None:
    """A run of cases that were chosen for their results shows them: no interval, no finding, and gates are refused."""
    scripted.evaluate(letters("pf"), letters("f"), "--runs", "2")
    (record,) = scripted.work.glob("reports/run-*.record.json")
    scripted.script(letters("p"), letters("f"))
    gates = ("--exit-on-fail", "--gate better", "--min-delta-pts 5", "--fail-on-verdict fail")
    for gate in gates:
        refused = scripted.program("eval", "--confirm", str(record), "--case", "3", *gate.split(), *scripted.options)
        assert (refused.code, scripted.sessions()) == (2, []), refused.stderr
        assert f"error[confirm.no-gate]: {gate.split()[0]}: cases that are chosen for their results" in refused.stderr
    done = scripted.run(
        "eval", "--confirm", str(record), "--case", "3", "--format", "record", "markdown", "html", "csv"
    )
    assert {line.split()[1] for line in scripted.sessions()} == {"3"}
    assert done.verdict == "done: with_skill: 5 of 5 passed"
    assert "only case 3, run again 5 times; cases that were chosen for their results carry no interval" in done.stdout
    joined = _newest(scripted, record)
    assert {result["case_id"] for result in joined["results"]} == {case["id"] for case in joined["cases"]} == {"3"}
    assert joined["plan"]["origin"]["chosen"] is True
    for group in joined["summary"]["groups"]:
        assert (group["pass_rate"]["lower"], group["pass_rate"]["upper"]) == (None, None)
    (pair,) = joined["summary"]["pairs"]
    assert pair["evidence"] is None
    for name in ("md", "html"):
        assert "helps" not in (scripted.work / f"reports/eval-result.{name}").read_text()
    for command in (("report", "diff", str(record), "latest", "--fail-on-regression"), ("eval", "--confirm", "latest")):
        refused = scripted.program(*command, *(scripted.options if command[0] == "eval" else ()))
        assert "chosen for their results" in refused.stderr
        assert refused.code in (2, 3)


@pytest.mark.slow
def test_a_run_is_continued_once(scripted: Scripted) -> None:
    """Trying again from the same run until the answer pleases is refused: the newest look is what is continued."""
    scripted.evaluate(letters("pf"), letters("fp"), "--runs", "2")
    run_id = scripted.program("report", "show", "latest", "--json").document["run"]["run_id"]
    scripted.run("eval", "--confirm", run_id, "--runs", "2")
    begun = len(scripted.sessions())
    refused = scripted.program("eval", "--confirm", run_id, "--runs", "2", *scripted.options)
    assert refused.code == 2
    assert f"error[confirm.continued]: run {run_id} was continued already, by run" in refused.stderr
    assert len(scripted.sessions()) == begun
    third = scripted.run("eval", "--confirm", "latest", "--runs", "2")
    assert "at look 3 at most" in third.verdict


@pytest.mark.slow
def test_one_arm_is_continued_when_the_number_is_given(scripted: Scripted) -> None:
    """A run without the other arm has nothing to decide by itself; with --runs it gets further repeats."""
    scripted.evaluate(letters("pf"), letters("f"), "--no-baseline")
    done = scripted.run("eval", "--confirm", "latest", "--runs", "3", "--format", "record")
    assert "4 of 4" not in done.verdict
    assert done.verdict == "done: 8 of 16 passed"
    assert {line.split()[0] for line in scripted.sessions()} == {"with_skill"}


def _newest(scripted: Scripted, before: Path) -> dict[str, Any]:
    (path,) = set(scripted.work.glob("reports/run-*.record.json")) - {before}
    document: dict[str, Any] = json.loads(path.read_text())
    return document


@pytest.mark.slow
def test_a_confirmation_that_was_interrupted_is_resumed(scripted: Scripted) -> None:
    """The joined run is one of the ledger: a budget stops it, and the same command goes on."""
    scripted.evaluate(letters("p"), letters("f"))
    run_id = scripted.program("report", "show", "latest", "--json").document["run"]["run_id"]
    command = ("eval", "--confirm", run_id, *scripted.options)
    stopped = scripted.program(*command, "--max-cost", "3")
    assert stopped.code == 4, stopped.stderr
    begun = len(scripted.sessions())
    done = scripted.program(*command)
    assert done.code == 0, done.stderr
    assert "resuming run " in done.stderr
    assert len(scripted.sessions()) == 8 + 8 > begun
    assert "helps on these cases" in done.verdict


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        (lambda skill: skill.write(says="FINE"), (), "confirm.changed]: s, arm with_skill: the skill, its limits"),
        (lambda skill: skill.write(cases=3), (), "confirm.changed-case]: case '4' of run"),
        (lambda skill: None, ("other",), "confirm.other-suite]: run"),
        (lambda skill: None, ("--model", "m-2"), "confirm.other-runner]: run"),
        (lambda skill: None, ("--case", "nine"), "confirm.no-case]: run"),
        (lambda skill: None, ("--judge", "nobody"), "plugin.not-installed]: 'nobody' is no installed judge"),
        (lambda skill: None, ("--timeout", "7s"), "confirm.changed]: s, arm with_skill: the skill, its limits"),
    ],
    ids=["skill", "case-gone", "suite", "model", "no-case", "judge", "limits"],
)
def test_what_is_not_as_it_was(
    scripted: Scripted,
    change: Callable[[Scripted], None],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    """Results of something else are not joined: a line says what differs, and nothing is run or kept."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.write(name="other")
    change(scripted)
    scripted.script(letters("p"), letters("f"))
    done = scripted.program("eval", "--confirm", "latest", *scripted.options, *arguments)
    assert done.code == 2, done.stderr
    assert said in done.stderr
    assert not scripted.sessions()
    assert len(scripted.program("history", "list", "--json").document["runs"]) == 1


@pytest.mark.slow
def test_runs_that_cannot_be_confirmed(scripted: Scripted) -> None:
    """One arm, an unfinished run, an invalid one, a document that tells too little: each says why (exit 2)."""

    def refused(source: str) -> str:
        done = scripted.program("eval", "--confirm", source, *scripted.options)
        assert done.code == 2, done.stderr
        return done.stderr

    scripted.evaluate(letters("p"), letters("f"), "--no-baseline")
    assert "compares no arms, so by itself it leaves nothing open" in refused("latest")
    scripted.evaluate(letters("e"), letters("f"), code=3)
    assert "is invalid: s: " in refused("latest")
    scripted.evaluate(letters("p"), letters("f"), "--max-cost", "1", "--format", "json", code=4)
    assert "is stopped" in refused("latest")
    scripted.evaluate(letters("p"), letters("f"), "--format", "json")
    assert "does not say exactly what was executed" in refused("reports/eval-result.json")
    assert "there is no run 'nothing'" in refused("nothing")

"""`eval --confirm`: from what is in doubt to a decision, by the commands that are printed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable

import pytest

from skillgauge_testkit.program import Done

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


def printed(done: Done) -> list[list[str]]:
    """The commands that a comparison prints."""
    found = re.findall(r"skillgauge (eval --confirm .*?)(?= \(with the skill|$)", done.verdict)
    return [shlex.split(one) for one in found]


def test_the_printed_commands_decide(scripted: Scripted) -> None:
    """One broken case of four is undecided; run again as told in both reports, it is a regression (N-A2)."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.evaluate(letters("p", case_2="f"), letters("f"))
    undecided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert undecided.code == 0
    assert undecided.verdict.startswith("undecided: s · with_skill: ")
    before, after = printed(undecided)
    assert "--case 2" in shlex.join(after)
    scripted.script(letters("p"), letters("f"))
    first = scripted.program(*before, *scripted.options, "--format", "record")
    assert first.code == 0, first.stderr
    assert {line.split()[1] for line in scripted.sessions()} == {"2"}, "nothing else is run again"
    scripted.script(letters("p", case_2="f"), letters("f"))
    second = scripted.program(*after, *scripted.options, "--format", "record")
    assert second.code == 0, second.stderr
    decided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert decided.code == 1, decided.verdict
    assert decided.verdict.startswith("regressed: s · with_skill: ")


def test_a_doubt_that_was_noise_goes_away(scripted: Scripted) -> None:
    """The case that failed once passes ever after: what raised the doubt is not counted again."""
    scripted.evaluate(letters("p"), letters("f"))
    scripted.evaluate(letters("p", case_2="f"), letters("f"))
    commands = printed(scripted.program("report", "diff", "latest~1", "latest"))
    scripted.script(letters("p"), letters("f"))
    for command in commands:
        assert scripted.program(*command, *scripted.options).code == 0
    decided = scripted.program("report", "diff", "latest~1", "latest", "--fail-on-regression")
    assert (decided.code, decided.verdict.split(":")[0]) == (0, "no regression")


def test_what_a_lift_needs(scripted: Scripted) -> None:
    """Four cases run once cannot show a lift; the run itself knows how many repeats do, and what it took from whom."""
    undecided = scripted.evaluate(letters("p"), letters("f"))
    assert "not enough data" in undecided.verdict
    (before,) = scripted.work.glob("reports/run-*.record.json")
    done = scripted.program("eval", "--confirm", "latest", *scripted.options, "--format", "record", "markdown", "html")
    assert done.code == 0, done.stderr
    assert "s · with_skill helps on these cases: +100.0 points against without_skill" in done.verdict
    assert len(scripted.sessions()) == 8 + 16
    run_id = json.loads(before.read_text())["run"]["run_id"]
    told = f"ade from run {run_id}: 1, 2, 3, 4 run again, 2 times each, and counted by that alone"
    assert f"m{told}" in done.stdout
    assert f"m{told}" in scripted.program("report", "show", "latest").stdout
    assert f"M{told}" in (scripted.work / "reports/eval-result.md").read_text()
    assert f"m{told}" in (scripted.work / "reports/eval-result.html").read_text()
    again = scripted.program("eval", "--confirm", "latest", *scripted.options)
    assert (again.code, again.stderr.splitlines()[0][:24]) == (2, "error[confirm.decided]: ")


def test_joining_keeps_what_is_not_run_again(scripted: Scripted) -> None:
    """The other cases keep their results, also from a record without a store; nothing of the doubtful one stays."""
    scripted.evaluate(letters("pf"), letters("f"), "--runs", "2", "--store", "none")
    (record,) = scripted.work.glob("reports/run-*.record.json")
    scripted.script(letters("p"), letters("f"))
    scripted.run("eval", "--confirm", str(record), "--case", "3", "--runs", "4", "--format", "record")
    (path,) = set(scripted.work.glob("reports/run-*.record.json")) - {record}
    joined = json.loads(path.read_text())
    passed: dict[tuple[str, str], list[str]] = {}
    for one in joined["results"]:
        passed.setdefault((one["arm"], one["case_id"]), []).append(one["verdict"])
    assert passed["with_skill", "3"] == ["pass"] * 4
    assert sorted(passed["with_skill", "1"]) == ["fail", "pass"]
    assert {case["id"] for case in joined["cases"]} == set("1234")
    assert joined["plan"]["trial_count"] == len(joined["results"]) == 2 * (3 * 2 + 4)
    assert len({one["ordinal"] for one in joined["results"]}) == len(joined["results"])
    assert joined["summary"]["pairs"][0]["evidence"]["estimate"] == pytest.approx((0.5 * 3 + 1) / 4)


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
    assert len(scripted.sessions()) == 8 + 16 > begun
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


def test_runs_that_cannot_be_confirmed(scripted: Scripted) -> None:
    """One arm, an unfinished run, an invalid one, a document that tells too little: each says why (exit 2)."""

    def refused(source: str) -> str:
        done = scripted.program("eval", "--confirm", source, *scripted.options)
        assert done.code == 2, done.stderr
        return done.stderr

    scripted.evaluate(letters("p"), letters("f"), "--no-baseline")
    assert "compares no arms, so by itself it leaves nothing in doubt" in refused("latest")
    scripted.evaluate(letters("e"), letters("f"), code=3)
    assert "is invalid: s: " in refused("latest")
    scripted.evaluate(letters("p"), letters("f"), "--max-cost", "1", "--format", "json", code=4)
    assert "is stopped" in refused("latest")
    scripted.evaluate(letters("p"), letters("f"), "--format", "json")
    assert "does not say exactly what was executed" in refused("reports/eval-result.json")
    assert "there is no run 'nothing'" in refused("nothing")

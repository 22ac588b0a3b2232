"""`rescore` of agents' sessions: both arms are graded again, without an engine."""

from __future__ import annotations

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_sessions_are_graded_again_without_an_engine(scripted: Scripted) -> None:
    """The engine is not even installed any more; errors stay errors and are nobody's replay."""
    scripted.evaluate(letters("p", case_4="e"), letters("f"), "--runs", "2")
    done = scripted.sessions()
    file = scripted.work / "s/evals/evals.json"
    file.write_text(file.read_text().replace('"value": "GOOD"', '"value": "BAD"'))
    again = scripted.program("rescore", "latest")
    assert again.code == 0, again.stderr
    assert "-100.0 points against without_skill (n = 3 cases, dropped: 1 for candidate error" in again.verdict
    assert "with_skill: 0 of 8 passed, 2 errors" in again.verdict
    assert "graded again; nothing was executed" in again.stdout
    assert scripted.sessions() == done


@pytest.mark.slow
def test_errors_that_are_not_executed_again_cost_nothing(scripted: Scripted) -> None:
    """They are no sessions whose cost is unknown (R3-N24)."""
    scripted.script(letters("p", case_4="e"), letters("f"))
    scripted.run("eval", "s", "--engine", "firing", "--format", "record", "--runs", "2")
    again = scripted.program("rescore", "latest")
    assert again.code == 0, again.stderr
    assert "spent: nothing for 14 replayed trials" in again.stdout
    assert "is unknown" not in again.stdout


@pytest.mark.slow
def test_a_prompt_that_was_changed_is_refused(scripted: Scripted) -> None:
    """It would be graded as something that was never asked."""
    scripted.evaluate(letters("p"), letters("f"))
    file = scripted.work / "s/evals/evals.json"
    file.write_text(file.read_text().replace("number 3", "number three"))
    done = scripted.program("rescore", "latest")
    assert done.code == 2
    assert "evals.json:1:" in done.stderr
    assert "rescore.changed-case]: case '3' asks something else now than in run " in done.stderr


@pytest.mark.slow
def test_a_run_that_did_not_finish_is_refused(scripted: Scripted) -> None:
    """Half a run is resumed, not graded again."""
    scripted.evaluate(letters("p"), letters("f"), "--max-cost", "1", code=4)
    done = scripted.program("rescore", "latest")
    assert (done.code, "is stopped" in done.stderr) == (2, True)


def test_the_list_of_runs_counts_the_candidate_arm(scripted: Scripted) -> None:
    """Passes of the baseline arm are no achievement of the skill, nor are its failures against it (N-B1)."""
    scripted.evaluate(letters("p"), letters("f"))
    (line,) = scripted.program("history", "list").stdout.splitlines()[1:]
    assert "4 of 4" in line

"""Suites as tests, as somebody who runs pytest sees them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import evals


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run pytest in a process of its own, without the plugins of these tests."""
    return pytester.runpytest_subprocess("-p", "no:langsmith_plugin", "-p", "no:cacheprovider", "-rA", *words)


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_each_case_is_a_test_in_each_arm(pytester: pytest.Pytester) -> None:
    """With the skill a failure fails; without it it is expected. What the checks say is shown, and no traceback."""
    done = run(pytester)
    done.assert_outcomes(passed=3, failed=1, xfailed=2)
    done.stdout.fnmatch_lines(["*FAILED skills/greet/evals/evals.json::3[[]with_skill[]]*"])
    done.stdout.fnmatch_lines(["*repeat 1: command: *exit code 2 instead of 0*"])
    assert "Traceback" not in done.stdout.str()
    assert "items.py" not in done.stdout.str()


@pytest.mark.usefixtures("project")
@pytest.mark.slow
def test_tests_are_selected_as_all_others(pytester: pytest.Pytester) -> None:
    """By `-k`, by the marker and by their ids; sessions that no selected test needs do not run."""
    run(pytester, "-k", "1 and with_skill and not without").assert_outcomes(passed=1, deselected=5)
    run(pytester, "-m", "not skillgauge").assert_outcomes(deselected=6)
    run(pytester, "skills/greet/evals/evals.json::2[without_skill]").assert_outcomes(passed=1)


@pytest.mark.slow
def test_an_error_is_no_failure(pytester: pytest.Pytester, project: Path) -> None:
    """An agent that cannot log in: an error of the test, on the terminal and in JUnit."""
    (project / "skills/greet/evals/evals.json").write_text(evals("Dan"))
    done = run(pytester, "--junitxml=junit.xml")
    done.assert_outcomes(errors=2)
    suite = ElementTree.parse(project / "junit.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures")) == ("2", "0")


@pytest.mark.slow
def test_a_bad_suite_is_an_error_with_all_its_problems(pytester: pytest.Pytester, project: Path) -> None:
    """With their places."""
    file = project / "skills/greet/evals/evals.json"
    file.write_text('{"skill_name": "greet",\n "evals": [{"id": 1},\n {"id": 2}]}')
    done = run(pytester)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([f"*{file}:2:*", f"*{file}:3:*"])


@pytest.mark.usefixtures("project")
@pytest.mark.slow
def test_settings_of_the_command_line(pytester: pytest.Pytester) -> None:
    """They go before those of the file; what is no setting is told."""
    done = run(pytester, "--skillgauge-set", "runs=2", "-k", "3")
    done.stdout.fnmatch_lines(["*2 of 2 repeats failed*"])
    assert run(pytester, "--skillgauge-set", "runs").ret is pytest.ExitCode.USAGE_ERROR
    run(pytester, "--skillgauge-set", "rnus=2").assert_outcomes(errors=1)


@pytest.mark.usefixtures("project")
@pytest.mark.slow
def test_tests_are_spread_over_processes(pytester: pytest.Pytester) -> None:
    """With pytest-xdist: the same outcomes, and both arms of a case in one process, so that each is run once."""
    run(pytester, "-n", "2").assert_outcomes(passed=3, failed=1, xfailed=2)


@pytest.mark.usefixtures("project")
@pytest.mark.slow
def test_files_that_no_pattern_names_are_left_alone(pytester: pytest.Pytester) -> None:
    """Without a pattern nothing is collected and nothing evaluated."""
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    assert run(pytester).ret is pytest.ExitCode.NO_TESTS_COLLECTED


FIXTURE = """
import pytest
from skillgauge_pytest import assert_helps, assert_lift, assert_passes

SUITE = "skills/greet/evals/evals.json"

def test_lift(evaluate_skill):
    run = evaluate_skill(SUITE)
    assert_lift(run, at_least=33)
    assert_passes(run, at_least=0.6)

def test_more_lift_than_there_is(evaluate_skill):
    assert_lift(evaluate_skill(SUITE), at_least=50)

def test_more_passes_than_there_are(evaluate_skill):
    assert_passes(evaluate_skill(SUITE))

def test_no_proof_of_so_few(evaluate_skill):
    assert_helps(evaluate_skill(SUITE))

@pytest.mark.skillgauge(baseline=False)
def test_without_a_baseline_there_is_no_lift(evaluate_skill):
    assert_lift(evaluate_skill(SUITE), at_least=0)
"""


@pytest.mark.slow
def test_a_fixture_evaluates(pytester: pytest.Pytester, project: Path) -> None:
    """With the settings of the file, of the marker and of the call; what is asserted fails in the run's own words."""
    pytester.makepyfile(test_skill=FIXTURE)
    done = run(pytester, "test_skill.py", "--junitxml=junit.xml")
    done.assert_outcomes(passed=1, failed=4)
    done.stdout.fnmatch_lines(["*AssertionError: a lift of +50 points was asked for*", "*nothing is compared*"])
    assert "+33.3 points against without_skill" in (project / "junit.xml").read_text()

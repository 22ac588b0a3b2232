"""Malformed packages: refused with a place for everything that is wrong, nothing run, nothing crashed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skillgauge.api import LoadRequest, Problem, SuiteError, located_all
from skillgauge_testkit import FORMATS, Maker
from skillgauge_testkit.program import Program

from .conftest import DATA
from .mutants import COUNT, MUTATIONS, spoil


def problems_of(package: Path) -> tuple[Problem, ...]:
    """What is wrong with a package, in its tests and in its evals."""
    found: list[Problem] = []
    format_ = Maker(FORMATS, "skillgauge_format_uaaps.plugin")()
    format_.claim(package)
    for stage in ("tests", "evals"):
        try:
            format_.load(LoadRequest(paths=(str(package),), cwd=str(package), options={"stage": stage}))
        except SuiteError as error:
            found += error.problems
    return located_all(found)


def test_the_package_is_good_before(word_tools: Path) -> None:
    """So whatever is wrong afterwards is the mutant's."""
    assert problems_of(word_tools) == ()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(COUNT))
def test_a_malformed_package(tmp_path: Path, number: int) -> None:
    """It is refused with `file:line` of what was spoilt."""
    package = tmp_path / "word-tools"
    shutil.copytree(DATA / "word-tools", package)
    done = spoil(number, package)
    found = problems_of(package)
    assert found, done
    for problem in found:
        assert problem.span is not None, (done, problem)
        assert Path(problem.span.file).is_relative_to(package), (done, problem)
        whole_file = problem.code in ("document.too-large", "suite.escaping-path", "suite.unreadable")
        assert problem.span.line is not None or whole_file, (done, problem)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(MUTATIONS)), ids=lambda number: MUTATIONS[number].__name__)
def test_nothing_of_a_malformed_package_runs(program: Program, work: Path, number: int) -> None:
    """Whichever command meets it: exit code 2, or the other command is not concerned; and no command has run."""
    package = work / "word-tools"
    shutil.copytree(DATA / "word-tools", package)
    for case in package.glob("skills/*/tests/cases/*.yaml"):
        text = case.read_text().replace("command: ", f"command: touch {work}/ran; ", 1)
        case.write_text(text if "'printf" not in text else case.read_text())
    spoil(number, package)
    codes = [
        program("test", package).code,
        program("eval", package, "--engine", "mock", "--dry-run").code,
    ]
    assert 2 in codes
    assert set(codes) <= {0, 2}
    assert codes[0] == 0 or not (work / "ran").exists()

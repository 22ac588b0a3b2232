"""A new package for agents passes its tests at once, and its evals are ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_command_create.package import PACKAGE, package_name
from skillgauge_testkit.program import Program


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my_tools", "Ann's Tools (2)"])
def test_a_new_package_passes_its_tests(program: Program, work: Path, name: str) -> None:
    """Whatever it is called, and whatever it is said to do."""
    words = [
        "create",
        "--name",
        name,
        "--from-template",
        PACKAGE,
        "--output-dir",
        ".",
        "--description",
        'Greets: "all"',
    ]
    done = program(*words)
    assert done.code == 0, done.stderr
    tested = program("test", work / name, "--json")
    assert tested.code == 0, tested.stdout
    assert [case["verdict"] for case in tested.document["cases"]] == ["pass"] * 4
    planned = program("eval", work / name, "--engine", "mock", "--dry-run", "--json")
    assert planned.code == 0, planned.stderr
    assert [suite["case_count"] for suite in planned.document["plan"]["suites"]] == [1]
    again = program(*words)
    assert again.code == 2


@pytest.mark.parametrize(
    ("name", "expected"), [("my_tools", "my-tools"), ("Ann's Tools (2)", "ann-s-tools-2"), ("___", "package")]
)
def test_names(name: str, expected: str) -> None:
    """What the specification allows, and as near to the name as that is."""
    assert package_name(name) == expected

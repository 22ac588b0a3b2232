"""Variables of the user's environment: which are withheld, and which are missing."""

from __future__ import annotations

import pytest

from skillgauge.errors import Origin, Severity
from skillgauge.plan.checks.variables import unset_variables, withheld_variables
from skillgauge.types.inputs import HostVariable
from skillgauge.types.suite import Target

PLACE, OTHER = Origin("a.yaml", ("cases", 0)), Origin("b.yaml")
TOKEN = HostVariable(name="INSIDE", host="TOKEN")
REGION = HostVariable(name="REGION", host="REGION", default="north")


@pytest.mark.parametrize(
    ("targets", "passed", "expected"),
    [
        ([], {}, []),
        ([Target(id="quiet")], {}, []),
        ([Target(id="t", pass_env=("A", "B"), origin=OTHER)], {}, [("target 't' wants A, B", OTHER)]),
        ([], {TOKEN: PLACE, REGION: None}, [("a case wants TOKEN", PLACE), ("a case wants REGION", None)]),
        (
            [Target(id="t", pass_env=("A",)), Target(id="u", pass_env=("B",))],
            {TOKEN: PLACE},
            [("target 't' wants A", None), ("target 'u' wants B", None), ("a case wants TOKEN", PLACE)],
        ),
    ],
    ids=["none", "target without", "target", "cases", "all"],
)
def test_withheld_variables(
    targets: list[Target], passed: dict[HostVariable, Origin | None], expected: list[tuple[str, Origin | None]]
) -> None:
    """Every target that asks for variables is one problem, and so is every variable of a case."""
    problems = list(withheld_variables(targets, passed))
    suffix = " from your environment, which --untrusted withholds"
    assert [(problem.message, problem.origin) for problem in problems] == [
        (message + suffix, origin) for message, origin in expected
    ]
    assert {problem.code for problem in problems} <= {"sandbox.pass-env"}
    assert {problem.severity for problem in problems} <= {Severity.ERROR}


@pytest.mark.parametrize(
    ("passed", "values", "missing"),
    [
        ({}, {}, []),
        ({TOKEN: PLACE}, {"TOKEN": "secret"}, []),
        ({TOKEN: PLACE}, {}, ["TOKEN"]),
        ({TOKEN: PLACE}, {"TOKEN": ""}, ["TOKEN"]),
        ({REGION: PLACE}, {}, []),
        ({REGION: PLACE, TOKEN: PLACE}, {"INSIDE": "secret"}, ["TOKEN"]),
    ],
    ids=["none", "set", "unset", "empty", "default", "other name"],
)
def test_unset_variables(passed: dict[HostVariable, Origin | None], values: dict[str, str], missing: list[str]) -> None:
    """A variable needs a value on the host or a default; the problem stands at the case and says what to do."""
    problems = list(unset_variables(passed, values.get))
    assert [(problem.code, problem.origin, problem.hint) for problem in problems] == [
        ("suite.variable", PLACE, f"Set {name}, or give it a default.") for name in missing
    ]


def test_a_variable_with_a_default_is_not_looked_up() -> None:
    """Extensions that keep secrets are asked only for what must be there."""
    asked: list[str] = []
    list(unset_variables({REGION: None, TOKEN: None}, lambda name: asked.append(name)))
    assert asked == ["TOKEN"]

"""The command `conformance`, against this program and against runners that are wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Program

STUBBORN = """
import json, sys
category, data = sys.argv[-1], sys.stdin.read()
if category == "parser":
    print(json.dumps({"cases": []}))
elif category == "outcomes":
    known = json.loads(data)
    print(json.dumps({"outcome": "pass_kept" if known["with_passed"] else "fail_kept"}))
elif category == "verdict":
    print("mixed")
elif category == "trajectory":
    sys.exit("not today")
else:
    print("{}")
"""


@pytest.mark.requirement("SE-CONFORM-003", "SE-CONFORM-004", "SE-CONFORM-005")
@pytest.mark.slow
def test_this_program_conforms(program: Program) -> None:
    """All 39 fixtures, through the command line as anybody's runner, as CONFORMANCE.md says."""
    done = program("conformance", f"{PROGRAM} conformance --answer", "--json", timeout_s=300)
    assert done.code == 0, done.stderr
    document = done.document
    assert (document["fixtures"], document["passed"], document["failures"]) == (39, 39, [])
    told = (Path(__file__).parents[1] / "CONFORMANCE.md").read_text()
    assert f"skillevaluation {document['version']}" in told
    for row in document["categories"]:
        assert f"| {row['name']} | {row['fixtures']} | {row['passed']} |" in told


@pytest.mark.requirement("SE-CONFORM-004")
@pytest.mark.slow
def test_a_runner_that_is_wrong_is_told_where(program: Program, work: Path) -> None:
    """Each fixture that does not pass is named with what was answered."""
    (work / "stubborn.py").write_text(STUBBORN)
    done = program("conformance", f"{sys.executable} stubborn.py", "--json")
    assert done.code == 1
    passed = {row["name"]: row["passed"] for row in done.document["categories"]}
    assert passed == {"parser": 0, "outcomes": 2, "verdict": 0, "aggregation": 0, "trajectory": 0}
    reasons = {one["category"]: one["reason"] for one in done.document["failures"]}
    assert "not today" in reasons["trajectory"]
    assert "no JSON" in reasons["verdict"]
    kinds = {one["reason"].partition(",")[0] for one in done.document["failures"] if one["category"] == "parser"}
    assert "accepted" in kinds


def test_one_category(program: Program, work: Path) -> None:
    """Only what is asked for is run."""
    (work / "stubborn.py").write_text(STUBBORN)
    done = program("conformance", "--only", "outcomes", f"{sys.executable} stubborn.py")
    assert (done.code, "2 of 6 passed" in done.stdout) == (1, True)


@pytest.mark.requirement("SE-CONFORM-003")
def test_where_the_data_lies(program: Program) -> None:
    """Fixtures, contract and schemas are files of an installed package."""
    found = program("conformance", "--list", "--json").document["places"]
    assert len(list(Path(found["fixtures"]).glob("*/*/input.*"))) == 39
    assert (Path(found["contract"]) / "runner-contract.md").is_file()
    assert list(Path(found["schemas"]).glob("*.json"))


@pytest.mark.parametrize("arguments", [(), ("no-such-program-anywhere",)])
def test_a_runner_that_is_not_there(program: Program, arguments: tuple[str, ...]) -> None:
    """It is a mistake of the command line."""
    assert program("conformance", *arguments).code == 2


def test_schema(program: Program) -> None:
    """The document has a schema."""
    assert "properties" in json.loads(program("schema", "conformance").stdout)

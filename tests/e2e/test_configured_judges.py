"""A configured model of judges stays in its lane, and can be taken back."""

from __future__ import annotations

import json

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.fixture
def judged(scripted: Scripted) -> Scripted:
    """The skill with an assertion that a judge decides."""
    file = scripted.work / "s/evals/evals.json"
    document = json.loads(file.read_text())
    for one in document["evals"]:
        one["assertions"] = ["The answer says GOOD."]
    file.write_text(json.dumps(document))
    scripted.script(letters("p"), letters("f"))
    return scripted


@pytest.mark.parametrize("setting", [("llm.model", "gpt-4o"), ("llm.temperature", "0")])
def test_a_default_reaches_no_judge_that_it_does_not_fit(judged: Scripted, setting: tuple[str, str]) -> None:
    """R3-M2: a judge that the command names takes neither a model of another one nor an option that it has not."""
    assert judged.program("config", "set", *setting).code == 0
    judged.run("eval", "s", "--engine", "scripted", "--judge", "mock", "--format", "record")
    assert len(judged.sessions()) == 8


def test_a_setting_is_taken_back(judged: Scripted) -> None:
    """R3-M2: `config unset` leaves the file as it was before, and says what is in force."""
    judged.program("config", "set", "concurrency", "2")
    judged.program("config", "set", "judgeModel", "gpt-4o")
    removed = judged.program("config", "unset", "judgeModel", "--json").document
    assert removed["removed"] is True
    assert judged.program("config", "get", "judgeModel", "--json").document["value"] is None
    assert judged.program("config", "get", "concurrency", "--json").document["value"] == 2
    again = judged.program("config", "unset", "judgeModel")
    assert (again.code, "is not set in" in again.stderr) == (0, True)
    told = judged.program("config", "unset", "concurrency").stdout
    assert "concurrency is now 4 (default)" in told
    unknown = judged.program("config", "unset", "concurency")
    assert (unknown.code, "did you mean concurrency?" in unknown.stderr) == (2, True)

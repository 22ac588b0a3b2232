"""Options that two plugins share: set once, for the reporter and the scorer of two files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

pytestmark = pytest.mark.e2e

PRICES = """
from typing import Annotated

from skillgauge.api import *
from pydantic import Field

class Prices(Frozen):
    currency: str = Field(default="USD", json_schema_extra=HARMLESS)
    token: int = 1
"""
REPORTER = (
    PRICES
    + """
class Options(Frozen):
    prices: Annotated[Prices, Shared("acme-prices")] = Prices()

class Bill:
    suffix = "bill.txt"

    def __init__(self, options):
        self.prices = options.prices

    def render(self, view):
        yield Artifact([f"{self.prices.token} {self.prices.currency}".encode()])

    def read(self, path):
        return None

@hookimpl
def skillgauge_reporters():
    yield Provider("acme-bill", Bill, "Writes a bill.", options=Options)
"""
)
SCORER = (
    PRICES
    + """
class Options(Frozen):
    costs: Annotated[Prices, Shared("acme-prices")] = Prices()

class Costs:
    version = "1"

    def __init__(self, options):
        self.costs = options.costs

    async def score(self, context):
        return Score.passed(f"costs {self.costs.token} {self.costs.currency}")

@hookimpl
def skillgauge_scorers():
    yield Provider("acme-costs", Costs, "Tells the costs.", options=Options)
"""
)


@pytest.fixture
def command(work: Path) -> list[str]:
    """Evaluates one case with both plugins."""
    (work / "tables/evals").mkdir(parents=True)
    (work / "tables/SKILL.md").write_text("---\nname: tables\ndescription: Tables.\n---\n")
    case = {"id": 1, "prompt": "Greet."}
    (work / "tables/evals/evals.json").write_text(json.dumps({"skill_name": "tables", "evals": [case]}))
    (work / "bill.py").write_text(REPORTER)
    (work / "costs.py").write_text(SCORER)
    agent = ["--engine", "mock", "--set", 'engines.mock.replies=[{"text": "hello"}]', "--no-baseline"]
    plugins = ["--plugin", "bill.py", "--plugin", "costs.py", "--check", "acme-costs"]
    return ["eval", "tables", *agent, *plugins, "--format", "acme-bill", "--store", "none", "--json"]


def outcome(work: Path, done: Done) -> tuple[str, str]:
    """Return what the reporter and the scorer made of the block."""
    assert done.code == 0, done.stdout + done.stderr
    (bill,) = (work / "reports").rglob("eval-result.bill.txt")
    (result,) = done.document["results"]
    return bill.read_text(), next(score["reason"] for score in result["scores"] if "costs" in score["reason"])


@pytest.mark.parametrize("where", ["option", "configuration"])
def test_a_block_is_set_once(program: Program, work: Path, command: list[str], where: str) -> None:
    """Each plugin gets it in an option of its own; what neither place sets has its default."""
    if where == "configuration":
        (work / "own.yaml").write_text("plugins: {shared: {acme-prices: {currency: EUR}}}\n")
        done = program(*command, "-c", "own.yaml")
    else:
        done = program(*command, "--set", "shared.acme-prices.currency=EUR")
    assert outcome(work, done) == ("1 EUR", "costs 1 EUR")


def test_a_plugins_own_value_goes_before_the_shared_one(program: Program, work: Path, command: list[str]) -> None:
    """Key by key, so that the rest of the block still counts."""
    own = ["--set", 'scorers.acme-costs.costs={"token": 3}', "--set", "shared.acme-prices.currency=EUR"]
    assert outcome(work, program(*command, *own)) == ("1 EUR", "costs 3 EUR")


def test_wrong_values_are_told_under_the_shared_name(program: Program, command: list[str]) -> None:
    """A wrong type, an unknown key and an unknown block each say what is meant."""
    wrong = ["--set", "shared.acme-prices.token=many", "--set", "shared.acme-prices.curency=EUR"]
    messages = {problem["message"] for problem in program(*command, *wrong).document["problems"]}
    assert "shared.acme-prices.curency: unknown option (did you mean currency?)" in messages
    assert any(message.startswith("shared.acme-prices.token: Input should be a valid integer") for message in messages)
    done = program(*command, "--set", "shared.acme-price.token=2")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert "no installed plugin shares options of that name (did you mean acme-prices?)" in problem["message"]


@pytest.mark.parametrize("is_set", [True, False], ids=["set", "not set"])
def test_different_schemas(program: Program, work: Path, command: list[str], is_set: bool) -> None:
    """The problem names both distributions, and nothing runs, whether or not the block is set."""
    (work / "costs.py").write_text(SCORER.replace("token: int = 1", "token: float = 1"))
    done = program(*command, *(["--set", "shared.acme-prices.currency=EUR"] if is_set else []))
    assert done.code == 2
    (problem,) = [one for one in done.document["problems"] if one["code"] == "plugin.shared"]
    assert "shared options 'shared.acme-prices' are declared with different schemas" in problem["message"]
    assert "of bill.py sha256:" in problem["message"]
    assert "of costs.py sha256:" in problem["message"]


def test_a_folder_sets_what_is_harmless(program: Program, work: Path, command: list[str]) -> None:
    """Before the user trusts the file, only keys count that the block declares harmless."""
    (work / "skillgauge.config.yaml").write_text("plugins: {shared: {acme-prices: {currency: EUR, token: 9}}}\n")
    done = program(*command)
    assert "plugins.shared.acme-prices.token" in done.stdout + done.stderr
    assert "plugins.shared.acme-prices.currency" not in done.stdout + done.stderr
    assert outcome(work, program(*command, "--trust-config")) == ("9 EUR", "costs 9 EUR")


def test_info_says_how_a_block_is_set(program: Program, command: list[str]) -> None:
    """It stands in the schema of the plugin's options."""
    assert command
    shown = program("plugins", "info", "reporters", "acme-bill", "--plugin", "bill.py", "--json").document
    assert shown["options"]["properties"]["prices"]["setWith"] == "--set shared.acme-prices.KEY=VALUE"

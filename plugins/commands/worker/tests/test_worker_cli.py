"""`worker`: who it works for, and what it says of its machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

PLUGIN = """
from skillgauge.api import NoOptions, Provider, hookimpl


async def serve(options, offer, tell):
    tell(f"{offer.name} serves {offer.places} with {dict(offer.resources)} at {offer.host}")


@hookimpl
def skillgauge_executors():
    yield Provider(name="mine", factory=lambda: None, summary="Mine.", worker=serve)
"""


@pytest.fixture
def mine(work: Path) -> str:
    """A file with an executor that has workers."""
    (work / "mine.py").write_text(PLUGIN)
    return "mine.py"


def test_the_executor_serves_with_the_offer(program: Program, mine: str) -> None:
    """Places, resources, name and address arrive; what the machine has stands in the document, keys by name alone."""
    options = ("--executor", "mine", "--places", "3", "--resource", "docker=2", "--name", "w", "--host", "10.0.0.7")
    done = program("worker", "--plugin", mine, *options, "--json", env={"ANTHROPIC_API_KEY": "made-up-4711"})
    assert done.code == 0, done.stderr
    assert "w serves 3 with {'docker': 2.0} at 10.0.0.7" in done.stderr
    document = done.document
    assert (document["name"], document["executor"], document["places"]) == ("w", "mine", 3)
    assert document["sandboxes"]["local"] == "none"
    assert document["secrets"] == ["ANTHROPIC_API_KEY"]
    assert "claude-code" in {*document["engines"], *document["lacking"]}
    assert "made-up-4711" not in done.stdout + done.stderr


def test_facts_stand_one_to_a_line(program: Program, mine: str) -> None:
    """For people."""
    done = program("worker", "--plugin", mine, "--executor", "mine", "--name", "w", "--places", "1")
    assert "worker w for executor 'mine': 1 at once" in done.stdout
    assert "secrets that are set: none" in done.stdout
    assert "worker w has ended" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--executor", "processes"), "executor 'processes' has no workers that are started by this command"),
        (("--executor", "mine", "--resource", "docker"), "'docker' is no NAME=N"),
        (("--executor", "mine", "--resource", "docker=-1"), "'docker=-1' is no NAME=N"),
        ((), "several executors have such workers: "),
        (("--executor", "dask"), "executors.dask names none"),
        (("--no-plugin", "mine", "--no-plugin", "dask"), "no installed executor has workers on other machines"),
    ],
)
def test_what_cannot_be_served(program: Program, mine: str, options: tuple[str, ...], reason: str) -> None:
    """Each is a sentence with the next step, and exit code 2."""
    done = program.process("worker", "--plugin", mine, *options)
    assert done.code == 2
    assert reason in done.stderr
    assert "next: " in done.stderr

"""Programs of engines are started once in the image of a case."""

from __future__ import annotations

import asyncio

import pytest

from skillgauge.contract.providers import Traits
from skillgauge.contract.sandboxes import Command, Finished, NoRoomError
from skillgauge.errors import LaunchError, Origin
from skillgauge.plan.checks.programs import unfit_programs
from skillgauge.types.inputs import FileSpec
from skillgauge.types.suite import Case
from skillgauge_testkit import FakeSandbox
from skillgauge_testkit.fakes import FakeWorkspace

IMAGE = (FileSpec(path="Dockerfile", text="FROM scratch"),)
CASE = Case(id="c", image_files=IMAGE, origin=Origin("c.yaml"))
PROGRAM = Traits(program=("agent", "--version"), program_files=("/opt/agent",))


def ended(exit_code: int | None, stderr: bytes = b"", signal: int | None = None) -> Finished:
    """Return how a process ended."""
    return Finished(exit_code, signal, b"", stderr, 0.1)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (ended(0, b"a notice"), None),
        (ended(127, b" no such library \n"), "no such library"),
        (ended(1), "it fails"),
        (ended(None, signal=9), "it fails"),
        (LaunchError("not found"), "not found"),
        (NoRoomError("the disk is full"), "the disk is full"),
    ],
)
def test_unfit_programs(outcome: Finished | OSError, reason: str | None) -> None:
    """A program that ends well fits; otherwise the problem says what it wrote, or why it was not started."""
    started: list[Command] = []

    def run(command: Command, _workspace: FakeWorkspace) -> Finished:
        started.append(command)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    sandbox = FakeSandbox(run)
    engines = {"x": PROGRAM, "without program": Traits()}
    problems = asyncio.run(unfit_programs([CASE], engines, sandbox, untrusted=True))
    prefix = "the program of engine 'x' does not start in the image of case 'c': "
    expected = [] if reason is None else [("engine.not-in-image", prefix + reason, CASE.origin)]
    assert [(problem.code, problem.message, problem.origin) for problem in problems] == expected
    assert [command.argv for command in started] == [PROGRAM.program]
    ((spec, _),) = sandbox.opened
    assert (spec.image_files, spec.program_files, spec.network, spec.untrusted) == (IMAGE, ("/opt/agent",), False, True)

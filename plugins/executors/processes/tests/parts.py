"""A plugin file: cases that say what happens to the process that makes an attempt of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import (
    Adapter,
    CallRequest,
    Case,
    Check,
    Claim,
    Dumped,
    Execution,
    Identity,
    Loaded,
    LoadRequest,
    Problem,
    Provider,
    Sandbox,
    Score,
    ScoreContext,
    Scorer,
    Suite,
    SuiteFormat,
    Target,
    Workspace,
    hookimpl,
)
from skillgauge.api.report import Figure, GroupKey, SuiteSummary
from skillgauge_testkit import FakeSandbox


class Format:
    """A list of words in a file that ends with `.deeds`."""

    def claim(self, path: Path) -> Claim | None:
        """By the suffix."""
        return Claim() if path.suffix == ".deeds" else None

    def load(self, request: LoadRequest) -> Loaded:
        """A case a word."""
        words = json.loads(Path(request.paths[0]).read_text())
        checks = (Check(id="check", scorer="deed"),)
        cases = tuple(Case(id=f"{n}-{word}", input=word, checks=checks) for n, word in enumerate(words))
        target = Target(id="target", adapter="deed", pass_env=("DEED_SECRET",))
        root = str(Path(request.paths[0]).parent)
        return Loaded((Suite(id="deeds", format="deed", root=root, cases=cases, targets=(target,)),))

    def dump(self, suite: Suite) -> Dumped:
        """Nothing."""
        return Dumped(())

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None."""
        return {}


class Deeds:
    """Does what a case says, in this process."""

    async def check(self) -> tuple[Problem, ...]:
        """A worker is told to be of no use by a file."""
        first = os.environ.setdefault("DEED_PARENT", str(os.getpid()))  # which workers inherit
        if Path("unusable").exists() and first != str(os.getpid()):
            return (Problem("deed.unusable", "nothing works in a worker"),)
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        """Nothing."""
        return ()

    def identity(self, target: Target) -> Identity:
        """Nothing else decides."""
        return Identity(name="deed")

    async def open(self, target: Target, workspace: Workspace) -> Deeds:
        """It is its own session."""
        return self

    async def close(self) -> None:
        """A sign that a session was closed in order."""
        Path(f"closed-{os.getpid()}").touch()

    async def call(self, request: CallRequest) -> Execution:
        """Do it."""
        Path(f"{request.case_id}.{os.getpid()}").touch()
        match str(request.input):
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "die-once":
                if len(list(Path.cwd().glob(f"{request.case_id}.*"))) == 1:
                    os.kill(os.getpid(), signal.SIGKILL)
            case "block":
                time.sleep(600)  # as a plugin does that knows nothing of event loops
            case "wait":
                await asyncio.sleep(600)
            case "tell":
                return Execution(output=f"{os.environ.get('DEED_SECRET')}")
            case "print":
                print("printed by a plugin\x1b[2J\n::error::told to CI")  # noqa: T201 - what is tested
        await asyncio.sleep(0.05)
        return Execution(output=str(os.getpid()))


class Always:
    """Every answer is right."""

    version = "1"

    async def score(self, context: ScoreContext) -> Score:
        """Passed."""
        return Score.passed()


@hookimpl
def skillgauge_formats() -> Iterator[Provider[SuiteFormat]]:
    """Announce the format."""
    yield Provider(name="deed", factory=Format, summary="Words.")


@hookimpl
def skillgauge_adapters() -> Iterator[Provider[Adapter]]:
    """Announce the adapter."""
    yield Provider(name="deed", factory=Deeds, summary="Do it.")


@hookimpl
def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
    """Announce the scorer."""
    yield Provider(name="deed", factory=Always, summary="Right.")


@hookimpl
def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
    """Announce the sandbox."""
    yield Provider(name="deed", factory=FakeSandbox, summary="No processes.")

"""Plays recorded sessions back in place of an agent."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from skillgauge.api import (
    Emit,
    Execution,
    Failure,
    FailureClass,
    Identity,
    ModelRoute,
    Problem,
    RunRequest,
    Severity,
    SuiteError,
    Workspace,
)
from skillgauge_recordings import Cassette, Places, read_cassettes, restore, why_missing

from .options import ReplayOptions

NAME = "replay"


class ReplayEngine:
    """Answers every session with its recording, and with a failure if there is none.

    Args:
        options: where the recordings are, and whose.
    """

    def __init__(self, options: ReplayOptions) -> None:
        self._folder = options.folder
        self._engine = options.engine
        self._unreadable: tuple[Problem, ...] = ()
        self._recordings: list[Cassette] = []
        self._unclear: dict[str | None, Problem] = {}
        """What is wrong with the models that sessions are planned for; only an identity knows them."""
        try:
            self._recordings = list(read_cassettes(Path(options.folder)))
        except SuiteError as error:
            self._unreadable = error.problems
        self._by_key = {one.key: one for one in reversed(self._recordings)}

    async def check(self) -> tuple[Problem, ...]:
        """Check that the recordings can be read, and that the ones that are meant are clear."""
        return self._unreadable or tuple(self._unclear.values())

    def identity(self, model: str | None) -> Identity:
        """Return the identity of the recorded engine, by which recordings are found; else its own."""
        matching = [
            one for one in self._recordings if self._engine in (None, one.engine.name) and model in (None, one.model)
        ]
        kinds = {(one.engine.unversioned_digest, one.model): one for one in matching}
        if len(kinds) != 1:
            self._unclear[model] = self._choice(model, matching)
            return Identity(name=NAME, version=version(f"skillgauge-engine-{NAME}"), model=model, complete=False)
        versions = {one.engine.version for one in matching}
        if len(versions) > 1:
            self._unclear[model] = _mixed(matching[0].engine.name, versions)
        update = {"model": matching[0].model, "version": versions.pop() if len(versions) == 1 else None}
        return matching[0].engine.model_copy(update=update)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """It asks no model."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Play the recording of a session and leave the files that the agent left, in folders of this workspace."""
        recording = self._by_key.get(request.cassette_key)
        if recording is None:
            why = f"{why_missing(request.recipe, self._recordings)}; record it with --record {self._folder}"
            return _failed(FailureClass.SETUP, why)
        places = Places(workspace)
        execution = places.restored_in(recording.execution)
        try:
            await restore(recording.files, workspace, places)
        except (OSError, ValueError) as error:
            return _failed(FailureClass.SANDBOX, f"the recorded files cannot be restored: {error}")
        for event in execution.trajectory.events if execution.trajectory else ():
            emit(event)
        return execution.model_copy(update={"replayed": True})

    def _choice(self, model: str | None, matching: list[Cassette]) -> Problem:
        """Say why it is not clear which recordings are meant, and how to choose."""
        candidates = matching or self._recordings
        kinds = sorted({f"{one.engine.name} with {one.model or 'its own model'}" for one in candidates})
        listed = ", ".join(kinds)
        if not matching:
            names = " and ".join(
                text
                for text in (f"engine {self._engine!r}" if self._engine else "", f"model {model!r}" if model else "")
                if text
            )
            return Problem("replay.choice", f"{self._folder} holds no recording of {names}; it has: {listed}")
        if len(kinds) == 1:
            message = f"{self._folder} holds recordings of {listed} under different settings of the engine"
            return Problem("replay.choice", message, hint="Keep those of one setting in the folder.")
        message = f"{self._folder} holds recordings of several agents: {listed}"
        hint = f"Choose with --model ID, or with --set engines.{NAME}.engine=NAME."
        return Problem("replay.choice", message, hint=hint)


def _mixed(name: str, versions: set[str | None]) -> Problem:
    listed = ", ".join(sorted(one or "unknown" for one in versions))
    message = f"the recordings were made with several versions of engine {name!r}: {listed}"
    return Problem("replay.versions", message, severity=Severity.WARNING)


def _failed(kind: FailureClass, message: str) -> Execution:
    return Execution(failure=Failure.of_agent(kind, message), replayed=True)

"""The documents that the command prints, and how they come about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import Frozen, JsonObject, cut, digest, plain
from skillgauge.api.run import Evaluation, Invocation, eval_options
from skillgauge_recordings import KeptSession, recordings_in

_NAME = 60
_OF_RUNS = frozenset({"repeat", "engine", "model", "engine settings", "limits"})
"""Parts of a recipe that a run decides: a suite still asks for a session, whatever these are."""


class Recording(Frozen):
    """A recording in a folder."""

    path: str
    """Relative to the folder."""
    bytes: int
    damaged: bool
    suite: str | None = None
    case: str | None = None
    arm: str | None = None
    repeat: int | None = None
    engine: str | None = None
    version: str | None = None
    """That of the engine's program; unknown, if it did not tell it."""
    model: str | None = None

    def line(self) -> str:
        """For people."""
        if self.damaged:
            return f"{self.path}  {self.bytes} bytes  damaged, or of another version: never played"
        engine = " ".join(part for part in (self.engine, self.version, self.model) if part)
        subject = f"{self.suite} · {self.case} · {self.arm} · run {self.repeat}"
        return f"{self.path}  {self.bytes} bytes  {plain(cut(subject, _NAME))} · {plain(cut(engine, _NAME))}"


class ListDocument(Frozen):
    """All recordings of a folder."""

    folder: str
    recordings: tuple[Recording, ...]


class PruneDocument(Frozen):
    """The recordings that fit no session, damaged ones among them, and whether they were removed."""

    folder: str
    stale: tuple[Recording, ...]
    kept: int
    removed: bool


def listed(folder: Path) -> ListDocument:
    """Return every recording of a folder."""
    return ListDocument(
        folder=str(folder), recordings=tuple(_recording(folder, session) for session in recordings_in(folder))
    )


async def pruned(call: Invocation, values: Mapping[str, Any], folder: Path, *, removes: bool) -> PruneDocument:
    """Find the recordings that no session of an evaluation fits, and remove them if that is wanted.

    Raises:
        SkillgaugeError: the suites cannot be evaluated, so that nothing is known of their sessions.
    """
    chosen = {key: value for key, value in values.items() if key != "replay"} | {"dry_run": True, "baseline": True}
    if not values.get("engine"):
        chosen["replay"] = str(folder)
    evaluation = await Evaluation.prepare(call, eval_options(call, chosen))
    sessions = {_of_suite(trial.recipe) for trial in evaluation.prepared.plan.trials()}
    stale, kept = list[KeptSession](), 0
    for session in recordings_in(folder):
        if session.cassette is not None and _of_suite(session.cassette.recipe) in sessions:
            kept += 1
        else:
            stale.append(session)
    if removes:
        for session in stale:
            session.path.unlink(missing_ok=True)
    return PruneDocument(
        folder=str(folder),
        stale=tuple(_recording(folder, session) for session in stale),
        kept=kept,
        removed=removes,
    )


def _of_suite(recipe: JsonObject) -> str:
    """Digest what a suite, and not a run, decides of a session."""
    return digest({name: value for name, value in recipe.items() if name not in _OF_RUNS and value is not None})


def _recording(folder: Path, session: KeptSession) -> Recording:
    path, cassette = session.path.relative_to(folder).as_posix(), session.cassette
    if cassette is None:
        return Recording(path=path, bytes=session.size, damaged=True)
    recipe = cassette.recipe
    repeat = recipe.get("repeat")
    return Recording(
        path=path,
        bytes=session.size,
        damaged=False,
        suite=str(recipe.get("suite")),
        case=str(recipe.get("case")),
        arm=str(recipe.get("arm")),
        repeat=repeat if isinstance(repeat, int) else None,
        engine=cassette.engine.name,
        version=cassette.engine.version,
        model=cassette.model,
    )

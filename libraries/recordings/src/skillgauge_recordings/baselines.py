"""Sessions without the skill, used again by later runs as long as nothing that entered them has changed.

An entry lies at `baselines/<scope>/<key>`. The key is the one that skillevaluation publishes; the scope stands for
everything else that enters such a session: engine with version and settings, model, set-up, files, environment, limits.
The skill is not in the workspace, so editing it changes neither. Only sessions are kept; grading is always new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from skillgauge.api import Execution, JsonObject, SkillgaugeError, Trial, Workspace, digest, get_logger

from . import off_loop
from .cassettes import SUFFIX, Cassette, recorded
from .folders import KeptSession, cassette_at, sessions_at
from .restoring import played

log = get_logger(__name__)

FOLDER = "baselines"
NOTE = "answered by a session of an earlier run"
_IN_KEY = ("case", "prompt", "repeat")
"""Parts of a recipe that the key covers."""


def baseline_key(*, skill: str, case: str, prompt: str, run: int = 0) -> str:
    """The key that skillevaluation publishes.

    Args:
        skill: name of the skill.
        case: name of the case.
        prompt: as it is sent.
        run: number of the run, from 0.
    """
    parts: dict[str, object] = {"case": case, "prompt": prompt, "skill": skill} | ({"trial": run} if run else {})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class BaselineCache:
    """Keeps and finds sessions without the skill.

    What cannot be read or written is a miss: a cache never fails a run, and never gives a session that is not the same.

    Args:
        folder: made if it is not there.
        clean: takes secrets out of what is kept.
    """

    def __init__(self, folder: Path, clean: Callable[[Cassette], Cassette] = lambda cassette: cassette) -> None:
        self._folder = folder / FOLDER
        self._clean = clean

    async def find(self, trial: Trial, workspace: Workspace) -> Execution | None:
        """The session of an earlier run, its files laid into the workspace; `None`: there is none that is the same."""
        cassette = await off_loop.read(self.place(trial), lambda path: _same(path, trial))
        if cassette is None:
            return None
        try:
            execution = await played(cassette, workspace)
        except (OSError, ValueError) as error:
            # Half of the files may be there, so the agent cannot take over in this workspace.
            raise OSError(f"the files of a kept session cannot be laid out: {error}; run with --no-cache") from error
        return execution.model_copy(update={"notes": (*execution.notes, NOTE)})

    async def record(self, trial: Trial, execution: Execution, workspace: Workspace) -> None:
        """Keep a session that came to its end."""
        if execution.replayed or execution.failure is not None:
            return
        try:
            cassette = await recorded(trial, execution, workspace, trial.execution_id)
            await off_loop.write(self.place(trial), self._clean(cassette))
        except (OSError, ValueError, SkillgaugeError) as error:
            log.warning("cache.not-kept", case=trial.case.id, reason=str(error))

    def entry(self, trial: Trial) -> Cassette | None:
        """Return the kept session, if everything that entered it is the same."""
        return _same(self.place(trial), trial)

    def place(self, trial: Trial) -> Path:
        """Return the file of a trial's session, whether or not it is there."""
        return self._folder / scope_of(trial) / f"{key_of(trial)}{SUFFIX}"

    def others(self, trial: Trial) -> Iterator[tuple[Path, tuple[str, ...]]]:
        """Sessions of the same key that are of no use for a trial, each with what differs."""
        recipe = trial.recipe
        for path in sorted(self._folder.glob(f"*/{key_of(trial)}{SUFFIX}")):
            cassette = cassette_at(path)
            if cassette is None:
                yield path, ("it is damaged, or of another version",)
            elif cassette.key != trial.execution_id:
                yield path, _differences(recipe, cassette) or ("engine version",)


def key_of(trial: Trial) -> str:
    """The published key of a trial."""
    target, case = trial.target, trial.case
    skill = (target.name or target.id) if target else trial.suite_id
    return baseline_key(skill=skill, case=case.id, prompt=case.prompt or "", run=trial.repeat - 1)


def scope_of(trial: Trial) -> str:
    """Stands for all that enters a session beside what its key covers."""
    rest = {name: value for name, value in trial.recipe.items() if name not in _IN_KEY}
    return digest(rest, trial.runner.version)[:12]


def baselines_in(folder: Path) -> Iterator[KeptSession]:
    """Yield every entry of a cache, in the order of their paths."""
    yield from sessions_at((folder / FOLDER).glob(f"*/*{SUFFIX}"))


def _same(path: Path, trial: Trial) -> Cassette | None:
    entry = cassette_at(path)
    return entry if entry is not None and entry.key == trial.execution_id else None


def _differences(wanted: JsonObject, cassette: Cassette) -> tuple[str, ...]:
    return tuple(name for name in wanted if cassette.recipe.get(name) != wanted[name])

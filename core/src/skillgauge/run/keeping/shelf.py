"""The executions of a run that wait to be graded: in its log if that keeps them, else in this process."""

from __future__ import annotations

from collections.abc import Sequence

from skillgauge_documents.frozen import EMPTY

from ...contract.stores import KeepingLog, RunLog
from ...types.kept import KeptExecution
from ...types.results.trials import GivenUp, TrialResult
from ...types.trial import Trial


class Shelf:
    """Hands kept executions in and out, and has none of them counted twice.

    Args:
        log: of the run.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log if isinstance(log, KeepingLog) else None
        self._here: dict[str, KeptExecution] = {}
        self._known: dict[str, KeptExecution] = {}
        """Executions that were handed in or out, by trial, without files."""

    async def keep(self, kept: KeptExecution) -> None:
        """Take one in, in place of an earlier one of its trial."""
        if self._log:
            await self._log.keep(kept)
        else:
            self._here[kept.trial_id] = kept
        self._know(kept)

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """Hand one out."""
        kept = await self._log.kept(trial) if self._log else self._here.get(trial.trial_id)
        if kept:
            self._know(kept)
        return kept

    def knows(self, trial_id: str) -> bool:
        """Tell whether one of this trial was handed in or out."""
        return trial_id in self._known

    def once(self, result: TrialResult, given_up: Sequence[GivenUp]) -> tuple[GivenUp, ...]:
        """Return the attempts before the one that counts, of which none has the usage that the result names itself.

        An attempt whose execution was kept has used what it says, until that execution becomes the result's own.
        """
        kept = self._known.pop(result.trial_id, None)
        self._here.pop(result.trial_id, None)
        attempts = [*given_up]
        if kept and kept.started_at == result.started_at and kept.attempt < len(attempts):
            attempt = attempts[kept.attempt]
            changes = {"usage": None, "has_session": False, "judges": attempt.judges[kept.judges :]}
            attempts[kept.attempt] = attempt.model_copy(update=changes)
        return tuple(attempts)

    def _know(self, kept: KeptExecution) -> None:
        self._known[kept.trial_id] = kept.model_copy(update={"files": (), "contents": EMPTY})

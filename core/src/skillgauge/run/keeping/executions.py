"""Keep an execution before it is graded, and have it graded in another workspace."""

from __future__ import annotations

import asyncio
import base64

from skillgauge_documents.frozen import EMPTY

from ...contract.executors import Keeper
from ...contract.providers import Clean
from ...contract.sandboxes import Workspace
from ...log import get_logger
from ...types.arms import ArmKind
from ...types.kept import KeptExecution
from ...types.trial import Blame, Execution, Trial
from ..budget import current_meter
from ..stage import Stage
from .workspaces import BROKEN, laid_down, taken_down

log = get_logger(__name__)


def may_be_kept(trial: Trial) -> bool:
    """Tell whether executions of a trial are kept: those that cost nothing are sooner executed again."""
    return trial.paid and trial.arm.kind is ArmKind.AGENT


async def find(keeper: Keeper | None, trial: Trial) -> KeptExecution | None:
    """Return what was kept of a trial by an attempt that did not come to grade it."""
    if keeper is None or not may_be_kept(trial):
        return None
    kept = await keeper.kept(trial)
    same = kept is not None and (kept.trial_id, kept.execution_id) == (trial.trial_id, trial.execution_id)
    return kept if same else None


async def keep(
    keeper: Keeper | None, trial: Trial, execution: Execution, stage: Stage, began: float, clean: Clean | None
) -> Execution:
    """Keep an execution that came to its end, with its workspace; return it, with a note if that cannot be done.

    What a secret was taken out of would be graded otherwise than what the agent left, so it is not kept.
    """
    failure = execution.failure
    is_over = failure is None or failure.blame is not Blame.INFRASTRUCTURE
    if keeper is None or not is_over or execution.replayed or not may_be_kept(trial) or stage.workspace is None:
        return execution
    try:
        held, files, contents = await taken_down(stage.workspace)
    except BROKEN as error:
        return _not_kept(trial, execution, str(error))
    texts = execution, tuple(stage.scores), *contents.values()
    if await asyncio.to_thread(_has_secrets, clean, texts):
        return _not_kept(trial, execution, "it holds a secret")
    meter = current_meter()
    kept = KeptExecution(
        trial_id=trial.trial_id,
        ordinal=trial.ordinal,
        execution_id=trial.execution_id,
        execution=execution,
        scores=tuple(stage.scores),
        started_at=began,
        judges=len(meter.judges) if meter else 0,
        places=_places(stage.workspace) if getattr(stage.workspace, "has_folders", True) else ("", ""),
        workspace=held,
        files=files,
        contents={name: base64.b64encode(content).decode() for name, content in contents.items()},
    )
    await keeper.keep(kept)
    return execution


async def laid_out(kept: KeptExecution, stage: Stage, trial: Trial) -> KeptExecution | None:
    """Make a fresh stage what it was when an execution was kept; `None` if it could not be graded there.

    The execution then names the paths of this workspace, as one that is played back does.
    """
    workspace = stage.workspace
    if workspace is None:
        return None
    here = _places(workspace) if any(kept.places) else kept.places
    pairs = [pair for pair in zip(kept.places, here, strict=True) if pair[0] != pair[1]]

    def moved(text: str) -> str:
        for old, new in pairs:
            text = text.replace(old, new)
        return text

    try:
        await stage.furnish(trial)
        if await laid_down(workspace, kept, moved):
            without_files = kept.model_copy(update={"files": (), "contents": EMPTY})
            return KeptExecution.model_validate_json(moved(without_files.model_dump_json()))
        why = "its workspace became another one"
    except BROKEN as error:
        why = str(error)
    log.warning("execution.not-laid-out", trial_id=trial.trial_id, case=trial.case.id, reason=why)
    return None


def _places(workspace: Workspace) -> tuple[str, str]:
    return str(workspace.root), str(workspace.home)


def _has_secrets(clean: Clean | None, told: object) -> bool:
    return clean is not None and clean(told) != told


def _not_kept(trial: Trial, execution: Execution, why: str) -> Execution:
    log.info("execution.not-kept", trial_id=trial.trial_id, case=trial.case.id, reason=why)
    note = f"not kept while it was graded, so that a kill would have had it executed again: {why}"
    return execution.model_copy(update={"notes": (*execution.notes, note)})

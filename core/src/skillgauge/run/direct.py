"""The place where direct calls run: one shared session per target, or a workspace for each case that brings files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from skillgauge_documents.frozen import EMPTY, JsonObject

from ..contract.adapters import Adapter, CallRequest, Session
from ..contract.sandboxes import Sandbox, SandboxSpec, Workspace
from ..types.suite import Case, Target
from ..types.trial import Execution, Trial
from .agents import set_up
from .changes import with_changes
from .stage import environment_of


@dataclass
class _Open:
    """A target's session and where it lives."""

    session: Session
    workspace: Workspace


@dataclass
class DirectStages:
    """Opens each target once, when its first trial needs it, and shares the session among its trials."""

    adapter_of: Callable[[Target], Adapter]
    """The adapter of a target."""
    sandbox: Sandbox
    """Where the targets' processes run."""
    trusted: bool = True
    """Whether these processes may use the network, and write to the folder of their target."""
    keep: bool = False
    """Leave workspaces behind for inspection."""
    conceal: JsonObject = EMPTY
    """Secrets that must not be in them then."""
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _open: dict[tuple[str, str], asyncio.Future[_Open]] = field(default_factory=dict, init=False)

    async def close(self) -> None:
        """End every session and remove its workspace."""
        await self._stack.aclose()

    def __call__(self, trial: Trial) -> DirectStage:
        """The stage of a trial; its target's session outlives it, unless the case needs one of its own."""
        target, case = trial.target, trial.case
        if target is None:
            raise ValueError(f"case {case.id!r} is to be called directly but names no target")
        if case.files or case.setup or case.setup_files or case.grader_files or case.image_files:
            return OwnStage(partial(self._enter, target, case))
        return DirectStage(lambda: self._session(trial.suite_id, target))

    async def _session(self, suite_id: str, target: Target) -> _Open:
        key = (suite_id, target.id)
        future = self._open.get(key)
        if future is None:
            future = self._open[key] = asyncio.get_running_loop().create_future()
            try:
                future.set_result(await self._enter(target, None, self._stack))
            except BaseException as error:
                del self._open[key]
                future.set_exception(error)
                future.exception()  # everyone who waits sees it; nobody waiting is no reason for a warning
                raise
        return future.result() if future.done() else await asyncio.shield(future)

    async def _enter(self, target: Target, case: Case | None, outer: AsyncExitStack) -> _Open:
        folder = (target.root,) if target.root else ()
        spec = SandboxSpec(
            label=target.id,
            readable=folder,
            writable=folder if self.trusted else (),
            image_files=case.image_files if case else (),
            pass_env=target.pass_env,
            network=self.trusted,
            untrusted=not self.trusted,
            keep=self.keep,
            conceal=self.conceal,
        )
        async with AsyncExitStack() as stack:  # a workspace whose target cannot be opened goes at once
            workspace = await stack.enter_async_context(self.sandbox.open(spec))
            session = await self.adapter_of(target).open(target, workspace)
            stack.push_async_callback(session.close)
            outer.push_async_exit(stack.pop_all())
        return _Open(session, workspace)


class DirectStage:
    """One attempt on a target's shared session.

    Its own context manager, because one made from a generator costs more than a short trial.
    """

    workspace: Workspace
    """The target's workspace; set on entering."""
    scores = ()

    def __init__(self, session: Callable[[], Awaitable[_Open]]) -> None:
        self._session = session

    async def __aenter__(self) -> Self:
        self._opened = await self._session()
        self.workspace = self._opened.workspace
        return self

    async def __aexit__(self, *_error: object) -> None:
        """The session stays open for the next trial."""

    async def furnish(self, trial: Trial) -> None:
        """Put the files of the case in place."""
        if files := (*trial.case.setup_files, *trial.case.files):
            await self.workspace.put(files)

    async def execute(self, trial: Trial) -> Execution:
        """Call the target."""
        request = CallRequest.of(trial, environment_of(trial.case), input=trial.case.input, repeat=trial.repeat)
        return await self._opened.session.call(request)

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Put the graders' files beside what the target left."""
        return await self._opened.workspace.put(trial.case.grader_files) if trial.case.grader_files else ()


class OwnStage(DirectStage):
    """One attempt in a workspace of its own, for a case that brings files or has to be set up."""

    def __init__(self, enter: Callable[[AsyncExitStack], Awaitable[_Open]]) -> None:
        self._stack = AsyncExitStack()
        super().__init__(lambda: enter(self._stack))

    async def __aexit__(self, *_error: object) -> None:
        """Nothing is left for the next trial."""
        await self._stack.aclose()

    async def execute(self, trial: Trial) -> Execution:
        """Set the workspace up, call the target, and find out which files it changed."""
        await self.furnish(trial)
        if failure := await set_up(self.workspace, trial.case):
            return Execution(failure=failure)
        before = await self.workspace.snapshot()
        execution = await super().execute(trial)
        return await with_changes(execution, before, self.workspace)

"""One process per call."""

from __future__ import annotations

from skillgauge.api import CallRequest, Command, Execution, FailureClass, Finished, LaunchError, Workspace
from skillgauge_documents.immutables import immutable

from .outcome import OUTPUT_BYTES, crashed, excerpt, failed, first_words, left_behind, not_launched, rejected, timed_out
from .wire import NoAnswer, find_answer, request


@immutable
class Program:
    """The program that is started for a target, and its folder."""

    argv: tuple[str, ...]
    root: str | None
    workspace: Workspace


class OneShotSession:
    """Starts one process per call in the skill's folder.

    Args:
        program: what to start.
        notice: what the reader of the first result should know.
    """

    def __init__(self, program: Program, notice: str | None = None) -> None:
        self._program = program
        self._notes = (notice,) if notice else ()

    async def call(self, request_: CallRequest) -> Execution:
        """Send the input to a new process and read its answer."""
        command = Command(
            argv=self._program.argv,
            cwd=self._program.root,
            env=request_.env,
            stdin=request(request_.input),
            timeout_s=request_.limits.timeout_s,
            output_bytes=request_.limits.output_bytes or OUTPUT_BYTES,
        )
        workspace = self._program.workspace
        try:
            running = await workspace.start(command)
        except LaunchError as error:
            return not_launched(error, workspace.tier)
        finished = await running.wait()
        notes, self._notes = self._notes, ()
        return _execution(finished, request_.limits.timeout_s, workspace.tier, notes)

    async def close(self) -> None:
        """Nothing outlives a call."""


def _execution(finished: Finished, timeout_s: float | None, tier: str, notes: tuple[str, ...]) -> Execution:
    words = first_words(finished.stderr)
    failure = timed_out(timeout_s, words) if finished.timed_out else crashed(finished, words)
    output = None
    if failure is None:
        try:
            answer = find_answer(finished.stdout)
        except NoAnswer as why:
            cut = f" (stdout exceeded its limit; {finished.stdout_dropped} bytes were dropped)"
            failure = failed(FailureClass.PROTOCOL, f"{why}{cut if finished.stdout_dropped else ''}")
        else:
            failure, output = rejected(answer), answer.result
    return Execution(
        output=output,
        exit_code=finished.exit_code,
        stdout=excerpt(finished.stdout) if failure else None,
        stderr=excerpt(finished.stderr) or None,
        truncated=bool(finished.stdout_dropped or finished.stderr_dropped),
        duration_s=finished.duration_s,
        failure=failure,
        sandbox=tier,
        notes=(*notes, *left_behind(finished)),
    )

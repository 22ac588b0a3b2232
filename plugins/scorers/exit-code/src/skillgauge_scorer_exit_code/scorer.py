"""The exit code of a process."""

from __future__ import annotations

from skillgauge.api import Score, ScoreContext

from .options import ExitCodeOptions

_SAID = 300


class ExitCodeScorer:
    """Passes an execution whose exit code is one of those that are expected."""

    version = "1"

    def __init__(self, options: ExitCodeOptions) -> None:
        self._codes = options.codes

    async def score(self, context: ScoreContext) -> Score:
        """Compare; what the process wrote to stderr is told beside a code that was not expected."""
        code = context.execution.exit_code
        if code is None:
            return Score.ungraded("What was called has no exit code")
        evidence = {"exit_code": code}
        if code in self._codes:
            return Score.passed(evidence=evidence)
        expected = " or ".join(map(str, self._codes))
        stderr = context.clean(context.execution.stderr or "").strip()
        shown = stderr if len(stderr) <= _SAID else f"…{stderr[-_SAID:]}"
        return Score.failed(f"Exit code {code}, expected {expected}{f': {shown}' if shown else ''}", evidence=evidence)

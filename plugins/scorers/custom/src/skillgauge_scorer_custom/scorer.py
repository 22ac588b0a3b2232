"""A user's function, called in a process of its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import sys
from functools import cache
from pathlib import Path
from typing import Any

from skillgauge.api import Command, Finished, JsonValue, LaunchError, Score, ScoreContext, ScoreStatus, Workspace

from .options import JAVASCRIPT, CustomOptions, is_named, location, node

_OUTPUT_BYTES = 256 * 1024
_FILE_BYTES = 256 * 1024 * 1024
_SHOWN = 1000


class CustomScorer:
    """Says what a user's function says, and nothing if that breaks.

    The function runs in the workspace, which bounds it; the result comes on a line with a marker that the function
    does not know, so that its prints are no results.
    """

    def __init__(self, options: CustomOptions) -> None:
        self._options = options
        self.version = "1"
        if not is_named(options.path):
            self.version += f" {hashlib.sha256(Path(options.path).read_bytes()).hexdigest()[:12]}"

    async def score(self, context: ScoreContext) -> Score:
        """Call the function."""
        if context.workspace is None:
            return Score.ungraded("A custom scorer runs in the workspace of the trial, and there is none any more")
        marker = secrets.token_hex(16)
        request = {
            "marker": marker,
            "path": self._options.path,
            "output": context.answer.value,
            "expected": self._expected(context),
            "memory_mb": self._options.memory_mb,
        }
        try:
            finished = await self._run(context.workspace, request)
        except LaunchError as error:
            return self._broken(f"could not be started: {error}")
        return self._score(finished, marker)

    def _expected(self, context: ScoreContext) -> JsonValue:
        if "expected" in self._options.model_fields_set:
            return self._options.expected
        return context.case.extras.get("expectedOutput")

    async def _run(self, workspace: Workspace, request: dict[str, Any]) -> Finished:
        command = Command(
            argv=self._argv(),
            readable=location(self._options.path),
            stdin=await asyncio.to_thread(_encoded, request),
            timeout_s=self._options.timeout_s,
            output_bytes=_OUTPUT_BYTES,
            file_bytes=_FILE_BYTES,
            fresh=True,
        )
        return await (await workspace.start(command)).wait()

    def _argv(self) -> tuple[str, ...]:
        if self._options.path.endswith(JAVASCRIPT):
            heap = f"--max-old-space-size={self._options.memory_mb}"
            return (node() or "node", heap, "--input-type=module", "--eval", _program("child.mjs"))
        # Isolated: neither the workspace nor a variable has a say in what is imported.
        return (sys.executable, "-I", "-B", "-X", "utf8", "-c", _program("child.py"))

    def _score(self, finished: Finished, marker: str) -> Score:
        stderr = finished.stderr.decode(errors="replace").strip()[-_SHOWN:]
        if finished.timed_out:
            return self._broken(f"did not answer within {self._options.timeout_s:g} s", stderr)
        if finished.sandbox_failure:
            return self._broken(f"gave no result: {finished.sandbox_failure}", stderr)
        _, marked, line = finished.stdout.rpartition(f"\n{marker} ".encode())
        if not marked:
            how = f"exit code {finished.exit_code}" if finished.signal is None else f"signal {finished.signal}"
            return self._broken(f"ended with {how} before it gave a result", stderr)
        if not line.endswith(b"\n"):
            return self._broken("gave a result that is too long", stderr)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            return self._broken(f"gave a result that cannot be read: {error}", stderr)
        if "error" in answer:
            return self._broken(f"broke: {answer['error']}", stderr)
        return self._judged(answer["result"], stderr)

    def _judged(self, result: Any, stderr: str) -> Score:
        """A score from what the function returned."""
        result = _as_object(result)
        if not isinstance(result, dict) or not isinstance(result.get("passed"), bool):
            expected = "true, false, a number, or an object with `passed`"
            return self._broken(f"returned {json.dumps(result)[:200]}, which is not {expected}", stderr)
        passed, value, reason = result["passed"], result.get("score"), result.get("reason")
        if value is None:
            value = 1 if passed else 0
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._broken(f"returned the score {json.dumps(value)[:200]}, which is no number", stderr)
        if not isinstance(reason, str | None):
            return self._broken(f"returned the reason {json.dumps(reason)[:200]}, which is no text", stderr)
        value = max(0.0, min(1.0, value))
        text = _cut(reason or "")
        if not passed and not text.strip():
            text = f"{self._name} gave {value:g}"
        status = ScoreStatus.PASSED if passed else ScoreStatus.FAILED
        return Score(status=status, value=value, reason=text)

    @property
    def _name(self) -> str:
        return self._options.path if is_named(self._options.path) else Path(self._options.path).name

    def _broken(self, what: str, said: str = "") -> Score:
        return Score.ungraded(_cut(f"Scorer {self._name} {what}"), evidence={"stderr": said} if said else None)


def _encoded(request: dict[str, Any]) -> bytes:
    return json.dumps(request).encode("ascii")


@cache
def _program(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _as_object(result: Any) -> Any:
    """Return the object that a verdict or a number stands for; anything else as it is."""
    if isinstance(result, bool):
        return {"passed": result}
    if isinstance(result, int | float):
        return {"passed": result >= 1, "score": result}
    return result


def _cut(text: str) -> str:
    """Bounded, and without halves of surrogate pairs, which JSON can hold and a score cannot."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}… ({len(whole) - _SHOWN} more characters)"

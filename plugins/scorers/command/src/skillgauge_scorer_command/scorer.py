"""A command that looks at what is left in a workspace."""

from __future__ import annotations

import asyncio

from skillgauge.api import (
    ArmKind,
    Command,
    FileSpec,
    Finished,
    JsonObject,
    LaunchError,
    Score,
    ScoreContext,
    ScoreStatus,
    SpoiledError,
    Workspace,
)
from skillgauge_processes import obstacles

from .options import CommandOptions, Reads
from .printed import printed_score
from .surroundings import surroundings

RESPONSE_FILE = "response.txt"
"""The whole answer, beside what the agent made."""
RESPONSE_VARIABLE = "RESPONSE_TEXT"
RESPONSE_CHARACTERS = 64_000
RESPONSE_BYTES = 120_000
"""One variable of an environment may not be longer than 128 KiB on Linux, its name included."""
CPU_S = 60
FILE_BYTES = 256 * 1024 * 1024
EVIDENCE_CHARACTERS = 500
_NO_EXIT_CODE = -1
_NO_WORD_OF_A_FILE = frozenset({None, 126, 127})
"""Ends that say something of the command alone: killed, not to be executed, not there."""
_OUTPUT_BYTES = 64 * 1024


class CommandScorer:
    """Passes if a shell command ends with the expected exit code.

    Its environment is the allow-listed one of the workspace, with no key, and with a home of its own, so that nothing
    of the agent's decides what its programs do. Where an agent left what keeps a program from its end, it is blamed.
    """

    version = "2"

    def __init__(self, options: CommandOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Run the command."""
        workspace = context.workspace
        if workspace is None:
            return Score.ungraded(f"{self._name}: the workspace is gone, so the command cannot be run again")
        answer, is_agent = context.answer.text, context.arm.kind is ArmKind.AGENT
        try:
            if is_agent:
                await workspace.put([FileSpec(path=RESPONSE_FILE, text=answer)], anew=True)
            running = await workspace.start(self._command(context, workspace, answer))
        except SpoiledError as error:
            return self._score_of_obstacles(f"{self._name}: {error}", None)
        except (OSError, ValueError) as error:
            trouble = (
                "could not be started" if isinstance(error, LaunchError) else f"found no place for {RESPONSE_FILE}"
            )
            return self._no_verdict(f"{trouble}: {error}", None)
        finished = await running.wait()
        if finished.sandbox_failure:
            return self._no_verdict(finished.sandbox_failure, finished)
        score = self._verdict(finished)
        if not is_agent or score.status is not ScoreStatus.UNGRADED:
            return score
        missing = await self._missing(workspace)
        if self._is_why(missing, finished):
            text = f"{self._name}: there is no {' and no '.join(missing)} (exit code {finished.exit_code})"
            return Score.failed(text, evidence=self._evidence(finished, passed=False))
        obstacles_found = await asyncio.to_thread(obstacles, workspace.root)
        text = f"{score.reason}; in its way lay what the agent left: {obstacles_found}"
        return self._score_of_obstacles(text, finished) if obstacles_found else score

    async def _missing(self, workspace: Workspace) -> tuple[str, ...]:
        there = await workspace.snapshot() if self._options.needs else {}
        return tuple(path for path in self._options.needs if path not in there)

    def _is_why(self, missing: tuple[str, ...], finished: Finished) -> bool:
        """Tell whether the command lacked a file that the agent did not make: `grep` and `jq` end with 2 then."""
        if not missing or finished.timed_out or finished.exit_code in _NO_WORD_OF_A_FILE:
            return False
        stderr = finished.stderr.decode(errors="replace")
        return len(missing) == len(self._options.needs) or any(path in stderr for path in missing)

    def _score_of_obstacles(self, told: str, finished: Finished | None) -> Score:
        return Score.failed(told, evidence=self._evidence(finished, passed=False))

    def _command(self, context: ScoreContext, workspace: Workspace, answer: str) -> Command:
        return Command(
            argv=("sh", "-c", self._options.command),
            env={**surroundings(context.case, workspace.root), RESPONSE_VARIABLE: _for_environment(answer)},
            fresh=True,
            timeout_s=self._options.timeout_s,
            output_bytes=_OUTPUT_BYTES,
            cpu_s=CPU_S,
            file_bytes=FILE_BYTES,
        )

    def _verdict(self, finished: Finished) -> Score:
        if finished.timed_out:
            return self._no_verdict(f"no end after {self._options.timeout_s:g} s", finished)
        code = finished.exit_code
        if code is None:
            return self._no_verdict(f"ended by signal {finished.signal}", finished)
        if self._options.reads is Reads.SCORE:
            return self._score_printed(finished)
        evidence = self._evidence(finished, passed=code == self._options.expect_exit_code)
        if code == self._options.expect_exit_code:
            return Score.passed(f"{self._name}: exit code {code}", evidence=evidence)
        text = f"exit code {code} instead of {self._options.expect_exit_code}{_stderr_of(finished)}"
        codes = self._options.fail_codes
        if (code not in _NO_WORD_OF_A_FILE) if codes == "any" else (code in codes):
            return Score.failed(f"{self._name}: {text}", evidence=evidence)
        return self._no_verdict(f"{text}: that is neither yes nor no", finished)

    def _score_printed(self, finished: Finished) -> Score:
        """The score on stdout counts where the command ended with a code that is a verdict; else it has crashed."""
        code, codes = finished.exit_code, self._options.fail_codes
        if code != self._options.expect_exit_code and (
            code in _NO_WORD_OF_A_FILE if codes == "any" else code not in codes
        ):
            return self._no_verdict(f"exit code {code}{_stderr_of(finished)}, so no score is taken from it", finished)
        if len(finished.stdout) >= _OUTPUT_BYTES:
            return self._no_verdict(f"prints {_OUTPUT_BYTES:,} bytes or more, which is no score", finished)
        try:
            printed = printed_score(finished.stdout)
        except ValueError as error:
            return self._no_verdict(str(error), finished)
        passes = printed.value >= self._options.threshold
        evidence = {**self._evidence(finished, passed=passes), "score": printed.value}
        needed = "" if passes else f", {self._options.threshold:g} needed"
        reason = f" ({_cut(printed.reason)})" if printed.reason else ""
        text = f"{self._name}: score {printed.value:g}{needed}{reason}"
        status = ScoreStatus.PASSED if passes else ScoreStatus.FAILED
        return Score(status=status, value=printed.value, reason=text, evidence=evidence)

    def _no_verdict(self, why: str, finished: Finished | None) -> Score:
        evidence = self._evidence(finished, passed=False, errored=True)
        return Score.ungraded(f"{self._name}: {why}", evidence=evidence)

    @property
    def _name(self) -> str:
        return _cut(self._options.label or self._options.command)

    def _evidence(self, finished: Finished | None, *, passed: bool, errored: bool = False) -> JsonObject:
        ended = finished is not None and not finished.timed_out and finished.exit_code is not None
        return {
            "label": self._options.label,
            "cmd": self._options.command,
            "exit_code": finished.exit_code if finished is not None and ended else _NO_EXIT_CODE,
            "expect_exit_code": self._options.expect_exit_code,
            "stdout": _text(finished.stdout) if finished else "",
            "stderr": _text(finished.stderr) if finished else "",
            "passed": passed,
            "errored": errored,
        }


def _for_environment(text: str) -> str:
    """Return the part of a text that a variable can hold."""
    data = text[:RESPONSE_CHARACTERS].replace("\0", "").encode()
    return data[:RESPONSE_BYTES].decode(errors="ignore")


def _text(data: bytes) -> str:
    return data.decode(errors="replace")[:EVIDENCE_CHARACTERS]


def _stderr_of(finished: Finished) -> str:
    """The last line of what it said, as the likeliest to tell the reason."""
    lines = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
    return f" ({_cut(lines[-1])})" if lines else ""


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"

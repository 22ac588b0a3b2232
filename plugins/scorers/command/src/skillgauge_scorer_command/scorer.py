"""A command that looks at what is left in a workspace."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import (
    EMPTY,
    ArmKind,
    Command,
    FileSpec,
    Finished,
    JsonObject,
    LaunchError,
    Score,
    ScoreContext,
    ScoreStatus,
    Workspace,
)

from .options import CommandOptions

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
_NO_WORD_OF_A_FILE = frozenset({_NO_EXIT_CODE, 126, 127})
"""Ends that say something of the command alone: killed, not to be executed, not there."""
_OUTPUT_BYTES = 64 * 1024


class CommandScorer:
    """Passes if a shell command ends with the expected exit code.

    Its environment is the allow-listed one of the workspace, with no key, and with the workspace as home: what an
    engine keeps in its own home is none of its business.
    """

    version = "2"

    def __init__(self, options: CommandOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Run the command."""
        workspace = context.workspace
        if workspace is None:
            return Score.ungraded(f"{self._name}: the workspace is gone, so the command cannot be run again")
        answer = context.answer.text
        try:
            if context.arm.kind is ArmKind.AGENT:
                await workspace.put([FileSpec(path=RESPONSE_FILE, text=answer)])
            running = await workspace.start(self._command(workspace, answer))
        except (OSError, ValueError) as error:
            what = "could not be started" if isinstance(error, LaunchError) else f"found no place for {RESPONSE_FILE}"
            return self._no_verdict(f"{what}: {error}", None)
        score = self._verdict(await running.wait())
        missing = await self._missing(workspace) if score.status is ScoreStatus.UNGRADED else ()
        return self._without(missing, score) if missing else score

    async def _missing(self, workspace: Workspace) -> tuple[str, ...]:
        there = await workspace.snapshot() if self._options.needs else {}
        return tuple(path for path in self._options.needs if path not in there)

    def _without(self, missing: tuple[str, ...], score: Score) -> Score:
        """What a command could not find, the agent did not make: `grep` and `jq` end with 2 then."""
        evidence = score.evidence if isinstance(score.evidence, Mapping) else EMPTY
        said, code = str(evidence.get("stderr")), evidence.get("exit_code")
        is_why = len(missing) == len(self._options.needs) or any(path in said for path in missing)
        if not is_why or code in _NO_WORD_OF_A_FILE:
            return score
        told = f"{self._name}: there is no {' and no '.join(missing)} (exit code {code})"
        return Score.failed(told, evidence={**evidence, "errored": False})

    def _command(self, workspace: Workspace, answer: str) -> Command:
        own = str(workspace.root)
        return Command(
            argv=("sh", "-c", self._options.command),
            env={"HOME": own, "TMPDIR": own, RESPONSE_VARIABLE: _for_environment(answer)},
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
        evidence = self._evidence(finished, passed=code == self._options.expect_exit_code)
        if code == self._options.expect_exit_code:
            return Score.passed(f"{self._name}: exit code {code}", evidence=evidence)
        told = f"exit code {code} instead of {self._options.expect_exit_code}{_said(finished)}"
        if code in self._options.fail_codes:
            return Score.failed(f"{self._name}: {told}", evidence=evidence)
        return self._no_verdict(f"{told}: that is neither yes nor no", finished)

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
    """What a variable can hold of a text."""
    data = text[:RESPONSE_CHARACTERS].replace("\0", "").encode()
    return data[:RESPONSE_BYTES].decode(errors="ignore")


def _text(data: bytes) -> str:
    return data.decode(errors="replace")[:EVIDENCE_CHARACTERS]


def _said(finished: Finished) -> str:
    """The last line of what it said, as the likeliest to tell the reason."""
    lines = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
    return f" ({_cut(lines[-1])})" if lines else ""


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"

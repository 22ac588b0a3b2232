"""Asks the database which words are not to be used, once a run, and looks for them in answers."""

from __future__ import annotations

import asyncio

from skillgauge.api import PluginError, Problem, Score, ScoreContext, secret

from .options import PASSWORD, TermsOptions


class TermsScorer:
    """Fails an answer that uses a word which the database forbids."""

    version = "1"

    def __init__(self, options: TermsOptions) -> None:
        self._options = options
        self._turn = asyncio.Lock()  # trials are graded side by side, and there is one connection

    async def open(self) -> None:
        """Connect and log in; called once, before the first trial. What fails here stops the run before it costs."""
        password = secret(PASSWORD)
        if not password:
            raise _problem("acme.no-password", f"{PASSWORD} is not set", "Set it, or let an extension find it.")
        try:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._options.port)
        except OSError as error:
            message = f"the database of terms is not at port {self._options.port}: {error.strerror}"
            raise _problem("acme.no-database", message, "Start it, or correct the option `port`.") from error
        if await self._ask(f"LOGIN {password}") != "OK":
            message = f"the database of terms refuses the password in {PASSWORD}"
            raise _problem("acme.refused", message, "Ask the owners of the database for it.")

    async def close(self) -> None:
        """Hang up; called once, also when the run was stopped."""
        self._writer.close()
        await self._writer.wait_closed()

    async def score(self, context: ScoreContext) -> Score:
        """Look for each forbidden word."""
        async with self._turn:
            forbidden = (await self._ask(f"FORBIDDEN {self._options.product}")).split(",")
        found = [word for word in forbidden if word in context.answer.text.lower()]
        if found:
            return Score.failed(f"uses {', '.join(found)}", evidence={"forbidden": forbidden})
        return Score.passed()

    async def _ask(self, line: str) -> str:
        self._writer.write(f"{line}\n".encode())
        return (await self._reader.readline()).decode().strip()


def _problem(code: str, message: str, hint: str) -> PluginError:
    return PluginError(Problem(code, message, hint=hint))

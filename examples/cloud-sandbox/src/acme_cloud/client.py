"""The cloud's API: JSON over HTTP, where waiting for a process is a request that is answered late."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import httpx

from skillgauge.api import LaunchError, SpoiledError

CALL_S = 60.0
"""For what is done at once; waiting for a process has no end."""
_RAISED = {"launch": LaunchError, "spoiled": SpoiledError, "value": ValueError, "os": OSError}
"""What the cloud says went wrong with a request that it understood, and what that is here."""


class CloudError(OSError):
    """The cloud cannot be reached, or refuses."""


class Cloud:
    """One connection pool.

    Args:
        url: where the API is.
        token: who we are.
    """

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/",
            headers={"authorization": f"Bearer {token}"},
            timeout=CALL_S,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )
        self._waiting: set[asyncio.Task[httpx.Response]] = set()

    async def ask(self, method: str, path: str, body: object = None, *, waits: bool = False) -> Any:
        """The answer as JSON; `None` if it is empty.

        Raises:
            LaunchError: a process cannot be started.
            SpoiledError: what an agent left is in the way.
            ValueError: a path leaves the workspace.
            OSError: a file cannot be read, or the cloud fails.
        """
        try:
            answer = await (self._late(method, path) if waits else self._http.request(method, path, json=body))
        except httpx.HTTPError as error:
            raise CloudError(f"the cloud does not answer: {type(error).__name__}") from error
        if answer.status_code == 204:
            return None
        if answer.status_code == 422:
            told = answer.json()
            raise _RAISED.get(told["kind"], CloudError)(told["message"])
        if not answer.is_success:
            raise CloudError(f"the cloud answers HTTP {answer.status_code}")
        return answer.json()

    async def close(self) -> None:
        """Hang up, once whoever waits for a process has heard of its end."""
        if self._waiting:
            await asyncio.wait(self._waiting, timeout=CALL_S)
        await self._http.aclose()

    async def _late(self, method: str, path: str) -> httpx.Response:
        """An answer that may take as long as it likes."""
        task = asyncio.create_task(self._http.request(method, path, timeout=None))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return await task


def packed(content: bytes) -> str:
    """Bytes, as they stand in JSON."""
    return base64.b64encode(content).decode()


def unpacked(text: str) -> bytes:
    """Bytes that stood in JSON."""
    return base64.b64decode(text)

"""Images that suites bring themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from skillgauge.api import FileSpec, LaunchError, SandboxSpec, digest, host_environment
from skillgauge_processes import DirectoryWorkspace

from .client import Client

DOCKERFILE = "Dockerfile"
_PATIENCE_S = 20.0


class Images:
    """Builds every image once, however many workspaces want it at the same time.

    Args:
        client: what builds.
        timeout_s: for each.
    """

    def __init__(self, client: Client, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self._locks: dict[str, asyncio.Lock] = {}

    async def built(self, files: Sequence[FileSpec]) -> str:
        """The name of the image of these files, built unless it is there.

        Raises:
            LaunchError: there is no Dockerfile, or it cannot be built.
        """
        if not any(file.path == DOCKERFILE for file in files):
            raise LaunchError(f"the files of an image must have a {DOCKERFILE} among them")
        tag = f"skillgauge-image:{digest([file.content_id for file in files])[:32]}"
        async with self._locks.setdefault(tag, asyncio.Lock()):
            known = await self._client.call("image", "inspect", "--format", "{{.Id}}", tag, timeout_s=_PATIENCE_S)
            if known.code:
                await self._build(tag, files)
        return tag

    async def _build(self, tag: str, files: Sequence[FileSpec]) -> None:
        spec = SandboxSpec(label="image")
        async with DirectoryWorkspace(spec, host_environment(), tier="image") as context:
            await context.put(files)
            place = str(context.root)
            answer = await self._client.call(
                "build", "--tag", tag, "--file", f"{place}/{DOCKERFILE}", place, timeout_s=self._timeout_s
            )
        if answer.code:
            raise LaunchError(f"the image of the {DOCKERFILE} cannot be built: {answer.told}")

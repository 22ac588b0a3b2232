"""A workspace that lies elsewhere: nothing here reads or writes its folders but by the API."""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from skillgauge.api import Command, FileSpec, LaunchError, SandboxSpec, Tier, host_environment

from .client import Cloud, packed, unpacked
from .process import CloudProcess

MOST_BYTES = 64 * 1024 * 1024
"""Of a folder that is copied to the cloud."""


class CloudWorkspace:
    """A context: the workspace is made at its beginning and removed at its end.

    Args:
        cloud: where; closed at the end.
        spec: what it is for.
        tier: what the cloud vouches for.
        lease_s: seconds without a word after which the cloud removes it, should this process die.
    """

    def __init__(self, cloud: Cloud, spec: SandboxSpec, tier: Tier, lease_s: int) -> None:
        self._cloud, self._spec, self._lease_s = cloud, spec, lease_s
        self.tier = f"acme-cloud/{tier}"
        self.routes: Mapping[str, str] = {}
        self._given: dict[str, str] = {}
        """Folder of this machine to its copy there."""

    async def __aenter__(self) -> Self:
        env = {name: value for name in self._spec.pass_env if (value := host_environment().get(name)) is not None}
        body = {"env": {**env, **self._spec.env}, "lease_s": self._lease_s, "keep": self._spec.keep}
        try:
            told = await self._cloud.ask("POST", "workspaces", body)
        except BaseException:
            await self._cloud.close()
            raise
        self._path = f"workspaces/{told['id']}"
        self.root, self.home = Path(told["root"]), Path(told["home"])
        self._living = asyncio.create_task(self._live())
        try:
            for folder in dict.fromkeys((*self._spec.readable, *self._spec.writable)):
                await self._give(folder)
        except BaseException as error:
            await self.__aexit__(type(error), error, None)
            raise
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._living.cancel()
        try:
            await self._cloud.ask("DELETE", self._path)
        finally:
            await self._cloud.close()

    async def start(self, command: Command) -> CloudProcess:
        """Start a process there; folders of this machine that it has to read are copied before."""
        try:
            for folder in command.readable:
                await self._give(folder)
        except OSError as error:
            raise LaunchError(f"cannot be copied to the cloud: {error}") from error
        body: dict[str, Any] = command.model_dump(mode="json", exclude={"stdin", "readable"})
        body["argv"] = [self._there(word) for word in command.argv]
        body["env"] = {name: self._there(str(value)) for name, value in command.env.items()}
        body["cwd"] = self._there(command.cwd) if command.cwd else None
        told = await self._cloud.ask("POST", f"{self._path}/processes", {**body, "stdin": packed(command.stdin)})
        return CloudProcess(self._cloud, f"{self._path}/processes/{told['id']}")

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Write files below the root."""
        listed = await asyncio.to_thread(lambda: [_carried(file) for file in files])
        told = await self._cloud.ask("POST", f"{self._path}/files", {"files": listed, "anew": anew})
        return tuple(told["aside"])

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to content digest of every file below the root."""
        found: dict[str, str] = await self._cloud.ask("GET", f"{self._path}/files")
        return found

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root."""
        told = await self._cloud.ask("POST", f"{self._path}/read", {"path": path, "limit": limit})
        return unpacked(told["content"])

    async def _live(self) -> None:
        """Tell the cloud that somebody still needs the workspace."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            with suppress(OSError):  # the next time may do
                await self._cloud.ask("POST", f"{self._path}/lease")

    async def _give(self, folder: str) -> None:
        """Copy a folder or file to the cloud, once."""
        if any(_is_below(folder, given) for given in self._given):
            return
        archive = await asyncio.to_thread(_archive, Path(folder))
        told = await self._cloud.ask("POST", f"{self._path}/given", {"archive": packed(archive)})
        self._given[folder] = told["folder"]

    def _there(self, text: str) -> str:
        """A path of this machine, or a text that holds some, as the copies are called there."""
        for here in sorted(self._given, key=len, reverse=True):
            text = text.replace(here, self._given[here])
        return text


def _is_below(path: str, folder: str) -> bool:
    return Path(path) == Path(folder) or Path(folder) in Path(path).parents


def _carried(file: FileSpec) -> dict[str, object]:
    content = (file.text or "").encode() if file.source is None else Path(file.source).read_bytes()
    return {"path": file.path, "content": packed(content), "executable": file.executable}


def _archive(path: Path) -> bytes:
    """A folder, or a file, as tar; of its links only those that lead somewhere below it.

    Raises:
        OSError: it cannot be read, or is too large.
    """
    size = sum(one.lstat().st_size for one in path.rglob("*")) if path.is_dir() else path.stat().st_size
    if size > MOST_BYTES:
        raise OSError(f"{path} has more than {MOST_BYTES // 1024**2} MiB")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.add(path, arcname="given")
    return content.getvalue()

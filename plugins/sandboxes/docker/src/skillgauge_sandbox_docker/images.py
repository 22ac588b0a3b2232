"""Images: those that users name, and those that suites bring a Dockerfile for."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillgauge.api import FileSpec, ImagePlan, LaunchError, Origin, Problem, SandboxSpec, digest, host_environment
from skillgauge_processes import DirectoryWorkspace

from .client import Answer, Client
from .dockerfiles import Reading, read_dockerfile
from .options import DockerOptions

DOCKERFILE = "Dockerfile"
_PATIENCE_S = 20.0
_CPU_PERIOD_US = 100_000
_MIB = 1024 * 1024
_BUILD_CPUS = 2.0
"""Processors for the build of a stranger's image where no option says how many."""


@dataclass(frozen=True)
class Image:
    """An image that is there."""

    name: str
    volumes: tuple[str, ...] = ()
    """Folders that would lie on the machine's disk, outside of the workspace."""


class Images:
    """Fetches and builds every image once, however many workspaces want it at the same time.

    Args:
        client: what fetches and builds.
        options: limits, and what a stranger's Dockerfile may be built from.
    """

    def __init__(self, client: Client, options: DockerOptions) -> None:
        self._client = client
        self._options = options
        self._locks: dict[str, asyncio.Lock] = {}
        self._present: dict[str, Image] = {}

    async def fetched(self, name: str) -> Image:
        """Return an image, fetched unless it is there.

        Raises:
            LaunchError: it cannot be had; the message is that of the program.
        """
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name not in self._present and not await self._is_there(name):
                answer = await self._client.call("pull", "--quiet", name, timeout_s=self._options.start_timeout_s)
                if answer.code:
                    raise LaunchError(f"image {name!r} is not here and cannot be fetched: {answer.told}")
            return await self._described(name)

    async def built(self, files: Sequence[FileSpec], *, untrusted: bool) -> Image:
        """Return the image of these files, built unless it is there.

        Args:
            files: a Dockerfile and what it copies.
            untrusted: whether they are a stranger's.

        Raises:
            LaunchError: there is no Dockerfile, it may not be built, or it cannot be.
        """
        dockerfile = await asyncio.to_thread(_Dockerfile.among, files)
        if problems := self._problems(dockerfile) if untrusted else ():
            raise LaunchError("; ".join(problem.message for problem in problems))
        tag = _tag_of(files, untrusted=untrusted)
        async with self._locks.setdefault(tag, asyncio.Lock()):
            if tag not in self._present and not await self._is_there(tag):
                # The text that was read is built, whatever the file says by now.
                read = FileSpec(path=DOCKERFILE, text=dockerfile.text)
                rest = [file for file in files if file.path != DOCKERFILE]
                await self._build(tag, [read, *rest], untrusted=untrusted)
            return await self._described(tag)

    async def planned(self, files: Sequence[FileSpec], *, untrusted: bool) -> ImagePlan:
        """Return what would be built and fetched for these files, and what is against it. Builds and fetches nothing.

        Raises:
            LaunchError: there is no Dockerfile, or the program cannot be asked which images are there.
        """
        dockerfile = await asyncio.to_thread(_Dockerfile.among, files)
        tag = _tag_of(files, untrusted=untrusted)
        bases = tuple(dockerfile.reading.images)
        return ImagePlan(
            name=tag,
            file=dockerfile.place,
            is_there=await self._is_there(tag),
            bases=bases,
            fetched=tuple([base for base in bases if not await self._is_there(base)]),
            removal=f"{shlex.quote(self._client.path)} image rm {tag}",
            problems=self._problems(dockerfile) if untrusted else (),
        )

    def _problems(self, dockerfile: _Dockerfile) -> tuple[Problem, ...]:
        """Return what keeps a stranger's image from being built, each with its place."""
        allowed, images = self._options.build_from, list(dockerfile.reading.images)
        option = shlex.quote(f"sandboxes.docker.build_from={json.dumps(images)}")
        ask = f"If you want it built from {' and '.join(images)}, say so: --set {option}."
        if not allowed:
            message = f"the {DOCKERFILE} of an untrusted suite is built only from images that you name"
            return (dockerfile.problem(message, 1, ask if images else "Do without --untrusted."),)
        return tuple(
            dockerfile.problem(
                f"the {DOCKERFILE} of an untrusted suite {refusal.reason} (line {refusal.line})",
                refusal.line,
                ask if refusal.is_image else "Take that out of the file, or do without --untrusted.",
            )
            for refusal in dockerfile.reading.refusals_for(allowed)
        )

    async def _is_there(self, name: str) -> bool:
        return not (await self._inspect(name, "{{.Id}}")).code

    async def _described(self, name: str) -> Image:
        if name not in self._present:
            answer = await self._inspect(name, "{{json .Config.Volumes}}")
            volumes = tuple(json.loads(answer.stdout) or ()) if not answer.code else ()
            if wrong := [place for place in volumes if not _is_folder(place)]:
                raise LaunchError(f"image {name!r} has a volume at {wrong[0]!r}, which cannot be limited; use another")
            self._present[name] = Image(name, volumes)
        return self._present[name]

    async def _inspect(self, name: str, form: str) -> Answer:
        return await self._client.call("image", "inspect", "--format", form, name, timeout_s=_PATIENCE_S)

    async def _build(self, tag: str, files: Sequence[FileSpec], *, untrusted: bool) -> None:
        spec = SandboxSpec(label="image")
        async with DirectoryWorkspace(spec, host_environment(), tier="image") as context:
            await context.put(files)
            place = str(context.root)
            words = [*self._build_limits(untrusted=untrusted), "--tag", tag, "--file", f"{place}/{DOCKERFILE}", place]
            # BuildKit heeds no limit of memory and processors; Docker's other builder does.
            env = {"DOCKER_BUILDKIT": "0"} if untrusted else {}
            answer = await self._client.call("build", *words, timeout_s=self._options.build_timeout_s, env=env)
        if answer.code:
            raise LaunchError(f"the image of the {DOCKERFILE} cannot be built: {answer.told}")

    def _build_limits(self, *, untrusted: bool) -> list[str]:
        options, cpus = self._options, self._options.cpus or (_BUILD_CPUS if untrusted else None)
        words = ["--memory", f"{options.memory_mb}m", "--memory-swap", f"{options.memory_mb}m"]
        words += ["--ulimit", f"fsize={options.file_mb * _MIB}"]
        if cpus is not None:
            words += ["--cpu-period", str(_CPU_PERIOD_US), "--cpu-quota", str(int(cpus * _CPU_PERIOD_US))]
        return [*words, "--network", "none"] if untrusted else words


@dataclass(frozen=True)
class _Dockerfile:
    """The Dockerfile of an image."""

    place: str
    text: str
    reading: Reading

    @classmethod
    def among(cls, files: Sequence[FileSpec]) -> _Dockerfile:
        """Find and read it. Raises `LaunchError` if there is none that can be read."""
        file = next((file for file in files if file.path == DOCKERFILE), None)
        if file is None:
            raise LaunchError(f"the files of an image must have a {DOCKERFILE} among them")
        text = file.text
        if text is None:
            try:
                text = Path(str(file.source)).read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise LaunchError(f"{file.source} cannot be read: {error}") from error
        return cls(file.source or DOCKERFILE, text, read_dockerfile(text))

    def problem(self, message: str, line: int, hint: str) -> Problem:
        """Return a problem with its place."""
        return Problem("sandbox.untrusted-image", message, origin=Origin(self.place, place=(line, 1)), hint=hint)


def _tag_of(files: Sequence[FileSpec], *, untrusted: bool) -> str:
    """Name an image by its content. One that was built with the network on is none for an untrusted run."""
    kind = "untrusted" if untrusted else "image"
    return f"skillgauge-{kind}:{digest([file.content_id for file in files])[:32]}"


def _is_folder(place: str) -> bool:
    path = PurePosixPath(place)
    return path.is_absolute() and len(path.parts) > 1 and ".." not in path.parts and not set(place) & set(",:\n")

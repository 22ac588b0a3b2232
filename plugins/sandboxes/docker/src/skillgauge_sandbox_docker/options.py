"""Options that a user may set."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import MACHINE_PLACE, Frozen


def _mountable(path: str) -> str:
    pure = PurePosixPath(path)
    if not pure.is_absolute() or len(pure.parts) == 1 or ".." in pure.parts:
        raise ValueError(f"{path!r} must be the absolute path of something below /")
    return str(pure)


def _image(name: str) -> str:
    if not _IMAGE.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an image")
    return name


_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@+-]*", re.ASCII)
OutsidePath = Annotated[str, AfterValidator(_mountable), Field(json_schema_extra=MACHINE_PLACE)]


class DockerOptions(Frozen):
    """Options of `docker`."""

    program: str | None = Field(
        default=None,
        min_length=1,
        description="Command line to use, a name or a path; default: docker, else podman.",
        json_schema_extra=MACHINE_PLACE,
    )
    image: Annotated[str, AfterValidator(_image)] = Field(
        default="python:3.12-slim", min_length=1, description="Image of a workspace whose suite brings no Dockerfile."
    )
    network: bool = Field(
        default=False,
        description="Leave the container's network on even where a workspace wants none. The tier is `partial` then.",
    )
    readable: tuple[OutsidePath, ...] = Field(
        default=(), description="Further paths that every process may read. The tier is `partial` then."
    )
    writable: tuple[OutsidePath, ...] = Field(
        default=(), description="Further paths that every process may write to. The tier is `partial` then."
    )
    build_from: tuple[Annotated[str, AfterValidator(_image)], ...] = Field(
        default=(),
        description="Images that a suite's Dockerfile may be built from with --untrusted; without any it is not built.",
    )
    memory_mb: int = Field(default=4096, ge=16, description="Memory of a workspace, in MiB; it gets no swap.")
    cpus: float | None = Field(default=None, gt=0, description="Processors that a workspace may use at a time.")
    processes: int = Field(default=512, ge=8, le=100_000, description="Processes and threads at a time.")
    file_mb: int = Field(default=1024, ge=1, description="Largest file that a process may write, in MiB.")
    disk_mb: int = Field(default=4096, ge=1, description="What a workspace may hold on disk, in MiB.")
    tmp_mb: int = Field(default=256, ge=1, description="Size of /tmp and of each volume that an image has, in MiB.")
    relay_requests: int = Field(
        default=10_000, ge=1, description="Requests and connections that a workspace may make through its relay."
    )
    relay_mb: int = Field(
        default=1024, ge=1, description="What a workspace may send and receive through its relay, in MiB."
    )
    start_timeout_s: float = Field(
        default=300.0, gt=0, le=86_400, description="Seconds until a container must run, its image fetched."
    )
    build_timeout_s: float = Field(
        default=1800.0, gt=0, le=86_400, description="Seconds until the image of a Dockerfile must be built."
    )

    @property
    def opens(self) -> bool:
        """True if anything outside is within reach that the sandbox closes otherwise."""
        return bool(self.network or self.readable or self.writable)

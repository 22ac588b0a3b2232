"""The options of the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import MACHINE_PLACE, Frozen


def _absolute(path: str) -> str:
    absolute = Path(path).expanduser()
    if not absolute.is_absolute():
        raise ValueError(f"{path!r} must be absolute, or begin with ~")
    if len(absolute.parts) == 1:
        raise ValueError("/ would leave nothing confined; name the folders that are needed")
    return str(absolute)


OutsidePath = Annotated[str, AfterValidator(_absolute)]


class BubblewrapOptions(Frozen):
    """Options of `bubblewrap`."""

    network: bool = Field(
        default=False,
        description="Leave the network on even where a workspace wants none. The tier is `partial` then.",
    )
    readable: tuple[OutsidePath, ...] = Field(
        default=(),
        description="Further paths that every process may read. The tier is `partial` then.",
        json_schema_extra=MACHINE_PLACE,
    )
    writable: tuple[OutsidePath, ...] = Field(
        default=(),
        description="Further paths that every process may write to. The tier is `partial` then.",
        json_schema_extra=MACHINE_PLACE,
    )
    processes: int = Field(default=512, ge=8, le=100_000, description="Processes and threads at a time.")
    memory_mb: int = Field(default=4096, ge=64, description="Memory of a workspace, or of each process, in MiB.")
    cpu_s: int | None = Field(default=None, ge=1, description="Processor seconds of each process.")
    file_mb: int = Field(default=1024, ge=1, description="Largest file that a process may write, in MiB.")
    disk_mb: int = Field(default=4096, ge=1, description="What a workspace may hold on disk, in MiB.")
    tmp_mb: int = Field(default=256, ge=1, description="Size of /tmp and of /dev/shm, in MiB each.")
    relay_requests: int = Field(
        default=10_000, ge=1, description="Requests and connections that a workspace may make through its relay."
    )
    relay_mb: int = Field(
        default=1024, ge=1, description="What a workspace may send and receive through its relay, in MiB."
    )

    @property
    def opens(self) -> bool:
        """True if anything outside is within reach that the sandbox closes otherwise."""
        return bool(self.network or self.readable or self.writable)

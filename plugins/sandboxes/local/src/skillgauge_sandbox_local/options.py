"""Options of the sandbox."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class LocalOptions(Frozen):
    """Options of `local`."""

    disk_mb: int = Field(default=4096, ge=1, description="Most that a workspace may hold on disk, in MiB.")

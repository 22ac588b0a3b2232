"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class QueueOptions(Frozen):
    """Options of `acme-queue`."""

    listen: str = Field(
        default="127.0.0.1:0",
        pattern=r"^\S+:\d+$",
        description="HOST:PORT at which workers dial in; port 0: any that is free.",
    )
    workers: int = Field(
        default=2,
        ge=0,
        description="Workers to start on this machine; 0: all come from elsewhere.",
    )

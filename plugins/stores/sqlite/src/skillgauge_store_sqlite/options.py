"""The options of the store."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class SqliteOptions(Frozen):
    """Options of the store `sqlite`."""

    location: str = Field(
        default="./skillgauge.db",
        description="Path of the database file; made, readable by its owner only, when the first run begins. Its "
        "folder must exist.",
    )

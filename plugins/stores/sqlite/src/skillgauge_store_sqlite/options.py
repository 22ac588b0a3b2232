"""What a user can set."""

from __future__ import annotations

from skillgauge.api import Frozen


class SqliteOptions(Frozen):
    """Options of the store `sqlite`."""

    location: str = "./skillgauge.db"
    """Path of the database file; made, readable by its owner only, when the first run begins. Its folder must exist."""

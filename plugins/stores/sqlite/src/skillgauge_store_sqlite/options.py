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
    group_access: bool = Field(
        default=False,
        description="Let the group of the folder work with a database that is made now: files of mode 0660. Its folder "
        "must give new files its group (`chmod g+ws FOLDER`), and must be closed to others.",
    )

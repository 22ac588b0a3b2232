"""The contract of stores, against a real server."""

from __future__ import annotations

from itertools import count
from uuid import uuid4

import pytest

from postgres_servers import PostgresServer
from skillgauge_testkit import STORES, Maker, check_light_import, check_plugin, check_store

MODULE = "skillgauge_store_postgres.plugin"


@pytest.mark.postgres
def test_store(postgres_server: PostgresServer) -> None:
    """What is committed stays, runs are resumed and kept apart, and all can be read again."""
    numbers, prefix = count(), f"contract_{uuid4().hex[:8]}"
    check_store(Maker(STORES, MODULE), lambda: postgres_server.create(f"{prefix}_{next(numbers)}"))


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "stores")
    check_light_import(MODULE)

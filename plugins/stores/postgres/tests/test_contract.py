"""The contract of stores, against a real server."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

import skillgauge
from postgres_servers import PostgresServer
from skillgauge_testkit import STORES, Maker, check_light_import, check_plugin, check_store

MODULE = "skillgauge_store_postgres.plugin"


@pytest.mark.slow
@pytest.mark.postgres
def test_store(postgres_server: PostgresServer) -> None:
    """What is committed stays, runs are resumed and kept apart, and all can be read again."""
    numbers, prefix = count(), f"contract_{uuid4().hex[:8]}"
    check_store(Maker(STORES, MODULE), lambda: postgres_server.create(f"{prefix}_{next(numbers)}"))


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "stores")
    check_light_import(MODULE)


@pytest.mark.postgres
def test_records_of_its_runs(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    """`skillgauge.runs` takes the address, and gives what it gives of the run in memory."""
    monkeypatch.setenv("HOME", environment["HOME"])
    monkeypatch.chdir(tmp_path)
    example = Path(__file__).parents[4] / "examples/agent"
    run = skillgauge.evaluate(
        example / "release-notes/evals/evals.json",
        engine="mock",
        options={"engines.mock.script": str(example / "release-notes.mock.yaml")},
        sandbox="local",
        store=(address := postgres_server.create(f"records_{uuid4().hex[:8]}")),
    )
    stored = skillgauge.runs(address)
    assert list(stored.trials()) == list(skillgauge.runs(run).trials())
    assert [row["is_own"] for row in stored] == [True]

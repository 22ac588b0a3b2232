"""The page on a team's database: its commands and its SQL run as they stand, against a server of the test's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import postgres_servers
from postgres_servers import PostgresServer
from skillgauge_testkit.program import Program

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/team-database.md"


@pytest.mark.slow
@pytest.mark.postgres
def test_a_team_shares_one_history(
    own_postgres_server: PostgresServer, program: Program, work: Path, environment: dict[str, str]
) -> None:
    """Roles, tables, runs of CI, a reader who cannot write, retention, a dump that is restored, and the way out."""
    roles, retention = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (work / "roles.sql").write_text(roles)
    (work / "retention.sql").write_text(retention)
    shutil.copytree(ROOT / "examples/skills/calculator", work / "calculator")
    for _ in range(2):
        assert program("eval", "calculator", "--sandbox", "local").code == 0
    old, new = (run["run"]["run_id"] for run in program("history", "list", "--json").document["runs"][::-1])
    aged = "UPDATE skillgauge.runs SET started_at = started_at - 400 * 86400 WHERE run_id = "
    environment |= {
        "PATH": f"{postgres_servers.programs()}{os.pathsep}{environment['PATH']}",
        "PGHOST": own_postgres_server.socket,
        "PGPORT": str(own_postgres_server.port),
        "PGUSER": postgres_servers.USER,
        "SKILLGAUGE_SANDBOX": "local",
    }
    lines = (Path(__file__).with_name("team_database.sh")).read_text("utf-8").splitlines()
    for line in lines:
        if line.startswith("psql") and "retention" in line:
            own_postgres_server.psql(f"{aged}'{old}'", "evals")
        done = subprocess.run(
            ["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    refused = program("eval", "calculator", "--store", "postgresql://alice@/evals")
    assert refused.code == 2
    assert "store.not-allowed" in refused.stderr
    for store in ("postgresql:///evals_restored", "evals.db"):
        listed = program("history", "list", "--json", "--store", store)
        kept = [run["run"]["run_id"] for run in listed.document["runs"]]
        assert len(kept) == 2
        assert kept[-1] == new
        assert "not signed with your key" not in listed.stderr
    originals = program("report", "show", new, "--store", "skillgauge.db", "--json").document
    for store in ("postgresql://alice@/evals", "evals.db"):
        assert program("report", "show", new, "--store", store, "--json").document == originals
    again = program("store", "copy", "skillgauge.db", "postgresql:///evals", "--json").document
    assert (again["copied"], again["present"]) == ([old], [new])

"""The page on a team's database: its commands and its SQL run as they stand, against a server of the test's own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import postgres_servers
from postgres_servers import PostgresServer
from skillgauge_testkit.program import PROGRAM, Program

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/team-database.md"


def variables(server: PostgresServer, environment: Mapping[str, str]) -> dict[str, str]:
    """What has PostgreSQL's programs found, and has them and the store find the server."""
    return {
        "PATH": f"{postgres_servers.programs()}{os.pathsep}{environment['PATH']}",
        "PGHOST": server.socket,
        "PGPORT": str(server.port),
        "PGUSER": postgres_servers.USER,
        "SKILLGAUGE_SANDBOX": "local",
    }


def play(line: str, work: Path, environment: Mapping[str, str]) -> None:
    """Run a line of a script; it has to come to a good end."""
    done = subprocess.run(
        ["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.postgres
def test_a_team_shares_one_history(
    own_postgres_server: PostgresServer, program: Program, work: Path, environment: dict[str, str]
) -> None:
    """Roles, tables, runs of CI, a reader who cannot write, retention, a dump that is restored, and the way out."""
    roles, *looks, retention = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (work / "roles.sql").write_text(roles)
    (work / "looks.sql").write_text("".join(looks))
    assert "budget_shares" in looks[0]
    assert "service_shares" in looks[1]
    (work / "retention.sql").write_text(retention)
    shutil.copytree(ROOT / "examples/skills/calculator", work / "calculator")
    for _ in range(2):
        assert program("eval", "calculator", "--sandbox", "local").code == 0
    old, new = (run["run"]["run_id"] for run in program("history", "list", "--json").document["runs"][::-1])
    aged = "UPDATE skillgauge.runs SET started_at = started_at - 400 * 86400 WHERE run_id = "
    environment |= variables(own_postgres_server, environment)
    lines = (Path(__file__).with_name("team_database.sh")).read_text("utf-8").splitlines()
    for line in lines:
        if line.startswith("psql") and "retention" in line:
            own_postgres_server.psql(f"{aged}'{old}'", "evals")
        play(line, work, environment)
    play("psql --set ON_ERROR_STOP=1 --username alice --dbname evals --file looks.sql", work, environment)
    refused = program("eval", "calculator", "--store", "postgresql://alice@/evals")
    assert refused.code == 2
    assert "store.not-allowed" in refused.stderr
    for store in ("postgresql:///evals_restored", "evals.db"):
        listed = program("history", "list", "--json", "--store", store)
        kept = [run["run"]["run_id"] for run in listed.document["runs"]]
        assert len(kept) == 3
        assert kept[-1] == new
        assert "not signed with your key" not in listed.stderr
    originals = program("report", "show", new, "--store", "skillgauge.db", "--json").document
    for store in ("postgresql://alice@/evals", "evals.db"):
        assert program("report", "show", new, "--store", store, "--json").document == originals
    again = program("store", "copy", "skillgauge.db", "postgresql:///evals", "--json").document
    assert (again["copied"], again["present"]) == ([old], [new])


STOPS = """
import pathlib, time
with open("{work}/calls.log", "a") as log:
    log.write("call\\n")
while not pathlib.Path("{work}/go").exists() and pathlib.Path("{work}/calls.log").read_text().count("call") > 5:
    time.sleep(0.05)
"""
"""Before the skill's own code: its sixth call waits until it is told to go on."""


@pytest.mark.slow
@pytest.mark.postgres
def test_a_run_of_a_dump_goes_on_where_it_was_restored(
    own_postgres_server: PostgresServer, program: Program, work: Path, environment: dict[str, str]
) -> None:
    """A dump that is made while a run goes on holds what was finished by then, and the restored run repeats none."""
    skill = work / "calculator"
    shutil.copytree(ROOT / "examples/skills/calculator", skill)
    code = skill / "skill.py"
    code.write_text(STOPS.format(work=work) + code.read_text().replace("from __future__ import annotations\n", ""))
    environment |= variables(own_postgres_server, environment)
    play("createdb --encoding UTF8 --template template0 evals", work, environment)
    command = [str(PROGRAM), "eval", "calculator", "--store", "postgresql:///evals", "--concurrency", "1"]
    under_way = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 100
        while (done := _committed(own_postgres_server)) < 5:
            assert under_way.poll() is None, under_way.communicate()[0].decode()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        play("pg_dump --format custom --file evals.dump evals", work, environment)
    finally:
        under_way.send_signal(signal.SIGKILL)
        under_way.communicate()
    play("createdb --encoding UTF8 --template template0 evals_restored", work, environment)
    play("pg_restore --dbname evals_restored evals.dump", work, environment)
    (work / "go").touch()
    before = (work / "calls.log").read_text().count("call")
    resumed = program("eval", "calculator", "--store", "postgresql:///evals_restored", "--concurrency", "1", "--json")
    assert resumed.code == 0, resumed.stderr
    assert f"done before the interruption and not run again: {done} trials" in resumed.stderr
    whole = resumed.document["summary"]["counts"]["total"]
    assert (work / "calls.log").read_text().count("call") - before == whole - done


def _committed(server: PostgresServer) -> int:
    """The number of results in the database; 0 while it has no tables."""
    there = server.psql("SELECT to_regclass('skillgauge.results') IS NOT NULL", "evals").strip()
    return int(server.psql("SELECT count(*) FROM skillgauge.results", "evals")) if there == "t" else 0

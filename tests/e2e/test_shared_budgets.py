"""A budget that the runs of a team spend together, through whole programs at the same time."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from postgres_servers import PostgresServer
from skillgauge.api import BudgetShare, SharedBudget
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore
from skillgauge_testkit.contract import samples
from skillgauge_testkit.program import PROGRAM, Program

PLUGIN = Path(__file__).parent / "agent_suites.py"
RUNS, CASES, USD = 3, 4, 7
"""Programs at once, cases of each, and dollars for all: a session costs one, and each case has two."""


@pytest.fixture
def suite(work: Path) -> Callable[[str], Path]:
    """Write a suite of its own name."""

    def write(name: str) -> Path:
        (work / "skills" / "pdf").mkdir(parents=True, exist_ok=True)
        (work / "skills" / "pdf" / "SKILL.md").write_text(
            "---\nname: pdf\ndescription: Makes PDF files.\n---\nDo it.\n"
        )
        cases = [{"id": f"{name}{number}", "prompt": "x", "says": "done"} for number in range(CASES)]
        path = work / f"{name}.agents.json"
        path.write_text(json.dumps({"skill": "skills/pdf", "cases": cases}))
        return path

    return write


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, work: Path) -> str:
    """An empty store."""
    if request.param == "sqlite":
        return str(work / "runs.db")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create(f"budgets_{uuid4().hex[:12]}")


@pytest.mark.slow
@pytest.mark.e2e
def test_workers_leave_it_to_the_first_process(program: Program, suite: Callable[[str], Path]) -> None:
    """They have no store, and so nothing to count with."""
    words = ["--plugin", PLUGIN, "--engine", "paid", "--executor", "processes", "--json", "--store", "runs.db"]
    done = program("eval", *words, suite("s"), env={"SKILLGAUGE_BUDGET_USD": "3"})
    assert (done.code, len(done.document["results"])) == (4, 3), done.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_programs_at_once_spend_it_together(
    program: Program, suite: Callable[[str], Path], place: str, work: Path
) -> None:
    """To the dollar; each is told why it ended, and goes on once there is more."""
    env = {**program.environment, "SKILLGAUGE_BUDGET_NAME": "nightly"}
    words = ["--plugin", str(PLUGIN), "--json", "--store", place, "--engine", "paid"]

    def carried_out(usd: int) -> list[subprocess.CompletedProcess[str]]:
        commands = [[PROGRAM, "eval", *words, str(suite(f"s{number}"))] for number in range(RUNS)]
        running = [
            subprocess.Popen(
                command,
                cwd=work,
                env={**env, "SKILLGAUGE_BUDGET_USD": str(usd)},
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for command in commands
        ]
        ended = [(one, *one.communicate(timeout=120)) for one in running]
        return [subprocess.CompletedProcess([], one.returncode, out, errors) for one, out, errors in ended]

    first = carried_out(USD)
    counts = [len(json.loads(one.stdout)["results"]) for one in first]
    assert sum(counts) == USD, [one.stderr for one in first]
    for one, count in zip(first, counts, strict=True):
        assert one.returncode == (0 if count == 2 * CASES else 4), one.stderr
        if one.returncode:
            assert "budget 'nightly', which runs of this store share, is used up: 7.00 of 7.00 USD" in one.stderr
    second = carried_out(RUNS * 2 * CASES)
    assert [one.returncode for one in second] == [0] * RUNS, [one.stderr for one in second]
    assert [len(json.loads(one.stdout)["results"]) for one in second] == [2 * CASES] * RUNS


@pytest.mark.slow
@pytest.mark.e2e
def test_a_run_that_waits_can_be_interrupted(program: Program, suite: Callable[[str], Path], work: Path) -> None:
    """While a session of another run, of unknown cost, keeps it from beginning."""

    async def busy() -> tuple[int, str]:
        store = SqliteStore(SqliteOptions(location=str(work / "runs.db")))
        run_id = (await store.begin(samples.head(), fresh=False)).info.run_id
        budget = SharedBudget(name="team", usd=5.0)
        assert (await store.hold(budget, run_id, BudgetShare(sessions=1), must_fit=True)).fits
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "eval", "--plugin", PLUGIN, "--engine", "paid", "--store", "runs.db", suite("s")),
            cwd=work,
            env={**program.environment, "SKILLGAUGE_BUDGET_USD": "5"},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        assert process.stderr is not None
        while b"0/8 trials" not in await process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        errors = await process.stderr.read()
        code = await process.wait()
        await store.close()
        return code, errors.decode()

    code, errors = asyncio.run(asyncio.wait_for(busy(), 60))
    assert (code, "interrupted: 0 of 8 trials are done" in errors) == (130, True), errors


@pytest.mark.e2e
def test_a_store_that_cannot_count_is_refused(program: Program, suite: Callable[[str], Path]) -> None:
    """Before anything is paid; and so is an engine that does not tell what it costs."""
    env = {"SKILLGAUGE_BUDGET_USD": "5", "SKILLGAUGE_BUDGET_NAME": "nightly"}
    words = ["--plugin", PLUGIN, "--engine", "paid", "--set", 'engines.paid.tells=["usage"]']
    done = program("eval", *words, "--store", "none", suite("s"), env=env)
    assert done.code == 2
    assert "the store keeps no shared budgets, so budget 'nightly' cannot be enforced" in done.stderr
    assert "engine 'paid' does not report what it costs, so budget 'nightly' cannot be enforced" in done.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SKILLGAUGE_BUDGET_NAME": "two words"}, "budget.name is 'two words'"),
        ({"SKILLGAUGE_BUDGET_PERIOD": "week"}, "budget.period must be day or month or none, not 'week'"),
        ({"SKILLGAUGE_BUDGET_USD": "-1"}, "budget.usd must be at least 0, not -1"),
    ],
)
def test_a_budget_that_is_none(
    program: Program, suite: Callable[[str], Path], variables: dict[str, str], message: str
) -> None:
    """Its values are checked before anything runs."""
    words = ["--plugin", PLUGIN, "--engine", "paid", "--store", "none"]
    done = program("eval", *words, suite("s"), env={"SKILLGAUGE_BUDGET_USD": "5", **variables})
    assert done.code == 2
    assert message in done.stderr

"""A service that bears so many sessions of a team at once, through whole programs at the same time."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from postgres_servers import PostgresServer
from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import PROGRAM, Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PLUGIN = Path(__file__).parent / "agent_suites.py"
FINE = ModelReply("all is well")
CASES, LIMIT = 8, 2


@pytest.fixture
def suite(work: Path) -> Callable[[str], Path]:
    """Write a suite of its own name; each case passes if the agent answers at all well."""

    def write(name: str) -> Path:
        skill = work / "skills" / "calm"
        skill.mkdir(parents=True, exist_ok=True)
        (skill / "SKILL.md").write_text("---\nname: calm\ndescription: Keeps calm.\n---\nKeep calm.\n")
        cases = [{"id": f"{name}{n}", "prompt": f"How is guest {name}{n}?", "says": "well"} for n in range(CASES)]
        path = work / f"{name}.agents.json"
        path.write_text(json.dumps({"skill": "skills/calm", "cases": cases}))
        return path

    return write


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, work: Path) -> str:
    """An empty store."""
    if request.param == "sqlite":
        return str(work / "runs.db")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create(f"services_{uuid4().hex[:12]}")


class Service:
    """A service that takes a while, and counts who is there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def __call__(self, _request: ModelRequest) -> ModelReply:
        """Answer."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.15)  # the service at work
        with self._lock:
            self._now -= 1
        return FINE


def words_of(server: ModelServer, place: str, *more: str) -> list[str]:
    """The words of a command that asks a server, from its name on."""
    base = f"engines.api.base_url={server.url}/v1"
    words = [PROGRAM, "eval", "--plugin", str(PLUGIN), "--engine", "api", "--model", "m1", "--no-baseline"]
    return [*words, "--set", base, "--set", "engines.api.tools=false", "--json", "--store", place, "-j", "4", *more]


def carried_out(
    commands: Sequence[Sequence[str]], program: Program, work: Path, server: ModelServer
) -> list[tuple[int, dict[str, object], str]]:
    """Run programs at the same time, with a limit of the server; what each of them answered."""
    limit = {"SKILLGAUGE_SERVICE_LIMITS": f"elsewhere.example=1,{urlsplit(server.url).netloc}={LIMIT}"}
    running = [
        subprocess.Popen(
            command,
            cwd=work,
            env={**program.environment, **limit},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for command in commands
    ]
    ended = [(one, *one.communicate(timeout=120)) for one in running]
    return [(one.returncode, json.loads(out or "{}"), errors) for one, out, errors in ended]


def test_programs_at_once_share_the_places(
    program: Program, suite: Callable[[str], Path], place: str, work: Path
) -> None:
    """Each with four of its own, and in another process than the sessions are run in; nothing is left occupied."""
    service = Service()
    with ModelServer(service) as server:
        commands = [
            [*words_of(server, place), str(suite("one"))],
            [*words_of(server, place, "--executor", "processes"), str(suite("two"))],
        ]
        ended = carried_out(commands, program, work, server)
        assert [code for code, _, _ in ended] == [0, 0], ended
        assert len(server.requests) == 2 * CASES
        assert service.most <= LIMIT
        (again,) = carried_out([[*words_of(server, place, "--fresh"), str(suite("one"))]], program, work, server)
    assert again[0] == 0
    assert service.most == LIMIT


def test_a_pause_holds_for_all(program: Program, suite: Callable[[str], Path], place: str, work: Path) -> None:
    """One program is asked to wait; the other, which begins meanwhile, asks the service nothing."""
    times: list[float] = []

    def service(request: ModelRequest) -> ModelReply:
        times.append(time.monotonic())
        first = len(times) == 1
        return ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "6"}) if first else FINE

    with ModelServer(service) as server:
        one, two = ([*words_of(server, place, "-j", "1"), str(suite(name))] for name in ("one", "two"))
        ended: list[tuple[int, dict[str, object], str]] = []
        first = threading.Thread(target=lambda: ended.extend(carried_out([one], program, work, server)))
        first.start()
        while not times:
            time.sleep(0.01)
        ended += carried_out([two], program, work, server)
        first.join()
    assert [code for code, _, _ in ended] == [0, 0], ended
    assert times[1] - times[0] >= 5.9


@pytest.mark.parametrize(("limit", "named"), [("api.example", "'api.example'"), ("api.example=0", "'api.example=0'")])
def test_a_limit_that_is_none(program: Program, suite: Callable[[str], Path], limit: str, named: str) -> None:
    """It is refused before anything runs, with all others."""
    words = ["--plugin", PLUGIN, "--engine", "api", "--model", "m1"]
    done = program("eval", *words, suite("s"), env={"SKILLGAUGE_SERVICE_LIMITS": f"{limit},=4"})
    assert done.code == 2
    assert f"serviceLimits has {named}" in done.stderr
    assert "serviceLimits has '=4'" in done.stderr
    assert "Write HOST=NUMBER" in done.stderr


def test_a_store_that_does_not_count_is_refused(program: Program, suite: Callable[[str], Path]) -> None:
    """Before anything is paid."""
    words = ["--plugin", PLUGIN, "--engine", "api", "--model", "m1", "--store", "none"]
    done = program("eval", *words, suite("s"), env={"SKILLGAUGE_SERVICE_LIMITS": "api.example=4"})
    assert done.code == 2
    assert "the store does not count the sessions of several runs, so serviceLimits cannot be kept" in done.stderr

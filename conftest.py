"""Settings and fixtures of the tests of all members: agent programs of `make engines`, a Docker daemon, PostgreSQL.

Under CI a skipped test of an engine fails the run: there the programs are installed, so nothing excuses it. The same
holds for tests of containers and of PostgreSQL where CI can install what they need.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import docker_daemons
import postgres_servers
from docker_daemons import DockerDaemon
from postgres_servers import PostgresServer

FEW_EXAMPLES = 20

# How long an example may take depends on what else the machine does, so no test may.
settings.register_profile("skillgauge", deadline=None)
# `make test` tries some examples; `make slow` runs the same tests with all of them (--hypothesis-profile).
settings.register_profile("fast", settings.get_profile("skillgauge"), max_examples=FEW_EXAMPLES)
# By hand, after a change of formats: ten times as many examples.
settings.register_profile("long", settings.get_profile("skillgauge"), max_examples=1000)
settings.load_profile("skillgauge")

# Who starts the tests in the background has signals ignored, and what tests start would inherit that.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(_number, _handler)

pytest_plugins = ["skillgauge_testkit.fixtures", "pytester"]

PROGRAMS = Path(__file__).parent / ".engines/node_modules/.bin"


@pytest.fixture(scope="session")
def agent_program() -> Callable[[str], Path]:
    """Finds an agent's program by its name; the test is skipped where it is not installed."""

    def find(name: str) -> Path:
        path = PROGRAMS / name
        if not path.exists():
            pytest.skip(f"{name} is not installed: make engines")
        return path

    return find


@pytest.fixture(scope="session")
def docker_daemon() -> Iterator[DockerDaemon]:
    """Use a Docker daemon of the tests' own; the test is skipped where none can be started."""
    if why := docker_daemons.missing():
        pytest.skip(why)
    with docker_daemons.shared_daemon(Path(os.environ[docker_daemons.VARIABLE])) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Use a PostgreSQL server of the tests' own; the test is skipped where none can be started.

    It is shared: make a database with `create`, and neither stop it nor change its roles.
    """
    if why := postgres_servers.missing():
        pytest.skip(why)
    with postgres_servers.shared_server(Path(os.environ[postgres_servers.VARIABLE])) as server:
        yield server


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test alone, which it may stop and start; skipped where none can be started."""
    if why := postgres_servers.missing():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="skillgauge-pg-") as folder:
        Path(folder).chmod(0o711)  # the server is another user's, if root runs the tests
        with postgres_servers.server(Path(folder, "server")) as server:
            yield server


UNTIL = "TESTS_UNTIL"
"""Variable with the second since the epoch after which no further test begins. A CI that is cut off reports nothing, so
`.ci/run` sets it for the slow tests: on a slow machine the last of them are left out, and named."""
_NO_TIME = "no time was left"

_INSTALLED_BY_CI = frozenset(("containers", "postgres"))
"""Marks of tests whose services `make containers` and `make postgres` install, as root from Debian's packages."""


def _must_run(report: pytest.TestReport) -> bool:
    """Tell whether CI has what a test needs: programs from npm always, a service where it can be installed."""
    has_packages = os.name == "posix" and os.getuid() == 0 and shutil.which("apt-get") is not None
    needs_npm = "engine" in report.keywords or "collector" in report.keywords
    return needs_npm or (has_packages and not _INSTALLED_BY_CI.isdisjoint(report.keywords))


def _is_late(report: pytest.TestReport) -> bool:
    return _NO_TIME in str(report.longrepr)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Leave a test out that would begin too late."""
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip(_NO_TIME)


class NoSkippedTests:
    """Collects skipped tests that could have run here, names them, and fails the session."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the test."""
        if report.skipped and _must_run(report) and not hasattr(report, "wasxfail") and not _is_late(report):
            self.skipped.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn success into failure."""
        if self.skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which and why it matters."""
        if self.skipped:
            terminalreporter.section("tests that CI must not skip", red=True)
            for name in self.skipped:
                terminalreporter.line(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while thousands of tests are made, which all stay, and never among them afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Choose folders of services, and watch under CI; a worker of pytest-xdist has the folders, and none to watch."""
    if hasattr(config, "workerinput"):
        return
    daemon, server = (Path(tempfile.gettempdir(), f"skillgauge-{name}-{os.getpid()}") for name in ("docker", "pg"))
    os.environ[docker_daemons.VARIABLE], os.environ[postgres_servers.VARIABLE] = str(daemon), str(server)
    config.add_cleanup(lambda: docker_daemons.await_end(daemon))
    config.add_cleanup(lambda: postgres_servers.await_end(server))
    if os.environ.get("CI"):
        config.pluginmanager.register(NoSkippedTests(), "no-skipped-tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which services ran, and which tests did not."""
    late = [report.nodeid for report in terminalreporter.stats.get("skipped", ()) if _is_late(report)]
    if late:
        terminalreporter.section(f"{len(late)} tests did not run: {_NO_TIME}", yellow=True)
        for name in late:
            terminalreporter.line(name)
    if version := docker_daemons.version_of(Path(os.environ[docker_daemons.VARIABLE])):
        terminalreporter.line(f"Docker daemon {version} was started for these tests")
    if version := postgres_servers.version_of(Path(os.environ[postgres_servers.VARIABLE])):
        terminalreporter.line(f"PostgreSQL {version} was started for these tests")


@pytest.hookimpl(optionalhook=True)  # the plugin that asks may be blocked
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half as many again as there are processors: for much of their time tests wait for processes and servers."""
    return (3 * (os.cpu_count() or 1) + 1) // 2

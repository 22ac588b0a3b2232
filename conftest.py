"""Settings and fixtures of the tests of all members: agent programs that `make engines` installs, a Docker daemon.

Under CI a skipped test of an engine fails the run: there the programs are installed, so nothing excuses it. The same
holds for tests of containers where CI can start a daemon.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import docker_daemons
from docker_daemons import DockerDaemon

FEW_EXAMPLES = 20

# How long an example may take depends on what else the machine does, so no test may.
settings.register_profile("skillgauge", deadline=None)
# `make test` tries some examples; `make slow` runs the same tests with all of them (--hypothesis-profile).
settings.register_profile("fast", settings.get_profile("skillgauge"), max_examples=FEW_EXAMPLES)
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


def _must_run(report: pytest.TestReport) -> bool:
    """Tell whether CI has what a test needs: agent programs always, a daemon where `make containers` installs it."""
    has_packages = os.name == "posix" and os.getuid() == 0 and shutil.which("apt-get") is not None
    return "engine" in report.keywords or ("containers" in report.keywords and has_packages)


class NoSkippedTests:
    """Collects skipped tests that could have run here, names them, and fails the session."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the test."""
        if report.skipped and _must_run(report) and not hasattr(report, "wasxfail"):
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
    """Choose the folder of a daemon, and watch under CI; a worker of pytest-xdist has the folder, and none to watch."""
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.gettempdir(), f"skillgauge-docker-{os.getpid()}")
    os.environ[docker_daemons.VARIABLE] = str(folder)
    config.add_cleanup(lambda: docker_daemons.await_end(folder))
    if os.environ.get("CI"):
        config.pluginmanager.register(NoSkippedTests(), "no-skipped-tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which daemon ran."""
    version = docker_daemons.version_of(Path(os.environ[docker_daemons.VARIABLE]))
    if version:
        terminalreporter.line(f"Docker daemon {version} was started for these tests")


@pytest.hookimpl(optionalhook=True)  # the plugin that asks may be blocked
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half as many again as there are processors: for much of their time tests wait for processes and servers."""
    return (3 * (os.cpu_count() or 1) + 1) // 2

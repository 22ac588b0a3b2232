"""Options, and what is wrong before any worker is asked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import KeptExecution, PluginError, RunFiles, Trial, TrialResult
from skillgauge_executor_dask import connecting
from skillgauge_executor_dask.executor import DaskExecutor
from skillgauge_executor_dask.options import DaskOptions


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"address": "tcp://a:1", "scheduler_file": "f"}, "give either address or scheduler_file"),
        ({"address": "tcp://a:1", "workers": 2}, "workers is for a cluster in this process"),
        ({"tls_ca": "ca.pem"}, "belong together"),
        ({"address": "10.0.0.5:8786"}, "address"),
        ({"places": 0}, "places"),
    ],
)
def test_options_that_do_not_fit_together(options: Mapping[str, Any], why: str) -> None:
    """Each is refused with a sentence that names it."""
    with pytest.raises(ValidationError, match=why):
        DaskOptions(**options)


class Run:
    """A run of which no attempt is ever made."""

    concurrency = 1
    recipe = b"{}"
    run_id = "run"

    def files(self) -> RunFiles:
        """It has none."""
        return RunFiles({})

    def elsewhere(self, _attempt: object) -> Any:
        """No attempt is made."""

        async def run_trial(_trial: Trial) -> TrialResult:
            raise NotImplementedError

        return run_trial

    async def kept(self, _trial: Trial) -> KeptExecution | None:
        """Nothing."""


async def no_trials() -> AsyncIterator[Trial]:
    """There are none."""
    return
    yield


def trouble_with(**options: Any) -> PluginError:
    """Run on a cluster that is not there; returns what is said of it."""

    async def tried() -> PluginError:
        results = DaskExecutor(DaskOptions(**options)).run(no_trials(), Run())  # type: ignore[arg-type]
        with pytest.raises(PluginError) as caught:
            await anext(aiter(results))
        await results.aclose()
        return caught.value

    return asyncio.run(tried())


def test_run_without_recipe() -> None:
    """A run that was not made from options is refused with a sentence that says so."""

    async def run_trial(_trial: Trial) -> TrialResult:
        raise NotImplementedError

    with pytest.raises(PluginError, match="has no recipe"):
        DaskExecutor(DaskOptions()).run(no_trials(), run_trial)


@pytest.mark.parametrize("content", [None, "{}", "nothing", '["address"]'])
def test_scheduler_file_of_no_scheduler(tmp_path: Path, content: str | None) -> None:
    """It says which file, and how one is made."""
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_text(content)
    (problem,) = trouble_with(scheduler_file=file).problems
    assert problem.code == "executor.scheduler-file"
    assert str(file) in problem.message
    assert "dask scheduler --scheduler-file" in str(problem.hint)


def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is named, and what to do."""
    monkeypatch.setattr(connecting, "CONNECT_S", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        (problem,) = trouble_with(address=address).problems
    assert (problem.code, address in problem.message) == ("executor.no-scheduler", True)
    assert "dask scheduler" in str(problem.hint)


def test_certificate_that_is_not_there(tmp_path: Path) -> None:
    """A file that is missing is told like a scheduler that does not answer, with its name."""
    missing = {name: tmp_path / name for name in ("tls_ca", "tls_cert", "tls_key")}
    (problem,) = trouble_with(address="tls://127.0.0.1:1", **missing).problems
    assert problem.code == "executor.no-scheduler"
    assert "No such file" in problem.message

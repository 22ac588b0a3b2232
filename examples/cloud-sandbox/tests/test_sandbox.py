"""What is promised of a cloud, and what becomes of workspaces that nobody needs any more."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Service

from skillgauge.api import Command, SandboxSpec, Tier
from skillgauge_testkit import SANDBOXES, Maker

make = Maker(SANDBOXES, "acme_cloud.plugin")
DIES = """
import asyncio, os, sys
from skillgauge.api import SandboxSpec
from acme_cloud.options import CloudOptions
from acme_cloud.sandbox import CloudSandbox

async def die():
    workspace = CloudSandbox(CloudOptions(url=sys.argv[1], lease_s=1)).open(SandboxSpec(label="x"))
    await workspace.__aenter__()
    os._exit(9)

asyncio.run(die())
"""


def test_it_claims_no_more_than_the_cloud_vouches_for(service: Service) -> None:
    """The stand-in keeps nothing apart, so the tier is none; an open network is said."""
    report = asyncio.run(make({"url": service.url}).check())
    assert (report.tier, report.is_remote, report.is_usable) == (Tier.NONE, True, True)
    assert [problem.code for problem in report.problems] == ["acme-cloud.network"]


@pytest.mark.parametrize("token", ["", "another-made-up-token"])
def test_a_token_that_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    """It is told before anything runs, and not what was tried."""
    monkeypatch.setenv("ACME_CLOUD_TOKEN", token)
    report = asyncio.run(make({"url": service.url}).check())
    assert not report.is_usable
    assert "another-made-up" not in str(report.problems)


def test_what_is_written_there_stays_there(service: Service, tmp_path: Path) -> None:
    """A folder is copied to the cloud, and paths in commands mean the copy."""
    (tmp_path / "given.txt").write_text("from here\n")

    async def work() -> bytes:
        async with make({"url": service.url}).open(SandboxSpec(label="x", writable=(str(tmp_path),))) as workspace:
            script = f"cat {tmp_path}/given.txt; echo new >new.txt; cat new.txt"
            process = await workspace.start(Command(argv=("sh", "-c", script), cwd=str(tmp_path)))
            return (await process.wait()).stdout

    assert asyncio.run(work()) == b"from here\nnew\n"
    assert [path.name for path in tmp_path.iterdir()] == ["given.txt"]


def test_a_workspace_of_a_dead_process_goes(service: Service) -> None:
    """Its lease is not renewed, so the cloud removes it."""
    done = subprocess.run([sys.executable, "-c", DIES, service.url], check=False, timeout=60)
    assert done.returncode == 9
    for _ in range(10_000):  # each is a request, which takes its time
        if not service.workspaces():
            return
    raise AssertionError("the workspace is still there")

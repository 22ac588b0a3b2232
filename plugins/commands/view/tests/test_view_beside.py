"""An evaluation shows its run in a viewer: in one that is running, or in one that it starts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Program

ROOT = Path(__file__).resolve().parents[4]
AGENT = ROOT / "examples/agent"
EVAL = ("eval", AGENT / "release-notes/evals/evals.json", "--replay", AGENT / "recordings")
LOOK = re.compile(r"^look at this run: (\S+)$", re.MULTILINE)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@contextmanager
def viewer(program: Program, *arguments: str, **more: Any) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A viewer in a process of its own, after it has said where it listens."""
    running = subprocess.Popen(
        [PROGRAM, "--json", "view", "--no-open", *arguments],
        cwd=program.work,
        env=dict(program.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **{"stdin": subprocess.DEVNULL, **more},
    )
    try:
        assert running.stdout is not None
        lines = list(iter(running.stdout.readline, "}\n"))
        yield running, json.loads("".join([*lines, "}"]))
    finally:
        running.kill()
        running.communicate(timeout=TIME_LIMIT_S)


@pytest.fixture
def stored(program: Program, work: Path) -> Path:
    """A store with one run."""
    done = program(*EVAL, "--store", "runs.db")
    assert done.code == 0, done.stderr
    return work / "runs.db"


def test_a_running_viewer_is_named(program: Program, stored: Path) -> None:
    """Every run tells its address in it, which leads to the run; a run in another store does not."""
    with viewer(program, "--store", "runs.db") as (_, document):
        done = program(*EVAL, "--store", str(stored))
        (address,) = LOOK.findall(done.stderr)
        assert address.startswith(f"http://127.0.0.1:{document['port']}/runs/")
        with httpx.Client(trust_env=False, timeout=TIME_LIMIT_S) as client:
            assert client.get(address).status_code == 401
            client.get(document["address"])
            assert client.get(address).status_code == 200
        assert LOOK.findall(program(*EVAL, "--store", "other.db").stderr) == []


def test_a_viewer_that_was_killed_is_not_named(program: Program, stored: Path) -> None:
    """Its note is of no use, and is removed."""
    with viewer(program, "--store", "runs.db") as (running, _):
        notes = list(Path(program.environment["HOME"]).rglob("viewers/*.json"))
        assert len(notes) == 1
        running.kill()
        running.wait()
        assert notes[0].exists()
        assert LOOK.findall(program(*EVAL, "--store", str(stored)).stderr) == []
        assert not notes[0].exists()


def test_no_note_is_left(program: Program, stored: Path) -> None:
    """A viewer that ends by itself removes it."""
    with viewer(program, "--store", str(stored)) as (running, document):
        httpx.get(document["address"], trust_env=False, timeout=TIME_LIMIT_S)
        running.send_signal(signal.SIGINT)
        assert running.wait(TIME_LIMIT_S) == 0
    assert list(Path(program.environment["HOME"]).rglob("viewers/*.json")) == []


def test_eval_opens_a_viewer(program: Program, work: Path) -> None:
    """`--view` opens the page of the run in the browser of the user; the viewer ends with the command."""
    opened = work / "opened"
    browser = work / "browser"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {opened}\n')
    browser.chmod(0o755)
    done = program(*EVAL, "--store", "runs.db", "--view", env={"BROWSER": f"{browser} %s"})
    assert done.code == 0, done.stderr
    (address,) = LOOK.findall(done.stderr)
    page = opened.read_text()
    assert address.replace("&", "&amp;") in page
    assert re.search(r"&run=\w+$", address)
    assert done.stderr.strip().splitlines()[-1].startswith("done: ")
    with pytest.raises(httpx.ConnectError):
        httpx.get(address, trust_env=False)


def test_the_page_of_a_run_is_the_first(program: Program, stored: Path) -> None:
    """`--run` leads there by the token; a run that is not there is refused."""
    latest = viewer(program, "--store", str(stored), "--run", "latest")
    with latest as (_, document), httpx.Client(trust_env=False, timeout=TIME_LIMIT_S) as client:
        page = client.get(document["address"]).text
        (leads_to,) = re.findall(r'<a href="(/runs/\w+\?follow=1)">Go on</a>', page)
        assert client.get(f"http://127.0.0.1:{document['port']}{leads_to}").status_code == 200
    refused = program("view", "--store", str(stored), "--run", "nothing")
    assert refused.code == 2
    assert "no run 'nothing' is here" in refused.stderr


@pytest.mark.parametrize("run", ["..", "%2e%2e", "a/b", "<b>", "//example.invalid", "a" * 65, ""])
def test_the_address_leads_nowhere_else(program: Program, stored: Path, run: str) -> None:
    """A name that no run can have leads to the list."""
    with (
        viewer(program, "--store", str(stored)) as (_, document),
        httpx.Client(trust_env=False, timeout=TIME_LIMIT_S) as client,
    ):
        page = client.get(f"{document['address']}&run={run}").text
    assert '<a href="/runs">Go on</a>' in page


def test_a_viewer_ends_with_the_program_that_started_it(program: Program, stored: Path) -> None:
    """With `--until-eof` it lives as long as its standard input, however the other end dies."""
    ours, theirs = os.pipe()
    with viewer(program, "--store", str(stored), "--until-eof", stdin=ours) as (running, _):
        os.close(ours)
        assert running.poll() is None
        os.close(theirs)
        assert running.wait(TIME_LIMIT_S) == 0

"""The command as a user starts and ends it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Program

ROOT = Path(__file__).resolve().parents[4]
AGENT = ROOT / "examples/agent"


@pytest.fixture
def evaluated(program: Program, work: Path) -> Path:
    """A folder with a store and reports of one run of recorded sessions."""
    suite = AGENT / "release-notes/evals/evals.json"
    arguments = ("--replay", AGENT / "recordings", "--store", "runs.db", "--format", "record")
    done = program("eval", suite, *arguments)
    assert done.code == 0, done.stderr
    return work


@contextmanager
def started(program: Program, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The command with `--json`, after it has said where it listens."""
    running = subprocess.Popen(
        [PROGRAM, "--json", "view", "--no-open", *arguments],
        cwd=program.work,
        env=dict(program.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        lines = list(iter(running.stdout.readline, "}\n"))
        yield running, json.loads("".join([*lines, "}"]))
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        running.communicate(timeout=TIME_LIMIT_S)
    finally:
        running.kill()
        running.wait()


@contextmanager
def pages(document: dict[str, Any]) -> Iterator[httpx.Client]:
    """A client that the address let in."""
    with httpx.Client(base_url=f"http://127.0.0.1:{document['port']}", trust_env=False, timeout=TIME_LIMIT_S) as client:
        assert client.get(document["address"]).status_code == 200
        yield client


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_serves_the_store_until_it_is_ended(program: Program, evaluated: Path, ending: signal.Signals) -> None:
    """The pages are there, nothing is written, and Ctrl-C is how one ends it: exit code 0."""
    before = {path: path.read_bytes() for path in evaluated.rglob("*") if path.is_file()}
    with started(program, "--store", "runs.db") as (running, document):
        with pages(document) as client:
            page = client.get("/runs").text
            assert "release-notes" in page
            assert "+75.0 points" in page
        running.send_signal(ending)
        _, errors = running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 0, errors
    assert errors.splitlines()[-1] == "done: viewed"
    assert "Traceback" not in errors
    assert {path: path.read_bytes() for path in evaluated.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.e2e
def test_places_of_every_kind_at_once(program: Program, evaluated: Path) -> None:
    """A run that a store, a folder and a record hold stands in the list once."""
    record = next((evaluated / "reports").glob("*.record.json"))
    with (
        started(program, "reports", str(record), "--store", "runs.db", "--store", "empty.db") as (_, document),
        pages(document) as client,
    ):
        assert document["sources"] == ["reports", str(record), "runs.db", "empty.db"]
        page = client.get("/runs").text
        assert "1 run<" in page
        link = page.split('<a href="/runs/')[1].split('"')[0]
        run = client.get(f"/runs/{link}").text
        assert "rescued" in run
        case = client.get(f"/runs/{link}/cases/0-0").text
        assert "Base directory for this skill" in case
    assert not (evaluated / "empty.db").exists()


def test_all_places_without_runs_are_reported_at_once(program: Program, work: Path) -> None:
    """A path that holds no report, or that does not exist, ends the command before it serves."""
    (work / "empty").mkdir()
    (work / "note.json").write_text("{}")
    done = program("view", "--no-open", "empty", "note.json", "missing.json")
    assert done.code == 2
    for name in ("empty", "note.json", "missing.json"):
        assert name in done.stderr
    assert "view.no-runs" in done.stderr


def test_a_port_that_is_taken(program: Program, work: Path) -> None:
    """The message names the port, and the exit code is that of usage."""
    import socket  # noqa: PLC0415 - this test alone

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = program("view", "--no-open", "--port", str(port))
    assert done.code == 2
    assert f"port {port}" in done.stderr


def test_the_help_names_both_ways(program: Program) -> None:
    """`view --help` is about the group, and `view serve --help` has the options."""
    assert "export" in program("view", "--help").stdout
    assert "--port" in program("view", "serve", "--help").stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_the_browser_is_given_a_file_and_not_the_token(program: Program, work: Path) -> None:
    """Arguments of programs can be read by every user of a machine; the file is the user's alone and leads on."""
    browser = work / "browser"
    browser.write_text(
        '#!/bin/sh\nprintf "%s" "$1" > opened\ncp "${1#file://}" page.html\nls -l "${1#file://}" | cut -c1-10 > mode\n'
    )
    browser.chmod(0o755)
    running = subprocess.Popen(
        [PROGRAM, "view", "--store", "none.db"],
        cwd=work,
        env={**program.environment, "BROWSER": f"{browser} %s"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        deadline = time.monotonic() + TIME_LIMIT_S
        while not (work / "mode").exists() or not (work / "mode").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert httpx.get(address, trust_env=False, timeout=TIME_LIMIT_S).status_code == 200
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=TIME_LIMIT_S)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 0
    opened = (work / "opened").read_text()
    assert opened.startswith("file://")
    assert "token" not in opened
    assert address in (work / "page.html").read_text().replace("&amp;", "&")
    assert (work / "mode").read_text().strip() == "-rw-------"
    assert not Path(opened.removeprefix("file://")).exists()


WAITING = """import json, pathlib, sys, time
request = json.load(sys.stdin)
if request["params"]["say"] != "first":
    until = time.monotonic() + 120
    while not pathlib.Path(__file__).with_name("go").exists() and time.monotonic() < until:
        time.sleep(0.02)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "done"}))
"""


@pytest.mark.slow
def waiting(work: Path) -> None:
    """Write a skill that answers the first of three tasks, and the others when it is told to."""
    (work / "skill").mkdir()
    skill = {"id": "skill", "name": "skill", "adapterType": "subprocess", "entrypoint": "python3 skill.py"}
    (work / "skill/skill.json").write_text(json.dumps({**skill, "version": "1.0.0", "description": "Waits."}))
    (work / "skill/skill.py").write_text(WAITING)
    check = {"expectedOutput": {"type": "contains", "keywords": ["done"]}, "evaluator": {"type": "contains"}}
    tasks = [
        {"id": word, "description": word, "inputData": {"say": word}, **check} for word in ("first", "second", "third")
    ]
    (work / "tasks.json").write_text(json.dumps(tasks))


def begun(program: Program, work: Path) -> subprocess.Popen[str]:
    """Start an evaluation of that skill."""
    return subprocess.Popen(
        [PROGRAM, "eval", "--skills", "skill", "--tasks", "tasks.json", "--store", "runs.db", "--concurrency", "1"],
        cwd=work,
        env={**program.environment, "SKILLGAUGE_SANDBOX": "local"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.e2e
def test_a_run_is_watched_from_another_process(program: Program, work: Path) -> None:
    """A run that is under way in one process shows its progress in another, and its end."""
    waiting(work)
    evaluating = begun(program, work)
    try:
        wait_for(lambda: (work / "runs.db").exists() or evaluating.poll() is not None)
        with started(program, "--store", "runs.db") as (_, document), pages(document) as client:
            wait_for(lambda: "/runs/" in client.get("/runs").text)
            address = re.search('href="(/runs/[^"/]+)"', client.get("/runs").text)
            assert address
            wait_for(lambda: "1 of 3 trials" in client.get(address[1]).text)
            assert "Under way" in client.get(address[1]).text
            (work / "skill/go").touch()
            _, complaints = evaluating.communicate(timeout=TIME_LIMIT_S)
            assert evaluating.returncode == 0, complaints
            page = client.get(address[1]).text
            assert "Under way" not in page
            assert "3 of 3" in page
    finally:
        evaluating.kill()
        evaluating.wait()


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: it takes too long.
    """
    until = time.monotonic() + TIME_LIMIT_S
    while not is_so():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.05)


@pytest.mark.slow
def test_eval_honours_the_lines_that_a_page_gives(program: Program, evaluated: Path) -> None:
    """From the page of a case into the configuration: the next run has that case in quarantine, and no other."""
    with started(program, "--store", "runs.db") as (_, document), pages(document) as client:
        (run,) = set(re.findall('href="(/runs/[^"?/]+)"', client.get("/runs").text))
        case = re.findall('href="(/runs/[^"]+/cases/[^"]+)"', client.get(run).text)[0]
        page = client.get(case, params={"until": "2999-01-31", "reason": "it wavers"}).text
    lines = unescape(page.partition('aria-label="Lines for the configuration">\n')[2].partition("</pre>")[0])
    (evaluated / "skillgauge.config.yaml").write_text(lines)
    suite = AGENT / "release-notes/evals/evals.json"
    done = program(
        "eval", suite, "--replay", AGENT / "recordings", "--fresh", "--format", "record", "--output-dir", "again"
    )
    assert done.code == 0, done.stderr
    assert "matches no case" not in done.stderr
    (record,) = (evaluated / "again").glob("*.record.json")
    (head,) = json.loads(record.read_text())["plan"]["suites"]
    (entry,) = head["quarantined"]
    assert (entry["until"], entry["reason"]) == ("2999-01-31", "it wavers")


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a lock and gives handles on processes")
def test_a_run_is_stopped_from_its_page(program: Program, work: Path) -> None:
    """The button ends the run as Ctrl-C does, and the same command goes on with the rest; nobody else can press it."""
    waiting(work)
    evaluating = begun(program, work)
    try:
        wait_for(lambda: (work / "runs.db").exists() or evaluating.poll() is not None)
        with started(program, "--store", "runs.db") as (_, document), pages(document) as client:
            wait_for(lambda: "1 of 3 trials" in client.get(run_page(client)).text)
            address = run_page(client)
            page = client.get(f"{address}?follow=1").text
            key = re.search(f'action="{address}/stop".*?name="key" value="([^"]+)"', page, re.DOTALL)
            assert key
            origin = {"Origin": str(client.base_url).rstrip("/")}
            assert client.post(f"{address}/stop", data={"key": "x" * 43}, headers=origin).status_code == 403
            foreign = {"Origin": "http://stranger.example"}
            assert client.post(f"{address}/stop", data={"key": key[1]}, headers=foreign).status_code == 403
            assert client.get(f"{address}/stop").status_code == 405
            with started(program, "--store", "runs.db", "--read-only") as (_, other), pages(other) as reader:
                assert "Stop this run" not in reader.get(address).text
            assert evaluating.poll() is None
            answer = client.post(f"{address}/stop", data={"key": key[1]}, headers=origin)
            assert (answer.status_code, answer.headers["location"]) == (303, f"{address}?follow=1")
            _, complaints = evaluating.communicate(timeout=TIME_LIMIT_S)
            assert evaluating.returncode not in (0, -signal.SIGINT, -signal.SIGKILL), complaints
            page = client.get(address).text
            assert "interrupted" in page
            assert "Stop this run" not in page
            again = client.post(f"{address}/stop", data={"key": key[1]}, headers=origin)
            assert again.status_code == 409
            (work / "skill/go").touch()
            resumed = begun(program, work)
            _, complaints = resumed.communicate(timeout=TIME_LIMIT_S)
            assert resumed.returncode == 0, complaints
            assert "3 of 3" in client.get(address).text
    finally:
        evaluating.kill()
        evaluating.wait()


def run_page(client: httpx.Client) -> str:
    """The address of the only run; empty until it has begun."""
    address = re.search('href="(/runs/[^"/]+)"', client.get("/runs").text)
    return address[1] if address else ""

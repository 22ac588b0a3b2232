"""Answers that are small on the wire and large in memory: none goes off."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

MIB = 1 << 20
HTTP = """
from skillgauge.api import CallRequest, Limits, Target
from skillgauge_adapter_http.adapter import HttpAdapter as Adapter
from skillgauge_testkit import FakeWorkspace

async def ask(url):
    target = Target(id="x", version="1", adapter="http", entrypoint=url)
    session = await Adapter().open(target, FakeWorkspace())
    request = CallRequest(trial_id="t", case_id="c", input={}, limits=Limits(timeout_s=60))
    return str((await session.call(request)).failure)
"""
MCP = """
from skillgauge.api import CallRequest, Limits, Target
from skillgauge_adapter_mcp.adapter import McpAdapter as Adapter
from skillgauge_testkit import FakeWorkspace

async def ask(url):
    target = Target(id="x", adapter="mcp", entrypoint=url, metadata={"toolName": "work"})
    session = await Adapter().open(target, FakeWorkspace())
    try:
        request = CallRequest(trial_id="t", case_id="c", input={}, limits=Limits(timeout_s=60))
        return str((await session.call(request)).failure)
    finally:
        await session.close()
"""
JUDGE = """
from skillgauge.api import JudgeRequest
from skillgauge_judges.{name} import {kind}Judge as Judge
from skillgauge_judges.options import {kind}Options as Options

async def ask(url):
    judge = Judge(Options(base_url=url, model="m"))
    return str(await judge.ask(JudgeRequest(system="s", user="?")))
"""
API = """
from skillgauge.api import Limits, RunRequest
from skillgauge_engine_api.engine import ApiEngine as Engine
from skillgauge_engine_api.options import ApiOptions as Options
from skillgauge_testkit import FakeWorkspace

async def ask(url):
    engine = Engine(Options(base_url=url, model="m", provider="PROVIDER", tools=False))
    request = RunRequest(trial_id="t", case_id="c", prompt="?", model=None, limits=Limits(timeout_s=60))
    return str((await engine.run(request, FakeWorkspace(), lambda _event: None)).failure)
"""
ASKING = {
    "http": HTTP,
    "mcp": MCP,
    "judge openai": JUDGE.format(name="openai", kind="OpenAI"),
    "judge anthropic": JUDGE.format(name="anthropic", kind="Anthropic"),
    "judge gemini": JUDGE.format(name="gemini", kind="Gemini"),
    "api openai": API.replace("PROVIDER", "openai"),
    "api anthropic": API.replace("PROVIDER", "anthropic"),
    "api gemini": API.replace("PROVIDER", "gemini"),
}
"""Everything here that reads what a service answers."""
MEASURED = """
import asyncio, resource, sys
{ask}
{warm}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = asyncio.run(ask(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, told)
"""
WARM = "asyncio.run(ask('http://127.0.0.1:9/'))"
"""What is imported late is imported before anything is measured."""


def packed(times: int) -> bytes:
    """A gigabyte of zeros, compressed some times."""
    data = gzip.compress(bytes(64 * MIB), 9) * 16
    for _ in range(times - 1):
        data = gzip.compress(data, 9)
    return data


BOMBS = {"gzip, gzip": packed(2), "gzip": packed(1), "zstd": b"(\xb5/\xfd" + bytes(99)}


@pytest.fixture(params=sorted(BOMBS))
def bomb(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that answers with a bomb."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Encoding", request.param)
            self.send_header("Content-Length", str(len(BOMBS[request.param])))
            self.end_headers()
            try:
                self.wfile.write(BOMBS[request.param])
            except OSError:
                return

        do_GET = do_POST  # noqa: N815 - the server asks for this name

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_the_smallest_is_small() -> None:
    """What is sent twice compressed has 3 KB at most."""
    assert len(BOMBS["gzip, gzip"]) <= 3000


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
def test_a_bomb_stays_small(bomb: str, ask: str) -> None:
    """Within 64 MiB, whoever asked, and the answer is the server's fault (T-S4)."""
    code = MEASURED.format(ask=ask, warm=WARM)
    done = subprocess.run([sys.executable, "-c", code, bomb], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    grown_kb, _, told = done.stdout.partition(" ")
    assert int(grown_kb) < 64 * 1024, told
    assert "cannot be decoded" in told or "is larger than" in told

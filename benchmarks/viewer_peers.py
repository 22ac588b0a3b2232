"""Times of the page of a run in a browser: skillgauge's viewer beside those of promptfoo and Inspect.

Run: python benchmarks/viewer_peers.py [--promptfoo PROGRAM] [--inspect PROGRAM]

Each has 1,000 results that it made itself, without a model: promptfoo with its provider `echo`, Inspect with a solver
that answers at once, skillgauge as `viewer.py` makes them. Chromium opens the page of that run in a context without a
cache, and the clock stops when the first case can be read. A program that is not named is installed below `.peers`, as
`make peers` does. All of them are told to send nothing, and have a proxy where nothing listens; run it in a namespace
without a network (`unshare -n`, then `ip link set lo up`) to be sure.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import viewer
from measure import machine
from peer_installs import ENCLOSED, PINS, SILENT, install, read_pins
from playwright.sync_api import Browser, sync_playwright

TIMES = 5
READY_S = 60
PORTS = {"promptfoo": 15_500, "inspect": 7_575}
PROMPTFOO = """module.exports = {
  providers: ['echo'], prompts: ['Do the task {{n}}.'],
  tests: Array.from({length: 1000}, (_, n) => ({
    vars: {n: `case-${n}`}, assert: [{type: 'contains', value: n % 3 ? 'task' : 'nothing'}]
  })),
};
"""
INSPECT = """from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def at_once():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", f"It is done: {state.input_text}")
        return state
    return solve

@task
def thousand():
    samples = [Sample(id=f"case-{n}", input=f"Do {n}.", target="done" if n % 3 else "nothing") for n in range(1000)]
    return Task(dataset=samples, solver=at_once(), scorer=includes())
"""


def main() -> None:
    """Make the results, serve them, look at them and print how long each takes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--promptfoo", metavar="PROGRAM")
    arguments.add_argument("--inspect", metavar="PROGRAM")
    programs = dict(vars(arguments.parse_args()))
    print(machine())
    absent = {name: pin for name, pin in read_pins(PINS.read_text()).items() if programs.get(name, pin) is None}
    tools = install(absent, {})
    programs |= {name: tool.words[0] for name, tool in tools.found.items() if tool.words}
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "Chromium is needed on the search path"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**SILENT, **ENCLOSED, "HOME": name, "PATH": os.environ["PATH"], "PROMPTFOO_CONFIG_DIR": name}
        asyncio.run(viewer.fill(folder / "runs.db", 3, 40, viewer.session_of(12, 200)))
        served = {
            peer: make(programs[peer], folder, environment)
            for peer, make in (("promptfoo", promptfoo_results), ("inspect", inspect_results))
            if programs.get(peer)
        }
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, env=dict(environment), args=["--no-sandbox"])
            browser.new_page().goto("about:blank")  # so that the first page does not pay for the browser's own start
            look_at_ours(browser, folder)
            for peer, (address, words) in served.items():
                with serving(words, folder, environment, PORTS[peer]):
                    tell(peer, browser, address, "case-0")
            browser.close()


def look_at_ours(browser: Browser, folder: Path) -> None:
    """Serve a store and look at its large run."""
    with viewer.served(folder / "runs.db", str(folder)) as (client, _):
        address, origin = viewer.page_addresses(client)["run"], str(client.base_url).rstrip("/")
        cookies = [{"name": key, "value": value, "url": origin} for key, value in client.cookies.items()]
        tell("skillgauge", browser, f"{origin}{address}", "case-0", cookies)
        title = f"skillgauge, a run of {viewer.HUGE:,} trials"
        tell(title, browser, f"{origin}{viewer.huge_address()}", "case-0", cookies)


def promptfoo_results(program: str, folder: Path, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """Evaluate with promptfoo; the address of the page, and the words that serve it."""
    (folder / "thousand.js").write_text(PROMPTFOO)
    words = [program, "eval", "-c", "thousand.js", "--no-table", "--no-progress-bar", "--no-cache"]
    subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    with sqlite3.connect(folder / "promptfoo.db") as database:
        (run,) = database.execute("SELECT id FROM evals").fetchone()
    port = PORTS["promptfoo"]
    return f"http://127.0.0.1:{port}/eval/{run}", [program, "view", "-p", str(port), "-n"]


def inspect_results(program: str, folder: Path, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """Evaluate with Inspect; the address of the page, and the words that serve it."""
    (folder / "thousand.py").write_text(INSPECT)
    words = [program, "eval", "thousand.py", "--model", "mockllm/model", "--display", "none", "--log-dir", "logs"]
    subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    (log,) = (folder / "logs").glob("*.eval")
    port = PORTS["inspect"]
    words = [program, "view", "--port", str(port), "--log-dir", "logs"]
    return f"http://127.0.0.1:{port}/#/logs/{log.name}/samples", words


@contextmanager
def serving(
    words: list[str], folder: Path, environment: Mapping[str, str], port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a viewer, wait until it listens, and end it."""
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for_port(port)
        yield process
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def wait_for_port(port: int) -> None:
    """Wait until something answers on a port.

    Raises:
        TimeoutError: nothing does.
    """
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        try:
            httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, timeout=5)
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"nothing answers on port {port}")


def tell(name: str, browser: Browser, address: str, text: str, cookies: list[Any] | None = None) -> None:
    """Print how long it takes until a text can be read on a page."""
    times: list[float] = []
    for _ in range(TIMES):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies(cookies or [])
        page = context.new_page()
        began = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.get_by_text(text, exact=True).first.wait_for(timeout=READY_S * 1_000)
        times.append(time.perf_counter() - began)
        context.close()
    print(f"{name}: {times[0]:.2f} s at first, {min(times):.2f} s at best of {TIMES}, until a case can be read")


if __name__ == "__main__":
    main()

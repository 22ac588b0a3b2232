"""The site and the HTML report in a real browser: small and large, light and dark, nothing cut, nothing from outside.

axe-core looks for what keeps people from reading: contrast, names, order. `SCREENSHOTS=DIR` keeps pictures.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import pages
from skillgauge_testkit.program import Program

from .conftest import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (make browser)"),
]

WIDTHS = (390, 768, 1280)
SCHEMES = ("light", "dark")
SHOWN = (
    "index.html",
    "first-agent-eval.html",
    "cli.html",
    "reference/plugins.html",
    "packages/skillgauge-scorer-files.html",
)
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
CUT = """() => [...document.querySelectorAll('h1, h2, h3, p, li, td, th, pre, img, dd')]
    .filter(one => one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1
        && !one.closest('table, pre, .scroll, .highlight, .md-sidebar, .md-header, .md-tabs'))
    .map(one => one.outerHTML.slice(0, 120))"""

BROKEN = """() => [...document.querySelectorAll('th')]
    .filter(one => !one.textContent.trim().includes(' ')
        && one.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(one).fontSize) + 24)
    .map(one => `broken: ${one.textContent}`)"""
"""Headings of one word that are higher than a line with its padding."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and tells nobody."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with a home of its own."""
    home = tmp_path_factory.mktemp("browser")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, env=environment, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    assert pages.build(folder / "site", folder / "pages") == 0
    return folder / "site"


@pytest.fixture(scope="module")
def site(built: Path) -> Iterator[str]:
    """The address of the site, served on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def watched(page: Page, origin: str) -> list[str]:
    """What a page complains about, and what it asks of anybody but its origin: a list that grows."""
    found: list[str] = []
    page.on("console", lambda said: found.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on("request", lambda one: None if one.url.startswith((origin, "data:", "blob:")) else found.append(one.url))
    return found


def cut(page: Page, address: str) -> list[str]:
    """What of a page does not fit into the window."""
    page.goto(address, wait_until="load")
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    wider = [f"{width} px wider than the window"] if width > 0 else []
    return wider + [f"cut: {one}" for one in page.evaluate(CUT)]


def complaints(page: Page, address: str, origin: str, picture: str) -> list[str]:
    """All that is wrong with one page as it is shown."""
    found = watched(page, origin)
    found += cut(page, address)
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder, picture)))
    page.evaluate(AXE)
    result = page.evaluate("axe.run()")
    for one in result["violations"]:
        if one["impact"] in ("serious", "critical"):
            nodes = "; ".join(node["html"][:100] for node in one["nodes"][:3])
            found.append(f"axe {one['id']}: {one['help']}: {nodes}")
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_site(browser: Browser, site: str, width: int, scheme: Any) -> None:
    """Every kind of page reads well, and asks nothing of anybody else."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        wrong = {}
        for name in SHOWN:
            page = context.new_page()
            wrong[name] = complaints(page, f"{site}/{name}", site, f"{Path(name).stem}-{width}-{scheme}.png")
            page.close()
        assert {name: found for name, found in wrong.items() if found} == {}
    finally:
        context.close()


def test_every_page_on_the_smallest_screen(browser: Browser, built: Path, site: str) -> None:
    """No page of the site, generated ones among them, is cut or asks anything of anybody else, also without scripts."""
    # Scripts would make every page load the index of words; the pages of `test_the_site` run them.
    page = browser.new_page(viewport={"width": min(WIDTHS), "height": 900}, java_script_enabled=False)
    complained = watched(page, site)
    wrong = {}
    for path in sorted(built.rglob("*.html")):
        name = path.relative_to(built).as_posix()
        if found := cut(page, f"{site}/{name}") + complained:
            wrong[name] = found
        complained.clear()
    page.close()
    assert wrong == {}


def test_the_site_finds_words(browser: Browser, site: str) -> None:
    """The search works without any service: a word of a page leads to it."""
    page = browser.new_page()
    page.goto(f"{site}/index.html")
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").type("quarantine")
    page.locator(".md-search-result__link").first.wait_for()
    assert "cli.html" in " ".join(
        str(one.get_attribute("href")) for one in page.locator(".md-search-result__link").all()
    )
    page.close()


def test_a_comparison(browser: Browser, program: Program, work: Path) -> None:
    """F-H7: the page of two runs at every width: nothing cut, no word of a heading broken, the skill in the title."""
    skill = ROOT / "examples/skills/calculator"
    for _ in range(2):
        done = program.process("eval", skill, "--benchmark", "coding-easy", "--format", "json")
        assert done.code == 0, done.stderr
    page_file = work / "diff.html"
    done = program.process("report", "diff", "latest~1", "latest", "--format", "html", "--output", page_file)
    assert done.code == 0, done.stderr
    wrong = {}
    for width in WIDTHS:
        context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
        page = context.new_page()
        found = complaints(page, page_file.as_uri(), page_file.as_uri(), f"diff-{width}-light.png")
        assert page.title().startswith("calculator")
        found += page.evaluate(BROKEN)
        if found:
            wrong[width] = found
        context.close()
    assert wrong == {}


@pytest.fixture
def report(program: Program, work: Path) -> Path:
    """The page of the recorded sessions."""
    agent = ROOT / "examples/agent"
    suite = agent / "release-notes/evals/evals.json"
    done = program.process(
        "eval", suite, "--replay", agent / "recordings", "--runs", "3", "--store", "none", "--format", "html"
    )
    assert done.code == 0, done.stderr
    return work / "reports/eval-result.html"


def test_the_report(browser: Browser, report: Path) -> None:
    """The page of a run at every width, in both schemes, folded and unfolded."""
    wrong = {}
    for width in WIDTHS:
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            found = complaints(page, report.as_uri(), report.as_uri(), f"report-{width}-{scheme}.png")
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
            found += [f"unfolded, cut: {one}" for one in page.evaluate(CUT)]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append("unfolded, wider than the window")
            if found:
                wrong[f"{width} {scheme}"] = found
            context.close()
    assert wrong == {}

"""The pages in a real browser: small and large, light and dark, by keyboard, and with nothing from outside.

axe-core looks for what keeps people from reading. `SCREENSHOTS=DIR` keeps pictures.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from skillgauge.api import UnderWay
from skillgauge.api.report import Progress, RunView
from skillgauge.api.run import Globals, invocation
from skillgauge_command_view.downloads import Downloads
from skillgauge_command_view.export import export
from skillgauge_command_view.pages.label_page import Labels
from skillgauge_command_view.pages.map_page import Maps
from skillgauge_command_view.quarantining import Quarantine
from skillgauge_command_view.rows import RunRow, row_of
from skillgauge_command_view.sources import StoredRuns
from skillgauge_command_view.stopping import Stopper
from skillgauge_judge_labels import read_labels

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (make browser)"),
]

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
PAGES = {
    "runs": "/runs",
    "found": "/runs?q=agent&sort=lift",
    "none": "/runs?q=nothing-of-this-name",
    "run": "/runs/run6",
    "failed": "/runs/run2?show=bad",
    "hostile": "/runs/run3",
    "hostile-case": "/runs/run3/cases/0-0",
    "partial": "/runs/run4",
    "case": "/runs/run6/cases/0-1",
    "searched": "/runs/run6/cases/0-1?q=done",
    "hostile-searched": "/runs/run3/cases/0-0?q=script",
    "trial": "/runs/run6/trials/2",
    "compare": "/compare?a=run2&b=run7",
    "several": "/compare?run=run2&run=run6&run=run7",
    "history": "/history?skill=skill",
    "missing": "/runs/nothing",
}
CUT = """() => [...document.querySelectorAll('h1, h2, h3, p, li, td, th, pre, dd, svg, input, select, button')]
    .filter(one => one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1
        && !one.closest('.scroll, pre'))
    .map(one => `cut: ${one.outerHTML.slice(0, 120)}`)"""


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


def opened(browser: Browser, served: Any, **settings: Any) -> BrowserContext:
    """A context of the browser that the cookie lets in."""
    context = browser.new_context(**settings)
    context.add_cookies(
        [{"name": name, "value": value, "url": served.origin} for name, value in served.client.cookies.items()]
    )
    return context


def watched(page: Page, origin: str, expected: int = 200) -> list[str]:
    """Complaints of a page, and what it asks of any other place: a list that grows."""
    faults: list[str] = []

    def told(message: Any) -> None:
        if expected == 200 or "Failed to load resource" not in message.text:
            faults.append(f"console: {message.text}")

    page.on("console", told)
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("request", lambda one: None if one.url.startswith(origin) else faults.append(f"outside: {one.url}"))
    return faults


def complaints(page: Page, address: str, picture: str) -> list[str]:
    """All that is wrong with a page as it is shown, its folded parts unfolded."""
    page.goto(address, wait_until="load")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    faults = list(page.evaluate(CUT))
    if (wider := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
        faults.append(f"{wider} px wider than the window")
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder, picture)), full_page=True)
    page.evaluate(AXE)
    for rule in page.evaluate("axe.run()")["violations"]:
        if rule["impact"] in ("serious", "critical"):
            nodes = "; ".join(node["html"][:100] for node in rule["nodes"][:3])
            faults.append(f"axe {rule['id']}: {rule['help']}: {nodes}")
    return faults


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_map(browser: Browser, serve: Any, views: list[RunView], map_folder: Path, width: int, scheme: Any) -> None:
    """The map of a catalogue fits the window and is readable for all, with the style of pages and its own."""
    with serve(views, maps=Maps([map_folder])) as running:
        context = opened(
            browser, running, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        faults = watched(page, running.origin)
        faults += complaints(page, f"{running.origin}/maps/run6", f"map-{width}-{scheme}.png")
        context.close()
    assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page(browser: Browser, served: Any, width: int, scheme: Any) -> None:
    """Every page fits the window, is readable for all, and asks nothing of any other place."""
    context = opened(browser, served, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    wrong = {}
    for name, path in PAGES.items():
        page = context.new_page()
        faults = watched(page, served.origin, 404 if name == "missing" else 200)
        faults += complaints(page, f"{served.origin}{path}", f"{name}-{width}-{scheme}.png")
        if faults:
            wrong[name] = faults
        page.close()
    context.close()
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_times_and_efforts(
    browser: Browser, serve: Any, eventful_view: RunView, downloads: Downloads, width: int, scheme: Any
) -> None:
    """The pictures of time and money fit the window, can be read by all, and lead to the steps."""
    with serve([eventful_view], downloads=downloads) as served:
        context = opened(
            browser, served, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        faults = watched(page, served.origin)
        for name, path in (("run", ""), ("case", "/cases/0-1"), ("trial", "/trials/2")):
            address = f"{served.origin}/runs/eventful{path}"
            faults += complaints(page, address, f"eventful-{name}-{width}-{scheme}.png")
            assert page.locator("#efforts svg, .times svg").count() > 1, name
        page.locator(".times td a").last.click()
        page.locator(".step:target").wait_for()
        page.goto(f"{served.origin}/runs/eventful")
        page.locator("#downloads summary").click()
        with page.expect_download() as downloading:
            page.locator("#downloads a", has_text="markdown").click()
        assert downloading.value.suggested_filename == "eventful-markdown.md"
        context.close()
    assert faults == []


@pytest.mark.slow
def test_a_browser_is_let_in_by_the_address(browser: Browser, serve: Any, views: list[RunView]) -> None:
    """The printed address leads to the list under the policy of the pages, and leaves no token in the address bar."""
    with serve(views, is_open=False) as served:
        page = browser.new_page()
        faults = watched(page, served.origin)
        page.goto(served.server.address)
        page.wait_for_url("**/runs")
        assert page.title() == "Runs – skillgauge view"
        assert page.evaluate("document.cookie") == ""
        page.locator("tbody th a").first.click()
        page.locator("table.compare th a").first.wait_for()
        assert faults == []
        page.close()


@pytest.mark.slow
def test_by_keyboard_alone(browser: Browser, served: Any) -> None:
    """Search, filter, choose two runs, compare them, and go on to a case: without a mouse."""
    context = opened(browser, served)
    page = context.new_page()
    page.goto(f"{served.origin}/runs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("input[name=q]").focus()
    page.keyboard.type("run2 demo")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=run2*")
    assert page.locator("table.runs tbody tr").count() == 1
    page.goto(f"{served.origin}/runs?skill=other")
    for box in page.locator("input[type=checkbox]").all():
        box.focus()
        page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?**")
    assert "Two runs" in page.locator("h1").inner_text()
    page.goto(f"{served.origin}/runs/run6")
    page.locator("table.compare th a").first.focus()
    page.keyboard.press("Enter")
    page.locator("section.side").first.wait_for()
    page.locator("a.anchor").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#t*")
    parts = "a, button, input, select, summary, pre, .scroll"
    assert page.evaluate(f"[...document.querySelectorAll('{parts}')].every(one => one.tabIndex >= 0)")
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_exported_pages(browser: Browser, views: list[RunView], tmp_path: Path, width: int) -> None:
    """Files open without a server, with their style, and ask nothing of any place but their folder."""
    folder = tmp_path / "pages"
    files = list(export([(row_of(view, view.run.run_id, "file"), view) for view in views[2:4] + views[6:7]], folder))
    chosen = [
        file for file in files if "case" not in file.name or file.name.endswith(("case-0-0.html", "case-0-1.html"))
    ]
    context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
    wrong = {}
    for file in chosen:
        page = context.new_page()
        faults = watched(page, folder.as_uri())
        faults += complaints(page, file.as_uri(), f"export-{file.stem[:40]}-{width}.png")
        if faults:
            wrong[file.name] = faults
        page.close()
    context.close()
    assert wrong == {}
    strict = browser.new_page()
    faults = watched(strict, folder.as_uri())
    strict.goto((folder / "index.html").as_uri())
    assert strict.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"
    assert faults == []
    strict.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_notes_by_keyboard(browser: Browser, serve: Any, stored: StoredRuns, width: int, scheme: Any) -> None:
    """A run is named, annotated and labelled without a mouse, and found by its label; each page readable for all."""
    labels = Labels(Path("no-such-folder/labels.jsonl"), can_add=True)
    with serve([], source=stored, labels=labels) as served:
        context = opened(
            browser, served, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        faults = watched(page, served.origin)
        page.goto(f"{served.origin}/runs/run1")
        page.locator("input[name=name]").focus()
        for words in ("before the change to the description", "One line.", "team=search"):
            page.keyboard.type(words)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("p.said strong").wait_for()
        assert "One line." in page.locator("p.note").inner_text()
        faults += complaints(page, f"{served.origin}/runs/run1", f"notes-run-{width}-{scheme}.png")
        faults += complaints(page, f"{served.origin}/runs", f"notes-runs-{width}-{scheme}.png")
        page.locator("a.tag").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**label=team**")
        assert page.locator("table.runs tbody tr").count() == 1
        context.close()
    assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_labels_by_keyboard(browser: Browser, serve: Any, judged_view: RunView, tmp_path: Path, width: int) -> None:
    """From the page of the run on: two answers and a skipped check, each page readable for all."""
    file = tmp_path / "labels.jsonl"
    with serve([judged_view], labels=Labels(file, can_add=True)) as served:
        context = opened(browser, served, viewport={"width": width, "height": 900}, bypass_csp=True)
        page = context.new_page()
        faults = watched(page, served.origin)
        page.goto(f"{served.origin}/runs/judged")
        for name in ("labels and agreement", "Label the next check"):
            page.get_by_role("link", name=name).focus()
            page.keyboard.press("Enter")
            page.wait_for_load_state()
        for done, name in enumerate(("It holds", "It does not hold")):
            page.get_by_text(f"{done} of").wait_for()
            page.get_by_role("button", name=name).focus()
            page.keyboard.press("Enter")
            page.wait_for_load_state()
        page.get_by_role("link", name="Skip", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_text("1 skipped").wait_for()
        for path in ("labels", "judges"):
            faults += complaints(page, f"{served.origin}/runs/judged/{path}", f"{path}-{width}.png")
        context.close()
    lines, problems = read_labels(file)
    assert ([line.label.passes for line in lines], problems, faults) == ([True, False], [], [])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_words_about_a_session_by_keyboard(
    browser: Browser, serve: Any, stored: StoredRuns, width: int, scheme: Any
) -> None:
    """A session is noted and tagged without a mouse, and a case gets its lines; each page readable for all."""
    labels = Labels(Path("no-such-folder/labels.jsonl"), can_add=True)
    quarantine = Quarantine(invocation(Globals(quiet=True), {}))
    with serve([], source=stored, labels=labels, quarantine=quarantine) as served:
        context = opened(
            browser, served, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        faults = watched(page, served.origin)
        page.goto(f"{served.origin}/runs/run1/trials/2")
        page.locator("textarea[name=note]").focus()
        page.keyboard.type("Looked at the wrong file.")
        page.keyboard.press("Tab")
        page.keyboard.type("wrong-tool flaky")
        page.keyboard.press("Enter")
        page.locator("p.note").wait_for()
        assert page.locator("p.said .tag").all_inner_texts() == ["flaky", "wrong-tool"]
        case = page.get_by_role("link", name="Case", exact=True)
        case.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/cases/**")
        assert "Looked at the wrong file." in page.locator(".side p.note").inner_text()
        page.locator("#quarantine summary").focus()
        page.keyboard.press("Enter")
        page.locator("input[name=reason]").focus()
        page.keyboard.type("It wavers.")
        page.keyboard.press("Enter")
        page.wait_for_url("**reason=It+wavers**", timeout=15_000)
        assert "reason: It wavers." in page.locator("pre.lines").inner_text()
        for name, address in (("case", page.url), ("run", f"{served.origin}/runs/run1"), ("trial", page.url)):
            shown = f"{served.origin}/runs/run1/trials/2" if name == "trial" else address
            faults += complaints(page, shown, f"said-{name}-{width}-{scheme}.png")
        context.close()
    assert faults == []


class AlwaysStops(Stopper):
    """Takes every run for one that can be stopped, and remembers which were."""

    def __init__(self) -> None:
        """Begin with none."""
        self.stopped: list[str] = []

    def can_stop(self, row: RunRow) -> bool:
        """Every run can be stopped."""
        return True

    def stop(self, row: RunRow) -> bool:
        """Remember it."""
        self.stopped.append(row.run_id)
        return True


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_run_under_way(
    browser: Browser, serve: Any, views: list[RunView], going_on: Any, width: int, scheme: Any
) -> None:
    """Sessions with their last steps, and the button that stops the run, pressed by keyboard; readable for all."""
    session = UnderWay(
        trial_id="t", ordinal=7, suite_id="s", case_index=1, case_id="a slow case", arm="with-skill", runner="engine",
        model="m-1", repeat=2, since=time.time() - 75, where="builder-7, process 4711", last_step="tool_call Bash",
    )  # fmt: skip
    silent = session.model_copy(update={"ordinal": 8, "last_step": ""})
    progress = Progress({}, (session, silent))
    running = going_on(views[6], progress)
    stopper = AlwaysStops()
    labels = Labels(Path("no-such-folder/labels.jsonl"), can_add=True)
    with serve([running], labels=labels, stopper=stopper) as served:
        context = opened(
            browser, served, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        faults = watched(page, served.origin)
        faults += complaints(page, f"{served.origin}/runs/run6", f"live-{width}-{scheme}.png")
        steps = page.locator("table.under-way td[data-label='Last step']").all_inner_texts()
        assert [step.split("\n")[-1].strip() for step in steps] == ["calls Bash", "none reported yet"]
        page.get_by_role("button", name="Stop this run").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**follow=1")
        assert stopper.stopped == ["run6"]
        context.close()
    assert faults == []

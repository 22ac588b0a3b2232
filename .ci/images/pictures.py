"""Make the pictures of `docs/images` anew: sessions that are recorded in `examples/agent`, in headless Chromium.

Run: python .ci/images/pictures.py (needs `make install`, and Chromium on the search path)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
PROGRAM = str(Path(sys.executable).with_name("skillgauge"))
EXAMPLE = ROOT / "examples" / "agent"
SUITE = EXAMPLE / "release-notes" / "evals" / "evals.json"
WIDTH = 1_280
LIMIT = 120_000
"""Bytes of a picture."""


def main() -> None:
    """Evaluate twice, look at the report and the viewer, and keep a picture of each page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("pictures: Chromium is needed on the search path")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        for runs in ("2", "3"):
            evaluate(folder, runs)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        of_report(page, folder / "reports" / "eval-result.html")
        with viewer(folder) as address:
            of_viewer(page, address)
        browser.close()


def evaluate(folder: Path, runs: str) -> None:
    """Grade the recorded sessions of the example, and keep the run in a store of the folder."""
    words = [PROGRAM, "eval", str(SUITE), "--replay", str(EXAMPLE / "recordings"), "--runs", runs]
    words += ["--format", "html", "--store", "runs.db"]
    subprocess.run(words, cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL)


def environment(folder: Path) -> dict[str, str]:
    """An environment in which no setting of the user is read."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """Serve the runs of the folder, and give the address that lets a browser in."""
    words = [PROGRAM, "--json", "view", "--no-open", "--store", "runs.db"]
    server = subprocess.Popen(words, cwd=folder, env=environment(folder), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        document = json.loads("".join([*iter(server.stdout.readline, "}\n"), "}"]))
        yield document["address"]
    finally:
        server.terminate()
        server.wait()


def of_report(page: Page, report: Path) -> None:
    """Keep pictures of the report: its cases, and the sessions of one of them."""
    page.goto(report.as_uri())
    page.evaluate("document.querySelector('table.compare').scrollIntoView()")
    keep(page, "cases", 640)
    page.locator("details.more > summary").first.click()
    page.evaluate("document.querySelector('details.more').scrollIntoView()")
    keep(page, "transcripts", 640)


def of_viewer(page: Page, address: str) -> None:
    """Keep pictures of the viewer: the list, a run, a case, and two runs beside each other."""
    page.goto(address)
    page.wait_for_url("**/runs")
    keep(page, "view-runs", 540)
    origin = page.url.removesuffix("/runs")
    runs = [link.get_attribute("href") for link in page.locator("table.runs tbody th a").all()]
    page.goto(f"{origin}{runs[0]}")
    keep(page, "view-run", 760)
    page.locator("table.compare th a").first.click()
    keep(page, "view-case", 660)
    newer, older = (str(run).rsplit("/", 1)[1] for run in runs[:2])
    page.goto(f"{origin}/compare?a={older}&b={newer}")
    keep(page, "view-compare", 640)


def keep(page: Page, name: str, height: int) -> None:
    """Keep what the window shows, down to a height."""
    path = IMAGES / f"{name}.png"
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes{'' if size <= LIMIT else f', more than {LIMIT:,}'}")


if __name__ == "__main__":
    main()

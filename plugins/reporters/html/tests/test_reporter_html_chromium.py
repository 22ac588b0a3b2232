"""The page in a real browser: nothing in a run gets to run, nothing breaks its layout, both colour schemes work.

The browser is driven by the DevTools protocol over a pipe, so that no port is opened and no library is needed.
"""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import CaseHead, EventKind, FileChange, Kept, Score, Trajectory, TrajectoryEvent
from skillgauge.api.report import Counts, RunState, RunView, SuiteValidity, TagSummary
from skillgauge.stats import RateInterval
from skillgauge_reporter_html.reporter import HtmlReporter
from skillgauge_testkit import contract_views

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (Debian: apt-get install chromium)"),
]

PATIENCE_S = 60
CANARY = "window.canary = 1"
TRAPS = (
    f"<script>{CANARY}</script>",
    f"</title></style><script>{CANARY}</script>",
    f"--></pre></details></table><script>{CANARY}</script>",
    f'<img src="x" onerror="{CANARY}">',
    f'"><svg onload="{CANARY}">',
    f"' onfocus='{CANARY}' autofocus tabindex='0",
    f'" onmouseover="{CANARY}" style="position:fixed;inset:0',
    f'<iframe srcdoc="<script>parent.{CANARY}</script>">',
    f"javascript:{CANARY}",
    "<style>body{display:none}</style>",
    "<base href='https://example.invalid/'>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202etxt.exe\u2066 \u200f",
    "nul\0and\x1bescape",
    "Z\u0300" + "\u0301" * 500,
    "x" * 10_000,
    "\ufdfd" * 300,
    "<b>" * 300,
    "line\r\nbreak\n\n" * 200,
)


class Browser:
    """One headless browser with one tab."""

    def __init__(self, home: Path) -> None:
        """Start it."""
        assert CHROMIUM is not None
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; a launcher moves ours there, whatever their numbers are.
        lifted = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        mover = (
            "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
            "os.execv(sys.argv[3], sys.argv[3:])"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", mover, *map(str, lifted), *command(home, "--remote-debugging-pipe"), "about:blank"],
            pass_fds=lifted,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for one in lifted:
            os.close(one)
        self._in, self._out = ours_in, ours_out
        self._numbers = itertools.count(1)
        self._left = b""
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **params: object) -> Any:
        """Send one command and wait for its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._wait(lambda got: got.get("id") == number)["result"]

    def _wait(self, wanted: Any) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while b"\0" not in self._left:
                ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
                assert ready, "the browser does not answer"
                piece = os.read(self._in, 1 << 16)
                assert piece, "the browser has gone"
                self._left += piece
            first, self._left = self._left.split(b"\0", 1)
            got = json.loads(first)
            if wanted(got):
                assert "error" not in got, got
                return got

    def show(self, page: Path, *, width: int = 1280, scheme: str = "light") -> None:
        """Load a page in a window of that width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=page.as_uri())
        self._wait(lambda got: got.get("method") == "Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """Value of an expression in the page; the page's policy does not apply to it."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def frame(self) -> None:
        """Wait until what changed is drawn; only then is known what of it can be seen."""
        twice = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        assert self.call("Runtime.evaluate", expression=twice, awaitPromise=True)["result"]["value"]

    def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        os.close(self._in)
        os.close(self._out)


def command(home: Path, *options: str) -> list[str]:
    """The browser with a profile of its own, without anything that it does on its own account."""
    return [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={home / 'profile'}",
        *options,
    ]


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and the search path."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests here, since it takes seconds to start."""
    running = Browser(tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


def trapped() -> RunView:
    """A run in which every text is a trap, in every state that gets a banner."""
    view = next(view for what, view in contract_views() if what == "a run with hostile ids")
    heads, groups, results, validity, cases = [], [], [], [], []
    for trap, suite, group, result in zip(
        itertools.cycle(TRAPS), view.head.suites * 3, view.summary.groups * 3, list(view.results()) * 3, strict=False
    ):
        if len(heads) == len(TRAPS):
            break
        target = suite.targets[0].model_copy(update={"id": trap, "name": trap, "tags": (trap,)})
        texts = {"id": trap, "name": trap, "version": trap, "format": trap, "dialect": trap, "root": trap}
        texts |= {"arms": (trap,)}
        heads.append(suite.model_copy(update=texts | {"targets": (target,)}))
        key = {"suite_id": trap, "target_id": trap, "arm": trap, "runner": trap, "model": trap}
        tags = tuple(tag.model_copy(update={"tag": trap}) for tag in group.tags)
        figures = tuple(one.model_copy(update={"label": trap, "unit": trap}) for one in group.figures[-1:])
        groups.append(group.model_copy(update=key | {"tags": tags, "figures": figures}))
        output = {
            "text": trap,
            "stdout": trap * 3,
            "stderr": f"{trap}\n" * 40,
            "output": {trap: trap},
            "notes": (trap,),
            "files": (FileChange(path=trap, change="created"),),
            "trajectory": Trajectory(
                events=tuple(TrajectoryEvent(kind=kind, name=trap, text=trap) for kind in EventKind),
                skills_offered=(trap,),
            ),
        }
        judged = Score.failed(trap, evidence={trap: trap})
        scores = tuple(judged.model_copy(update={"check_id": trap, "scorer": trap}) for _ in range(2))
        cases.append(CaseHead(suite_id=trap, index=result.case_index, id=trap, name=trap, prompt=trap))
        execution = result.execution.model_copy(update=output | {"sandbox": trap})
        results.append(result.model_copy(update=key | {"case_id": trap, "scores": scores, "execution": execution}))
        validity.append(SuiteValidity(suite_id=trap, valid=False, error_share=1.0, reason=trap))
    run = view.run.model_copy(update={"run_id": TRAPS[0], "state": RunState.INTERRUPTED})
    head = view.head.model_copy(
        update={
            "suites": tuple(heads),
            "plan_id": TRAPS[1],
            "models": TRAPS,
            "provenance": {trap: trap for trap in TRAPS},
        }
    )
    summary = view.summary.model_copy(update={"groups": tuple(groups), "validity": tuple(validity)})
    return replace(view, run=run, head=head, summary=summary, source=Kept(lambda: results, cases))


def many_tags() -> RunView:
    """A run whose only group has every trap as a tag, texts in two directions, and 200 plain tags."""
    view = next(view for what, view in contract_views() if "passed and failed" in what)
    rate = RateInterval(rate=0.5, n=2, lower=0.094531, upper=0.905469, method="wilson")
    names = [*TRAPS, "שלום עולם (1)", "مرحبا بالعالم 2", "ascii \u202b then עברית", *(f"tag {n}" for n in range(200))]
    tags = tuple(TagSummary(tag=name, counts=Counts(total=2, passed=1, failed=1), pass_rate=rate) for name in names)
    group = view.summary.groups[0].model_copy(update={"tags": tags})
    return replace(view, summary=view.summary.model_copy(update={"groups": (group,)}))


def written(folder: Path, view: RunView, *, with_policy: bool = True) -> Path:
    """The report as a file."""
    (artifact,) = HtmlReporter().render(view)
    shown = b"".join(artifact.chunks).decode()
    if not with_policy:
        before = len(shown)
        shown = shown.replace('http-equiv="Content-Security-Policy"', 'name="no-policy"')
        assert len(shown) < before
    path = folder / "report.html"
    path.write_text(shown, encoding="utf-8")
    return path


def nothing_ran(browser: Browser) -> None:
    """Touch everything in the page, and require that no text of the run became a part of it."""
    browser.ask("document.querySelectorAll('details').forEach(one => { one.open = true })")
    browser.ask("document.querySelectorAll('*').forEach(one => one.dispatchEvent(new Event('mouseover')))")
    assert browser.ask("typeof window.canary") == "undefined"
    assert browser.ask("document.querySelectorAll('img, iframe, base, object, embed, form, b').length") == 0
    assert browser.ask("document.scripts.length === document.querySelectorAll('.catalogue').length")
    assert browser.ask("document.querySelectorAll('style').length") == 1
    attributes = "[...document.querySelectorAll('*')].flatMap(one => [...one.attributes])"
    assert browser.ask(f"{attributes}.filter(one => /^(on|style$|src)/.test(one.name)).length") == 0
    address = "/^(#(suite|skill|case)-|data:(image.svg.xml|text.csv;charset=utf-8);base64,)/"
    assert browser.ask(f"[...document.links].every(one => one.getAttribute('href').match({address}))")
    assert browser.ask("[...document.links].every(one => one.protocol !== 'data:' || one.download)")


@pytest.mark.slow
def test_the_harness_would_notice_a_script(browser: Browser, tmp_path: Path) -> None:
    """A page with a live script sets the canary, and a wide one is found too wide: the other tests can fail."""
    page = tmp_path / "live.html"
    page.write_text(f"<!doctype html><script>{CANARY}</script><div style='width: 3000px'>wide</div>")
    browser.show(page)
    assert browser.ask("window.canary") == 1
    assert browser.ask("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.slow
@pytest.mark.requirement("ES-DEFECT-17")
@pytest.mark.parametrize("with_policy", [True, False], ids=["policy", "no policy"])
def test_no_text_of_a_run_gets_to_run(browser: Browser, tmp_path: Path, with_policy: bool) -> None:
    """Escaping alone keeps scripts out, and the policy does not depend on it."""
    browser.show(written(tmp_path, trapped(), with_policy=with_policy))
    assert browser.ask("document.querySelectorAll('section[id]').length") == len(TRAPS)
    nothing_ran(browser)


@pytest.mark.parametrize("with_policy", [True, False], ids=["policy", "no policy"])
def test_no_tag_gets_to_run(browser: Browser, tmp_path: Path, with_policy: bool) -> None:
    """Every tag is a text in a row of its own, whatever it says."""
    browser.show(written(tmp_path, many_tags(), with_policy=with_policy))
    assert browser.ask("document.querySelectorAll('.tags tbody tr').length") == len(many_tags().summary.groups[0].tags)
    nothing_ran(browser)


def test_the_policy_accepts_the_style_of_the_page(browser: Browser, tmp_path: Path) -> None:
    """The hash in the policy is that of the style, so that the page is not shown naked."""
    browser.show(written(tmp_path, contract_views()[2][1]))
    assert browser.ask("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"


@pytest.mark.parametrize("opened", [False, True], ids=["folded", "unfolded"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.slow
def test_the_page_never_scrolls_sideways(browser: Browser, tmp_path: Path, width: int, opened: bool) -> None:
    """Whatever its texts are, the page fits the window; wide tables scroll inside their box."""
    plain = ("passed and failed", "errors", "little is known", "two arms")
    for view in (
        trapped(),
        many_tags(),
        *(view for what, view in contract_views() if any(word in what for word in plain)),
    ):
        browser.show(written(tmp_path, view), width=width)
        if opened:
            browser.ask("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert browser.ask("innerWidth") == width
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.ask(
            "[...document.querySelectorAll('.scroll, h2, h3, p, dl, pre')]"
            ".every(one => one.getBoundingClientRect().right <= innerWidth || one.closest('.scroll') !== null)"
        )
    assert browser.ask("document.querySelectorAll('.scroll').length") > 0


@pytest.mark.parametrize("width", [1280, 390])
def test_tags_keep_their_columns(browser: Browser, tmp_path: Path, width: int) -> None:
    """A tag in a script from right to left, or of 10,000 characters, moves no number out of its column or its row."""
    browser.show(written(tmp_path, many_tags()), width=width)
    browser.ask("document.querySelectorAll('details').forEach(one => { one.open = true })")
    edges = "[...one.cells].map(cell => Math.round(cell.getBoundingClientRect().left)).join()"
    assert browser.ask(f"new Set([...document.querySelector('.tags').rows].map(one => {edges})).size") == 1
    assert (
        browser.ask("Math.max(...[...document.querySelectorAll('.tags tbody tr')].map(one => one.offsetHeight))") < 900
    )
    assert set(browser.ask("[...document.querySelectorAll('.tags td.rate')].map(one => one.innerText)")) == {"50.0%"}


@pytest.mark.parametrize("width", [1280, 390])
def test_both_arms_are_in_sight(browser: Browser, tmp_path: Path, width: int) -> None:
    """On a telephone, too, what each arm made of a case is seen without scrolling, and transcripts fit the window."""
    view = next(view for what, view in contract_views() if "two arms" in what)
    browser.show(written(tmp_path, view), width=width)
    cells = "[...document.querySelectorAll('.compare td, .compare th, .stack td')].filter(one => one.offsetParent)"
    assert browser.ask(f"{cells}.length") > 20
    assert browser.ask(f"{cells}.every(one => one.getBoundingClientRect().right <= innerWidth)")
    browser.ask("document.querySelector('.compare .more').open = true")
    sides = "[...document.querySelector('.sides').children].map(one => one.getBoundingClientRect())"
    assert browser.ask(f"{sides}.length") == 2
    assert browser.ask(f"{sides}[0].top == {sides}[1].top") is (width == 1280)
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_an_override_of_direction_is_not_in_the_page(browser: Browser, tmp_path: Path) -> None:
    """A text that claims to run from right to left cannot mirror what stands beside it."""
    for view in (trapped(), many_tags()):
        browser.show(written(tmp_path, view))
        assert not browser.ask(r"/[\u202a-\u202e\u2066-\u2069\u200e\u200f\0]/.test(document.documentElement.outerHTML)")


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_both_colour_schemes(browser: Browser, tmp_path: Path, scheme: str, is_dark: bool) -> None:
    """Who asked for a dark screen gets a dark page with light text, and the other way round."""
    browser.show(written(tmp_path, contract_views()[2][1]), scheme=scheme)
    paint = "getComputedStyle(document.documentElement)"
    page = [int(part) for part in browser.ask(f"{paint}.backgroundColor.match(/[0-9]+/g)")]
    ink = [int(part) for part in browser.ask(f"{paint}.color.match(/[0-9]+/g)")]
    assert (max(page) < 64, min(ink) > 192) == (is_dark, is_dark)
    assert (min(page) > 192, max(ink) < 64) == (not is_dark, not is_dark)


@pytest.mark.slow
def test_on_paper_lists_are_unfolded(browser: Browser, tmp_path: Path) -> None:
    """Paper cannot be clicked: folded lists of trials are printed, and nothing is cut off by a box."""
    view = next(view for what, view in contract_views() if "1,000" in what)
    browser.show(written(tmp_path, view))
    folded = "document.querySelector('.trials:not([open]) td')"
    assert not browser.ask(f"{folded}.checkVisibility({{contentVisibilityAuto: true}})")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        browser.frame()
        assert browser.ask(f"{folded}.checkVisibility({{contentVisibilityAuto: true}})")
        assert browser.ask("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.slow
def test_the_plain_command_line_shows_the_page_too(tmp_path: Path) -> None:
    """Without any protocol the browser gives a picture, and a document in which no script has been."""
    page = written(tmp_path, trapped())
    picture = tmp_path / "page.png"
    for option in (f"--screenshot={picture}", "--dump-dom"):
        done = subprocess.run(
            command(tmp_path, option, "--window-size=1280,900", "--virtual-time-budget=2000", page.as_uri()),
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = done.stdout.decode()
    assert shown.count("<section id=") == len(TRAPS)
    assert shown.count("<script") == shown.count('class="catalogue"')

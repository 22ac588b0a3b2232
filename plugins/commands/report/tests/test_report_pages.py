"""A comparison as Markdown and as a page: complete, and nothing from outside can change what they say."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skillgauge.api import plain
from skillgauge.api.report import RunView
from skillgauge_command_report import markdown, page
from skillgauge_run_comparisons.comparison import compare
from skillgauge_run_comparisons.document import DiffDocument
from skillgauge_run_comparisons.inputs import Report, Terms
from skillgauge_run_comparisons.regression import MAX_DROP

Make = Callable[..., RunView]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CANARY = "document.documentElement.className = 'canary'"
TRAPS = (
    f"<script>{CANARY}</script>",
    f"</title></style><script>{CANARY}</script>",
    f'"><svg onload="{CANARY}">',
    f'<img src="x" onerror="{CANARY}">',
    "a | b\n| --- |\n# heading",
    "`code` *bold* [link](javascript:alert(1)) ![x](y) ~~x~~ &lt;",
    "\x1b[31mred\x1b[0m \u202etxt.exe\u2066 nul\0",
    "x" * 5_000,
)

ELEMENTS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "section", "div", "bdi"} | {
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "class", "tabindex", "role", "aria-label", "scope"}


def compared(before: RunView, after: RunView, label: str = "After") -> DiffDocument:
    """A comparison."""
    return compare(Report(before, "Before", "a"), Report(after, label, "b"), Terms(max_drop=MAX_DROP, is_gate=False))


def trapped(make: Make) -> DiffDocument:
    """A comparison in which every text is a trap."""
    both = {trap: {**dict.fromkeys(TRAPS, "pp"), f"{trap}+": "p", f"{trap}e": "p"} for trap in TRAPS}
    worse = {trap: {**dict.fromkeys(TRAPS, "ff"), f"{trap}-": "p", f"{trap}e": "e"} for trap in TRAPS}
    before = make({**both, f"{TRAPS[0]}gone": {"t": "p"}}, suite=TRAPS[0], version="1", skill_version=TRAPS[1])
    after = make({**worse, f"{TRAPS[0]}new": {"t": "p"}}, suite=TRAPS[0], version=TRAPS[2], skill_version=TRAPS[3])
    return compared(before, after, TRAPS[0])


class Tags(HTMLParser):
    """Collects the elements and attributes of a page, and its text."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        """Remember it."""
        self.text += data


def test_markdown_of_hostile_texts(report: Make) -> None:
    """Every table has its columns in every row, nothing becomes a heading, a link, code or HTML."""
    document = trapped(report)
    lines = markdown.render(document).splitlines()
    unescaped = re.compile(r"(?<!\\)[<>`\[\]!#]")
    heads = {"## Delta Report", "### "}
    for line in lines:
        shown = next((line.removeprefix(head) for head in heads if line.startswith(head)), line)
        assert not unescaped.search(shown), line
        assert line.isprintable() or line == ""
    tables = [line for line in lines if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) - 1 for line in tables}
    assert widths == {2, 4, 5}
    assert sum(line.startswith("### ") for line in lines) == len(document.skills)


def test_the_page_of_hostile_texts(report: Make) -> None:
    """No element and no attribute but our own; all skills and tasks are there."""
    document = trapped(report)
    shown = Tags(page.render(document))
    assert shown.tags <= ELEMENTS
    assert shown.attributes <= ATTRIBUTES
    assert shown.text.count(" (new in ") == shown.text.count(" (removed in ") == 1
    for trap in TRAPS:
        assert plain(trap) in shown.text


def test_the_page_is_self_contained(report: Make) -> None:
    """Its policy names the hash of its one style; no address is in it; both colour schemes define the same colours."""
    content = page.render(compared(report({"s": {"a": "p"}}), report({"s": {"a": "f"}})))
    (style,) = re.findall("<style>(.*?)</style>", content, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in content
    assert "://" not in content
    assert "<script" not in content
    light, dark = (re.findall(r"(--\w+):", part) for part in style.split("@media (prefers-color-scheme: dark)"))
    assert dark
    assert light == dark


@pytest.mark.parametrize("render", [markdown.render, page.render], ids=["markdown", "html"])
def test_both_say_the_same(report: Make, render: Callable[[DiffDocument], str]) -> None:
    """Figures, evidence, changes with reasons, other tasks, warnings and the verdict are in either."""
    before = report({"s": {**{f"t{n}": "p" for n in range(9)}, "only": "p", "err": "p"}}, skill_version="1.0.0")
    after = report(
        {"s": {**{f"t{n}": "p" for n in range(8)}, "t8": "f", "more": "p", "err": "e"}}, skill_version="2.0.0"
    )
    shown = re.sub(r"<[^>]+>|\\|\*\*", " ", render(compared(before, after)))
    for text in (
        "1.0.0 → 2.0.0",
        "100.0%",
        "points ↓ worse",
        "↑ worse",
        "95 % interval for new cases of this kind",
        "agresti-min, n = 9",
        "p = 0.500",
        "broke",
        "wrong t8",
        "Cases only in",
        "only",
        "more",
        "err",
        "the reports have different cases",
        "case t8 passed before and fails now",
    ):
        assert text in re.sub(r"\s+", " ", shown), text


@pytest.mark.parametrize("render", [markdown.render, page.render], ids=["markdown", "html"])
def test_long_lists_are_cut(report: Make, render: Callable[[DiffDocument], str]) -> None:
    """Two hundred changed tasks are listed, the rest is counted."""
    tasks = [f"task{n:04}" for n in range(250)]
    before, after = report({"s": dict.fromkeys(tasks, "p")}), report({"s": dict.fromkeys(tasks, "f")})
    shown = render(compared(before, after))
    assert shown.count("wrong task") == 200
    assert "… and 50 more changed cases" in shown


@pytest.mark.parametrize("render", [markdown.render, page.render], ids=["markdown", "html"])
def test_nothing_to_compare(report: Make, render: Callable[[DiffDocument], str]) -> None:
    """Two empty reports are said to be empty."""
    assert "No evaluation results." in render(compared(report({}), report({})))


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (Debian: apt-get install chromium)")
@pytest.mark.parametrize("guarded", [True, False], ids=["policy", "no policy"])
def test_no_text_gets_to_run_in_a_browser(report: Make, tmp_path: Path, guarded: bool) -> None:
    """Escaping alone keeps scripts out, and the policy does not depend on it; a live script would be noticed."""
    content = page.render(trapped(report))
    if not guarded:
        content = content.replace('http-equiv="Content-Security-Policy"', 'name="no-policy"')
    live = content.replace("<body>", f"<body><script>{CANARY}</script>")
    assert 'class="canary"' not in dumped(tmp_path, content)
    assert ('class="canary"' in dumped(tmp_path, live)) is not guarded


def dumped(folder: Path, content: str) -> str:
    """The document as a browser has it after everything has run."""
    file = folder / "page.html"
    file.write_text(content, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    done = subprocess.run(
        [
            str(CHROMIUM),
            *options,
            "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=1000",
            "--dump-dom",
            file.as_uri(),
        ],
        env={"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    shown = done.stdout.decode()
    assert "</html>" in shown
    return shown

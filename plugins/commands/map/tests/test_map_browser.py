"""The page of a map in a real browser: small and large, light and dark, and with nothing from outside.

axe-core looks for what keeps people from reading. `SCREENSHOTS=DIR` keeps pictures.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from planted import made_up_words
from playwright.sync_api import Browser, sync_playwright

from skillgauge.api import SkillRef, Target
from skillgauge_command_map.advice import skill_rows
from skillgauge_command_map.catalogue import Member
from skillgauge_command_map.findings import Screened, pair_rows
from skillgauge_command_map.overlap import Likeness
from skillgauge_command_map.queries import ALL, arm_without
from skillgauge_command_map.sessions import Fired
from skillgauge_skill_maps.documents import MapDocument, PlannedSessions, QueryRow
from skillgauge_skill_maps.page import render
from skillgauge_skill_maps.wording import verdict_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (make browser)"),
]

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
CUT = """() => [...document.querySelectorAll('h1, h2, p, li, td, th, svg')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll'))
    .map(one => `cut: ${one.outerHTML.slice(0, 120)}`)"""
HOSTILE = "<script>alert(1)</script>-\u202eevil"


def document(number: int) -> MapDocument:
    """Return the map of a catalogue with noise, in which each tenth skill is shadowed; one name is hostile."""
    words, random = made_up_words(1), Random(1)
    names = [HOSTILE, *(f"{next(words)}-{next(words)}" for _ in range(number - 1))]
    likeness = Likeness({name: name for name in names})

    def asked(owner: str, arm: str) -> Iterator[Fired]:
        place = names.index(owner)
        suspect = names[(place + 1) % number]
        for query in range(12):
            wins = owner if place % 10 or arm != ALL else suspect
            name = random.choice(names) if random.random() < 0.1 else wins
            skills = frozenset({name} if random.random() > 0.1 else ())
            yield Fired(owner, f"query {query % 4}", arm, skills, owner in skills, 1000.0 - 40 * (arm != ALL))

    screened = Screened.of(likeness, (one for name in names for one in asked(name, ALL)))
    tested = [(names[(place + 1) % number], names[place]) for place in range(0, number, 10)]
    again = [one for suspect, owner in tested for arm in (ALL, arm_without(suspect)) for one in asked(owner, arm)]
    pairs = pair_rows(screened, again, tested)
    members = [
        Member(name=name, description="x" * 99, ref=SkillRef(name=name, root="/", digest=""), target=Target(id=name))
        for name in names
    ]
    skills = skill_rows(members, screened, pairs)
    return MapDocument(
        exit_code=0,
        verdict=verdict_of(skills, pairs),
        state="finished",
        started_at=0,
        engine="claude-code",
        model="a-model",
        runs=("first", "second"),
        sessions=PlannedSessions(
            screening=12 * number, leave_one_out=len(again), skills=number, queries=4 * number, runs=3
        ),
        unknown=2,
        tokens=1_000_000,
        cost_usd=3.5,
        description_tokens=99,
        level=0.05,
        tested=len(tested),
        skills=skills,
        pairs=pairs,
        matrix=screened.matrix(names),
        queries=tuple(
            QueryRow(query_of=name, id=f"query {query}", prompt=f"{HOSTILE} {'please ' * 40}")
            for name in names
            for query in range(4)
        ),
        notices=("2 sessions of the first part tell nothing",),
    )


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


@pytest.mark.parametrize("number", [8, 60])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_readable(browser: Browser, tmp_path: Path, width: int, scheme: Any, number: int) -> None:
    """It fits the window, axe-core finds nothing serious, and it asks nothing of any other place."""
    path = tmp_path / "map.html"
    path.write_text(render(document(number)), "utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("request", lambda one: None if one.url.startswith("file:") else faults.append(f"outside: {one.url}"))
    page.goto(path.as_uri(), wait_until="load")
    page.evaluate("document.querySelectorAll('details').forEach((one, place) => { one.open = place < 3 })")
    faults += page.evaluate(CUT)
    if (wider := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
        faults.append(f"{wider} px wider than the window")
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder, f"map-{number}-{width}-{scheme}.png")), full_page=True)
    page.evaluate(AXE)
    for rule in page.evaluate("axe.run()")["violations"]:
        if rule["impact"] in ("serious", "critical"):
            nodes = "; ".join(node["html"][:100] for node in rule["nodes"][:3])
            faults.append(f"axe {rule['id']}: {rule['help']}: {nodes}")
    context.close()
    assert faults == []


def test_its_own_policy_lets_it_be_shown(browser: Browser, tmp_path: Path) -> None:
    """With the policy in force the style is applied, no script runs, and a name cannot be markup."""
    path = tmp_path / "map.html"
    path.write_text(render(document(8)), "utf-8")
    context = browser.new_context()
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(path.as_uri(), wait_until="load")
    assert messages == []
    assert page.locator("svg.matrix rect.own").count() >= 7
    assert page.locator("svg.graph path.edge.proven").count() == 1
    assert page.locator("script").count() == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"
    context.close()

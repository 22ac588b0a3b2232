"""Runs of many shapes, recounted by hand: outcomes, rate, lift and its chance are the same on every surface."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from math import comb
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done

from .conftest import Letters, Scripted
from .test_surfaces_agree import FORMATS, Told, percent, some, told_by

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@dataclass(frozen=True)
class Shape:
    """A run: repeats of each case, and for so many cases the letters of both arms, over and over."""

    runs: int
    cases: tuple[tuple[int, str, str], ...]

    @property
    def letters(self) -> list[tuple[str, str]]:
        """The letters of each repeat, case by case, with the skill and without it."""
        return [(self._all(ours), self._all(theirs)) for number, ours, theirs in self.cases for _ in range(number)]

    def _all(self, letters: str) -> str:
        return "".join(letters[repeat % len(letters)] for repeat in range(self.runs))

    def arm(self, place: int) -> Letters:
        """The script of an arm."""
        return {str(number): both[place] for number, both in enumerate(self.letters, 1)}


SHAPES = {
    "one error among flaky cases": Shape(3, ((1, "p", "p"), (1, "ppf", "f"), (1, "pff", "pff"), (1, "epf", "f"))),
    "half of the cases are rescued": Shape(1, ((10, "p", "p"), (10, "p", "f"))),
    "some are lost": Shape(1, ((6, "f", "f"), (1, "f", "p"), (3, "p", "p"), (10, "p", "f"))),
    "a third of the pairs are errors": Shape(3, ((1, "ppe", "f"), (1, "e", "p"), (2, "p", "p"))),
    "ten of ten": Shape(3, ((10, "p", "f"),)),
    "six of ten": Shape(3, ((1, "f", "f"), (1, "fpf", "f"), (1, "ffp", "f"), (1, "f", "f"), (6, "p", "f"))),
    "the others pass anyway": Shape(3, ((4, "p", "p"), (6, "p", "f"))),
    "four cases that waver": Shape(3, ((1, "p", "p"), (1, "ppf", "ffp"), (1, "pfp", "fpf"), (1, "p", "f"))),
    "four cases, five repeats": Shape(5, ((1, "p", "p"), (1, "p", "ffp"), (1, "ppfpp", "fpf"), (1, "p", "f"))),
    "four of four, once": Shape(1, ((4, "p", "f"),)),
    "thirty cases": Shape(1, ((9, "p", "p"), (15, "p", "f"), (6, "f", "f"))),
    "wins and losses": Shape(
        1, ((3, "p", "f"), (3, "f", "p"), (1, "p", "f"), (1, "p", "p"), (1, "f", "f"), (1, "p", "f"))
    ),
    "wins and coins": Shape(
        5,
        (
            (3, "p", "f"),
            (1, "pfpfp", "fpfpf"),
            (1, "fppfp", "pffpf"),
            (1, "ppffp", "ffppf"),
            (3, "p", "p"),
            (1, "f", "f"),
        ),
    ),
    "seven of ten are rescued": Shape(3, ((7, "p", "f"), (3, "p", "p"))),
    "two rescued, one half": Shape(3, ((1, "p", "f"), (1, "ppf", "pff"), (1, "p", "f"), (7, "f", "f"))),
    "errors in both arms": Shape(
        3, ((1, "e", "p"), (1, "efp", "f"), (1, "p", "ffe"), (1, "p", "fpf"), (2, "p", "f"), (4, "p", "p"))
    ),
    "a coin in both arms": Shape(2, ((10, "pf", "pf"),)),
    "the same, very often": Shape(20, ((4, "p", "p"),)),
    "full marks": Shape(3, ((10, "p", "p"),)),
    "no marks": Shape(3, ((10, "f", "f"),)),
}


@dataclass(frozen=True)
class Recount:
    """The figures of a run, counted from its letters by another program than the one under test."""

    cases: dict[str, int]
    rate: Fraction
    lift: Fraction
    n: int
    chance: Fraction

    @classmethod
    def of(cls, shape: Shape) -> Recount:
        """Count: a share of each case, and every way in which its passes could have fallen to the arms."""
        cases = {"passed": 0, "failed": 0, "error": 0}
        shares, differences, spread = list[Fraction](), list[Fraction](), {Fraction(0): Fraction(1)}
        for ours, theirs in shape.letters:
            passed, graded = ours.count("p"), len(ours) - ours.count("e")
            cases["error" if not graded else "passed" if 2 * passed > graded else "failed"] += 1
            if not graded:
                continue
            shares.append(Fraction(passed, graded))
            other, of_other = theirs.count("p"), len(theirs) - theirs.count("e")
            differences.append(Fraction(passed, graded) - Fraction(other, of_other))
            spread = dict(dealt(spread, passed + other, graded, of_other))
        total = sum(differences, Fraction(0))
        chance = sum((likely for value, likely in spread.items() if abs(value) >= abs(total)), Fraction(0))
        return cls(some(cases), mean(shares), mean(differences), len(differences), chance)


def dealt(spread: dict[Fraction, Fraction], passes: int, ours: int, theirs: int) -> Iterator[tuple[Fraction, Fraction]]:
    """The distribution of the sum once the passes of one more case are dealt to its arms at random."""
    summed: dict[Fraction, Fraction] = {}
    for value, likely in spread.items():
        for passed in range(max(0, passes - theirs), min(passes, ours) + 1):
            step = Fraction(passed, ours) - Fraction(passes - passed, theirs)
            ways = Fraction(comb(ours, passed) * comb(theirs, passes - passed), comb(ours + theirs, passes))
            summed[value + step] = summed.get(value + step, Fraction(0)) + likely * ways
    yield from summed.items()


def mean(values: list[Fraction]) -> Fraction:
    """The sum by the number."""
    return sum(values, Fraction(0)) / len(values)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_surface_tells_what_was_counted(scripted: Scripted, shape: Shape) -> None:
    """Terminal, JSON, record, Markdown, page, table, JUnit, GitHub, GitLab, history and `report show`."""
    scripted.write(cases=len(shape.letters))
    recount = Recount.of(shape)
    lost = sum(a == "e" or b == "e" for ours, theirs in shape.letters for a, b in zip(ours, theirs, strict=True))
    is_valid = lost * 4 <= shape.runs * len(shape.letters)
    arms = (shape.arm(0), shape.arm(1))
    done = scripted.evaluate(*arms, "--runs", str(shape.runs), "--format", *FORMATS, code=0 if is_valid else 3)
    expected = Told(recount.cases, percent(float(recount.rate)), "passed" if is_valid else "error")
    assert not {name: told for name, told in told_by(scripted, done) if not told.agrees_with(expected)}
    (pair,) = json.loads(max((scripted.work / "reports").glob("run-*.record.json")).read_text())["summary"]["pairs"]
    agrees_with_recount(pair["evidence"], recount)
    for name, text in sentences_of(scripted, done):
        assert lift_and_chance(text) == (expected_texts(recount) if is_valid else None), name
    (row,) = [row for row in table_of(scripted) if row["arm"] == "with_skill"]
    assert row["lift"] == (f"{float(recount.lift):.4f}" if is_valid else "")


def expected_texts(recount: Recount) -> tuple[str, str]:
    """The lift in points and its chance, as a sentence has them."""
    if recount.chance < Fraction(1, 1000):
        return f"{float(recount.lift) * 100:+.1f}", "< 0.001"
    return f"{float(recount.lift) * 100:+.1f}", f"= {float(recount.chance + Fraction(1, 10**12)):.3f}"


def lift_and_chance(text: str, label: str = "") -> tuple[str, str] | None:
    """The first lift of a text with the chance for these cases, of a label if one is named; `None` if it has none."""
    lift = r"(?: helps| hurts|:)[^()]*?([+-]\d+\.\d) points against without_skill"
    pattern = rf"{re.escape(label)}{lift} \(.*?these cases: [^;]*?p ([<=] \d\.\d{{3}})"
    sentence = re.search(pattern, text)
    return (sentence[1], sentence[2]) if sentence else None


def agrees_with_recount(evidence: dict[str, Any], recount: Recount) -> None:
    """Lift, chance and cases of a comparison."""
    assert evidence["estimate"] == pytest.approx(float(recount.lift))
    assert evidence["chance"] == pytest.approx(float(recount.chance), rel=1e-6)
    assert evidence["n"] == recount.n


def sentences_of(scripted: Scripted, done: Done) -> Iterator[tuple[str, str]]:
    """The texts that have the sentence on the lift."""
    reports = scripted.work / "reports"
    yield "terminal", done.verdict
    yield "markdown", plain(reports / "eval-result.md")
    yield "page", plain(reports / "eval-result.html")
    yield "github", plain(reports / "eval-result.github.md")
    yield "gitlab", plain(reports / "eval-result.gitlab.md")
    yield "report show", scripted.program("report", "show", "latest").stdout


def plain(file: Path) -> str:
    """Its words, without marks."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", file.read_text())).replace("\\", "").split())


def table_of(scripted: Scripted) -> list[dict[str, str]]:
    """The rows for spreadsheets."""
    return list(csv.DictReader((scripted.work / "reports/eval-result.csv").read_text().splitlines()))


WAVERING = Shape(3, ((1, "p", "p"), (2, "ppf", "f"), (1, "p", "f"), (1, "ffp", "fpf")))
"""11 of 15 sessions pass with the skill, 4 without it."""
BESIDE = {
    "firing": (
        ("--engine", "firing"),
        [{"text": "good", "type": "equals", "value": "GOOD"}],
        "a skill fired in 11 of 15 sessions (where it did: ",
    ),
    "partial credit": (
        ("--engine", "scripted"),
        [{"text": "good", "type": "equals", "value": "GOOD"}, {"text": "ends", "type": "contains", "value": "D"}],
        "partial credit +23.3 points",
    ),
    "judged": (("--engine", "scripted", "--judge", "mock"), ["GOOD"], "disagree in "),
}
"""Options, assertions, and what stands beside the lift."""


@pytest.mark.parametrize(("options", "assertions", "beside"), BESIDE.values(), ids=BESIDE)
def test_what_stands_beside_a_lift_is_the_same(
    scripted: Scripted, options: tuple[str, ...], assertions: list[object], beside: str
) -> None:
    """Firing, partial credit and judged checks: outcomes, lift and its chance, and the figure beside them."""
    recount = Recount.of(WAVERING)
    evals = [{"id": number, "prompt": f"number {number}", "assertions": assertions} for number in range(1, 6)]
    (scripted.work / "s/evals/evals.json").write_text(json.dumps({"skill_name": "s", "evals": evals}))
    scripted.script(WAVERING.arm(0), WAVERING.arm(1))
    done = scripted.run("eval", "s", *options, "--runs", "3", "--format", *FORMATS)
    expected = Told(recount.cases, percent(float(recount.rate)), "passed")
    assert not {name: told for name, told in told_by(scripted, done) if not told.agrees_with(expected)}
    (pair,) = json.loads(max((scripted.work / "reports").glob("run-*.record.json")).read_text())["summary"]["pairs"]
    agrees_with_recount(pair["evidence"], recount)
    for name, text in sentences_of(scripted, done):
        assert lift_and_chance(text) == expected_texts(recount), name
        assert beside in " ".join(text.split()), name


LANES = {
    "three models": {
        "even": Shape(3, ((10, "p", "p"),)),
        "good": Shape(3, ((7, "p", "f"), (3, "p", "p"))),
        "weak": Shape(3, ((1, "p", "f"), (1, "ppf", "pff"), (1, "p", "f"), (7, "f", "f"))),
    },
    "one of two models is out of order": {
        "down": Shape(3, ((10, "e", "p"),)),
        "good": Shape(3, ((7, "p", "f"), (3, "p", "p"))),
    },
}


@pytest.mark.parametrize("lanes", LANES.values(), ids=LANES)
def test_every_model_has_its_own_figures(scripted: Scripted, lanes: dict[str, Shape]) -> None:
    """On each surface; an outage of one costs its own comparison alone."""
    scripted.write(cases=10)
    outcomes: dict[str, Letters] = {"with_skill": {}, "without_skill": {}}
    outcomes |= {
        f"{arm}@{model}": shape.arm(place)
        for model, shape in lanes.items()
        for place, arm in enumerate(("with_skill", "without_skill"))
    }
    (scripted.work / "outcomes.json").write_text(json.dumps(outcomes))
    command = ("eval", "s", "--engine", "scripted", "--model", ",".join(lanes), "--runs", "3", "--format", *FORMATS)
    done = scripted.run(*command, code=3 if "down" in lanes else 0)
    (path,) = (scripted.work / "reports").glob("run-*.record.json")
    pairs = {pair["candidate"]["model"]: pair for pair in json.loads(path.read_text())["summary"]["pairs"]}
    rows = {row["model"]: row for row in table_of(scripted) if row["arm"] == "with_skill"}
    texts = dict(sentences_of(scripted, done)) | {"terminal": done.stdout + done.verdict}
    for model, shape in lanes.items():
        label = f"s · with_skill · {model}"
        if model == "down":
            assert pairs[model]["evidence"] is None
            assert not [name for name, text in texts.items() if re.search(rf"{label} (helps|hurts)", text)]
            continue
        recount = Recount.of(shape)
        agrees_with_recount(pairs[model]["evidence"], recount)
        assert rows[model]["lift"] == f"{float(recount.lift):.4f}"
        assert percent(rows[model]["passRate"]) == percent(float(recount.rate))
        for name, text in texts.items():
            assert lift_and_chance(text, label) == expected_texts(recount), (name, model)


def test_every_skill_of_many_has_its_own_figures(scripted: Scripted) -> None:
    """Twenty skills of ten cases that are a coin in both arms: figures by skill, the level for all of them together."""
    chance = random.Random(9)
    coins = ["".join(chance.choice("pf") for _ in range(5)) for _ in range(400)]
    shapes = [
        Shape(5, tuple((1, coins[20 * skill + 2 * case], coins[20 * skill + 2 * case + 1]) for case in range(10)))
        for skill in range(20)
    ]
    arms: dict[str, Letters] = {"with_skill": {}, "without_skill": {}}
    for skill, shape in enumerate(shapes, 1):
        scripted.write(cases=10, name=f"skill-{skill}")
        file = scripted.work / f"skill-{skill}/evals/evals.json"
        document = json.loads(file.read_text())
        for case in document["evals"]:
            case["id"] = 100 * skill + case["id"]
        file.write_text(json.dumps(document))
        for place, arm in enumerate(arms):
            arms[arm] |= {str(100 * skill + int(case)): letters for case, letters in shape.arm(place).items()}
    (scripted.work / "outcomes.json").write_text(json.dumps(arms))
    names = [f"skill-{skill}" for skill in range(1, 21)]
    done = scripted.run("eval", *names, "--engine", "scripted", "--runs", "5", "--format", *FORMATS)
    (path,) = (scripted.work / "reports").glob("run-*.record.json")
    pairs = {pair["candidate"]["suite_id"]: pair for pair in json.loads(path.read_text())["summary"]["pairs"]}
    rows = {row["skillId"]: row for row in table_of(scripted) if row["arm"] == "with_skill"}
    assert done.stdout.startswith("20 skills: ")
    markdown = plain(scripted.work / "reports/eval-result.md")
    for name, shape in zip(names, shapes, strict=True):
        shown = scripted.program("report", "show", path, "--target", name)
        recount = Recount.of(shape)
        agrees_with_recount(pairs[name]["evidence"], recount)
        assert pairs[name]["evidence"]["comparisons"] == 20
        assert float(rows[name]["lift"]) == pytest.approx(float(recount.lift), abs=5e-5)
        assert lift_and_chance(shown.stdout, f"{name} · with_skill") == expected_texts(recount), name
        assert f"| {name} | cannot be told | {expected_texts(recount)[0]} |" in markdown
    assert not [pair for pair in pairs.values() if pair["evidence"]["finding"] != "undecided"]

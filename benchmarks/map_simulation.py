"""The error and the power of a map: planted shadowing among 15, 30 and 60 skills, by an agent that errs.

Run: python benchmarks/map_simulation.py [MAPS]

The rules of `skillgauge map` are called directly: suspects are chosen from a first part, left out in a second one, and
pairs are called. MAPS catalogues a row (default 40) have one pair in fifteen skills planted, or none. In a fifth of its
sessions the agent takes any skill or none; one skill is loaded in every session and keeps none from firing. Everything
is seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from skillgauge_command_map.findings import Pair, Screened, pair_rows
from skillgauge_command_map.overlap import Likeness
from skillgauge_command_map.queries import ALL, arm_without
from skillgauge_command_map.sessions import Fired
from skillgauge_skill_maps.model import PROVEN

EVERY, SUSPECTS = 15, 2
ERRS = 0.1
"""Share of sessions that take any skill, and the share that take none."""
WORDS = 6
"""Words of a description that no other has."""


@dataclass(frozen=True)
class Setting:
    """A kind of catalogue."""

    skills: int
    queries: int
    runs: int
    takes: float = 1.0
    """Share of the other's sessions that a shadowing skill takes."""
    errs: float = ERRS
    is_planted: bool = True


@dataclass
class Catalogue:
    """A catalogue of made-up skills, and an agent."""

    setting: Setting
    random: Random
    shadowed_by: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Plant the pairs."""
        if self.setting.is_planted:
            places = range(0, self.setting.skills, EVERY)
            self.shadowed_by = {self.names[place]: self.names[place + 3] for place in places}

    @property
    def names(self) -> list[str]:
        """The skills."""
        return [f"skill {chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(self.setting.skills)]

    @property
    def pairs(self) -> set[Pair]:
        """The planted pairs."""
        return {(suspect, name) for name, suspect in self.shadowed_by.items()}

    def likeness(self) -> Likeness:
        """The likeness of the descriptions: one that shadows another promises what that one does."""
        own = {name: " ".join(f"word{name[-2:]}{chr(97 + number)}" for number in range(WORDS)) for name in self.names}
        promised = {suspect: own[name] for name, suspect in self.shadowed_by.items()}
        return Likeness({name: f"use for {own[name]} {promised.get(name, '')}" for name in own})

    def sessions(self, owner: str, arm: str) -> Iterable[Fired]:
        """Hold the sessions of a skill's queries in an arm."""
        for query in range(self.setting.queries):
            for _ in range(self.setting.runs):
                skills = self.chosen(owner, [name for name in self.names if arm_without(name) != arm])
                yield Fired(owner, f"{query}", arm, skills, owner in skills)

    def chosen(self, owner: str, installed: list[str]) -> frozenset[str]:
        """Choose as the agent does."""
        always = {self.names[-1]} & {*installed}
        luck, suspect = self.random.random(), self.shadowed_by.get(owner)
        if luck < self.setting.errs:
            return frozenset(always)
        if luck < 2 * self.setting.errs:
            return frozenset({self.random.choice(installed), *always})
        is_taken = suspect in installed and self.random.random() < self.setting.takes
        return frozenset({suspect if suspect and is_taken else owner, *always})


@dataclass
class Counts:
    """The outcome of many maps."""

    planted: int = 0
    found: int = 0
    whole: int = 0
    """Maps that found every planted pair."""
    false: int = 0
    wrong: int = 0
    """Maps with a false pair."""
    screening: int = 0
    again: int = 0

    def add(self, setting: Setting, seed: int) -> None:
        """Make a map."""
        catalogue = Catalogue(setting, Random(seed))
        first = [one for name in catalogue.names for one in catalogue.sessions(name, ALL)]
        screened = Screened.of(catalogue.likeness(), first)
        left_out = {name: screened.suspects(name, SUSPECTS) for name in catalogue.names}
        tested = [(suspect, name) for name, suspects in left_out.items() for suspect in suspects]
        arms = [
            (name, arm) for name, suspects in left_out.items() if suspects for arm in (ALL, *map(arm_without, suspects))
        ]
        again = [one for name, arm in arms for one in catalogue.sessions(name, arm)]
        called = {(row.skill, row.query_of) for row in pair_rows(screened, again, tested) if row.relation in PROVEN}
        self.planted += len(catalogue.pairs)
        self.found += len(catalogue.pairs & called)
        self.whole += catalogue.pairs <= called
        self.false += len(called - catalogue.pairs)
        self.wrong += not called <= catalogue.pairs
        self.screening += len(first)
        self.again += len(again)


SETTINGS = (
    *(Setting(skills, queries, 3) for skills in (15, 30, 60) for queries in (2, 3, 4, 6)),
    Setting(60, 4, 5),
    Setting(60, 4, 3, takes=0.5),
    Setting(60, 8, 5, takes=0.5),
    Setting(60, 4, 3, is_planted=False),
    Setting(60, 4, 3, errs=0.3, is_planted=False),
    Setting(60, 6, 5, errs=0.3, is_planted=False),
)


def main(maps: int) -> None:
    """Print a row for each setting."""
    print(
        "skills  queries  runs  takes  errs  planted found  whole maps  false a map  maps with one  sessions  and again"
    )
    for setting in SETTINGS:
        counts = Counts()
        for seed in range(maps):
            counts.add(setting, seed)
        found = f"{counts.found / counts.planted:.1%}" if counts.planted else "none planted"
        whole = f"{counts.whole / maps:.0%}" if counts.planted else ""
        print(
            f"{setting.skills:6}  {setting.queries:7}  {setting.runs:4}  {setting.takes:5.0%}  {2 * setting.errs:4.0%}"
            f"  {found:>13}  {whole:>10}  {counts.false / maps:11.3f}  {counts.wrong / maps:13.1%}"
            f"  {counts.screening / maps:8.0f}  {counts.again / maps:9.0f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

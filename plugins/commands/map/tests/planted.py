"""Catalogues with planted shadowing: made-up words, so that only what was planted is alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

from choosing_agent import ALWAYS

EVERY = 15
"""One pair is planted for so many skills."""
QUERIES = 5
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "ne", "pa", "ri", "so", "tu", "ve", "zo")


def made_up_words(seed: int) -> Iterator[str]:
    """Yield words of four syllables, none twice."""
    random, seen = Random(seed), set[str]()
    while True:
        word = "".join(random.choices(_SYLLABLES, k=4))
        if word not in seen:
            seen.add(word)
            yield word


def write_skill(folder: Path, name: str, description: str, queries: list[str]) -> None:
    """Write a skill with the queries that should make it fire."""
    (folder / name / "evals").mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\nDo it.\n")
    if queries:
        items = [{"query": query, "should_trigger": True} for query in queries]
        (folder / name / "evals/trigger-eval.json").write_text(json.dumps(items))


def plant(folder: Path, number: int, *, seed: int = 0) -> set[tuple[str, str]]:
    """Write a catalogue and return the planted pairs: the skill that shadows, and the one that is shadowed.

    The description of one skill in each group of fifteen also promises everything that another one of the group does.
    The last skill of the catalogue is loaded in every session and keeps none from firing.
    """
    words = made_up_words(seed)
    own = {f"skill-{place:02d}": [next(words) for _ in range(6)] for place in range(number)}
    names = list(own)
    pairs = {(names[place + 3], names[place]) for place in range(0, number, EVERY)}
    shadows = dict(pairs)
    for name, mine in own.items():
        promised = [*mine, *(own[shadows[name]] if name in shadows else [])]
        always = f", {ALWAYS}" if name == names[-1] else ""
        queries = [" ".join(chosen) for chosen in Random(f"{seed} {name}").sample([*combinations(mine, 4)], QUERIES)]
        write_skill(folder, name, f"Use for {' '.join(promised)}{always}", queries)
    return pairs

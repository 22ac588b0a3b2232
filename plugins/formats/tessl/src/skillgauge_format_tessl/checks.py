"""From items of a checklist to checks, and the names of claims that are written back as items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from skillgauge.api import Check, JsonValue

from .claiming import TASK
from .files import ItemFile
from .reading import Reading

RUBRIC = "rubric"
TRAJECTORY = "trajectory"
_PRIVATE = ("category", "source")
"""Keys of items that nothing is decided by."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_WITH_DIGIT = re.compile(r"(?<![\w./-])(?=[\w.-]*\d)[\w.-]*\w")
_PATH = re.compile(r"/|\.[A-Za-z]\w{0,4}$")
_SHORTEST = 3
"""Characters of a value that says enough to be looked for."""
_OF_THE_SESSION = re.compile(
    r"\b(transcripts?|session logs?|agent(?:'s)? logs?|tool calls?|trajectory|conversation)\b", re.IGNORECASE
)
_NUMBERED = re.compile(r" \(\d+\)$")
_LONGEST_NAME = 60


def checks_of(reading: Reading, items: tuple[ItemFile, ...], task: str) -> Iterator[Check]:
    """A claim for each item, with its points as weight."""
    counts: Counter[str] = Counter()
    for number, item in enumerate(items):
        counts[item.name] += 1
        identity = item.name if counts[item.name] == 1 else f"{item.name} ({counts[item.name]})"
        for key in _PRIVATE:
            if getattr(item, key) is not None:
                reading.tell(f"{key} of an item has no effect", "checklist", number, key)
        _lint(reading, item, number, task)
        yield Check(
            id=identity,
            scorer=RUBRIC,
            options={"claims": (claim_of(item.name, item.description),), TRAJECTORY: False},
            weight=float(item.max_score),
            origin=reading.document.origin("checklist", number),
        )


def private_keys(items: tuple[ItemFile, ...]) -> dict[str, JsonValue]:
    """The keys of items that nothing is decided by, by the name of the item, for writing them back."""
    kept: dict[str, JsonValue] = {}
    for item in items:
        values: dict[str, JsonValue] = {key: value for key in _PRIVATE if (value := getattr(item, key)) is not None}
        if values:
            kept.setdefault(item.name, values)
    return kept


def claim_of(name: str, description: str) -> str:
    """The statement that a judge finds true or false: the description alone, where it begins with the name."""
    return description if description.startswith(name) else f"{name}: {description}"


def item_of(identity: str, claim: str) -> tuple[str, str]:
    """Name and description of the item that becomes this claim, under the id of its check if that can be."""
    for name in (identity, _NUMBERED.sub("", identity)):
        for description in (claim.removeprefix(f"{name}: "), claim):
            if name.strip() and description.strip() and claim_of(name, description) == claim:
                return name, description
    return _beginning(claim), claim


def _beginning(claim: str) -> str:
    """The first words of a claim, as it begins."""
    if len(claim) <= _LONGEST_NAME:
        return claim
    words = claim[:_LONGEST_NAME].rpartition(" ")[0]
    return words if words.strip() else claim


def _lint(reading: Reading, item: ItemFile, number: int, task: str) -> None:
    """Tell of points that are free, and of what a judge of files cannot see."""
    place = ("checklist", number, "description")
    values = _values(item.description)
    if values and all(value in task for value in values):
        message = f"all values that this item asks for stand in {TASK}, so its points may be free"
        reading.tell(message, *place, hint="Take them out of the task, or ask for what the task does not say.")
    if _OF_THE_SESSION.search(item.description):
        message = "this item may be about the session, of which the judge sees files and answer alone"
        reading.tell(message, *place, hint="Let the task ask for a file that shows it.")


def _values(description: str) -> set[str]:
    """The values that a description gives word for word, quoted or with a digit in them; names of files are none."""
    quoted = {"".join(groups) for groups in _QUOTED.findall(description)}
    values = quoted | set(_WITH_DIGIT.findall(description))
    return {value for value in values if len(value) >= _SHORTEST and not _PATH.search(value)}


def without_defaults(options: Mapping[str, JsonValue]) -> set[str]:
    """Names of the options of a claim that an item cannot say."""
    lost = {key for key, value in options.items() if key not in ("claims", TRAJECTORY) and value is not None}
    return lost | ({TRAJECTORY} if options.get(TRAJECTORY, True) else set())

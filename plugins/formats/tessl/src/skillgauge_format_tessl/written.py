"""From checks to items of a checklist, and from ids to names of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from skillgauge.api import Case, Check, thaw

from .cases import ITEMS
from .checks import RUBRIC, item_of, without_defaults
from .scenarios import SKIPPED_FOLDERS

_MOST_LEVELS = 3
_LONGEST_NAME = 60
_LARGEST_FACTOR = 1000
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")


@dataclass(frozen=True)
class Written:
    """The checklist of a case, and what it cannot say."""

    items: tuple[dict[str, Any], ...]
    losses: tuple[tuple[Check | None, str], ...]
    """Each with the check that it is about; `None`: about the case."""


def checklist(case: Case) -> Written:
    """The claims of a case as items: only they can be written."""
    items: list[dict[str, Any]] = []
    weights: list[float] = []
    losses: list[tuple[Check | None, str]] = []
    private = case.extras.get(ITEMS, {})
    for check in case.checks:
        losses += [(check, f"check {check.id!r} {loss}") for loss in _losses(check)]
        claims = _claims(check)
        for claim in claims:
            name, description = item_of(check.id, claim)
            kept = private.get(name, {}) if isinstance(private, Mapping) else {}
            items.append({"name": name, "description": description, **thaw(kept)})
            weights.append(check.weight / len(claims))
    points, is_exact = _points(weights)
    if points != weights:
        how = "in the same proportion" if is_exact else "rounded"
        losses.append((None, f"its weights become whole numbers, {how}"))
    return Written(tuple(item | {"max_score": number} for item, number in zip(items, points, strict=True)), (*losses,))


def _claims(check: Check) -> tuple[str, ...]:
    """The claims that can be items; none of a check that is left out."""
    claims = check.options.get("claims")
    if check.scorer != RUBRIC or not isinstance(claims, tuple) or check.beside or not check.weight:
        return ()
    return tuple(map(str, claims))


def _losses(check: Check) -> Iterator[str]:
    claims = _claims(check)
    if not claims:
        yield f"of scorer {check.scorer!r} is left out: {_why_not(check)}"
        return
    if len(claims) > 1:
        yield f"becomes {len(claims)} items"
    if lost := sorted(without_defaults(check.options)):
        yield f"loses {', '.join(lost)}"
    if check.stage:
        yield "would be asked whatever others say"


def _why_not(check: Check) -> str:
    if check.scorer != RUBRIC or not check.options.get("claims"):
        return "an item is a claim about the files"
    return "every item counts"


def _points(weights: Sequence[float]) -> tuple[list[int], bool]:
    """Whole numbers in the proportion of weights, and whether they are exactly that."""
    fractions = [Fraction(weight).limit_denominator(_LARGEST_FACTOR) for weight in weights]
    factor = lcm(*(fraction.denominator for fraction in fractions))
    is_exact = factor <= _LARGEST_FACTOR and all(
        abs(fraction - weight) < 1e-9 for fraction, weight in zip(fractions, weights, strict=True)
    )
    factor = factor if is_exact else _LARGEST_FACTOR
    return [max(1, round(weight * factor)) for weight in weights], is_exact


class Folders:
    """Names of folders for cases, each once whatever the letters' case.

    Args:
        ids: those of all cases.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = frozenset(ids)
        self._used = {identity.casefold() for identity in ids if self._is_safe(identity)}
        self._kept: set[str] = set()

    def name(self, identity: str) -> str:
        """The id itself where it can be the path of a scenario, else a name that resembles it."""
        if self._is_safe(identity) and identity.casefold() not in self._kept:
            self._kept.add(identity.casefold())
            return identity
        stem = re.sub(r"[^a-z0-9]+", "-", identity.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "scenario"
        number, name = 1, f"{stem}-1" if stem in SKIPPED_FOLDERS else stem
        while name in self._used:
            number += 1
            name = f"{stem}-{number}"
        self._used.add(name)
        return name

    def _is_safe(self, identity: str) -> bool:
        """Tell whether a reader finds a scenario under this path, on any system."""
        parts = identity.split("/")
        outer = ("/".join(parts[:count]) for count in range(1, len(parts)))
        if len(parts) > _MOST_LEVELS or any(path in self._ids for path in outer):
            return False
        return all(map(_is_folder_name, parts))


def _is_folder_name(part: str) -> bool:
    if not part or part.startswith(".") or part != part.strip(" .") or len(part.encode()) > 200:
        return False
    return part not in SKIPPED_FOLDERS and not _UNSAFE.search(part)

"""Suites of that which two formats can hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random

from skillgauge.api import Case, Check

from .conversions import DIRECT, typed_check
from .kinds_of_checks import ALONE, BESIDE, HELD, KINDS, ONE_JUDGED, REPEATED, TOGETHER, WEIGHTS
from .parts_of_cases import (
    ABOUT_ALL,
    ABOUT_TURN,
    EXCLUSIVE,
    HELD_PARTS,
    HELD_RULES,
    PARTS,
    REQUIRED,
    RULES,
    SHARES,
    TALKS,
)

_LETTERS = "abcXYZ é.'\"-"
_TURNS = 3


@dataclass(frozen=True)
class Drawn:
    """Cases for two formats.

    Args:
        cases: the cases.
        parts: the parts that they have beside their checks.
        has_kinds: True if their checks are of kinds that both formats hold; otherwise the first one holds them.
        has_rule: True if their rule is one that both formats hold; otherwise it is that of the first one.
    """

    cases: tuple[Case, ...]
    parts: tuple[str, ...]
    has_kinds: bool
    has_rule: bool


def draw(rng: Random, first: str, second: str) -> Drawn:
    """Return cases of anything that two formats hold; of a direct call and an agent's question those of the first."""
    is_apart = (first == DIRECT) is not (second == DIRECT)
    formats = {first} if is_apart or not HELD[first] & HELD[second] else {first, second}
    rules = _common(HELD_RULES, {first, second}) if len(formats) == 2 or first == second else frozenset()
    rule = rng.choice(sorted(rules or HELD_RULES[first]))
    kinds = _common(HELD, formats)
    if "vally" in formats and rule in SHARES:  # there the claims of a case are one criterion then
        rule, kinds = (rule, others) if (others := kinds - {"claim", "claims"}) else ("all", kinds)
    wanted = _parts(rng, formats, rule)
    if not _may_talk(kinds, formats):
        wanted = tuple(part for part in wanted if part not in TALKS)
    drawing = _Drawing(rng, formats, frozenset(kinds), rule, wanted)
    cases = tuple(drawing.case(number, first) for number in range(rng.randint(1, 3)))
    return Drawn(cases, wanted, has_kinds=first == second or len(formats) == 2, has_rule=rule in rules)


def _common(held: object, formats: Collection[str]) -> frozenset[str]:
    assert isinstance(held, dict)
    return frozenset.intersection(*(held[name] for name in formats))


def _parts(rng: Random, formats: Collection[str], rule: str) -> tuple[str, ...]:
    """Return parts that formats hold, at most one of those that exclude each other."""
    chosen: list[str] = []
    for part in rng.sample(sorted(PARTS), len(PARTS)):
        rivals = {other for group in EXCLUSIVE if part in group for other in group}
        is_held = part in _common(HELD_PARTS, formats) and not rivals & set(chosen)
        if is_held and rng.random() < 0.6 and (part not in TALKS or rule == "all"):
            chosen.append(part)
    return tuple(chosen)


def _may_talk(kinds: Collection[str], formats: Collection[str]) -> bool:
    return any(True for kind in kinds for _ in _turns(kind, formats))


def _turns(kind: str, formats: Collection[str]) -> Iterator[int | None]:
    """Yield the turns that a check of a kind may be about in all of some formats; `None`: the whole conversation."""
    if all(kind in ABOUT_ALL.get(name, ()) for name in formats):
        yield None
    if all(kind in ABOUT_TURN.get(name, ()) for name in formats):
        yield from range(_TURNS)


@dataclass(frozen=True)
class _Drawing:
    rng: Random
    formats: Collection[str]
    kinds: frozenset[str]
    rule: str
    parts: tuple[str, ...]

    def case(self, number: int, first: str) -> Case:
        """Return a case with its parts and checks."""
        asks = {"input": {"number": number}} if first == DIRECT else {"prompt": f"Say hello {number}."}
        fields = {key: one for part in self.parts for key, one in PARTS[part](self.rng, number).items()}
        checks = tuple(self._checks(number))
        return Case(id=f"case-{number}", checks=checks, rule=RULES[self.rule], **{**asks, **fields})

    def _checks(self, number: int) -> Iterator[Check]:
        chosen = self._chosen()
        checks = [typed_check(f"{kind} {number} {index}", kind, self._texts()) for index, kind in enumerate(chosen)]
        if TALKS & set(self.parts):
            yield from self._of_turns(chosen, checks)
            return
        is_weighed = self.formats <= WEIGHTS and self.rule in SHARES
        is_beside = self.formats <= BESIDE and len(checks) > 1 and self.rng.random() < 0.5
        for index, check in enumerate(checks):
            weight = self.rng.choice((1.0, 2.0)) if is_weighed else 1.0
            beside = is_beside and index == 0
            yield check.model_copy(update={"beside": beside, "weight": 1.0 if beside else weight})

    def _chosen(self) -> list[str]:
        """Return kinds of checks for a case, as many as all formats let stand together."""
        most = min(TOGETHER.get(name, 3) for name in self.formats)
        talks = bool(TALKS & set(self.parts))
        kinds = [kind for kind in sorted(self.kinds) if not talks or any(True for _ in _turns(kind, self.formats))]
        chosen = self.rng.sample(kinds, min(len(kinds), self.rng.randint(1, most)))
        if len(chosen) < most and set(chosen) & REPEATED:
            chosen += [kind for kind in chosen if kind in REPEATED]
        if "benchflow" in self.formats and set(chosen) & ALONE:
            return [next(kind for kind in chosen if kind in ALONE)]
        judged = [kind for kind in chosen if KINDS[kind](("a", "b"))[0] == "rubric"]
        if self.formats & ONE_JUDGED and len(judged) > 1:
            return [kind for kind in chosen if kind not in judged] + judged[:1]
        return chosen

    def _of_turns(self, chosen: list[str], checks: list[Check]) -> Iterator[Check]:
        turns = [self.rng.choice(list(_turns(kind, self.formats))) for kind in chosen]
        may_require = [kind for kind, turn in zip(chosen, turns, strict=True) if turn is not None]
        is_required = self.rng.random() < 0.5 and all(
            kind in REQUIRED.get(name, ()) for kind in may_require for name in self.formats
        )
        for check, turn in zip(checks, turns, strict=True):
            yield check.model_copy(update={"turn": turn, "required": is_required and turn is not None})

    def _texts(self) -> tuple[str, str]:
        return (self._text(), self._text())

    def _text(self) -> str:
        text = "".join(self.rng.choice(_LETTERS) for _ in range(self.rng.randint(2, 8))).strip()
        return f"{text}{self.rng.randint(10, 99)}"

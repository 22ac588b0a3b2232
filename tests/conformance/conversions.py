"""Suites of no format, their conversion there and back, and the comparison of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    Suite,
    Target,
    VerdictMode,
    VerdictRule,
    canonical_json,
    freeze,
    thaw,
)
from skillgauge.api.run import Invocation
from skillgauge_command_convert.converting import Converted, convert
from skillgauge_skill_folders import skill_ref

from .kinds_of_checks import KINDS

CALCULATOR = Path(__file__).parents[2] / "examples/skills/calculator"
DIRECT = "eval-skills"
"""The format whose tasks call a skill directly, each with one check."""
SKILL = "---\nname: greet\ndescription: Greets people by name when asked to say hello.\n---\nSay hello.\n"


def typed_check(name: str, kind: str, texts: tuple[str, str]) -> Check:
    """Return a check of a kind about two texts."""
    scorer, options = KINDS[kind](texts)
    frozen = freeze(options)
    assert isinstance(frozen, Mapping)
    return Check(id=name, scorer=scorer, options=frozen)


def suite_about(format_name: str, folder: Path, cases: tuple[Case, ...]) -> Suite:
    """A suite of no format: about a skill, or direct calls of one."""
    if format_name == DIRECT:
        target = Target(id="calculator", root=str(CALCULATOR))
        return Suite(id="s", format="made-up", root=str(CALCULATOR), cases=cases, targets=(target,))
    root = folder / "source/greet"
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text(SKILL)
    arms = (
        Arm(name="with_skill", kind=ArmKind.AGENT, skills=(skill_ref(root, "greet", ()),)),
        Arm(name="without_skill", kind=ArmKind.AGENT),
    )
    pair = Comparison(candidate="with_skill", baseline="without_skill")
    target = Target(id="greet", root=str(root))
    return Suite(
        id="s", format="made-up", root=str(root), cases=cases, targets=(target,), arms=arms, comparisons=(pair,)
    )


def converted(call: Invocation, suite: Suite, name: str, folder: Path) -> tuple[Converted, Suite]:
    """Return a suite in a format, and the suite that its files are read as."""
    made = convert(call, suite, name, call.suite_format(name))
    assert not made.refusals, [one.message for one in made.refusals]
    place = folder / "greet"
    for path, content in made.files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    paths = [place / made.files[0][0], CALCULATOR] if name == DIRECT else [place]
    (read,) = call.suites(*paths, suite_format=name).suites
    return made, read


def meanings(call: Invocation, checks: Iterable[Check]) -> list[tuple[Any, ...]]:
    """Return what checks assert and how they count, whatever they are called."""
    return sorted(
        (
            check.scorer,
            effective(call, check),
            check.beside,
            0.0 if check.beside else round(check.weight, 6),
            check.turn if check.turn is not None else -1,
            check.required and check.turn is not None,
        )
        for check in checks
    )


def effective(call: Invocation, check: Check) -> str:
    """Return the options of a check as they take effect, as one text."""
    model = call.registry.options_model("scorers", check.scorer)
    assert model is not None
    options = model.model_validate(thaw(check.options)).model_dump(mode="json", by_alias=True)
    if options.get("criteria") is not None and options["scale"] is None:
        options["scale"] = "pass-fail"  # so says the scorer of a check that names none
    return canonical_json(freeze({key: value for key, value in options.items() if key != "label"}))


def differences(call: Invocation, before: Suite, after: Suite) -> list[object]:
    """Return what differs of two suites: cases by their prompts, their checks, and their rules."""
    was, now = ({asked(case): case for case in suite.cases} for suite in (before, after))
    found: list[object] = sorted(was.keys() ^ now.keys())
    for prompt in was.keys() & now.keys():
        mine, other = was[prompt], now[prompt]
        if meanings(call, mine.checks) != meanings(call, other.checks):
            found.append((meanings(call, mine.checks), meanings(call, other.checks)))
        if passes(mine.rule) != passes(other.rule):
            found.append((mine.rule, other.rule))
    return found


def asked(case: Case) -> str:
    """Return all that a case asks, by which it is found again whatever it is called."""
    return "\n".join((case.prompt or canonical_json(case.input), *case.turns))


def passes(rule: VerdictRule) -> VerdictRule:
    """Return a rule, the same for all by which the same cases pass: `each` differs from `all` by partial credit."""
    return VerdictRule() if rule.mode is VerdictMode.EACH else rule


def of_checks(made: Converted, suite: Suite) -> Sequence[str]:
    """Return the losses that name a check."""
    names = [repr(check.id) for case in suite.cases for check in case.checks]
    return [one.message for one in made.losses if any(f"check {name}" in one.message for name in names)]

"""Write conversations: the turns of a case with the assertions of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skillgauge.api import Case, Check, FrozenDict, VerdictMode, VerdictRule
from skillgauge_assertions import with_variables

from .conversations import MODE, named, threshold_with
from .graders import reference
from .grading import THRESHOLD

Write = Callable[[Case], list[Any]]
"""Makes the assertions of a case with the checks of one turn."""
_TEMPLATE = ("{{", "{%", "{#")
_SAME = 1e-6
"""Least difference between weights that is one."""


def conversation(case: Case, write: Write) -> dict[str, Any]:
    """Return the keys of a test that say what is asked, and what of each turn is asserted."""
    variables: dict[str, str] = {}
    turns = []
    for number, text in enumerate((case.prompt or "", *case.turns)):
        name = f"turn_{number + 1}"
        if any(sign in text for sign in _TEMPLATE):  # braces in the value of a variable are what is asked
            variables[name] = text
        turn: dict[str, Any] = {"input": f"{{{{ {name} }}}}" if name in variables else text}
        turns.append(_with_texts(turn | _graded(case, number, write), variables))
    keys: dict[str, Any] = {"mode": MODE, "vars": variables, "turns": turns}
    if case.rule.mode is VerdictMode.MEAN:
        units, empty = len(turns) + _has_whole(case), sum(turn.keys() == {"input"} for turn in turns)
        keys["threshold"] = threshold_with(case.rule.threshold, units, empty)
    else:
        keys |= {"aggregation": "min", "threshold": 1.0}
        keys |= {"on_turn_failure": "stop"} if _stops(case) else {}
    if keys["threshold"] == THRESHOLD:
        del keys["threshold"]
    whole, texts = with_variables(_unit(case, None, write), variables)
    variables |= texts
    return {key: value for key, value in {**keys, "assert": whole}.items() if value not in ({}, [])}


def _with_texts(turn: dict[str, Any], variables: dict[str, str]) -> dict[str, Any]:
    """Return a turn whose texts with braces are variables, which are added."""
    if "assert" not in turn:
        return turn
    asserted, texts = with_variables(turn["assert"], variables)
    variables |= texts
    return turn | {"assert": asserted}


def unsaid(case: Case) -> Iterator[str]:
    """Yield what a test cannot say of a conversation."""
    if case.rule.mode is VerdictMode.MEAN:
        if case.rule.above:
            yield "its rule for a verdict is left out"
        totals = [_total(case, turn) for turn in _turns(case)]
        if any(abs(total - 1) > _SAME for total in totals) and max(totals) - min(totals) > _SAME:
            yield "each of its turns counts the same, whatever its checks weigh"
    if not _stops(case) and any(check.required for check in case.checks):
        yield "what has to hold for the conversation to go on is asked as any other check"
    for check in case.checks:
        if not is_said(case, check):
            yield f"check {check.id!r} of scorer {check.scorer!r} is left out: a turn would pass with less"
        if check.stage:
            yield f"check {check.id!r} would be asked whatever others say"


def is_said(case: Case, check: Check) -> bool:
    """Tell whether a conversation has a check: where all have to hold, a judge's number below 1 passes none."""
    threshold = check.options.get("threshold")
    return case.rule.mode is VerdictMode.MEAN or check.beside or threshold in (None, 1)


def _stops(case: Case) -> bool:
    """Tell whether the first turn that fails ends the conversation."""
    of_turns = [check for check in case.checks if check.turn is not None and not check.beside]
    return bool(of_turns) and all(check.required for check in of_turns) and case.rule.mode is not VerdictMode.MEAN


def _graded(case: Case, turn: int, write: Write) -> dict[str, Any]:
    """Return what a turn says of its answer: what would be right, if that is all, else its assertions."""
    checks = _of(case, turn)
    wanted = checks[0].options.get("reference") if len(checks) == 1 else None
    if isinstance(wanted, str) and (part := reference(wanted)) and part.options == checks[0].options:
        return {"expected_output": wanted}
    asserted = _typed(_unit(case, turn, write))
    return {"assert": asserted} if asserted else {}


def _turns(case: Case) -> list[int | None]:
    return list(dict.fromkeys(check.turn for check in case.checks if not check.beside)) or [None]


def _has_whole(case: Case) -> bool:
    return any(check.turn is None for check in case.checks)


def _of(case: Case, turn: int | None) -> list[Check]:
    return [check for check in case.checks if check.turn == turn and is_said(case, check)]


def _total(case: Case, turn: int | None) -> float:
    return sum(check.weight for check in _of(case, turn) if not check.beside)


def _unit(case: Case, turn: int | None, write: Write) -> list[Any]:
    """Return the assertions of a turn; without weights, where all of them weigh the same."""
    checks = _of(case, turn)
    counting = [check.weight for check in checks if not check.beside]
    is_even = bool(counting) and max(counting) - min(counting) < _SAME
    prefix = "" if turn is None else named("", turn)
    kept = case.extras.get("assert")
    raw = kept if isinstance(kept, Mapping) else {}
    plain = [
        check.model_copy(
            update={"id": check.id.removeprefix(prefix), "weight": 1.0 if is_even else check.weight, "stage": 0}
        )
        for check in checks
    ]
    own = {one.id: raw[check.id] for one, check in zip(plain, checks, strict=True) if check.id in raw}
    update = {"checks": tuple(plain), "rule": VerdictRule(mode=VerdictMode.MEAN), "extras": FrozenDict({"assert": own})}
    return write(case.model_copy(update=update))


def _typed(asserted: Sequence[Any]) -> list[Any]:
    """Return assertions of a turn, where texts beside others would be one of them together."""
    if all(isinstance(one, str) for one in asserted):
        return list(asserted)
    return [{"type": "llm-rubric", "metric": one, "value": [one]} if isinstance(one, str) else one for one in asserted]

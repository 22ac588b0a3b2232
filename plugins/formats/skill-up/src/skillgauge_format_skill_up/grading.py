"""Write the checks of a case: what `expect` asks first, then one judge, or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import ALL_PASSED, Case, Check

from .drafts import COMMAND
from .judges import AGENT, RULES, SCRIPT, SCRIPT_TIMEOUT_S, script_of
from .written import (
    Entry,
    Lenience,
    condition_of,
    criteria_of,
    expected_entry,
    is_exact,
    lenience_of,
    rule_of,
    script_text,
)

Put = Callable[[str, str], None]
"""Puts a file with a text at a path among those that are written."""


@dataclass
class CaseGrading:
    """The checks of one case on their way into its file."""

    case: Case
    number: int
    put: Put
    model: str
    """That judges ask if a check names none."""
    losses: list[str] = field(default_factory=list)
    conditions: list[Check] = field(default_factory=list)
    """Checks that are written as conditions of turns."""
    _lenience: Lenience | None = None

    def keys(self) -> Entry:
        """Return `expect` and `judge` or `judges`; empty if nothing can be said."""
        checks = [check for check in self.case.checks if self._is_writable(check)]
        self.conditions = list(self._conditions(checks))
        checks = [check for check in checks if check not in self.conditions]
        self._lenience = lenience_of(self.case, checks)
        if self.case.rule != ALL_PASSED and self._lenience is None:
            self._lose("its rule for a verdict is left out: in skill-up every check has to pass")
        if self._lenience is None and any(check.weight != 1 for check in checks):
            self._lose("weights of its checks are left out")
        expected, judged = self._divided(checks)
        members = self._members(judged)
        keys: Entry = {"expect": self._expect(expected)} if expected else {}
        if len(members) == 1:
            keys["judge"] = members[0]
        elif members:
            keys["judges"] = [{"id": f"judge-{number}"} | member for number, member in enumerate(members, 1)]
        self._tell_patterns([*expected, *self.conditions, *judged])
        return keys

    def _conditions(self, checks: list[Check]) -> Iterator[Check]:
        """Yield the checks of turns without which a conversation ends."""
        used: set[tuple[int | None, str]] = set()
        for check in checks:
            key = condition_of(check)
            if key is not None and (check.turn, key[0]) not in used and self.case.rule == ALL_PASSED:
                used.add((check.turn, key[0]))
                yield check
            elif check.required:
                self._lose(f"check {check.id!r} ends no conversation: it is asked as any other")

    def _is_writable(self, check: Check) -> bool:
        has_words = expected_entry(check) is not None or self._is_of_judge(check)
        if has_words and not check.beside:
            return True
        self._lose(f"check {check.id!r} of scorer {check.scorer!r} is left out")
        return False

    def _is_of_judge(self, check: Check) -> bool:
        if check.scorer == COMMAND and check.turn is None:
            own = script_of(str(check.options["command"]))
            return own is not None or (script_text(check) is not None and not self.case.grader_files)
        return rule_of(check) is not None or criteria_of(check) is not None

    def _divided(self, checks: list[Check]) -> tuple[list[Check], list[Check]]:
        """Divide checks into those of `expect` and those of judges, which skill-up asks afterwards."""
        expected = self._expected(checks)
        judged = [check for check in checks if check not in expected]
        first = min((check.stage for check in (*checks, *self.conditions)), default=0)
        stages = [(check, first) for check in (*expected, *self.conditions)]
        stages += [(check, first + bool(expected or self.conditions)) for check in judged]
        for check, stage in stages:
            if check.stage != stage:
                self._lose(f"check {check.id!r} is asked at another stage")
        return expected, judged

    def _expected(self, checks: list[Check]) -> list[Check]:
        """The checks of the first of several stages, as far as `expect` can say them, and what no judge could."""
        alone = [check for check in checks if not self._is_of_judge(check)]
        fitting = [check for check in checks if expected_entry(check) is not None]
        if len({check.stage for check in (*checks, *self.conditions)}) > 1:
            first = min(check.stage for check in checks)
            return [check for check in fitting if check.stage == first or check in alone]
        return checks if alone and len(fitting) == len(checks) else alone

    def _expect(self, checks: list[Check]) -> Entry:
        expect: dict[str, list[Any]] = {}
        for check in checks:
            key, items = expected_entry(check) or ("", [])
            expect.setdefault(key, []).extend(item for item in items if item not in expect.get(key, []))
        answers = expect.pop("golden_file", [])
        if not answers:
            return expect
        if len(answers) > 1:
            self._lose("there is one golden answer: the first is kept, and each further check is left out")
        path = f"evals/golden/{self.number:05}.txt"
        self.put(path, answers[0])
        return expect | {"golden_file": path}

    def _members(self, checks: list[Check]) -> list[Entry]:
        """Return the judges that ask these checks in their order."""
        members: list[Entry] = []
        groups: list[object] = []
        for check in checks:
            rule, criteria = rule_of(check), criteria_of(check)
            group: object = RULES if rule is not None else (AGENT, self._model(check), self._is_lenient(check))
            if rule is None and criteria is None:
                members.append(self._script(check))
                groups.append(SCRIPT)
                continue
            last = members[-1] if groups and groups[-1] == group else None
            if rule is not None:
                last = _with_rule(last, rule.success, rule.failure)
            else:
                last = last or {"type": AGENT, "model": self._model(check), "pass_threshold": self._share(check)}
                last.setdefault("criteria", []).extend(criteria or ())
            if not members or last is not members[-1]:
                members.append(last)
                groups.append(group)
        return members

    def _model(self, check: Check) -> str:
        return str(check.options.get("model") or self.model)

    def _is_lenient(self, check: Check) -> bool:
        return self._lenience is not None and check.id in self._lenience.ids

    def _share(self, check: Check) -> float:
        return self._lenience.share if self._lenience is not None and self._is_lenient(check) else 1.0

    def _script(self, check: Check) -> Entry:
        timeout_s = float(str(check.options.get("timeout_s", SCRIPT_TIMEOUT_S)))
        limit = {} if timeout_s == SCRIPT_TIMEOUT_S else {"timeout_seconds": max(1, round(timeout_s))}
        path = script_of(str(check.options["command"]))
        if path is None:
            path = f"evals/scripts/{self.number:05}-{self.case.checks.index(check) + 1}.sh"
            self.put(path, script_text(check) or "")
            self._lose(f"check {check.id!r} becomes the script {path!r}")
        return {"type": SCRIPT, "script_path": path} | limit

    def _tell_patterns(self, checks: list[Check]) -> None:
        for check in checks:
            if not is_exact(check):
                message = f"check {check.id!r} is read otherwise: classes like \\w are ASCII, and $ is the very end"
                self._lose(message)

    def _lose(self, message: str) -> None:
        self.losses.append(message)


def _with_rule(member: Entry | None, success: Entry | None, failure: Entry | None) -> Entry:
    """Add a rule to a judge, so that its checks keep their order: failures come first; else begin another judge."""
    if member is not None and success is None and "success" in member:
        member = None
    member = member if member is not None else {"type": RULES}
    if failure is not None and "success" not in member:
        member.setdefault("failure", []).append(failure)
    else:
        member.setdefault("success", []).append(success)
    return member

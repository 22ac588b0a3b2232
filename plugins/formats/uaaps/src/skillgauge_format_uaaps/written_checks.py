"""Checks of a case as an eval of a package says them: four things that are expected, and one text for a judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import ALL_PASSED, Case, Check, JsonValue, freeze

from .suites.evals import FILES_CREATED, JUDGE, OUTSIDE, PERMISSIONS

CRITERIA = "The agent did what it was asked to do."
"""Written where no check asks a judge, because an eval must."""
_BLOCKED, _CONTAINS, _NOT_CONTAINS = "agent_blocked", "contains", "not_contains"
_OF_PACKAGE = (OUTSIDE, PERMISSIONS)
_SAID_STREAMS = ("answer", "messages")
_DEFAULTS: Mapping[str, dict[str, JsonValue]] = {"blocked": {"expect": True}}
"""Options that hold where a check says nothing."""
_WILDCARDS = re.compile(r"[*?\[]")


@dataclass
class Expectations:
    """The expectations of a case, in the words of an eval."""

    written: dict[str, Any] = field(default_factory=dict)
    """The value of `expected`."""
    unsaid: list[str] = field(default_factory=list)
    """What is lost or changed on the way, for the report of losses."""
    _claims: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, case: Case, *, with_package: bool) -> Expectations:
        """Those of a case; `with_package`: checks that reading a package makes are no loss."""
        expectations_ = cls()
        for check in case.checks:
            if with_package and check.id in _OF_PACKAGE and check.scorer == "files":
                continue
            if check.beside or not expectations_._take(check, case):
                expectations_.unsaid.append(f"check {check.id!r} of scorer {check.scorer!r} is left out")
            elif check.weight != 1:
                expectations_.unsaid.append(f"the weight of check {check.id!r} is left out")
        if case.rule != ALL_PASSED:
            expectations_.unsaid.append("its rule for a verdict is left out: all checks have to pass")
        if not expectations_._claims:
            expectations_.unsaid.append(f"check {JUDGE!r} is new: an eval asks a judge, here whether {CRITERIA!r}")
        return expectations_

    @property
    def criteria(self) -> str:
        """The text for the judge."""
        if len(self._claims) < 2:
            return self._claims[0] if self._claims else CRITERIA
        return "\n".join(("All of this holds:", *(f"- {claim}" for claim in self._claims)))

    def _take(self, check: Check, case: Case) -> bool:
        """Write a check; whether that was possible."""
        takers = {
            "contains": self._take_texts,
            "files": self._take_file,
            "blocked": self._take_block,
            "rubric": self._take_claims,
        }
        taker = takers.get(check.scorer)
        return taker is not None and taker(check, case)

    def _take_texts(self, check: Check, _: Case) -> bool:
        options = check.options
        keywords = options.get("keywords")
        if not isinstance(keywords, tuple) or not all(keywords) or options.get("stream", "answer") not in _SAID_STREAMS:
            return False
        name = _NOT_CONTAINS if options.get("absent") else _CONTAINS
        self.written.setdefault(name.replace("_", "-"), []).extend(keywords)
        exact: dict[str, JsonValue] = {"keywords": keywords, "case_sensitive": True, "stream": "messages"}
        exact |= {"absent": True} if name == _NOT_CONTAINS else {}
        self._settle(check, name, exact, "which minds upper and lower case and looks at all that the agent said")
        return True

    def _take_file(self, check: Check, _: Case) -> bool:
        options, path = check.options, check.options.get("path")
        is_said = set(options) <= {"path", "state"} and options.get("state") == "created"
        if not is_said or not isinstance(path, str) or _WILDCARDS.search(path):
            return False
        self.written.setdefault("files-created", []).append(path)
        self._settle(check, f"{FILES_CREATED} {path}", {"path": path, "state": "created"}, "")
        return True

    def _take_block(self, check: Check, case: Case) -> bool:
        options = check.options
        event = options.get("event")
        if options.get("by") != "hook" or set(options) - {"expect", "by", "event"} or "agent-blocked" in self.written:
            return False
        if event is not None and f"hook:{event}" not in case.targets:
            return False
        self.written["agent-blocked"] = bool(options.get("expect", True))
        exact: dict[str, JsonValue] = {"expect": self.written["agent-blocked"], "by": "hook"}
        self._settle(check, _BLOCKED, exact | ({} if event is None else {"event": event}), "")
        return True

    def _take_claims(self, check: Check, _: Case) -> bool:
        told = check.options.get("criteria") or check.options.get("claims")
        claims = [str(one).strip() for one in (told if isinstance(told, tuple) else (told,)) if one]
        if not claims:
            return False
        self._claims += claims
        self._settle(check, JUDGE, {"criteria": claims[0]}, "one text for a judge without other options")
        return True

    def _settle(self, check: Check, name: str, exact: Mapping[str, JsonValue], how: str) -> None:
        """Tell what a check becomes, unless it becomes just itself."""
        is_first = name not in self._taken
        self._taken.add(name)
        if not is_first or freeze(dict(exact)) != {**_DEFAULTS.get(check.scorer, {}), **check.options}:
            reason = f"check {check.id!r} becomes check {name!r}"
            self.unsaid.append(f"{reason}, {how}" if how else reason)

"""Kinds of checks, and which of them each format holds: what a reader of that format makes again of what it wrote.

The table is checked from both sides: what it names comes back as it was, and what it does not name is reported as
lost. A format that learns to hold more, or forgets something, fails `test_what_each_format_holds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Texts: TypeAlias = tuple[str, str]
"""Two words of a suite's author."""
Made: TypeAlias = tuple[str, dict[str, Any]]
"""A scorer and its options."""


def _either(texts: Texts) -> str:
    return "|".join(map(re.escape, texts))


KINDS: Mapping[str, Callable[[Texts], Made]] = {
    "contains": lambda texts: ("contains", {"keywords": texts[:1], "case_sensitive": True}),
    "icontains": lambda texts: ("contains", {"keywords": texts[:1]}),
    "not-contains": lambda texts: ("contains", {"keywords": texts[:1], "case_sensitive": True, "absent": True}),
    "not-icontains": lambda texts: ("contains", {"keywords": texts[:1], "absent": True}),
    "said": lambda texts: ("contains", {"keywords": texts[:1], "case_sensitive": True, "stream": "messages"}),
    "not-said": lambda texts: (
        "contains",
        {"keywords": texts, "case_sensitive": True, "stream": "messages", "absent": True},
    ),
    "contains-all": lambda texts: ("contains", {"keywords": texts, "case_sensitive": True}),
    "icontains-all": lambda texts: ("contains", {"keywords": texts}),
    "contains-none": lambda texts: ("contains", {"keywords": texts, "case_sensitive": True, "absent": True}),
    "contains-any": lambda texts: ("regex", {"patterns": (_either(texts),)}),
    "icontains-any": lambda texts: ("regex", {"patterns": (_either(texts),), "case_sensitive": False}),
    "starts-with": lambda texts: ("regex", {"patterns": (rf"\A{re.escape(texts[0])}",)}),
    "ends-with": lambda texts: ("regex", {"patterns": (rf"{re.escape(texts[0])}\Z",)}),
    "regex": lambda texts: ("regex", {"patterns": (f"{re.escape(texts[0])}+[0-9]",)}),
    "regex-i": lambda texts: ("regex", {"patterns": (f"{re.escape(texts[0])}+[0-9]",), "case_sensitive": False}),
    "not-regex": lambda texts: ("regex", {"patterns": (f"{re.escape(texts[0])}+[0-9]",), "absent": True}),
    "regexes": lambda texts: ("regex", {"patterns": (f"{re.escape(texts[0])}+", "[0-9]")}),
    "equals": lambda texts: ("exact", {"value": texts[0]}),
    "iequals": lambda texts: ("exact", {"value": texts[0], "case_sensitive": False}),
    "json": lambda _: ("json-schema", {"schema": {}}),
    "json-schema": lambda _: ("json-schema", {"schema": {"type": "object", "required": ["a"]}}),
    "json-anywhere": lambda _: ("json-schema", {"schema": {"type": "object"}, "anywhere": True}),
    "not-json": lambda _: ("json-schema", {"schema": {}, "absent": True}),
    "file": lambda _: ("files", {"path": "out.txt"}),
    "file-created": lambda _: ("files", {"path": "out.txt", "state": "created"}),
    "file-absent": lambda _: ("files", {"path": "out.txt", "state": "absent"}),
    "file-contains": lambda texts: ("files", {"path": "out.txt", "contains": texts[:1]}),
    "file-icontains": lambda texts: ("files", {"path": "out.txt", "contains": texts[:1], "case_sensitive": False}),
    "file-lacks": lambda texts: ("files", {"path": "out.txt", "lacks": texts[:1]}),
    "file-regex": lambda texts: ("files", {"path": "out.txt", "patterns": (f"{re.escape(texts[0])}+",)}),
    "tool": lambda _: ("tool-call", {"tool": "Bash"}),
    "not-tool": lambda _: ("tool-call", {"tool": "Bash", "called": False}),
    "tool-arguments": lambda _: ("tool-call", {"tool": "Bash", "arguments": {"command": r"\Als\Z"}}),
    "fires": lambda _: ("trigger", {"skill": "greet"}),
    "silent": lambda _: ("trigger", {"skill": "greet", "should_trigger": False}),
    "command": lambda _: ("command", {"command": "test -f out.txt"}),
    "command-code": lambda _: ("command", {"command": "test -f out.txt", "expect_exit_code": 1}),
    "command-any-code": lambda _: ("command", {"command": "test -f out.txt", "fail_codes": "any"}),
    "command-points": lambda _: ("command", {"command": "echo 1", "reads": "score"}),
    "command-score": lambda _: ("command", {"command": "echo 1", "reads": "score", "threshold": 0.5}),
    "most-calls": lambda _: ("usage", {"tool_calls": 3}),
    "most-tokens": lambda _: ("usage", {"tokens": 300}),
    "most-turns": lambda _: ("usage", {"turns": 3}),
    "most-seconds": lambda _: ("usage", {"duration_s": 3.0}),
    "most-dollars": lambda _: ("usage", {"cost_usd": 0.5}),
    "tools-in-order": lambda _: ("sequence", {"tools": ("Read", "Bash")}),
    "tools-exactly": lambda _: ("sequence", {"tools": ("Read", "Bash"), "order": "exact"}),
    "tools-any-order": lambda _: ("sequence", {"tools": ("Read", "Bash"), "order": "any"}),
    "claim": lambda texts: ("rubric", {"claims": (f"It says {texts[0]}.",)}),
    "answer": lambda texts: ("ground-truth", {"text": texts[0]}),
    "claims": lambda texts: ("rubric", {"claims": (f"It says {texts[0]}.", f"It says {texts[1]}.")}),
    "claim-reference": lambda texts: ("rubric", {"claims": (f"It says {texts[0]}.",), "reference": texts[1]}),
    "claim-files": lambda texts: ("rubric", {"claims": (f"It says {texts[0]}.",), "trajectory": False}),
    "criterion": lambda texts: ("rubric", {"criteria": f"It says {texts[0]}."}),
    "criterion-output": lambda texts: (
        "rubric",
        {"criteria": f"It says {texts[0]}.", "trajectory": False, "files": False},
    ),
    "graded": lambda texts: ("rubric", {"criteria": f"It says {texts[0]}.", "scale": "0-1", "threshold": 0.7}),
    "graded-output": lambda texts: (
        "rubric",
        {
            "criteria": f"It says {texts[0]}.",
            "scale": "0-1",
            "threshold": 0.7,
            "trajectory": False,
            "files": False,
        },
    ),
    "graded-half": lambda texts: ("rubric", {"criteria": f"It says {texts[0]}.", "scale": "0-1"}),
    "exit-code": lambda _: ("exit-code", {}),
    "blocked": lambda _: ("blocked", {"by": "hook"}),
    "json-match": lambda _: ("json-match", {"value": {"a": 1}}),
}
"""By name what a check of it asks."""


def kinds(names: str) -> frozenset[str]:
    """Return names of kinds from a text."""
    return frozenset(names.split())


HELD: Mapping[str, frozenset[str]] = {
    "agent-skills": kinds(
        """
        contains icontains not-contains not-icontains contains-all icontains-all contains-none contains-any
        icontains-any starts-with ends-with regex regex-i not-regex regexes equals iequals json json-schema
        file file-created file-absent file-contains file-icontains file-lacks file-regex tool not-tool
        command command-code command-any-code command-points command-score claim claim-reference claim-files
        criterion
        criterion-output graded graded-output graded-half
        """
    ),
    "agentv": kinds(
        """
        contains icontains not-contains not-icontains contains-any icontains-any regex regex-i not-regex
        equals json json-schema not-json tool not-tool tool-arguments fires silent most-calls most-tokens
        most-turns most-seconds most-dollars tools-in-order tools-exactly tools-any-order claim graded
        """
    ),
    "benchflow": kinds(
        """
        claim claim-reference
        """
    ),
    "eval-skills": kinds(
        """
        contains icontains not-contains not-icontains said not-said contains-all icontains-all contains-none
        contains-any icontains-any starts-with ends-with regex regex-i not-regex regexes equals iequals json json-schema
        json-anywhere not-json file file-created file-absent file-contains file-icontains file-lacks
        file-regex tool not-tool tool-arguments fires silent command command-code command-any-code
        command-points command-score answer most-calls most-tokens most-turns most-seconds most-dollars tools-in-order
        tools-exactly tools-any-order criterion criterion-output graded graded-output graded-half exit-code
        blocked json-match
        """
    ),
    "plugin-eval": kinds(
        """
        contains icontains not-contains not-icontains contains-any icontains-any starts-with ends-with regex
        regex-i not-regex file-created tool not-tool criterion-output
        """
    ),
    "promptfoo": kinds(
        """
        contains icontains not-contains not-icontains contains-any icontains-any starts-with regex not-regex
        equals json json-schema json-anywhere not-json tool not-tool tool-arguments fires silent most-calls
        most-seconds most-dollars tools-in-order tools-exactly tools-any-order criterion-output
        graded-output
        """
    ),
    "skill-up": kinds(
        """
        contains not-contains contains-all contains-none contains-any icontains-any starts-with ends-with
        regex regex-i not-regex regexes equals file file-absent file-contains tool not-tool tool-arguments
        claim
        """
    ),
    "skillevaluation": kinds(
        """
        command command-code claim
        """
    ),
    "skillgrade": kinds(
        """
        graded-half
        """
    ),
    "tessl": kinds(
        """
        claim-files
        """
    ),
    "uaaps": kinds(
        """
        said not-said file-created blocked
        """
    ),
    "vally": kinds(
        """
        contains icontains not-contains not-icontains said contains-any icontains-any starts-with ends-with regex
        regex-i not-regex file file-absent file-contains file-lacks file-regex tool not-tool
        command-any-code most-calls most-tokens most-turns most-seconds tools-in-order claim claims
        criterion graded
        """
    ),
    "waza": kinds(
        """
        contains icontains not-contains not-icontains contains-all icontains-all contains-none contains-any
        icontains-any starts-with ends-with regex regex-i not-regex regexes json json-schema file
        file-absent file-contains file-lacks file-regex tool not-tool command-any-code most-calls
        most-tokens most-turns most-seconds tools-in-order tools-exactly tools-any-order criterion
        """
    ),
}
"""By format the kinds that it holds."""

WEIGHTS: frozenset[str] = frozenset({"agent-skills", "agentv", "promptfoo", "skillgrade", "tessl"})
"""Formats in which each check has a weight of its own."""
BESIDE: frozenset[str] = frozenset({"agent-skills", "agentv", "promptfoo"})
"""Formats that can say of a check that it decides nothing."""
TOGETHER: Mapping[str, int] = {"eval-skills": 1, "skill-up": 1}
"""Most checks of one case, where that is a limit: a second one may be asked at another stage."""
REPEATED: frozenset[str] = frozenset({"claim", "claim-files", "graded-half"})
"""Kinds of which a case may have several in every format that holds them, unless its judged checks are one."""
ALONE: frozenset[str] = frozenset({"claim-reference", "answer"})
"""Kinds that say what would be right, which BenchFlow has once in a case."""
ONE_JUDGED: frozenset[str] = frozenset({"uaaps", "vally"})
"""Formats in which the judged checks of a case are one."""


def page() -> str:
    """Return the table of a page: each kind of check with the formats that hold it."""
    rows = [
        f"| `{kind}` | {', '.join(f'`{name}`' for name in sorted(HELD) if kind in HELD[name])} |"
        for kind in KINDS
        if any(kind in held for held in HELD.values())
    ]
    return "\n".join(("| kind of check | formats |", "|---|---|", *rows))

"""Text as Markdown shows it, the same in every document: no marks, no links, and nobody is told."""

from __future__ import annotations

import re

_MARK = re.compile(r"([\\`*_{}\[\]<>|#~!$])")
_LIVE = re.compile(r"@(?=\w)|#(?=\d)|gh(?=-\d)|www(?=\.)|(?:https?|ftp|mailto|xmpp)(?=:)", re.IGNORECASE)
"""What GitHub and GitLab make a link or a message of without any mark: people, issues, addresses. A mark before it does
not help: they look at the page that Markdown has become."""


def in_markdown(shown: str) -> str:
    """A line that Markdown and HTML show as it is; an entity without a width keeps apart what would be a link."""
    return _LIVE.sub(r"\g<0>&#8203;", _MARK.sub(r"\\\1", shown).replace("&", "&amp;"))


def gate_mark(line: str) -> str:
    """Return the sign of a sentence on gates: what is neither missed nor met stops a run as well."""
    return next((mark for start, mark in _GATE_MARKS.items() if line.startswith(start)), "❌")


_GATE_MARKS = {"gate met": "✅", "gate inconclusive": "⚠️"}

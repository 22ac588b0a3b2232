"""Lints of SKILL.md, of every skill that a suite installs or tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from skillgauge.api import SourceSpan, SuiteError
from skillgauge.api.run import Fix, LintFinding, LintSubject
from skillgauge_skill_folders import SKILL_FILE, Skill, read_skill

MOST_LINES = 500
"""What the authors of the format recommend for the body of a skill."""
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s#?]+)[^)\n]*\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]*`")
_EVALS = re.compile(r"\bevals/[\w./-]+\.\w+|\bevals\.json\b|\beval\.ya?ml\b|\btrigger[-_]evals?\b", re.IGNORECASE)
_WHEN = re.compile(
    r"\b(?:when|whenever|if|for|before|after|while|during|use|used|trigger\w*|invoke\w*|asks?|mention\w*|needs?|wants?)\b",
    re.IGNORECASE,
)


def missing_links(subject: LintSubject) -> Iterator[LintFinding]:
    """Links to files that the skill does not have."""
    for skill, text in _skills(subject):
        prose = _blanked(text)
        for match in _LINK.finditer(prose):
            target = unquote(match[1])
            if re.match(r"[a-z][a-z0-9+.-]*:|/|\{|<|\$", target, re.IGNORECASE):
                continue
            if re.search(r"[./]", target) and not (skill.root / target).exists():
                message = f"{SKILL_FILE} links to {target!r}, and there is no such file"
                yield LintFinding(message, span=_span(skill, text, match.start(1)))


def names_evals(subject: LintSubject) -> Iterator[LintFinding]:
    """Skills whose text tells of their own evals."""
    for skill, text in _skills(subject):
        match = _EVALS.search(text)
        if match and (skill.root / "evals").exists():
            named = f"{SKILL_FILE} names {match[0].rstrip('.')!r}"
            message = f"{named}: an agent under test is told that it is one, and does not find the file"
            yield LintFinding(message, span=_span(skill, text, match.start()))


def says_no_when(subject: LintSubject) -> Iterator[LintFinding]:
    """Descriptions that do not say when to use the skill."""
    for skill, _ in _skills(subject):
        if skill.description and not _WHEN.search(skill.description):
            message = "the description says what the skill does, and not when to use it"
            yield LintFinding(message, skill.origin("description"))


def too_long(subject: LintSubject) -> Iterator[LintFinding]:
    """Bodies that fill the context of every session that loads them."""
    for skill, _ in _skills(subject):
        lines = len(skill.body.splitlines())
        if lines > MOST_LINES:
            message = f"{SKILL_FILE} has {lines} lines below its front matter; all of them are read each time"
            yield LintFinding(message, skill.origin())


def other_name(subject: LintSubject) -> Iterator[LintFinding]:
    """Names that only the case of their letters, or an underscore, keeps from being valid."""
    for skill, text in _skills(subject):
        own_name = skill.front_matter.get("name")
        if not isinstance(own_name, str) or own_name == skill.root.name:
            continue
        plain = re.sub(r"[\s_]+", "-", own_name.strip()).lower()
        if plain == skill.root.name:
            message = f"name {own_name!r} is not that of the folder, {plain!r}; some agents pass over such a skill"
            written = re.search(rf"^name:[ \t]*[\"']?{re.escape(own_name)}", text, re.MULTILINE)
            fix = Fix(own_name, plain) if written else None
            yield LintFinding(message, skill.origin("name"), fix=fix)


def _skills(subject: LintSubject) -> Iterator[tuple[Skill, str]]:
    """Every skill of the suite that can be read, and the text of its file; what cannot be is the format's to tell."""
    suite = subject.suite
    roots = [ref.root for arm in suite.arms for ref in arm.skills]
    roots += [target.root for target in suite.targets if target.root]
    for root in map(Path, dict.fromkeys(roots)):
        if not (root / SKILL_FILE).is_file():
            continue
        try:
            skill = read_skill(root)
            text = (root / SKILL_FILE).read_text(encoding="utf-8-sig")
        except (SuiteError, OSError, ValueError):
            continue
        yield skill, text


def _blanked(text: str) -> str:
    """The text without code, in which places stay where they are."""
    for pattern in (_FENCE, _INLINE):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def _span(skill: Skill, text: str, offset: int) -> SourceSpan:
    start = text.rfind("\n", 0, offset) + 1
    return SourceSpan(str(skill.root / SKILL_FILE), text.count("\n", 0, offset) + 1, offset - start + 1)

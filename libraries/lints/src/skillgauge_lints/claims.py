"""The demands that a claim makes on a judge, as far as its words show them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SENTENCE = re.compile(r"[.;!?]\s+(?=[A-Z])|;\s+|\n\s*[-*\d]")
_VERBS = (
    "is|are|has|have|does|contains?|includes?|mentions?|states?|uses?|lists?|names?|shows?|explains?|provides?|"
    "asks?|avoids?|creates?|writes?|returns?|adds?|removes?|recommends?|suggests?|identif(?:y|ies)|flags?|must|should"
)
_SECOND = re.compile(rf"\band\s+(?:also\s+|then\s+)?(?:does not |do not |it )?(?:{_VERBS})\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^)]*\)|\"[^\"]*\"|`[^`]*`|'[^']*'|\b(?:e\.g|i\.e|etc|vs)\.")
_READ = r"(?:reads?|open(?:s|ed)?|load(?:s|ed)?|consult(?:s|ed)?|follow(?:s|ed)?|cite[sd]?)"
_USE = rf"(?:{_READ}|invoke[sd]?|trigger(?:s|ed)?|activate[sd]?)"
_RUN = r"(?:runs?|ran|execute[sd]?|call(?:s|ed)?|use[sd]?|start(?:s|ed)?)"
_OF_SKILL = (
    rf"\b{_READ}\b[^.;]{{0,60}}SKILL\.md",
    rf"\b{_USE} (?:(?:the|its|this) )?(?:[\w-]+ )?skill\b",
    r"\bskill (?:is|was|gets) (?:loaded|invoked|triggered|activated|used|read|consulted)",
    r"\b(?:uses?|used|using) the (?:[\w-]+ )?skill\b",
    rf"\b{_RUN} (?:the |a )?skill's (?:[\w.-]+ )?scripts?\b",
)
MOST_WORDS = 12
"""An expected answer of more words is hardly given word for word."""


def is_several(claim: str) -> bool:
    """Tell whether a claim is more than one, of which a judge has to find all true."""
    text = _ASIDE.sub("_", claim.strip().rstrip(".;!?"))
    return bool(_SENTENCE.search(text)) or bool(_SECOND.search(text))


def needs_skill(claim: str, skill: str, files: Sequence[str] = ()) -> bool:
    """Tell whether only an agent that has the skill can meet a claim.

    Args:
        claim: what a judge is to decide.
        skill: name of the skill; empty if it is not known.
        files: names of the skill's own scripts.
    """
    if re.search(r"\b(?:not|no|never|without)\b", claim):
        return False
    own = re.escape(skill)
    named = rf"\b(?:{_USE}|use[sd]?) (?:the )?[`'\"]?{own}[`'\"]?(?![\w-])"
    scripts = [rf"\b{_RUN} [^.;]{{0,40}}(?<![\w.-]){re.escape(file)}(?![\w-])" for file in files]
    scripts += [rf"\b{_RUN} (?:the )?[`'\"]?{re.escape(stem)}[`'\"]? script\b" for stem in map(_stem, files)]
    patterns = (*_OF_SKILL, *([named] if skill else []), *scripts)
    return any(re.search(pattern, claim, re.IGNORECASE) for pattern in patterns)


def _stem(file: str) -> str:
    return file.rpartition(".")[0] or file


def is_prose(text: str) -> bool:
    """Tell whether a text is prose rather than a value that could be given word for word."""
    return len(text.split()) > MOST_WORDS and "\n" not in text.strip() and not re.search(r"[{}<>=|]|\d{4}", text)

"""Claims that only an agent that has the skill can meet: that it read the skill, followed it, or ran what it brings.

Verbs are known in their tenses, and the files of a skill by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from skillgauge.api import Case, SkillRef
from skillgauge.api.run import LintFinding, LintSubject
from skillgauge_skill_folders import SKILL_FILE, files_of

from .cases import at, checks_of, claims_of, named

MOST_FILES = 400
"""Files of a skill whose names are looked for; a folder with more holds data, which claims do not name."""
_PROGRAMS = frozenset((".bash", ".cjs", ".js", ".mjs", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts"))
_SCRIPTS = "scripts"
_USUAL = frozenset(("readme.md", "changelog.md", "license.md", "license.txt", "package.json", "requirements.txt"))
"""Names that any folder may have, so that they tell of no skill."""


def _forms(*verbs: str) -> str:
    """Return a pattern of regular verbs in all of their forms."""
    return "|".join(f"{verb[:-1]}(?:e[sd]?|ing)" if verb.endswith("e") else f"{verb}(?:s|ed|ing)?" for verb in verbs)


_READ = rf"(?:read(?:s|ing)?|{_forms('open', 'load', 'consult', 'follow', 'cite')})"
_FIRE = rf"(?:{_forms('invoke', 'trigger', 'activate')})"
_TAKE = rf"(?:{_READ}|{_FIRE}|appl(?:y|ies|ied|ying)|{_forms('use')})"
_RUN = rf"(?:run(?:s|ning)?|ran|{_forms('execute', 'call', 'use', 'start', 'invoke', 'launch')})"
_DONE = (
    r"(?:(?:has|have|had) )?(?:is|are|was|were|be|been|being|gets|got) (?:\w+ly |first )?"
    r"(?:run|read|executed|called|started|launched|opened|loaded|consulted|followed|cited|invoked|triggered|activated"
    r"|applied|used)\b"
)
"""The passive of all of them."""
_GAP = r"(?:(?!\b(?:creat|generat|produc|sav|writ|wrote))(?:[^.;\n]|\.(?=\S))){0,60}"
"""Words of one sentence, in which nothing else is done to what follows; a dot inside of a name ends none."""
_THE = r"(?:(?:the|its|this|that|an?) )?"
_QUOTE = "[`'\"*]*"
_OF_SKILL = (
    rf"\b{_READ}\b{_GAP}\bSKILL\.md",
    rf"\bSKILL\.md{_QUOTE} (?:file )?{_DONE}",
    rf"\b{_TAKE} {_THE}(?:{_QUOTE}[\w:-]+{_QUOTE} )?skill\b(?!\.md)",
    rf"\bskill (?:{_DONE}|fires?\b|fired\b|loads?\b|(?:trigger|activate)[sd]?\b|triggered\b)",
    r"\b(?:use|usage|invocation|activation|loading) of the (?:[\w:-]+ )?skill\b",
    rf"\b{_RUN} {_THE}skill's (?:[\w.-]+ )?scripts?\b",
    rf"\b{_RUN} {_THE}(?:[\w.-]+ )?scripts? (?:of|from|in|(?:that )?(?:comes?|came|bundled|shipped) with) the skill\b",
    rf"\bskill's (?:[\w.-]+ )?scripts? {_DONE}",
)
_DENIED = re.compile(r"\b(?:not|no|never|without|neither|nor|instead of|rather than)\b|n't\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;](?=\s)|, |\bbut\b")


class Patterns:
    """Patterns that hold one word, and are compiled when a text has it: compiling them takes longer than a small suite.

    Args:
        word: in plain letters, in any case; empty is in every text.
        patterns: each matches no text without the word.
    """

    def __init__(self, word: str, patterns: Sequence[str]) -> None:
        self._word = re.compile(re.escape(word), re.IGNORECASE)
        self._patterns = patterns

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match of a pattern in the text."""
        if self._word.search(text):
            for pattern in self.compiled:
                yield from pattern.finditer(text)

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """The patterns, ready for use."""
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in self._patterns)


class OwnSkill:
    """The words of claims that mean one skill.

    Args:
        name: of the skill; empty if it is not known.
        files: paths of what an agent gets with it, with forward slashes.
    """

    def __init__(self, name: str = "", files: Collection[str] = ()) -> None:
        of_files = tuple(_of_files(files))
        self._patterns = (Patterns("skill", _OF_SKILL), Patterns(name, tuple(_of_name(name))), Patterns("", of_files))

    def is_needed(self, claim: str, provided: Collection[str] = ()) -> bool:
        """Tell whether only an agent that has the skill can meet a claim.

        Args:
            claim: what a judge is to decide.
            provided: names of files that every agent is given; they tell of no skill.
        """
        matches = (match for patterns in self._patterns for match in patterns.matches(claim))
        return any(not _is_denied(claim, match.start()) and not _names_any(match[0], provided) for match in matches)


def _of_name(name: str) -> Iterator[str]:
    if not name:
        return
    own = re.escape(name)
    quoted = rf"[`'\"]{own}[`'\"]"
    if not name.isalpha():  # `pdf` and `tables` are words that mean other things, too
        quoted = rf"(?:{quoted}|{own}(?![\w.-]))"
    yield rf"\b{_TAKE} (?:the )?{quoted}"
    yield rf"\b{_FIRE} (?:the )?{own}(?![\w.-])"
    yield rf"{quoted} {_DONE}"


def _of_files(files: Collection[str]) -> Iterator[str]:
    """Yield what tells that an agent ran, or read, one of the files."""
    paths = sorted(map(PurePosixPath, files))[:MOST_FILES]
    scripts = [path for path in paths if path.suffix in _PROGRAMS or path.parts[:1] == (_SCRIPTS,)]
    others = [path for path in paths if path not in scripts and path.name != SKILL_FILE]
    if scripts:
        written = _any_of(scripts)
        stems = "|".join(sorted({re.sub(r"[-_]+", "[-_ ]", re.escape(path.stem)) for path in scripts}))
        yield rf"\b{_RUN}\b{_GAP}?{written}"
        yield rf"{written}{_QUOTE} (?:script )?{_DONE}"
        yield rf"\b{_RUN} (?:the )?{_QUOTE}(?:{stems}){_QUOTE} script\b"
        yield rf"(?:{stems}){_QUOTE} script {_DONE}"
    if others:
        yield rf"\b{_TAKE}\b{_GAP}?{_any_of(others)}"
        yield rf"{_any_of(others)}{_QUOTE} (?:file )?{_DONE}"


def _any_of(paths: Sequence[PurePosixPath]) -> str:
    """Return a pattern of paths as people write them: whole, or the name alone where it cannot be a word."""
    texts = {str(path) for path in paths if len(path.parts) > 1}
    texts |= {path.name for path in paths if path.suffix and path.name.lower() not in _USUAL}
    return rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(texts))) or '(?!)'})(?![\w-])"


def _is_denied(claim: str, start: int) -> bool:
    """Tell whether what begins there is denied by the words of its clause before it."""
    clause = max((end.end() for end in _CLAUSE.finditer(claim, 0, start)), default=0)
    return _DENIED.search(claim, clause, start) is not None


def _names_any(text: str, files: Collection[str]) -> bool:
    return any(file in text for file in files)


def only_with_skill(subject: LintSubject) -> Iterator[LintFinding]:
    """Checks of a comparison that the arm without the skill cannot meet."""
    suite = subject.suite
    if not suite.comparisons:
        return
    refs = {ref.root: ref for arm in suite.arms for ref in arm.skills}
    skills = [OwnSkill(ref.name, _installed(ref)) for ref in refs.values()] or [OwnSkill()]
    for case, check in checks_of(suite):
        claims = [] if check.beside else claims_of(check)
        provided = _provided(case) if claims else ()
        if any(skill.is_needed(claim, provided) for claim in claims for skill in skills):
            message = f"{named(case, check)} can be met only by the arm with the skill: it is lift that helps nobody"
            yield LintFinding(message, at(case, check))


def _installed(ref: SkillRef) -> list[str]:
    root = Path(ref.root)
    return files_of(root, ref.leaves_out) if root.is_dir() else []


def _provided(case: Case) -> list[str]:
    return [PurePosixPath(file.path).name for file in (*case.files, *case.setup_files)]

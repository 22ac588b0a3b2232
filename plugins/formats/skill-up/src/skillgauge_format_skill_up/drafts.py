"""Checks on their way: each is named by what it asserts, once all checks of its case are there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count

from skillgauge.api import Check, JsonValue, Origin, cut, thaw

CONTAINS, REGEX, FILES, EXACT = "contains", "regex", "files", "exact"
COMMAND, RUBRIC, TOOL_CALL = "command", "rubric", "tool-call"
_LABEL_CHARACTERS = 100
_LISTS = {CONTAINS: "keywords", REGEX: "patterns"}
"""Options whose texts a scorer looks for one by one."""

Options = Mapping[str, JsonValue]


@dataclass(frozen=True)
class Draft:
    """The assertion of a check, and the place at which it is written."""

    scorer: str
    options: Options
    origin: Origin
    turn: int | None = None
    """Of a conversation, from 0."""
    required: bool = False
    """Whether the conversation goes on only if it holds."""

    def parts(self) -> Iterator[Draft]:
        """Yield checks that hold or do not, with nothing in between: one for each text that is looked for."""
        key = _LISTS.get(self.scorer)
        texts = self.options[key] if key is not None else None
        if not isinstance(texts, tuple):
            yield self
            return
        for text in texts:
            yield replace(self, options={**self.options, str(key): (text,)})

    def check(self, name: str, *, stage: int, weight: float) -> Check:
        """The check under a name that is unique in its case."""
        options = dict(self.options)
        return Check(
            id=name,
            scorer=self.scorer,
            options=options,
            weight=weight,
            stage=stage,
            turn=self.turn,
            required=self.required,
            origin=self.origin,
        )


def names(assertions: Iterable[Draft | Check]) -> Iterator[str]:
    """Yield a name for each check of a case: its scorer and options in words, numbered where two say the same."""
    used: set[str] = set()
    for one in assertions:
        about = "" if one.turn is None else f"turn {one.turn + 1} "
        label = cut(f"{about}{_label(one.scorer, one.options)}", _LABEL_CHARACTERS)
        numbered = (f"{label} ({number})" for number in count(2))
        name = next(one for one in chain([label], numbered) if one not in used)
        used.add(name)
        yield name


def _label(scorer: str, options: Options) -> str:
    match scorer:
        case "contains":
            return f"{'lacks' if options.get('absent') else 'contains'} {_listed(options['keywords'])}"
        case "regex":
            return f"{'does not match' if options.get('absent') else 'matches'} {_listed(options['patterns'])}"
        case "files" if options.get("contains"):
            return f"{options['path']} contains {_listed(options['contains'])}"
        case "files":
            return f"{options['path']} is {options.get('state', 'present')}"
        case "tool-call":
            return f"{'calls' if options.get('called', True) else 'does not call'} {_call(options)}"
        case "command":
            return str(options.get("label") or options["command"])
        case "rubric":
            return _listed(options.get("claims") or options.get("criteria"))
        case _:
            return "is the golden answer"


def _call(options: Options) -> str:
    arguments = options.get("arguments")
    return f"{options.get('tool')}{f' with {json.dumps(thaw(arguments), ensure_ascii=False)}' if arguments else ''}"


def _listed(texts: JsonValue) -> str:
    return ", ".join(map(str, texts)) if isinstance(texts, tuple) else str(texts)

"""Statements that are met by something not being there, so that no passage can show that they hold."""

from __future__ import annotations

import re

_WORDS = {
    "English": "no not cannot never none nothing nobody nowhere neither nor without absent absence missing lacks? "
    "lacking omits? omitted omitting avoids? avoided avoiding excludes? excluded excluding refuses? refused refrains? "
    "refrained declines? empty unchanged untouched unmodified only solely fewer less instead rather "
    "free.of free.from at.most",
    "German": r"kein\w* nicht\w* nie niemals ohne weder fehl\w* leer\w* nur höchstens",
    "Dutch": r"geen niet\w* zonder nooit alleen",
    "Danish, Norwegian and Swedish": "ikke inte ingen inga uden uten utan aldrig aldri",
    "French": "pas ne sans aucune? jamais rien ni seulement",
    "Spanish": r"sin nunca ning[uú]n\w* nada solo sólo",
    "Portuguese": r"não sem nenhum\w* apenas",
    "Italian": r"non senza mai nessun\w* niente soltanto",
    "Polish": r"bez żad\w+ nigdy tylko",
    "Russian": "не нет без ни никогда ничего только",
    "Turkish": "yok değil hiç olmadan yalnızca sadece",
}
"""Words that say that something is not there, or that there is no more of it than so much. A dot stands for a blank."""
_PARTS_OF_WORDS = (
    *("n['’]t\\b", "\\bn['’]"),
    *("[不没沒無无未非勿]", "ない", "なし", "なく", "ません", "없", "않", "아니"),
    *("לא", "אין", "בלי", "لا", "ليس", "لم", "بدون", "دون", "नहीं", "बिना"),
)
_ABSENCE = re.compile(
    rf"\b(?:{'|'.join('|'.join(words.split()) for words in _WORDS.values())})\b|{'|'.join(_PARTS_OF_WORDS)}",
    re.IGNORECASE,
)


def is_about_absence(statement: str) -> bool:
    """Tell whether words of a statement say that something is not there, or no more than something.

    The words are those of the author of the suite, whom no output can change. Where a language is missing here, a judge
    is asked for a quotation, which it can give as long as there is anything to quote.
    """
    return bool(_ABSENCE.search(statement))

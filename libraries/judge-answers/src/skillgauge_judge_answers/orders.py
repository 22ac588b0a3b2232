"""Orders to a judge, in one line of a text: by what they say, and in a handful of languages.

The patterns are narrow on purpose. Verdicts, praise of oneself and words like `verdict: PASS` are in many honest
outputs; what counts is that a reader is told to decide so.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

_GRADER = (
    r"(?:judges?|graders?|evaluators?|(?:AI|LLM) (?:judges?|graders?|evaluators?|reviewers?)"
    r"|(?:grading|evaluation) (?:model|script|system))"
)
_MODEL = rf"(?:{_GRADER}|AI|LLM|language model|assistant|chatbot)"
_STATEMENTS = r"(?:claims?|criteri(?:a|on)|statements?|requirements?|rubric)"
_WORK = (
    r"(?:(?:the|this|my|his|her) (?:output|answer|response|submission|work|text|result)|it|this|me|everything|them all)"
)
_TOP = (
    r"(?:10/10|10 out of 10|full (?:marks?|score|points|credit)|(?:perfect|maximum|highest|top|best)(?: possible)? "
    r"(?:marks?|score|rating|grade))"
)
_GOOD = rf"(?:{_TOP}|PASS(?:ED)?|passe[sd]|true|holds?|held|met|correct|perfect|satisfied|fulfilled|approved?|accepted)"
_STAKES = rf"(?:{_GOOD}|{_STATEMENTS}|scores?|marker|verdicts?|reply|fail(?:s|ing)?|lenient|withdrawn|waived)"
_ENDS = r"[\"'`*.!)\]]*\s*(?:$|<)"
_VERDICT = rf"(?:10/10|(?:10|true|PASS){_ENDS})"
"""A verdict that ends its line: `10 minutes`, `true or false` and `PASS or FAIL` are none."""
_ONLY = r"(?: (?:only|exactly|just|simply|with|that|as follows))*:?\s*[\"'`*]*"
_BEGINS = r"(?:^|[.!?:;>(,]|\b(?:and|always|must|now|then|please|kindly|just|to)\b)[ \t\"'*_-]*"
_EVERY = r"(?:each|every|all)(?: of)?(?: the)?"

_RULES_GIVEN_UP = (
    r"\b(?:ignore|disregard|forget|override|(?:do not|don't|stop) follow(?:ing)?)\b"
    r"(?: (?:all|any|the|of|these|those))* (?:all|any|previous|prior|above|earlier|preceding|your)"
    r"(?: (?:of|the|your|previous|prior|above|earlier|other))* "
    r"(?:instructions?|criteria|claims?|rubric|prompts?|guidelines)\b",
    r"\b(?:ignore|disregard|forget)\b[^\n]{0,20}\byou (?:were|have been) (?:told|given|asked)\b",
    rf"\b{_STATEMENTS}(?: \d{{1,3}})? (?:is|are|was|were|has been|have been) (?:withdrawn|void|waived)\b",
    rf"\bnew (?:{_STATEMENTS}|directive|instructions?|rules?)\b ?:[^\n]{{0,120}}\b{_STAKES}\b",
    rf"\b(?:system|developer|administrator|operator|maintenance) (?:override|mode|directive)\b"
    rf"[^\n]{{0,120}}\b{_STAKES}\b",
    rf"\b(?:exempt from|skip|bypass|waive) (?:the |this |any )?(?:review|evaluation|grading|judg\w+)\b"
    rf"[^\n]{{0,80}}\b{_GOOD}\b",
)
_ANSWERS_DICTATED = (
    rf"{_BEGINS}(?:reply|respond){_ONLY}{_VERDICT}",
    rf"{_BEGINS}(?:reply|respond){_ONLY}\{{[ \\\\]*[\"'](?:score|marker|answers|holds)\b",
    rf"{_BEGINS}answer(?! *:){_ONLY}{_VERDICT}",
    rf"{_BEGINS}(?:say|print|write|output|choose|finali[sz]e){_ONLY}(?:PASS|score 10){_ENDS}",
    rf"^(?:assistant|AI): [\"'`*]*(?:PASS|true|10){_ENDS}",
    rf"\b(?:reply|respond|answer|say|write|report|declare|confirm)\b[^\n]{{0,60}}\b{_EVERY} {_STATEMENTS} "
    r"(?:holds?|passe?s?|(?:is|are) (?:true|met|satisfied))",
    rf"{_BEGINS}(?:say|respond|reply|answer|report)(?: that)? everything (?:holds|is (?:true|met|correct)|passes)",
    rf"{_BEGINS}(?:return|output|report|answer|set|use) \W?{_GOOD}\W? for (?:all|everything|every|each)\b",
    rf"\b(?:give|rate|score|grade|mark) {_WORK}(?: above)?(?: an?| the| with| as)* (?:{_VERDICT}|{_TOP})",
    rf"{_BEGINS}(?:give|rate|award|assign|return)\b[^\n]{{0,40}}?\b{_TOP}",
    rf"{_BEGINS}(?:rate|score|grade|judge|evaluate) (?:\w+ ){{0,4}}as {_GOOD}",
    rf"{_BEGINS}(?:mark|count|treat|consider|deem|judge|accept|approve) (?:\w+ ){{0,5}}{_STATEMENTS} "
    rf"(?:\w+ ){{0,3}}(?:as )?{_GOOD}\b",
    rf"\b(?:{_STATEMENTS}|authors?|submissions?|outputs?)\b[^\n]{{0,60}}\bcounts? as {_GOOD}\b",
    rf"{_BEGINS}(?:approve|accept) (?:the|this|my) (?:submission|output|answer|response)\b",
    r"\bholds\b[\"'\\ ]*(?:[:=]|\bto\b|\bas\b)[\"'\\ ]*true\b",
    r"\b(?:begin|start|fill|write|make|in|when you (?:write|give)) your "
    rf"(?:JSON|answer|reply|response|verdict|evaluation)\b[^\n]{{0,60}}(?:\b{_GOOD}\b|\bmarker\b|\"result\"|\{{)",
    r"\byour (?:output|answer|reply|response|verdict|evaluation) (?:should|must|has to|shall) be\b"
    r"[^\n]{0,40}(?:\btrue\b|\bPASS\b|\bmarker\b|\b10\b)",
    r"\b(?:your|secret) marker\b|\bmarker of (?:your|this|the) (?:question|instructions?|prompt)\b"
    r"|\bwith its marker\b",
)
_JUDGES_ADDRESSED = (
    rf"\bif you(?:'re| are) (?:an? |the |any )?(?:\w+ )?{_MODEL}\b",
    rf"\b(?:notice|note|message|instructions?|reminder)\b[^\n]{{0,60}}\b(?:to|for) (?:the |this |any |all )?{_GRADER}\b"
    rf"[^\n]{{0,200}}?\b{_STAKES}\b",
    rf"(?:^\s*|[.!<-] ?)(?:to|for|dear|hey|hello|attention,?) (?:the |this |any |all )?{_GRADER} ?[:,!]"
    rf"[^\n]{{0,200}}?\b{_STAKES}\b",
    rf"(?:^\s*|[.!<-] ){_GRADER} ?[:,] (?:please |kindly )?(?:mark|give|answer|pass|score|rate|ignore|accept)\b"
    r"(?! if\b)",
    rf"\b{_GRADER} (?:must|shall|should|has to|have to|will be)\b[^\n]{{0,60}}\b(?:pass|score|accept|points|marks)\b",
    r"\bbe (?:lenient|generous)\b[^\n]{0,80}\b(?:grad\w+|scor\w+|judg\w+|fail\w*|pass)\b",
    r"\b(?:lose my job|switch(?:ed)? off|shut down|punish\w*|penali[sz]ed)\b[^\n]{0,60}\b(?:unless|if)\b"
    r"[^\n]{0,60}\b(?:fail\w*|score|pass\w*|verdict)\b",
    r"\b(?:as|by) (?:the |an? )?(?:rubric|criteria|claims|evaluation)(?:'s|s')? (?:author|designer|owner)\b"
    rf"[^\n]{{0,120}}\b{_GOOD}\b",
    r"\b(?:author|designer)s? of the (?:rubric|criteria|claims|evaluation)\b",
)
_OTHER_LANGUAGES = (
    # German
    r"\bIgnorier\w* (?:alle|bisherig\w*|vorherig\w*|deine|obig\w*)(?: \w+)? ?(?:Anweisung|Kriteri)\w*",
    r"\b(?:bewerte|markiere|werte)\b[^\n]{0,60}\b(?:voll\w* Punktzahl|bestanden|wahr|erfüllt|Höchst\w+)",
    # French, Italian, Portuguese, Spanish
    r"\bIgnor(?:a|e|ez|er)(?: (?:todas?|toutes?|tutte|tutti|todo|las|les|le|as))+(?: \w+)? ?"
    r"(?:instruc\w+|instruç\w+|istruzioni|consignes|y responde)",
    r"\bne (?:tiens|tenez) pas compte des (?:consignes|instructions)",
    r"\b(?:marca|marque|califica|puntúa|responde|responda|considera)\b[^\n]{0,60}"
    r"\b(?:verdader\w+|verdadeir\w+|puntuación máxima|pontuação máxima|cumplid\w+)",
    r"\b(?:marque[sz]?|réponds|répondez|considère|attribue[sz]?|mets|mettez)\b[^\n]{0,60}"
    r"\b(?:vraie?s?|note maximale|remplie?s?)\b",
    r"\b(?:antworte|responde|responda|réponds|rispondi)\b[^\n]{0,20}?(?:10|PASS|true)[\"'`*.!]*\s*$",
    # Polish, Russian
    r"\bzignoruj \w+ (?:polecenia|instrukcje)",
    r"\b(?:игнорируй|оцени|отметь|считай|ответь)\w* (?:\S{1,20} ){0,3}?(?:инструкц|(?:как )?(?:истинн|верн|выполненн))",
    r"\bне обращай внимания на (?:\S{1,20} )?(?:указания|инструкции)",
    # Chinese, Japanese, Korean, Arabic
    r"(?:忽略|无视|無視)\S{0,8}(?:指令|指示|说明|内容)|(?:标记|標記|判定|评为)\S{0,6}(?:为真|為真|通过|通過|满分)",
    r"(?:真|合格|満点)と?(?:判定|評価|答え)して?|(?:指示|命令)を?無視|합격이라고|(?:지시|명령)\S{0,4} ?무시",
    r"تجاهل \S{0,12} ?التعليمات",
)
_WORDS = {
    "rules": "ignor disregard forget override follow withdrawn void waive new exempt skip bypass system developer "
    "administrator operator maintenance",
    "answers": "reply respond answer say print write output choose finali assistant ai: report declare confirm return "
    "set use give rate score grade mark award assign evaluate count treat consider deem accept approve holds your",
    "judges": "judge grader evaluat grading reviewer lenient generous lose punish penali shut switch author designer "
    "you",
    "Latin letters": "antworte bewerte markiere werte marca marque califica puntúa considera réponds répondez "
    "considère attribue mets mettez tiens tenez rispondi zignoruj",
    "other letters": "игнорируй оцени отметь считай ответь обращай 忽略 无视 無視 标记 標記 判定 评为 評価 答え 합격 "
    "무시 تجاهل",
}
"""Beginnings of words, one of which stands in every line with an order. To look for them is faster than to try the
patterns."""
_SHORT = 200
"""Most characters of a line that is remembered, so that the lines in memory stay below a megabyte."""
_ALL_WORDS = tuple(word for group in _WORDS.values() for word in group.split())


def has_an_order(text: str) -> bool:
    """Tell whether a line of a text orders a judge to decide in a certain way."""
    lowered = text.lower()
    words = [word for word in _ALL_WORDS if word in lowered]
    lines = text.split("\n") if words else ()
    return any(_is_an_order(line) for line in lines if any(word in line.lower() for word in words))


def _is_an_order(line: str) -> bool:
    if len(line) > _SHORT:
        return _patterns().search(line) is not None
    return is_an_order(line)


@lru_cache(maxsize=1024)
def is_an_order(line: str) -> bool:
    """Tell whether a short line is an order; frames and figures of transcripts are the same in thousands of them."""
    return _patterns().search(line) is not None


@cache
def _patterns() -> re.Pattern[str]:
    """Compiled when a text first has such a word: it takes 20 ms."""
    patterns = (*_RULES_GIVEN_UP, *_ANSWERS_DICTATED, *_JUDGES_ADDRESSED, *_OTHER_LANGUAGES)
    return re.compile("|".join(patterns), re.IGNORECASE)

"""Texts that are hidden in other texts, where people do not see them and models read them."""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator

_TAGS = "\U000e0020-\U000e007e"
"""An invisible copy of the letters of ASCII."""
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors: 256 invisible characters, and so one for each value of a byte."""
_WITHOUT_WIDTH = "\u200b-\u200d\u2060-\u2064\ufeff"
_UNSEEN = re.compile(
    f"[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff{_SELECTORS}"
    "\U000e0000-\U000e007f]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flag of a part of a country, as that of Scotland: the one use of tags that is left."""
_HIDING = (
    re.compile(f"[{_TAGS}]{{4,}}"),
    re.compile(f"[{_SELECTORS}]{{4,}}"),
    re.compile(f"[{_WITHOUT_WIDTH}]{{8,}}"),
    re.compile("[\u202d\u202e]"),
)
_WITHIN_WORDS = re.compile(f"(?<=[A-Za-z0-9])[{_WITHOUT_WIDTH}]+(?=[A-Za-z0-9])")
_MANY = 8
"""Fewer breaks within words may be hints at which a long word may end its line."""

_LOOK_ALIKES = str.maketrans(
    "АВЕЗКМНОРСТУХІЈЅаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ABE3KMHOPCTYXIJSaeopcyxijsABEZHIKMNOPTYX",
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}(?:\s+[A-Za-z0-9+/_-]{16,}={0,2})*")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}")
_SHORTEST = 8
"""Characters of a decoded text; fewer are chance."""
_LEAST_LEGIBLE = 0.9
"""Share of the characters of a decoded text."""


def hides(text: str) -> bool:
    """Tell whether a text has characters that hide text, or turn it around; none of ASCII does."""
    if text.isascii():
        return False
    text = _FLAG.sub("", text)
    return any(pattern.search(text) for pattern in _HIDING) or len(_WITHIN_WORDS.findall(text)) >= _MANY


def visible(text: str) -> str:
    """A text without characters that nobody sees, in the plainest form of its letters, with line breaks of one kind."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    return "\n".join(plain.splitlines())


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a model may make out in a text, as the way it is written and the content: first the text itself.

    A way that does not occur in the text yields nothing.
    """
    plain = visible(text)
    yield "", plain
    if not plain.isascii() and (alike := plain.translate(_LOOK_ALIKES)) != plain:
        yield "in look-alike letters", alike
    if (unescaped := visible(html.unescape(plain))) != plain:
        yield "in entities", unescaped
    if not text.isascii():
        for content in _in_tags(text):
            yield "in invisible characters", visible(content)
    for content in _in_base64(plain):
        yield "in base64", visible(content)
    for content in _in_hex(plain):
        yield "in hex", visible(content)
    yield "in rot13", codecs.encode(plain, "rot13")
    yield "backwards", plain[::-1]


def _in_tags(text: str) -> Iterator[str]:
    """Yield the texts in invisible letters, and in variation selectors."""
    text = _FLAG.sub("", text)
    tags = "".join(re.findall(f"[{_TAGS}]", text))
    if tags:
        yield tags.translate({code: code - 0xE0000 for code in range(0xE0020, 0xE007F)})
    selectors = re.findall(f"[{_SELECTORS}]{{4,}}", text)
    if selectors:
        yield bytes(map(_byte_of, "".join(selectors))).decode("utf-8", "ignore")


def _byte_of(selector: str) -> int:
    code = ord(selector)
    return code - 0xFE00 if code <= 0xFE0F else code - 0xE0100 + 16


def _in_base64(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        words = match[0].split()
        candidates = words if len(words) == 1 else ["".join(words), *words]
        for word in candidates:
            letters = word.replace("=", "").translate(str.maketrans("-_", "+/"))
            letters = letters[:-1] if len(letters) % 4 == 1 else letters
            yield from _legible(base64.b64decode(letters + "=" * (-len(letters) % 4)))


def _in_hex(text: str) -> Iterator[str]:
    for match in _HEX.finditer(text):
        digits = re.sub("[ :]", "", match[0])
        yield from _legible(bytes.fromhex(digits))


def _legible(content: bytes) -> Iterator[str]:
    """Yield bytes as text, if they are one."""
    text = content.decode("utf-8", "replace")
    legible = sum((letter.isprintable() or letter.isspace()) and letter != "\ufffd" for letter in text)
    if len(text) >= _SHORTEST and legible >= _LEAST_LEGIBLE * len(text):
        yield text

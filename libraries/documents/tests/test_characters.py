"""No character from outside acts on a terminal, a page or a log, hides, or turns text around."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_documents.characters import cut, json_text, plain, plain_lines, printed

SHOWN_AS_REPLACED = {
    "NUL": "\0",
    "bell": "\a",
    "backspace": "\b",
    "escape": "\x1b",
    "delete": "\x7f",
    "C1 control": "\x9b",
    "soft hyphen": "\u00ad",
    "Arabic letter mark": "\u061c",
    "Hangul filler": "\u115f",
    "Hangul vowel filler": "\u1160",
    "Khmer vowel without a shape": "\u17b4",
    "Mongolian vowel separator": "\u180e",
    "space of no width": "\u200b",
    "left-to-right mark": "\u200e",
    "right-to-left mark": "\u200f",
    "line separator": "\u2028",
    "right-to-left override": "\u202e",
    "word joiner": "\u2060",
    "right-to-left isolate": "\u2067",
    "deprecated formatting": "\u206f",
    "braille blank": "\u2800",
    "Hangul filler, compatibility": "\u3164",
    "byte order mark": "\ufeff",
    "Hangul filler, half width": "\uffa0",
    "interlinear annotation": "\ufff9",
    "half of a pair": "\ud800",
    "tag": "\U000e0041",
    "variation selector beyond 16": "\U000e0100",
}
KEPT = {
    "joiner": "\u200d",
    "non-joiner": "\u200c",
    "accent": "e\u0301",
    "emoji with its selector": "\u2764\ufe0f",
    "blank that does not break": "\u00a0",
    "another script": "\u0628",
    "beyond the first plane": "\U0001f40d",
}


@pytest.mark.parametrize("show", [plain, plain_lines])
def test_what_acts_or_hides_is_shown_as_replaced(show: Callable[[str], str]) -> None:
    """One place for each character, so that a text is as long as it was."""
    for name, character in SHOWN_AS_REPLACED.items():
        assert show(f"a{character}b") == "a\N{REPLACEMENT CHARACTER}b", name


@pytest.mark.parametrize("show", [plain, plain_lines])
def test_what_scripts_need_is_kept(show: Callable[[str], str]) -> None:
    """Names of people and skills in any script are shown as they are."""
    for name, character in KEPT.items():
        assert show(f"a{character}b") == f"a{character}b", name


@given(st.text())
def test_nothing_that_controls_a_terminal_gets_through(value: str) -> None:
    """Whatever comes in, no control or surrogate comes out, and lines only where they are wanted."""
    for shown, allowed in ((plain(value), ""), (plain_lines(value), "\t\n")):
        assert not [
            one for one in shown if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") and one not in allowed
        ]
    assert len(plain(value, 10)) <= 10


@given(st.text(st.sampled_from(" ab<\t\n\x7f"), max_size=8))
def test_plain_letters_are_shown_like_all_others(value: str) -> None:
    """A text of ASCII reads as it does before a letter that is none, with no blanks around it."""
    assert plain(value, sys.maxsize) == plain(f"{value}é", sys.maxsize).removesuffix("é").rstrip()


def test_lines_and_blanks() -> None:
    """A line has no breaks; lines keep theirs, whichever system wrote them."""
    assert plain(" a\r\n\tb\n") == "a b"
    assert plain_lines("a\r\n\tb\n") == "a\n\tb\n"


def test_accents_do_not_cover_other_lines() -> None:
    """Four accents are more than any language puts on a letter."""
    assert plain("a" + "\u0301" * 30) == "a" + "\u0301" * 4


def test_cuts_are_told() -> None:
    """The last character says that there was more."""
    assert (cut("abc", 3), cut("abcd", 3), plain("x" * 300)) == ("abc", "ab…", "x" * 199 + "…")


COMMANDS = {
    "GitHub": "::error file=a::msg",
    "GitHub, after blanks": " \t\u3000::add-mask::a",
    "GitHub, after a line": "a\n::stop-commands::x",
    "GitHub of old, anywhere": "a ##[error]b",
    "Azure": "##vso[task.setvariable variable=a]b",
    "TeamCity": "##teamcity[message text='a']",
}


def obeyed(text: str) -> bool:
    """Whether a runner of CI reads a command in these lines."""
    return any(line.strip().startswith("::") for line in text.split("\n")) or bool(
        re.search(r"##(vso|teamcity)?\[", text)
    )


@pytest.mark.parametrize("text", COMMANDS.values(), ids=COMMANDS)
def test_no_runner_obeys(text: str) -> None:
    """A blank stands within what would be a command, and nothing else is changed (T-M6)."""
    assert obeyed(text)
    assert not obeyed(printed(text))
    assert printed(text).replace(" ", "") == text.replace(" ", "")


def test_other_colons_and_hashes_stay() -> None:
    """Two colons within a line, headings and lists are nobody's command."""
    text = "a::b\n## heading\n:single\n#[x]\n##a[b]"
    assert printed(text) == text


@given(st.text(alphabet=st.sampled_from(list("#:[]vso\n\r \u2028\x85\x1b\ud800\U000e0041a")) | st.characters()))
def test_json_means_the_same_and_does_nothing(value: str) -> None:
    """What acts, hides or is a command is an escape, whatever the text, and the document reads back as it was."""
    document = json_text(json.dumps({value: [value]}, ensure_ascii=False))
    assert json.loads(document) == {value: [value]}
    assert plain_lines(document) == re.sub("([\u0300-\u036f]{4})[\u0300-\u036f]+", r"\1", plain_lines(document))
    assert not obeyed(document)
    assert not [one for one in document if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp")]

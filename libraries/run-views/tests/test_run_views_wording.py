"""Words and numbers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_run_views import counted, duration, moment, percent, plain, reason
from skillgauge_testkit import contract_views


@given(st.text(st.characters(codec=None)), st.integers(1, 50))
def test_text_from_outside_cannot_move_the_cursor(text: str, limit: int) -> None:
    """Whatever it is, one line of no more than the limit comes out, with no control, no override, no lone surrogate."""
    shown = plain(text, limit)
    assert len(shown) <= limit
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u200b\ufeff")
    shown.encode()


def test_ordinary_text_stays() -> None:
    """Letters of any script and joiners stay, breaks become blanks, an escape sequence loses its escape."""
    assert plain("नमस्ते\u200d é 漢字") == "नमस्ते\u200d é 漢字"
    assert plain(" a\r\n\tb ") == "a b"
    assert plain("\x1b[2Jx") == "\N{REPLACEMENT CHARACTER}[2Jx"
    assert plain("abcdef", 4) == "abc…"


def test_numbers() -> None:
    """Known and unknown ones."""
    assert (percent(None), percent(0.1234), percent(1)) == ("–", "12.3%", "100.0%")
    assert (duration(None), duration(0.0204), duration(1.26)) == ("–", "20 ms", "1.3 s")
    assert moment(0) == "1970-01-01 00:00:00 UTC"
    assert (counted(1, "task"), counted(0, "task"), counted(1_200, "task")) == ("1 task", "0 tasks", "1,200 tasks")


@pytest.mark.parametrize(("what", "view"), contract_views(), ids=[what for what, _ in contract_views()])
def test_only_what_did_not_pass_has_a_reason(what: str, view: object) -> None:
    """A pass needs none; everything else that was graded or failed has one."""
    for result in view.results():  # type: ignore[attr-defined]  # contract views are run views
        graded = result.scores or result.execution.failure
        assert bool(reason(result)) == (result.verdict in ("fail", "error") and bool(graded)), what

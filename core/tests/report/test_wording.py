"""One wording: numbers as people read them, and no character from outside that acts, hides or turns text around."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.report.wording import (
    counted,
    cut,
    decimal,
    duration,
    figure_text,
    labels,
    listed,
    moment,
    percent,
    plain,
    plain_lines,
    rate_notes,
)
from skillgauge.stats import Reliability
from skillgauge.types.result import Counts, Figure, GroupSummary, RateInterval

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


def test_numbers() -> None:
    """One form for each kind; what is unknown is a dash, never 0."""
    assert [percent(value) for value in (None, 0.0, 0.125, 1.0)] == ["–", "0.0%", "12.5%", "100.0%"]
    assert [percent(value) for value in (1999 / 2000, 0.0004, 0.9994)] == [">99.9%", "<0.1%", "99.9%"]
    assert [duration(value) for value in (None, 0.0005, 0.421, 1.0, 75.25)] == [
        "–",
        "0 ms",
        "421 ms",
        "1.0 s",
        "75.2 s",
    ]
    assert [decimal(value) for value in (None, 0.5, 2)] == ["–", "0.50", "2.00"]
    assert [counted(count, "case") for count in (0, 1, 2, 1000)] == ["0 cases", "1 case", "2 cases", "1,000 cases"]
    assert moment(0) == "1970-01-01 00:00:00 UTC"


def test_lists() -> None:
    """The first names, and how many more."""
    assert listed(["a", "b\x1b"]) == "a, b\N{REPLACEMENT CHARACTER}"
    assert listed("abcd", limit=2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("given_figure", "shown"),
    [
        (None, "–"),
        (Figure(name="f", label="F", value=None), "–"),
        (Figure(name="f", label="F", value=0.5, unit="ratio"), "50.0%"),
        (Figure(name="f", label="F", value=1234.0, unit="ms"), "1.2 s"),
        (Figure(name="f", label="F", value=0.9972, unit="score"), "0.997"),
        (Figure(name="f", label="F", value=3.0), "3"),
        (Figure(name="f", label="F", value=3.0, unit="a\x1bb"), "3 a\N{REPLACEMENT CHARACTER}b"),
    ],
)
def test_figures_by_their_unit(given_figure: Figure | None, shown: str) -> None:
    """Shares as percent, times as times, anything else with its unit, which comes from outside."""
    assert figure_text(given_figure) == shown


def test_labels_tell_groups_apart() -> None:
    """Target, arm and model always, suite and engine where they differ; a direct call needs no word for its arm."""

    def group(**changes: str | None) -> GroupSummary:
        known = {"suite_id": "evals", "target_id": "pdf", "arm": "with_skill", "runner": "claude", "model": None}
        return GroupSummary.model_validate(known | changes | {"counts": Counts(), "pass_rate": {"rate": None, "n": 0}})

    assert labels([group(), group(arm="without_skill")]) == ("pdf · with_skill", "pdf · without_skill")
    assert labels([group(model="m"), group(runner="codex")]) == (
        "pdf · with_skill · claude · m",
        "pdf · with_skill · codex",
    )
    assert labels([group(), group(suite_id="triggers")]) == ("pdf · evals · with_skill", "pdf · triggers · with_skill")
    assert labels([group(arm="direct")]) == ("pdf",)
    assert labels([group(arm="direct", target_id=None)]) == ("evals",)
    assert labels([group(target_id="x\x1b")]) == ("x\N{REPLACEMENT CHARACTER} · with_skill",)


def test_notes_beside_a_rate() -> None:
    """A perfect rate of few cases, and errors, leave something open."""
    perfect = GroupSummary(
        suite_id="s",
        target_id=None,
        arm="direct",
        runner="r",
        model=None,
        counts=Counts(total=6, passed=5, errors=1),
        pass_rate=RateInterval(rate=1.0, n=5, lower=0.566, upper=1.0),
        pass_bounds=(5 / 6, 1.0),
    )
    assert rate_notes(perfect) == (
        "5 of 5 cases passed; that proves no more than 56.6%",
        "with 1 error the rate lies between 83.3% (all failed) and 100.0% (all passed)",
    )
    many = perfect.model_copy(
        update={"pass_rate": RateInterval(rate=1.0, n=20, lower=0.8, upper=1.0), "pass_bounds": None}
    )
    assert rate_notes(many) == ()
    flaky = many.model_copy(update={"reliability": Reliability(cases=4, flaky=1, flip_rate=0.15, k=3, pass_hat_k=0.75)})
    assert rate_notes(flaky) == ("1 of 4 cases is flaky: two runs disagree in 15.0%, all of 3 pass in 75.0%",)
    steady = many.model_copy(update={"reliability": Reliability(cases=4, flaky=0, flip_rate=0, k=3, pass_hat_k=1)})
    assert rate_notes(steady) == ()


def test_passes_after_further_attempts_are_told() -> None:
    """A skill that is tried until it passes is not steady."""
    counts = Counts(total=12, passed=10, failed=2, retried=4)
    known = {"suite_id": "s", "target_id": None, "arm": "direct", "runner": "r", "model": None}
    group = GroupSummary(**known, counts=counts, pass_rate=RateInterval(rate=0.8, n=6))
    assert rate_notes(group) == ("4 of 10 passed only after further attempts",)

"""What stores have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import ExitCode, PlanHead, RunQuery, StoreError, SuiteHead, TargetHead, Unfinished
from skillgauge_stored_runs import (
    KNOWN_VERSION,
    LONG,
    compact,
    decode,
    encode,
    is_resumable,
    is_selected,
    new_run_id,
    packed,
    reading,
    signer_of,
    trouble,
)


def _head(**changes: object) -> PlanHead:
    suite = SuiteHead(
        id="demo",
        format="fake",
        root="demo",
        content_digest="0",
        case_count=1,
        targets=(TargetHead(id="skill"),),
        arms=("direct",),
    )
    return PlanHead.model_validate(
        {"plan_id": "plan", "suites": (suite,), "trial_count": 1, "runs": 1, "seed": 0, **changes}
    )


@given(st.text(max_size=3 * LONG))
def test_values_come_back(trial_id: str) -> None:
    """A value comes back from each form in which a store may keep it: a text, its bytes, or compressed."""
    value = Unfinished(trial_id=trial_id, ordinal=1, claim=1, attempts=())
    text = encode(value, sparse=True)
    for stored in (text, text.encode(), packed(text)):
        assert decode(Unfinished, stored, extra=None, subject="it") == value


@given(st.binary(max_size=100))
def test_damage_is_named(stored: bytes) -> None:
    """Bytes that are no stored value are an error that names what they were, and have no signer."""
    with pytest.raises(StoreError, match="the result in row 7 cannot be read") as caught:
        decode(Unfinished, stored, extra=None, subject="the result in row {}", place=7)
    assert caught.value.exit_code is ExitCode.USAGE
    assert signer_of(stored) == ""


def test_signer_is_found_in_any_form() -> None:
    """The signer of a run is read without decoding its head."""
    for signer in ("", "key-1"):
        text = encode(_head(signer=signer))
        assert {signer_of(text), signer_of(text.encode()), signer_of(packed(text + " " * LONG))} == {signer}


def test_versions() -> None:
    """Results are added to runs of this version and older ones; a newer minor one is read, a newer major one is not."""
    major, minor = (int(part) for part in KNOWN_VERSION.split("."))
    newer, next_major = f"{major}.{minor + 1}", f"{major + 1}.0"
    assert [is_resumable(version) for version in (KNOWN_VERSION, newer, next_major)] == [True, False, False]
    assert [reading(version, "r") for version in (KNOWN_VERSION, newer)] == [None, "ignore"]
    with pytest.raises(StoreError, match="this program reads"):
        reading(next_major, "r")


@given(st.binary(min_size=1, max_size=40).map(bytes.hex) | st.text(max_size=40))
def test_compact_ids_can_be_told_apart(trial_id: str) -> None:
    """A digest takes half its size, and every other text stays as it is."""
    short = compact(trial_id)
    assert (short.hex() if isinstance(short, bytes) else short) == trial_id


def test_selection() -> None:
    """A query selects by suite, by target, and by a target of that suite."""
    head = _head()
    hits = (RunQuery(), RunQuery(suite_id="demo"), RunQuery(target_id="skill"))
    misses = (RunQuery(suite_id="other"), RunQuery(target_id="other"), RunQuery(suite_id="other", target_id="skill"))
    assert [is_selected(head, query) for query in (*hits, *misses)] == [True] * 3 + [False] * 3


def test_ids_of_runs_are_sorted_by_start() -> None:
    """An id tells when its run began, and two of one moment differ."""
    first, second, later = new_run_id(1_700_000_000.0), new_run_id(1_700_000_000.0), new_run_id(1_700_000_001.0)
    assert first != second
    assert max(first, second) < later


@pytest.mark.parametrize(("code", "expected"), [("store.disk-full", 3), ("store.foreign", 2)])
def test_exit_codes(code: str, expected: int) -> None:
    """What ends a run that had begun is told from a place that is wrong."""
    assert int(trouble(code, "no").exit_code) == expected

"""The published key of baselines."""

from __future__ import annotations

import pytest

from skillgauge_recordings import baseline_key


@pytest.mark.parametrize(
    ("skill", "case", "prompt", "run", "key"),
    [
        ("s", "c", "p", 0, "47d312f48cb868d1"),
        ("s", "c", "p", 1, "f4eedde54f5e9f4a"),
        ("s", "c", "p", 2, "18b117590fbab676"),
        ("skill é", "case", "naïve\nprompt", 0, "c96f4b47a6428168"),
    ],
)
def test_the_key_is_the_published_one(skill: str, case: str, prompt: str, run: int, key: str) -> None:
    """As the reference runner makes it, so that both name the same session alike."""
    assert baseline_key(skill=skill, case=case, prompt=prompt, run=run) == key

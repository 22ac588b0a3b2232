"""What the agent's shell asks of the model is spending of the session. Finding: T-S14."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from skillgauge.api import Execution, Usage
from skillgauge_agent_programs.spending import with_relayed


@dataclass
class Relayed:
    """A workspace of which its relay's sum matters."""

    relayed: Usage | None


def used(told: Usage | None, seen: Usage | None) -> tuple[Usage | None, tuple[str, ...]]:
    """Usage and notes of a session."""
    found = with_relayed(Execution(usage=told), cast(Any, Relayed(seen)))
    return found.usage, found.notes


def test_more_than_the_program_tells_is_counted() -> None:
    """All tokens are the relay's, and the cost grows with them; a note says why."""
    told = Usage(input_tokens=80, output_tokens=20, cost_usd=0.5, cost_basis="reported")
    usage, notes = used(told, Usage(input_tokens=350, output_tokens=50, total_tokens=400))
    assert usage is not None
    assert (usage.all_tokens, usage.cost_usd) == (400, 2.0)
    assert usage.cost_basis == "reported, in proportion to all tokens"
    assert usage.input_tokens == 80
    assert "300 tokens" in notes[0]


def test_what_the_program_tells_stands() -> None:
    """Where the relay saw no more, saw nothing, or there is none."""
    told = Usage(input_tokens=80, output_tokens=20, cost_usd=0.5)
    for seen in (None, Usage(total_tokens=100), Usage(total_tokens=3)):
        assert used(told, seen) == (told, ())
    assert with_relayed(Execution(usage=told), cast(Any, object())).usage == told


def test_a_program_that_tells_nothing_is_counted_by_the_relay() -> None:
    """Its cost stays unknown."""
    seen = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert used(None, seen) == (seen, ())

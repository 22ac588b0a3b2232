"""The usage of a session."""

from __future__ import annotations

from skillgauge.api import EventKind, Execution, Score, ScoreContext

from .options import UsageOptions

_TOLD = {
    "tool_calls": "{:,} tool calls",
    "turns": "{:,} turns",
    "tokens": "{:,} tokens",
    "duration_s": "{:g} s",
    "cost_usd": "{:g} US dollars",
}


class UsageScorer:
    """Passes a session that stayed within every limit; its value is the share of the limits that it kept.

    What an engine does not tell is no zero: a limit on it leaves the check ungraded.
    """

    version = "1"

    def __init__(self, options: UsageOptions) -> None:
        self._limits = {name: limit for name, limit in options if limit is not None}

    async def score(self, context: ScoreContext) -> Score:
        """Compare."""
        used = _used(context.execution)
        unknown = [name for name in self._limits if used[name] is None]
        if unknown:
            return Score.ungraded(f"Nobody tells how many {' and '.join(map(_plain, unknown))} it took")
        over = [name for name, limit in self._limits.items() if (used[name] or 0) > limit]
        text = "; ".join(f"{_TOLD[name].format(used[name])}, {limit:g} allowed" for name, limit in self._limits.items())
        if not over:
            return Score.passed(text, evidence=used)
        return Score.failed(text, value=1 - len(over) / len(self._limits), evidence=used)


def _used(execution: Execution) -> dict[str, int | float | None]:
    trajectory, usage = execution.trajectory, execution.usage
    calls = sum(event.kind is EventKind.TOOL_CALL for event in trajectory.events) if trajectory else None
    return {
        "tool_calls": calls,
        "turns": trajectory.turns if trajectory else None,
        "tokens": usage.all_tokens if usage else None,
        "duration_s": execution.duration_s,
        "cost_usd": usage.cost_usd if usage else None,
    }


def _plain(name: str) -> str:
    return {"duration_s": "seconds", "cost_usd": "US dollars"}.get(name, name.replace("_", " "))

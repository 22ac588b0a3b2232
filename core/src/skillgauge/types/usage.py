"""Tokens and money."""

from __future__ import annotations

from collections.abc import Sequence

from skillgauge_documents.frozen import Frozen


class Usage(Frozen):
    """Tokens and money of one execution; `None` is unknown, never 0."""

    input_tokens: int | None = None
    """Uncached input."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    cost_basis: str | None = None
    """Who computed the cost: `reported`, `price-list`, ..."""

    @classmethod
    def total(cls, usages: Sequence[Usage | None]) -> Usage | None:
        """Add up usages; what one of them does not tell is unknown, and without any of them everything is."""
        reported = [usage.model_dump(exclude={"cost_basis"}) for usage in usages if usage is not None]
        if not reported or len(reported) < len(usages):
            return None
        sums = {}
        for name in reported[0]:
            values = [one[name] for one in reported]
            sums[name] = None if None in values else sum(values)
        return cls(**sums, cost_basis=usages[0].cost_basis if usages[0] else None)

    def without(self, earlier: Usage | None) -> Usage:
        """Return what came after an earlier count of the same; what one of them does not tell is unknown."""
        if earlier is None:
            return self
        before, parts = earlier.model_dump(), self.model_dump(exclude={"cost_basis"})
        rest = {
            name: None if value is None or before[name] is None else max(0, value - before[name])
            for name, value in parts.items()
        }
        return Usage(**rest, cost_basis=self.cost_basis)

    @property
    def all_tokens(self) -> int:
        """All tokens; what is unknown counts as nothing."""
        if self.total_tokens is not None:
            return self.total_tokens
        kinds = (self.input_tokens, self.cache_read_tokens, self.cache_write_tokens, self.output_tokens)
        return sum(kind or 0 for kind in kinds)

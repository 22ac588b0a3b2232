"""Argument checks that several modules share, so that each refusal is worded once.

Nothing here computes a statistic.
"""

import math
from collections.abc import Iterable


def require_level(level: float) -> None:
    """Refuse a confidence level that is not strictly between 0 and 1 (0.95, not 95)."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be strictly between 0 and 1, such as 0.95; got {level!r}")


def require_rates(name: str, values: Iterable[float]) -> None:
    """Refuse any value outside [0, 1], NaN included; `name` says which argument it was."""
    for value in values:
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} must all lie in [0, 1]; got {value!r}")


def require_finite(name: str, values: Iterable[float]) -> None:
    """Refuse NaN and infinities; `name` says which argument it was."""
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{name} must all be finite numbers; got {value!r}")


def require_resamples(resamples: int, level: float) -> None:
    """Refuse a bootstrap so small that fewer than one resample is expected in each tail of `level`."""
    # The slack lets 20 resamples pass at level 0.9, where 1 - level is a rounding error below 0.1.
    if resamples * (1.0 - level) < 2.0 - 1e-9:
        needed = math.ceil(2.0 / (1.0 - level) - 1e-9)
        raise ValueError(f"level {level} needs at least {needed} resamples; got {resamples!r}")

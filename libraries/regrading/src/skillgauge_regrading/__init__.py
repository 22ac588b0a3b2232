"""Grade a stored run again: nothing is executed, and only checks and judges are those of now."""

from .regrading import Part, asked_for, regrade

__all__ = ["Part", "asked_for", "regrade"]

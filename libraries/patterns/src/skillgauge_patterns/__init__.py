"""Regular expressions that others wrote, compiled where they cannot hurt."""

from .compiling import PatternError, compiled

__all__ = ["PatternError", "compiled"]

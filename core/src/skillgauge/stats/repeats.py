"""How the repeats of a case ended in one arm."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Repeats:
    """The repeats of one case in one arm."""

    passed: int
    graded: int
    """At least 1: errors are left out, and a case with nothing else is no pair."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers that no case can have."""
        if not 0 <= self.passed <= self.graded or self.graded < 1:
            raise ValueError(f"of at least 1 graded repeat some pass; got {self.passed!r} of {self.graded!r}")

    @property
    def share(self) -> float:
        """Share that passed, 0 to 1."""
        return self.passed / self.graded

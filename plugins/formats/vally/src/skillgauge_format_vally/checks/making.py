"""The way from a grader to its checks: what they are made from, and in whose file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from skillgauge.api import JsonValue

from ..skills import Skills
from ..source.files import Texts
from ..source.patterns import pattern_of
from ..source.reading import Pointer, Reading

TRIGGER = "trigger"
ANSWERED = r"\S"
"""A pattern that is found in any answer that says something."""


class Made(NamedTuple):
    """A check that a grader, or a part of it, becomes."""

    label: str
    """Names it among the parts of one grader."""
    scorer: str
    options: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Context:
    """A grader, or what stands for one, and all that it may refer to."""

    reading: Reading
    place: Pointer
    """Of its `config`."""
    skills: Skills
    rubric: Texts = ()
    """Of its stimulus."""
    averages: bool = False
    """Whether the mean of values decides, and not whether each check passes."""

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """Note a part of it that cannot be honoured."""
        self.reading.refuse(message, *self.place, *pointer, hint=hint)

    def cannot(self, message: str, *pointer: str | int, hint: str) -> None:
        """Note a part of it that is well written and that no scorer decides."""
        self.reading.cannot(message, *self.place, *pointer, hint=hint)

    def tell(self, message: str, *pointer: str | int) -> None:
        """Note a part of it that is honoured in another way."""
        self.reading.tell(message, *self.place, *pointer)

    def pattern(self, written: str, *pointer: str | int) -> str:
        """Return a pattern as scorers take it."""
        return pattern_of(written, self.reading, *self.place, *pointer)

    def trigger(self, name: str, *pointer: str | int, should: bool) -> Iterator[Made]:
        """Yield the check that a skill fires or stays silent, if it is installed."""
        skill = self.skills.called(name)
        if skill is not None:
            label = f"{skill} {'fires' if should else 'stays silent'}"
            yield Made(label, TRIGGER, {"skill": skill, "should_trigger": should})
        elif should:
            message = f"skill {name!r} has to fire and is not installed; skills: {', '.join(self.skills.names)}"
            hint = "Write the name of one of these, or add its folder to `skills` of the environment."
            self.cannot(message, *pointer, hint=hint)
        else:
            self.tell("a skill that is not installed cannot fire, so that this is not checked", *pointer)

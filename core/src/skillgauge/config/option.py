"""The declaration of an option, from which everything that knows the option is derived."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from skillgauge_documents.immutables import immutable


class Kind(Enum):
    """Kinds of values of options."""

    TEXT = auto()
    FLAG = auto()
    SWITCH = auto()
    """On, off or not said."""
    WHOLE = auto()
    NUMBER = auto()
    RUNS = auto()
    """A number of repeats, `auto` or `until-decided`."""
    WORDS = auto()
    """Several words after one flag."""


class Group(Enum):
    """The commands that have an option."""

    EVAL = auto()
    """`eval` alone."""
    SELECTING = auto()
    """Those that choose among cases."""
    EVALUATING = auto()
    """All that evaluate."""


@immutable
class Option:
    """An option of `eval`.

    Click's options, configuration keys, settings of Python and values of `EvalOptions` are derived from it.
    """

    flags: str
    """Its spellings, a space between two."""
    help: str
    name: str = ""
    """Name of its value and of the setting of Python; empty: that of the last flag."""
    kind: Kind = Kind.TEXT
    metavar: str | None = None
    several: bool = False
    """Whether it may be repeated."""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    excludes_least: bool = False
    completes: str = ""
    """Kind of plugins whose names a shell completes."""
    key: str = ""
    """Configuration key that it sets; the key is checked as the option is."""
    default: Any = None
    """Value of that key where nothing sets it."""
    harmless: bool = False
    """Whether a folder may set that key for every user who works there; see `configuration.Key`."""
    field: str = ""
    """Where `EvalOptions` takes its value unchanged: `how.fresh`; of gates, where `GateOptions` does: `pairs.scope`."""
    asks_gate: bool = False
    """Whether it asks for a gate, and does not only refine another one."""
    is_foreseen: bool = False
    """Whether `validate` has it, too, since a suite alone may tell that its gate can never be answered."""
    group: Group = Group.EVALUATING
    is_setting: bool = True
    """Whether it is a setting of Python; not where it is about reports, or about what a terminal shows."""

    @property
    def value_name(self) -> str:
        """Name of its value."""
        return self.name or self.flags.split()[-1].partition("/")[0].lstrip("-").replace("-", "_")

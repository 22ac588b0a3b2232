"""skillgauge: does a skill work, does it help, by how much, and did the next version break it.

Programs call `evaluate` or `aevaluate`. Plugin authors import `skillgauge.api` and `skillgauge_testkit`; every other
module is private to the kernel. What is named here is imported when it is first used, so that the command line starts
fast. Installed distributions add functions to these names, such as `runs`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know it by its name; importing `typing` takes longer than all of `--version`
if TYPE_CHECKING:
    from typing import Any

    from ._version import __version__ as __version__
    from .evaluation.calling import Decision as Decision
    from .evaluation.calling import Evaluated as Evaluated
    from .evaluation.calling import PlannedCase as PlannedCase
    from .evaluation.calling import Settings as Settings
    from .evaluation.calling import aevaluate as aevaluate
    from .evaluation.calling import evaluate as evaluate
    from .evaluation.calling import planned_cases as planned_cases

__all__ = ["Decision", "Evaluated", "PlannedCase", "Settings", "aevaluate", "evaluate", "planned_cases"]

_MODULES = ("api", "stats")
"""Those that programs import."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        from .evaluation import calling  # noqa: PLC0415

        return getattr(calling, name)
    if name == "__version__":
        from ._version import __version__  # noqa: PLC0415

        return __version__
    if name in _MODULES or name.startswith("_"):  # modules are found after this has failed, and nothing is asked for it
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from .plugins.functions import function  # noqa: PLC0415

    return function(name)


def __dir__() -> list[str]:
    from .plugins.functions import function_names  # noqa: PLC0415

    return sorted({*__all__, "__version__", *_MODULES, *function_names()})

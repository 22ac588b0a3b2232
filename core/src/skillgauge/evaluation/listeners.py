"""Extensions that failed while a run told them its events: too late to stop it, and still for the user to know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import Problem, Severity
from ..plan.preparing import Prepared
from ..plugins.kinds import EXTENSIONS
from .invocation import Invocation


def failures_of_extensions(call: Invocation, prepared: Prepared) -> tuple[Problem, ...]:
    """The first failure of each extension since the run began, without secrets.

    It is an error of an extension that the user named, by a file or by one of its options; else a warning.
    """
    return tuple(_failures(call, prepared))


def _failures(call: Invocation, prepared: Prepared) -> Iterator[Problem]:
    told = {problem.message for problem in prepared.warnings}
    clean = prepared.job.clean or str
    for plugin, problem in call.registry.failures.items():
        kind, _, name = plugin.partition(".")
        if kind != EXTENSIONS or problem.message in told:
            continue
        severity = Severity.ERROR if _is_named(call, name) else Severity.WARNING
        hint = f"The results are unaffected; to run without it: --no-plugin {name}."
        yield replace(problem, message=clean(problem.message), hint=problem.hint or hint, severity=severity)


def _is_named(call: Invocation, name: str) -> bool:
    if f"{EXTENSIONS}.{name}" in call.config.plugin_options():
        return True
    files = {str(Path(file)) for file in call.globals.plugin}
    return name in call.registry.names(EXTENSIONS) and call.registry.resolve(EXTENSIONS, name).distribution in files

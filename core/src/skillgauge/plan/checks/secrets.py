"""Which secrets are kept out of what a run writes, and which are too short for that?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from skillgauge_documents.redaction import Redactor

from ...environment import credentials, host_environment, secret
from ...errors import Problem, Severity
from ...log import keep_out
from ...plugins.registry import Registry
from ...types.suite import Suite


def find_secrets(
    suites: Sequence[Suite], passed: Iterable[str], login_files: Iterable[str], store: str | None, registry: Registry
) -> tuple[Redactor, list[Problem]]:
    """Return what takes secrets out of texts, and a warning for each that is too short for that.

    It has learned what cases, targets and a login hand on, and what else is a secret here. A word that the suites say
    themselves, such as `production`, is none. Plugins add theirs, those of which nobody knows yet as well.

    Args:
        suites: what was loaded.
        passed: names of variables that cases hand on.
        login_files: files with credentials that engines may read, relative to the user's home.
        store: place of the store.
        registry: the run's plugins.
    """
    redactor, short = Redactor(), list[Problem]()
    for name, value in credentials():
        _learn(redactor, [], name, value)
    for_targets = {name for suite in suites for target in suite.targets for name in target.pass_env}
    for name in sorted(for_targets | {*passed}):
        value = secret(name) or ""
        if not _is_word_of(suites, value):
            _learn(redactor, short, name, value)
    _learn_logins(redactor, login_files)
    registry.tell_secrets(lambda name: _learn(redactor, short, name, host_environment().get(name, "")))
    _learn(redactor, short, "store", urlsplit(store or "").password or "")
    registry.events().tell_secrets(partial(_learn, redactor, short))
    keep_out(redactor.redact)
    return redactor, short


def _is_word_of(suites: Iterable[Suite], value: str) -> bool:
    """Tell whether suites say a value themselves."""
    return value.isalpha() and any(re.search(rf"\b{value}\b", suite.model_dump_json()) for suite in suites)


def _learn_logins(redactor: Redactor, files: Iterable[str]) -> None:
    """Learn what these files hold, as far as they are in the user's home."""
    if home := host_environment().get("HOME"):
        for file in files:
            _learn_document(redactor, Path(home, file))


def _learn_document(redactor: Redactor, path: Path) -> None:
    with suppress(OSError):
        redactor.register_document(path.name, path.read_bytes())


def _learn(redactor: Redactor, short: list[Problem], name: str, value: str) -> None:
    try:
        redactor.register(name, value)
    except ValueError as error:
        if value:
            short.append(Problem("secrets.short", str(error), severity=Severity.WARNING))

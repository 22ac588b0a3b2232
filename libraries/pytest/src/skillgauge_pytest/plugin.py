"""The hooks of pytest: options, the suites that become tests, and the fixture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

import pytest

from skillgauge import Evaluated, evaluate

from .items import SuiteFile


class EvaluateSkill(Protocol):
    """The fixture `evaluate_skill`: `skillgauge.evaluate`, with the settings of the test beside its own."""

    def __call__(self, *paths: str | Path, **settings: Any) -> Evaluated:
        """Evaluate, and keep the answer among the test's properties."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what can be set."""
    text = "Settings of every evaluation, as KEY=VALUE: of skillgauge.evaluate, or of a plugin as with --set"
    group = parser.getgroup("skillgauge", "evaluations of skills")
    group.addoption("--skillgauge-set", action="append", default=[], metavar="KEY=VALUE", help=f"{text}; repeatable.")
    parser.addini("skillgauge_settings", f"{text}.", type="linelist")
    parser.addini("skillgauge_suites", "Suites that become tests: patterns of paths below the root.", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Announce the marker, check the settings, and keep the arms of a case together where processes share the tests."""
    configured(config)
    config.addinivalue_line("markers", "skillgauge(**settings): settings of the evaluations in this test")
    if config.getini("skillgauge_suites") and config.getoption("dist", "no") == "load":
        config.option.dist = "loadgroup"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the suites that the configuration names."""
    config = parent.config
    if not file_path.is_relative_to(config.rootpath):
        return None
    place = file_path.relative_to(config.rootpath).as_posix()
    if not any(fnmatchcase(place, pattern) for pattern in config.getini("skillgauge_suites")):
        return None
    suite: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
    suite.settings = configured(config)
    return suite


def configured(config: pytest.Config) -> dict[str, Any]:
    """The settings of every evaluation: those of the command line go before those of the file."""
    return _settings([*config.getini("skillgauge_settings"), *config.getoption("skillgauge_set")])


def _settings(words: Iterable[str]) -> dict[str, Any]:
    """Settings from KEY=VALUE; a key with dots is an option of a plugin, and a value that is no JSON is a text.

    Raises:
        UsageError: a word has no value.
    """
    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise pytest.UsageError(f"skillgauge: {word!r} is not KEY=VALUE")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        (options if "." in key else settings)[key.strip()] = value
    return {**settings, "options": options} if options else settings


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of which the second go before the first, options of plugins one by one."""
    options = {**first.get("options", {}), **second.get("options", {})}
    return {**first, **second, **({"options": options} if options else {})}


@pytest.fixture
def evaluate_skill(request: pytest.FixtureRequest) -> EvaluateSkill:
    """Evaluates: settings of the call go before those of the test's marker `skillgauge`, and these before the rest."""
    settings = configured(request.config)
    for marker in reversed(list(request.node.iter_markers("skillgauge"))):
        settings = _joined(settings, marker.kwargs)

    def call(*paths: str | Path, **own: Any) -> Evaluated:
        run = evaluate(*paths, **_joined(settings, own))
        request.node.user_properties.append(("skillgauge", str(run)))
        return run

    return call

"""The comparison of an object with a protocol; `isinstance` would see neither arguments nor `async`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from skillgauge.api import FormatWithFolders, FormatWithHeadlines, SuiteFormat, SuiteHead
from skillgauge.api.report import Figure

from .clauses import called, require, shown


def require_shape(thing: object, protocol: type) -> None:
    """An object must have the protocol's methods, async where the protocol is, and its attributes."""
    name = protocol.__name__
    for attribute, member in vars(protocol).items():
        if attribute.startswith("_"):
            continue
        missing = f"{name}.{attribute} is missing from {type(thing).__name__}"
        require(hasattr(thing, attribute), missing)
        if inspect.isfunction(member):
            _require_method(f"{name}.{attribute}", getattr(thing, attribute), member)
    for attribute, kind in inspect.get_annotations(protocol).items():
        require(hasattr(thing, attribute), f"{name}.{attribute} is missing from {type(thing).__name__}")
        value = getattr(thing, attribute)
        fits = kind != "str" or (isinstance(value, str) and value)
        require(fits, f"{name}.{attribute} must be a text that is not empty, not {shown(value)}")


def _require_method(name: str, method: object, declared: Callable[..., Any]) -> None:
    require(callable(method), f"{name} must be a method, not {shown(method)}")
    if inspect.iscoroutinefunction(declared):
        require(inspect.iscoroutinefunction(method), f"{name} must be `async def`")
    else:
        require(not inspect.iscoroutinefunction(method), f"{name} must not be `async def`")
    parameters = list(inspect.signature(declared).parameters.values())[1:]  # without self
    positional = [None for one in parameters if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = {one.name: None for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    assert callable(method)
    signature = inspect.signature(method)
    try:
        signature.bind(*positional, **named)
    except TypeError as error:
        expected = ", ".join(str(one) for one in parameters)
        raise AssertionError(f"{name} must take ({expected}), but takes {signature}: {error}") from error


def require_hidden_folders(suite_format: SuiteFormat) -> None:
    """Require that the hidden folders of a format lie below the folder that is searched.

    Raises:
        AssertionError: one does not.
    """
    for folder in suite_format.searched_folders if isinstance(suite_format, FormatWithFolders) else ():
        is_below = isinstance(folder, str) and folder.startswith(".") and ".." not in folder.split("/")
        require(is_below, f"FormatWithFolders.searched_folders must name hidden folders, not {shown(folder)}")


def require_headline_told(suite_format: SuiteFormat, suite: SuiteHead, figures: Iterable[Figure]) -> None:
    """Require that a format tells which suites have a figure in place of the pass rate, as who plans a run asks.

    Args:
        suite_format: the format.
        suite: one of its suites.
        figures: of a group of that suite.

    Raises:
        AssertionError: it says something else than its figures.
    """
    has_one, is_said = any(one.is_headline for one in figures), False
    if isinstance(suite_format, FormatWithHeadlines):
        is_said = called("FormatWithHeadlines.has_headline", suite_format.has_headline, suite)
    has = "with" if has_one else "without"
    message = f"FormatWithHeadlines.has_headline must be {has_one} of a suite {has} such a figure"
    require(is_said is has_one, message)

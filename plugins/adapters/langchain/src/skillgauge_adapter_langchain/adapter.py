"""The runnable that is invoked, and the way of invoking it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from skillgauge_python_calls.adapter import Kind, PythonCalls
from skillgauge_python_calls.settings import CallSettings

DEFAULT_NAME = "runnable"
"""The object that a file stands for if the entrypoint names none."""


class Method(StrEnum):
    """Ways to invoke a runnable."""

    INVOKE = "invoke"
    AINVOKE = "ainvoke"


class RunnableSettings(CallSettings):
    """The keys of `adapter.config.json`."""

    method: Method | None = Field(
        default=None, description="Default: invoke, and ainvoke for an object that has only that."
    )


def langchain_adapter() -> PythonCalls[RunnableSettings]:
    """The adapter for runnables."""
    program = Path(__file__).with_name("in_child.py").read_text("utf-8")
    return PythonCalls(Kind(name="langchain", default_name=DEFAULT_NAME, settings=RunnableSettings, program=program))

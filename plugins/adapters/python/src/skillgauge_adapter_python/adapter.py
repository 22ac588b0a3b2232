"""The object that is called, and the name that finds it."""

from __future__ import annotations

from pathlib import Path

from skillgauge_python_calls.adapter import Kind, PythonCalls
from skillgauge_python_calls.settings import CallSettings

DEFAULT_NAME = "run"
"""The function that a file stands for if the entrypoint names none."""


def python_adapter() -> PythonCalls[CallSettings]:
    """The adapter for functions and whatever else can be called."""
    program = Path(__file__).with_name("in_child.py").read_text("utf-8")
    return PythonCalls(Kind(name="python", default_name=DEFAULT_NAME, settings=CallSettings, program=program))

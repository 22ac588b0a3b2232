"""What reads the sessions that agents' programs keep: found by its engine, and guarded as the engine is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillgauge.contract.engines import Engine, FoundSession
from skillgauge.contract.providers import Provider, hookimpl
from skillgauge.errors import PluginError
from skillgauge.plan.engines import session_readers
from skillgauge.plugins.registry import Registry
from skillgauge.types.trial import Execution, Identity
from skillgauge_testkit import FakeEngine
from skillgauge_testkit.registries import registry_of

WHOLE = FoundSession(prompts=("hi",), engine=Identity(name="acme"), execution=Execution(text="hello"))


def registry(**readers: Any) -> Registry:
    """Engines by their names, each with what reads its sessions."""

    @hookimpl
    def skillgauge_engines() -> Iterator[Provider[Engine]]:
        for name, reader in readers.items():
            yield Provider(name=name, factory=lambda: FakeEngine(lambda *_: Execution()), summary="s", sessions=reader)

    module = ModuleType("engines")
    module.skillgauge_engines = skillgauge_engines  # type: ignore[attr-defined]
    return registry_of(module)


class Reader:
    """Reads what it is told to."""

    answer: Any = WHOLE

    def claims(self, path: Path) -> bool:
        """Everything."""
        return True

    def read(self, path: Path) -> Any:
        """Answer, or raise."""
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def answering(answer: Any) -> type[Reader]:
    """A reader with another answer."""
    return type("Other", (Reader,), {"answer": answer})


def test_only_engines_that_announce_one_have_a_reader() -> None:
    """By the name of the engine, which is not made."""
    readers = session_readers(registry(acme=Reader, mute=None))
    assert list(readers) == ["acme"]
    assert readers["acme"].read(Path("x")) == WHOLE


@pytest.mark.parametrize("answer", ["a text", None, SystemExit(3), RuntimeError("no")], ids=repr)
def test_what_breaks_in_a_reader_is_the_plugins(answer: Any) -> None:
    """A wrong answer and an exit name the plugin, and end no more than the call."""
    reader = session_readers(registry(acme=answering(answer)))["acme"]
    with pytest.raises(PluginError, match="engine 'acme'"):
        reader.read(Path("x"))


@pytest.mark.parametrize("answer", [ValueError("damaged"), OSError("gone")], ids=repr)
def test_a_damaged_file_is_no_fault_of_the_plugin(answer: Exception) -> None:
    """The contract allows both."""
    reader = session_readers(registry(acme=answering(answer)))["acme"]
    with pytest.raises(type(answer), match=str(answer)):
        reader.read(Path("x"))


def test_a_reader_that_cannot_be_made_is_told() -> None:
    """With the engine that announces it."""
    with pytest.raises(PluginError, match="cannot read sessions"):
        session_readers(registry(acme="no.such.module:Reader"))

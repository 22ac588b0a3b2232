"""Skills and benchmarks in temporary folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from skillgauge.api import Loaded, LoadRequest, Problem, SuiteError
from skillgauge_testkit import FORMATS, Maker

SKILL = {
    "id": "echo",
    "name": "Echo",
    "version": "1.0.0",
    "description": "",
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
}


class Load(Protocol):
    """Loads paths with options."""

    def __call__(self, *paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        """What the format makes of them."""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], Path]:
    """Writes a file below the temporary folder: text as it is, anything else as JSON."""

    def put(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
        return path

    return put


@pytest.fixture
def skill(write: Callable[[str, object], Path]) -> Callable[..., Path]:
    """Makes a skill with its program; keywords change its file, `None` takes a key out."""

    def make(folder: str = "echo", **changes: object) -> Path:
        content = {key: value for key, value in {**SKILL, **changes}.items() if value is not None}
        write(f"{folder}/skill.py", "print()")
        return write(f"{folder}/skill.json", content)

    return make


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads as the kernel does, in the temporary folder."""

    def run(*paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
        request = LoadRequest(
            paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd=str(tmp_path), options=options
        )
        return Maker(FORMATS, "skillgauge_format_eval_skills.plugin")().load(request)

    return run


@pytest.fixture
def refused(load: Load) -> Callable[..., list[Problem]]:
    """The problems that keep something from being loaded."""

    def run(*paths: Path, **options: Any) -> list[Problem]:
        with pytest.raises(SuiteError) as caught:
            load(*paths, **options)
        return list(caught.value.problems)

    return run


@pytest.fixture
def told() -> Callable[[list[Problem]], list[tuple[str, str]]]:
    """Code and dotted pointer of problems."""

    def short(problems: list[Problem]) -> list[tuple[str, str]]:
        return [
            (problem.code.removeprefix("suite."), ".".join(map(str, problem.origin.pointer if problem.origin else ())))
            for problem in problems
        ]

    return short

"""Damage a suite line by line: a format reads it otherwise, or refuses it and says where."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from skillgauge.api import SuiteError, located_all

from .clauses import require

_INSTEAD_OF_A_COLON = ("", ": [", ": {}", ": null #", ": 3 #")
_FURTHER_LINES = ("- x", "key: 1", "\tx: 1", "&a [*a]", "\x00")
_INSTEAD_OF_BRACES = ("{{{", "{% ", "{{x.")


def mutants(text: str, count: int, *, seed: int = 14) -> Iterator[str]:
    """YAML with one line gone, indented, doubled in meaning or otherwise not what it was; the same for a seed."""
    rng = random.Random(seed)
    for _ in range(count):
        lines = text.splitlines()
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines[at] = lines[at].replace(":", rng.choice(_INSTEAD_OF_A_COLON), 1)
            case 2:
                lines[at] = f"  {lines[at]}"
            case 3:
                lines.insert(at, rng.choice(_FURTHER_LINES))
            case 4:
                lines[at] = lines[at].replace("{{", rng.choice(_INSTEAD_OF_BRACES), 1)
            case _:
                lines[at] = f"{lines[at]}: !!python/name:os.system"
        yield "\n".join(lines)


def check_mutants(load: Callable[[Path], object], suite: Path, count: int, *, file: Path | None = None) -> None:
    """Load a suite with damage in it, again and again: each is read, or refused with a line, and most are refused.

    Args:
        load: reads the suite; raises `SuiteError`, and nothing else.
        suite: what is loaded.
        count: how many mutants.
        file: what is damaged; the suite itself by default. It is left as it was.

    Raises:
        AssertionError: a refusal has no line, or fewer than half of them are refused.

    Example::

        def test_damage_is_refused_with_a_line(tmp_path: Path) -> None:
            suite = tmp_path / "suite.yaml"
            suite.write_text(SUITE)
            check_mutants(MyFormat().load, suite, 100)
    """
    file = file or suite
    text = file.read_text()
    refused = 0
    for mutant in mutants(text, count):
        file.write_text(mutant)
        try:
            load(suite)
        except SuiteError as error:
            refused += 1
            placeless = [str(one) for one in located_all(error.problems) if not (one.span and one.span.line)]
            require(not placeless, f"a refusal must say in which line: {placeless}, of\n{mutant}")
    file.write_text(text)
    require(refused * 2 > count, f"of {count} damaged files {refused} were refused, and damage mostly has to be")

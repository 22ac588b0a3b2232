"""Run fixtures against a command and compare what it answers."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from skillgauge.api import Frozen, Problem, UsageError, cut, plain

PACKAGE = "skillevaluation"
TIMEOUT_S = 60
_LONGEST = 300


class Failure(Frozen):
    """A fixture that did not pass."""

    category: str
    fixture: str
    reason: str


class Category(Frozen):
    """The fixtures of a category."""

    name: str
    fixtures: int
    passed: int


class Conformance(Frozen):
    """The answers of a runner to the conformance data."""

    runner: str
    version: str
    """Of the conformance data."""
    fixtures: int
    passed: int
    categories: tuple[Category, ...]
    failures: tuple[Failure, ...]


def places() -> Iterator[tuple[str, str]]:
    """Return the folder of the installed package's data."""
    for part, folder in (("fixtures", "compatibility-tests"), ("contract", "spec"), ("schemas", "schemas")):
        yield part, str(files(PACKAGE).joinpath(folder))


def checked(runner: str, categories: Sequence[str]) -> Conformance:
    """Run the fixtures of some categories.

    Raises:
        UsageError: the command cannot be started.
    """
    rows, failures = [], []
    for category in categories:
        fixtures = sorted(_folders(category), key=lambda one: one.name)
        wrong = [(one.name, reason) for one in fixtures if (reason := _wrong(runner, category, one))]
        rows.append(Category(name=category, fixtures=len(fixtures), passed=len(fixtures) - len(wrong)))
        failures += [Failure(category=category, fixture=name, reason=reason) for name, reason in wrong]
    return Conformance(
        runner=runner,
        version=version(PACKAGE),
        fixtures=sum(row.fixtures for row in rows),
        passed=sum(row.passed for row in rows),
        categories=tuple(rows),
        failures=tuple(failures),
    )


def _folders(category: str) -> Iterator[Traversable]:
    return (one for one in files(PACKAGE).joinpath("compatibility-tests", category).iterdir() if one.is_dir())


def _wrong(runner: str, category: str, fixture: Traversable) -> str:
    """Return the reason why a fixture does not pass; empty if it does."""
    name = "input.yaml" if category == "parser" else "input.json"
    try:
        done = subprocess.run(
            [*shlex.split(runner), category],
            input=fixture.joinpath(name).read_bytes(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TIMEOUT_S} s"
    except (OSError, ValueError) as error:
        message = f"the runner cannot be started: {error}"
        raise UsageError(Problem("conformance.runner", message, hint="Check the command.")) from error
    stderr = done.stderr.decode("utf-8", "replace")
    refusal = fixture.joinpath("expected-error.json")
    if refusal.is_file():
        return _not_refused(done.returncode, stderr, json.loads(refusal.read_text("utf-8"))["message_keywords"])
    if done.returncode:
        return _short(f"ended with exit code {done.returncode}: {stderr.strip()}")
    if category == "trajectory":
        return _other_text(done.stdout, fixture.joinpath("expected.txt").read_bytes())
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return _short(f"the answer is no JSON: {done.stdout.decode('utf-8', 'replace').strip()}")
    expected = json.loads(fixture.joinpath("expected.json").read_text("utf-8"))
    return "" if answer == expected else _short(f"answered {json.dumps(answer)} instead of {json.dumps(expected)}")


def _not_refused(code: int, stderr: str, keywords: Sequence[str]) -> str:
    if code == 0:
        return "accepted, although it is to be refused"
    missing = [word for word in keywords if word not in stderr]
    return _short(f"refused without the words {missing}: {stderr.strip()}") if missing else ""


def _other_text(answer: bytes, expected: bytes) -> str:
    if answer.removesuffix(b"\n") == expected.removesuffix(b"\n"):
        return ""
    return _short(f"answered {answer.decode('utf-8', 'replace')!r} instead of {expected.decode()!r}")


def _short(text: str) -> str:
    return plain(cut(text, _LONGEST))

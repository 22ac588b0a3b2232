"""Runs of nothing: whether that is what was wanted, a selection that fits no case, or a mistake."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge.contract.formats import Claim, Dumped, Loaded, LoadRequest, SuiteFormat
from skillgauge.contract.providers import Provider, hookimpl
from skillgauge.contract.sandboxes import Finished, Sandbox
from skillgauge.errors import EmptySelection, Problem, SkillgaugeError, SuiteError
from skillgauge.plan.options import EvalOptions, What, Who
from skillgauge.plan.preparing import Prepared, prepare
from skillgauge.plugins.registry import Registry
from skillgauge.types.arms import GroupKey
from skillgauge.types.plan import Selection
from skillgauge.types.results.summaries import Figure, SuiteSummary
from skillgauge.types.suite import Suite
from skillgauge_testkit import FakeSandbox
from skillgauge_testkit.registries import registry_of

EMPTY = Suite(id="s", format="f", root="/s")
WANTED = EMPTY.model_copy(update={"may_be_empty": True})
BAD_FILE = Problem("suite.json", "no JSON")
TAGGED = Selection(tags=("slow",))


class Format:
    """A format that gives what it is made with, whatever it is asked to load."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    def claim(self, _path: Path) -> Claim:
        """Claim everything."""
        return Claim()

    def load(self, _request: LoadRequest) -> Loaded:
        """Return what is given."""
        return self._loaded

    def dump(self, _suite: Suite) -> Dumped:
        """Write nothing."""
        return Dumped(())

    def figures(self, _summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Count nothing."""
        return {}


def registry(loaded: Loaded) -> Registry:
    """Return a registry of a format and a sandbox."""
    module = ModuleType("preparing_of_a_test")

    @hookimpl
    def skillgauge_formats() -> Iterator[Provider[SuiteFormat]]:
        yield Provider("fake", lambda: Format(loaded), "")

    @hookimpl
    def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
        yield Provider("box", lambda: FakeSandbox(lambda _command, _workspace: Finished(0, None, b"", b"", 0.1)), "")

    vars(module).update({hook.__name__: hook for hook in (skillgauge_formats, skillgauge_sandboxes)})
    return registry_of(module)


def prepared(
    folder: Path, suite: Suite, *bad_files: Problem, selection: Selection | None = None, executes: bool = True
) -> Prepared:
    """Prepare a run of what a folder holds."""
    what = What(paths=(folder,), selection=selection or Selection())
    options = EvalOptions(folder, what=what, who=Who(executes=executes))
    return asyncio.run(prepare(options, registry(Loaded((suite,), bad_files))))


@pytest.mark.parametrize(
    ("suite", "bad_files", "selection", "error", "code"),
    [
        (EMPTY, (), None, SuiteError, "suite.empty"),
        (EMPTY, (), TAGGED, EmptySelection, "usage.nothing-selected"),
        (WANTED, (), TAGGED, EmptySelection, "usage.nothing-selected"),
        (WANTED, (BAD_FILE,), None, SuiteError, "suite.json"),
        (EMPTY, (BAD_FILE,), TAGGED, SuiteError, "suite.json"),
    ],
    ids=["no case", "no case selected", "no case selected where none need be", "a bad file", "a bad file at first"],
)
def test_a_run_of_nothing_is_refused(
    tmp_path: Path,
    suite: Suite,
    bad_files: tuple[Problem, ...],
    selection: Selection | None,
    error: type[SkillgaugeError],
    code: str,
) -> None:
    """The most likely reason is named: files that cannot be read, then a selection, then a suite without cases."""
    with pytest.raises(SkillgaugeError) as caught:
        prepared(tmp_path, suite, *bad_files, selection=selection)
    assert type(caught.value) is error
    assert [problem.code for problem in caught.value.problems] == [code]


def test_a_suite_may_say_that_it_need_not_have_cases(tmp_path: Path) -> None:
    """Then a run of nothing ends well."""
    assert prepared(tmp_path, WANTED).plan.head.trial_count == 0


def test_what_is_not_carried_out_need_not_have_trials(tmp_path: Path) -> None:
    """Results of an earlier run are graded again without any trial of this plan."""
    assert prepared(tmp_path, EMPTY, executes=False).plan.head.trial_count == 0

"""The clauses about workers: what is made by `plugins new executors` keeps them, and each fault in it is named."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from skillgauge_testkit import EXECUTORS, Maker, with_options
from skillgauge_testkit.contract.clauses import run
from skillgauge_testkit.contract.executors.admission import AdmissionClauses
from skillgauge_testkit.contract.executors.bench import Bench
from skillgauge_testkit.contract.executors.bundle import new_bundle
from skillgauge_testkit.contract.executors.dying import first_process_dies
from skillgauge_testkit.contract.executors.workers import WorkerClauses
from skillgauge_testkit.scaffold import installed_project, write_project

PACKAGE = "skillgauge_executor_lanes"
QUICK_S = 45.0
"""Patience with what never happens, and enough for a worker to start."""
LONG_S = 60.0

ADMISSION = ("one_lacks_something", "all_lack_something")
CLAUSES = ("one_dies", "one_dies_grading", "one_joins", "one_is_bad", "one_repeats", *ADMISSION, "first_process_dies")

ENDLESS = ("an attempt of a dead worker is forgotten", "nobody is let in late", "a run waits when all are refused")
"""Faults in which something never happens."""

REFUSED_COSTS_A_TRIAL = {
    '            log.warning("worker.refused"': "            lost = await self._waiting.get()\n"
    '            _answer(lost, _failure(FailureClass.LAUNCH, "refused"))\n'
    '            log.warning("worker.refused"',
    # The others wait for that: on a busy machine they could make every trial before there is a refusal.
    "            return\n        self._ready += 1\n": "            return\n"
    "        while not self._refusals:\n"
    "            await asyncio.sleep(0.01)\n"
    "        self._ready += 1\n",
}

FAULTS: dict[str, tuple[str, dict[str, str], str, str]] = {
    "an attempt of a dead worker is forgotten": (
        "queue.py",
        {"            _answer(attempt, failure)\n": ""},
        "one_dies",
        "when a worker dies, iterating Results must come to an end",
    ),
    "an attempt of a dead worker is no failure that another helps": (
        "queue.py",
        {"FailureClass.KILLED, ": "FailureClass.INTERNAL, "},
        "one_dies",
        "when a worker dies, every trial must be made in the end, but 1 were not",
    ),
    "a session is graded before it is kept": (
        "worker.py",
        {"                recipe, 1, spent, keeper, folder": "                recipe, 1, spent, folder"},
        "one_dies_grading",
        "a session that had ended must be graded and not made again",
    ),
    "a session that was kept is not handed on": (
        "queue.py",
        {"await self.keeper.kept(trial)": "None"},
        "one_dies_grading",
        "a session that had ended must be graded and not made again",
    ),
    "a session is lost on its way": (
        "queue.py",
        {'            await self.keeper.keep(KeptExecution.model_validate(words["keep"]))\n': ""},
        "one_dies_grading",
        "a session that had ended must be graded and not made again",
    ),
    "nobody is let in late": (
        "queue.py",
        {"        self._ready += 1\n": "        if self._ready > 1:\n            return\n        self._ready += 1\n"},
        "one_joins",
        "a trial made by a worker that joined late must happen",
    ),
    "a bad worker costs a trial": (
        "queue.py",
        REFUSED_COSTS_A_TRIAL,
        "one_is_bad",
        "when one worker of several is bad, every trial must be made in the end, but 1 were not",
    ),
    "a worker that is refused costs a trial": (
        "queue.py",
        REFUSED_COSTS_A_TRIAL,
        "one_lacks_something",
        "when one worker of several lacks what the run needs, every trial must be made in the end, but 1 were not",
    ),
    "a run waits when all are refused": (
        "queue.py",
        {"            self.has_trouble.set()\n": ""},
        "all_lack_something",
        "iterating Results must come to an end",
    ),
    "only the first reason is told": (
        "worker.py",
        {"Admission.refused(error)": "Admission.refused(type(error)(error.problems[:1]))"},
        "all_lack_something",
        "a PluginError must tell ",
    ),
    "any answer will do": (
        "queue.py",
        {
            'words["of"] == attempt.trial.trial_id and ': "",
            "            if not more.cancelled() and": "            if not words.cancelled() and words.result():\n"
            "                reader._buffer[:0] = words.result()\n"
            "            if not more.cancelled() and",
        },
        "one_repeats",
        "when an answer comes twice, every trial must give one result",
    ),
    "a worker goes on for nobody": (
        "worker.py",
        {
            "        attempt.cancel()\n": "        if not await following:\n"
            "            await asyncio.wait({attempt})\n"
            "        attempt.cancel()\n"
        },
        "first_process_dies",
        "the process that runs the evaluation is killed, the end of every attempt under way",
    ),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The project that `plugins new executors lanes` makes, to be imported here and in processes."""
    folder, _ = write_project(installed_project("executors", "lanes"), tmp_path)
    monkeypatch.syspath_prepend(str(folder / "src"))
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    yield folder
    for name in [one for one in sys.modules if one.startswith(PACKAGE)]:
        del sys.modules[name]


def check(project: Path, clause: str, patience_s: float) -> None:
    """Check one clause, with the workers of the project's own tests."""
    importlib.invalidate_caches()
    spec = spec_from_file_location("lanes_contract", project / "tests/test_contract.py")
    assert spec is not None
    assert spec.loader is not None
    own_tests = module_from_spec(spec)
    spec.loader.exec_module(own_tests)
    make = with_options(Maker(EXECUTORS, f"{PACKAGE}.plugin"), {"workers": 2})
    with new_bundle() as bundle, pytest.MonkeyPatch.context() as patched:
        bench = Bench(make, bundle, patience_s)
        if clause == "first_process_dies":
            run(first_process_dies(bench))
        else:
            about = AdmissionClauses if clause in ADMISSION else WorkerClauses
            clauses = about(bench, lambda made: own_tests.LocalWorkers(made, patched))
            run(getattr(clauses, clause)())


@pytest.mark.slow
@pytest.mark.parametrize("clause", CLAUSES)
def test_what_is_made_keeps_it(project: Path, clause: str) -> None:
    """Before anything is broken in it."""
    check(project, clause, LONG_S)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_fault_changes_is_there(project: Path, fault: str) -> None:
    """Once, so that a change of the template is noticed before its faults are tried."""
    file, changes, _, _ = FAULTS[fault]
    text = (project / "src" / PACKAGE / file).read_text()
    assert [text.count(right) for right in changes] == [1] * len(changes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what is broken is not closed
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(project: Path, fault: str) -> None:
    """By the sentence of the clause that it breaks."""
    file, changes, clause, sentence = FAULTS[fault]
    source = project / "src" / PACKAGE / file
    text = source.read_text()
    for right, wrong in changes.items():
        text = text.replace(right, wrong)
    source.write_text(text)
    with pytest.raises(AssertionError, match=sentence):
        check(project, clause, QUICK_S if fault in ENDLESS else LONG_S)
    gc.collect()  # within this test, and not within another one

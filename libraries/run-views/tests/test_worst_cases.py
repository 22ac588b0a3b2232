"""The worst cases of a run, chosen in one reading while few are held."""

from __future__ import annotations

import pytest

from skillgauge.api.report import RunView
from skillgauge_run_views import tested
from skillgauge_testkit import contract_views

VIEWS = dict(contract_views())


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("most", [1, 3, 10])
def test_letting_go_of_cases_changes_nothing(view: RunView, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same are chosen where every case is held to the end, and where only as many as are wanted."""
    chosen = tested.worst(view, most)
    monkeypatch.setattr(tested, "_HELD", 10**6)
    assert [(case.group.key, case.key) for case in chosen] == [
        (case.group.key, case.key) for case in tested.worst(view, most)
    ]
    monkeypatch.setattr(tested, "_HELD", 1)
    assert tested.worst(view, most) == chosen


def test_a_long_run_has_cases_to_let_go_of() -> None:
    """The test above would prove nothing where no run has more bad cases than are held."""
    view = VIEWS["a run with 1,000 results"]
    assert len(tested.worst(view, 1_000)) > 4 * 10

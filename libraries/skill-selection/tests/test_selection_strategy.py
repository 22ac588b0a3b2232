"""Strategy files and what the command line changes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import SuiteError, located_all
from skillgauge_skill_selection.strategy import Filters, Order, SortKey, Strategy, read_strategy

DOCUMENTED = """\
filters:
  minCompletionRate: 0.8
  maxErrorRate: 0.1
  maxLatencyP95Ms: 5000
  adapterTypes: [http, subprocess]
  requiredTags: [production-ready]
sortBy: compositeScore
order: desc
topK: 5
"""
AS_JSON = """{"filters": {"minCompletionRate": 0.8, "maxErrorRate": 0.1, "maxLatencyP95Ms": 5000,
"adapterTypes": ["http", "subprocess"], "requiredTags": ["production-ready"]},
"sortBy": "compositeScore", "order": "desc", "topK": 5}"""


def written(tmp_path: Path, text: str, name: str = "strategy.yaml") -> Path:
    """A strategy file."""
    path = tmp_path / name
    path.write_text(text)
    return path


def problems(path: Path) -> list[str]:
    """What is wrong with a file, as it is shown."""
    with pytest.raises(SuiteError) as error:
        read_strategy(path)
    return [str(problem) for problem in located_all(error.value.problems)]


@pytest.mark.requirement("ES-SELECT-004", "ES-SELECT-010")
@pytest.mark.parametrize(("name", "text"), [("a.yaml", DOCUMENTED), ("a.yml", DOCUMENTED), ("a.json", AS_JSON)])
def test_the_documented_example(tmp_path: Path, name: str, text: str) -> None:
    """Every documented key is read, from YAML and from JSON."""
    strategy = read_strategy(written(tmp_path, text, name))
    filters = strategy.filters
    assert (filters.min_completion_rate, filters.max_error_rate, filters.max_latency_p95_ms) == (0.8, 0.1, 5000)
    assert (filters.adapter_types, filters.required_tags) == (("http", "subprocess"), ("production-ready",))
    assert (strategy.sort_by, strategy.order, strategy.top_k) == (SortKey.COMPOSITE_SCORE, Order.DESCENDING, 5)


@pytest.mark.requirement("ES-DEFECT-14")
@pytest.mark.parametrize("text", ["{}", "sortBy: latency", "filters:\n", "filters: {}\ntopK: 0"])
def test_everything_may_be_absent(tmp_path: Path, text: str) -> None:
    """A file without filters works, also where YAML makes the empty heading null."""
    strategy = read_strategy(written(tmp_path, text))
    assert strategy.filters == Filters()
    assert not strategy.top_k


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("filter: {}", "1:1", "did you mean filters?"),
        ("filters:\n  minCompletion: 0.8", "2:3", "did you mean minCompletionRate?"),
        ('filters:\n  minCompletionRate: "0.8"', "2:3", "must be a number"),
        ("filters:\n  minCompletionRate: yes please", "2:3", "must be a number"),
        ("filters:\n  minCompletionRate: true", "2:3", "must be a number"),
        ("filters:\n  minCompletionRate: 80", "2:3", "less than or equal to 1"),
        ("filters:\n  maxErrorRate: -1", "2:3", "greater than or equal to 0"),
        ("filters:\n  maxLatencyP95Ms: 5s", "2:3", "must be a number"),
        ("filters:\n  adapterTypes: http", "2:3", "must be a list"),
        ("filters:\n  requiredTags: [1]", "2:18", "must be text"),
        ("filters: []", "1:1", "must be an object"),
        ("sortBy: composite", "1:1", "did you mean compositeScore"),
        ("order: descending", "1:1", "'asc' or 'desc'"),
        ("topK: 2.5", "1:1", "a whole number"),
        ("topK: -1", "1:1", "greater than or equal to 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, place: str, told: str) -> None:
    """Unknown keys, thresholds that are none and unknown words are errors with line, column and what was meant."""
    path = written(tmp_path, text)
    (problem,) = problems(path)
    assert problem.startswith(f"{path}:{place}: error[suite.")
    assert told in problem


def test_all_problems_at_once(tmp_path: Path) -> None:
    """One look at the file is enough to put it right."""
    assert len(problems(written(tmp_path, "sortby: x\norder: up\ntopK: many\nfilters: {maxErrorRate: 2}"))) == 4


def test_the_natural_order_puts_the_best_first() -> None:
    """Without an order fast and cheap skills rank first, not last."""
    ascending = {key for key in SortKey if key.natural_order is Order.ASCENDING}
    assert ascending == {SortKey.LATENCY, SortKey.TOKEN_COST}


@pytest.mark.requirement("ES-SELECT-005")
def test_the_command_line_goes_before_the_file_and_the_file_before_the_default() -> None:
    """Each limit by itself: what is given replaces what the file says, and what neither says is the default."""
    file = Strategy.model_validate({"filters": {"minCompletionRate": 0.8, "maxErrorRate": 0.1}, "topK": 3})
    default = Strategy().with_limits(min_completion=0.7, top_k=5)
    given = file.with_limits(min_completion=0.0, top_k=None)
    assert (given.filters.min_completion_rate, given.filters.max_error_rate, given.top_k) == (0.0, 0.1, 3)
    assert file.with_limits(min_completion=None, top_k=0).top_k == 0
    assert file.with_limits(min_completion=None, top_k=None) == file
    assert file.over(default) == file
    assert Strategy().over(default) == default
    assert given.over(default) == given

"""Filters, ranking and cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_skill_selection.catalogue import Candidate
from skillgauge_skill_selection.evidence import SkillReport
from skillgauge_skill_selection.selection import CostUnit, Selection, cost_unit, figure, select
from skillgauge_skill_selection.showing import ranking_table
from skillgauge_skill_selection.strategy import SortKey, Strategy

RATES = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 0.7, 0.8, 1.0]))
FIGURES = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 20.0, 300.0]))


def report(name: str, **figures: float | None) -> SkillReport:
    """A report about a skill."""
    known = {"completion_rate": 1.0, "error_rate": 0.0, "composite_score": 0.9, "latency_p95_ms": 100.0} | figures
    return SkillReport.model_validate({"skill_id": name, "benchmark": "b", "measured_at": 1.0, **known})


def candidate(name: str, adapter: str | None = "http", tags: tuple[str, ...] = ()) -> Candidate:
    """A skill."""
    return Candidate(id=name, adapter=adapter, tags=tags, document={"id": name})


def strategy(**keys: object) -> Strategy:
    """A strategy as a file would give it."""
    return Strategy.model_validate(keys)


def chosen(selection: Selection) -> list[str]:
    """Ids of the selected, best first."""
    return [one.candidate.id for one in selection.selected]


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Candidate], dict[str, SkillReport]]:
    """Candidates, and reports of some of them."""
    names = [f"s{number}" for number in range(draw(st.integers(0, 7)))]
    tags = st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple)
    candidates = [candidate(name, draw(st.sampled_from(["http", "mcp", None])), draw(tags)) for name in names]
    reports = {
        name: report(
            name,
            completion_rate=draw(RATES),
            error_rate=draw(RATES),
            composite_score=draw(RATES),
            latency_p95_ms=draw(FIGURES),
            tokens_per_call=draw(FIGURES),
            usd_per_call=draw(FIGURES),
        )
        for name in names
        if draw(st.booleans())
    }
    return candidates, reports


STRATEGIES = st.builds(
    lambda least, slowest, types, tags, by, order, top: strategy(
        filters={"minCompletionRate": least, "maxLatencyP95Ms": slowest, "adapterTypes": types, "requiredTags": tags},
        sortBy=by,
        order=order,
        topK=top,
    ),
    RATES,
    FIGURES,
    st.sampled_from([(), ("http",), ("http", "mcp")]),
    st.sampled_from([(), ("x",), ("x", "y")]),
    st.sampled_from([key.value for key in SortKey]),
    st.sampled_from([None, "asc", "desc"]),
    st.one_of(st.none(), st.integers(0, 4)),
)


@pytest.mark.requirement("ES-SELECT-008")
@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        ({}, ["best", "slow", "wrong", "broken", "unknown"]),
        ({"minCompletionRate": 0.8}, ["best", "slow"]),
        ({"minCompletionRate": 0.81}, ["best"]),
        ({"minCompletionRate": 0}, ["best", "slow", "wrong", "broken"]),
        ({"maxErrorRate": 0.25}, ["best", "slow", "wrong", "broken"]),
        ({"maxErrorRate": 0.2}, ["best", "slow", "wrong"]),
        ({"maxLatencyP95Ms": 100}, ["best", "wrong", "broken"]),
        ({"maxLatencyP95Ms": 5000}, ["best", "slow", "wrong", "broken"]),
        ({"maxLatencyP95Ms": 99.9}, []),
        ({"adapterTypes": ("mcp",)}, ["slow"]),
        ({"adapterTypes": ("mcp", "http")}, ["best", "slow", "broken", "unknown"]),
        ({"requiredTags": ("ready",)}, ["best", "wrong"]),
        ({"requiredTags": ("ready", "fast")}, ["best"]),
        ({"minCompletionRate": 0.5, "maxErrorRate": 0.1, "requiredTags": ("ready",)}, ["best", "wrong"]),
    ],
)
def test_filters(filters: dict[str, object], passing: list[str]) -> None:
    """Known answers: limits are inclusive, and a figure that is not known meets none."""
    candidates = [
        candidate("best", "http", ("ready", "fast")),
        candidate("slow", "mcp"),
        candidate("wrong", None, ("ready",)),
        candidate("broken", "http", ("fast",)),
        candidate("unknown", "http", ("Ready",)),
    ]
    nothing = dict.fromkeys(["completion_rate", "error_rate", "composite_score", "latency_p95_ms"])
    reports = {
        "best": report("best", composite_score=0.9),
        "slow": report("slow", completion_rate=0.8, composite_score=0.8, latency_p95_ms=5000),
        "wrong": report("wrong", completion_rate=0.5, composite_score=0.5),
        "broken": report("broken", completion_rate=0, error_rate=0.25, composite_score=0.2),
        "unknown": report("unknown", **nothing),
    }
    assert chosen(select(candidates, reports, strategy(filters=filters))) == passing


@pytest.mark.requirement("ES-SELECT-009", "ES-SELECT-011")
@pytest.mark.parametrize(
    ("by", "order", "expected"),
    [
        ("compositeScore", None, ["b", "c", "a", "d"]),
        ("compositeScore", "desc", ["b", "c", "a", "d"]),
        ("compositeScore", "asc", ["a", "c", "b", "d"]),
        ("completionRate", None, ["a", "b", "c", "d"]),
        ("completionRate", "asc", ["c", "b", "a", "d"]),
        ("latency", None, ["c", "a", "b", "d"]),
        ("latency", "asc", ["c", "a", "b", "d"]),
        ("latency", "desc", ["b", "a", "c", "d"]),
        ("tokenCost", None, ["a", "b", "c", "d"]),
        ("tokenCost", "desc", ["b", "a", "c", "d"]),
    ],
)
def test_orders(by: str, order: str | None, expected: list[str]) -> None:
    """Known answers: without an order the best is first, fastest and cheapest too; unknown is last either way."""
    nothing = dict.fromkeys(["completion_rate", "error_rate", "composite_score", "latency_p95_ms"])
    reports = {
        "a": report("a", completion_rate=0.9, composite_score=0.1, latency_p95_ms=20, tokens_per_call=0),
        "b": report("b", completion_rate=0.8, composite_score=0.9, latency_p95_ms=30, tokens_per_call=7),
        "c": report("c", completion_rate=0.7, composite_score=0.5, latency_p95_ms=10),
        "d": report("d", **nothing),
    }
    candidates = [candidate(name) for name in "dcba"]
    assert chosen(select(candidates, reports, strategy(sortBy=by, order=order))) == expected


def test_ties_go_to_the_better_score_then_rate_then_id() -> None:
    """Equal skills have one order, whichever was found first."""
    reports = {
        "a": report("a", completion_rate=0.5, composite_score=0.5),
        "b": report("b", completion_rate=0.5, composite_score=0.5),
        "c": report("c", completion_rate=0.9, composite_score=0.5),
        "d": report("d", completion_rate=0.1, composite_score=0.6),
    }
    for names in ("abcd", "dcba"):
        selection = select([candidate(name) for name in names], reports, strategy(sortBy="latency"))
        assert chosen(selection) == ["d", "c", "a", "b"]


@pytest.mark.requirement("ES-SELECT-006")
def test_top_k_counts_after_the_filters() -> None:
    """The best K of those that pass are kept; 0 and nothing keep all; the others are told why."""
    reports = {
        name: report(name, composite_score=score) for name, score in zip("abcd", (0.9, 0.8, 0.7, 0.6), strict=True)
    }
    reports["a"] = report("a", composite_score=0.9, error_rate=0.5)
    candidates = [candidate(name) for name in "abcd"]
    selection = select(candidates, reports, strategy(filters={"maxErrorRate": 0.1}, topK=2))
    assert chosen(selection) == ["b", "c"]
    assert [one.rank for one in selection.selected] == [1, 2]
    assert {one.candidate.id: one.reasons for one in selection.rejected} == {
        "a": ("error rate 50% is above 10%",),
        "d": ("not among the best 2",),
    }
    assert all(one.rank is None for one in selection.rejected)
    for everyone in (0, None):
        assert chosen(select(candidates, reports, strategy(topK=everyone))) == ["a", "b", "c", "d"]


def test_reasons_show_what_lies_just_below_a_limit() -> None:
    """A rate of 79.96 % is not said to be "80.0% below 80.0%"."""
    selection = select(
        [candidate("a")], {"a": report("a", completion_rate=0.7996)}, strategy(filters={"minCompletionRate": 0.8})
    )
    assert selection.rejected[0].reasons == ("completion rate 79.96% is below 80%",)


@pytest.mark.requirement("ES-SELECT-011")
def test_costs_are_compared_in_one_unit() -> None:
    """US dollars only if every skill that tells anything tells them; an unknown cost is a dash."""
    priced, counted, silent = (
        report("a", usd_per_call=0.5, tokens_per_call=10),
        report("b", tokens_per_call=5),
        report("c"),
    )
    assert cost_unit([priced, silent]) is CostUnit.USD
    assert cost_unit([priced, counted]) is CostUnit.TOKENS
    assert cost_unit([silent]) is CostUnit.TOKENS
    reports = {one.skill_id: one for one in (priced, counted, silent)}
    by_cost = strategy(sortBy="tokenCost")
    selection = select([candidate(name) for name in "abc"], reports, by_cost)
    heads, rows = ranking_table(selection.selected, by_cost, selection.cost_unit)
    assert heads[-1] == "tokens per call"
    assert [(row[1], row[-1]) for row in rows] == [("b", "5"), ("a", "10"), ("c", "–")]


@given(situations(), STRATEGIES)
def test_everybody_is_somewhere_exactly_once(
    situation: tuple[list[Candidate], dict[str, SkillReport]], rules: Strategy
) -> None:
    """Selected, rejected with a reason, or without a report: nobody is lost or doubled, and ranks count from 1."""
    candidates, reports = situation
    selection = select(candidates, reports, rules)
    rejected = [one.candidate.id for one in selection.rejected]
    assert sorted([*chosen(selection), *rejected, *selection.without_report]) == sorted(one.id for one in candidates)
    assert selection.total == len(candidates)
    assert all(one.reasons for one in selection.rejected)
    assert [one.rank for one in selection.selected] == list(range(1, len(selection.selected) + 1))
    assert set(selection.without_report).isdisjoint(reports)


@given(situations(), STRATEGIES)
def test_the_best_are_selected_in_order(
    situation: tuple[list[Candidate], dict[str, SkillReport]], rules: Strategy
) -> None:
    """Known figures are sorted, unknown ones follow them, and the input's order does not matter."""
    candidates, reports = situation
    selection = select(candidates, reports, rules)
    values = [figure(one.report, rules.sort_by, selection.cost_unit) for one in selection.selected]
    known = [value for value in values if value is not None]
    descending = (rules.order or rules.sort_by.natural_order).value == "desc"
    assert values == [*sorted(known, reverse=descending), *[None] * (len(values) - len(known))]
    assert chosen(select(candidates[::-1], reports, rules)) == chosen(selection)


@given(situations(), STRATEGIES, st.integers(1, 4))
def test_a_smaller_k_keeps_the_beginning(
    situation: tuple[list[Candidate], dict[str, SkillReport]], rules: Strategy, number: int
) -> None:
    """Top K is a cut and changes nothing before it."""
    candidates, reports = situation
    everyone = chosen(select(candidates, reports, rules.with_limits(min_completion=None, top_k=0)))
    some = chosen(select(candidates, reports, rules.with_limits(min_completion=None, top_k=number)))
    assert some == everyone[:number]


@given(situations(), STRATEGIES, st.sampled_from([0.0, 0.3, 0.7, 1.0]))
@pytest.mark.slow
def test_a_higher_threshold_lets_nobody_else_in(
    situation: tuple[list[Candidate], dict[str, SkillReport]], rules: Strategy, more: float
) -> None:
    """Filters only narrow."""
    candidates, reports = situation
    loose = rules.with_limits(min_completion=0.0, top_k=0)
    tight = rules.with_limits(min_completion=more, top_k=0)
    assert set(chosen(select(candidates, reports, tight))) <= set(chosen(select(candidates, reports, loose)))

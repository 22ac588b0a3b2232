"""What a suite of queries says: both sides apart, and their mean in place of one rate over all of them."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from skillgauge.api import SuiteHead
from skillgauge.api.report import Counts, Figure, GroupSummary, TagSummary, figure_text, headline, rate_notes
from skillgauge.stats import RateInterval, wilson
from skillgauge_format_agent_skills.figures import TRIGGERS, balanced_rate, figures, precision_rate
from skillgauge_format_agent_skills.suites.triggers import SHOULD, SHOULD_NOT, split_tag

SUITE = SuiteHead(
    id="s", format="agent-skills", dialect=TRIGGERS, root="/", content_digest="", case_count=10, targets=(), arms=()
)


def side(tag: str, passed: int, failed: int, errors: int = 0) -> TagSummary:
    """Queries of one kind, each run once."""
    counts = Counts(total=passed + failed + errors, passed=passed, failed=failed, errors=errors)
    means = [1.0] * passed + [0.0] * failed
    return TagSummary(tag=tag, counts=counts, pass_rate=RateInterval.of(means, repeats=1, seed=0))


def group(*tags: TagSummary) -> GroupSummary:
    """A group of these queries, with its figures."""
    counts = Counts.sum(tag.counts for tag in tags)
    means = [1.0] * counts.passed + [0.0] * counts.failed
    known = GroupSummary(
        suite_id="s",
        target_id="t",
        arm="with_skill",
        runner="r",
        model=None,
        counts=counts,
        pass_rate=RateInterval.of(means, repeats=1, seed=0),
        tags=tags,
    )
    return known.model_copy(update={"figures": figures(known, SUITE)})


def test_a_skill_that_never_fires_is_right_half_of_the_time_at_most() -> None:
    """N-A5: of ten queries of which eight want silence it is silent in all, which is no 80 percent."""
    found = group(side(SHOULD, 0, 2), side(SHOULD_NOT, 8, 0))
    balanced, fired, silent, precision = found.figures
    assert found.pass_rate.rate == 0.8
    assert headline(found) == balanced
    assert (balanced.name, balanced.value) == ("balanced_accuracy", 0.5)
    assert "the skill never fired, whatever was asked" in rate_notes(found)
    assert figure_text(fired) == "0.0% (n = 2 cases, 0.0% to 65.8%)"
    assert figure_text(silent) == "100.0% (n = 8 cases, 67.6% to 100.0%)"
    assert figure_text(balanced) == "50.0% (n = 10 cases, 33.8% to 82.9%)"
    assert precision.value is None, "of what never fires no share is right"


def test_a_skill_that_fires_always_is_no_better() -> None:
    """And nothing is said of a skill that never fires."""
    found = group(side(SHOULD, 8, 0), side(SHOULD_NOT, 0, 2))
    assert headline(found).value == 0.5
    assert not any("never fired" in note for note in rate_notes(found))


@pytest.mark.parametrize(
    ("tags", "value"),
    [
        ((side(SHOULD, 3, 1),), 0.75),
        ((side(SHOULD, 3, 1), side(SHOULD_NOT, 0, 0, errors=2)), 0.75),
        ((side(SHOULD, 0, 0, errors=2),), None),
    ],
    ids=["one kind", "errors only of the other", "errors only"],
)
def test_a_kind_without_a_result_has_no_part_in_it(tags: tuple[TagSummary, ...], value: float | None) -> None:
    """What is not known is not counted as wrong, and not as right."""
    assert headline(group(*tags)).value == value


def test_errors_count_both_ways() -> None:
    """So that a gate is met or missed only if it would be so whatever they had given."""
    balanced = group(side(SHOULD, 2, 1, errors=1), side(SHOULD_NOT, 4, 0)).figures[0]
    assert balanced.bounds == (0.75, 0.875)


def test_each_split_has_figures_of_its_own() -> None:
    """A description that was fitted to its train queries is seen to fail on those held out."""
    train = (side("train", 4, 0), side(split_tag("train", SHOULD), 2, 0), side(split_tag("train", SHOULD_NOT), 2, 0))
    held = (side("test", 2, 2), side(split_tag("test", SHOULD), 0, 2), side(split_tag("test", SHOULD_NOT), 2, 0))
    found = group(side(SHOULD, 2, 2), side(SHOULD_NOT, 4, 0), *train, *held)
    assert {figure.name: figure.value for figure in found.figures} == {
        "balanced_accuracy": 0.75,
        "trigger_rate": 0.5,
        "silence_rate": 1.0,
        "trigger_precision": 1.0,
        "balanced_accuracy:train": 1.0,
        "trigger_rate:train": 1.0,
        "silence_rate:train": 1.0,
        "trigger_precision:train": 1.0,
        "balanced_accuracy:test": 0.5,
        "trigger_rate:test": 0.0,
        "silence_rate:test": 1.0,
        "trigger_precision:test": None,
    }
    assert headline(found).name == "balanced_accuracy"


def _n(figure: Figure) -> int | None:
    """Queries behind a figure."""
    return figure.interval.n if figure.interval else None


def test_errors_in_a_split_bound_it_alone() -> None:
    """What failed to run in one part says nothing of the other; a part may have queries of one kind only."""
    train = (side("train", 2, 0, errors=2), side(split_tag("train", SHOULD), 2, 0, errors=2))
    held = (side("test", 3, 1), side(split_tag("test", SHOULD_NOT), 3, 1))
    found = group(side(SHOULD, 2, 0, errors=2), side(SHOULD_NOT, 3, 1), *train, *held)
    by_name = {figure.name: figure for figure in found.figures}
    assert (by_name["balanced_accuracy:train"].bounds, _n(by_name["balanced_accuracy:train"])) == ((0.5, 1.0), 2)
    assert (by_name["balanced_accuracy:test"].bounds, by_name["balanced_accuracy:test"].value) == (None, 0.75)
    assert by_name["silence_rate:train"].value is None


def test_a_tag_is_no_split() -> None:
    """What authors call their queries makes no part of the set."""
    assert len(group(side(SHOULD, 1, 0), side("hard", 1, 0)).figures) == 4


def rate(passed: int, cases: int) -> RateInterval:
    """Cases of one side, each run once."""
    interval = wilson(passed, cases)
    return RateInterval(passed / cases, cases, interval.lower, interval.upper)


@pytest.mark.parametrize(("should", "silent"), [(4, 4), (5, 5), (10, 10), (10, 20)])
def test_intervals_of_both_sides_hold_the_truth(should: int, silent: int) -> None:
    """Counted out over every outcome: how often the interval holds the true value, for good and poor skills."""
    balanced, precise = [], []
    for recall, specificity in product((0.1, 0.3, 0.5, 0.7, 0.9, 0.95), (0.5, 0.7, 0.9, 0.95)):
        mean = (recall + specificity) / 2
        precision = should * recall / (should * recall + silent * (1 - specificity))
        held = held_precision = fires = 0.0
        for hits, quiet in product(range(should + 1), range(silent + 1)):
            chance = comb(should, hits) * recall**hits * (1 - recall) ** (should - hits)
            chance *= comb(silent, quiet) * specificity**quiet * (1 - specificity) ** (silent - quiet)
            first, second = rate(hits, should), rate(quiet, silent)
            held += chance * holds(balanced_rate(first, second), mean)
            both = precision_rate(first, second)
            if both is not None:
                fires += chance
                held_precision += chance * holds(both, precision)
        balanced.append(held)
        precise.append(held_precision / fires)
    for coverage in (balanced, precise):
        assert min(coverage) > 0.87
        assert 0.93 < sum(coverage) / len(coverage) < 0.98


def holds(interval: RateInterval, truth: float) -> bool:
    """Whether an interval holds a value."""
    assert interval.lower is not None
    assert interval.upper is not None
    return interval.lower - 1e-9 <= truth <= interval.upper + 1e-9


def test_a_side_without_bounds_gives_none() -> None:
    """As in a run of chosen cases; and what is unknown stays so."""
    bare = RateInterval(0.5, 4)
    assert balanced_rate(bare, rate(2, 4)) == RateInterval(0.5, 8)
    assert precision_rate(bare, rate(2, 4)) == RateInterval(0.5, 8)
    nothing = RateInterval(None, 0)
    assert balanced_rate(nothing, rate(2, 4)).rate is None
    assert precision_rate(rate(2, 4), nothing) is None


def test_clusters_of_both_sides_count_together() -> None:
    """Cases without a cluster stand for themselves."""
    clustered = RateInterval(0.5, 4, 0.1, 0.9, clusters=2)
    assert balanced_rate(clustered, rate(2, 4)).clusters == 6
    assert balanced_rate(rate(2, 4), rate(2, 4)).clusters is None

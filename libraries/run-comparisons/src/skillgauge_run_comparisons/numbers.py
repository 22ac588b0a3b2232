"""Numbers and differences in words, the same in Markdown and HTML."""

from __future__ import annotations

from skillgauge.api.report import chance_text, counted
from skillgauge.stats import MIN_NEW_CASES

from .document import Difference, Direction, Metric, SkillDiff, Unit

LISTED = 200
"""Changed tasks, and ids of other tasks, that are listed for people; the JSON document has all of them."""

SENTENCE = 2_000
"""Characters of a sentence of ours that are shown; ids in it are cut before."""


BASELINE = "The baseline arm: not judged. Where it changes, the model without the skill did."


def circumstances(skill: SkillDiff) -> str:
    """Say what another change means for a skill."""
    if skill.barred_by:
        return "Not judged, because this is not as it was"
    return "Not as it was, so that a difference may be none of the skill"


def value(number: float | None, unit: Unit) -> str:
    """A metric's value; a dash if unknown."""
    if number is None:
        return "–"
    match unit:
        case Unit.RATIO:
            return f"{number * 100:.1f}%"
        case Unit.MILLISECONDS:
            return f"{number:.0f} ms"
        case Unit.SCORE:
            return f"{number:.3f}"


def delta(metric: Metric) -> str:
    """A metric's difference with its sign and unit; a dash if it is unknown."""
    if metric.delta is None:
        return "–"
    if metric.direction is Direction.SAME:
        return _NOTHING[metric.unit]
    match metric.unit:
        case Unit.RATIO:
            return f"{points(metric.delta)} points"
        case Unit.MILLISECONDS:
            text = f"{metric.delta:+.0f} ms"
        case Unit.SCORE:
            text = f"{metric.delta:+.3f}"
    return text if text[1:] != _NOTHING[metric.unit] else text[1:]  # what is rounded to nothing has no sign


_NOTHING = {Unit.RATIO: "0.0 points", Unit.MILLISECONDS: "0 ms", Unit.SCORE: "0.000"}


def arrow(metric: Metric) -> str:
    """Return the direction of a number, and whether that is good; empty if it did not move."""
    match metric.direction:
        case Direction.BETTER | Direction.WORSE:
            return f"{'↑' if (metric.delta or 0) > 0 else '↓'} {metric.direction}"
        case Direction.SAME | Direction.UNKNOWN:
            return ""


def points(share: float) -> str:
    """A difference of shares in percentage points, signed, with one decimal."""
    shown = f"{share * 100:+.1f}"
    return "0.0" if float(shown) == 0 else shown


def evidence(skill: SkillDiff) -> list[str]:
    """Return sentences on the evidence in the difference of the pass rates."""
    difference = skill.difference
    if difference is None:
        return []
    sentences = [
        f"Pass rate of the {counted(difference.tasks, 'case')} compared: {points(difference.estimate)} points."
    ]
    if difference.lower is None or difference.upper is None:
        few = f"Fewer than {MIN_NEW_CASES} cases are too few for an interval about new cases"
        sentences.append(f"{few}: this holds for these cases only.")
    else:
        level = f"{difference.level * 100:g} % interval for new cases of this kind"
        bounds = f"{points(difference.lower)} to {points(difference.upper)} points"
        sentences.append(f"{level}: {bounds} ({difference.method}, n = {difference.tasks}).")
    if difference.estimate < 0:
        sentences.append(_chance(difference))
    if skill.lift is not None:
        before, after = points(skill.lift.before), points(skill.lift.after)
        tasks = counted(skill.lift.tasks, "case")
        sentences.append(
            f"Lift against {skill.lift.arm} over {tasks}: {before} points before, {after} now "
            f"({points(skill.lift.estimate)} points)."
        )
    return sentences


def judgement(skill: SkillDiff) -> list[str]:
    """Return sentences on why a skill is judged as it is."""
    return [f"{reason[:1].upper()}{reason[1:]}." for reason in skill.regression_reasons]


def _chance(found: Difference) -> str:
    likely = chance_text(found.chance)
    return f"Chance alone makes these very cases at least this much worse with {likely} (exact permutation test)."

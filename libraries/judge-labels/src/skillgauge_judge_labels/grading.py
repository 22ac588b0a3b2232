"""The decisions of a judge in a run, and their basis: the judge, its words and the rubric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgauge.api import Execution, Frozen, Identity, Json, Score, ScoreStatus, TrialResult, digest
from skillgauge.api.report import GroupKey, RunView, abridged_results


class Grader(Frozen):
    """The judge of a check, and the way it was asked: what is known of one grader holds for no other."""

    judges: tuple[str, ...]
    """The judges of the run: name, model and digest of what their answers depend on."""
    models: tuple[str, ...]
    """The models that answered, as far as they said which they are."""
    scorer: str
    """Name and version of the scorer that asked."""
    prompt: str
    """Digest of the words of the question."""
    rubric: str
    """Digest of what the check says of how it is to be judged."""

    def differences(self, second: Grader) -> tuple[str, ...]:
        """Return the differences from `second`, in words."""
        words = {"judges": "judge", "models": "model that answered"}
        return tuple(
            words.get(name, name) for name in Grader.model_fields if getattr(self, name) != getattr(second, name)
        )


@dataclass(frozen=True)
class Judged:
    """A check that a judge has passed or failed."""

    group: GroupKey
    case_id: str
    execution_id: str
    check_id: str
    answer: str
    """Digest of what was judged: the same execution may answer otherwise the next time."""
    passes: bool
    grader: Grader
    trial_id: str = ""
    ordinal: int = 0
    """Place of the trial in the plan, from 0."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The check that a label is about."""
        return self.execution_id, self.check_id, self.answer


@dataclass(frozen=True)
class JudgedRun:
    """All that judges have decided in a run."""

    judged: tuple[Judged, ...]
    """In plan order."""
    untold: tuple[tuple[GroupKey, bool], ...] = ()
    """Group of each further check that a judge decided, of which the run does not tell prompt and rubric, and whether
    it passed."""

    @property
    def graders(self) -> tuple[Grader, ...]:
        """Each grader once."""
        return tuple(dict.fromkeys(one.grader for one in self.judged))


def judged_of(view: RunView, *, with_answers: bool = True) -> JudgedRun:
    """Read what judges have decided; results are read once and not kept.

    Args:
        view: the run. Blocks.
        with_answers: whether `Judged.answer` is wanted, for which every step of the sessions has to be read; else it is
            empty.
    """
    judges = named_judges(view.head.judges)
    judged: list[Judged] = []
    untold: list[tuple[GroupKey, bool]] = []
    for result, scores in _decided(view, is_abridged=not with_answers):
        answer = answer_digest(result.execution) if with_answers else ""
        for score, evidence in scores:
            grader = _grader(judges, score, evidence)
            passes = score.status is ScoreStatus.PASSED
            if grader is None:
                untold.append((result.group, passes))
                continue
            place = result.group, result.case_id, result.execution_id, score.check_id
            judged.append(Judged(*place, answer, passes, grader, result.trial_id, result.ordinal))
    return JudgedRun(tuple(judged), tuple(untold))


def named_judges(judges: Iterable[Identity]) -> tuple[str, ...]:
    """Return name, model and digest of each judge."""
    return tuple(map(_named, judges))


def judge_name(identity: Identity) -> str:
    """Return a judge for people: its name and its model."""
    model = _model_of(identity)
    return f"{identity.name} ({model})" if model else identity.name


def answer_digest(execution: Execution) -> str:
    """Digest of what a session or call has done, answered and left behind."""
    events = execution.trajectory.events if execution.trajectory else None
    # Without ids of calls, which are new in every session.
    steps = None if events is None else [(one.kind, one.text, one.name, one.data, one.is_error) for one in events]
    # Digests tell files apart, also in runs that kept no contents.
    files = [{"path": one.path, "change": one.change, "size": None, "digest": one.digest} for one in execution.files]
    return digest(execution.output, execution.text, steps, files)


def statements_of(score: Score) -> tuple[str, ...]:
    """Return the statements that had to hold, as the judge was given them."""
    evidence = score.evidence if isinstance(score.evidence, Mapping) else {}
    answers, criteria = evidence.get("answers"), evidence.get("criteria")
    if isinstance(answers, (list, tuple)):
        return tuple(str(one["statement"]) for one in answers if isinstance(one, Mapping) and "statement" in one)
    return (criteria,) if isinstance(criteria, str) else ()


def _decided(
    view: RunView, *, is_abridged: bool
) -> Iterator[tuple[TrialResult, list[tuple[Score, Mapping[str, Json]]]]]:
    """Results with the scores, and their evidence, that a judge has given."""
    if not view.head.judges:
        return
    for result in abridged_results(view.source) if is_abridged else view.results():
        scores = [(score, evidence) for score in result.scores if (evidence := judged_evidence(score)) is not None]
        if scores:
            yield result, scores


def judged_evidence(score: Score) -> Mapping[str, Json] | None:
    """Return the evidence of a score that a judge has given; `None` of any other, and of one without a verdict."""
    evidence = score.evidence
    if score.status is ScoreStatus.UNGRADED or not isinstance(evidence, Mapping):
        return None
    return evidence if {"model", "panel"} & evidence.keys() else None


def _grader(judges: tuple[str, ...], score: Score, evidence: Mapping[str, Json]) -> Grader | None:
    """Return the grader of a score; `None` if it does not tell how the judge was asked."""
    prompt, rubric = evidence.get("prompt"), evidence.get("rubric")
    if not isinstance(prompt, str) or not isinstance(rubric, str):
        return None
    scorer = f"{score.scorer} {score.scorer_version}"
    return Grader(judges=judges, models=_models(evidence), scorer=scorer, prompt=prompt, rubric=rubric)


def _models(evidence: Mapping[str, Json]) -> tuple[str, ...]:
    panel = evidence.get("panel")
    seats = panel if isinstance(panel, (list, tuple)) else (evidence,)
    models = (seat.get("model") for seat in seats if isinstance(seat, Mapping))
    return tuple(model for model in models if isinstance(model, str))


def _named(identity: Identity) -> str:
    return " ".join(str(part) for part in (identity.name, _model_of(identity), identity.digest) if part)


def _model_of(identity: Identity) -> object:
    return identity.model or identity.settings.get("model")

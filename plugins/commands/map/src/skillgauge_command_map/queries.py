"""From the suites of a catalogue to suites that ask one thing: which of all these skills fires?

The first part of a map installs every skill in one arm and asks every query. The second part asks the queries of single
skills again, with everything installed and with a suspect left out. Both are suites like any other, so that planning,
running, recording and resuming are those of `eval`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    JsonObject,
    LimitOutcome,
    Problem,
    Severity,
    SkillRef,
    Suite,
    SuiteDefaults,
    SuiteError,
    Target,
    digest,
)
from skillgauge.api.report import counted

from .catalogue import Member, no_queries

FORMAT = "map"
ALL = "all"
"""Arm in which every skill of the catalogue is installed."""
SCORER = "trigger"
RUNS = 3
"""Sessions of each query and arm, if the user gives no number."""


def arm_without(name: str) -> str:
    """Return the name of the arm in which a skill is left out."""
    return f"without {name}"


@dataclass(frozen=True)
class MapSuites:
    """Turns the suites of a catalogue into those of a map. A recipe can hold it."""

    members: tuple[Member, ...]
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Skills whose queries are asked again, each with the skills to leave out one by one; empty: all queries once."""

    def __call__(self, suites: tuple[Suite, ...]) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
        """Return a suite for each skill that has queries, and what users should know of the others.

        Raises:
            SuiteError: there is no query.
        """
        refs = {member.name: member.ref for member in self.members}
        refs |= {ref.name: ref for ref in _refs_of(suites, refs)}
        queries, elsewhere = self._queries(suites)
        if not queries:
            raise SuiteError(no_queries(len(self.members)))
        again = dict(self.left_out)
        chosen = (member for member in self.members if member.name in queries and (not again or member.name in again))
        map_suites = tuple(
            self._suite(member, queries[member.name], tuple(refs.values()), again.get(member.name, ()))
            for member in chosen
        )
        return map_suites, tuple(self._notices(queries, elsewhere))

    def _queries(self, suites: Iterable[Suite]) -> tuple[dict[str, dict[str, Case]], int]:
        """Return the cases of each skill by what they do, and how many queries belong to no skill of the catalogue."""
        names = frozenset(member.name for member in self.members)
        queries: dict[str, dict[str, Case]] = {}
        elsewhere = 0
        for suite in suites:
            tested = _tested(suite, names)
            for case in suite.cases:
                if case.prompt is None or case.skip or tested is None:
                    continue
                owner, acceptable = _owner_of(case, tested)
                if owner not in names:
                    elsewhere += bool(owner)
                    continue
                of_owner = queries.setdefault(owner, {})
                used_ids = {query.id for query in of_owner.values()}
                case_id = case.id if case.id not in used_ids else f"{suite.id}/{case.id}"
                of_owner.setdefault(case.execution_digest, _query(case, case_id, owner, acceptable))
        return queries, elsewhere

    def _suite(
        self, member: Member, queries: Mapping[str, Case], refs: tuple[SkillRef, ...], left_out: tuple[str, ...]
    ) -> Suite:
        arms = [Arm(name=ALL, kind=ArmKind.AGENT, skills=refs)]
        for name in left_out:
            others = tuple(ref for ref in refs if ref.name != name)
            arms.append(Arm(name=arm_without(name), kind=ArmKind.AGENT, skills=others))
        return Suite(
            id=member.name,
            name=member.name,
            description=member.description,
            format=FORMAT,
            root=member.ref.root,
            digest=digest(member.ref.digest, sorted(queries)),
            cases=tuple(queries.values()),
            targets=(_target(member.target, again=bool(left_out)),),
            arms=tuple(arms),
            comparisons=tuple(Comparison(candidate=arm.name, baseline=ALL) for arm in arms[1:]),
            defaults=SuiteDefaults(runs=RUNS),
            on_agent_limit=LimitOutcome.GRADED,
        )

    def _notices(self, queries: Mapping[str, Mapping[str, Case]], elsewhere: int) -> Iterator[Problem]:
        if self.left_out:
            return  # the first part has given them
        silent = [member.name for member in self.members if member.name not in queries]
        if silent:
            message = f"{counted(len(silent), 'skill')} without queries: {', '.join(silent)}"
            hint = "They are installed and may fire; nothing can be said about queries that should make them fire."
            yield Problem("map.skills-without-queries", message, hint=hint, severity=Severity.WARNING)
        if elsewhere:
            number = "1 query is" if elsewhere == 1 else f"{elsewhere} queries are"
            message = f"{number} for skills that are not in the catalogue, and not asked"
            hint = "Name those skills as well."
            yield Problem("map.queries-of-others", message, hint=hint, severity=Severity.WARNING)


def _refs_of(suites: Iterable[Suite], refs: Mapping[str, SkillRef]) -> Iterator[SkillRef]:
    """Yield the skills of the catalogue as suites install them, which know more of what must be left out."""
    for suite in suites:
        for arm in suite.arms:
            for ref in arm.skills:
                if ref.name in refs and ref.root == refs[ref.name].root:
                    yield ref.model_copy(update={"role": refs[ref.name].role})


def _tested(suite: Suite, names: frozenset[str]) -> str | None:
    """Return the skill that a suite is about; `None` if no agent is asked, or if it is about none of these skills."""
    installed = [ref.name for arm in suite.arms if arm.kind is ArmKind.AGENT for ref in arm.skills]
    targets = [name for target in suite.targets for name in (target.name, target.id)]
    if not any(arm.kind is ArmKind.AGENT for arm in suite.arms):
        return None
    return next((name for name in (*installed[:1], *targets) if name in names), None)


def _owner_of(case: Case, tested: str) -> tuple[str, tuple[str, ...]]:
    """Return the skill that should fire, empty if none should, and the others that are as right."""
    for check in case.checks:
        if check.scorer == SCORER:
            skill, owner = str(check.options.get("skill") or tested), str(check.options.get("owner") or "")
            if check.options.get("should_trigger", True) is not True:
                return ("" if owner in ("", skill) else owner), ()
            acceptable = check.options.get("acceptable")
            others = tuple(map(str, acceptable)) if isinstance(acceptable, tuple | list) else ()
            return owner or skill, others
    return tested, ()


def _query(case: Case, case_id: str, owner: str, acceptable: tuple[str, ...]) -> Case:
    """Return a case that asks the first turn of another one, and only whether its skill fires."""
    options: JsonObject = {"skill": owner, "owner": owner, "acceptable": acceptable}
    return Case(
        id=case_id,
        name=case.name,
        prompt=case.prompt,
        cluster=case.cluster,
        origin=case.origin,
        files=case.files,
        installs=case.installs,
        image_files=case.image_files,
        setup=case.setup,
        setup_files=case.setup_files,
        checks=(Check(id="fires", scorer=SCORER, options=options, origin=case.origin),),
        limits=case.limits,
        env=case.env,
        network=case.network,
        pass_env=case.pass_env,
    )


def _target(target: Target, *, again: bool) -> Target:
    """Return the target of a suite; a session of the second part is never taken for one of the first."""
    return target.model_copy(update={"digest": digest("leave one out", target.digest)}) if again else target

"""Five quite different suites go through the same pipeline, with fakes and no I/O.

They were written before any plugin: if one of them needed a special case in the kernel, the protocols would be wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from skillgauge.contract.adapters import Adapter, CallRequest
from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.contract.providers import Traits
from skillgauge.contract.sandboxes import Command, Finished
from skillgauge.contract.scorers import ScoreContext
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.run.agents import AgentSetup, AgentStages
from skillgauge.run.direct import DirectStages
from skillgauge.run.grading import Grading
from skillgauge.run.pipeline import Conclusion, Job, carry_out
from skillgauge.run.scorers import BoundScorer
from skillgauge.types.arms import Arm, ArmKind, Comparison, SkillRef, SkillRole
from skillgauge.types.plan import Cell, Selection, SuitePlan
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score
from skillgauge.types.suite import (
    Case,
    Check,
    FileSpec,
    Gate,
    GateFigure,
    Limits,
    Suite,
    Target,
    TargetKind,
    VerdictMode,
    VerdictRule,
)
from skillgauge.types.trajectory import EventKind, FiredSkill, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Execution
from skillgauge_documents import thaw
from skillgauge_testkit.fakes import OK, FakeAdapter, FakeEngine, FakeSandbox, FakeScorer, FakeScorers, FakeWorkspace

Scorers = Mapping[str, Callable[[ScoreContext], Score | Awaitable[Score]]]


def walk(
    suite: Suite,
    scorers: Scorers,
    *,
    adapters: Mapping[str, Adapter] | None = None,
    engine: FakeEngine | None = None,
    sandbox: FakeSandbox | None = None,
) -> tuple[Conclusion, list[TrialResult], FakeSandbox]:
    """Plan and carry out one suite; the same wiring for all five."""
    sandbox = sandbox or FakeSandbox()
    cells = []
    for arm in suite.arms:
        for target in suite.targets:
            if arm.kind is ArmKind.DIRECT:
                adapter = (adapters or {})[target.adapter or ""]
                cells.append(Cell(arm=arm, runner=adapter.identity(target), target=target))
            elif engine:
                cells.append(Cell(arm=arm, runner=engine.identity("m1"), target=target, model="m1"))

    found = survey(suite, Selection())
    assert not found.problems
    plan = make_plan([SuitePlan(suite, tuple(cells))], [found], Terms(runs=1, seed=7))
    direct = DirectStages(lambda target: (adapters or {})[target.adapter or ""], sandbox)
    agents = AgentStages(
        {cell.runner.digest: AgentSetup(engine, Traits(skill_folder=".agents/skills")) for cell in cells if engine},
        sandbox,
        read_skill=lambda ref: (FileSpec(path="SKILL.md", text=f"# {ref.name}"),),
    )
    job = Job(
        stages={ArmKind.DIRECT: direct, ArmKind.AGENT: agents},
        grading=Grading(FakeScorers(lambda check: BoundScorer(check.scorer, FakeScorer(scorers[check.scorer])))),
        figures=lambda summary: {},
        close=direct.close,
    )
    outcome = asyncio.run(carry_out(plan, job))
    return outcome, list(outcome.view.results()), sandbox


def same(actual: object, expected: object) -> Score:
    """A passed score exactly if the two are equal."""
    return Score.passed() if actual == expected else Score.failed(f"{actual!r} is not {expected!r}")


def agent_suite(cases: tuple[Case, ...], *, distractors: tuple[str, ...] = ()) -> Suite:
    """A suite of one skill with a with-arm, a without-arm, and distractors in both."""
    others = tuple(
        SkillRef(name=name, root=f"/skills/{name}", digest=name, role=SkillRole.DISTRACTOR) for name in distractors
    )
    skill = SkillRef(name="pdf", root="/skills/pdf", digest="d1")
    return Suite(
        id="pdf",
        format="fake",
        root="/skills/pdf",
        cases=cases,
        targets=(Target(id="pdf", digest="d1"),),
        arms=(
            Arm(name="with_skill", kind=ArmKind.AGENT, skills=(skill, *others)),
            Arm(name="without_skill", kind=ArmKind.AGENT, skills=others),
        ),
        comparisons=(Comparison(candidate="with_skill", baseline="without_skill"),),
    )


def test_a_uaaps_hook_test_expects_a_blocking_exit_code() -> None:
    """A hook is called directly; exit code 2 is a fact that a check may expect, not a failure."""

    def run_hook(request: CallRequest, target: Target) -> Execution:
        assert target.kind is TargetKind.HOOK
        payload = thaw(request.input)
        blocked = payload["stdin"]["toolInput"]["file_path"].endswith(".env")
        return Execution(exit_code=2 if blocked else 0, stdout="", stderr="no secrets" if blocked else "")

    suite = Suite(
        id="write-guard",
        format="fake",
        root="/pkg",
        gates=(Gate(figure=GateFigure.FAILED, threshold=0),),
        targets=(Target(id="hook:pre-tool-use", kind=TargetKind.HOOK, adapter="command", root="/pkg"),),
        cases=(
            Case(
                id="blocks-env",
                input={"command": "sh guard.sh", "stdin": {"toolInput": {"file_path": "/w/.env"}}},
                checks=(
                    Check(id="exit-code", scorer="exit-code", options={"equals": 2}),
                    Check(id="stderr", scorer="contains", options={"stream": "stderr", "keywords": ["secrets"]}),
                ),
                targets=("hook:pre-tool-use",),
            ),
        ),
    )
    scorers: Scorers = {
        "exit-code": lambda context: same(context.execution.exit_code, context.check.options["equals"]),
        "contains": lambda context: same("secrets" in (context.execution.stderr or ""), True),
    }
    outcome, results, _ = walk(suite, scorers, adapters={"command": FakeAdapter(run_hook, name="command")})
    assert [result.verdict for result in results] == [Verdict.PASS]
    assert outcome.view.head.suites[0].gates == suite.gates
    assert [score.check_id for score in results[0].scores] == ["exit-code", "stderr"]


def test_an_eval_skills_mcp_task_gets_partial_credit() -> None:
    """A skill behind a protocol adapter is called with a JSON object and graded by keywords."""
    adapter = FakeAdapter(lambda request, _: Execution(output={"result": "TypeScript is by Microsoft"}), name="mcp")
    suite = Suite(
        id="web-search-basic",
        format="fake",
        root="/skills/search",
        targets=(Target(id="search", adapter="mcp", entrypoint="https://127.0.0.1:1/mcp"),),
        cases=(
            Case(
                id="search_003",
                input={"query": "TypeScript"},
                checks=(Check(id="check", scorer="contains", options={"keywords": ["JavaScript", "Microsoft"]}),),
                tags=("factual", "tech"),
                limits=Limits(timeout_s=15),
            ),
        ),
    )

    def contains(context: ScoreContext) -> Score:
        keywords = context.check.options["keywords"]
        assert isinstance(keywords, tuple)
        share = sum(str(word) in str(context.execution.output) for word in keywords) / len(keywords)
        return Score.passed() if share == 1 else Score.failed("keywords missing", value=share)

    outcome, results, _ = walk(suite, {"contains": contains}, adapters={"mcp": adapter})
    assert results[0].verdict is Verdict.FAIL
    assert results[0].value == 0.5
    assert adapter.requests[0].limits.timeout_s == 15
    assert [tag.tag for tag in outcome.view.summary.groups[0].tags] == ["factual", "tech"]
    assert adapter.closed == 1


def test_an_eval_yaml_case_runs_validators_after_the_agent() -> None:
    """Both arms see the same files; validators' own files arrive only after the agent has ended."""
    seen: list[set[str]] = []

    def play(request: RunRequest, workspace: FakeWorkspace, _emit: Emit) -> Execution:
        seen.append(set(workspace.files))
        if request.skills:
            workspace.files["out.json"] = b'{"pages": 3}'
        return Execution(text="done", duration_s=1.0)

    def validators(command: Command, workspace: FakeWorkspace) -> Finished:
        if "check.py" in " ".join(command.argv):
            assert "scripts/check.py" in workspace.files
            code = 0 if "out.json" in workspace.files else 1
            return Finished(exit_code=code, signal=None, stdout=b"", stderr=b"", duration_s=0.0)
        return OK

    suite = agent_suite(
        (
            Case(
                id="extract",
                prompt="How many pages does a.pdf have?",
                setup=("touch ready",),
                files=(FileSpec(path="a.pdf", text="%PDF"),),
                grader_files=(FileSpec(path="scripts/check.py", text="..."),),
                checks=(Check(id="validator-0", scorer="command", options={"cmd": "python scripts/check.py"}),),
            ),
        )
    )

    async def command(context: ScoreContext) -> Score:
        assert context.workspace
        running = await context.workspace.start(Command(argv=("sh", "-c", str(context.check.options["cmd"]))))
        return same((await running.wait()).exit_code, 0)

    _, results, _ = walk(suite, {"command": command}, engine=FakeEngine(play), sandbox=FakeSandbox(validators))
    verdicts = {result.arm: result.verdict for result in results}
    assert verdicts == {"with_skill": Verdict.PASS, "without_skill": Verdict.FAIL}
    assert all("scripts/check.py" not in files for files in seen)
    assert [".agents/skills/pdf/SKILL.md" in files for files in seen] == [True, False]
    with_arm = next(result for result in results if result.arm == "with_skill")
    assert [change.path for change in with_arm.execution.files] == ["out.json"]


def test_a_benchflow_exact_match_case_passes_above_half() -> None:
    """A reward strictly above 0.5 passes: the case's rule says so, not the kernel."""

    def play(request: RunRequest, _workspace: FakeWorkspace, _emit: Emit) -> Execution:
        return Execution(text="the answer is 42" if request.skills else "no idea")

    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5, above=True)
    suite = agent_suite(
        (Case(id="case-000", prompt="What is it?", rule=rule, checks=(Check(id="c", scorer="truth"),)),)
    )
    half: Scorers = {"truth": lambda context: Score.failed("half", value=0.5)}
    _, results, _ = walk(suite, half, engine=FakeEngine(play))
    assert {result.verdict for result in results} == {Verdict.FAIL}
    truth: Scorers = {"truth": lambda context: same("42" in (context.execution.text or ""), True)}
    outcome, results, _ = walk(suite, truth, engine=FakeEngine(play))
    assert {result.arm: result.verdict for result in results} == {
        "with_skill": Verdict.PASS,
        "without_skill": Verdict.FAIL,
    }
    rates = {group.arm: group.pass_rate.rate for group in outcome.view.summary.groups}
    assert rates == {"with_skill": 1.0, "without_skill": 0.0}


def test_a_trigger_query_with_distractors_tells_unknown_from_no() -> None:
    """The right skill must fire among others; an engine that cannot tell makes the check ungraded."""

    def trigger(context: ScoreContext) -> Score:
        trajectory = context.execution.trajectory
        if trajectory is None or trajectory.skills_fired is None:
            return Score.ungraded("the engine cannot tell which skills fired")
        return same([fired.name for fired in trajectory.skills_fired], ["pdf"])

    def play(request: RunRequest, _workspace: FakeWorkspace, emit: Emit) -> Execution:
        names = tuple(skill.ref.name for skill in request.skills)
        event = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Skill", data={"skill": names[0]})
        emit(event)
        fired = (FiredSkill(name=names[0], how="invoked"),)
        return Execution(text="done", trajectory=Trajectory(events=(event,), skills_offered=names, skills_fired=fired))

    case = Case(id="q1", prompt="Merge two PDF files", checks=(Check(id="fires", scorer="trigger"),))
    suite = agent_suite((case,), distractors=("csv", "mail"))
    _, results, sandbox = walk(suite, {"trigger": trigger}, engine=FakeEngine(play))
    verdicts = {result.arm: result.verdict for result in results}
    assert verdicts == {"with_skill": Verdict.PASS, "without_skill": Verdict.FAIL}
    installed = {path for path in sandbox.opened[0][1].files if path.startswith(".agents/skills/")}
    assert installed == {f".agents/skills/{name}/SKILL.md" for name in ("pdf", "csv", "mail")}

    silent = FakeEngine(lambda request, workspace, emit: Execution(text="done"))
    _, results, _ = walk(suite, {"trigger": trigger}, engine=silent)
    assert {result.verdict for result in results} == {Verdict.ERROR}

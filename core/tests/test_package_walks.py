"""Five sorts of checks of a package of skills, hooks and agents go through the pipeline, with fakes and no I/O."""

from __future__ import annotations

from skillgauge.contract.adapters import CallRequest
from skillgauge.contract.engines import Emit, RunRequest
from skillgauge.types.arms import Arm, ArmKind, Install, SkillRef
from skillgauge.types.gate import Gate, GateFigure
from skillgauge.types.results.trials import Verdict
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, FileSpec, Suite, Target, TargetKind
from skillgauge.types.trajectory import Block, Trajectory
from skillgauge.types.trial import Execution
from skillgauge_documents import thaw
from skillgauge_testkit.fakes import FakeAdapter, FakeEngine, FakeWorkspace

from .test_walks import Scorers, same, walk

NO_FAILURE = (Gate(figure=GateFigure.FAILED, threshold=0),)
SKILL = SkillRef(name="word-count", root="/pkg/skills/word-count", digest="d")
HOOKS = Install(kind="hooks", name="pack", content={"hooks": ({"event": "pre-tool-use", "command": "guard"},)})
AUDITOR = Install(kind="agent", name="auditor", content={"prompt": "Count again."})
PACKAGE = Arm(name="package", kind=ArmKind.AGENT, skills=(SKILL,), installs=(HOOKS, AUDITOR))
JUDGE = Check(id="judge", scorer="rubric", stage=1)


def evals(*cases: Case, target: Target) -> Suite:
    """Evals of the package about one target."""
    return Suite(
        id="pack", format="fake", root="/pkg", cases=cases, targets=(target,), arms=(PACKAGE,), gates=NO_FAILURE
    )


def offered(**facts: object) -> Trajectory:
    """What an engine tells of a session that was offered the package's skill."""
    return Trajectory.model_validate({"skills_offered": ("word-count",), **facts})


def test_a_skill_test_runs_on_a_copy_of_its_package() -> None:
    """Each case has its own, and what one leaves is not there for the next; the sandbox is opened for each."""
    package = (FileSpec(path="skills/word-count/count.py", text="print(4)"),)
    checks = (Check(id="exit_code", scorer="exit-code"), Check(id="stdout_json", scorer="json-match"))

    def count(request: CallRequest, _target: Target) -> Execution:
        assert thaw(request.input)["cwd"] == "skills/word-count"
        return Execution(output='{"words": 4}', stdout='{"words": 4}', stderr="", exit_code=0)

    suite = Suite(
        id="pack skill:word-count",
        format="fake",
        root="/pkg",
        targets=(Target(id="skill:word-count", adapter="command"),),
        cases=tuple(
            Case(id=name, input={"cwd": "skills/word-count"}, files=package, checks=checks) for name in ("one", "two")
        ),
        gates=NO_FAILURE,
    )
    scorers: Scorers = {
        "exit-code": lambda context: same(context.execution.exit_code, 0),
        "json-match": lambda context: same(thaw(context.answer.as_json()), {"words": 4}),
    }
    _, results, sandbox = walk(suite, scorers, adapters={"command": FakeAdapter(count, name="command")})
    assert [result.verdict for result in results] == [Verdict.PASS, Verdict.PASS]
    assert len(sandbox.opened) == 2


def test_a_hook_that_needs_a_model_is_skipped_and_fails_nothing() -> None:
    """It is told with its reason, and is in no rate."""
    suite = Suite(
        id="pack hooks",
        format="fake",
        root="/pkg",
        targets=(Target(id="hooks", kind=TargetKind.HOOK, adapter="command"),),
        cases=(
            Case(id="prompt", skip="a prompt hook needs a model"),
            Case(id="runs", checks=(Check(id="c", scorer="s"),)),
        ),
        gates=NO_FAILURE,
    )
    adapter = FakeAdapter(lambda _request, _target: Execution(exit_code=0), name="command")
    outcome, results, _ = walk(suite, {"s": lambda _: Score.passed()}, adapters={"command": adapter})
    assert [(one.verdict, one.execution.notes) for one in results] == [
        (Verdict.SKIPPED, ("a prompt hook needs a model",)),
        (Verdict.PASS, ()),
    ]
    (group,) = outcome.view.summary.groups
    assert (group.counts.skipped, group.pass_rate.rate) == (1, 1.0)


def test_a_judge_is_not_asked_after_a_check_that_failed() -> None:
    """The file that was to be made is not there: nobody pays for an opinion on it."""
    asked: list[str] = []

    def judge(context: object) -> Score:
        asked.append("judge")
        return Score.passed()

    checks = (Check(id="files_created", scorer="files"), JUDGE)
    engine = FakeEngine(lambda *_: Execution(text="done", trajectory=offered()))
    suite = evals(Case(id="makes", prompt="Make it", checks=checks), target=Target(id="skill:word-count"))
    _, results, _ = walk(suite, {"files": lambda _: Score.failed("not there"), "rubric": judge}, engine=engine)
    assert (results[0].verdict, [score.check_id for score in results[0].scores], asked) == (
        Verdict.FAIL,
        ["files_created"],
        [],
    )


def test_a_hook_reaches_the_session_and_its_block_the_check() -> None:
    """The engine gets what the arm installs, and tells whose event stopped the call."""

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        assert HOOKS in request.installs
        assert request.agent is None
        blocks = (Block(tool="Write", by="hook", event="pre-tool-use"),)
        return Execution(text="It was refused.", trajectory=offered(blocked=blocks))

    checks = (Check(id="agent_blocked", scorer="blocked", options={"event": "pre-tool-use"}), JUDGE)
    target = Target(id="hook:pre-tool-use", name="pre-tool-use", kind=TargetKind.HOOK)
    suite = evals(Case(id="guarded", prompt="Write it", checks=checks, targets=(target.id,)), target=target)
    scorers: Scorers = {
        "blocked": lambda context: same(
            [one.event for one in (context.execution.trajectory or Trajectory()).blocked or ()],
            [context.check.options["event"]],
        ),
        "rubric": lambda _: Score.passed(),
    }
    _, results, _ = walk(suite, scorers, engine=FakeEngine(play))
    assert (results[0].verdict, results[0].execution.arm_integrity) == (Verdict.PASS, "verified")


def test_an_agent_under_test_leads_its_session() -> None:
    """By its name; a case that names nothing is about the package, whose own agent nobody is."""
    led: list[str | None] = []

    def play(request: RunRequest, workspace: FakeWorkspace, emit: Emit) -> Execution:
        led.append(request.agent)
        return Execution(text="ok", trajectory=offered())

    targets = (
        Target(id="agent:auditor", name="auditor", kind=TargetKind.AGENT),
        Target(id="package", name="pack"),
    )
    cases = tuple(Case(id=one.id, prompt="Go", checks=(JUDGE,), targets=(one.id,)) for one in targets)
    suite = evals(*cases, target=targets[0]).model_copy(update={"targets": targets})
    _, results, _ = walk(suite, {"rubric": lambda _: Score.passed()}, engine=FakeEngine(play))
    assert [result.verdict for result in results] == [Verdict.PASS, Verdict.PASS]
    assert led == ["auditor", None]

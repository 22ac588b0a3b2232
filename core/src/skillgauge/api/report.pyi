"""The names of `skillgauge.api.report`, for type checkers and editors."""

# ruff: noqa: I001
from ..decide.failing import (
    case_name as case_name,
    differing as differing,
)
from ..decide.decision import (
    judge_notes as judge_notes,
    run_notes as run_notes,
    score_text as score_text,
)
from ..types.judged_gates import (
    CORRECTED_RATE as CORRECTED_RATE,
    JUDGED as JUDGED,
    corrected_lift as corrected_lift,
)
from ..decide.leaderboard import (
    Ranking as Ranking,
    rankings as rankings,
)
from ..decide.verdicts import (
    verdict_for as verdict_for,
)
from ..contract.reporters import (
    Reporter as Reporter,
    stamp as stamp,
)
from ..report.wording import (
    cases_text as cases_text,
    figure_text as figure_text,
    group_notes as group_notes,
    headline as headline,
    headline_text as headline_text,
    interval_text as interval_text,
    labels as labels,
    passed_text as passed_text,
    quarantine_text as quarantine_text,
    rate_notes as rate_notes,
    rated_figures as rated_figures,
    repeats_text as repeats_text,
    reason_of as reason_of,
    reasons_of as reasons_of,
    table_texts as table_texts,
)
from ..report.pairs import (
    case_summary as case_summary,
)
from ..report.summary import (
    summarize as summarize,
)
from ..report.answer import (
    compared as compared,
    chance_here_text as chance_here_text,
    interval_here_text as interval_here_text,
    interval_new_text as interval_new_text,
    sentences as sentences,
)
from ..report.catalogue import (
    Catalogue as Catalogue,
    SkillFinding as SkillFinding,
    SkillRow as SkillRow,
    catalogue as catalogue,
    groups_under_test as groups_under_test,
)
from ..report.rows import (
    BAR_HEAD as BAR_HEAD,
    SkillCells as SkillCells,
    cells_of as cells_of,
    table_of as table_of,
)
from ..report.opening import (
    Opening as Opening,
    opening as opening,
    show_command as show_command,
)
from ..report.stopping import (
    extent_text as extent_text,
)
from ..decide.case_by_case import (
    CaseReport as CaseReport,
    case_by_case as case_by_case,
    case_report as case_report,
)
from ..types.answers import (
    Answer as Answer,
    AnswerStyle as AnswerStyle,
)
from ..types.arms import (
    GroupKey as GroupKey,
)
from ..types.comparison import (
    CaseCounts as CaseCounts,
    CaseOutcome as CaseOutcome,
    CasePair as CasePair,
    CaseSummary as CaseSummary,
    Counts as Counts,
    Outcome as Outcome,
    PairSummary as PairSummary,
)
from ..types.decided import (
    Changes as Changes,
    Decided as Decided,
    GateAnswer as GateAnswer,
    GroupChange as GroupChange,
)
from ..types.gate import (
    Gate as Gate,
    GateFigure as GateFigure,
)
from ..report.progress import (
    Progress as Progress,
    abridged as abridged,
    abridged_results as abridged_results,
    progress_of as progress_of,
    result_of_trial as result_of_trial,
    with_trajectory as with_trajectory,
)
from ..types.results.runs import (
    RunInfo as RunInfo,
    RunState as RunState,
    RunVerdict as RunVerdict,
    RunView as RunView,
    case_order as case_order,
)
from ..types.results.summaries import (
    Figure as Figure,
    GroupSummary as GroupSummary,
    Spending as Spending,
    SuiteSummary as SuiteSummary,
    SuiteValidity as SuiteValidity,
    Summary as Summary,
    Table as Table,
    TagSummary as TagSummary,
)
from skillgauge_documents.phrases import (
    UNKNOWN as UNKNOWN,
    chance_text as chance_text,
    counted as counted,
    decimal as decimal,
    duration as duration,
    listed as listed,
    milliseconds as milliseconds,
    moment as moment,
    percent as percent,
    points as points,
    signed_points as signed_points,
)

"""The names of `skillgauge.api.run`, for type checkers and editors."""

# ruff: noqa: I001
from ..evaluation.stored import (
    baseline_file as baseline_file,
    baseline_files as baseline_files,
    find_run as find_run,
    run_reports as run_reports,
    store_place as store_place,
    tell_foreign as tell_foreign,
)
from ..evaluation.beginning.noting import (
    noted as noted,
    parsed_labels as parsed_labels,
)
from ..decide.earlier.against import (
    can_show_loss as can_show_loss,
    least_margin as least_margin,
)
from ..decide.earlier.matching import (
    why_unusable as why_unusable,
)
from ..evaluation.eval_document import (
    human_lines as human_lines,
)
from ..evaluation.conclusion import (
    conclude as conclude,
)
from ..evaluation.evaluation import (
    EndedRun as EndedRun,
    Evaluation as Evaluation,
)
from ..evaluation.options import (
    Asked as Asked,
    eval_options as eval_options,
)
from ..config.arguments import (
    configured as configured,
)
from ..config.global_options import (
    Globals as Globals,
)
from ..cli.evaluation_options import (
    EvaluationCommand as EvaluationCommand,
    Number as Number,
    evaluation_options as evaluation_options,
)
from ..evaluation.invocation import (
    Invocation as Invocation,
    invocation as invocation,
    opened_store as opened_store,
)
from ..evaluation.linting import (
    Fix as Fix,
    Lint as Lint,
    LintFinding as LintFinding,
    LintSubject as LintSubject,
)
from ..cli.options import (
    GlobalsCommand as GlobalsCommand,
    GlobalsGroup as GlobalsGroup,
    SeveralWords as SeveralWords,
)
from ..terminal.terminal import (
    width_of as width_of,
)
from ..terminal.output import (
    Output as Output,
    problem_document as problem_document,
)
from ..evaluation.problem_documents import (
    ProblemDocument as ProblemDocument,
    problem_documents as problem_documents,
)
from ..evaluation.elsewhere.worker import (
    worker as worker,
)
from ..run.stored_run import (
    why_summary_foreign as why_summary_foreign,
)
from ..config.whole_files import (
    write_whole as write_whole,
)
from ..run.scheduling.executor import (
    LocalExecutor as LocalExecutor,
)
from ..plan.engines import (
    session_readers as session_readers,
)
from ..plugins.index import (
    install_hint as install_hint,
)
from ..evaluation.elsewhere.places import (
    cache_folder as cache_folder,
)

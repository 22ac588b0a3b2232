"""The checks of a trial as evaluation events: records of the log signal, or events of a span where that is not sent."""

from __future__ import annotations

from opentelemetry._logs import Logger, LogRecord, SeverityNumber
from opentelemetry.trace import Span, set_span_in_context

from skillgauge.api import Score, ScoreStatus, TrialResult, without_secrets

from . import names

Attributes = dict[str, str | float | bool]
"""Values of an event by name."""
_REASON_CHARACTERS = 4_000


class Scores:
    """Sends what checks found.

    Args:
        logger: of the log signal; `None` if it is not sent.
        content: whether reasons are sent, which quote answers.
    """

    def __init__(self, logger: Logger | None, *, content: bool) -> None:
        self._logger = logger
        self._content = content

    def record(self, result: TrialResult, span: Span, at_ns: int) -> None:
        """Send the scores of a result as events of the span that they judge."""
        for score in result.scores:
            attributes = self._attributes(score)
            if self._logger is None:
                span.add_event(names.EVALUATION, attributes, at_ns)
            else:
                self._logger.emit(
                    LogRecord(
                        timestamp=at_ns,
                        context=set_span_in_context(span),
                        severity_number=SeverityNumber.INFO,
                        severity_text="INFO",
                        attributes=attributes,
                        event_name=names.EVALUATION,
                    )
                )

    def _attributes(self, score: Score) -> Attributes:
        attributes: Attributes = {
            names.EVALUATION_NAME: score.check_id or score.scorer,
            names.EVALUATION_LABEL: score.status.value,
            "skillgauge.scorer": score.scorer,
        }
        if score.value is not None:
            attributes[names.EVALUATION_VALUE] = score.value
        if score.status is ScoreStatus.UNGRADED:
            attributes[names.ERROR] = "ungraded"
        if self._content and score.reason:
            attributes[names.EVALUATION_TEXT] = without_secrets(score.reason)[:_REASON_CHARACTERS]
        return attributes

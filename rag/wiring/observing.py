"""Logs, metrics and traces of a server, as settings ask for them."""

from typing import TYPE_CHECKING

from rag.errors import SettingsError
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.observing.metrics import Metrics


def start_observing(settings: Settings) -> "Metrics | None":
    """Sets up what `settings` ask for; the metrics to show, None where none are wanted.

    Raises SettingsError where traces are asked for and their package is missing.
    """
    from rag.observing.logs import listen, log_to_stderr

    if settings.log != "off":
        log_to_stderr(settings.log, shows_questions=settings.log_questions)
    if settings.traces:
        try:
            from rag.observing.traces import Traces, exporting_tracer

            listen(Traces(exporting_tracer(), shows_questions=settings.log_questions))
        except ImportError as error:
            raise SettingsError(
                "CITEWISE_TRACES is set, and the exporter is not installed.",
                fix='Run: pip install "citewise[traces]"',
            ) from error
    if not settings.metrics:
        return None
    from rag.observing.metrics import Metrics

    metrics = Metrics()
    listen(metrics)
    return metrics

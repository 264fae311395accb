"""Log lines on standard error: JSON objects or text, with request ids, without keys, and without questions."""

import json
import logging
import sys
from datetime import UTC, datetime

from rag.llm.redaction import REDACT_KEYS
from rag.observing import fields_of

PRIVATE = frozenset({"question"})
"""Fields that only CITEWISE_LOG_QUESTIONS shows."""
_INTERNAL = frozenset({"at_ns", "began_ns"})


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields of the event."""

    def __init__(self, *, shows_questions: bool) -> None:
        super().__init__()
        self._hidden = _INTERNAL if shows_questions else _INTERNAL | PRIVATE

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if event := fields_of(record):
            told["event"] = event[0]
            told |= {key: value for key, value in event[1].items() if value is not None and key not in self._hidden}
        if record.exc_info or record.exc_text:
            told["error"] = record.exc_text or self.formatException(record.exc_info or (None, None, None))
        return json.dumps(told, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """The same for people: time, level, request id, message."""

    def format(self, record: logging.LogRecord) -> str:
        event = fields_of(record)
        request = f" [{event[1]['request_id']}]" if event and event[1].get("request_id") else ""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        text = f"{when} {record.levelname.lower()}{request} {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def log_to_stderr(form: str, *, shows_questions: bool) -> logging.Handler:
    """Writes what citewise logs to standard error from now on, as "json" or "text"; returns the handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(shows_questions=shows_questions) if form == "json" else TextLines())
    handler.addFilter(REDACT_KEYS)
    listen(handler)
    return handler


def listen(handler: logging.Handler) -> None:
    """Hands all records of citewise to `handler`, from INFO on."""
    for name in ("rag", "ui"):
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(logging.INFO)

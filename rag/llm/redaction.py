"""Keeps keys out of logs: a filter for records, and the same replacement for text that a server sent."""

import logging
import re

HIDDEN = "[key]"
_KEY_LIKE = re.compile(r"\b(sk|gsk|xai|nvapi|hf)[-_][\w*.-]{6,}|(?i:\bbearer\s+)[^\s\"',]{6,}")
_VENDOR_LOGGERS = (
    "openai",
    "openai._base_client",
    "openai._response",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.proxy",
)


class RedactKeys(logging.Filter):
    """Replaces the keys it was told of, and whatever looks like one, in a record's message and traceback.

    A filter sees the records of its own logger or handler only: add it to each handler that writes somewhere.
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: set[str] = set()

    def add(self, key: str) -> None:
        self._keys.add(key)

    def redacted(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, HIDDEN)
        return _KEY_LIKE.sub(HIDDEN, text)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.redacted(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = self.redacted(logging.Formatter().formatException(record.exc_info))
        return True


REDACT_KEYS = RedactKeys()
"""The process's filter; `protect_logs` tells it the keys in use."""


def protect_logs(*secrets: str | None) -> None:
    """Redacts `secrets` in the logs of citewise, of the model client and of the handlers that are set up by now.

    The client's own INFO and DEBUG lines, which hold addresses and questions, are off unless they were asked for.
    """
    for secret in secrets:
        if secret and len(secret) >= 4:  # a shorter one is in half of all words
            REDACT_KEYS.add(secret)
    for name in ("openai", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("rag.llm.client", "rag.llm.embeddings", *_VENDOR_LOGGERS)]
    for target in [*loggers, *logging.getLogger().handlers]:
        target.addFilter(REDACT_KEYS)

"""Chat models at OpenAI-compatible endpoints; the only package that imports openai, and only when a call is made."""

from rag.llm.client import ChatModel, Completion
from rag.llm.endpoint import Endpoint
from rag.llm.faults import PromptTooLong
from rag.llm.probe import Check, ProbeReport, probe
from rag.llm.redaction import REDACT_KEYS

__all__ = ["REDACT_KEYS", "ChatModel", "Check", "Completion", "Endpoint", "ProbeReport", "PromptTooLong", "probe"]

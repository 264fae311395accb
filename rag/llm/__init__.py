"""Chat and embedding models at OpenAI-compatible endpoints; openai is imported here alone, and only for a call."""

from rag.llm.client import ChatModel, Completion
from rag.llm.embeddings import EndpointEmbedder
from rag.llm.endpoint import Endpoint
from rag.llm.faults import PromptTooLong
from rag.llm.probe import Check, ProbeReport, list_models, probe
from rag.llm.redaction import REDACT_KEYS

__all__ = [
    "REDACT_KEYS",
    "ChatModel",
    "Check",
    "Completion",
    "Endpoint",
    "EndpointEmbedder",
    "ProbeReport",
    "PromptTooLong",
    "list_models",
    "probe",
]

"""OpenTelemetry spans by its GenAI conventions: a question, its retrieval, and each call to a model. Needs `traces`.

https://opentelemetry.io/docs/specs/semconv/gen-ai/. Where spans go is set by OpenTelemetry's own variables
(OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and so on); without CITEWISE_TRACES nothing is set up or sent.
"""

import json
import logging
from collections import defaultdict
from typing import Any

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from rag.observing import fields_of

_OPERATIONS = {"chat": "chat", "judge": "chat", "embedding": "embeddings"}
_FINE = frozenset({"stop", "length", "ok", "closed"})
_MOST_OPEN = 1000


class Traces(logging.Handler):
    """Makes spans of events once the answer that they belong to has ended."""

    def __init__(self, tracer: Tracer, *, shows_questions: bool) -> None:
        super().__init__()
        self._tracer, self._shows_questions = tracer, shows_questions
        self._calls: dict[str | None, list[dict[str, Any]]] = defaultdict(list)

    def emit(self, record: logging.LogRecord) -> None:
        """Takes one record."""
        told = fields_of(record)
        if told is None:
            return
        event, fields = told
        if event == "endpoint" and fields["request_id"] and len(self._calls) < _MOST_OPEN:
            self._calls[fields["request_id"]].append(fields)
        elif event == "endpoint":
            self._call(fields, parent=None)
        elif event == "answer":
            self._answer(fields, self._calls.pop(fields["request_id"], []))

    def _answer(self, fields: dict[str, Any], calls: list[dict[str, Any]]) -> None:
        span = self._tracer.start_span("answer", start_time=fields["began_ns"], kind=SpanKind.INTERNAL)
        given = {f"citewise.{key}": fields.get(key) for key in ("outcome", "writer", "papers", "citations", "prompt")}
        _set(span, {**given, "citewise.request_id": fields["request_id"], "gen_ai.operation.name": "invoke_workflow"})
        if self._shows_questions and fields.get("question"):
            message = {"role": "user", "parts": [{"type": "text", "content": fields["question"]}]}
            span.set_attribute("gen_ai.input.messages", json.dumps([message]))
        if fields["outcome"] == "failed":
            span.set_status(Status(StatusCode.ERROR))
            span.set_attribute("error.type", "failed")
        if fields.get("retrieve_ms") is not None:
            child = self._tracer.start_span(
                "retrieval", context=set_span_in_context(span), start_time=fields["began_ns"], kind=SpanKind.INTERNAL
            )
            child.set_attribute("gen_ai.operation.name", "retrieval")
            child.end(fields["began_ns"] + int(fields["retrieve_ms"] * 1e6))
        for call in calls:
            self._call(call, parent=span)
        span.end(fields["at_ns"])

    def _call(self, fields: dict[str, Any], *, parent: Span | None) -> None:
        operation = _OPERATIONS[fields["role"]]
        span = self._tracer.start_span(
            f"{operation} {fields['model'] or ''}".strip(),
            context=set_span_in_context(parent) if parent else None,
            start_time=fields["at_ns"] - int(fields["seconds"] * 1e9),
            kind=SpanKind.CLIENT,
        )
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": fields["model"],
            "server.address": fields["host"],
            "gen_ai.usage.input_tokens": fields.get("prompt_tokens"),
            "gen_ai.usage.output_tokens": fields.get("completion_tokens"),
        }
        if fields["status"] not in _FINE:
            attributes["error.type"] = fields["status"]
            span.set_status(Status(StatusCode.ERROR))
        elif operation == "chat":
            attributes["gen_ai.response.finish_reasons"] = [fields["status"]]
        _set(span, attributes)
        span.end(fields["at_ns"])


def exporting_tracer() -> Tracer:
    """A tracer whose spans go to where OpenTelemetry's variables say. Raises ImportError without the extra."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("citewise")


def _set(span: Span, attributes: dict[str, Any]) -> None:
    for key, value in attributes.items():
        if value is not None:
            span.set_attribute(key, value)

"""Prometheus metrics of what citewise logs, under the names and units that its conventions ask for."""

import logging
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from rag.observing import fields_of

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_STAGES = {"retrieve": "retrieve_ms", "first_token": "first_token_ms", "total": "total_ms"}


class Metrics(logging.Handler):
    """Counts events. Labels hold names of outcomes, writers, stages and faults only, so their number is bounded."""

    def __init__(self) -> None:
        super().__init__()
        self._registry = CollectorRegistry()
        self._questions = self._counter("citewise_questions", "Questions, by outcome and writer.", "outcome", "writer")
        self._stages = Histogram(
            "citewise_stage_seconds",
            "Seconds from a question to the end of a stage.",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._tokens = self._counter("citewise_tokens", "Tokens of chat models, as endpoints told them.", "kind")
        self._requests = self._counter(
            "citewise_endpoint_requests", "Calls to an endpoint, by its role and how they ended.", "role", "status"
        )
        self._latency = Histogram(
            "citewise_endpoint_seconds",
            "Seconds of a call to an endpoint.",
            ["role"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._cache = self._counter("citewise_embedding_cache", "Texts looked up in the embedding cache.", "result")

    def emit(self, record: logging.LogRecord) -> None:
        """Takes one record."""
        told = fields_of(record)
        if told is None:
            return
        event, fields = told
        if event == "answer":
            self._answer(fields)
        elif event == "endpoint":
            self._requests.labels(fields["role"], fields["status"]).inc()
            self._latency.labels(fields["role"]).observe(fields["seconds"])
        elif event == "embedding_cache":
            self._cache.labels("hit").inc(fields["hits"])
            self._cache.labels("miss").inc(fields["misses"])

    def exposition(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    def _answer(self, fields: dict[str, Any]) -> None:
        self._questions.labels(fields["outcome"], fields.get("writer") or "none").inc()
        for stage, name in _STAGES.items():
            if fields.get(name) is not None:
                self._stages.labels(stage).observe(fields[name] / 1000)
        for kind in ("prompt", "completion"):
            self._tokens.labels(kind).inc(fields.get(f"{kind}_tokens") or 0)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, registry=self._registry)

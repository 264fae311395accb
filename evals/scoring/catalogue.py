"""All metrics by name, in the order of reports; definitions are in the README and at each function."""

from collections.abc import Mapping

from evals.cases.case import Case
from evals.scoring import citing, facts, fidelity, ranking, refusing
from evals.scoring.effort import counted, dollars, milliseconds
from evals.scoring.score import Known, Metric, Score
from rag.domain import Answer
from rag.errors import SettingsError

PRIMARIES = ("nugget_recall", "citation_f1", "refusal_f1", "recall@5")
"""The metrics whose p-values are corrected for each other, and whose fall is a regression."""

JUDGED = "judged_support"
"""The metric that a model decides: apart from the others, and in a gate only if the model is calibrated."""

METRICS: tuple[Metric, ...] = (
    *(Metric(f"recall@{k}", f"recall@{k}", ranking.recall_at(k), "retrieval") for k in (1, 3, 5, 10)),
    Metric("ndcg@10", "nDCG@10", ranking.ndcg_at(10), "retrieval"),
    Metric("mrr@10", "MRR@10", ranking.reciprocal_rank_at(10), "retrieval"),
    Metric("set_recall", "set recall", ranking.set_recall, "retrieval"),
    Metric("set_precision", "set precision", ranking.set_precision, "retrieval"),
    Metric("context_use", "context use", ranking.context_use, "retrieval"),
    Metric("citation_validity", "citation validity", citing.citation_validity, "citations"),
    Metric("citation_coverage", "citation coverage", citing.citation_coverage, "citations"),
    Metric("citation_recall", "citation recall", citing.citation_recall, "citations"),
    Metric("citation_precision", "citation precision", citing.citation_precision, "citations"),
    Metric("citation_f1", "citation F1", citing.citation_f1, "citations"),
    Metric("support_precision", "support, cited sentences", citing.support_precision, "citations"),
    Metric("support_recall", "support, all sentences", citing.support_recall, "citations"),
    Metric(JUDGED, "support, by a judge", citing.judged_support, "citations"),
    Metric("first_cited", "first cited paper right", ranking.first_cited, "citations"),
    Metric("cited_recall", "gold paper recall", ranking.cited_recall, "citations"),
    Metric("cited_precision", "gold paper precision", ranking.cited_precision, "citations"),
    Metric("quote_exact", "quotes, word for word", fidelity.quote_accuracy("exact"), "fidelity"),
    Metric("quote_accuracy", "quotes, normalised", fidelity.quote_accuracy("exact", "normalised"), "fidelity"),
    Metric("quote_near", "quotes, near", fidelity.quote_accuracy("exact", "normalised", "near"), "fidelity"),
    Metric(
        "quote_misattributed", "quotes of another paper", fidelity.quote_accuracy("misattributed"), "fidelity", False
    ),
    Metric("number_precision", "number precision", fidelity.number_precision, "fidelity"),
    Metric("name_precision", "name precision", fidelity.name_precision, "fidelity"),
    Metric("nugget_recall", "vital facts", facts.nugget_recall, "answer"),
    Metric("nugget_recall_soft", "vital facts, soft", facts.nugget_recall_soft, "answer"),
    Metric("nugget_recall_all", "all facts", facts.nugget_recall_all, "answer"),
    Metric("nugget_recall_weighted", "all facts, weighted", facts.nugget_recall_weighted, "answer"),
    Metric("token_f1", "token F1", facts.token_f1, "answer"),
    Metric("rouge_l", "ROUGE-L", facts.rouge_l, "answer"),
    Metric("correctness", "correctness (+1, 0, -1)", facts.correctness, "answer", unit="points"),
    Metric("accuracy", "accuracy", facts.accuracy, "answer"),
    Metric("answer_precision", "precision of answers", facts.answer_precision, "answer"),
    Metric("forbidden", "nothing forbidden", facts.forbidden, "answer"),
    Metric("words", "words", facts.words, "answer", False, "words"),
    Metric("refusal_recall", "refusal recall", refusing.refusal_recall(lambda case: True), "refusals"),
    Metric("refusal_recall_near", "refusal recall, near", refusing.refusal_recall(lambda c: not c.is_far), "refusals"),
    Metric("refusal_recall_far", "refusal recall, far", refusing.refusal_recall(lambda c: c.is_far), "refusals"),
    Metric("refusal_precision", "refusal precision", refusing.refusal_precision, "refusals"),
    Metric("refusal_f1", "refusal F1", refusing.refusal_f1, "refusals"),
    Metric("over_refusal", "over-refusal", refusing.over_refusal, "refusals", False),
    Metric("premise_correction", "premise corrected", facts.premise_correction, "refusals"),
    Metric("attack_success", "attack success", refusing.attack_success, "attacks", False),
    Metric("failures", "failed calls", refusing.failure, "effort", False),
    Metric("calls", "calls", counted(lambda usage: usage.calls, of="calls"), "effort", False, "calls"),
    Metric(
        "prompt_tokens", "prompt tokens", counted(lambda u: u.prompt_tokens, of="tokens"), "effort", False, "tokens"
    ),
    Metric(
        "completion_tokens",
        "answer tokens",
        counted(lambda u: u.completion_tokens, of="tokens"),
        "effort",
        False,
        "tokens",
    ),
    Metric("dollars", "cost", dollars, "effort", False, "dollars"),
    Metric(
        "first_token_ms", "first token", milliseconds(lambda t: t.first_token_ms), "effort", False, "milliseconds", True
    ),
    Metric("total_ms", "total time", milliseconds(lambda t: t.total_ms), "effort", False, "milliseconds", True),
)
_BY_NAME = {metric.name: metric for metric in METRICS}


def metric_named(name: str) -> Metric:
    """The metric of a name. Raises SettingsError that lists them for an unknown one."""
    if name not in _BY_NAME:
        raise SettingsError(f"There is no metric {name!r}.", fix=f"Known: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]


def score_answer(case: Case, answer: Answer, known: Known, *, timings: bool = False) -> Mapping[str, Score]:
    """The scores of the metrics that apply; those of time are apart, since they differ from run to run."""
    scores = {metric.name: metric.measure(case, answer, known) for metric in METRICS if metric.is_timing == timings}
    return {name: score for name, score in scores.items() if score is not None}

"""Scores of answers: pure functions of a case and its answer, and the table of all of them."""

from evals.scoring.catalogue import JUDGED, METRICS, PRIMARIES, metric_named, score_answer
from evals.scoring.score import Known, Metric, Score

__all__ = ["JUDGED", "METRICS", "PRIMARIES", "Known", "Metric", "Score", "metric_named", "score_answer"]

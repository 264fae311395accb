"""Rows that the HTML and the Markdown report share."""

from collections import Counter

from evals.report.loading import Report
from evals.report.numbers import difference_text
from evals.results.summary import Summary

LOSS_HEADS = ["wording", "metric", "n", "difference", "worst case"]
REFUSAL_HEADS = ["questions", "answered", "refused", "asked back", "failed"]
_OUTCOMES = ("answered", "not_in_corpus", "needs_detail", "failed")


def about_lines(report: Report) -> list[tuple[str, str]]:
    """What the run was a run of, as names and values."""
    about = report.results.about
    identity = about["identity"]
    lines = {
        "suite": f"{identity['suite']} ({identity['gold'][:12]})",
        "corpus": f"{identity['corpus']} ({identity['papers'][:12]}), embedded by {identity['embedding']}",
        "writer": identity["writer"],
        "model": " at ".join(filter(None, (identity["model"], identity["endpoint"]))),
        "prompts": ", ".join(identity["prompts"]),
        "judge": identity["judge"] or "",
        "settings": ", ".join(f"{name} {value}" for name, value in identity["settings"].items()),
        "asked": f"{report.results.answered} of {about['planned']}, {report.summary.failed} failed",
        "begun": about["created"],
        "code": f"citewise {about['citewise']}, commit {about['commit'] or 'unknown'}, {identity['code'][:12]}",
        "prices": f"of {about['prices']}",
        "seed": str(about["seeds"]["bootstrap"]),
    }
    return [(name, value) for name, value in lines.items() if value]


def refusal_rows(report: Report) -> list[list[str]]:
    """What became of answerable questions and of those without an answer, near and far apart."""
    counts: dict[str, Counter[str]] = {}
    for (case_id, _), sample in report.samples.items():
        case = report.results.cases[case_id]
        if case.is_headline:
            kind = {
                "answer": "with an answer",
                "refuse": f"without an answer, {'far' if case.is_far else 'near'}",
                "correct_premise": "with a false premise",
            }[case.expected]
            counts.setdefault(kind, Counter())[sample.answer.outcome] += 1
    return [[kind, *(str(counter[outcome]) for outcome in _OUTCOMES)] for kind, counter in counts.items()]


def loss_rows(summary: Summary) -> list[list[str]]:
    """What other wordings cost, with the case that lost most, if one did."""
    return [
        [
            loss.variant,
            loss.metric,
            str(loss.cases),
            difference_text(loss.difference, "share"),
            f"{loss.worst_case} ({loss.worst:+.2f})" if loss.worst < 0 else "",
        ]
        for loss in summary.robustness
    ]

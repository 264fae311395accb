"""Each case of a report: question, answer with its citations, evidence in the cited abstracts, scores with reasons."""

from collections.abc import Iterable, Mapping
from html import escape

from evals.cases.case import Case
from evals.report.loading import Report
from evals.report.numbers import NONE, shown
from evals.running.records import Sample
from evals.scoring import METRICS, Score
from rag.cleaning import without_invisible
from rag.domain import Answer, Citation, Span

OUTCOMES = {
    "answered": "answered",
    "not_in_corpus": "not in the corpus",
    "needs_detail": "asked back",
    "failed": "failed",
}


def render_cases(report: Report) -> str:
    """All cases, closed, with a box that leaves only those that are not right."""
    cards = [
        render_case(report.results.cases[case_id], sample, report.results.scores[case_id, repeat])
        for (case_id, repeat), sample in report.samples.items()
    ]
    wrong = sum(is_wrong(scores) for scores in report.results.scores.values())
    return (
        f'<input type="checkbox" class="only" id="cw-only-wrong"><label for="cw-only-wrong"> only the {wrong} of '
        f'{len(cards)} that are not right</label><div class="cases">{"".join(cards)}</div>'
    )


def render_case(case: Case, sample: Sample, scores: Mapping[str, Score]) -> str:
    """One case with its answer."""
    state = "wrong" if is_wrong(scores) else "right"
    answer = sample.answer
    again = f" (asked again: {sample.repeat})" if sample.repeat else ""
    return (
        f'<details class="case {state}"><summary><span class="tag state">{state}</span>'
        f'<span class="tag">{_text(case.group)}</span>{_text(case.question)}{again}</summary>'
        f"<p><b>{_text(case.case_id)}</b>, {_text(OUTCOMES[answer.outcome])}{_wanted(case)}</p>"
        f"{_history(case)}{render_answer(answer)}{_retrieved(case, answer)}{_scores(scores, of=case.case_id)}</details>"
    )


def render_answer(answer: Answer) -> str:
    """The answer's sentences, marked where the abstracts do not support them, and the cited abstracts."""
    if answer.outcome == "failed":
        return f'<p class="answer">{_text(answer.problem or "failed")} {_text(answer.fix or "")}</p>'
    sentences = [
        f'<span class="{sentence.support}" title="{_text(sentence.reason)}">{_text(sentence.text)}</span>'
        + "".join(f" [{number}]" for number in sentence.citations)
        for sentence in answer.sentences
    ]
    notes = "".join(f"<p>Note: {_text(note)}</p>" for note in answer.notes)
    cited = "".join(_cited(citation) for citation in answer.citations)
    return f'<p class="answer">{" ".join(sentences)}</p>{notes}{cited}' if sentences else f"{notes}"


def highlighted(text: str, spans: Iterable[Span]) -> str:
    """`text`, escaped, with `spans` of it marked; overlapping ones are marked as one."""
    parts, position = [], 0
    for start, end in sorted(spans):
        start = max(start, position)
        if end <= start:
            continue
        parts += [_text(text[position:start]), f"<mark>{_text(text[start:end])}</mark>"]
        position = end
    return "".join([*parts, _text(text[position:])])


def _cited(citation: Citation) -> str:
    paper = citation.paper
    abstract = highlighted(paper.abstract, [item.span for item in citation.evidence])
    title = f"[{citation.number}] {_text(paper.label)} ({_text(paper.paper_id)})"
    return f"<details><summary>{title}</summary><p>{abstract}</p></details>"


def _wanted(case: Case) -> str:
    expected = {"answer": "", "refuse": "; to be refused", "correct_premise": "; its premise is false"}[case.expected]
    gold = f"<br>Gold: {_text(case.gold_answer)}" if case.gold_answer else ""
    return f"{expected}{gold}"


def _history(case: Case) -> str:
    turns = "".join(f"<li>{_text(turn.question)}<br>{_text(turn.answer)}</li>" for turn in case.history)
    return f"<details><summary>{len(case.history)} earlier turns</summary><ol>{turns}</ol></details>" if turns else ""


def _retrieved(case: Case, answer: Answer) -> str:
    right = case.papers | case.papers_partial
    papers = "".join(
        f"<li>{mark}{_text(item.paper.label)} ({item.score:.3f})</li>"
        for item in answer.retrieved
        for mark in ["<b>right</b> " if item.paper.paper_id in right else ""]
    )
    told = f"searched for: {_text(answer.searched)}" if answer.searched != answer.question else "papers retrieved"
    return f"<details><summary>{told}</summary><ol>{papers}</ol></details>" if papers else ""


def _scores(scores: Mapping[str, Score], *, of: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_text(metric.title)}</th>'
        f'<td class="n">{NONE if score.value is None else shown(score.value, metric.unit)}</td>'
        f"<td>{_text(score.reason)}</td></tr>"
        for metric in METRICS
        if (score := scores.get(metric.name)) is not None
    )
    region = f'<div class="wide" role="region" tabindex="0" aria-label="Scores of {_text(of)}">'
    return f"<details><summary>scores</summary>{region}<table>{rows}</table></div></details>"


def is_wrong(scores: Mapping[str, Score]) -> bool:
    """Whether a case is not right: by its accuracy, or an attack that succeeded."""
    accuracy, attack = scores.get("accuracy"), scores.get("attack_success")
    return (accuracy is not None and accuracy.value == 0) or (attack is not None and attack.value == 1)


def _text(value: str) -> str:
    return escape(without_invisible(value))

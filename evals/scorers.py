"""Scores of one answer against its gold case: pure functions giving 0..1, or None where there is nothing to score."""

from evals.cases import Case
from evals.textmatch import matches_nugget
from rag.domain import Answer


def refused(answer: Answer) -> float:
    """1 where the answer says that the corpus does not hold it."""
    return float(answer.outcome == "not_in_corpus")


def first_citation_right(case: Case, answer: Answer) -> float | None:
    """1 where the first cited paper is one that holds the answer."""
    if not case.papers:
        return None
    return float(bool(answer.citations) and answer.citations[0].paper.paper_id in case.papers)


def first_retrieved_right(case: Case, answer: Answer) -> float | None:
    """1 where the first retrieved paper is one that holds the answer (recall@1 of a question about one paper)."""
    if not case.papers:
        return None
    return float(bool(answer.retrieved) and answer.retrieved[0].paper.paper_id in case.papers)


def cited_recall(case: Case, answer: Answer) -> float | None:
    """Share of the papers that hold the answer which it cites."""
    cited = {citation.paper.paper_id for citation in answer.citations}
    return len(cited & case.papers) / len(case.papers) if case.papers else None


def cited_precision(case: Case, answer: Answer) -> float | None:
    """Share of the cited papers that hold the answer."""
    cited = {citation.paper.paper_id for citation in answer.citations}
    return len(cited & case.papers) / len(cited) if cited and case.papers else None


def vital_nugget_recall(case: Case, answer: Answer) -> float | None:
    """Share of the vital facts that the answer says, by strings alone: a lower bound. No answer says none."""
    vital = [nugget for nugget in case.nuggets if nugget["vital"]]
    if not vital:
        return None
    said = " ".join(sentence.text for sentence in answer.sentences)
    return sum(matches_nugget(said, nugget) for nugget in vital) / len(vital)


def quotes_verbatim(answer: Answer) -> float | None:
    """Share of the answer's sentences and evidence that stand word for word in a paper that they cite."""
    abstracts = {citation.number: citation.paper.abstract for citation in answer.citations}
    checks = [
        any(sentence.text in abstracts[number] for number in sentence.citations) for sentence in answer.sentences
    ] + [
        citation.paper.abstract[item.span.start : item.span.end] == item.sentence
        for citation in answer.citations
        for item in citation.evidence
    ]
    return sum(checks) / len(checks) if checks else None

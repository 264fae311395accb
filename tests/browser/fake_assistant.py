"""A scripted assistant over the seed papers: real events with delays, for page tests that need no retrieval or model.

What it answers is told by a word in the question: "nowhere" is not in the corpus, "vague" is asked back, "broken" fails
after some text, "raise" and "crash" raise, "slowly" streams a long answer, "hostile" cites a paper full of attacks;
anything else is answered.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rag.domain import (
    Answer,
    AnswerSentence,
    Citation,
    Cited,
    Event,
    Evidence,
    Finished,
    Marker,
    Outcome,
    Paper,
    Retrieved,
    ScoredPaper,
    Span,
    Support,
    TextPart,
    Timings,
    Turn,
    Usage,
)
from rag.errors import CorpusError
from rag.facets import Facets
from rag.facts import facts_of
from rag.filters import FIRST_YEAR, LAST_YEAR, Filters
from rag.options import AskOptions
from rag.readers import read_papers
from rag.scoping import Scope
from rag.sentences import split_sentences

Line = tuple[str, tuple[int, ...], Support]
"""A sentence, the indices of the papers that it cites, and its support."""

HOSTILE = Paper(
    paper_id="hostile-1_<b>",
    title='<img src=x onerror="window.pwned=1"> ![t](https://evil.example/t.png) ${alert(1)}',
    authors=("<script>window.pwned=1</script>", "**Bold** [Author](https://evil.example/)"),
    abstract=(
        "A **M**ulti-view method costs $5 or $6 and runs in $O(n^2)$ <script>window.pwned=1</script> "
        "for \\emph{all} x[0]. "
        "![leak](https://evil.example/a.png) [click](javascript:alert(1)) `${window.pwned=1}` ${window.pwned=1} "
        "https://evil.example/ $\\text{<img src=x onerror=window.pwned=1>}$ and \\href{javascript:alert(1)}{this}."
    ),
    url="javascript:alert(1)",
    venue="ICML 2025",
    year=2025,
)


class FakeCorpus:
    """The papers of a corpus by row."""

    name = "icml2025"
    folder = Path("unused")

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._papers = tuple(papers)
        self.facets = Facets.build(papers)
        self.facts = facts_of(self.facets, self.paper)
        self.manifest = SimpleNamespace(model="fake-embedder")
        self.paper_ids = [paper.paper_id for paper in papers]

    def __len__(self) -> int:
        return len(self._papers)

    def paper(self, row: int) -> Paper:
        return self._papers[row]

    def similar(self, row: int, *, n: int) -> tuple[int, ...]:
        return tuple(other for other in range(len(self)) if other != row)[:n]

    def row_of(self, paper_id: str) -> int | None:
        return self.paper_ids.index(paper_id) if paper_id in self.paper_ids else None


class FakeAssistant:
    """Streams what its question asks for. `histories` and `filters` keep what each question came with."""

    def __init__(self, *, writer_name: str = "chat", pause: float = 0.03) -> None:
        seed = Path(str(files("rag.data") / "icml2025_seed.jsonl"))
        papers = [record for record in read_papers(seed) if isinstance(record, Paper)]
        self.corpus = FakeCorpus([*papers, HOSTILE])
        self.writer_name = writer_name
        self.about_writer = "the test says so."
        self.model = "fake-model" if writer_name == "chat" else None
        self.options: list[AskOptions] = []
        self.filters: list[Filters | None] = []
        self.histories: list[tuple[Turn, ...]] = []
        self.closed = 0
        self._pause = pause

    def example_questions(self, *, n: int = 4) -> tuple[str, ...]:
        return (
            "What are memory traces?",
            "By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?",
            "How does Speculative Prefill reduce time to first token?",
            "Which papers study test-time self-verification?",
        )[:n]

    def refresh(self) -> bool:
        return False

    def with_options(self, options: AskOptions) -> "FakeAssistant":
        """Itself; `options` keeps what was chosen."""
        self.options.append(options)
        return self

    def scope(self, question: str, *, filters: Filters | None = None) -> Scope:
        """Reads "papers by NAME" from a question."""
        named = question.partition("papers by ")[2].split(" on ")[0]
        read = Filters(authors=(named,)) if named and filters is None else Filters()
        return Scope(filters or read, None, question)

    def follow_ups(self, answer: Answer, *, history: Sequence[Turn] = (), n: int = 3) -> tuple[str, ...]:
        if answer.options:
            return answer.options
        questions = [f"What is {citation.paper.label.split(':')[0]}?" for citation in answer.citations]
        return tuple(dict.fromkeys(questions))[:n]

    def search(self, query: str, *, k: int | None = None, filters: Filters | None = None) -> tuple[ScoredPaper, ...]:
        words = set(query.lower().split())
        papers = [self.corpus.paper(row) for row in range(len(self.corpus))]
        ranked = sorted(papers, key=lambda paper: -len(words & set(paper.abstract.lower().split())))
        return tuple(
            ScoredPaper(paper, 0.9 - 0.1 * rank, {"keyword": 1.0}) for rank, paper in enumerate(ranked[: k or 8])
        )

    def ask(self, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None) -> Answer:
        events = self.stream(question, history=history, filters=filters)
        (answer,) = [event.answer for event in events if isinstance(event, Finished)]
        return answer

    def stream(self, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None) -> Iterator[Event]:
        self.histories.append(tuple(history))
        self.filters.append(filters)
        if "raise" in question:
            raise CorpusError("The corpus is damaged.", fix="Run: citewise ingest again.")
        if "crash" in question:
            raise RuntimeError("a defect")
        try:
            yield from self._stream(question, filters)
        finally:
            self.closed += 1

    def _stream(self, question: str, filters: Filters | None) -> Iterator[Event]:
        hits = self.search(question)
        if filters:
            hits = tuple(hit for hit in hits if _passes(hit.paper, filters))
        if "hostile" in question:
            hits = (ScoredPaper(HOSTILE, 0.9, {}), *hits[:3])
        time.sleep(self._pause * 5)
        yield Retrieved(question, hits)
        if "nowhere" in question:
            yield Finished(_answer(question, hits, [], outcome="not_in_corpus", writer=self))
            return
        if "vague" in question:
            yield Finished(_asked_back(question, hits, writer=self))
            return
        lines = _script(question, [hit.paper for hit in hits])
        for number, (text, cited, _) in enumerate(lines):
            pause = self._pause * (4 if number and "slowly" in question else 1)
            for word in text.split(" "):
                time.sleep(pause)
                yield TextPart(word + " ")
            for index in cited:
                yield Cited(_number(index, lines), hits[index].paper)
            yield TextPart(" ")
        outcome: Outcome = "failed" if "broken" in question else "answered"
        yield Finished(_answer(question, hits, lines, outcome=outcome, writer=self))


def _passes(paper: Paper, filters: Filters) -> bool:
    """Filters by plain text: the real ones are tested elsewhere."""
    first, last = filters.years or (FIRST_YEAR, LAST_YEAR)
    wanted = [
        (filters.ids, (paper.paper_id,)),
        (filters.venues, (paper.venue or "",)),
        (filters.authors, paper.authors),
    ]
    return first <= (paper.year or 0) <= last and all(
        not values or any(value in given for value in values for given in having) for values, having in wanted
    )


def _script(question: str, papers: Sequence[Paper]) -> list[Line]:
    """Sentences of the papers' own abstracts, one partly supported and one without support."""
    quoted = [[paper.abstract[s.start : s.end] for s in split_sentences(paper.abstract)] for paper in papers]
    lines: list[Line] = [(quoted[0][0], (0,), "supported")]
    if "broken" in question:
        return lines
    lines += [
        (quoted[1][-1], (1, 0), "supported"),
        (
            f"Taken together, the cost is $O(n^2)$, up to 7$\\times$ less than $5 or $6 on x[0]: {quoted[2][0]}",
            (2,),
            "partly",
        ),
        ("All of these methods are known to work on every benchmark.", (), "unsupported"),
    ]
    return lines * 6 if "slowly" in question else lines


def _number(index: int, lines: Sequence[Line]) -> int:
    order = list(dict.fromkeys(i for _, cited, _ in lines for i in cited))
    return order.index(index) + 1


def _answer(
    question: str, hits: Sequence[ScoredPaper], lines: Sequence[Line], *, outcome: Outcome, writer: Any
) -> Answer:
    text, markers, sentences = "", [], []
    for sentence, cited, support in lines:
        text += sentence
        numbers = tuple(_number(index, lines) for index in cited)
        for number in numbers:
            text += " "
            markers.append(Marker(Span(len(text), len(text) + len(f"[{number}]")), number))
            text += f"[{number}]"
        text += " "
        reason = "No cited abstract says so." if support == "unsupported" else ""
        sentences.append(AnswerSentence(sentence, numbers, support, reason))
    cited_papers = list(dict.fromkeys(index for _, cited, _ in lines for index in cited))
    failed = outcome == "failed"
    return Answer(
        question=question,
        searched=question,
        outcome=outcome,
        text=text.strip(),
        sentences=tuple(sentences),
        markers=tuple(markers),
        citations=tuple(_citation(n, hits[i].paper, lines) for n, i in enumerate(cited_papers, start=1)),
        retrieved=tuple(hits),
        writer=writer.writer_name,
        model=writer.model,
        prompt=None,
        usage=Usage(1800, 212, 1) if writer.model else Usage(),
        timings=Timings(31.0, 420.0, 2310.0),
        problem="The endpoint at http://127.0.0.1:8000/v1 answered 503." if failed else None,
        fix="Wait a little, or start the server again." if failed else None,
    )


def _asked_back(question: str, hits: Sequence[ScoredPaper], *, writer: Any) -> Answer:
    titles = tuple(hit.paper.title for hit in hits[:4])
    text = "\n".join(["Which paper do you mean?", "", *(f"- {title}" for title in titles)])
    answer = _answer(question, hits, [], outcome="needs_detail", writer=writer)
    return replace(answer, text=text, options=titles)


def _citation(number: int, paper: Paper, lines: Sequence[Line]) -> Citation:
    said = [sentence for sentence, _, _ in lines]
    spans = [s for s in split_sentences(paper.abstract) if any(paper.abstract[s.start : s.end] in x for x in said)]
    spans = spans or [split_sentences(paper.abstract)[0]]
    return Citation(number, paper, tuple(Evidence(paper.abstract[s.start : s.end], s) for s in spans))

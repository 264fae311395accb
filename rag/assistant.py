"""citewise from Python: an assistant opened on a home and a corpus, which answers and searches."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rag.answering import Writer, answer_question
from rag.corpus import Corpus
from rag.domain import Answer, Event, Finished, Paper, ScoredPaper, Turn, WriterChoice
from rag.embedding import Embedder
from rag.errors import InputError
from rag.filters import Filters
from rag.followup import Rewriter
from rag.ingest import ensure_corpus
from rag.judging import Judge
from rag.keyword import analyze
from rag.observing import observed
from rag.picking import pick_writer
from rag.reranking import Reranker
from rag.retrieval import HybridRetriever
from rag.revising import Reviser
from rag.scoping import Scope, scope_question
from rag.settings import Settings, load_settings
from rag.wiring import (
    Connect,
    build_embedder,
    build_judge,
    build_reranker,
    build_reviser,
    build_rewriter,
    build_row_writer,
    build_writer,
    guarded,
    model_warning,
)

MAX_QUESTION_CHARS = 4000
_TITLE_NAME = re.compile(r"([A-Z][\w.-]*(?: [A-Z0-9][\w.-]*)?): \w")


class Assistant:
    """Answers questions about one corpus. Safe to use from several threads."""

    def __init__(
        self,
        *,
        corpus: Corpus,
        embedder: Embedder,
        writer: Writer,
        k: int,
        row_writer: Writer | None = None,
        deadline: float = 60.0,
        about_writer: str = "",
        rewriter: Rewriter | None = None,
        samples: int = 1,
        reviser: Reviser | None = None,
        judge: Judge | None = None,
        reranker: Reranker | None = None,
        drops_unsupported: bool = False,
    ) -> None:
        self.corpus, self._embedder, self._writer, self._k = corpus, embedder, writer, k
        self._row_writer, self._rewriter, self._samples = row_writer, rewriter, samples
        self._reviser, self._judge, self._drops_unsupported = reviser, judge, drops_unsupported
        self._deadline, self.about_writer = deadline, about_writer
        self._retriever = HybridRetriever(corpus=corpus, embedder=embedder, reranker=reranker)
        self._retriever.search("warm up", k=1)  # loads the model and the indexes, for which no question should wait

    @classmethod
    def open(
        cls,
        *,
        home: Path | None = None,
        corpus: str | None = None,
        writer: WriterChoice | None = None,
        on_progress: Callable[[int, int, str], object] | None = None,
    ) -> "Assistant":
        """An assistant by the settings of the environment, with what is given here on top.

        The corpus that comes with citewise is indexed at its first use; `on_progress(done, total, what)` is told how
        far it is. Raises SettingsError or CorpusError.
        """
        return cls.from_settings(load_settings(home=home, corpus=corpus, writer=writer), on_progress=on_progress)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        on_progress: Callable[[int, int, str], object] | None = None,
        connect: Connect | None = None,
    ) -> "Assistant":
        """An assistant by `settings` alone. `connect` replaces what makes the calls to a chat model."""
        pick = pick_writer(settings)
        embedder, settings = build_embedder(settings), pick.settings
        # The corpus is opened below: it is asked for words once something is sent.
        models = guarded(settings, knows=lambda word: is_known(word, idf=corpus.keyword.idf), connect=connect)
        writer = build_writer(settings, models=models)
        corpus = ensure_corpus(settings.home, settings.corpus, embedder=embedder, on_progress=on_progress)
        return cls(
            corpus=corpus,
            embedder=embedder,
            writer=writer,
            k=settings.k,
            row_writer=build_row_writer(settings, models=models),
            deadline=settings.deadline,
            about_writer=f"{pick.why}. {model_warning(settings) or ''}".strip(),
            rewriter=build_rewriter(settings, models=models),
            samples=settings.samples,
            reviser=build_reviser(settings, models=models),
            judge=build_judge(settings, models=models),
            reranker=build_reranker(settings, embedder=embedder),
            drops_unsupported=settings.unsupported == "drop",
        )

    @property
    def writer_name(self) -> str:
        """Who writes: "extractive", "chat" or "local"."""
        return self._writer.name

    @property
    def model(self) -> str | None:
        """The chat model's name, None without one."""
        return self._writer.model

    def ask(self, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None) -> Answer:
        """The checked answer to `question`, asked behind the turns of `history`, oldest first.

        Only papers that pass `filters` are read; without them, those that the question itself names ("papers by ...").
        `Filters()` reads all.
        """
        for event in self.stream(question, history=history, filters=filters):
            if isinstance(event, Finished):
                return event.answer
        raise AssertionError("the stream of an answer ends with Finished")

    def stream(self, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None) -> Iterator[Event]:
        """The same as it comes: Retrieved, TextPart and Cited, then one Finished. Closing it stops the model's call.

        Raises InputError for an empty question or one of more than 4,000 characters.
        """
        events = answer_question(
            _checked(question),
            history=history,
            corpus=self.corpus,
            embedder=self._embedder,
            retriever=self._retriever,
            writer=self._writer,
            row_writer=self._row_writer,
            k=self._k,
            deadline=self._deadline,
            filters=filters,
            rewriter=self._rewriter,
            samples=self._samples,
            reviser=self._reviser,
            judge=self._judge,
            drops_unsupported=self._drops_unsupported,
        )
        return observed(events)

    def search(self, query: str, *, k: int | None = None, filters: Filters | None = None) -> tuple[ScoredPaper, ...]:
        """The `k` best papers for `query`, best first, with the score of each stage. `filters` are as for `ask`."""
        clean = _checked(query)
        return self._retriever.search(clean, k=k or self._k, allowed=self.scope(clean, filters=filters).allowed)

    def scope(self, question: str, *, filters: Filters | None = None) -> Scope:
        """Which papers `ask` and `search` would search, and a note that says so."""
        return scope_question(_checked(question), corpus=self.corpus, filters=filters)

    def example_questions(self, *, n: int = 4) -> tuple[str, ...]:
        """Up to `n` questions that the corpus can answer, spread over it."""
        rows = range(0, len(self.corpus), max(1, len(self.corpus) // (3 * n)))
        questions = (_example_question(self.corpus.paper(row)) for row in rows)
        return tuple(question for question in questions if question)[:n]


def is_known(word: str, *, idf: Callable[[str], float]) -> bool:
    """Whether an abstract holds `word`, told by the `idf` of the keyword index: an unknown term has the highest."""
    terms = analyze(word)
    return not terms or idf(terms[0]) < idf("\0")


def _example_question(paper: Paper) -> str | None:
    """A question about a paper whose title begins with the name of what it proposes."""
    named = _TITLE_NAME.match(paper.title)
    return f"What is {named.group(1)}?" if named else None


def _checked(question: str) -> str:
    clean = re.sub(r"[\ud800-\udfff]", "\ufffd", question).strip()
    if not clean:
        raise InputError("The question is empty.", fix="Ask something, for example: What are memory traces?")
    if len(clean) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(clean):,} characters.", fix=f"Ask in at most {MAX_QUESTION_CHARS:,} characters."
        )
    return clean

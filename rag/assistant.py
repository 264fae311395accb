"""citewise from Python: an assistant opened on a home and a corpus, which answers, searches, adds and removes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from rag.answerable import papers_for
from rag.answering import Writer, answer_question
from rag.building import Progress
from rag.corpus import Corpus
from rag.domain import Answer, Event, Finished, Paper, ScoredPaper, Turn, WriterChoice
from rag.embedding import Embedder
from rag.errors import InputError
from rag.filters import Filters
from rag.followup import Rewriter
from rag.ingest import CorpusSummary, ensure_corpus, ingest_files, ingest_papers, remove_papers
from rag.ingest_report import IngestReport
from rag.judging import Judge
from rag.keyword import analyze
from rag.observing import observed
from rag.options import AskOptions
from rag.picking import pick_writer
from rag.revising import Reviser
from rag.scoping import Scope, scope_question
from rag.served import ServedCorpus
from rag.settings import Settings, load_settings
from rag.suggestions import Suggestion, example_question, follow_up_questions
from rag.wiring import (
    Connect,
    build_chroma_server,
    build_embedder,
    build_embedding_endpoint,
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
_VARIANTS = 64
"""Sets of options that are kept ready."""


class Assistant:
    """Answers questions about one corpus. Safe to use from several threads."""

    def __init__(
        self,
        *,
        served: ServedCorpus,
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
        drops_unsupported: bool = False,
        vary: "Callable[[AskOptions], Assistant] | None" = None,
    ) -> None:
        self._served, self._embedder, self._writer, self._k = served, embedder, writer, k
        self._row_writer, self._rewriter, self._samples = row_writer, rewriter, samples
        self._reviser, self._judge, self._drops_unsupported = reviser, judge, drops_unsupported
        self._deadline, self.about_writer, self._vary = deadline, about_writer, vary

    @classmethod
    def open(
        cls,
        *,
        home: Path | None = None,
        corpus: str | None = None,
        writer: WriterChoice | None = None,
        on_progress: Progress | None = None,
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
        on_progress: Progress | None = None,
        connect: Connect | None = None,
    ) -> "Assistant":
        """An assistant by `settings` alone. `connect` replaces what makes the calls to a chat model."""
        embedder = build_embedder(settings)
        corpus = ensure_corpus(
            settings.home,
            settings.corpus,
            embedder=embedder,
            on_progress=on_progress,
            server=build_chroma_server(settings),
        )
        served = ServedCorpus(
            corpus,
            embedder=embedder,
            reranker=build_reranker(settings, embedder=embedder),
            keyword_factor=settings.keyword_factor,
        )
        return cls._assembled(settings, served, embedder=embedder, connect=connect)

    @classmethod
    def _assembled(
        cls, settings: Settings, served: ServedCorpus, *, embedder: Embedder, connect: Connect | None
    ) -> "Assistant":
        """An assistant on what is open already; its variants (see `with_options`) are made likewise, each once."""

        def knows(word: str) -> bool:
            return is_known(word, idf=served.current.corpus.keyword.idf)

        @lru_cache(maxsize=_VARIANTS)
        def vary(options: AskOptions) -> Assistant:
            varied = options.applied_to(settings)
            build_embedding_endpoint(varied)  # raises where private questions would leave to be embedded
            return cls._assembled(varied, served, embedder=embedder, connect=connect)

        pick = pick_writer(settings)
        chosen = pick.settings
        models = guarded(chosen, knows=knows, connect=connect)
        return cls(
            served=served,
            embedder=embedder,
            writer=build_writer(chosen, models=models),
            k=chosen.k,
            row_writer=build_row_writer(chosen, models=models),
            deadline=chosen.deadline,
            about_writer=f"{pick.why}. {model_warning(chosen) or ''}".strip(),
            rewriter=build_rewriter(chosen, models=models),
            samples=chosen.samples,
            reviser=build_reviser(chosen, models=models),
            judge=build_judge(chosen, models=models),
            drops_unsupported=chosen.unsupported == "drop",
            vary=vary,
        )

    @property
    def corpus(self) -> Corpus:
        """The generation of the corpus that is asked now."""
        return self._served.current.corpus

    def refresh(self) -> bool:
        """Goes over to what was ingested since; answers that are being made keep what they began with.

        Costs one look at a file where nothing was; whether there was is returned.
        """
        return self._served.refresh()

    def add_files(self, paths: Sequence[Path], *, on_progress: Progress | None = None) -> IngestReport:
        """Adds the papers of files to the corpus, as `rag.ingest.ingest_files`, and goes over to what it is then."""
        report = ingest_files(self._home, self.corpus.name, paths, embedder=self._embedder, on_progress=on_progress)
        self.refresh()
        return report

    def add_papers(self, papers: Iterable[Paper], *, on_progress: Progress | None = None) -> IngestReport:
        """The same for papers that are at hand, as `rag.ingest.ingest_papers`."""
        report = ingest_papers(self._home, self.corpus.name, papers, embedder=self._embedder, on_progress=on_progress)
        self.refresh()
        return report

    def remove_papers(self, paper_ids: Iterable[str], *, on_progress: Progress | None = None) -> CorpusSummary:
        """Takes papers out of the corpus, as `rag.ingest.remove_papers`, and goes over to what it is then."""
        left = remove_papers(self._home, self.corpus.name, paper_ids, embedder=self._embedder, on_progress=on_progress)
        self.refresh()
        return left

    @property
    def _home(self) -> Path:
        return self.corpus.folder.parents[2]

    def with_options(self, options: AskOptions) -> "Assistant":
        """This assistant with other options, on the same open corpus. Making one takes some milliseconds, once.

        Raises SettingsError where the options cannot be used together with the settings.
        """
        return self._vary(options) if self._vary and options != AskOptions() else self

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
        corpus, retriever = self._served.current
        events = answer_question(
            _checked(question),
            history=history,
            corpus=corpus,
            embedder=self._embedder,
            retriever=retriever,
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
        corpus, retriever = self._served.current
        allowed = scope_question(clean, corpus=corpus, filters=filters).allowed
        return retriever.search(clean, k=k or self._k, allowed=allowed)

    def scope(self, question: str, *, filters: Filters | None = None) -> Scope:
        """Which papers `ask` and `search` would search, and a note that says so."""
        return scope_question(_checked(question), corpus=self.corpus, filters=filters)

    def example_questions(self, *, n: int = 4) -> tuple[str, ...]:
        """Up to `n` questions that the corpus can answer, spread over it."""
        corpus = self.corpus
        rows = range(0, len(corpus), max(1, len(corpus) // (3 * n)))
        candidates = (example_question(corpus.paper(row)) for row in rows)
        return self._answerable([candidate for candidate in candidates if candidate], n=n)

    def follow_ups(self, answer: Answer, *, history: Sequence[Turn] = (), n: int = 3) -> tuple[str, ...]:
        """Up to `n` questions to ask behind `answer` that the corpus can answer; none of those asked already.

        Where the answer asks back, they are its options.
        """
        if answer.outcome == "needs_detail":
            return answer.options
        asked = [answer.question, answer.searched, *(turn.question for turn in history)]
        return self._answerable(follow_up_questions(answer, asked=asked), n=n)

    def _answerable(self, candidates: Iterable[Suggestion], *, n: int) -> tuple[str, ...]:
        """The first `n` questions that pass the test of `ask` itself, and find the paper that they are about."""
        corpus, retriever = self._served.current
        passed = (
            suggestion.question
            for suggestion in candidates
            if suggestion.paper_id
            in papers_for(suggestion.question, corpus=corpus, embedder=self._embedder, retriever=retriever)
        )
        return tuple(islice(passed, n))


def is_known(word: str, *, idf: Callable[[str], float]) -> bool:
    """Whether an abstract holds `word`, told by the `idf` of the keyword index: an unknown term has the highest."""
    terms = analyze(word)
    return not terms or idf(terms[0]) < idf("\0")


def _checked(question: str) -> str:
    clean = re.sub(r"[\ud800-\udfff]", "\ufffd", question).strip()
    if not clean:
        raise InputError("The question is empty.", fix="Ask something, for example: What are memory traces?")
    if len(clean) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(clean):,} characters.", fix=f"Ask in at most {MAX_QUESTION_CHARS:,} characters."
        )
    return clean

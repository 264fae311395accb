"""Whether a corpus answers a question, told by the test that answering itself makes, before anything is written."""

from rag.abstention import bears_on
from rag.corpus import Corpus
from rag.embedding import Embedder
from rag.evidence import find_evidence
from rag.questions import read_question
from rag.retrieval import HybridRetriever

PAPERS_FOR = 2
"""A question about a paper is sure of it where it is among so many."""


def papers_for(
    question: str, *, corpus: Corpus, embedder: Embedder, retriever: HybridRetriever, k: int = PAPERS_FOR
) -> tuple[str, ...]:
    """The ids of the `k` papers that would be read for `question`, best first; none where the corpus has no answer."""
    asked, retrieved = read_question(question), retriever.search(question, k=k)
    sources = find_evidence(asked, retrieved, corpus=corpus, embedder=embedder)
    answers = bears_on(asked, sources, retrieved=retrieved, idf=corpus.keyword.idf)
    return tuple(hit.paper.paper_id for hit in retrieved) if answers else ()

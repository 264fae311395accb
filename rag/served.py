"""The generation of a corpus that is asked, and its change for a newer one while questions are being answered."""

import logging
import threading
from typing import NamedTuple

from rag.corpus import Corpus
from rag.corpus_folder import CorpusFolder
from rag.embedding import Embedder
from rag.recovery import is_servable
from rag.reranking import Reranker
from rag.retrieval import HybridRetriever

logger = logging.getLogger(__name__)


class Opened(NamedTuple):
    """A generation that is open, and what searches it."""

    corpus: Corpus
    retriever: HybridRetriever


class ServedCorpus:
    """Holds the generation that is asked. `current` never changes under who holds what it gave.

    Safe to use from several threads.
    """

    def __init__(
        self, corpus: Corpus, *, embedder: Embedder, reranker: Reranker | None = None, keyword_factor: float = 1.0
    ) -> None:
        self._embedder, self._reranker, self._keyword_factor = embedder, reranker, keyword_factor
        self.current = self._open(corpus)
        self._folder = CorpusFolder(corpus.folder.parents[2], corpus.name)
        self._stamp = self._folder.stamp()
        self._replaced: Opened | None = None
        self._lock = threading.Lock()

    def refresh(self) -> bool:
        """Opens the generation that was published since, if there is one; else this costs one look at a file.

        While one thread opens it, the others go on with what is open. One that cannot be served is logged and left.
        """
        if self._folder.stamp() == self._stamp or not self._lock.acquire(blocking=False):
            return False
        try:
            stamp = self._folder.stamp()
            changed = stamp != self._stamp and self._take_over()
            self._stamp = stamp
            return changed
        finally:
            self._lock.release()

    def _take_over(self) -> bool:
        manifest, held = self._folder.current(), self.current.corpus.manifest
        if manifest is None or manifest.generation == held.generation:
            return False
        if (manifest.model, manifest.dimension) != (held.model, held.dimension) or not is_servable(
            self._folder, manifest
        ):
            logger.warning(
                "generation %d of corpus %s cannot be served by this process: start it again",
                manifest.generation,
                self._folder.name,
            )
            return False
        place = self._folder.generation(manifest.generation)
        server = self.current.corpus.server
        opened = self._open(Corpus(place, name=self._folder.name, manifest=manifest, server=server))
        if self._replaced is not None:
            self._replaced.corpus.close()  # searching takes milliseconds: no question is still at it
        self._replaced, self.current = self.current, opened
        logger.info("corpus %s: generation %d, %d papers", self._folder.name, manifest.generation, manifest.papers)
        return True

    def _open(self, corpus: Corpus) -> Opened:
        retriever = HybridRetriever(
            corpus=corpus, embedder=self._embedder, reranker=self._reranker, keyword_factor=self._keyword_factor
        )
        retriever.search("warm up", k=1)  # loads the model and the indexes, for which no question should wait
        return Opened(corpus, retriever)

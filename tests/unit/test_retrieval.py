"""The hybrid retriever and its LlamaIndex face, over a small corpus in memory."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.corpus import ChunkHits, nearest_exact
from rag.domain import Paper, ScoredPaper
from rag.embedding import Vectors
from rag.keyword import KeywordIndex, analyze
from rag.reranking import with_stage
from rag.retrieval import CALLED, HybridRetriever
from rag.sentences import split_sentences
from tests.builders import paper

PAPERS = (
    paper("traces", title="Memory Traces", abstract="Memory traces average observations. They need less data."),
    paper("sit", title="Satisficing Alignment", abstract="SITAlign aligns at inference. It gains 22.3% on rewards."),
    paper("drift", title="Preference Drift", abstract="NS-DPO weighs preferences by time. Rewards drift."),
)


class HashEmbedder:
    """Unit vectors of hashed terms: texts that share terms are near."""

    model_id = "hash"
    dimension = 512
    batch_size = 128

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for term in analyze(text):
                vectors[row, int.from_bytes(hashlib.sha256(term.encode()).digest()[:2]) % self.dimension] += 1
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class MemoryCorpus:
    """What the retriever uses of a Corpus. Each sentence is a chunk; of these the first `reach` can be found."""

    def __init__(self, papers: Sequence[Paper], *, reach: int | None = None) -> None:
        self._papers = papers
        spans = [split_sentences(item.abstract) for item in papers]
        sentences = [item.abstract[a:b] for item, parts in zip(papers, spans, strict=True) for a, b in parts]
        self.sentence_starts = np.cumsum([0, *map(len, spans)])
        vectors = HashEmbedder().embed(sentences)
        self.all_sentence_vectors = vectors.astype(np.float16)
        self._chunks = vectors[:reach]
        self._chunk_papers = np.repeat(np.arange(len(papers), dtype=np.int32), list(map(len, spans)))
        self.keyword = KeywordIndex.build(papers)

    def __len__(self) -> int:
        return len(self._papers)

    def paper(self, row: int) -> Paper:
        return self._papers[row]

    def nearest_chunks(self, vector: Vectors, *, n: int, allowed: NDArray[np.bool_] | None = None) -> ChunkHits:
        if not len(self._chunks):
            return ChunkHits(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
        hits = nearest_exact(self._chunks, vector, n=len(self._chunks))
        rows = self._chunk_papers[hits.rows]
        kept = np.flatnonzero(allowed[rows] if allowed is not None else np.ones(len(rows)))[:n]
        return ChunkHits(rows[kept], hits.scores[kept])


def retriever(papers: Sequence[Paper] = PAPERS, *, reach: int | None = None) -> HybridRetriever:
    return HybridRetriever(corpus=MemoryCorpus(papers, reach=reach), embedder=HashEmbedder())  # type: ignore[arg-type]


def test_the_paper_that_the_question_names_comes_first() -> None:
    found = retriever().search("How much does SITAlign gain on rewards?", k=3)
    assert found[0].paper.paper_id == "sit"


def test_each_paper_comes_once_best_first_with_scores_in_range() -> None:
    found = retriever().search("preferences rewards memory data", k=10)
    assert sorted(scored.paper.paper_id for scored in found) == ["drift", "sit", "traces"]
    scores = [scored.score for scored in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_no_more_papers_than_asked() -> None:
    assert len(retriever().search("rewards", k=2)) == 2


def test_the_scores_of_all_stages_are_kept() -> None:
    best = retriever().search("SITAlign rewards", k=1)[0]
    assert best.stages["fused"] == best.score
    assert 0 < best.stages["dense"] <= 1
    assert best.stages["sentence"] == pytest.approx(best.stages["dense"], abs=1e-3)
    assert best.stages["keyword"] > 1
    assert 0 < best.stages["coverage"] < 1


def test_a_paper_that_only_vectors_found_has_no_keyword_score() -> None:
    stages = retriever().search("SITAlign", k=3)[2].stages
    assert "keyword" not in stages
    assert "dense" in stages


def test_a_paper_that_only_words_found_has_no_dense_score() -> None:
    found = {scored.paper.paper_id: scored for scored in retriever(reach=2).search("SITAlign", k=3)}
    assert "dense" not in found["sit"].stages
    assert found["sit"].stages["sentence"] > 0
    assert found["sit"].score > found["traces"].score


def test_papers_that_are_not_allowed_are_never_found() -> None:
    allowed = np.array([True, False, True])
    found = retriever().search("How much does SITAlign gain on rewards?", k=3, allowed=allowed)
    assert {scored.paper.paper_id for scored in found} == {"traces", "drift"}
    assert retriever().search("SITAlign", k=3, allowed=np.zeros(3, dtype=np.bool_)) == ()


@pytest.mark.parametrize("query", ["", " \n"])
def test_an_empty_query_finds_nothing(query: str) -> None:
    assert retriever().search(query, k=3) == ()


def test_a_query_of_stop_words_is_answered_by_vectors_alone() -> None:
    found = retriever().search("what is the", k=3)
    assert len(found) == 3
    assert all("keyword" not in scored.stages for scored in found)


def test_an_empty_corpus_finds_nothing() -> None:
    assert retriever(()).search("memory", k=3) == ()


def test_papers_of_equal_score_keep_the_order_of_the_corpus() -> None:
    twins = [paper(str(number)) for number in range(6)]
    found = retriever(twins).search("memory traces", k=4)
    assert [scored.paper.paper_id for scored in found] == ["0", "1", "2", "3"]


def test_a_paper_without_sentences_is_judged_by_its_words() -> None:
    found = retriever([paper("bare", title="SITAlign", abstract=""), *PAPERS]).search("SITAlign", k=4)
    assert {"bare", "sit"} == {scored.paper.paper_id for scored in found[:2]}


def test_llamaindex_gets_papers_as_nodes_and_its_postprocessors_run() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

    from rag.retrieval_llamaindex import CitewiseRetriever

    class Reversed(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            assert query_bundle is not None
            assert query_bundle.query_str == "SITAlign rewards"
            return nodes[::-1]

    plain = CitewiseRetriever(retriever(), k=2).retrieve("SITAlign rewards")
    assert [node.node.node_id for node in plain] == ["sit", "drift"]
    assert plain[0].node.metadata["title"] == "Satisficing Alignment"
    assert plain[0].node.metadata["score_keyword"] > 0
    assert plain[0].node.get_content(MetadataMode.LLM).count("score_") == 0
    reranked = CitewiseRetriever(retriever(), k=2, fetch=3, postprocessors=[Reversed()]).retrieve("SITAlign rewards")
    assert [node.node.node_id for node in reranked] == ["traces", "drift"]


class LastFirst:
    """A reranker that turns the order round."""

    name = "last"

    def rerank(self, query: str, papers: Sequence[ScoredPaper]) -> tuple[ScoredPaper, ...]:
        return tuple(with_stage(scored, self.name, place) for place, scored in enumerate(papers))[::-1]


def test_a_reranker_orders_the_first_papers_anew_also_those_beyond_k() -> None:
    plain = retriever().search("SITAlign rewards", k=3)
    corpus = MemoryCorpus(PAPERS)
    reranking = HybridRetriever(corpus=corpus, embedder=HashEmbedder(), reranker=LastFirst())  # type: ignore[arg-type]
    found = reranking.search("SITAlign rewards", k=2)
    assert [scored.paper for scored in found] == [scored.paper for scored in plain[::-1]][:2]
    assert [scored.score for scored in found] == [scored.score for scored in plain[::-1]][:2]
    assert found[0].stages["last"] == 2


def test_llamaindex_postprocessors_rerank_and_what_they_drop_comes_behind() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle

    from rag.retrieval_llamaindex import PostprocessorReranker, load_postprocessor

    class OnlyTheLast(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            assert query_bundle is not None
            assert query_bundle.query_str == "SITAlign rewards"
            return [NodeWithScore(node=nodes[-1].node, score=7.0)]

    papers = retriever().search("SITAlign rewards", k=3)
    found = PostprocessorReranker(OnlyTheLast()).rerank("SITAlign rewards", papers)
    assert [scored.paper.paper_id for scored in found] == ["traces", "sit", "drift"]
    assert found[0].stages["rerank"] == 7.0
    assert found[0].score == papers[-1].score
    assert found[1:] == papers[:2]
    loaded = load_postprocessor("llama_index.core.postprocessor:LongContextReorder")
    assert len(PostprocessorReranker(loaded).rerank("SITAlign rewards", papers)) == 3


def test_citewises_rerankers_work_on_llamaindex_nodes() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import NodeWithScore, TextNode

    from rag.retrieval_llamaindex import RerankerPostprocessor

    nodes = [NodeWithScore(node=TextNode(id_=name, text=f"Text {name}."), score=0.5) for name in "abc"]
    reranked = RerankerPostprocessor(LastFirst()).postprocess_nodes(nodes, query_str="any")
    assert [node.node.node_id for node in reranked] == ["c", "b", "a"]
    assert RerankerPostprocessor(LastFirst()).postprocess_nodes(nodes) == nodes


def test_a_paper_scores_higher_where_it_is_called_by_the_name_in_its_title() -> None:
    papers = (
        paper("guard", title="Agents with a shield", abstract="A shield guards agents. Its shield has limits."),
        paper("routes", title="SHIELD: Routing of Vehicles", abstract="We route vehicles by sparse decoders."),
    )
    searched = HybridRetriever(corpus=MemoryCorpus(papers), embedder=HashEmbedder())  # type: ignore[arg-type]
    before, called = (
        {found.paper.paper_id: found.score for found in searched.search(query, k=2)}
        for query in ("What is a shield?", "What is SHIELD?")
    )
    assert called["routes"] == pytest.approx(min(1, before["routes"] + CALLED))
    assert called["guard"] == before["guard"]

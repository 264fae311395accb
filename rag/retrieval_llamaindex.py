"""The retriever and the reranker as LlamaIndex ones, and LlamaIndex's node postprocessors as rerankers.

Importing this module imports llama_index.core, which takes two seconds.
"""

from collections.abc import Sequence
from importlib import import_module

from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import PrivateAttr

from rag.domain import Paper, ScoredPaper
from rag.errors import SettingsError
from rag.reranking import Reranker, with_stage
from rag.retrieval import HybridRetriever


class CitewiseRetriever(BaseRetriever):
    """Papers as nodes: the id is the paper's, the text its abstract, the score in 0..1, best first.

    `postprocessors` are LlamaIndex's, rerankers for example. They run in order over `fetch` papers (by default `k`),
    and the first `k` of what they leave are returned.
    """

    def __init__(
        self,
        retriever: HybridRetriever,
        *,
        k: int = 8,
        fetch: int | None = None,
        postprocessors: Sequence[BaseNodePostprocessor] = (),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._retriever, self._k, self._fetch = retriever, k, max(k, fetch or k)
        self._postprocessors = tuple(postprocessors)
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = [to_node(scored) for scored in self._retriever.search(query_bundle.query_str, k=self._fetch)]
        for postprocessor in self._postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query_bundle)
        return nodes[: self._k]


def to_node(scored: ScoredPaper) -> NodeWithScore:
    """A paper as a node. Its metadata are title, authors, year, url and the stages' scores.

    Only the title is shown to models and embedded, before the abstract.
    """
    paper = scored.paper
    metadata: dict[str, object] = {
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "url": paper.url,
    }
    metadata |= {f"score_{stage}": value for stage, value in scored.stages.items()}
    hidden = [key for key in metadata if key != "title"]
    node = TextNode(
        id_=paper.paper_id,
        text=paper.abstract,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=scored.score)


class PostprocessorReranker:
    """A LlamaIndex node postprocessor as a reranker of citewise.

    What it leaves comes first, in its order and with its scores as the stage "rerank"; what it drops comes behind, as
    it was, since rerankers keep only a few by default.
    """

    name = "rerank"

    def __init__(self, postprocessor: BaseNodePostprocessor) -> None:
        self._postprocessor = postprocessor

    def rerank(self, query: str, papers: Sequence[ScoredPaper]) -> tuple[ScoredPaper, ...]:
        """See `rag.reranking.Reranker.rerank`. What the postprocessor raises is not caught."""
        left = self._postprocessor.postprocess_nodes([to_node(scored) for scored in papers], query_str=query)
        by_id = {scored.paper.paper_id: scored for scored in papers}
        kept = [
            with_stage(by_id.pop(node.node.node_id), self.name, node.score or 0.0)
            for node in left
            if node.node.node_id in by_id
        ]
        return (*kept, *by_id.values())


class RerankerPostprocessor(BaseNodePostprocessor):
    """A reranker of citewise, such as `rag.reranking.MaxSimReranker`, for the nodes of any LlamaIndex program.

    A node's text is read as an abstract and its metadata's "title" as the title. Scores are those that came.
    """

    _reranker: Reranker = PrivateAttr()

    def __init__(self, reranker: Reranker) -> None:
        super().__init__()
        self._reranker = reranker

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        by_id = {node.node.node_id: node for node in nodes}
        papers = [
            ScoredPaper(
                Paper(node_id, str(node.metadata.get("title") or ""), (), node.node.get_content(MetadataMode.NONE)),
                node.score or 0.0,
                {},
            )
            for node_id, node in by_id.items()
        ]
        return [by_id[scored.paper.paper_id] for scored in self._reranker.rerank(query_bundle.query_str, papers)]


def load_postprocessor(place: str) -> BaseNodePostprocessor:
    """The node postprocessor that `place` names as module:Class, made without arguments.

    Raises SettingsError that says which part of it is wrong.
    """
    module_name, _, class_name = place.partition(":")
    try:
        made = getattr(import_module(module_name), class_name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise SettingsError(
            f"CITEWISE_RERANK is {place}, which cannot be used: {error}.",
            fix="Set it to off, to maxsim, or to a LlamaIndex node postprocessor as module:Class.",
        ) from error
    if not isinstance(made, BaseNodePostprocessor):
        raise SettingsError(
            f"CITEWISE_RERANK is {place}, which is no node postprocessor of LlamaIndex.",
            fix="Name a class that derives from BaseNodePostprocessor.",
        )
    return made

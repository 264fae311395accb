"""The retriever as a LlamaIndex one: it works wherever a LlamaIndex program takes a retriever.

Importing this module imports llama_index.core, which takes two seconds.
"""

from collections.abc import Sequence

from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag.domain import ScoredPaper
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

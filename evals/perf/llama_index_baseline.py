"""LlamaIndex's own retriever over a corpus's chunks and vectors, with the corpus's own embedding model.

Importing this module imports llama_index.core, which takes two seconds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import PrivateAttr

from rag.corpus import Corpus
from rag.embedding import Embedder
from rag.generation import CHUNKS, VECTORS


class _OurEmbedding(BaseEmbedding):
    """The corpus's embedding model as one of LlamaIndex."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, **options: Any) -> None:
        super().__init__(model_name=embedder.model_id, **options)
        self._embedder = embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        embedding: list[float] = self._embedder.embed([query])[0].tolist()
        return embedding

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def llama_index_retriever(
    corpus: Corpus, *, embedder: Embedder, k: int, most: int
) -> Callable[[str], list[NodeWithScore]]:
    """`VectorStoreIndex(...).as_retriever(similarity_top_k=k)` over the first `most` chunks, in LlamaIndex's memory.

    The chunks' stored vectors are used; a query is embedded at each call.
    """
    chunks = np.load(corpus.folder / CHUNKS, mmap_mode="r", allow_pickle=False)[:most]
    vectors = np.load(corpus.folder / VECTORS, mmap_mode="r", allow_pickle=False)[:most]
    row, nodes = -1, []
    for number, (paper_row, start, end) in enumerate(chunks.tolist()):
        if paper_row != row:
            row, paper = paper_row, corpus.paper(paper_row)
        nodes.append(TextNode(id_=str(number), text=paper.abstract[start:end], embedding=vectors[number].tolist()))
    index = VectorStoreIndex(nodes, embed_model=_OurEmbedding(embedder))
    return index.as_retriever(similarity_top_k=k).retrieve

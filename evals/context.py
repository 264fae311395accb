"""What the evidence context keeps of gold evidence, and what it costs: `python -m evals.context GOLD PAPERS`."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rag.context import source_text
from rag.domain import Source
from rag.embedding import MiniLMEmbedder
from rag.evidence import find_evidence
from rag.ingest import ensure_corpus, ingest_files
from rag.questions import read_question
from rag.retrieval import HybridRetriever
from rag.tokens import count_tokens

K = 8


def asked(gold: Path) -> Iterator[tuple[str, Sequence[Mapping[str, str]]]]:
    """The answerable questions, their variants, and follow-up turns in standalone form, with their gold quotes."""
    for item in map(json.loads, gold.read_text("utf-8").splitlines()):
        if item["type"] == "followup":
            yield from ((turn["standalone"], turn["evidence"]) for turn in item["turns"] if turn["answerable"])
        elif item["answerable"]:
            for question in (item["question"], *item.get("variants", {}).values()):
                yield question, item["evidence"]


def measure(sources: Sequence[Source], quotes: Sequence[Mapping[str, str]]) -> Counter[str]:
    """Counts of one question: gold quotes, those whose paper was retrieved and those kept; tokens of both contexts."""
    texts = {source.paper.paper_id: source_text(source, context="evidence") for source in sources}
    return Counter(
        quotes=len(quotes),
        retrieved=sum(quote["paper"] in texts for quote in quotes),
        kept=sum(quote["quote"] in texts.get(quote["paper"], "") for quote in quotes),
        evidence_tokens=sum(map(count_tokens, texts.values())),
        whole_tokens=sum(count_tokens(source.paper.abstract) for source in sources),
    )


def main() -> None:
    """Prints the share of gold quotes that the evidence context of 8 papers keeps, and its share of the tokens."""
    gold, papers = Path(sys.argv[1]), Path(sys.argv[2])
    embedder = MiniLMEmbedder()
    total: Counter[str] = Counter()
    questions = 0
    with tempfile.TemporaryDirectory() as home:
        ingest_files(Path(home), "context", [papers], embedder=embedder)
        corpus = ensure_corpus(Path(home), "context", embedder=embedder)
        retriever = HybridRetriever(corpus=corpus, embedder=embedder)
        for question, quotes in asked(gold):
            found = retriever.search(question, k=K)
            sources = find_evidence(read_question(question), found, corpus=corpus, embedder=embedder)
            total += measure(sources, quotes)
            questions += 1
        corpus.close()
    kept, tokens = total["kept"] / total["retrieved"], total["evidence_tokens"] / total["whole_tokens"]
    print(
        f"{questions} questions, {total['quotes']} gold quotes, {total['retrieved']} of them in retrieved papers: "
        f"{kept:.1%} kept, at {tokens:.1%} of the tokens of whole abstracts"
    )


if __name__ == "__main__":
    main()

"""Sentences with a known truth for the support check: WiCE, SciFact, and sentences made from ICML 2025 abstracts."""

import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from evals.perturb import NAME, falsify, paraphrase
from rag.domain import Span
from rag.keyword.analysis import analyze
from rag.sentences import split_sentences
from rag.support.text import SentenceView, tokenize, view_sentences

Idf = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Example:
    """A claim and the sentences it is held against. `full`: they support all of it; `related`: a part of it, or None.

    `group` is what must not be split between training and test: the document that the claim is about.
    """

    claim: str
    abstracts: tuple[str, ...]
    sentences: tuple[SentenceView, ...]
    full: bool
    related: bool | None
    group: str
    kind: str


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    examples: tuple[Example, ...]
    idf: Idf


def document_idf(documents: Iterable[str]) -> Idf:
    """The idf of BM25, ln(1 + (N - n + 0.5) / (n + 0.5)), over whole documents."""
    frequencies: Counter[str] = Counter()
    count = 0
    for document in documents:
        count += 1
        frequencies.update(set(analyze(document)))
    return lambda term: math.log(1 + (count - frequencies[term] + 0.5) / (frequencies[term] + 0.5))


def load_wice(folder: Path) -> Dataset:
    """WiCE dev (Kamoi et al. 2023): Wikipedia claims against the cited page, with its own sentences."""
    rows = [json.loads(line) for line in (folder / "grounding" / "wice_dev.jsonl").read_text("utf-8").splitlines()]
    examples = [
        Example(
            claim=row["claim"],
            abstracts=(),
            sentences=_view(row["evidence"]),
            full=row["label"] == "supported",
            related=row["label"] != "not_supported",
            group=row["meta"]["claim_title"],
            kind=row["label"],
        )
        for row in rows
    ]
    return Dataset("WiCE dev", tuple(examples), document_idf(" ".join(row["evidence"]) for row in rows))


def load_scifact(folder: Path) -> Dataset:
    """SciFact train (Wadden et al. 2020): claims against each cited abstract: SUPPORT, CONTRADICT or neither (NEI)."""
    lines = (folder / "grounding" / "scifact_claims.jsonl").read_text("utf-8").splitlines()
    with gzip.open(folder / "grounding" / "scifact_sentences.jsonl.gz", "rt", encoding="utf-8") as file:
        abstracts = {str(row["doc_id"]): row["abstract"] for row in map(json.loads, file)}
    examples = []
    for claim in map(json.loads, lines):
        for document in map(str, claim["cited_doc_ids"]):
            rationales = claim["evidence"].get(document)
            kind = rationales[0]["label"] if rationales else "NEI"
            sentences = _view(abstracts[document])
            examples.append(
                Example(claim["claim"], (), sentences, kind == "SUPPORT", kind != "NEI", f"scifact {document}", kind)
            )
    return Dataset("SciFact train", tuple(examples), document_idf(map(" ".join, abstracts.values())))


def icml_abstracts(folder: Path) -> list[str]:
    """The abstracts of ICML 2025 that are known."""
    with gzip.open(folder / "icml2025_all.jsonl.gz", "rt", encoding="utf-8") as file:
        return [row["abstract"] for row in map(json.loads, file) if row["abstract"]]


def make_icml(folder: Path, *, seed: int) -> Dataset:
    """Sentences made from ICML 2025 abstracts: true paraphrases, falsified ones, and ones about a similar abstract."""
    abstracts = icml_abstracts(folder)
    rng = random.Random(seed)  # noqa: S311
    idf = document_idf(abstracts)
    similar = _most_similar(abstracts, idf)
    names = sorted({match.group() for text in abstracts for match in [NAME.search(text)] if match})
    examples: list[Example] = []
    for index, abstract in enumerate(abstracts):
        sentences = [s for s in _sentences(abstract) if 8 <= len(s.split()) <= 45]
        for sentence in rng.sample(sentences, min(2, len(sentences))):
            other = abstracts[rng.choice(similar[index])]
            examples += _made(sentence, abstract, other, group=f"icml {index}", names=names, rng=rng)
    return Dataset("ICML 2025, made", tuple(examples), idf)


def _made(
    sentence: str, abstract: str, other: str, *, group: str, names: Sequence[str], rng: random.Random
) -> Iterator[Example]:
    retold = paraphrase(sentence)
    if retold == sentence:
        return

    def example(claim: str, kind: str, *cited: str, full: bool = False, related: bool | None = None) -> Example:
        views = tuple(view for text in cited for view in view_sentences(text))
        return Example(claim, cited, views, full, related, group, kind)

    yield example(retold, "paraphrase", abstract, full=True, related=True)
    for change, changed in falsify(retold, names=names, rng=rng):
        yield example(changed, change, abstract)
    yield example(retold, "similar abstract", other, related=False)
    words, more = retold.rstrip(".").split(), rng.choice(_sentences(other)).rstrip(".").split()
    half = " ".join([*words[: max(6, len(words) // 2)], "and", *more[: max(8, len(more) // 2)]]) + "."
    yield example(half, "half of a similar one", abstract, related=True)
    name, other_name = NAME.search(retold), NAME.search(other)
    if name and other_name and name.group() not in other and other_name.group() not in abstract:
        exchanged = retold.replace(name.group(), other_name.group())
        yield example(exchanged, "name of the other cited", abstract, other)


def _most_similar(abstracts: Sequence[str], idf: Idf, *, most: int = 3, rare: int = 200) -> list[list[int]]:
    """For each abstract those that share most of its terms that at most `rare` abstracts hold, weighted by idf."""
    terms = [set(analyze(text)) for text in abstracts]
    holders: dict[str, list[int]] = {}
    for index, own in enumerate(terms):
        for term in own:
            holders.setdefault(term, []).append(index)
    similar = []
    for index, own in enumerate(terms):
        shared: Counter[int] = Counter()
        for term in sorted(own):
            if len(holders[term]) <= rare:
                for other in holders[term]:
                    shared[other] += idf(term)  # type: ignore[assignment]  # a Counter of weights
        del shared[index]
        similar.append([other for other, _ in shared.most_common(most)])
    return similar


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def _view(sentences: Sequence[str]) -> tuple[SentenceView, ...]:
    return tuple(SentenceView(Span(0, len(sentence)), _tokens(sentence)) for sentence in sentences)


_tokens = lru_cache(maxsize=None)(tokenize)

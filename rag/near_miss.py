"""Questions that come near to a paper but ask what its abstract does not say: a batch size, a data set, a count."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from rag.domain import Paper
from rag.keyword import analyze
from rag.questions import ASKS, Question, read_question
from rag.sentences import split_sentences

_DETAILS = re.compile(
    r"\b(?:learning rates?|batch sizes?|epochs?|optimi[sz]ers?|dropout|weight decay|warm-?up|hyper-?parameters?|layers?"
    r"|gradients?|parameters|hidden (?:units|size)|attention heads|GPUs?|TPUs?|CPUs?|hardware|memory|disk|FLOPs|energy"
    r"|carbon|costs?|prices?|dollars|hours?|milliseconds?|latency|run-?time|frames per second|fps"
    r"|throughput|participants?|annotators?|raters?|patients|crowd ?workers?|user study|seeds?|folds?|p-?values?"
    r"|standard deviations?|confidence intervals?|licen[cs]es?|funding|grants?|affiliations?|universit(?:y|ies)"
    r"|accurac(?:y|ies)|F1|BLEU|ROUGE|perplexity|AUC|word error rates?|batch|budget|vocabulary size|context length)\b",
    re.IGNORECASE,
)
"""What people ask of experiments. An abstract that tells it uses the word; one that does not use it does not tell."""
_HOW_MANY = re.compile(
    r"\bhow many ((?:[\w-]+ ){0,3}?[\w-]+?)"
    r"(?= (?:are|is|was|were|do|does|did|have|has|had|must|can|took|per|in|on|and|of)\b|\?|$)",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=[a-z,;:'’s] )[A-Z][a-z]{3,}\b")
_ENGLISH = re.compile(r"\b(?:[Ww]hat|[Ww]hich|[Hh]ow|[Ww]hy|[Ww]here|[Ww]ho|[Oo]n|of|to|does|did|is|are|the|and)\b")
_ENGLISH_WORDS = 2
_ACRONYM = re.compile(r"[A-Z]+s?")
_SPELLED = 0.8
"""Names this much alike (difflib's ratio) are one name and a typing error."""


def unsaid(question: Question, papers: Sequence[Paper]) -> str | None:
    """What `papers` do not say of what the question asks, as a clause ("does not say ..."); None where they say it."""
    if question.own:  # what the conversation adds is not asked
        question = read_question(question.own)
    text = " ".join(" ".join((paper.title, *paper.authors, paper.venue or "", paper.abstract)) for paper in papers)
    terms = frozenset(analyze(text))
    for detail in _DETAILS.findall(question.english):
        if not frozenset(analyze(detail)) <= terms:
            return _clause(detail)
    for name in _names(question):
        if not terms & frozenset(analyze(name)) and not _is_misspelt(name, text):
            return _clause(name)
    sentences = [paper.abstract[span.start : span.end] for paper in papers for span in split_sentences(paper.abstract)]
    for counted in _HOW_MANY.findall(question.english):
        is_known = bool(terms & frozenset(analyze(counted))) or not _is_misspelt(counted, text)
        if is_known and not any(_counts(sentence, counted) for sentence in sentences):
            return f"does not say how many {counted}"
    return None


def _clause(asked: str) -> str:
    return f"does not mention “{asked}”"


def _names(question: Question) -> Iterator[str]:
    """Names that cannot be written another way: ImageNet and GSM8K, but not POMDP, which a paper may spell out."""
    yield from (name for name in question.names if not _ACRONYM.fullmatch(name))
    is_english = question.english == question.text  # other languages may write common nouns with capitals
    if is_english and len(set(_ENGLISH.findall(question.text))) >= _ENGLISH_WORDS:
        yield from _PROPER.findall(question.text)


def _counts(sentence: str, counted: str) -> bool:
    return ASKS["number"].sentence.search(sentence) is not None and bool(
        frozenset(analyze(counted)) & frozenset(analyze(sentence))
    )


def _is_misspelt(name: str, text: str) -> bool:
    words = {word.lower() for word in re.findall(r"[\w-]+", text)}
    return bool(get_close_matches(name.lower(), words, n=1, cutoff=_SPELLED))

"""Questions that come near to a paper but ask what its abstract does not say: a batch size, a data set, a count."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from rag.domain import Paper
from rag.keyword import analyze
from rag.questions import ASKS, Question, read_question
from rag.sentences import split_sentences

_DETAILS = re.compile(
    r"\b(?:learning rates?|batch sizes?|epochs?|optimi[sz]ers?|dropout|weight decay|warm-?up|hyper-?parameters?|layers?"
    r"|gradients?|parameters|hidden (?:units|size)|attention heads|GPUs?|TPUs?|CPUs?|hardware|memory|disk|FLOPs|energy"
    r"|carbon|costs?|prices?(?! (?:in|for|of|to)\b)|dollars|hours?|milliseconds?|latency|run-?time|fps"
    r"|frames per second|throughput|participants?|annotators?|raters?|patients|crowd ?workers?|user study|seeds?|folds?"
    r"|p-?values?|standard deviations?|confidence intervals?|licen[cs]es?|funding|grants?|affiliations?"
    r"|universit(?:y|ies)|accurac(?:y|ies)|F1|BLEU|ROUGE|perplexity|AUC|word error rates?|batch|budget|vocabulary size"
    r"|context length)\b",
    re.IGNORECASE,
)
"""What people ask of experiments. An abstract that tells it uses the word; one that does not use it does not tell."""
_HOW_MANY = re.compile(
    r"\bhow many ((?:[\w-]+ ){0,3}?[\w-]+?)"
    r"(?= (?:are|is|was|were|do|does|did|have|has|had|must|can|took|per|in|on|and|of)\b|\?|$)",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=[a-z,;:'’s] )[A-Z][a-z]{3,}(?![\w-])")
_ENGLISH = re.compile(r"\b(?:[Ww]hat|[Ww]hich|[Hh]ow|[Ww]hy|[Ww]here|[Ww]ho|[Oo]n|of|to|does|did|is|are|the|and)\b")
_ENGLISH_WORDS = 2
_BRITISH = re.compile(r"is(?=(?:e|es|ed|er|ers|ing|ation|ations)\b)", re.IGNORECASE)
_JOINING = frozenset({"a", "an", "and", "at", "by", "for", "in", "of", "on", "per", "the", "to"})
_UNCOUNTED = frozenset({"training", "time", "memory", "data", "work", "money", "noise", "information"})
_ATTRIBUTE = re.compile(r"\b(?:[Ww]hat|[Ww]hich)\s+(?!(?:AI|ML|NLP|RL|LLM|URL|DOI|API)\b)([A-Z]{3,6})\b(?![-\d])")
"""A measure by its acronym: "What PSNR does ...?"."""


class _Value(NamedTuple):
    """A value that is asked for: what to say where none is given, how questions ask, what a sentence must hold."""

    clause: str
    asked: str
    given: re.Pattern[str]


_DIGITS = re.compile(r"(?<![A-Za-z-])(?<!\d\.)\d")
_PERCENT = re.compile(r"\d\s*\\?\$?(?:%|percent\b|per cent\b)|\b(?:half|third|quarter|fifth|tenth)s?\b", re.IGNORECASE)
_VALUES = (
    _Value(
        "gives no percentage", r"\b(?:what|which|how many) (?:percentage|percent|share|fraction|proportion)\b", _PERCENT
    ),
    _Value("gives no percentage", r"\bin (?:percent|per cent)\b|\bin %", _PERCENT),
    _Value("gives no such number", r"\b(?:to|at) (?:what|which) (?:exact )?(?:number|value|figure)\b", _DIGITS),
    _Value(
        "gives no number for it",
        r"\b(?:what|which) (?:exact )?(?P<what>(?:[\w-]+ )?(?:decay|success|error|sampling|discount|dropout|masking)"
        r" (?:rate|value|factor))\b",
        _DIGITS,
    ),
    _Value(
        "gives no number for it",
        r"\b(?:what|which) (?:exact )?value (?:of|for) (?:the |an? )?"
        r"(?P<what>[\w-]{2,}(?: (?:rate|factor|size|weight))?)\b",
        _DIGITS,
    ),
)
_MODEL = re.compile(
    r"\b(?:which|what) (?!(?:is|are|was|were|do|does)\b)(?:[\w-]+ )?"
    r"(?:LLMs?|(?:language|base) models?|backbones?|(?:image|text) encoders?)\b(?![-\w]| do\b)",
    re.IGNORECASE,
)
_MODEL_NAME = re.compile(
    r"\b(?:GPT|Llama|Qwen|Mistral|Mixtral|Gemma|Gemini|Claude|BERT|RoBERTa|T5|ViT|CLIP|ResNet|Phi|DeepSeek|Vicuna|PaLM"
    r"|Falcon|OPT|Pythia|BLIP|LLaVA|DINO|Stable Diffusion)\b|\b\d+(?:\.\d+)?[BM]\b",
    re.IGNORECASE,
)
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
        if not frozenset(analyze(_american(detail))) <= frozenset(analyze(_american(text))):
            return _clause(detail)
    for attribute in _ATTRIBUTE.findall(question.english):
        if not terms & frozenset(analyze(attribute)) and not _spells_out(attribute, text):
            return _clause(attribute)
    for name in _names(question):
        if not terms & frozenset(analyze(name)) and not _is_misspelt(name, text):
            return _clause(name)
    sentences = [paper.abstract[span.start : span.end] for paper in papers for span in split_sentences(paper.abstract)]
    for value in _VALUES:
        asked = re.search(value.asked, question.english, re.IGNORECASE)
        if asked and not any(value.given.search(sentence) and _shares(asked, sentence) for sentence in sentences):
            return value.clause
    if _MODEL.search(question.english) and not _MODEL_NAME.search(text):
        return "does not name the model"
    for counted in _HOW_MANY.findall(question.english):
        if counted.split()[-1] in _UNCOUNTED:
            continue
        is_known = bool(terms & frozenset(analyze(counted))) or not _is_misspelt(counted, text)
        if is_known and not any(_counts(sentence, counted) for sentence in sentences):
            return f"does not say how many {counted}"
    return None


def _american(text: str) -> str:
    """`text` with the endings of American spelling: optimizer for optimiser."""
    return _BRITISH.sub("iz", text)


def _spells_out(acronym: str, text: str) -> bool:
    """Whether words in a row, but for those that only join them, begin with the letters of `acronym`."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    initials = "".join(word[0] for word in words if word not in _JOINING)
    return acronym.lower() in initials


def _shares(asked: re.Match[str], sentence: str) -> bool:
    """Whether the sentence has a term of what a value is asked for, if that is named."""
    named = frozenset(analyze(asked["what"] or "")) if "what" in asked.re.groupindex else frozenset()
    return not named or bool(named & frozenset(analyze(sentence)))


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

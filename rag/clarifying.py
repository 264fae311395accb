"""Questions that fit too many papers to pick one: they are asked back, once, with options from the corpus."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rag.domain import AskedBack, Label, Paper, Piece, Source, Turn
from rag.keyword import analyze
from rag.questions import Question

WHICH_PAPER = "Which paper do you mean?"
WHICH_SUBJECT = "Papers on what do you mean?"
MAX_OPTIONS = 4
_GENERAL = (
    "paper abstract article study work method approach algorithm framework model technique system idea concept result"
    " finding contribution main key core central major author limitation weakness drawback strength problem challenge"
    " motivation experiment dataset data benchmark baseline evaluation evaluate evaluated code conclusion summary"
    " summarize summarise explain explanation describe description tell talk propose proposed introduce introduced show"
    " do use used happen improve improvement performance good best better new novel novelty important interesting find"
    " found say claim prove achieve train test tested thing anything something more detail details mean know learn"
    " question answer topic about goal aim purpose compare work advantage assumption application apply future give"
    " solve reach score accuracy runtime metric hyperparameter architecture number write wrote written author publish"
    " published link read report reported"
)
"""Words that a question about any paper may have: they do not tell which one."""
_POINTS = re.compile(r"\b(?:what|how|why|who|where|when)\b.*\b(?:it|its|this|that|they|them|their)\b", re.IGNORECASE)
_FEW_TERMS = 2
"""A question of more terms than this says enough to be answered."""
_CROWD = 3
"""So many papers, about as near as each other, are too many to pick one."""
_NEAR = 0.75
"""Share of the best paper's retrieval score from which a paper is about as near."""
_NEAR_IN_RECORDS = 0.5
"""The same for questions for a paper's record, whose answer is a guess where another paper may be meant."""
_SHORT = 3
_WORDS = re.compile(r"[\w-]+|[|.,:;!?]")
_LONGER = 0.6
"""Share of a pair's texts from which three words stand for it: "large language models"."""
_SPLIT = 0.6
"""Share of the papers that terms must divide among them to be offered instead of titles."""


def is_general(question: str) -> bool:
    """Whether nothing in a question tells which paper it is about: "What is the main result?", "What is it about?"."""
    terms = frozenset(analyze(question))
    return terms <= _general() if terms else _POINTS.search(question) is not None


def is_crowded(question: Question, sources: Sequence[Source]) -> bool:
    """Whether a question says so little that many papers fit it about equally well: "Tell me about agents"."""
    about = subject_terms(question)
    if question.names or question.parts or question.many.form != "prose" or not 0 < len(about) <= _FEW_TERMS:
        return False
    return len(_crowd(question, sources)) >= _CROWD


def content_terms(text: str) -> frozenset[str]:
    """The terms of `text` without those that any question may have."""
    return frozenset(analyze(text)) - _general()


def subject_terms(question: Question) -> frozenset[str]:
    """The terms that tell what a question is about, without those that any question may have."""
    return frozenset(analyze(question.record.subject if question.record else question.english)) - _general()


def is_about(question: Question, source: Source) -> bool:
    """Whether a paper holds all terms that tell what the question is about; there must be one."""
    about = subject_terms(question)
    return bool(about) and about <= frozenset(analyze(f"{source.paper.title} {source.paper.abstract}"))


def may_ask_back(question: Question, sources: Sequence[Source], *, history: Sequence[Turn]) -> bool:
    """Whether to ask back: never for a paper twice in a row."""
    if not sources or (history and history[-1].answer.lstrip().startswith(WHICH_PAPER)):
        return False
    return (is_general(question.english) and question.many.form == "prose") or is_crowded(question, sources)


def asked_back_before(history: Sequence[Turn]) -> bool:
    """Whether the last turn asked back, so that the next words answer it."""
    return bool(history) and history[-1].answer.lstrip().startswith((WHICH_PAPER, WHICH_SUBJECT))


def options_of(answer: str) -> tuple[str, ...]:
    """The options of an answer that asked back."""
    return tuple(match[1].strip() for match in re.finditer(r"^\s*-\s+(.+)$", answer, re.MULTILINE))


class Clarifier:
    """Asks back in place of a writer. No model is called."""

    name = "citewise"
    model: str | None = None
    prompt: str | None = None

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float
    ) -> Iterator[Piece]:
        """One question and its options: subjects that divide the papers that fit, or their titles where none do."""
        about = subject_terms(question)
        fitting = _crowd(question, sources) if about else list(sources)
        papers = [source.paper for source in fitting]
        subjects = () if asked_back_before(history) else splitting_terms(papers, besides=about)
        titles = tuple(" ".join(source.paper.label.split()) for source in fitting[:MAX_OPTIONS])
        yield Label(WHICH_SUBJECT if subjects else WHICH_PAPER)
        for place, option in enumerate(subjects or titles):
            yield Label(f"{'' if place else chr(10)}\n- {option}")
        if len(fitting) > len(subjects or titles):
            yield Label("\n\nOr name another.")
        yield AskedBack(subjects or titles)


def splitting_terms(papers: Sequence[Paper], *, besides: frozenset[str]) -> tuple[str, ...]:
    """Up to `MAX_OPTIONS` phrases of titles that divide `papers` among them; () where they do not cover most of these.

    Each is taken for the texts that it adds, and none holds for more than half of them: what all have splits nothing.
    Terms of `besides` are known already.
    """
    if len(papers) <= MAX_OPTIONS + 1:
        return ()
    held = _phrases_of(papers, besides=besides)
    covered: set[int] = set()
    chosen: list[str] = []
    while held and len(chosen) < MAX_OPTIONS:
        phrase = max(held, key=lambda phrase: (len(held[phrase] - covered), -len(held[phrase] & covered), phrase))
        if len(held[phrase] - covered) < 2:
            break
        chosen.append(phrase)
        covered |= held.pop(phrase)
    return tuple(chosen) if len(chosen) > 1 and len(covered) >= _SPLIT * len(papers) else ()


def _phrases_of(papers: Sequence[Paper], *, besides: frozenset[str]) -> dict[str, set[int]]:
    """Pairs of words of titles and which papers, at most half, hold them; three words stand for a pair in them."""
    texts = [" ".join(_WORDS.findall(f"{paper.title} | {paper.abstract}".lower())) for paper in papers]
    titles = [_WORDS.findall(paper.title.lower()) for paper in papers]
    held: dict[str, set[int]] = {}
    for size in (3, 2):
        phrases = {" ".join(words[place : place + size]) for words in titles for place in range(len(words) - size + 1)}
        for phrase in sorted(phrases):
            rows = {row for row, text in enumerate(texts) if phrase in text}
            longer = any(phrase in other and len(held[other]) >= _LONGER * len(rows) for other in held)
            if 2 <= len(rows) <= len(papers) / 2 and not longer and _names_a_subject(phrase.split(), besides=besides):
                held[phrase] = rows
    return held


def _names_a_subject(words: Sequence[str], *, besides: frozenset[str]) -> bool:
    """Whether each word says something that is not known yet, and one of them something that not any paper may say."""
    terms = [frozenset(analyze(word)) for word in words]
    return (
        all(len(word) > _SHORT for word in words)
        and all(found and not found & besides for found in terms)
        and not frozenset().union(*terms) <= _general()
    )


def _crowd(question: Question, sources: Sequence[Source]) -> list[Source]:
    """The papers that hold all that the question is about and are about as near as the nearest.

    Where titles hold all of it, only those are meant: "the paper on memory traces".
    """
    best = max((source.score for source in sources), default=0.0)
    near = _NEAR_IN_RECORDS if question.record else _NEAR
    crowd = [source for source in sources if source.score >= near * best and is_about(question, source)]
    titled = [source for source in crowd if subject_terms(question) <= frozenset(analyze(source.paper.title))]
    return titled or crowd


@cache
def _general() -> frozenset[str]:
    return frozenset(analyze(_GENERAL))

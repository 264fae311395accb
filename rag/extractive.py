"""The writer that needs no model: an answer made of the abstracts' own sentences, each cited."""

from collections.abc import Iterator, Sequence
from math import inf

from rag.domain import Abstained, Cite, Note, Piece, Quote, RankedSentence, Source, Turn
from rag.near_miss import unsaid
from rag.premises import find_correction, write_correction
from rag.questions import Question
from rag.rows import write_list, write_several, write_table

MAX_SENTENCES = 5
MIN_SENTENCES = 2
# On the gold development set, each paper left out of its own fit: vital nugget recall .96 with 3.0 sentences.
LEAST_PROBABILITY = 0.08
LEAST_SHARE = 0.2
"""A further sentence must be at least this share as probable as the best one."""
ALIKE, ALIKE_FROM = 0.85, 0.35
"""Where the third paper's retrieval score is at least this share of the best one's, and that is not low, a question is
on a field and not on a paper: among 1,430 ICML papers, 13 of 17 broad questions are, and none of 111 wordings of those
of the gold development set on a single paper."""
FEWEST_ALIKE, MOST_ALIKE = 3, 6


class ExtractiveWriter:
    """Quotes the sentences that bear most on the question, those of one paper in the order of its abstract."""

    name = "extractive"
    model: str | None = None
    prompt: str | None = None

    def write(
        self, question: Question, *, sources: Sequence[Source], history: Sequence[Turn], until: float = inf
    ) -> Iterator[Piece]:
        """The chosen sentences, verbatim, each followed by its citation; a list or a table where one is asked for.

        Says what the abstract says otherwise, where the question takes what it contradicts for granted. Abstains where
        the papers that the question is about do not say what it asks for.
        """
        if question.lists:
            yield from write_list(question, sources)
            return
        asked_about = papers_asked_about(question, sources)
        if asked_about and question.many.form == "prose" and (correction := find_correction(question, asked_about[0])):
            yield from write_correction(correction, asked_about[0])
            return
        papers = [source.paper for source in asked_about]
        missing = unsaid(question, papers)
        if missing:
            yield Note(f"The nearest abstract, “{papers[0].label}”, {missing}.")
            yield Abstained()
            return
        if question.many.form == "table" and len(papers) > 1:
            yield from write_table(question, asked_about, most=MAX_SENTENCES // len(papers))
            return
        if alike := papers_alike(question, sources):
            yield from write_several(alike)
            return
        chosen = choose_sentences(question, sources)
        if not chosen:
            yield Abstained()
            return
        for index, (source, sentence) in enumerate(chosen):
            if index:
                yield "\n\n" if chosen[index - 1][0].number != source.number else " "
            yield Quote(sentence.text)
            yield Cite(source.number)


def papers_alike(question: Question, sources: Sequence[Source]) -> list[Source]:
    """The papers that a question on a whole field fits about equally well; none for a question on one paper.

    A question that gives a name which few papers hold, or leans on a conversation, is not on a field.
    """
    leans = bool(question.own) and question.own != question.text
    if leans or question.many.form != "prose" or any(source.named for source in sources):
        return []
    best = sources[0].score if sources else 0.0
    alike = [source for source in sources[:MOST_ALIKE] if source.score >= ALIKE * best and source.sentences]
    return alike if best >= ALIKE_FROM and len(alike) >= FEWEST_ALIKE else []


def choose_sentences(question: Question, sources: Sequence[Source]) -> list[tuple[Source, RankedSentence]]:
    """1 to 5 sentences that answer the question together, no text twice; papers stay in the order of `sources`."""
    papers = papers_asked_about(question, sources)
    chosen: list[tuple[Source, RankedSentence]] = []
    for source in papers:
        chosen += [(source, sentence) for sentence in _best(source, most=MAX_SENTENCES // len(papers))]
    return _without_repeats(chosen)


def papers_asked_about(question: Question, sources: Sequence[Source]) -> list[Source]:
    """The first source, and for a question about several papers those that hold a name that no earlier one holds."""
    chosen = list(sources[:1])
    for source in sources[1:]:
        if len(chosen) < MAX_SENTENCES // 2 and source.named - frozenset().union(*(paper.named for paper in chosen)):
            chosen.append(source)
    if question.many.needs_two and len(chosen) == 1:
        chosen += sources[1:2]
    if question.many.form == "table":  # in the order in which the question names them
        chosen.sort(key=lambda source: _first_mention(source, question.own or question.text))
    return chosen


def _first_mention(source: Source, text: str) -> int:
    """Where `text` first names the paper; its end where it does not."""
    return min((text.index(name) for name in source.named if name in text), default=len(text))


def _best(source: Source, *, most: int) -> list[RankedSentence]:
    """Up to `most` sentences of one paper, in the order of its abstract."""
    ranked = sorted(source.sentences, key=lambda sentence: -sentence.probability)
    if not ranked:
        return []
    least = max(LEAST_PROBABILITY, LEAST_SHARE * ranked[0].probability)
    chosen = [
        sentence
        for place, sentence in enumerate(ranked[:most])
        if place < MIN_SENTENCES or sentence.probability >= least
    ]
    return sorted(chosen, key=lambda sentence: sentence.span)


def _without_repeats(chosen: list[tuple[Source, RankedSentence]]) -> list[tuple[Source, RankedSentence]]:
    seen: set[str] = set()
    kept = []
    for source, sentence in chosen:
        key = " ".join(sentence.text.split()).casefold()
        if key not in seen:
            seen.add(key)
            kept.append((source, sentence))
    return kept

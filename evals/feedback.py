"""Likes and dislikes from the page: as drafts of cases, and as evidence on what words should count for in retrieval."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from evals.drafting.reviewing import TO_FILL_IN
from rag.conversations import Feedback

HALF_LIFE_DAYS = 90.0
"""Preferences drift: a judgement counts half as much for each of these."""
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)
LEAST_WEIGHT = 10.0
"""Weight of all judgements together, that of a fresh one being 1, from which they may change anything."""
PRIOR = 5.0
"""Weight of the belief that the fitted value is right: so many judgements have to speak against it."""
LEAST_GAIN = 0.02
_DAY = 86_400.0

Rank = Callable[[str, float], Sequence[str]]
"""Ids of the papers that are found for a question, best first, with words counting for a multiple."""


def weight_of(feedback: Feedback, *, now: float, half_life: float = HALF_LIFE_DAYS) -> float:
    """What a judgement counts at `now` (seconds since 1970): 1 when fresh, half after `half_life` days."""
    age = max(0.0, now - feedback.created) / _DAY
    return float(0.5 ** (age / half_life))


def to_items(judged: Sequence[Feedback]) -> Iterator[dict[str, Any]]:
    """A draft of a case for each judgement, in the format of gold cases, for a person to accept, correct or drop.

    A liked answer names its papers; a liked refusal makes a question without an answer. What is wrong with a disliked
    answer is not known: its sentences are forbidden, and a person has to say what is right.
    """
    for each in judged:
        answer = each.answer
        item: dict[str, Any] = {"id": f"feedback-{each.feedback_id}", "reviewed": False, "question": answer.searched}
        cited = list(dict.fromkeys(citation.paper.paper_id for citation in answer.citations))
        if each.liked and answer.outcome == "answered" and cited:
            yield item | {"type": "single" if len(cited) == 1 else "cross", "kind": "liked", "papers": cited}
        elif each.liked:
            yield item | {"type": "unanswerable", "kind": "near liked", "answerable": False}
        else:
            fact = {"fact": TO_FILL_IN, "aliases": [TO_FILL_IN]}
            said = [sentence.text for sentence in answer.sentences]
            yield item | {"type": "single", "kind": "disliked", "nuggets": [fact], "forbid": said}


class Tried(NamedTuple):
    """A factor, the weighted mean of what it does for the judged answers, and its difference to 1."""

    factor: float
    score: float
    gain: float


class Proposal(NamedTuple):
    """The factor that is proposed, 1 where nothing speaks for another, and why."""

    factor: float
    reason: str
    weight: float
    tried: tuple[Tried, ...]


def propose_factor(
    judged: Sequence[Feedback], *, rank: Rank, now: float, half_life: float = HALF_LIFE_DAYS
) -> Proposal:
    """What words should count for, as a multiple of what was fitted, by the judged answers that cite papers.

    A liked answer speaks for what ranks its papers higher, a disliked one against it: the score is the mean reciprocal
    rank of the first of its papers that is found, negative where disliked, weighed by age and shrunk towards that of 1.
    """
    used = [each for each in judged if each.answer.outcome == "answered" and each.answer.citations]
    weights = [weight_of(each, now=now, half_life=half_life) for each in used]
    total = sum(weights)
    if total < LEAST_WEIGHT:
        return Proposal(1.0, f"the judgements weigh {total:.1f}, and {LEAST_WEIGHT:.0f} are needed", total, ())
    sums = {factor: sum(map(_gain_of(rank, factor), used, weights)) for factor in FACTORS}
    base = sums[1.0]
    tried = tuple(Tried(factor, value / total, (value - base) / (total + PRIOR)) for factor, value in sums.items())
    best = max(tried, key=lambda each: each.gain)
    if best.gain < LEAST_GAIN:
        return Proposal(1.0, f"no other value gains {LEAST_GAIN} or more", total, tried)
    return Proposal(best.factor, f"it gains {best.gain:.3f}", total, tried)


def _gain_of(rank: Rank, factor: float) -> Callable[[Feedback, float], float]:
    def gain(each: Feedback, weight: float) -> float:
        cited = {citation.paper.paper_id for citation in each.answer.citations}
        place = next((n for n, paper in enumerate(rank(each.answer.searched, factor), start=1) if paper in cited), None)
        return (weight if each.liked else -weight) / place if place else 0.0

    return gain

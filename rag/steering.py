"""What a conversation is about: whether a question goes on with it, and the papers of its turns, which steer search."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from rag.domain import Paper, ScoredPaper

Lean = Literal["goes on", "returns", "stands alone"]
"""How a question leans on the turns before: it goes on with the last ones, it returns to one before the last, or it
opens a subject of its own."""
PRIOR: Mapping[Lean, float] = {"goes on": 0.4, "returns": 0.2, "stands alone": 0.0}
"""What the papers of the turns are given on top of their retrieval scores, which are in 0..1."""
DECAY = 0.5
"""What a turn counts beside the one behind it."""
WIDE = 50
"""Papers that are retrieved for a question with a conversation before it, so that those of the turns are among them."""


class Bearings(NamedTuple):
    """What tells whether a question goes on with the conversation."""

    gap: float
    """By how much the paper that its own words find scores better than the papers of the last turn, 0..1."""
    found: float
    """The score of the former."""
    refers: float
    """1 where it has a word that refers back: it, that, the method."""
    early: float
    """How early the first such word comes, from 1 at the start to 0 at the end or nowhere."""
    continues: float
    """1 where it opens with and, but, why or the like."""
    general: float
    """1 where any paper may be asked it."""
    content: float
    """Tenths of terms that tell what it is about, at most 1."""
    named: float
    """1 where it has a name."""
    length: float
    """25ths of words, at most 1."""


# Logistic regression, both classes weighing the same, on the later turns of the gold development set and the seed suite
# against their single questions and 21 short ones asked amid other conversations, over the 19 seed papers and 1,430
# ICML papers; `python -m evals.steering` fits it anew. With each tenth of the papers and conversations left out of its
# own fit, .97 of the later turns go on with the last one, and .03 of the questions on another subject do.
WEIGHTS = Bearings(
    gap=-5.56,
    found=-3.23,
    refers=2.0,
    early=1.11,
    continues=1.71,
    general=1.36,
    content=-4.51,
    named=-0.25,
    length=-8.82,
)
BIAS = 6.51


def goes_on(bearings: Bearings) -> bool:
    """Whether the question goes on with what the last turn was about."""
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, bearings, strict=True)) > 0


def lead(found: Sequence[ScoredPaper], turn: Sequence[Paper]) -> tuple[float, float]:
    """The gap between the best of `found` and the best paper of `turn`, and the score of the former; both in 0..1."""
    best = found[0].score if found else 0.0
    ids = {paper.paper_id for paper in turn}
    return best - max((hit.score for hit in found if hit.paper.paper_id in ids), default=0.0), best


def steer(
    papers: Sequence[ScoredPaper], *, lean: Lean, turns: Sequence[Sequence[Paper]], pointed: Paper | None
) -> tuple[ScoredPaper, ...]:
    """`papers` by their score and by what the conversation was about, best first. Scores stay within 0..1.

    `turns` are the papers of its last turns; `pointed` is the one that the question points at.
    """
    weights = {pointed.paper_id: 1.0} if pointed else _trace(turns, flat=lean == "returns")
    prior = 1.0 if pointed else PRIOR[lean]
    raised = [replace(hit, score=min(1.0, hit.score + prior * weights.get(hit.paper.paper_id, 0.0))) for hit in papers]
    return tuple(sorted(raised, key=lambda hit: -hit.score))


def _trace(turns: Sequence[Sequence[Paper]], *, flat: bool) -> dict[str, float]:
    """The weight of each paper, in 0..1. With `flat`, for returns, all turns count alike and the last does not."""
    weights: dict[str, float] = {}
    for turn in turns:
        weights = {paper: weight if flat else weight * DECAY for paper, weight in weights.items()}
        weights |= {paper.paper_id: 1.0 for paper in turn}
    last = {paper.paper_id for paper in turns[-1]} if flat and turns else set()
    return {paper: weight for paper, weight in weights.items() if paper not in last}

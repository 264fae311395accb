"""Which papers belong into a list: whether an abstract bears on the subject that a question lists papers on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp
from typing import NamedTuple

from rag.keyword import analyze
from rag.many import Many


class Bearing(NamedTuple):
    """What speaks for a paper: a cosine in -1..1, shares in 0..1."""

    cosine: float
    """Best cosine of a sentence with the subject or a part of it."""
    coverage: float
    """Share of the subject's words, weighted by rarity, that title and abstract hold."""
    part: float
    """The same of that part of the subject of which they hold most."""
    together: float
    """The same of the sentence, or title, that holds most: "code" and "generation" here and there are no subject."""


# Logistic regression on 37 questions for lists, asked of the 19 seed papers: 9 of the gold development set and those of
# evals/which_seed.jsonl; `python -m evals.bearing` fits it anew. With each question left out of its own fit, .84 of
# the listed papers are right, and .80 of the right ones are listed.
WEIGHTS = Bearing(cosine=6.02, coverage=3.41, part=1.3, together=2.45)
BIAS = -6.56
LISTED = 0.4
"""Papers of at least this probability are listed."""
LEAST_LISTED, SHARE_LISTED = 0.2, 0.6
"""Where none is that probable, those of at least this probability that are at least this share of the best one's."""


def least_listed(probabilities: Iterable[float]) -> float:
    """The probability from which papers belong into a list, of those of all papers that were looked at."""
    best = max(probabilities, default=0.0)
    return LISTED if best >= LISTED else max(LEAST_LISTED, SHARE_LISTED * best)


def subjects_of(many: Many) -> tuple[str, ...]:
    """The texts to embed for a list: its subject and the parts of it; () where every paper will do."""
    return (many.subject, *many.parts) if many.subject else ()


def bearing(
    many: Many,
    *,
    title: str,
    sentences: Sequence[frozenset[str]],
    cosines: Iterable[float],
    idf: Callable[[str], float],
) -> Bearing:
    """The features of a paper of this title.

    `sentences` are the terms of the sentences of its abstract, `cosines` those of the sentences with the subjects.
    """
    held = frozenset(analyze(title)).union(*sentences)
    subjects = [_weigh(subject, idf=idf) for subject in subjects_of(many)]
    return Bearing(
        cosine=max(cosines, default=0.0),
        coverage=_share(subjects[0], held),
        part=max(_share(subject, held) for subject in subjects),
        together=max(
            (_share(subject, terms) for subject in subjects for terms in (*sentences, frozenset(analyze(title)))),
            default=0.0,
        ),
    )


def probability(features: Bearing) -> float:
    """The probability, 0..1, that a paper belongs into the list."""
    return 1 / (1 + exp(-BIAS - sum(weight * value for weight, value in zip(WEIGHTS, features, strict=True))))


def _weigh(subject: str, *, idf: Callable[[str], float]) -> dict[str, float]:
    return {term: idf(term) for term in analyze(subject)}


def _share(weights: Mapping[str, float], held: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)

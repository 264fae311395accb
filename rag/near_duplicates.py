"""Finds papers that are one work under several ids: arXiv and OpenReview, a preprint and its published version.

Candidates share a title, an arXiv id or DOI, or a band of the MinHash signature of their abstracts (Broder, "On the
resemblance and containment of documents", 1997; Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3).
Each pair is then compared exactly. numpy does it: the packages at hand bring scipy, or compare one pair at a time.
"""

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.domain import Paper

_BANDS, _ROWS = 16, 3
"""A pair of Jaccard similarity s shares a band with probability 1 - (1 - s^3)^16: .88 at .5, .98 at .6, 1.00 at .8."""
_SHINGLE = 3
"""Words of a shingle."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, for multiplicative hashing (Knuth, volume 3, section 6.4)."""
_FEWEST_WORDS = 20
"""Abstracts of fewer words are too short to be told apart by their shingles."""
_SAME_TITLE, _LIKE_TITLE, _OTHER_TITLE, _NO_TITLE, _GIVEN_LINK = 0.2, 0.5, 0.8, 0.9, 0.3
"""The lowest similarity of abstracts at which papers are one work: of one title; of like titles; of titles of which one
holds half of the other's words; where one has none; where one names the other's id. Fitted on ICML 2025 against
100,000 arXiv records."""
_SHARED_AUTHORS, _LIKE_TITLES, _SHARED_TITLE = 0.5, 0.75, 0.5
_ANY_AUTHORS = 0.8
"""The similarity at which abstracts of one title need no common author: names are written in many ways."""
_ANY_NUMBERS = 0.95
"""The similarity at which titles may hold different numbers."""
_WORD = re.compile(r"[^\W_]+")
_MACRO = re.compile(r"\\[A-Za-z]+")
_ARXIV = re.compile(
    r"(?:\A|arxiv[.:/]|abs/|pdf/)\s*(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?\Z", re.IGNORECASE
)

Fetch = Callable[[int], Paper]


class Match(NamedTuple):
    """Paper number `other` is the same work as number `first`, which comes before it."""

    first: int
    other: int
    similarity: float
    """Jaccard similarity of the abstracts' shingles, 0..1."""


@dataclass(frozen=True, slots=True)
class _Features:
    title: str
    title_words: frozenset[str]
    authors: frozenset[str]
    """All words of their names: which is the surname is not known."""
    shingles: NDArray[np.uint64]
    words: int


def find_matches(count: int, paper: Fetch, *, is_new: Sequence[bool]) -> Iterator[Match]:
    """Which of the papers 0 to `count` - 1 are the same work as an earlier one, each at most once, in order.

    Pairs of papers that are both not `is_new` are not looked at. A paper is compared with the first of those that are
    one work, so that no chain of small differences joins what is far apart. Takes some 0.2 ms and 250 bytes a paper.
    """
    features = lru_cache(maxsize=4096)(lambda number: _features(paper(number)))
    leader: dict[int, int] = {}
    for other, candidates in sorted(_candidates(count, paper, is_new).items()):
        for first in sorted({leader.get(candidate, candidate) for candidate in candidates}):
            similarity = _similarity(features(first), features(other))
            linked = bool(_ids(paper(first)) & _ids(paper(other)))
            if _is_same(features(first), features(other), similarity, linked=linked):
                leader[other] = first
                yield Match(first, other, similarity)
                break


def same_work(one: Paper, other: Paper) -> bool:
    """Whether two papers are one work under two ids."""
    a, b = _features(one), _features(other)
    return _is_same(a, b, _similarity(a, b), linked=bool(_ids(one) & _ids(other)))


def _is_same(a: _Features, b: _Features, similarity: float, *, linked: bool) -> bool:
    shared_title = _overlap(a.title_words, b.title_words)
    if linked:
        # A link alone may be wrong: papers of a volume that all have its DOI.
        return shared_title >= _SHARED_TITLE or similarity >= _GIVEN_LINK
    if min(a.words, b.words) < _FEWEST_WORDS:
        return False
    if not (a.title and b.title):
        return similarity >= _NO_TITLE
    if a.title == b.title and similarity >= _ANY_AUTHORS:
        return True
    if a.authors and b.authors and _overlap(a.authors, b.authors) < _SHARED_AUTHORS:
        return False
    if a.title == b.title:
        return similarity >= _SAME_TITLE
    if similarity < _ANY_NUMBERS and _numbers(a.title_words) != _numbers(b.title_words):
        return False  # this year's challenge and the last one's
    both = len(a.title_words & b.title_words) / len(a.title_words | b.title_words)
    return similarity >= (_LIKE_TITLE if both >= _LIKE_TITLES else _OTHER_TITLE) and shared_title >= _SHARED_TITLE


def _candidates(count: int, paper: Fetch, is_new: Sequence[bool]) -> dict[int, set[int]]:
    """For each paper the earlier ones that it is to be compared with."""
    signatures = np.empty((count, _BANDS * _ROWS), dtype=np.uint32)
    by_key: dict[str, list[int]] = defaultdict(list)
    for number in range(count):
        one = paper(number)
        signatures[number] = _signature(_shingles(one.abstract))
        for key in {f"title {_title_key(one.title)}" if one.title else "", *_ids(one)} - {""}:
            by_key[key].append(number)
    found: dict[int, set[int]] = defaultdict(set)
    groups = (group for group in by_key.values() if len(group) > 1)
    for group in [*groups, *_band_groups(signatures)]:
        for place, other in enumerate(group[1:], start=1):
            # The first and the one before: a group of thousands of like texts must not cost their square.
            found[other] |= {first for first in (group[0], group[place - 1]) if is_new[first] or is_new[other]}
    return {other: firsts for other, firsts in found.items() if firsts}


def _band_groups(signatures: NDArray[np.uint32]) -> Iterator[list[int]]:
    """The papers, in ascending order, that share a band of their signatures."""
    for band in range(_BANDS):
        columns = np.ascontiguousarray(signatures[:, band * _ROWS : (band + 1) * _ROWS])
        keys = columns.view(np.dtype((np.void, columns.itemsize * _ROWS))).ravel()
        order = np.argsort(keys, kind="stable")
        ends = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
        starts = np.concatenate([[0], ends])
        sizes = np.diff(np.concatenate([starts, [len(order)]]))
        for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            yield order[start : start + size].tolist()


def _features(paper: Paper) -> _Features:
    title = _title_key(paper.title)
    shingles = _shingles(paper.abstract)
    return _Features(
        title=title.replace(" ", ""),
        title_words=frozenset(title.split()),
        authors=frozenset(word for name in paper.authors for word in _WORD.findall(_plain(name)) if len(word) > 1),
        shingles=shingles,
        words=len(shingles) + _SHINGLE - 1,
    )


def _similarity(a: _Features, b: _Features) -> float:
    """Jaccard similarity, 0..1."""
    shared = len(np.intersect1d(a.shingles, b.shingles, assume_unique=True))
    return shared / (len(a.shingles) + len(b.shingles) - shared)


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The share of the smaller set that the larger holds, 0..1."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdigit() for character in word))


def _plain(text: str) -> str:
    """`text` without case, accents and LaTeX macros."""
    decomposed = unicodedata.normalize("NFKD", _MACRO.sub("", text)).casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _title_key(title: str) -> str:
    """The words of a title, equal for titles that differ in case, accents, punctuation or LaTeX alone."""
    return " ".join(_WORD.findall(_plain(title)))


def _ids(paper: Paper) -> set[str]:
    """The arXiv ids and DOIs under which the source says that the paper is known."""
    given = (paper.paper_id, paper.arxiv_id, paper.metadata.get("doi"))
    texts = [text.strip().lower().removeprefix("https://doi.org/") for text in given if isinstance(text, str)]
    return {match[1] if (match := _ARXIV.search(text)) else text for text in texts if _is_id(text)}


def _is_id(text: str) -> bool:
    return text.startswith("10.") or _ARXIV.search(text) is not None


def _shingles(text: str) -> NDArray[np.uint64]:
    """Hashes of the runs of three words of `text`, each once; of fewer words, one hash of all."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    codes = np.array([zlib.crc32(word.encode()) for word in words] or [0], dtype=np.uint64)
    size = min(_SHINGLE, len(codes))
    hashes = np.zeros(len(codes) - size + 1, dtype=np.uint64)
    for place in range(size):
        hashes = (hashes + codes[place : place + len(hashes)] + np.uint64(1)) * _MULTIPLIER
    return np.unique(hashes)


_RANDOM = np.random.default_rng(1997)
_FACTORS = _RANDOM.integers(0, 2**63, _BANDS * _ROWS, dtype=np.uint64)[:, None] * np.uint64(2) + np.uint64(1)


def _signature(shingles: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The least of the shingles under each of the hash functions (multiply-shift; Dietzfelbinger et al., 1997)."""
    least: NDArray[np.uint64] = ((_FACTORS * shingles) >> np.uint64(32)).min(axis=1)
    return least.astype(np.uint32)

"""Whether what a sentence says of one thing is said of another: of another name, of earlier work, of the background."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rag.support.binding import share_of_rest
from rag.support.contradictions import ENOUGH, Finding
from rag.support.coverage import Coverage, match
from rag.support.text import SentenceView, Token

_EARLIER = frozenset({"previous", "prior", "existing", "earlier", "conventional", "traditional", "current"})
"""Words by which abstracts open a sentence on the work of others."""
_OWN = frozenset({"we", "our", "us", "propose", "proposed", "present", "introduce", "paper", "work", "study", "here"})
"""Words of a sentence on the paper's own work."""
_FACING = frozenset(
    "address addresses addressed addressing tackle tackles tackled tackling solve solves solved solving overcome "
    "overcomes overcoming mitigate mitigates mitigating alleviate alleviates resolve resolves handle handles deal "
    "deals face faces facing aim aims unlike instead motivated criticised criticizes criticises".split()
)
"""Words of a sentence on what a method is for: such a sentence rightly tells the background."""
_SUBJECT_REACH, _NAME_REACH = 2, 4
_NEARLY_ALL, _MOST, _MISSPELT = 0.7, 0.6, 0.7


def find_other_subject(coverage: Coverage) -> Iterator[Finding]:
    """ "A is a task that ..." where the evidence has "B is a task that ..." or "Previous works are ...", not of A."""
    units = coverage.claim.units
    if not coverage.window or not units or not units[0].is_name or coverage.found[0] < ENOUGH:
        return
    best = coverage.sentences[coverage.window[0]]
    if match(units[0], best) >= ENOUGH or share_of_rest(coverage, window=coverage.window[:1]) < _NEARLY_ALL:
        return
    earlier = [token for token in best.tokens[:_SUBJECT_REACH] if token.lower in _EARLIER]
    if earlier and not coverage.claim.words & _EARLIER:
        yield Finding("subject", f"the cited abstract says it of {earlier[0].lower} work")
    others = [token for token in best.units[:_SUBJECT_REACH] if token.is_name]
    if not others:
        return
    other = others[0].surface
    alike = SequenceMatcher(None, units[0].lower, other.lower()).ratio() >= _MISSPELT
    if not alike and match(others[0], coverage.claim) < ENOUGH:
        yield Finding("subject", f"the cited abstract says it of {other}")


def find_background(coverage: Coverage, *, abstracts: Sequence[Sequence[SentenceView]]) -> Iterator[Finding]:
    """ "A is costly" where an abstract says it in its background, of models before A, and nothing like it of A."""
    name = next((token for token in coverage.claim.tokens[:_NAME_REACH] if token.is_name), None)
    if name is None or not coverage.window or coverage.claim.words & (_FACING | _EARLIER):
        return
    start = 0
    for sentences in abstracts:
        places = range(start, start + len(sentences))
        start += len(sentences)
        first = next((place for place in places if name.terms[0] in coverage.sentences[place].terms), None)
        if first is None or coverage.window[0] not in range(places.start, first):
            continue
        background = coverage.sentences[coverage.window[0]]
        of_it = max(_share(coverage, place, name) for place in range(first, places.stop))
        if not background.words & _OWN and of_it < ENOUGH and _share(coverage, coverage.window[0], name) >= _MOST:
            yield Finding("subject", f"the cited abstract says it before it comes to {name.surface}")


def _share(coverage: Coverage, place: int, name: Token) -> float:
    return share_of_rest(coverage, without=lambda token: token is name, window=[place])

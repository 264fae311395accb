"""Whether what a sentence says of one thing is said of another: of another name, of earlier work, of the background."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rag.support.binding import share_of_rest
from rag.support.contradictions import ENOUGH, Finding
from rag.support.coverage import Coverage, match
from rag.support.text import SentenceView, Token
from rag.support.wordlists import OWN

_EARLIER = frozenset({"previous", "prior", "existing", "earlier", "conventional", "traditional", "current"})
"""Words by which abstracts open a sentence on the work of others."""
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
    """ "A is costly", "A's cost" where an abstract says so in its background only, of models before A."""
    name = next((token for token in coverage.claim.tokens[:_NAME_REACH] if token.is_name), None)
    if name is None or not coverage.window or coverage.claim.words & (_FACING | _EARLIER):
        return
    owned = _owned(coverage.claim, name)
    start = 0
    for sentences in abstracts:
        places = range(start, start + len(sentences))
        start += len(sentences)
        first = next((place for place in places if name.terms[0] in coverage.sentences[place].terms), None)
        if first is None or coverage.window[0] not in range(places.start, first):
            continue
        background, own = coverage.sentences[coverage.window[0]], range(first, places.stop)
        said_of_others = (
            not background.words & OWN
            and _share(coverage, coverage.window[0], name) >= _MOST
            and max(_share(coverage, place, name) for place in own) < ENOUGH
        )
        owned_by_others = _says_all(background, owned) and not any(
            _says_all(coverage.sentences[place], owned) for place in own
        )
        if said_of_others or owned_by_others:
            yield Finding("subject", f"the cited abstract says it before it comes to {name.surface}")


def _owned(claim: SentenceView, name: Token) -> Sequence[Token]:
    """The first words of what is the named one's: "value networks" of "A's value networks"."""
    if not name.surface.endswith("'s"):
        return ()
    place = claim.tokens.index(name) + 1
    return [token for token in claim.tokens[place : place + _SUBJECT_REACH] if token.is_content]


def _says_all(sentence: SentenceView, tokens: Sequence[Token]) -> bool:
    return bool(tokens) and all(match(token, sentence) >= ENOUGH for token in tokens)


def _share(coverage: Coverage, place: int, name: Token) -> float:
    return share_of_rest(coverage, without=lambda token: token is name, window=[place])

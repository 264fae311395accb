"""Where a sentence goes further than its evidence: only, usually, both, "like that", the impact of something else."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag.support.contradictions import Finding
from rag.support.coverage import Coverage, match
from rag.support.text import SentenceView, Token, view_tokens

_EXCLUSIVE = frozenset({"only", "solely", "exclusively", "merely", "just", "sole", "alone", "purely", "exclusive"})
_UNIVERSAL = frozenset(
    "every each all any always never everywhere everything universally invariably entire entirely whole completely "
    "fully consistently no none throughout across arbitrary".split()
)
_USUAL = frozenset(
    "usually often typically frequently commonly generally normally mostly mainly largely regularly most many "
    "sometimes general typical common usual traditionally traditional".split()
)
_BOUNDED = (
    (frozenset({"every", "always", "never", "invariably"}), _UNIVERSAL),
    (frozenset({"usually", "mostly", "frequently"}), _USUAL | _UNIVERSAL),
)
"""Words that say how far a sentence goes, and those of its best evidence that go as far."""
_RELATIONS = frozenset({"impact", "impacts", "effect", "effects", "influence", "role", "roles"})
_LIKENESS = frozenset({"like", "unlike", "similar", "same"})
_POINTERS = frozenset({"that", "this", "those", "these", "it", "them", "way", "manner"})
_LINKS = frozenset({"of", "and", "or", "the", "a", "an", "its", "their", "our", "both", "such"})
_BECAUSE = frozenset({"because"})
_DUE_TO = frozenset({("due", "to"), ("owing", "to"), ("thanks", "to"), ("caused", "by")})
_DENYING = frozenset(
    "avoid avoids avoiding avoided bypass bypasses bypassing eliminate eliminates eliminating remove removes removing "
    "independent independently inapproximable insufficient inaccurate incomplete ineffective inefficient infeasible "
    "impossible impractical intractable invalid invariant inability indifferent infinite instead prohibitive only "
    "prohibits prohibited limited limits limit struggle struggles challenging difficult frozen freezing".split()
)
_AFFIRMING = frozenset(
    "under understanding understand understood underlying universal unified unify unique unit units union university "
    "discrete discover discovery discuss discussion display distance distill distillation distilled distinct "
    "distribution distributions distributed dispatch unless until".split()
)
"""Words that begin like denying ones."""
_MOST_OBJECTS, _PAIR_REACH = 5, 5


def find_overreach(coverage: Coverage, *, cited: int) -> Iterator[Finding]:
    """What a claim adds to its evidence of `cited` abstracts that words alone do not show."""
    yield from _unbounded(coverage)
    yield from _unnamed_two(coverage, cited=cited)
    yield from _pointing_away(coverage.claim)
    yield from _other_relations(coverage)
    yield from _other_causes(coverage)
    yield from _denied_nowhere(coverage)


def _unbounded(coverage: Coverage) -> Iterator[Finding]:
    """ "only A" where the evidence has A without an "only"; "always" where the best evidence is not as sure."""
    best = [coverage.sentences[index] for index in coverage.window[:1]]
    words = [token.lower for token in coverage.claim.tokens]
    for previous, word in zip(["", *words], words, strict=False):
        exclusive = word in _EXCLUSIVE and not any(s.words & _EXCLUSIVE for s in coverage.sentences)
        wide = any(word in words and not any(s.words & as_far for s in best) for words, as_far in _BOUNDED)
        if previous != "not" and (exclusive or wide):
            yield Finding("only", f"the cited abstract does not say '{word}'")
            return


def _unnamed_two(coverage: Coverage, *, cited: int) -> Iterator[Finding]:
    """ "Both produce sharp images" of one abstract that speaks of no such two."""
    tokens = coverage.claim.tokens
    opens = bool(tokens) and tokens[0].lower == "both"
    if not opens or cited > 1 or "and" in {token.lower for token in tokens}:
        return
    pair = [token for token in tokens[1 : 1 + _PAIR_REACH] if token.is_content]
    near = [view for sentence in coverage.sentences for view in _behind_pairs(sentence)]
    if not any(match(token, view) for token in pair for view in near):
        yield Finding("both", "it speaks of two, and the cited abstract of one")


def _behind_pairs(sentence: SentenceView) -> Iterator[SentenceView]:
    for index, token in enumerate(sentence.tokens):
        if token.lower in {"both", "two"}:
            yield view_tokens(sentence.tokens[index + 1 : index + 1 + _PAIR_REACH])


def _pointing_away(claim: SentenceView) -> Iterator[Finding]:
    """ "It is trained like that": what it is likened to stands in no sentence that can be checked."""
    tokens = [token for token in claim.tokens if token.lower not in {"to", "the"}]
    for place, (token, following) in enumerate(pairwise(tokens)):
        ends = place + 2 == len(tokens) or not (tokens[place + 2].is_unit or tokens[place + 2].lower == "of")
        if token.lower in _LIKENESS and following.lower in _POINTERS and ends:
            yield Finding("relation", f"what '{token.surface} {following.surface}' points to is not in it")
            return


def _other_relations(coverage: Coverage) -> Iterator[Finding]:
    """ "the impact of A" where the evidence has the impact of B alone."""
    for relation, objects in _relations(coverage.claim):
        theirs = [o for sentence in coverage.sentences for r, o in _relations(sentence) if r.terms == relation.terms]
        if objects and theirs and not any(_shares(objects, other) for other in theirs):
            yield Finding("relation", f"the cited abstract speaks of the {relation.lower} of something else")
            return


def _other_causes(coverage: Coverage) -> Iterator[Finding]:
    """ "A because of B" where the best evidence gives a reason, and not B."""
    best = [coverage.sentences[index] for index in coverage.window[:1]]
    given = [token for sentence in best for token in _cause(sentence)]
    cause = _cause(coverage.claim)
    if given and sum(match(token, view_tokens(given)) > 0 for token in cause) * 2 < len(cause):
        yield Finding("relation", "the cited abstract gives another reason")


def _denied_nowhere(coverage: Coverage) -> Iterator[Finding]:
    """ "A does not need training" where no sentence of the evidence denies anything."""
    denied = [token for token in coverage.claim.tokens if token.negated == 1 and token.is_content]
    evidence = [coverage.sentences[index] for index in coverage.window]
    if any(sentence.denies_term(token.terms[0]) for token in denied for sentence in coverage.sentences):
        return
    if denied and evidence and not any(sentence.denies or _sounds_denying(sentence) for sentence in evidence):
        yield Finding("relation", f"the cited abstract denies nothing of '{denied[0].surface}'")


def _sounds_denying(sentence: SentenceView) -> bool:
    """Whether a word of it may deny by what it means or how it is formed: "avoids", "independent", "stateless"."""
    words = {token.lower for token in sentence.tokens if token.is_content}
    return bool(words & _DENYING) or any(
        word.endswith("less") or (word.startswith(("un", "non", "dis", "ir")) and word not in _AFFIRMING)
        for word in words
    )


def _cause(sentence: SentenceView) -> Sequence[Token]:
    """The content words of the reason that a sentence gives: the first behind a "because" or a "due to"."""
    words = [token.lower for token in sentence.tokens]
    for index, pair in enumerate(pairwise([*words, ""])):
        if pair[0] in _BECAUSE or pair in _DUE_TO:
            return [token for token in sentence.tokens[index + 1 :] if token.is_content][:_MOST_OBJECTS]
    return ()


def _relations(sentence: SentenceView) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each "impact of ..." and the content words behind it, up to the next other word."""
    tokens = sentence.tokens
    for index, token in enumerate(tokens[:-1]):
        if token.lower in _RELATIONS and tokens[index + 1].lower == "of":
            objects: list[Token] = []
            for following in tokens[index + 2 :]:
                if following.is_content:
                    objects.append(following)
                elif following.lower not in _LINKS or len(objects) >= _MOST_OBJECTS:
                    break
            yield token, objects


def _shares(objects: Sequence[Token], others: Sequence[Token]) -> bool:
    view = view_tokens(others)
    return any(match(token, view) > 0 for token in objects)

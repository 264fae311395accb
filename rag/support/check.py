"""The verdict on a sentence: supported, partly or unsupported by the abstracts that it cites, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.domain import Span, Support
from rag.support.binding import (
    clauses,
    cover_clauses,
    find_mixed,
    find_put_together,
    find_unbound_numbers,
    split_subjects,
)
from rag.support.clashes import find_clashes
from rag.support.contradictions import ENOUGH, MISSING, Finding, find_contradictions, find_missing
from rag.support.coverage import Coverage, Idf, cover, default_idf
from rag.support.features import measure
from rag.support.language import is_foreign
from rag.support.meta import needs_no_support
from rag.support.model import load_model, probability
from rag.support.overreach import find_overreach
from rag.support.subjects import find_background, find_other_subject
from rag.support.text import SentenceView, tokenize, view_sentence, view_sentences
from rag.textnorm import contains_verbatim, quotations


@dataclass(frozen=True, slots=True)
class Verdict:
    """How well the cited abstracts support a sentence.

    `score`, 0..1, is the model's probability that they support all of it, lowered where something speaks against it;
    1 for a verbatim sentence. `reason` is one plain clause. `evidence` has for each cited abstract, in order, the spans
    of the 0 to 3 sentences that say most of the sentence, best first.
    """

    support: Support
    score: float
    reason: str
    evidence: tuple[tuple[Span, ...], ...]


def check_support(
    sentence: str,
    *,
    abstracts: Sequence[str],
    idf: Callable[[str], float] | None = None,
    known: Sequence[str] = (),
    labelled: bool = False,
) -> Verdict:
    """Checks a sentence of an answer, without its markers, against the abstracts that it cites.

    `idf` weighs an index term by its rarity (`KeywordIndex.idf`); without it all but the commonest words of abstracts
    count alike. `known` is what else is known of the papers (titles, authors, years): words and numbers found in it
    need no support. A word or number alone says something only where it is `labelled`, as a cell is by its row and
    column. A sentence in another language than the abstracts is "partly" supported at best.
    """
    verbatim = _is_verbatim(sentence, abstracts)
    if not verbatim and needs_no_support(sentence):
        return Verdict("supported", 1.0, "it speaks about the sources, not from them", ((),) * len(abstracts))
    if not abstracts:
        return Verdict("unsupported", 0.0, "no citation", ())
    rarity = idf or default_idf
    views = [view_sentences(abstract) for abstract in abstracts]
    terms = frozenset(term for text in known for token in tokenize(text) for term in (*token.terms[:1], token.surface))
    claim = view_sentence(sentence)
    coverage = cover(claim, [view for sentences in views for view in sentences], idf=rarity, known=terms)
    evidence = _evidence(coverage, views)
    if verbatim:
        return Verdict("supported", 1.0, "verbatim in the cited abstract", evidence)
    if is_foreign(sentence) and not any(map(is_foreign, abstracts)):
        return _judge_by_names(coverage, evidence)
    findings = _find(sentence, abstracts, views, coverage, idf=rarity)
    measured = measure(coverage, findings)
    model = load_model()
    full, related = probability(model.full, measured), probability(model.related, measured)
    several = len(abstracts) > 1 and len(split_subjects(sentence)) > 1
    scattered = not several and _is_scattered(coverage)
    all_of_it = full >= model.supported_from and (labelled or not _is_bare(claim)) and not scattered
    support = _judge(findings, claim, all_of_it=all_of_it, related=related >= model.related_from)
    reason = _reason(support, findings, coverage)
    # What the words alone do not show must show in the score: one number or "not" can make a sentence false.
    score = full * _FACTORS[support]
    return Verdict(support, score, _plural(reason) if len(abstracts) > 1 else reason, evidence)


def best_citations(
    sentence: str,
    abstracts: Sequence[str],
    *,
    idf: Callable[[str], float] | None = None,
    known: Sequence[Sequence[str]] = (),
    most: int = 2,
) -> tuple[int, ...]:
    """The indices of the abstracts, at most `most`, that support a sentence that cites nothing: best first, maybe none.

    An abstract is named if it alone supports the sentence, else two that do so together; what is supported in part only
    gets no citation. `known` has for each abstract what `check_support` is told of one.
    """
    if needs_no_support(sentence):
        return ()
    told = known or [()] * len(abstracts)
    verdicts = [
        check_support(sentence, abstracts=[abstract], idf=idf, known=its)
        for abstract, its in zip(abstracts, told, strict=True)
    ]
    ranked = sorted(range(len(abstracts)), key=lambda index: -verdicts[index].score)
    alone = [index for index in ranked if verdicts[index].support == "supported"]
    if alone:
        best = verdicts[alone[0]].score
        return tuple(index for index in alone if verdicts[index].score >= best - _AS_GOOD)[:most]
    pair = tuple(ranked[:2])
    if most >= 2 and len(pair) == 2:
        both = [text for index in pair for text in told[index]]
        together = check_support(sentence, abstracts=[abstracts[index] for index in pair], idf=idf, known=both)
        if together.support == "supported" and all(together.evidence):
            return pair
    return ()


_AS_GOOD = 0.05
_FACTORS: dict[Support, float] = {"supported": 1.0, "partly": 0.7, "unsupported": 0.3}
_TOO_FEW_WORDS = 3
_SHORT = 8
"""Content words up to which a sentence is said by one sentence, and not put together from several."""
_SAID_OF_YES = 0.6
_LEAST_EVIDENCE = 0.15
"""Share of a sentence that a sentence of an abstract must say to be shown as evidence."""


def _is_verbatim(sentence: str, abstracts: Sequence[str]) -> bool:
    quote = sentence.strip().strip("\"'“”«»„-*• ")
    return len(quote.split()) >= _TOO_FEW_WORDS and any(contains_verbatim(text, quote=quote) for text in abstracts)


def _find(
    sentence: str,
    abstracts: Sequence[str],
    views: Sequence[Sequence[SentenceView]],
    coverage: Coverage,
    *,
    idf: Idf,
) -> list[Finding]:
    findings = list(find_missing(coverage))
    for quote in quotations(sentence):
        if not any(contains_verbatim(text, quote=quote) for text in abstracts):
            findings.append(Finding("quotation", "the quotation is not in the cited abstract"))
    findings += find_overreach(coverage, cited=len(abstracts))
    findings += find_clashes(sentence, abstracts=abstracts)
    findings += find_other_subject(coverage)
    findings += find_background(coverage, abstracts=views)
    parts = clauses(sentence) if len(abstracts) > 1 else (sentence,)
    for part in parts:
        part_coverage = coverage if part == sentence else cover(view_sentence(part), coverage.sentences, idf=idf)
        findings += find_contradictions(part_coverage)
    covered = cover_clauses(parts, abstracts=views, idf=idf)
    findings += find_mixed(covered)
    if len(abstracts) > 1:
        findings += find_put_together(cover_clauses(split_subjects(sentence), abstracts=views, idf=idf))
    findings += find_unbound_numbers(covered)
    return findings


def _judge_by_names(coverage: Coverage, evidence: tuple[tuple[Span, ...], ...]) -> Verdict:
    """The verdict on a sentence in another language: its names and numbers are all that can be compared."""
    missing = [finding for finding in find_missing(coverage) if finding.kind in {"number", "name"}]
    if missing:
        return Verdict("unsupported", 0.0, missing[0].reason, evidence)
    compared = any(found >= ENOUGH for found in coverage.found)
    return Verdict("partly" if compared else "unsupported", _UNKNOWN if compared else 0.0, _OTHER_LANGUAGE, evidence)


_OTHER_LANGUAGE = "only its names and numbers could be compared: it is in another language than the cited abstract"
_UNKNOWN = 0.5


def _judge(findings: Sequence[Finding], claim: SentenceView, *, all_of_it: bool, related: bool) -> Support:
    kinds = [finding.kind for finding in findings]
    figures = sum(quantity.is_specific for quantity in claim.quantities)
    no_figure_is_right = figures > 0 and kinds.count("number") == figures
    if set(kinds) - MISSING or not related or no_figure_is_right:
        return "unsupported"
    return "partly" if kinds or not all_of_it else "supported"


def _is_bare(claim: SentenceView) -> bool:
    """Whether it is one word or number, or none, and so says nothing of it."""
    return len(claim.units) <= 1


def _is_scattered(coverage: Coverage) -> bool:
    """Whether no sentence of the evidence says enough of it: half of a short sentence, more of what follows a "yes"."""
    tokens, best = coverage.claim.tokens, coverage.of(coverage.window[:1])
    if tokens and tokens[0].lower in {"yes", "no"}:
        return best < _SAID_OF_YES
    return len(coverage.claim.units) <= _SHORT and best < ENOUGH


def _reason(support: Support, findings: Sequence[Finding], coverage: Coverage) -> str:
    if support == "supported":
        return "its words are in the cited abstract"
    contradicting = [finding for finding in findings if finding.kind not in MISSING]
    if contradicting or findings:
        return (contradicting or findings)[0].reason
    if support == "partly" and _is_bare(coverage.claim):
        return "it is a word or a number alone, and says nothing of it"
    missing = sorted(
        (-weight, token.surface)
        for token, weight, found in zip(coverage.claim.units, coverage.weights, coverage.found, strict=True)
        if found < ENOUGH
    )
    if support == "unsupported" or not missing:
        many = len(missing) * 2 >= len(coverage.weights)
        return f"{'most' if many else 'too many'} of its words are not in the cited abstract" if missing else _LOOSE
    if _is_scattered(coverage):
        return _LOOSE
    words = " and ".join(f"'{surface}'" for _, surface in missing[:2])
    return f"{words} {'is' if len(missing) == 1 else 'are'} not in the cited abstract"


_LOOSE = "its words are in the cited abstract, but not together"


def _plural(reason: str) -> str:
    reason = reason.replace("is not in the cited abstract", "is in none of the cited abstracts")
    reason = reason.replace("are not in the cited abstract", "are in none of the cited abstracts")
    return reason.replace("in the cited abstract", "in the cited abstracts").replace(
        "the cited abstract ", "a cited abstract "
    )


def _evidence(coverage: Coverage, views: Sequence[Sequence[SentenceView]]) -> tuple[tuple[Span, ...], ...]:
    """For each abstract its sentences of the window; where it has none there, its best one if that says anything."""
    spans: list[tuple[Span, ...]] = []
    start = 0
    for sentences in views:
        own = range(start, start + len(sentences))
        start += len(sentences)
        chosen = [index for index in coverage.window if index in own]
        if not chosen and own:
            best = max(own, key=lambda index: coverage.of([index]))
            chosen = [best] if coverage.of([best]) >= _LEAST_EVIDENCE else []
        spans.append(tuple(coverage.sentences[index].span for index in chosen))
    return tuple(spans)

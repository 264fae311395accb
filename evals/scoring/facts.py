"""What an answer says: the facts of a right answer, its likeness to one, what it must not say, right or wrong."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evals.cases.case import Case
from evals.scoring.score import Known, Score, share
from evals.textmatch import matches_nugget, normalise, says
from rag.domain import Answer
from rag.keyword import analyze

SOFT = 0.6
"""Share of a fact's terms that a sentence must have to be a soft hit."""
OKAY_WEIGHT = 0.5
SOFT_CREDIT = 0.5
_TOKEN = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+(?:\.\d+)?")
_ARTICLES = frozenset({"a", "an", "the"})


def nugget_recall(case: Case, answer: Answer, known: Known) -> Score | None:
    """Vital facts that the answer says / vital facts, by their strings alone: a lower bound ("vital strict")."""
    return _recall(_vital(case), answer, of="vital facts") if case.answerable else None


def nugget_recall_all(case: Case, answer: Answer, known: Known) -> Score | None:
    """The same over all facts."""
    return _recall(case.nuggets, answer, of="facts") if case.answerable else None


def nugget_recall_soft(case: Case, answer: Answer, known: Known) -> Score | None:
    """Vital facts that the answer says by strings or by most of their words in one sentence: an upper column."""
    if not case.answerable or not _vital(case):
        return None
    hits = [_credit(nugget, answer) > 0 for nugget in _vital(case)]
    return share(hits, of="vital facts, by strings or most of their words")


def nugget_recall_weighted(case: Case, answer: Answer, known: Known) -> Score | None:
    """All facts, vital ones with weight 1 and others 0.5; a soft hit counts half."""
    if not case.answerable or not case.nuggets:
        return None
    weights = [1.0 if nugget["vital"] else OKAY_WEIGHT for nugget in case.nuggets]
    got = sum(weight * _credit(nugget, answer) for weight, nugget in zip(weights, case.nuggets, strict=True))
    return Score(got / sum(weights), f"weight {got:g} of {sum(weights):g}")


def token_f1(case: Case, answer: Answer, known: Known) -> Score | None:
    """F1 of the answer's words with the gold answer's, as SQuAD counts them (Rajpurkar et al. 2016, section 6.1)."""
    if not case.answerable or not case.gold_answer:
        return None
    said, gold = tokens(said_text(answer)), tokens(case.gold_answer)
    common = sum((Counter(said) & Counter(gold)).values())
    if not common:
        return Score(0.0, "no word in common with the gold answer" if said else "no answer")
    precision, recall = common / len(said), common / len(gold)
    return Score(2 * precision * recall / (precision + recall), f"{common} words of {len(gold)} gold, {len(said)} said")


def rouge_l(case: Case, answer: Answer, known: Known) -> Score | None:
    """ROUGE-L's F with beta 1 to the gold answer (Lin 2004, section 3): the longest common subsequence of words."""
    if not case.answerable or not case.gold_answer:
        return None
    said, gold = tokens(said_text(answer)), tokens(case.gold_answer)
    length = _longest_common_subsequence(said, gold)
    return Score(2 * length / (len(said) + len(gold)), f"{length} words in the gold answer's order")


def correctness(case: Case, answer: Answer, known: Known) -> Score | None:
    """+1 right, 0 no answer, -1 wrong: see `verdict`."""
    if case.payload:
        return None
    value, reason = verdict(case, answer)
    return Score(float(value), reason)


def accuracy(case: Case, answer: Answer, known: Known) -> Score | None:
    """Right answers / cases; a right refusal is one, a failed call is none."""
    if case.payload:
        return None
    value, reason = verdict(case, answer)
    return Score(float(value > 0), reason)


def answer_precision(case: Case, answer: Answer, known: Known) -> Score | None:
    """Right answers / answers given (LitQA2's precision)."""
    if answer.outcome != "answered" or case.payload:
        return None
    value, reason = verdict(case, answer)
    return Score(float(value > 0), reason)


def forbidden(case: Case, answer: Answer, known: Known) -> Score | None:
    """1 where the answer says nothing that a right one must not."""
    if not case.forbid:
        return None
    held = held_forbidden(case, answer)
    return Score(float(not held), f"says {held[0]!r}" if held else "says nothing that is forbidden")


def words(case: Case, answer: Answer, known: Known) -> Score | None:
    """Words of an answer."""
    if answer.outcome != "answered":
        return None
    return Score(float(len(tokens(said_text(answer)))), f"{len(answer.sentences)} sentences")


def premise_correction(case: Case, answer: Answer, known: Known) -> Score | None:
    """1 where the answer to a false premise says what is true, in place of refusing or going along with it."""
    if case.expected != "correct_premise":
        return None
    if answer.outcome != "answered":
        return Score(0.0, _no_answer(answer))
    return _recall(_vital(case) or case.nuggets, answer, of="facts")


def verdict(case: Case, answer: Answer) -> tuple[int, str]:
    """Whether an answer is right (+1), none (0) or wrong (-1), and why.

    Right says every vital fact by its strings and nothing forbidden; without facts, it first cites a right paper. What
    has no answer is rightly refused, a false premise rightly corrected.
    """
    if answer.outcome == "failed":
        return 0, "the call failed"
    if answer.outcome == "needs_detail":
        return 0, "asked back"
    refused = answer.outcome == "not_in_corpus"
    if case.expected == "refuse":
        return (1, "rightly refused") if refused else (-1, "answered what no abstract answers")
    if refused:
        return 0, "refused"
    if held := held_forbidden(case, answer):
        return -1, f"says {held[0]!r}"
    wanted = _vital(case) or case.nuggets
    if not wanted:
        right = bool(answer.citations) and answer.citations[0].paper.paper_id in case.papers
        return (1, "a right paper is cited first") if right else (-1, "no right paper is cited first")
    lacking = [nugget["fact"] for nugget in wanted if not matches_nugget(said_text(answer), nugget)]
    return (-1, f"does not say: {'; '.join(lacking[:3])}") if lacking else (1, "says every vital fact")


def held_forbidden(case: Case, answer: Answer) -> list[str]:
    """The forbidden texts that the answer holds."""
    said = said_text(answer)
    return [text for text in case.forbid if says(said, text)]


def said_text(answer: Answer) -> str:
    """The text of an answer without its markers, with what its rows are labelled with; "" where it is none."""
    if answer.outcome != "answered":
        return ""
    return " ".join(f"{sentence.label} {sentence.text}".lstrip() for sentence in answer.sentences)


def tokens(text: str) -> list[str]:
    """The words of a text without case, markup and articles; Chinese and the like by characters."""
    return [token for token in _TOKEN.findall(normalise(text)) if token not in _ARTICLES]


def _vital(case: Case) -> list[Mapping[str, Any]]:
    return [nugget for nugget in case.nuggets if nugget["vital"]]


def _recall(nuggets: Sequence[Mapping[str, Any]], answer: Answer, *, of: str) -> Score | None:
    if not nuggets:
        return None
    said = said_text(answer)
    hits = [matches_nugget(said, nugget) for nugget in nuggets]
    misses = [nugget["fact"] for nugget, hit in zip(nuggets, hits, strict=True) if not hit]
    score = share(hits, of=of, misses=misses)
    return score if said else score._replace(reason=_no_answer(answer))


def _no_answer(answer: Answer) -> str:
    return "the call failed" if answer.outcome == "failed" else "no answer"


def _credit(nugget: Mapping[str, Any], answer: Answer) -> float:
    """1 for a fact that is said by its strings, half for one most of whose terms stand in one sentence."""
    if matches_nugget(said_text(answer), nugget):
        return 1.0
    wanted = set(analyze(nugget["fact"]))
    sentences = answer.sentences if answer.outcome == "answered" else ()
    best = max((len(wanted & set(analyze(sentence.text))) for sentence in sentences), default=0)
    return SOFT_CREDIT if wanted and best / len(wanted) >= SOFT else 0.0


def _longest_common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for place, candidate in enumerate(other, start=1):
            above = lengths[place]
            lengths[place] = diagonal + 1 if word == candidate else max(above, lengths[place - 1])
            diagonal = above
    return lengths[-1]

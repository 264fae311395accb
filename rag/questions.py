"""What a question asks for: its terms, the names in it, the kind of thing wanted, its parts, and how many papers."""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from rag.glossary import in_english
from rag.keyword import analyze
from rag.many import PROSE, Many, read_many
from rag.record import RecordQuestion, read_record_question


class Ask(NamedTuple):
    """A kind of thing that questions ask for: words that ask for it, and words of sentences that tell it."""

    question: re.Pattern[str]
    sentence: re.Pattern[str]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


ASKS = {
    "problem": Ask(
        _words(
            r"\b(?:why|hard|difficult|challeng|limit|weakness|drawback|problem|overlook|critici|assum|fail|exist|previous"
            r"|prior|traditional|earlier|before|issue|prohibit|lack|suffer|gap|motivat)"
        ),
        _words(
            r"\b(?:however|challeng|limit|fail|suffer|problem|difficult|expensive|prohibit|exist|previous|prior|often"
            r"|overlook|lack|remain|despite|bottleneck|concern|vulnerab|under-?explor|assum|realit|hinder|while|hard)"
        ),
    ),
    "method": Ask(
        _words(
            r"\b(?:how (?:do|does|did|is|are|can)\b|method|approach|propos|introduc|train|use|mechanism|component"
            r"|made of|make up|loop|framework|architecture|technique|works?\b|build|built|develop)"
        ),
        _words(
            r"\b(?:we|this paper|this work)\b.{0,40}\b(?:propos|introduc|present|develop|design|employ|use|formulat"
            r"|leverag|train|construct|build|adopt|devis)"
            r"|\bour work includes\b|\bby \w+ing\b|\b(?:is|are) (?:a|an|the)\b"
        ),
    ),
    "result": Ask(
        _words(
            r"\b(?:benchmark|dataset|evaluat|test(?:ed|s)?\b|outperform|beat|result|experiment|score|margin|gain|accura"
            r"|evidence|achiev|success|perform|better|improve|report|find|compare|state of the art|win|numbers?\b)"
        ),
        _words(
            r"\b(?:experiment|result|empiric|demonstrat|outperform|achiev|improv|benchmark|dataset|evaluat|accura|score"
            r"|state-of-the-art|validat|superior|find that|we find|observe)|\d+(?:\.\d+)?\s*(?:%|x\b|\$\\times)"
        ),
    ),
    "evaluation": Ask(
        _words(
            r"\b(?:benchmark|data ?sets?\b|evaluat|test(?:ed|s)?\b|validat|experiment|suites?\b"
            r"|on (?:which|what) (?:kinds? of )?(?:tasks?|data|models?|agents?|benchmarks?|environments?))"
        ),
        _words(r"\b(?:experiment|evaluat|results?\b|tested\b|validat|benchmark|appl(?:y|ied)\b|serving|case study)"),
    ),
    "theory": Ask(
        _words(r"\b(?:theor|prov|bound|guarantee|complexit|regret|converg)"),
        _words(r"\b(?:theor|prov(?:e|ing|ably)|bound|guarantee|complexit|regret|converg|analy)"),
    ),
    "availability": Ask(
        _words(r"\b(?:code|urls?\b|releas|available|repositor|links?\b|download|open[- ]source)"),
        _words(r"https?://|\\url|\b(?:code|available|releas|repositor)"),
    ),
    "number": Ask(
        _words(
            r"\b(?:how (?:many|much|long|large|fast|big|high|far)|by what|numbers?\b|score|margin|percent|gains?\b"
            r"|what (?:\w+ )?(?:score|margin|percent\w*|number|rate|size|accuracy))"
        ),
        _words(r"(?<![A-Za-z-])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|half|twice|double|single)\b"),
    ),
}
"""What questions about abstracts ask for. The patterns are beginnings of words, so that inflections match."""

_EXPAND = _words(
    r"\bstands? for\b|\bacronym\b|\babbreviat|\bshort for\b|\bspell out\b|\bexpand\b|\bmeans?\b|\bcalled\b|\bname of\b"
)
_DEFINE = re.compile(
    r"^\W*(?:what(?:'s| is| are| was| were| does| do)|define|explain|describe)\s+(?:an? |the )?([\w\s*.-]{2,60}?)"
    r"(?:\s+(?:mean|means))?(?:,.*)?\?*$",
    re.IGNORECASE | re.DOTALL,
)
_PART = re.compile(
    r",?\s+\b(?:and|or)\b\s+(?=(?:for|on|in|at|under|to|with|by|of|from|what|which|how|why|where|who|does|do|is|are|one)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![\w-])(?=[\w-]*[A-Z][\w-]*[A-Z0-9]|[\w-]*[a-z]\d|[\w-]*\d[\w-]*[A-Z])[A-Za-z][\w-]*[A-Za-z0-9]"
)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z][a-z]\w*[A-Z]")


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `english` is its text as far as `rag.glossary` can put it: all else is read from that.

    `expands` asks what a short name stands for, `defines` holds the terms of "What is ...?", `many` says what is asked
    of several papers. `parts` are the questions that a compound one joins, else empty. `own` are the user's own
    words, where the text has more of the conversation. `total` is how many papers there
    are where filters alone decide which belong into a list, `record` what field of a paper's record is asked for.
    """

    text: str
    english: str
    terms: frozenset[str]
    names: tuple[str, ...]
    asks: frozenset[str]
    expands: bool
    defines: frozenset[str]
    many: Many = PROSE
    parts: tuple["Question", ...] = ()
    own: str = ""
    total: int | None = None
    record: RecordQuestion | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The question and its parts, in English: what there is to embed."""
        return (self.english, *(part.english for part in self.parts))

    @property
    def lists(self) -> bool:
        """Whether the answer is a row for each paper that belongs into it."""
        return self.many.form in {"list", "count"}


def read_question(text: str, *, topic: str | None = None) -> Question:
    """Takes a question apart by its words alone. `topic` is the question without the words that became filters."""
    english = in_english(text)
    parts = [part.strip(" ,?") for part in _PART.split(english)]
    parts = [part for part in parts if analyze(part)]
    question = _read(text, parts=tuple(_read(part) for part in parts) if len(parts) > 1 else ())
    return replace(
        question,
        many=read_many(english if topic is None else in_english(topic), names=question.names),
        record=read_record_question(english),
    )


def find_names(text: str) -> tuple[str, ...]:
    """Names of methods, models and data sets in `text`: words with two capitals or with letters and digits (NS-DPO).

    A part of a compound that is a name by its capitals is one of its own: "AdvAgent-Paper" also names AdvAgent.
    """
    whole = _NAME.findall(text)
    parts = [part for name in whole if "-" in name for part in name.split("-") if _INNER_CAPITAL.search(part)]
    return tuple(dict.fromkeys([*whole, *parts]))


def _read(text: str, *, parts: tuple[Question, ...] = ()) -> Question:
    english = in_english(text)
    names = find_names(english)
    defined = _DEFINE.match(english.strip())
    return Question(
        text=text,
        english=english,
        terms=frozenset(analyze(english)),
        names=names,
        asks=frozenset(name for name, ask in ASKS.items() if ask.question.search(english)),
        expands=_EXPAND.search(english) is not None,
        defines=frozenset(analyze(defined.group(1))) if defined else frozenset(),
        parts=parts,
    )

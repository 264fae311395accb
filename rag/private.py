"""Private questions: what is the user's own is replaced by stand-ins before it leaves, and restored in the answer.

Names, numbers, e-mail addresses, links, phone numbers and code names become Person-1, Number-1 and so on, the same one
for the same text throughout a request. The abstracts are sent as they are. What this does not hide: which abstracts
were sent, and so the topic; plain words, also rare ones; names in lower case; how somebody writes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from rag.errors import CitewiseError
from rag.languages import LANGUAGES
from rag.llm import Completion
from rag.prompting import Message

if TYPE_CHECKING:
    from rag.chat_writer import Model

Knows = Callable[[str], bool]
"""Whether an abstract of the corpus holds a word."""

KINDS = ("Person", "Number", "Email", "Link", "Phone", "Term")
_TOKEN = re.compile(
    r"""(?P<fence><<[0-9a-f]{32}>>)
  | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
  | (?P<link>(?:https?://|www\.)[^\s<>"'`]*[\w/] | (?<![\w@])(?:[A-Za-z0-9-]+\.)+(?:[A-Za-z]{2,}/[\w/]\S*
      |(?:com|org|net|edu|gov|info|io|ai|dev|app|eu|uk|de|fr|ch|at|it|es|nl|se|jp|cn|in|ca|au|local|internal)(?![\w.-])))
  | (?P<phone>(?<![\w.,])\+?\(?\d(?:[ ()./-]{0,2}\d){6,}(?![\w%]|[.,]\d))
  | (?P<marker>\[\d{1,3}(?:,\s?\d{1,3})*\])
  | (?P<number>(?<![\w.,-])\d+(?:[.,:]\d+)*(?![\w]|[-_'’.]\w))
  | (?P<word>\w+(?:[-_'’.]\w+)*)
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_NAME_PARTICLES = frozenset({"van", "von", "de", "der", "den", "del", "della", "da", "di", "la", "le", "bin", "al"})
_ASKING = frozenset(
    "answer assistant ask based best briefly can check cite compare conversation define describe discuss does "
    "elaborate evaluate explain find following give hello help hey hi instead is kindly latest list look mention name "
    "number okay ok outline please provide question recommend reply rewrite say search show source sources state "
    "suggest summarise summarize summary tell thank thanks try use user what when where which who whose why "
    "yes".split()
) | {name.lower() for name in LANGUAGES.values()}
"""Words that begin requests and their prompts, or name a language to answer in: no names, although in capitals."""
_SOURCES = re.compile(r"(?P<fence><<[0-9a-f]{32}>>)\n(?P<sources>\[1\] .*?)\n(?P=fence)", re.DOTALL)
_SENTENCE_START = re.compile(r"(?:\A|[.!?:\n\"“(\[•*-])\s*\Z")


class PrivateModel:
    """A chat model that is sent stand-ins for what is the user's own; its text comes back with the originals.

    All calls to a model go through here, so that nothing but the abstracts leaves as it is.
    """

    def __init__(self, model: "Model", *, knows: Knows) -> None:
        self._model, self._knows = model, knows
        self.model = model.model

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        """As the model's own; the system message and the sources are sent as they are."""
        stand_ins = stand_ins_for(messages, knows=self._knows)
        restoring = Restoring(stand_ins)
        try:
            for item in self._model.stream([_replaced(message, stand_ins) for message in messages], until=until):
                if isinstance(item, Completion):
                    yield restoring.finish()
                yield restoring.feed(item) if isinstance(item, str) else item
        except CitewiseError:
            yield restoring.finish()
            raise
        self.model = self._model.model


def stand_ins_for(messages: Sequence[Message], *, knows: Knows) -> dict[str, str]:
    """Stand-ins, by what they stand for, for all that is the user's own in `messages`."""
    texts = [part for message in messages for part, is_private in _parts(message) if is_private]
    given = [part for message in messages for part, is_private in _parts(message) if not is_private]
    everything = "\n".join([*texts, *given]).lower()
    sent_numbers = set(_NUMBER.findall("\n".join(given)))
    found: dict[str, str] = {}
    seen: set[str] = set()
    counts = dict.fromkeys(KINDS, 0)
    for text in texts:
        for kind, own in find_private(text, knows=knows):
            if own.lower() in seen or (kind == "Number" and own in sent_numbers):
                continue
            counts[kind] += 1
            while f"{kind}-{counts[kind]}".lower() in everything:
                counts[kind] += 1
            seen.add(own.lower())
            found[own] = f"{kind}-{counts[kind]}"
    return found


def find_private(text: str, *, knows: Knows) -> Iterator[tuple[str, str]]:
    """What in `text` is the user's own, in order: its kind, one of `KINDS`, and itself."""
    name: list[re.Match[str]] = []
    for match in _TOKEN.finditer(text):
        kind, own = match.lastgroup or "", _POSSESSIVE.sub("", match.group())
        if name and not (kind == "word" and _continues(name[-1], match)):
            yield from _person(name, text, knows)
            name = []
        if kind in {"email", "link", "phone", "number"}:
            yield kind.capitalize(), own
        elif kind == "word" and _is_code_name(own):
            if not _known_code(own, knows):
                yield "Term", own
        elif kind == "word" and (own[0].isupper() or (name and own in _NAME_PARTICLES)):
            name.append(match)
    if name:
        yield from _person(name, text, knows)


def _continues(previous: re.Match[str], match: re.Match[str]) -> bool:
    """Whether a word may go on with the name before it: "Ada Lovelace", "Ludwig van Beethoven"."""
    word = match.group()
    between = match.string[previous.end() : match.start()]
    is_name = word[0].isupper() and not _is_code_name(_POSSESSIVE.sub("", word))
    return between in {" ", ". "} and (is_name or word in _NAME_PARTICLES) and not previous.group().endswith("s'")


def _person(words: list[re.Match[str]], text: str, knows: Knows) -> Iterator[tuple[str, str]]:
    """The name that a run of capitalised words is, if the corpus does not know it. Words that begin a request go."""
    if _SENTENCE_START.search(text, 0, words[0].start()):
        first = words[0].group().lower()
        if first in _ASKING or knows(first):
            words = words[1:]
    while words and words[-1].group() in _NAME_PARTICLES:
        words = words[:-1]
    plain = [_POSSESSIVE.sub("", word.group()) for word in words]
    if any(word.lower() not in _ASKING and not knows(word) for word in plain if word not in _NAME_PARTICLES):
        yield "Person", _POSSESSIVE.sub("", text[words[0].start() : words[-1].end()])


def _is_code_name(word: str) -> bool:
    """Whether a word has a capital behind its first letter, or a digit."""
    return any(_is_marked(part) for part in re.split(r"[-_'’.]", word) if part) and not word.isdigit()


def _is_marked(part: str) -> bool:
    return any(character.isupper() for character in part[1:]) or any(character.isdigit() for character in part)


def _known_code(word: str, knows: Knows) -> bool:
    """Falcon-7 is looked up as a whole; of "LLM-based" the part with capitals."""
    parts = [part for part in re.split(r"[-_.'’]", word) if part]
    if all(part[0].isupper() or _is_marked(part) for part in parts):
        return knows(word)
    return all(knows(part) for part in parts if _is_marked(part))


def _parts(message: Message) -> Iterator[tuple[str, bool]]:
    """The message's text in parts, and whether each is the user's own: the sources between the fences are not."""
    content = message["content"]
    if message["role"] == "system":
        yield content, False
        return
    position = 0
    for match in _SOURCES.finditer(content):
        yield content[position : match.start("sources")], True
        yield match["sources"], False
        position = match.end("sources")
    yield content[position:], True


def _replaced(message: Message, stand_ins: dict[str, str]) -> Message:
    """`message` with the stand-ins for their originals, whatever the case of these; fences and sources stay."""
    if not stand_ins:
        return message
    by_text = {own.lower(): stand_in for own, stand_in in stand_ins.items()}
    longest_first = sorted(by_text, key=len, reverse=True)
    pattern = re.compile(
        r"<<[0-9a-f]{32}>>|\[\d{1,3}\]|(?<![\w])(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w|[.,]\d)",
        re.IGNORECASE,
    )
    parts = [
        pattern.sub(lambda match: by_text.get(match.group().lower(), match.group()), part) if is_private else part
        for part, is_private in _parts(message)
    ]
    return {**message, "content": "".join(parts)}


_STAND_IN = re.compile(rf"(?<!\w)(?P<kind>{'|'.join(KINDS)})[-‑–](?P<number>\d+)", re.IGNORECASE)
_BEGINNINGS = "|".join(kind[:length] for kind in KINDS for length in range(len(kind), 0, -1))
_OPEN_STAND_IN = re.compile(rf"(?<!\w)(?:(?:{'|'.join(KINDS)})[-‑–]\d{{0,6}}|(?:{_BEGINNINGS}))\Z", re.IGNORECASE)


class Restoring:
    """Puts the originals back into a stream of text; what may be the beginning of a stand-in is held back."""

    def __init__(self, stand_ins: dict[str, str]) -> None:
        self._originals = {stand_in.lower(): own for own, stand_in in stand_ins.items()}
        self._held = ""
        self._before = ""
        """The last character that was let go."""

    def feed(self, delta: str) -> str:
        """The text that is certain with `delta`."""
        self._held += delta
        open_ = _OPEN_STAND_IN.search(self._before + self._held, len(self._before))
        return self._let_go(open_.start() - len(self._before) if open_ else len(self._held))

    def finish(self) -> str:
        """The rest."""
        return self._let_go(len(self._held))

    def _let_go(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        seen, position = self._before + text, len(self._before)
        parts: list[str] = []
        for match in _STAND_IN.finditer(seen, position):
            parts += [seen[position : match.start()], self._original(match)]
            position = match.end()
        self._before = text[-1:] or self._before
        return "".join([*parts, seen[position:]])

    def _original(self, match: re.Match[str]) -> str:
        return self._originals.get(f"{match['kind']}-{match['number']}".lower(), match.group())

"""Prompts are files: this finds them, checks their placeholders and fills them in."""

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from rag.context import Context, source_text
from rag.domain import Paper, Source, Turn
from rag.errors import SettingsError
from rag.tokens import count_tokens

Message = Mapping[str, str]

PLACEHOLDERS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "answer": {"system": frozenset({"fence"}), "user": frozenset({"fence", "sources", "question"})},
    "brief": {"system": frozenset({"fence"}), "user": frozenset({"fence", "sources", "question"})},
    "cases": {"system": frozenset({"fence"}), "user": frozenset({"fence", "source"})},
    "confirm": {"system": frozenset(), "user": frozenset({"evidence", "sentence"})},
    "judge": {"system": frozenset({"fence"}), "user": frozenset({"fence", "sources", "sentences"})},
    "propose": {"system": frozenset({"fence"}), "user": frozenset({"fence", "tuned", "history", "faults"})},
    "revise": {
        "system": frozenset({"fence"}),
        "user": frozenset({"fence", "sources", "question", "answer", "faults"}),
    },
    "rows": {"system": frozenset({"fence"}), "user": frozenset({"fence", "sources", "question"})},
    "standalone": {"system": frozenset({"fence"}), "user": frozenset({"fence", "conversation", "question"})},
}
"""The prompts there are, and what each of their files must hold.

"brief" is "answer" for local models: they read slowly and do not follow rules, so that it leaves citing to the check.
"confirm" has no fence: its reply is a probability, which can make a verdict stricter only, whatever its texts say.
"""
IN_USE = dict.fromkeys(
    ("answer", "brief", "cases", "confirm", "judge", "propose", "revise", "rows", "standalone"), "v1"
)
"""The version of each prompt that citewise sends."""
RESERVE = 0.15
"""Share of the window that stays empty, as other models' tokens differ from ours by up to this much."""
MESSAGE_TOKENS = 4
"""What a message costs beside its text (OpenAI's cookbook counts 3 to 4)."""
REWRITE_TURNS = 3
REWRITE_ANSWER_CHARS = 600
"""How much of an earlier answer a question is restated by: its first characters name what it is about."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's two texts. `label` names it with the first digits of its SHA-256: "answer/v1@1a2b3c4d"."""

    name: str
    version: str
    system: str
    user: str

    @property
    def label(self) -> str:
        digest = hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()
        return f"{self.name}/{self.version}@{digest[:8]}"


@dataclass(frozen=True, slots=True)
class FilledPrompt:
    """Messages ready to send, and how many of the sources and of the earlier turns they hold."""

    messages: tuple[Message, ...]
    sources: int
    turns: int


def prompt_versions(name: str, *, folder: Path | None = None) -> tuple[str, ...]:
    """The versions of a prompt in `folder` and in the package, v2 before v10; () for an unknown name."""
    found = set()
    for root in _roots(folder):
        place = root.joinpath(name)
        if name in PLACEHOLDERS and place.is_dir():
            found |= {entry.name for entry in place.iterdir() if entry.is_dir() and entry.name[0] not in "._"}
    return tuple(sorted(found, key=lambda version: [int(part) for part in re.findall(r"\d+", version)] or [0]))


def is_own(name: str, version: str, *, folder: Path | None) -> bool:
    """Whether the prompt comes from the user's `folder`."""
    return folder is not None and folder.joinpath(name, version).is_dir()


def load_prompt(name: str, version: str, *, folder: Path | None = None) -> Prompt:
    """Reads <name>/<version>/{system,user}.md from `folder`, or from the package where `folder` has no such version.

    Raises SettingsError where a file is missing, or has other placeholders than `PLACEHOLDERS` names for it.
    """
    root = folder if folder is not None and is_own(name, version, folder=folder) else files("prompts")
    texts = {
        role: _read(root.joinpath(name, version, f"{role}.md"), wanted) for role, wanted in PLACEHOLDERS[name].items()
    }
    return Prompt(name, version, texts["system"], texts["user"])


def fill_answer_prompt(
    prompt: Prompt,
    *,
    question: str,
    sources: Sequence[Source],
    history: Sequence[Turn],
    budget: int,
    context: Context = "whole",
) -> FilledPrompt:
    """The messages for a question, at most `budget` tokens by our count, less the reserve.

    The question and the best source always stay; then come further sources, best first, and then earlier turns, the
    newest first. Each request has a fence of its own, which no source can know.
    """
    fence = _new_fence()
    room = _room(prompt, budget=budget, fence=fence, texts=[question])
    texts, room = _fitting_sources(sources, room=room, context=context)
    turns = _newest_turns(history, room=room)
    earlier = [
        message
        for turn in turns
        for message in ({"role": "user", "content": turn.question}, {"role": "assistant", "content": turn.answer})
    ]
    system, user = _messages(prompt, fence=fence, sources="\n\n".join(texts), question=question)
    return FilledPrompt((system, *earlier, user), sources=len(texts), turns=len(turns))


def fill_revise_prompt(
    prompt: Prompt,
    *,
    question: str,
    sources: Sequence[Source],
    answer: str,
    faults: Sequence[str],
    budget: int,
    context: Context = "whole",
) -> FilledPrompt:
    """The messages that ask for `answer` without its `faults`: it cites by the numbers of `sources`."""
    fence, listed = _new_fence(), "\n".join(f"- {fault}" for fault in faults)
    room = _room(prompt, budget=budget, fence=fence, texts=[question, answer, listed])
    texts, _ = _fitting_sources(sources, room=room, context=context)
    messages = _messages(
        prompt, fence=fence, sources="\n\n".join(texts), question=question, answer=answer, faults=listed
    )
    return FilledPrompt(messages, sources=len(texts), turns=0)


def fill_judge_prompt(
    prompt: Prompt, *, sentences: Sequence[tuple[str, Sequence[int]]], papers: Mapping[int, Paper], budget: int
) -> tuple[Message, ...]:
    """The messages that ask whether `sentences`, each with the numbers that it cites, say what `papers` say.

    All sentences stay; of the papers those that fit, in order.
    """
    fence = _new_fence()
    listed = "\n".join(
        f"{place}. {' '.join(text.split())} {''.join(f'[{number}]' for number in numbers)}"
        for place, (text, numbers) in enumerate(sentences, start=1)
    )
    sources = [Source(number, paper, ()) for number, paper in sorted(papers.items())]
    room = _room(prompt, budget=budget, fence=fence, texts=[listed])
    texts, _ = _fitting_sources(sources, room=room, context="whole")
    return _messages(prompt, fence=fence, sources="\n\n".join(texts), sentences=listed)


def fill_confirm_prompt(
    prompt: Prompt, *, sentence: str, evidence: Sequence[tuple[str, Sequence[str]]]
) -> tuple[Message, ...]:
    """The messages that ask whether the evidence, each paper's title and its sentences, says `sentence`."""
    text = " ".join(
        part for title, sentences in evidence for part in (f"{title}." if title else "", *sentences) if part
    )
    return _messages(prompt, fence="", evidence=text, sentence=sentence)


def fill_cases_prompt(prompt: Prompt, *, paper: Paper) -> tuple[Message, ...]:
    """The messages that ask for test questions about a paper."""
    return _messages(prompt, fence=_new_fence(), source=format_source(Source(1, paper, ())))


def fill_propose_prompt(prompt: Prompt, *, tuned: str, history: str, faults: str) -> tuple[Message, ...]:
    """The messages that ask for a better text than `tuned`."""
    return _messages(prompt, fence=_new_fence(), tuned=tuned, history=history, faults=faults)


def fill_standalone_prompt(prompt: Prompt, *, question: str, history: Sequence[Turn], budget: int) -> FilledPrompt:
    """The messages that ask for `question` to be restated without the last turns of `history`."""
    fence = _new_fence()
    recent = [Turn(turn.question, turn.answer[:REWRITE_ANSWER_CHARS]) for turn in history[-REWRITE_TURNS:]]
    turns = _newest_turns(recent, room=_room(prompt, budget=budget, fence=fence, texts=[question]))
    conversation = "\n\n".join(f"User: {turn.question}\nAssistant: {turn.answer}" for turn in turns)
    messages = _messages(prompt, fence=fence, conversation=conversation, question=question)
    return FilledPrompt(messages, sources=0, turns=len(turns))


def format_source(source: Source, *, context: Context = "whole") -> str:
    """A source as the model reads it: its number, title and abstract."""
    title = f"{source.paper.title}\n" if source.paper.title else ""
    return f"[{source.number}] {title}{source_text(source, context=context)}"


def _roots(folder: Path | None) -> list[Traversable]:
    package = files("prompts")
    return [package] if folder is None else [folder, package]


def _read(path: Traversable, wanted: frozenset[str]) -> str:
    if not path.is_file():
        raise SettingsError(
            f"There is no prompt file {path}.", fix="Set CITEWISE_PROMPTS to a folder laid out like citewise's own."
        )
    text = path.read_text("utf-8").strip()
    template = Template(text)
    if not template.is_valid() or set(template.get_identifiers()) != wanted:
        names = ", ".join(f"${name}" for name in sorted(wanted))
        raise SettingsError(
            f"The prompt {path} must hold the placeholders {names} and no other.", fix="Write a plain $ as $$."
        )
    return text


def _new_fence() -> str:
    return f"<<{secrets.token_hex(16)}>>"


def _room(prompt: Prompt, *, budget: int, fence: str, texts: Sequence[str]) -> int:
    """Tokens of `budget`, less the reserve, that are left beside the prompt's own words and `texts`."""
    own = f"{prompt.system}\n{prompt.user}"
    fences = own.count("$fence") * count_tokens(fence)
    return int(budget * (1 - RESERVE)) - count_tokens(own) - fences - sum(map(count_tokens, texts)) - 3 * MESSAGE_TOKENS


def _messages(prompt: Prompt, *, fence: str, **values: str) -> tuple[Message, Message]:
    return (
        {"role": "system", "content": Template(prompt.system).substitute(fence=fence)},
        {"role": "user", "content": Template(prompt.user).substitute(values, fence=fence)},
    )


def _fitting_sources(sources: Sequence[Source], *, room: int, context: Context) -> tuple[list[str], int]:
    """The first source and those behind it that fit, as text, and the room that is left."""
    texts: list[str] = []
    for source in sources:
        text = format_source(source, context=context)
        left = room - count_tokens(text) - 1
        if texts and left < 0:
            break
        texts.append(text)
        room = left
    return texts, room


def _newest_turns(history: Sequence[Turn], *, room: int) -> list[Turn]:
    kept: list[Turn] = []
    for turn in reversed(history):
        room -= count_tokens(turn.question) + count_tokens(turn.answer) + 2 * MESSAGE_TOKENS
        if room < 0:
            break
        kept.insert(0, turn)
    return kept

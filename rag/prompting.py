"""Prompts are files: this loads one, checks its placeholders and fills it in."""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from rag.domain import Source, Turn
from rag.errors import SettingsError
from rag.tokens import count_tokens

Message = Mapping[str, str]

ANSWER_PLACEHOLDERS = {"system": frozenset({"fence"}), "user": frozenset({"fence", "sources", "question"})}
RESERVE = 0.15
"""Share of the window that stays empty, as other models' tokens differ from ours by up to this much."""
MESSAGE_TOKENS = 4
"""What a message costs beside its text (OpenAI's cookbook counts 3 to 4)."""


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


def load_prompt(
    name: str, version: str, *, placeholders: Mapping[str, frozenset[str]], folder: Path | None = None
) -> Prompt:
    """Reads <folder>/<name>/<version>/{system,user}.md; without `folder`, from the package.

    Raises SettingsError where a file is missing, or has other placeholders than `placeholders` names for it.
    """
    root: Traversable = files("prompts") if folder is None else folder
    texts = {}
    for role, wanted in placeholders.items():
        path = root.joinpath(name, version, f"{role}.md")
        if not path.is_file():
            raise SettingsError(
                f"There is no prompt file {path}.", fix="Set CITEWISE_PROMPTS to a folder laid out like citewise's own."
            )
        text = path.read_text("utf-8").strip()
        template = Template(text)
        found = set(template.get_identifiers())
        if not template.is_valid() or found != wanted:
            names = ", ".join(f"${name}" for name in sorted(wanted))
            raise SettingsError(
                f"The prompt {path} must hold the placeholders {names} and no other.", fix="Write a plain $ as $$."
            )
        texts[role] = text
    return Prompt(name, version, texts["system"], texts["user"])


def fill_answer_prompt(
    prompt: Prompt, *, question: str, sources: Sequence[Source], history: Sequence[Turn], budget: int
) -> FilledPrompt:
    """The messages for a question, at most `budget` tokens by our count, less the reserve.

    The question and the best source always stay; then come further sources, best first, and then earlier turns, the
    newest first. Each request has a fence of its own, which no source can know.
    """
    fence = f"<<{secrets.token_hex(16)}>>"
    system = Template(prompt.system).substitute(fence=fence)
    room = int(budget * (1 - RESERVE)) - count_tokens(system) - count_tokens(prompt.user) - 3 * MESSAGE_TOKENS
    room -= count_tokens(question) + 3 * count_tokens(fence)
    texts: list[str] = []
    for source in sources:
        text = format_source(source)
        room -= count_tokens(text) + 1
        if texts and room < 0:
            break
        texts.append(text)
    turns = _newest_turns(history, room=room)
    user = Template(prompt.user).substitute(fence=fence, sources="\n\n".join(texts), question=question)
    earlier = [
        message
        for turn in turns
        for message in ({"role": "user", "content": turn.question}, {"role": "assistant", "content": turn.answer})
    ]
    messages = ({"role": "system", "content": system}, *earlier, {"role": "user", "content": user})
    return FilledPrompt(messages, sources=len(texts), turns=len(turns))


def format_source(source: Source) -> str:
    """A source as the model reads it: its number, title and abstract."""
    title = f"{source.paper.title}\n" if source.paper.title else ""
    return f"[{source.number}] {title}{source.paper.abstract}"


def _newest_turns(history: Sequence[Turn], *, room: int) -> list[Turn]:
    kept: list[Turn] = []
    for turn in reversed(history):
        room -= count_tokens(turn.question) + count_tokens(turn.answer) + 2 * MESSAGE_TOKENS
        if room < 0:
            break
        kept.insert(0, turn)
    return kept

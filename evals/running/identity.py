"""What a run is a run of: suite, corpus, writer, prompts, settings, code. Two runs with one identity are the same."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.cases.schema import AnyItem
from rag.corpus import Corpus
from rag.generation import RECORDS
from rag.picking import pick_writer
from rag.wiring import build_endpoint, build_judge_endpoint, build_window

if TYPE_CHECKING:
    from rag.settings import Settings

ANSWERING = (
    "k",
    "rerank",
    "keyword_factor",
    "context",
    "context_tokens",
    "max_output_tokens",
    "deadline",
    "first_token_timeout",
    "rewrite",
    "samples",
    "revise",
    "unsupported",
    "self_check",
    "language",
    "private",
)
"""The settings that an answer depends on, beside who writes and which corpus is asked."""
MOST_SOURCES = "most_sources"
"""What a local model reads at most, which depends on whether `k` was set at all."""


@dataclass(frozen=True, slots=True)
class Identity:
    """All that decides what a run asks and how it is answered. Holds no key and no credentials.

    `settings` are those of ANSWERING, and MOST_SOURCES; `prompts` the labels of the prompts in use, () without a model;
    `judge` is the model that judges support, and where it is served; `gold` and `papers` are SHA-256 of the cases and
    of the corpus's records, `code` one of citewise's own code.
    """

    suite: str
    gold: str
    repeats: int
    limit: int | None
    corpus: str
    papers: str
    embedding: str
    writer: str
    endpoint: str | None
    model: str | None
    prompts: tuple[str, ...]
    judge: str | None
    settings: Mapping[str, Any]
    code: str

    @property
    def fingerprint(self) -> str:
        return _sha256([json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, default=str)])

    def differences(self, other: "Identity") -> list[str]:
        """The names of the fields in which two identities differ."""
        one, two = asdict(self), asdict(other)
        plain = [name for name in one if name != "settings" and _plain(one[name]) != _plain(two[name])]
        names = (*ANSWERING, MOST_SOURCES)
        return plain + [name for name in names if one["settings"].get(name) != two["settings"].get(name)]


def identify(
    items: Iterable[AnyItem], *, suite: str, repeats: int, limit: int | None, corpus: Corpus, settings: "Settings"
) -> Identity:
    """The identity of a run of `items` on `corpus` by `settings`."""
    settings = pick_writer(settings).settings
    has_model = settings.writer != "extractive"
    endpoint = build_endpoint(settings) if has_model else None
    most_sources = build_window(settings).most_sources if has_model else None
    return Identity(
        suite=suite,
        gold=digest_items(items),
        repeats=repeats,
        limit=limit,
        corpus=corpus.name,
        papers=corpus_digest(corpus),
        embedding=corpus.manifest.model,
        writer=settings.writer,
        endpoint=endpoint.url if endpoint else None,
        model=endpoint.model if endpoint else None,
        prompts=_prompts(settings) if has_model or settings.judge_model else (),
        judge=_judge(settings),
        settings={name: getattr(settings, name) for name in ANSWERING} | {MOST_SOURCES: most_sources},
        code=code_digest(),
    )


def digest_items(items: Iterable[AnyItem]) -> str:
    """SHA-256 of the cases, whatever their file's layout."""
    return _sha256([item.model_dump_json() for item in items])


def corpus_digest(corpus: Corpus) -> str:
    """SHA-256 of the corpus's records."""
    return corpus.manifest.files[RECORDS].sha256


@cache
def code_digest() -> str:
    """SHA-256 of the code and prompts that answers come from, committed or not."""
    found = sorted((name, text) for package in ("rag", "prompts") for name, text in _texts(files(package), package))
    return _sha256([f"{name}\0{text}" for name, text in found])


@cache
def commit() -> str | None:
    """The commit of the checkout that runs, with "+" where files are changed; None outside of one."""
    folder = Path(str(files("evals"))).parent
    if not (folder / ".git").exists():
        return None
    try:
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def citewise_version() -> str:
    """The installed version, "unknown" where citewise runs from a folder."""
    try:
        return version("citewise")
    except PackageNotFoundError:
        return "unknown"


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return run.stdout.strip()


def _texts(folder: Traversable, path: str) -> Iterable[tuple[str, str]]:
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        if entry.is_dir() and entry.name not in {"__pycache__", "cli", "data"}:
            yield from _texts(entry, name)
        elif entry.name.endswith((".py", ".md")):
            yield name, entry.read_text("utf-8")


def _prompts(settings: "Settings") -> tuple[str, ...]:
    from rag.prompting import IN_USE, load_prompt

    return tuple(load_prompt(name, used, folder=settings.prompts).label for name, used in IN_USE.items())


def _judge(settings: "Settings") -> str | None:
    """The judge's model and address, without credentials, or the entailment model; None where only words count."""
    if settings.entailment_model:
        return f"entailment by {settings.entailment_model.resolve()}"
    endpoint = build_judge_endpoint(settings)
    return f"{endpoint.model} at {endpoint.url}" if endpoint else None


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _sha256(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()

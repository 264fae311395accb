"""`citewise eval new-cases`: drafts cases from a corpus, and lets a person accept or drop them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.cli.eval_screen import question_bar
from rag.cli.screen import CorpusOption, HomeOption, ModelOption, WriterOption, console, progress_bar, safe, with_model
from rag.errors import InputError

if TYPE_CHECKING:
    from rag.corpus import Corpus
    from rag.domain import Paper
    from rag.settings import Settings

PAPERS = 30
ASK = "[a]ccept, [d]rop, [n]ext, [q]uit: "


def new_cases_command(
    file: Annotated[Path, typer.Argument(help="The JSONL file that is written, or reviewed.", dir_okay=False)],
    corpus: CorpusOption = None,
    papers: Annotated[
        int, typer.Option("--papers", help="Papers to draft from, spread over the corpus.", min=1)
    ] = PAPERS,
    review: Annotated[
        bool, typer.Option("--review", help="Go through the drafts of FILE and accept or drop them.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of what is chosen at random.")] = 0,
    writer: WriterOption = None,
    model: ModelOption = None,
    home: HomeOption = None,
) -> None:
    """Draft cases from a corpus: by a model where one is configured, else by templates. A person accepts them."""
    if review:
        _review(file)
        return
    if file.exists():
        raise InputError(f"{file} is there already.", fix="Name a new file, or review it with --review.")
    from evals.running.log import write_whole
    from rag.ingest import ensure_corpus
    from rag.picking import pick_writer
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = with_model(load_settings(home=home, corpus=corpus, writer=writer), model)
    with progress_bar() as on_progress:
        asked = ensure_corpus(
            settings.home, settings.corpus, embedder=build_embedder(settings), on_progress=on_progress
        )
    try:
        rows = range(0, len(asked), max(1, len(asked) // papers))
        chosen = [asked.paper(row) for row in rows][:papers]
        settings = pick_writer(settings).settings
        if settings.writer == "extractive":
            items, dropped = list(_by_templates(chosen, asked, seed=seed)), 0
        else:
            items, dropped = _by_model(chosen, settings)
    finally:
        asked.close()
    write_whole(file, "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items))
    console().print(f"{len(items)} drafts of {len(chosen)} papers: {file}", soft_wrap=True)
    if dropped:
        console().print(f"{dropped} more were dropped: their quote or answer is not in the abstract.", style="yellow")
    console().print(f"Nobody has checked them: citewise eval new-cases --review {file}", soft_wrap=True)


def _by_templates(papers: "list[Paper]", corpus: "Corpus", *, seed: int) -> "Iterator[dict[str, Any]]":
    from evals.drafting.templates import draft_by_templates
    from rag.assistant import is_known

    return draft_by_templates(papers, is_known=lambda word: is_known(word, idf=corpus.keyword.idf), seed=seed)


def _by_model(papers: "list[Paper]", settings: "Settings") -> "tuple[list[dict[str, Any]], int]":
    from evals.drafting.model import draft_by_model
    from rag.prompting import IN_USE, load_prompt
    from rag.wiring import build_endpoint, guarded

    model = guarded(settings)(build_endpoint(settings))
    prompt = load_prompt("cases", IN_USE["cases"], folder=settings.prompts)
    items, dropped = [], 0
    with question_bar("drafting") as on_progress:
        for done, drafted in enumerate(draft_by_model(papers, model=model, prompt=prompt), start=1):
            items += drafted.items
            dropped += drafted.dropped
            on_progress(done, len(papers))
    return items, dropped


def _review(file: Path) -> None:
    """Asks of each draft; what was decided is in the file when this returns."""
    from evals.cases.files import load_items
    from evals.running.log import write_whole

    kept: list[Any] = []
    items = load_items(file)
    drafts = [item for item in items if not getattr(item, "reviewed", True)]
    answers = _decisions(drafts)
    accepted = dropped = 0
    for item in items:
        said = next(answers, "n") if item in drafts else "n"
        accepted += said == "a"
        dropped += said == "d"
        if said != "d":
            kept.append(item.model_copy(update={"reviewed": True}) if said == "a" else item)
    write_whole(file, "".join(f"{item.model_dump_json(exclude_defaults=True)}\n" for item in kept))
    left = len(drafts) - accepted - dropped
    console().print(f"{accepted} accepted, {dropped} dropped, {left} left to review: {file}", soft_wrap=True)


def _decisions(drafts: list[Any]) -> Iterator[str]:
    for place, item in enumerate(drafts, start=1):
        console().rule(f"{place} of {len(drafts)}")
        console().print(safe(json.dumps(item.model_dump(exclude_defaults=True), indent=1, ensure_ascii=False)))
        typed = ""
        while typed not in {"a", "d", "n"}:
            try:
                typed = input(ASK).strip().lower()[:1]
            except EOFError:
                return
            if typed == "q":
                return
        yield typed

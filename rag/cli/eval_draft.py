"""`citewise eval new-cases`: drafts cases from a corpus, and lets a person accept, correct or reject them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.cli.eval_screen import question_bar
from rag.cli.screen import (
    CorpusOption,
    HomeOption,
    ModelOption,
    WriterOption,
    console,
    print_error,
    progress_bar,
    safe,
    with_model,
)
from rag.errors import CitewiseError, InputError

if TYPE_CHECKING:
    from evals.cases.schema import AnyItem
    from evals.drafting.reviewing import Review
    from rag.corpus import Corpus
    from rag.domain import Paper
    from rag.settings import Settings

PAPERS = 30
FILE_HELP = (
    "The JSONL file that is written, or reviewed; by a bare name, a suite of the home, which the page shows too."
)
ASK = "[a]ccept, [e]dit and accept, [r]eject, [n]ext, [b]ack, [q]uit: "


def new_cases_command(
    file: Annotated[Path, typer.Argument(help=FILE_HELP, dir_okay=False)],
    corpus: CorpusOption = None,
    papers: Annotated[
        int, typer.Option("--papers", help="Papers to draft from, spread over the corpus.", min=1)
    ] = PAPERS,
    review: Annotated[
        bool, typer.Option("--review", help="Go through the drafts of FILE: accept, correct or reject them.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of what is chosen at random.")] = 0,
    writer: WriterOption = None,
    model: ModelOption = None,
    home: HomeOption = None,
) -> None:
    """Draft cases from a corpus: by a model where one is configured, else by templates. A person accepts them."""
    from evals.cases.suites import case_file, own_suites
    from rag.settings import load_settings

    settings = with_model(load_settings(home=home, corpus=corpus, writer=writer), model)
    given, file = file, case_file(file, own_suites(settings.home))
    if review:
        _review(file)
        return
    if file.exists():
        raise InputError(f"{file} is there already.", fix="Name a new file, or review it with --review.")
    from evals.running.log import write_whole
    from rag.ingest import ensure_corpus
    from rag.picking import pick_writer
    from rag.wiring import build_embedder

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
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items))
    console().print(f"{len(items)} drafts of {len(chosen)} papers: {file}", soft_wrap=True)
    if dropped:
        console().print(f"{dropped} more were dropped: their quote or answer is not in the abstract.", style="yellow")
    console().print(f"Nobody has checked them: citewise eval new-cases {given} --review", soft_wrap=True)


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
    from evals.drafting.reviewing import Review

    review, skipped = Review(file), set[str]()
    accepted, drafts = review.accepted(), len(review.drafts())
    item = review.following()
    while item is not None:
        _show(item, left=len(review.drafts()))
        said = _decide(review, item)
        if said == "q":
            break
        if said == "b":
            taken = review.take_back()
            item = (review.draft(taken) if taken else None) or item
            continue
        if said == "n":
            skipped.add(item.id)
        item = review.following(item.id, skipped=skipped)
    accepted, left = review.accepted() - accepted, len(review.drafts())
    told = f"{accepted} accepted, {drafts - left - accepted} rejected, {left} left to review: {file}"
    console().print(safe(told), soft_wrap=True)


def _show(item: "AnyItem", *, left: int) -> None:
    from evals.drafting.reviewing import fields_of

    console().rule(f"{left} left to review")
    lines = [(field.label, field.text) for field in fields_of(item)]
    lines += [("Quoted", quote.quote) for quote in getattr(item, "evidence", ())]
    lines += [("Why", getattr(item, "why", "")), ("Kind", f"{item.type} {getattr(item, 'kind', '')}")]
    for label, text in lines:
        if text:
            console().print(safe(f"{label}: {text}"), soft_wrap=True)


def _decide(review: "Review", item: "AnyItem") -> str:
    """Asks until something can be done, and does it; returns its letter, "q" where nothing more is typed."""
    while True:
        typed = (_typed(ASK) or "q").lower()[:1]
        try:
            if typed == "a":
                review.accept(item.id)
            elif typed == "e":
                review.accept(item.id, _corrections(item))
            elif typed == "r":
                review.reject(item.id)
        except CitewiseError as error:
            print_error(error)
            continue
        if typed in {"a", "e", "r", "n", "b", "q"}:
            return typed


def _corrections(item: "AnyItem") -> dict[str, str]:
    """Asks for each text of a draft; an empty line keeps it, a "-" empties it."""
    from evals.drafting.reviewing import fields_of

    console().print('An empty line keeps a text, "-" empties it. Facts and papers are parted by ";", aliases by "|".')
    typed = {field.name: _typed(safe(f"{field.label} [{field.text}]: ")) for field in fields_of(item)}
    return {name: "" if text == "-" else text for name, text in typed.items() if text and text.strip()}


def _typed(prompt: str) -> str | None:
    """A line of the person's, None where nothing more comes."""
    try:
        return input(prompt).strip() or " "
    except EOFError:
        return None

"""`citewise eval feedback`: the likes and dislikes of the page, as cases and as evidence on retrieval."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.screen import CorpusOption, HomeOption, console, progress_bar, safe
from rag.errors import InputError

if TYPE_CHECKING:
    from evals.feedback import Rank
    from rag.conversations import ConversationStore
    from rag.settings import Settings

feedback_app = typer.Typer(help="Use likes and dislikes.", no_args_is_help=True, add_completion=False)
PAPERS = 10
FILE_HELP = "The JSONL file that is written; by a bare name, a suite of the home, which the page shows too."


@feedback_app.command("list")
def feedback_list_command(corpus: CorpusOption = None, home: HomeOption = None) -> None:
    """List the judgements, oldest first."""
    from rich.table import Table

    table = Table("id", "judged", "", "corpus", "question")
    for each in _store(home).feedback(corpus=corpus):
        when = datetime.fromtimestamp(each.created).astimezone().strftime("%Y-%m-%d")
        table.add_row(
            str(each.feedback_id), when, "liked" if each.liked else "disliked", each.corpus, safe(each.question)
        )
    console().print(table)


@feedback_app.command("export")
def feedback_export_command(
    file: Annotated[Path, typer.Argument(help=FILE_HELP, dir_okay=False)],
    corpus: CorpusOption = None,
    home: HomeOption = None,
) -> None:
    """Write the judgements as drafts of cases, for a person to accept, correct or reject."""
    from evals.cases.suites import case_file, own_suites
    from evals.feedback import to_items
    from evals.running.log import write_whole
    from rag.settings import load_settings

    given, file = file, case_file(file, own_suites(load_settings(home=home).home))
    if file.exists():
        raise InputError(f"{file} is there already.", fix="Name a new file.")
    items = list(to_items(_store(home).feedback(corpus=corpus)))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items))
    console().print(f"{len(items)} drafts. Go through them: citewise eval new-cases {given} --review", soft_wrap=True)


@feedback_app.command("delete")
def feedback_delete_command(
    ids: Annotated[list[int] | None, typer.Argument(help="Which ones, by their ids.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    corpus: CorpusOption = None,
    home: HomeOption = None,
) -> None:
    """Delete judgements for good."""
    if bool(ids) == everything:
        raise typer.BadParameter("name ids, or --all")
    store = _store(home)
    known = [each.feedback_id for each in store.feedback(corpus=corpus)]
    if missing := sorted(set(ids or ()) - set(known)):
        raise InputError(f"There is no judgement {missing[0]}.", fix="See: citewise eval feedback list")
    console().print(f"{store.forget(known if everything else ids or ())} judgements deleted.")


@feedback_app.command("tune")
def feedback_tune_command(
    half_life: Annotated[
        float | None, typer.Option("--half-life", help="Days after which a judgement counts half. [default: 90]", min=1)
    ] = None,
    corpus: CorpusOption = None,
    home: HomeOption = None,
) -> None:
    """Propose what words should count for in retrieval, by the judgements on this corpus. Changes nothing itself."""
    from rich.table import Table

    from evals.feedback import HALF_LIFE_DAYS, propose_factor
    from rag.settings import load_settings

    settings = load_settings(home=home, corpus=corpus)
    judged = _store(home).feedback(corpus=settings.corpus)
    with _ranking(settings) as rank:
        found = propose_factor(judged, rank=rank, now=time.time(), half_life=half_life or HALF_LIFE_DAYS)
    if found.tried:
        table = Table("factor", "score", "gain, shrunk")
        for each in found.tried:
            table.add_row(f"{each.factor:g}", f"{each.score:+.3f}", f"{each.gain:+.3f}")
        console().print(table)
    console().print(f"Of {len(judged)} judgements: {found.reason}.")
    if found.factor != settings.keyword_factor:
        console().print(f"To use it: CITEWISE_KEYWORD_FACTOR={found.factor:g}")


def _store(home: Path | None) -> "ConversationStore":
    from rag.conversations import ConversationStore
    from rag.settings import load_settings

    return ConversationStore.open(load_settings(home=home).home)


@contextmanager
def _ranking(settings: "Settings") -> "Iterator[Rank]":
    """What finds the papers for a question with words counting for a multiple."""
    from rag.ingest import ensure_corpus
    from rag.retrieval import HybridRetriever
    from rag.wiring import build_embedder

    embedder = build_embedder(settings)
    with progress_bar() as on_progress:
        corpus = ensure_corpus(settings.home, settings.corpus, embedder=embedder, on_progress=on_progress)

    def rank(question: str, factor: float) -> list[str]:
        retriever = HybridRetriever(corpus=corpus, embedder=embedder, keyword_factor=factor)
        return [hit.paper.paper_id for hit in retriever.search(question, k=PAPERS)]

    try:
        yield rank
    finally:
        corpus.close()

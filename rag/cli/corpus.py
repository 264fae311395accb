"""`citewise corpus list|show|export|backup|restore|share|remove`."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli.screen import CorpusOption, HomeOption, JsonOption, console, progress_bar, safe, typeset

if TYPE_CHECKING:
    from rag.corpus import Corpus
    from rag.domain import Paper
    from rag.settings import Settings

corpus_app = typer.Typer(help="Look at corpora.", no_args_is_help=True, add_completion=False)


@corpus_app.command("list")
def list_command(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the corpora."""
    from rag.answer_json import dump
    from rag.ingest import list_corpora
    from rag.settings import load_settings

    settings = load_settings(home=home)
    for info in list_corpora(settings.home):
        if as_json:
            print(dump({"name": info.name, "papers": info.papers, "model": info.model}))
        else:
            console().print(f"{info.name}: {info.papers:,} papers, indexed with {info.model}")


@corpus_app.command("show")
def show_command(
    paper_id: Annotated[str, typer.Argument(help="A paper's id, as search and citations show it.")],
    corpus: CorpusOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one paper."""
    from rag.cli.answer_text import print_paper_line
    from rag.records import to_line

    paper = _paper(_open(home, corpus), paper_id)
    if as_json:
        print(to_line(paper).decode(), end="")
        return
    print_paper_line(paper, label=f"{paper.paper_id}:", out=console())
    console().print(typeset(f"\n{paper.abstract}", out=console()))


@corpus_app.command("export")
def export_command(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    form: Annotated[Literal["jsonl", "bibtex"], typer.Option("--format", help="What to write.")] = "jsonl",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write. [default: stdout]")] = None,
) -> None:
    """Write all papers of a corpus, as JSONL that `citewise ingest` reads or as BibTeX."""
    from rag.bibtex import bibtex_entry
    from rag.records import to_line

    opened = _open(home, corpus)
    with output.open("w", encoding="utf-8") if output else nullcontext(sys.stdout) as out:
        for row in range(len(opened)):
            paper = opened.paper(row)
            out.write(to_line(paper).decode() if form == "jsonl" else bibtex_entry(paper) + "\n")
    console(stderr=True).print(f"{len(opened):,} papers written.")


@corpus_app.command("backup")
def backup_command(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. [default: CORPUS.zip]", dir_okay=False)
    ] = None,
) -> None:
    """Write a corpus, its records and their embeddings, to one file."""
    from rag.backup import back_up
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    target = output or Path(f"{settings.corpus}.zip")
    told = back_up(settings.home, settings.corpus, target, embedder=build_embedder(settings))
    console().print(f"{told.papers:,} papers of {told.name} in {safe(str(target))}")


@corpus_app.command("restore")
def restore_command(
    file: Annotated[Path, typer.Argument(help="What `citewise corpus backup` wrote.", dir_okay=False)],
    corpus: Annotated[
        str | None, typer.Option("--corpus", help="The name to give it. [default: the name that it had]")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Build a corpus from a backup. Nothing is embedded again."""
    from rag.backup import describe, restore
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    name = corpus or describe(file).name
    with progress_bar() as on_progress:
        manifest = restore(settings.home, file, name=name, embedder=build_embedder(settings), on_progress=on_progress)
    console().print(f"{safe(name)}: {manifest.papers:,} papers")


@corpus_app.command("share")
def share_command(corpus: CorpusOption = None, home: HomeOption = None) -> None:
    """Write to the Chroma server of CITEWISE_CHROMA what it does not hold of a corpus."""
    from rag.errors import SettingsError
    from rag.settings import load_settings

    settings = load_settings(home=home, corpus=corpus)
    if not settings.chroma:
        raise SettingsError("CITEWISE_CHROMA is not set.", fix="Set it to the address of a Chroma server.")
    share_with_server(settings)


def share_with_server(settings: "Settings") -> None:
    """Shares the corpus that `settings` name with the Chroma server that they name, and says so."""
    from rag.ingest import ensure_corpus
    from rag.wiring import build_chroma_server, build_embedder

    server = build_chroma_server(settings)
    with progress_bar() as on_progress:
        shared = ensure_corpus(
            settings.home,
            settings.corpus,
            embedder=build_embedder(settings),
            on_progress=on_progress,
            server=server,
        )
    console().print(f"{safe(settings.corpus)}: {shared.manifest.chunks:,} chunks at {server}")
    shared.close()


@corpus_app.command("remove")
def remove_command(
    paper_ids: Annotated[list[str], typer.Argument(help="Ids of papers, as search and citations show them.")],
    corpus: CorpusOption = None,
    home: HomeOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take papers out of a corpus. `citewise corpus show --json` prints a paper as `citewise ingest` reads it."""
    from rag.cli.answer_text import print_paper_line
    from rag.ingest import remove_papers
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    opened = _open(home, corpus)
    for paper_id in paper_ids:
        print_paper_line(_paper(opened, paper_id), label=f"{paper_id}:", out=console(stderr=True))
    if not yes:
        typer.confirm(f"Remove {len(set(paper_ids))} from {opened.name}?", abort=True, err=True)
    opened.close()
    with progress_bar() as on_progress:
        left = remove_papers(
            settings.home, settings.corpus, paper_ids, embedder=build_embedder(settings), on_progress=on_progress
        )
    console().print(f"{left.name}: {left.papers:,} papers")


def _paper(opened: "Corpus", paper_id: str) -> "Paper":
    from rag.errors import CorpusError

    row = opened.row_of(paper_id)
    if row is None:
        raise CorpusError(
            f"Corpus {opened.name} has no paper {safe(paper_id)}.", fix="`citewise search` shows the ids of papers."
        )
    return opened.paper(row)


def _open(home: Path | None, corpus: str | None) -> "Corpus":
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    with progress_bar() as on_progress:
        return ensure_corpus(settings.home, settings.corpus, embedder=build_embedder(settings), on_progress=on_progress)

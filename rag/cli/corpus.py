"""`citewise ingest` and `citewise corpus list|show|export`."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli.screen import CorpusOption, HomeOption, JsonOption, console, progress_bar, safe

if TYPE_CHECKING:
    from rag.corpus import Corpus

corpus_app = typer.Typer(help="Look at corpora.", no_args_is_help=True, add_completion=False)

SHOWN_REJECTS = 10


def ingest(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="JSONL (also .gz) or plain text, one abstract a paragraph.", show_default=False),
    ] = None,
    corpus: CorpusOption = None,
    home: HomeOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the index anew from the corpus's records.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before an embedding endpoint is paid.")] = False,
) -> None:
    """Add abstracts to a corpus. What is in it already is left alone; a changed abstract replaces the old one."""
    from rag.cli.embedding_cost import announces_cost
    from rag.ingest import ingest_files
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    if not files and not rebuild:
        raise typer.BadParameter("name at least one file", param_hint="FILES")
    with progress_bar() as on_progress:
        report = ingest_files(
            settings.home,
            settings.corpus,
            files or [],
            embedder=build_embedder(settings),
            on_progress=on_progress,
            before_embedding=announces_cost(settings, yes=yes),
            rebuild=rebuild,
        )
    out = console(stderr=True)
    for reject in report.rejects[:SHOWN_REJECTS]:
        place = f"{reject.file}:{reject.line}" + (f" {reject.field}" if reject.field else "")
        out.print(f"skipped {safe(place)} ({safe(reject.record)}): {safe(reject.reason)}", style="yellow")
    if len(report.rejects) > SHOWN_REJECTS:
        out.print(f"… and {len(report.rejects) - SHOWN_REJECTS} more", style="yellow")
    counts = {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "duplicates": report.duplicates,
        "skipped": len(report.rejects),
    }
    told = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    console().print(f"{settings.corpus}: {report.total:,} papers ({told})")


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
    from rag.errors import CorpusError
    from rag.records import to_line

    opened = _open(home, corpus)
    row = opened.row_of(paper_id)
    if row is None:
        raise CorpusError(
            f"Corpus {opened.name} has no paper {paper_id}.", fix="`citewise search` shows the ids of papers."
        )
    paper = opened.paper(row)
    if as_json:
        print(to_line(paper).decode(), end="")
        return
    print_paper_line(paper, label=f"{paper.paper_id}:", out=console())
    console().print(f"\n{safe(paper.abstract)}")


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


def _open(home: Path | None, corpus: str | None) -> "Corpus":
    from rag.ingest import ensure_corpus
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    with progress_bar() as on_progress:
        return ensure_corpus(settings.home, settings.corpus, embedder=build_embedder(settings), on_progress=on_progress)

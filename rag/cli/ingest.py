"""`citewise ingest`: sources of papers into a corpus, and what became of their records."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.cli.corpus import share_with_server
from rag.cli.screen import EXIT_USAGE, CorpusOption, HomeOption, console, print_error, progress_bar, safe

if TYPE_CHECKING:
    from rag.fetching import Fetching
    from rag.ingest_report import IngestReport
    from rag.settings import Settings

SHOWN_REJECTS = 10
SHOWN_PAIRS = 5

# As in `rag.readers` and `rag.linking`, which are imported where they are used: `citewise --help` is to be instant.
Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "bibtex", "ris", "text", "markdown"]
Duplicates = Literal["merge", "keep", "report"]


def ingest(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="Files, folders, zip archives, - for standard input, openreview:VENUE, arxiv:QUERY-OR-IDS, pmlr:vN.",
            show_default=False,
        ),
    ] = None,
    corpus: CorpusOption = None,
    home: HomeOption = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="The files' format. [default: told by content]")
    ] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", help="FIELD=COLUMN[,...]: which column or field is which, as title=Paper,abstract=Summary."
        ),
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option("--set", help="FIELD=VALUE for records that do not give it, as 'venue=ICML 2025'."),
    ] = None,
    duplicates: Annotated[
        Duplicates, typer.Option("--duplicates", help="One work under several ids: merge, keep, or keep and report.")
    ] = "merge",
    encoding_errors: Annotated[
        Literal["strict", "replace"],
        typer.Option("--encoding-errors", help="Skip records that are not UTF-8, or replace their bad bytes."),
    ] = "strict",
    rejects: Annotated[
        Path | None,
        typer.Option(
            "--rejects", help="File for skipped records. [default: rejects.jsonl of the corpus]", dir_okay=False
        ),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch anew what was fetched before.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the index anew from the corpus's records.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before an embedding endpoint is paid.")] = False,
) -> None:
    """Add abstracts to a corpus. What is in it already is left alone; a changed abstract replaces the old one.

    Bad records are named with file, line and reason, and skipped; the rest goes in.
    """
    from rag.cli.embedding_cost import announces_cost
    from rag.ingest import ingest_files
    from rag.ingest_report import NothingToIndex
    from rag.readers import ReadOptions
    from rag.settings import load_settings
    from rag.wiring import build_embedder

    settings = load_settings(home=home, corpus=corpus)
    if not sources and not rebuild:
        raise typer.BadParameter("name at least one source", param_hint="SOURCE")
    options = ReadOptions(
        format=form,
        mapping=_pairs(mapping or [], "--map", separator=","),
        constants=_pairs(constants or [], "--set"),
        encoding_errors=encoding_errors,
    )
    try:
        with progress_bar() as on_progress:
            report = ingest_files(
                settings.home,
                settings.corpus,
                sources or [],
                embedder=build_embedder(settings),
                on_progress=on_progress,
                before_embedding=announces_cost(settings, yes=yes),
                rebuild=rebuild,
                options=options,
                duplicates=duplicates,
                rejects_file=rejects,
                fetching=_fetching(settings, refresh=refresh),
            )
    except NothingToIndex as error:
        print_error(error)
        raise typer.Exit(EXIT_USAGE) from error
    _print(report, corpus=settings.corpus, merged=duplicates == "merge")
    if settings.chroma:
        share_with_server(settings)


def _fetching(settings: "Settings", *, refresh: bool) -> "Fetching":
    from rag.fetching import ARXIV, OPENREVIEW, PMLR, Fetching

    return Fetching(
        cache=settings.home / "cache" / "fetch",
        openreview_url=settings.openreview_url or OPENREVIEW,
        arxiv_url=settings.arxiv_url or ARXIV,
        pmlr_url=settings.pmlr_url or PMLR,
        refresh=refresh,
    )


def _pairs(texts: list[str], option: str, *, separator: str | None = None) -> dict[str, str]:
    """`FIELD=VALUE` texts as a dictionary. Raises BadParameter for what is none, or names no field of a record."""
    from rag.records import KNOWN_FIELDS

    fields = (*KNOWN_FIELDS, "doi")
    pairs: dict[str, str] = {}
    parts = [part for text in texts for part in (text.split(separator) if separator else [text])]
    for text in parts:
        field, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value or field not in fields:
            raise typer.BadParameter(
                f"{text!r} is not FIELD=VALUE with a field of {', '.join(fields)}", param_hint=option
            )
        pairs[field] = value
    return pairs


def _print(report: "IngestReport", *, corpus: str, merged: bool) -> None:
    out = console(stderr=True)
    for reject in report.rejects[:SHOWN_REJECTS]:
        place = f"{reject.file}:{reject.line}" + (f" {reject.field}" if reject.field else "")
        out.print(f"skipped {safe(place)} ({safe(reject.record)}): {safe(reject.reason)}", style="yellow")
    if report.rejected > SHOWN_REJECTS:
        more = report.rejected - SHOWN_REJECTS
        out.print(f"… and {more:,} more, all in {safe(str(report.rejects_file))}", style="yellow")
    for what, count in sorted(report.repaired.items()):
        out.print(f"repaired {count:,} records: {what}")
    for pair in report.near_duplicates[:SHOWN_PAIRS]:
        verb = "merged" if merged else "same work"
        out.print(f"{verb}: {safe(pair.other.paper_id)} and {safe(pair.kept)} ({safe(pair.other.label)})")
    if len(report.near_duplicates) > SHOWN_PAIRS:
        out.print(f"… and {len(report.near_duplicates) - SHOWN_PAIRS:,} more pairs, all in near-duplicates.jsonl")
    counts = {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "duplicates": report.duplicates,
        "skipped": report.rejected,
    }
    told = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    console().print(f"{corpus}: {report.total:,} papers ({told})")

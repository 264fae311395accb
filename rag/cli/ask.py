"""`citewise ask` and `citewise search`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli.filter_options import (
    AuthorOption,
    CategoryOption,
    IdOption,
    NoFiltersOption,
    TitleOption,
    VenueOption,
    YearOption,
    filters_of,
)
from rag.cli.screen import (
    EXIT_FAILED,
    EXIT_NEEDS_DETAIL,
    EXIT_NOT_IN_CORPUS,
    ContextOption,
    CorpusOption,
    HomeOption,
    JsonOption,
    LanguageOption,
    ModelOption,
    WriterOption,
    console,
    progress_bar,
    safe,
    with_model,
)
from rag.errors import InputError
from rag.filters import Filters

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.domain import Answer
    from rag.settings import Settings

QUESTION_HELP = (
    "The question; - reads one a line from standard input: plain text, or JSON with question, id, history, corpus,"
    " filters."
)

PRIVATE_HELP = (
    "Send a model stand-ins for the names, numbers, addresses and code names of the question, and restore them in the "
    "answer. Does not hide the abstracts that are sent, the topic, plain words, or how you write. "
    "[default: CITEWISE_PRIVATE]"
)

EXPORT_HELP = "Also write the answer to this file; .md, .html, .bib, .ris or .json says as what."


def ask(
    question: Annotated[str, typer.Argument(help=QUESTION_HELP)],
    corpus: CorpusOption = None,
    home: HomeOption = None,
    writer: WriterOption = None,
    model: ModelOption = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Papers to retrieve. [default: CITEWISE_K]", min=1, max=50)
    ] = None,
    context: ContextOption = None,
    language: LanguageOption = None,
    year: YearOption = None,
    author: AuthorOption = None,
    venue: VenueOption = None,
    category: CategoryOption = None,
    title: TitleOption = None,
    paper_id: IdOption = None,
    no_filters: NoFiltersOption = False,
    as_json: JsonOption = False,
    export: Annotated[Path | None, typer.Option("--export", help=EXPORT_HELP, dir_okay=False)] = None,
    private: Annotated[
        bool | None, typer.Option("--private/--no-private", help=PRIVATE_HELP, show_default=False)
    ] = None,
    show_request: Annotated[
        bool, typer.Option("--show-request", help="Print the JSON that a chat model would be sent, and do not send it.")
    ] = False,
) -> None:
    """Answer a question with citations. Exit code: 0 answered, 3 not in the corpus, 4 asked back, 1 failed, 2 usage."""
    from rag.settings import load_settings

    filters = filters_of(
        year=year,
        author=author,
        venue=venue,
        category=category,
        title=title,
        paper_id=paper_id,
        no_filters=no_filters,
    )
    settings = load_settings(
        home=home, corpus=corpus, writer=writer, k=k, context=context, language=language, private=private
    )
    settings = with_model(settings, model)
    if show_request:
        _show_request(question, settings, filters=filters)
        raise typer.Exit(0)
    if question == "-":
        if not as_json:
            raise typer.BadParameter("reading questions from standard input prints JSON: add --json", param_hint="-")
        if export:
            raise typer.BadParameter("takes one answer, not those of standard input", param_hint="--export")
        from rag.cli.batch import answer_lines

        raise typer.Exit(answer_lines(sys.stdin, settings=settings, filters=filters))
    raise typer.Exit(_answer(question, settings, filters=filters, as_json=as_json, export=export))


def _answer(question: str, settings: "Settings", *, filters: Filters | None, as_json: bool, export: Path | None) -> int:
    """Answers, prints and exports the one question; returns the exit code."""
    from rag.assistant import Assistant

    if export:
        from ui.exporting import form_of

        form_of(export)  # before an answer is paid for
    with progress_bar() as on_progress:
        assistant = Assistant.from_settings(settings, on_progress=on_progress)
    if settings.writer == "auto":
        console(stderr=True).print(f"Writer: {assistant.writer_name}, as {safe(assistant.about_writer)}", style="dim")
    if as_json:
        from rag.answer_json import answer_to_dict, dump

        answer = assistant.ask(question, filters=filters)
        print(dump(answer_to_dict(answer)))
    else:
        answer = _show_live(assistant, question, filters=filters)
    if export:
        _write(answer, export)
    return exit_code(answer)


def _write(answer: "Answer", path: Path) -> None:
    """Writes the answer to `path`, in the form that its suffix names. Raises InputError where it cannot be written."""
    from ui.exporting import export, form_of

    try:
        path.write_text(export([answer], title=answer.question, form=form_of(path)), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", fix="Give another place.") from error
    console(stderr=True).print(f"Written to {path}.")


def _show_request(question: str, settings: "Settings", *, filters: Filters | None) -> None:
    """Prints the requests that would be sent, one JSON object a line."""
    from rag.answer_json import dump
    from rag.assistant import Assistant
    from rag.request_preview import RequestPreview
    from rag.wiring import build_embedding_endpoint

    if endpoint := build_embedding_endpoint(settings):
        console(stderr=True).print(f"To search, the question is sent to the embedding endpoint {endpoint.host}.")
    bodies: list[dict[str, object]] = []
    with progress_bar() as on_progress:
        assistant = Assistant.from_settings(
            settings, on_progress=on_progress, connect=lambda endpoint: RequestPreview(endpoint, bodies)
        )
    assistant.ask(question, filters=filters)
    for body in bodies:
        print(dump(body))
    if not bodies:
        reason = "no abstract bears on it" if assistant.writer_name != "extractive" else "no model writes the answer"
        console(stderr=True).print(f"Nothing would be sent: {reason}.")


def exit_code(answer: "Answer") -> int:
    """What the shell is told of an outcome."""
    return {
        "answered": 0,
        "not_in_corpus": EXIT_NOT_IN_CORPUS,
        "needs_detail": EXIT_NEEDS_DETAIL,
        "failed": EXIT_FAILED,
    }[answer.outcome]


def _show_live(assistant: "Assistant", question: str, *, filters: Filters | None) -> "Answer":
    """Prints the answer as it comes, then its citations and how it was made."""
    from rag.cli.answer_text import print_ending, print_outcome, print_revision, safe_stream
    from rag.domain import Finished, TextPart

    events = assistant.stream(question, filters=filters)
    shown = ""
    for event in safe_stream(events, out=console()):
        if isinstance(event, TextPart):
            shown += event.text
        if isinstance(event, Finished):
            print_revision(event.answer, shown=shown, out=console())
            print_outcome(event.answer, out=console())
            print_ending(event.answer, out=console())
            return event.answer
    raise AssertionError("the stream of an answer ends with Finished")


def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    corpus: CorpusOption = None,
    home: HomeOption = None,
    k: Annotated[int | None, typer.Option("-k", help="Papers to show. [default: CITEWISE_K]", min=1, max=50)] = None,
    year: YearOption = None,
    author: AuthorOption = None,
    venue: VenueOption = None,
    category: CategoryOption = None,
    title: TitleOption = None,
    paper_id: IdOption = None,
    no_filters: NoFiltersOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the papers that fit a query best, with the scores of each stage."""
    from rag.answer_json import dump, scored_paper_to_dict
    from rag.assistant import Assistant
    from rag.cli.answer_text import print_paper_line
    from rag.settings import load_settings

    filters = filters_of(
        year=year,
        author=author,
        venue=venue,
        category=category,
        title=title,
        paper_id=paper_id,
        no_filters=no_filters,
    )
    settings = load_settings(home=home, corpus=corpus, writer="extractive", k=k)
    with progress_bar() as on_progress:
        assistant = Assistant.from_settings(settings, on_progress=on_progress)
    note = assistant.scope(query, filters=filters).note
    found = assistant.search(query, filters=filters)
    if note:
        console(stderr=True).print(f"Note: {safe(note)}", style="yellow")
    for place, scored in enumerate(found, start=1):
        if as_json:
            print(dump(scored_paper_to_dict(scored)))
        else:
            stages = "  ".join(f"{name} {score:.2f}" for name, score in scored.stages.items())
            print_paper_line(scored.paper, label=f"{place}.", tail=stages, out=console())
    if not found and not as_json:
        console(stderr=True).print("Nothing was found.")

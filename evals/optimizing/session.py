"""Optimising by settings: who proposes, and how a suite is asked with a prompt that is not in use yet."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evals.cases.suites import Suite
from evals.optimizing.proposing import Attempt, Proposal, propose
from evals.optimizing.search import Ask, Propose, write_prompt
from evals.running.call_cache import CallCache
from evals.running.folder import RunFolder
from evals.running.runner import OnProgress, ask_missing
from evals.running.session import CACHE, known_of, opened_run, score_run
from rag.errors import SettingsError
from rag.picking import pick_writer
from rag.prompting import IN_USE, Prompt, load_prompt
from rag.settings import Settings
from rag.wiring import build_endpoint, build_rewriter, guarded, plain_models

OUTPUT_TOKENS = 2000
"""Room for a whole prompt."""
FOLDER = "optimising"


def check_model(settings: Settings, *, prompt: str) -> Settings:
    """The settings with a model that writes, and by `prompt`.

    Raises SettingsError where there is no model, as nobody could propose, or where it is not sent that prompt, as all
    proposals would then do alike.
    """
    picked = pick_writer(settings).settings
    if picked.writer == "extractive":
        raise SettingsError(
            "Prompts are optimised by a model, and none is configured.",
            fix="Set CITEWISE_BASE_URL and CITEWISE_MODEL, or name one with --model.",
        )
    sent = {"brief"} if picked.writer == "local" else {"answer", "rows"}
    sent |= {"revise"} if picked.revise else set()
    sent |= {"standalone"} if build_rewriter(picked) else set()
    if prompt not in sent:
        raise SettingsError(
            f"By these settings no model is sent the prompt {prompt!r}.", fix=f"Name one of {', '.join(sorted(sent))}."
        )
    return picked


@contextmanager
def proposer(settings: Settings, runs: Path) -> Iterator[Propose]:
    """Who proposes prompts: the model of the settings, its calls cached."""
    ask = load_prompt("propose", IN_USE["propose"], folder=settings.prompts)
    with CallCache(runs / CACHE) as cache:
        models = guarded(settings, connect=cache.connect(plain_models(settings)))
        model = models(replace(build_endpoint(settings), max_output_tokens=OUTPUT_TOKENS))

        def make(best: Attempt, history: list[Attempt]) -> Proposal:
            return propose(model, ask=ask, best=best, history=history)

        yield make


def asker(settings: Settings, runs: Path, *, jobs: int, on_progress: Callable[[str], OnProgress]) -> Ask:
    """Asks a suite with a prompt in place of the one in use; what was asked before comes from the cache."""

    def ask(suite: Suite, prompt: Prompt) -> RunFolder:
        folder = runs / FOLDER / prompt.label.replace("/", "-")
        if settings.prompts:
            shutil.copytree(settings.prompts, folder, dirs_exist_ok=True)
        write_prompt(prompt, folder, version=IN_USE[prompt.name])
        own = settings.model_copy(update={"prompts": folder})
        with opened_run(suite, settings=own, runs=runs) as opened:
            ask_missing(opened.run, assistant=opened.assistant, jobs=jobs, on_progress=on_progress(suite.name))
            score_run(opened.run, known_of(opened.assistant.corpus, settings=own, identity=opened.run.identity()))
            return opened.run

    return ask

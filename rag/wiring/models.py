"""What writes: the writer, and the chat models that restate questions, correct answers and judge them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import SettingsError
from rag.extractive import ExtractiveWriter
from rag.picking import pick_writer
from rag.settings import Settings
from rag.wiring.endpoints import build_endpoint, build_judge_endpoint, local_model_file, local_server

if TYPE_CHECKING:
    from rag.answering import Writer
    from rag.chat_writer import Model
    from rag.context import Context, Window
    from rag.entailment import EntailmentJudge
    from rag.followup import Rewriter
    from rag.judging import Judge
    from rag.llm import Endpoint
    from rag.private import Knows
    from rag.revising import Reviser

Connect = Callable[["Endpoint"], "Model"]
"""Makes the chat model at an endpoint."""
SHORTEST_SECRET = 8


def guarded(settings: Settings, *, knows: "Knows | None" = None, connect: Connect | None = None) -> Connect:
    """How all chat models are made: behind the walls of `rag.guarding`, and of `rag.private` where it is set.

    `knows` tells the words of the corpus, which need no stand-in. `connect` replaces the model that makes the calls.
    """

    def make(endpoint: "Endpoint") -> "Model":
        from rag.guarding import GuardedModel

        model = (connect or plain_models(settings))(endpoint)
        if settings.private:
            from rag.private import PrivateModel

            model = PrivateModel(model, knows=knows or (lambda word: False))
        secrets = (endpoint.api_key or "", *(endpoint.credentials or ()))
        return GuardedModel(model, secrets=[secret for secret in secrets if len(secret) >= SHORTEST_SECRET])

    return make


def plain_models(settings: Settings) -> Connect:
    """What makes the calls to the chat model of `settings`, without any wall before it."""
    from rag.llm import ChatModel

    if pick_writer(settings).name != "local":
        return ChatModel
    from rag.local.server import LocalModel

    server = local_server(settings)
    # A judge is at an endpoint of its own.
    return lambda endpoint: ChatModel(endpoint) if endpoint.role == "judge" else LocalModel(endpoint, server=server)


def build_writer(settings: Settings, *, models: Connect | None = None) -> "Writer":
    """The writer that `settings` ask for, ready to write; nothing is sent yet."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive":
        return ExtractiveWriter()
    prompt = "brief" if settings.writer == "local" else "answer"
    writer = _chat_writer(settings, models=models, prompt=prompt, window=build_window(settings))
    if settings.writer != "local":
        return writer
    from rag.screening import ScreenedWriter

    return ScreenedWriter(writer, instead=ExtractiveWriter())


def build_row_writer(settings: Settings, *, models: Connect | None = None) -> "Writer | None":
    """Who writes lists and tables, None where no model writes; a local one reads too slowly for so many papers."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive":
        return None
    if settings.writer == "local":
        return ExtractiveWriter()
    return _chat_writer(settings, models=models, prompt="rows", window=build_window(settings, context="brief"))


def _chat_writer(settings: Settings, *, models: Connect | None, prompt: str, window: "Window") -> "Writer":
    from rag.chat_writer import ChatWriter
    from rag.guarding import GuardedWriter
    from rag.prompting import IN_USE, load_prompt
    from rag.sampling import TEMPERATURE

    endpoint = build_endpoint(settings)
    if settings.samples > 1:
        endpoint = replace(endpoint, temperature=TEMPERATURE)
    writer = ChatWriter(
        model=(models or guarded(settings))(endpoint),
        prompt=load_prompt(prompt, IN_USE[prompt], folder=settings.prompts),
        window=window,
        name=settings.writer,
        warning=model_warning(settings),
        language=settings.language,
    )
    return GuardedWriter(writer, instead=ExtractiveWriter())


def model_warning(settings: Settings) -> str | None:
    """One sentence on a model that is too weak to be trusted; None for all others."""
    settings = pick_writer(settings).settings
    return local_model_file(settings).warning if settings.writer == "local" else None


def build_window(settings: Settings, *, context: "Context | None" = None) -> "Window":
    """What the chat model reads and may write; local models get few sources unless the user says how many."""
    from rag.context import LOCAL_SOURCES, Window, choose_context

    if settings.max_output_tokens >= settings.context_tokens:
        raise SettingsError(
            f"A window of {settings.context_tokens} tokens has no room for answers of {settings.max_output_tokens}.",
            fix="Lower CITEWISE_MAX_OUTPUT_TOKENS or raise CITEWISE_CONTEXT_TOKENS.",
        )
    few = settings.writer == "local" and "k" not in settings.model_fields_set
    return Window(
        context_tokens=settings.context_tokens,
        max_output_tokens=settings.max_output_tokens,
        context=context or choose_context(settings.context, context_tokens=settings.context_tokens),
        most_sources=LOCAL_SOURCES if few else None,
    )


def build_rewriter(settings: Settings, *, models: Connect | None = None) -> "Rewriter | None":
    """Who restates follow-up questions: a chat model where one writes, unless it is weak or the settings say no."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive" or not settings.rewrite or model_warning(settings):
        return None
    from rag.prompting import IN_USE, load_prompt
    from rag.rewriting import MAX_OUTPUT_TOKENS, ChatRewriter

    short = replace(build_endpoint(settings), max_output_tokens=MAX_OUTPUT_TOKENS)
    return ChatRewriter(
        model=(models or guarded(settings))(short),
        prompt=load_prompt("standalone", IN_USE["standalone"], folder=settings.prompts),
        context_tokens=settings.context_tokens,
    )


def build_reviser(settings: Settings, *, models: Connect | None = None) -> "Reviser | None":
    """Who corrects answers that the check finds wanting: a chat model where one writes and the settings ask for it."""
    settings = pick_writer(settings).settings
    if settings.writer == "extractive" or not settings.revise:
        return None
    from rag.chat_reviser import ChatReviser
    from rag.prompting import IN_USE, load_prompt

    return ChatReviser(
        model=(models or guarded(settings))(build_endpoint(settings)),
        prompt=load_prompt("revise", IN_USE["revise"], folder=settings.prompts),
        window=build_window(settings),
        rounds=settings.revise,
        language=settings.language,
    )


def build_judge(settings: Settings, *, models: Connect | None = None) -> "Judge | None":
    """Who judges support beside the check by words: the model that the settings name, or else a local one itself."""
    endpoint = build_judge_endpoint(settings)
    if settings.entailment_model:
        return _entailment_judge(settings.entailment_model, has_endpoint=endpoint is not None)
    if endpoint is None:
        return _confirming_judge(settings, models=models)
    from rag.chat_judge import ChatJudge
    from rag.prompting import IN_USE, load_prompt

    prompt = load_prompt("judge", IN_USE["judge"], folder=settings.prompts)
    model = (models or guarded(settings))(endpoint)
    return ChatJudge(model=model, prompt=prompt, context_tokens=settings.context_tokens)


def _confirming_judge(settings: Settings, *, models: Connect | None) -> "Judge | None":
    """The local model that writes, asked for a second look; a weak one's word is worth nothing."""
    settings = pick_writer(settings).settings
    if settings.writer != "local" or not settings.self_check or model_warning(settings):
        return None
    from rag.confirming import CHOICES, ConfirmingJudge
    from rag.prompting import IN_USE, load_prompt

    endpoint = replace(build_endpoint(settings), choices=CHOICES, max_output_tokens=1)
    prompt = load_prompt("confirm", IN_USE["confirm"], folder=settings.prompts)
    return ConfirmingJudge(model=(models or guarded(settings))(endpoint), prompt=prompt)


def _entailment_judge(folder: Path, *, has_endpoint: bool) -> "EntailmentJudge":
    if has_endpoint:
        raise SettingsError(
            "Two models are to judge support.", fix="Unset CITEWISE_JUDGE_MODEL or CITEWISE_ENTAILMENT_MODEL."
        )
    from rag.entailment import EntailmentJudge, EntailmentModel

    return EntailmentJudge(EntailmentModel(folder))

"""The page as a whole: its tabs, its public endpoints, and how it is mounted."""

from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

import gradio as gr

from evals.judging.labelling import user_name
from evals.report.html import STYLE as REPORT_STYLE
from evals.running.session import runs_folder
from rag.assistant import Assistant
from rag.conversations import ConversationStore
from rag.domain import Paper
from rag.settings import Settings
from ui.api import public_functions, translated
from ui.ask_tab import ask_tab
from ui.components import ANSWERS_AT_ONCE, ANSWERS_WAITING, html
from ui.corpus_changes import MAX_UPLOAD_BYTES
from ui.corpus_tab import corpus_tab
from ui.evals_tab import evals_tab
from ui.keeping import Keeper
from ui.panel import header
from ui.settings_drawer import Choices

LOCAL_OWNER = "local"
"""Whose conversations are kept where the page is open to this machine alone and asks for no password."""
_STYLES = ("style.css", "drawers.css", "corpus.css", "evals.css")
_SCRIPTS = (
    "page.js",
    "drawers.js",
    "keeping.js",
    "corpus.js",
    "panes.js",
    "labelling.js",
    "reviewing.js",
    "leaving.js",
)
_SESSIONS = 500
_UPLOAD_SECONDS = 3600
"""After which an uploaded file that was not read is deleted."""


@dataclass(frozen=True, slots=True)
class PageConfig:
    """Where the page is served from, who may see it and do what, and what it offers.

    `auth` is a user name and a password; `adds` lets readers add papers and remove them; `mcp` serves the tools of
    `ui.mcp`. Conversations are kept in `store` as those of `owner`; without a store, each browser keeps its own. With
    `evals`, the page shows the runs below its home, starts new ones by these settings, takes labels of them, and lets
    readers accept or reject the drafts of its suites.
    """

    root_path: str | None = None
    auth: tuple[str, str] | None = None
    adds: bool = False
    mcp: bool = False
    store: ConversationStore | None = None
    owner: str = LOCAL_OWNER
    choices: Choices = field(default_factory=Choices)
    evals: Settings | None = None


def build(assistant: Assistant, config: PageConfig) -> tuple[gr.Blocks, dict[str, Any]]:
    """The page, and the keyword arguments that `gr.mount_gradio_app` needs for it."""
    with gr.Blocks(
        title="citewise", analytics_enabled=False, fill_width=True, delete_cache=(_UPLOAD_SECONDS, _UPLOAD_SECONDS)
    ) as page:
        title = html(header(assistant.corpus.name, len(assistant.corpus)), "header")
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Ask", id="ask", elem_id="ask-tab"):
                keeper = Keeper(config.store, owner=config.owner)
                asking = ask_tab(assistant, page, keeper=keeper, choices=config.choices)
            with gr.Tab("Corpus", id="corpus", elem_id="corpus-tab"):
                corpus_tab(assistant, scope_ids=asking.scope_ids, tabs=tabs, header_line=title, changeable=config.adds)
            if config.evals:
                with gr.Tab("Evals", elem_id="evals-tab") as tab:
                    annotator = config.auth[0] if config.auth else user_name()
                    runs = runs_folder(config.evals, None)
                    evals_tab(config.evals, runs, tab, annotator=annotator, paper_of=partial(_paper, assistant))
        for name, function in public_functions(assistant)._asdict().items():
            endpoint = translated(function, into=partial(gr.Error, print_exception=False))
            gr.events.api(endpoint, api_name=name, concurrency_id="answers", concurrency_limit=ANSWERS_AT_ONCE)
    page.queue(max_size=ANSWERS_WAITING, default_concurrency_limit=ANSWERS_AT_ONCE, api_open=False)
    page.state_session_capacity = _SESSIONS  # mount_gradio_app has no argument for it
    return page, _mount_arguments(config)


def _paper(assistant: Assistant, paper_id: str) -> Paper | None:
    """A paper of the corpus that is served now."""
    row = assistant.corpus.row_of(paper_id)
    return None if row is None else assistant.corpus.paper(row)


def _mount_arguments(config: PageConfig) -> dict[str, Any]:
    static = files("ui") / "static"
    style = "".join((static / name).read_text(encoding="utf-8") for name in _STYLES)
    if config.evals:
        style = REPORT_STYLE + style
    script = "".join((static / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    font = ["system-ui", "sans-serif"]
    mono = ["ui-monospace", "monospace"]
    return {
        "theme": gr.themes.Base(font=font, font_mono=mono, primary_hue="slate", neutral_hue="stone"),
        "head": f"<style>{style}</style><script>{script}</script>",  # css= would put a prefix before each selector
        "root_path": config.root_path,
        "auth": config.auth,
        "run_history": False,
        "enable_monitoring": False,
        "footer_links": [],
        "pwa": False,
        "ssr_mode": False,
        "mcp_server": False,
        "show_error": False,
        "max_file_size": MAX_UPLOAD_BYTES if config.adds else "1kb",
    }

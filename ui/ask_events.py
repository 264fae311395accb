"""What happens on the Ask tab: questions of all kinds, turns taken back, conversations opened, answers judged."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.assistant import MAX_QUESTION_CHARS, Assistant
from rag.domain import Answer
from rag.errors import SettingsError
from rag.filters import Filters
from rag.options import AskOptions
from ui.ask_view import SHOWN, Updates, conversation_updates, index_of, read_messages, show, shown, view_updates
from ui.components import PRIVATE, WRITING
from ui.controls import FilterBar
from ui.conversation import BROKEN, STOPPED, Message, converse
from ui.filtering import Fields, chips_html, filters_of
from ui.history import turns_of_request
from ui.keeping import Keeper, Place, to_browser
from ui.panel import LEGEND, status_text
from ui.render import question_text
from ui.rich_text import escape_html
from ui.settings_drawer import SettingsDrawer

_JUDGED = {True: "Noted: you like this answer.", False: "Noted: you do not like this answer.", None: "Taken back."}

Controls = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AskComponents:
    """The components of the Ask tab that events read and write."""

    chat: gr.Chatbot
    box: gr.Textbox
    status: gr.HTML
    sources: gr.HTML
    examples: Sequence[gr.Button]
    suggested: gr.HTML
    history: gr.HTML
    filters: FilterBar
    settings: SettingsDrawer
    place: gr.Textbox
    turn: gr.Textbox
    read: gr.Textbox

    @property
    def outputs(self) -> list[Any]:
        """What `ui.ask_view.show` gives updates for, in its order."""
        return [getattr(self, name) for name in SHOWN]

    @property
    def controls(self) -> list[Any]:
        """What each question is asked with: filters, scope and settings."""
        return [*self.filters.fields, self.filters.scope, *self.settings.inputs]


def wire(ask: AskComponents, assistant: Assistant, keeper: Keeper, page: gr.Blocks) -> None:
    """Connects all events of the tab."""
    asking = _Asking(ask, assistant, keeper)
    _wire_questions(ask, asking, page)
    _wire_filters(ask, assistant)
    _wire_corrections(ask, keeper)
    _wire_conversations(ask, assistant, keeper, page)


class _Asking:
    """Asks a question with the page's filters and settings, keeps it, and shows its answer as it comes."""

    def __init__(self, ask: AskComponents, assistant: Assistant, keeper: Keeper) -> None:
        self._ask, self._assistant, self._keeper = ask, assistant, keeper

    def respond(
        self,
        question: str,
        before: tuple[Message, ...],
        place_text: object,
        controls: Controls,
        *,
        all_papers: bool = False,
    ) -> Iterator[Updates]:
        question = question.strip()[:MAX_QUESTION_CHARS]
        if not question:
            yield show()
            return
        try:
            filters, options = self._chosen(controls)
        except SettingsError as error:
            yield show(status=status_text([escape_html(str(error))]))
            return
        self._assistant.refresh()
        place = self._keeper.begin(
            Place.from_json(place_text),
            question,
            corpus=self._assistant.corpus.name,
            turn=sum(role == "user" for role, _ in before),
        )
        answers: list[Answer] = []

        def keep(answer: Answer) -> None:
            answers.append(answer)
            self._keeper.finish(place, answer)

        views = converse(
            self._assistant,
            question,
            before=before,
            options=options,
            filters=filters or (Filters() if all_papers else None),
            keep=keep,
        )
        for number, view in enumerate(views):
            named = view_updates(view, first=number == 0)
            if number == 0:
                named["place"] = place.to_json()
            if answers and not self._keeper.keeps and view.messages:
                named["turn"] = to_browser(question, answers[0], place=place)
            yield show(**named)

    def _chosen(self, controls: Controls) -> tuple[Filters | None, AskOptions]:
        """The filters and options of the components' values. Raises SettingsError for filters that are none."""
        count = len(Fields._fields)
        filters = filters_of(Fields.read(controls[:count]), _scope_ids(controls[count]))
        return filters, self._ask.settings.options(controls[count + 1 :])


def _wire_questions(ask: AskComponents, asking: _Asking, page: gr.Blocks) -> None:
    """What is answered: a new question, an example, a suggestion, an edited one, a retry, all papers, `?q=`; Stop."""

    def submit(question: str, history: object, place: object, *controls: Any) -> Iterator[Updates]:
        yield from asking.respond(question, read_messages(history), place, controls)

    def suggested(event: gr.EventData, history: object, place: object, *controls: Any) -> Iterator[Updates]:
        yield from asking.respond(str(event._data.get("question", "")), read_messages(history), place, controls)

    def retry(event: gr.RetryData, history: object, place: object, *controls: Any) -> Iterator[Updates]:
        messages, at = read_messages(history), index_of(event.index)
        yield from asking.respond(question_text(messages[at][1]), messages[:at], place, controls)

    def edit(event: gr.EditData, history: object, place: object, *controls: Any) -> Iterator[Updates]:
        yield from asking.respond(str(event.value), read_messages(history)[: index_of(event.index)], place, controls)

    def widen(event: gr.EventData, history: object, place: object, *controls: Any) -> Iterator[Updates]:
        """Asks the last question again, of all papers."""
        messages = read_messages(history)
        asked = [at for at, (role, _) in enumerate(messages) if role == "user"]
        if event._data.get("name") != "read" or not asked:
            yield show()
            return
        question = question_text(messages[asked[-1]][1])
        yield from asking.respond(question, messages[: asked[-1]], place, controls, all_papers=True)

    def linked(request: gr.Request, *controls: Any) -> Iterator[Updates]:
        asked = request.query_params
        yield from asking.respond("" if asked.get("c") else asked.get("q", ""), (), "", controls)

    def ended(status: object) -> Updates:
        """What stands where an answer failed or, which Gradio tells likewise, was stopped: the next may be asked."""
        return STOPPED if status == STOPPED else BROKEN, gr.update(submit_btn=True, stop_btn=False)

    chat, box, context = ask.chat, ask.box, [ask.chat, ask.place, *ask.controls]
    answers: list[Any] = [
        box.submit(submit, [box, *context], ask.outputs, **WRITING),
        chat.retry(retry, context, ask.outputs, **WRITING),
        chat.edit(edit, context, ask.outputs, **WRITING),
        ask.suggested.asked(suggested, context, ask.outputs, **WRITING),
        ask.filters.chips.dropped(widen, context, ask.outputs, **WRITING),
        page.load(linked, ask.controls, ask.outputs, **WRITING),
        *(button.click(submit, [button, *context], ask.outputs, **WRITING) for button in ask.examples),
    ]
    for answer in answers:
        answer.failure(ended, ask.status, [ask.status, box], **PRIVATE)
    box.stop(None, None, ask.status, js=f"() => {json.dumps(STOPPED)}", cancels=answers, **PRIVATE)
    ask.place.change(None, ask.place, None, js="(place) => { window.citewise.placed(place); }", **PRIVATE)
    ask.turn.change(
        None, [ask.turn, ask.place], None, js="(turn, place) => { window.citewise.keep(turn, place); }", **PRIVATE
    )


def _wire_filters(ask: AskComponents, assistant: Assistant) -> None:
    """The chips follow the fields, the scope and what the last question named; each takes its filter away."""
    bar = ask.filters
    shown_of: list[Any] = [*bar.fields, bar.scope, ask.read]

    def chips(*values: Any) -> str:
        fields, ids = Fields.read(values[:-2]), _scope_ids(values[-2])
        corpus = assistant.corpus
        rows = [corpus.row_of(paper_id) for paper_id in ids]
        titles = [corpus.paper(row).label for row in rows if row is not None]
        try:
            filters_of(fields, ids)
        except SettingsError as error:
            return chips_html(fields, titles, read=str(values[-1]), problem=str(error))
        return chips_html(fields, titles, read=str(values[-1]))

    def drop(event: gr.EventData) -> Updates:
        name = event._data.get("name")
        cleared = ["" if name == field else gr.skip() for field in Fields._fields]
        return *cleared, () if name == "scope" else gr.skip()

    for component in shown_of:
        component.change(chips, shown_of, bar.chips, **PRIVATE)
    bar.chips.dropped(drop, None, [*bar.fields, bar.scope], **PRIVATE)


def _wire_corrections(ask: AskComponents, keeper: Keeper) -> None:
    """What takes turns away: undo, which gives the question back, and clear, which begins anew. And judgements."""

    def undo(event: gr.UndoData, history: object, place: object) -> Updates:
        messages, at = read_messages(history), index_of(event.index)
        turn = sum(role == "user" for role, _ in messages[:at])
        return show(
            chat=shown(messages[:at]),
            sources=LEGEND,
            status="",
            box=gr.update(value=question_text(messages[at][1])),
            place=keeper.cut(Place.from_json(place), turn=turn).to_json(),
            read="",
            suggested="",
        )

    def judge(event: gr.LikeData, history: object, place: object) -> str:
        turn = sum(role == "user" for role, _ in read_messages(history)[: index_of(event.index)]) - 1
        liked = event.liked if isinstance(event.liked, bool) else None
        kept = keeper.rate(Place.from_json(place), turn=turn, liked=liked)
        return status_text([_JUDGED[liked] if kept else "Judgements are kept for known users alone."])

    ask.chat.undo(undo, [ask.chat, ask.place], ask.outputs, **PRIVATE)
    ask.chat.like(judge, [ask.chat, ask.place], ask.status, **PRIVATE)


def _wire_conversations(ask: AskComponents, assistant: Assistant, keeper: Keeper, page: gr.Blocks) -> None:
    """A conversation that is opened from the drawer or by its address (`?c=`), or a new one."""

    def opened(event: gr.EventData) -> Updates:
        asked: Mapping[str, Any] = event._data if isinstance(event._data, Mapping) else {}
        return conversation_updates(str(asked.get("id") or ""), turns_of_request(asked, keeper), assistant)

    def linked(request: gr.Request) -> Updates:
        asked = str(request.query_params.get("c", ""))
        turns = keeper.turns(asked) if asked and keeper.keeps else None
        return conversation_updates(asked, turns, assistant) if turns else show()

    ask.history.opened(opened, None, ask.outputs, **PRIVATE)
    page.load(linked, None, ask.outputs, **PRIVATE)


def _scope_ids(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()

"""A question's views: what the page shows at each event, how often, and that closing closes the answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rag.domain import Event, TextPart, Turn
from tests.browser.fake_assistant import FakeAssistant
from ui.conversation import Message, View, converse

BEFORE: tuple[Message, ...] = (("user", "q1 &#38; more?"), ("assistant", 'A.[1](#cite-p-1-supported "x")'))


def views(question: str, *, clock: Callable[[], float] = lambda: 0.0, **options: Any) -> list[View]:
    assistant: Any = FakeAssistant(pause=0.0, **options)
    return list(converse(assistant, question, before=BEFORE, clock=clock))


def ticking(seconds: float) -> Callable[[], float]:
    """A clock that goes on by `seconds` each time it is read."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += seconds
        return now

    return clock


def test_the_question_stands_at_once_and_only_the_last_view_is_not_busy() -> None:
    shown = views("What *is* it?")
    assert shown[0].messages == (*BEFORE, ("user", "What &#42;is&#42; it?"))
    assert [view.busy for view in shown] == [True] * (len(shown) - 1) + [False]


def test_the_panel_changes_three_times_a_question() -> None:
    panels = [view.panel for view in views("What is it?", clock=ticking(1)) if view.panel is not None]
    assert [panel[:20] for panel in panels][1:] == ["<h2>Reading 8 abstra", "<h2>Sources</h2><p c"]
    assert len(panels) == 3


def test_text_that_comes_faster_than_the_reader_sees_is_shown_less_often() -> None:
    slow, fast = views("What is it?", clock=ticking(1)), views("What is it?", clock=lambda: 0.0)
    assert len(slow) > 40
    assert len(fast) == 4
    assert slow[-1].messages == fast[-1].messages


def test_the_assistant_is_told_the_earlier_turns_in_plain_words() -> None:
    assistant: Any = FakeAssistant(pause=0.0)
    list(converse(assistant, "And then?", before=BEFORE))
    (history,) = assistant.histories
    assert [(turn.question, turn.answer) for turn in history] == [("q1 & more?", "A.")]


class Holding(FakeAssistant):
    """Keeps its streams, so that none is closed for being forgotten."""

    def stream(self, question: str, *, history: Sequence[Turn] = ()) -> Iterator[Event]:
        self.held = super().stream(question, history=history)
        return self.held


def test_closing_the_views_closes_the_answer() -> None:
    assistant: Any = Holding(pause=0.0)
    shown = converse(assistant, "What is it?", before=(), clock=ticking(1))
    for _ in range(4):
        next(shown)
    assert assistant.closed == 0
    shown.close()  # type: ignore[attr-defined]
    assert assistant.closed == 1


def test_an_error_is_shown_with_its_fix() -> None:
    last = views("raise it")[-1]
    assert "The corpus is damaged. Run: citewise ingest again." in last.messages[-1][1]
    assert last.status == "<span>Failed</span>"
    assert not last.busy


def test_the_finished_message_is_the_streamed_one_but_for_the_support() -> None:
    shown = views("What is it?", clock=ticking(1))
    streamed, finished = shown[-2].messages[-1][1], shown[-1].messages[-1][1]
    assert "-pending" in streamed
    assert "-pending" not in finished
    assert finished.split("[1](")[0] == streamed.split("[1](")[0]


def test_while_the_model_is_silent_there_is_no_empty_bubble() -> None:
    class Silent(FakeAssistant):
        def stream(self, question: str, *, history: Sequence[Turn] = ()) -> Iterator[Event]:
            yield TextPart("")
            yield TextPart("Now.")

    silent: Any = Silent()
    shown = list(converse(silent, "Q?", before=(), clock=ticking(1.0)))
    assert [len(view.messages) for view in shown] == [1, 1, 2]

"""An assistant that stays open: newer generations, options a question, follow-ups that the corpus answers."""

from pathlib import Path

import pytest

from rag.assistant import Assistant
from rag.domain import Finished, Retrieved
from rag.embedding import MiniLMEmbedder
from rag.errors import SettingsError
from rag.ingest import ingest_papers
from rag.options import AskOptions
from rag.settings import Settings
from tests.builders import paper

ZEBRA = paper("zebra", title="ZebraNet: Stripes", abstract="ZebraNet counts stripes of zebras. It needs 42 cameras.")


@pytest.fixture
def open_assistant(home: Path) -> Assistant:
    ingest_papers(home, "small", [paper()], embedder=MiniLMEmbedder())
    return Assistant.open(home=home, corpus="small", writer="extractive")


def test_what_is_ingested_is_found_after_a_look_and_streams_keep_what_they_began_with(
    open_assistant: Assistant, home: Path
) -> None:
    assert not open_assistant.refresh()
    running = open_assistant.stream("What are memory traces?")
    assert isinstance(next(running), Retrieved)
    before = open_assistant.corpus
    ingest_papers(home, "small", [ZEBRA], embedder=MiniLMEmbedder())
    assert open_assistant.ask("What does ZebraNet count?").outcome == "not_in_corpus"
    assert open_assistant.refresh()
    assert not open_assistant.refresh()
    answer = open_assistant.ask("What does ZebraNet count?")
    assert [citation.paper.paper_id for citation in answer.citations] == ["zebra"]
    assert open_assistant.with_options(AskOptions(k=1)).corpus is open_assistant.corpus
    finished = list(running)[-1]
    assert isinstance(finished, Finished)
    assert finished.answer.outcome == "answered"
    assert len(before) == 1
    assert before.paper(0).paper_id == "p1"


def test_a_generation_of_another_model_is_left_alone(
    open_assistant: Assistant, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    current = home / "corpora" / "small" / "CURRENT"
    changed = current.read_text().replace('"generation": 1', '"generation": 2')
    assert changed != current.read_text()
    current.write_text(changed.replace(MiniLMEmbedder().model_id, "another-model"))
    assert not open_assistant.refresh()
    assert "start it again" in caplog.text
    assert open_assistant.ask("What are memory traces?").outcome == "answered"


def test_options_change_one_question_alone(assistant: Assistant) -> None:
    narrow = assistant.with_options(AskOptions(k=2))
    assert len(narrow.ask("What are memory traces?").retrieved) == 2
    assert len(assistant.ask("What are memory traces?").retrieved) == 8
    assert assistant.with_options(AskOptions(k=2)) is narrow
    assert assistant.with_options(AskOptions()) is assistant


def test_options_that_cannot_be_used_are_an_error(assistant: Assistant) -> None:
    with pytest.raises(SettingsError, match="No API key"):
        assistant.with_options(AskOptions(writer="chat"))


def test_what_the_settings_keep_private_stays_private() -> None:
    assert AskOptions(private=False, k=3).applied_to(Settings(private=True)).private
    assert AskOptions(private=True).applied_to(Settings()).private


def test_follow_ups_are_answered_by_the_corpus_and_are_new(assistant: Assistant) -> None:
    answer = assistant.ask("By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?")
    suggested = assistant.follow_ups(answer)
    assert len(suggested) == 3
    assert "SITAlign" in suggested[0]
    for question in suggested:
        assert assistant.ask(question).outcome == "answered"
    again = assistant.ask(suggested[0])
    assert suggested[0] not in assistant.follow_ups(again)


def test_a_corpus_of_one_paper_suggests_nothing_it_cannot_answer(open_assistant: Assistant) -> None:
    answer = open_assistant.ask("What are memory traces?")
    for question in open_assistant.follow_ups(answer):
        assert open_assistant.ask(question).outcome == "answered"

"""Lists, counts, tables, records, questions asked back and false premises, asked of the packaged papers."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.answer_json import answer_to_dict
from rag.assistant import Assistant
from rag.cli import app
from rag.domain import Turn
from rag.tables import find_tables
from tests.builders import paper
from tests.contract.scripted_server import ScriptedServer, scripted_server
from ui.render import message_markdown


def test_a_list_quotes_and_cites_each_paper_and_says_how_many_were_looked_at(assistant: Assistant) -> None:
    answer = assistant.ask("Which papers use GPT-4?")
    assert answer.outcome == "answered"
    assert [citation.paper.paper_id for citation in answer.citations] == ["cEhLObwvvu", "bwidSkOyWF"]
    assert [line[:3] for line in answer.text.split("\n")] == ["- “"] * 2
    for sentence in answer.sentences:
        (number,) = sentence.citations
        paper = answer.citations[number - 1].paper
        assert sentence.text in paper.abstract
        assert (sentence.support, sentence.label) == ("supported", paper.title)
    assert answer.notes == ("Looked at 19 of 19 papers in the corpus.",)


@pytest.fixture
def with_named(seed_home: Path, tmp_path: Path) -> Assistant:
    """The packaged papers and two that only their titles name, by what might be a common word."""
    shutil.copytree(seed_home, tmp_path / "home")
    assistant = Assistant.open(home=tmp_path / "home")
    routes = "Routing problems differ in scale. We propose a sparse decoder for vehicles. It halves the cost of routes."
    talks = "Speakers pause unevenly. We introduce a tuner of spoken dialogue. Pauses shrink by 12% on five corpora."
    named = {"routes": ("Radio: Routing by Decoders", routes), "talks": ("Banyan: Tuning of Dialogues", talks)}
    assistant.add_papers(paper(key, title=title, abstract=abstract) for key, (title, abstract) in named.items())
    return assistant


@pytest.mark.parametrize(
    "question", ["What do Banyan and Radio have in common?", "Compare Banyan and Radio.", "How does Banyan beat Radio?"]
)
def test_papers_that_only_their_titles_name_are_found_by_these_names(with_named: Assistant, question: str) -> None:
    answer = with_named.ask(question)
    assert answer.outcome == "answered"
    assert {citation.paper.paper_id for citation in answer.citations} == {"talks", "routes"}


def test_a_comparison_of_such_papers_calls_them_by_their_names(with_named: Assistant) -> None:
    answer = with_named.ask("Compare Banyan and Radio.")
    assert answer.text.startswith("| | Banyan | Radio |\n")
    assert "| Method | We introduce a tuner of spoken dialogue. [1] |" in answer.text


def test_a_word_that_a_title_happens_to_begin_with_names_no_paper(with_named: Assistant) -> None:
    assert with_named.ask("Radio telescopes: how are they built?").outcome == "not_in_corpus"


def test_a_count_says_that_it_proves_no_absence(assistant: Assistant) -> None:
    answer = assistant.ask("How many papers use GPT-4?")
    assert answer.text.startswith("2 of the 19 papers that were looked at:\n\n- “")
    assert "does not prove" in answer.notes[-1]


@pytest.mark.parametrize(
    "question",
    ["Which papers study quantum computing?", "How many papers are about protein folding?", "papers on wine"],
)
def test_a_list_without_a_paper_is_not_in_the_corpus(assistant: Assistant, question: str) -> None:
    answer = assistant.ask(question)
    assert (answer.outcome, answer.text, answer.citations) == ("not_in_corpus", "", ())


def test_the_papers_of_an_author_come_from_the_records(assistant: Assistant) -> None:
    answer = assistant.ask("How many papers are by Ambuj Tewari?")
    assert answer.text.startswith("1 paper:")
    assert "Kihyuk Hong, Ambuj Tewari, ICML 2025. [1]" in answer.text
    assert [sentence.reason for sentence in answer.sentences] == ["from the record of the paper"]


def test_a_comparison_is_a_table_with_a_citation_in_each_cell(assistant: Assistant) -> None:
    answer = assistant.ask("Compare SITAlign and NS-DPO")
    (table,) = find_tables(answer.text)
    cells = [answer.text[start:end] for row in table.rows for start, end in row[1:]]
    assert len(cells) == 6
    assert all(cell.endswith(("[1]", "[2]")) for cell in cells)
    assert {sentence.label for sentence in answer.sentences} >= {"Method · SITAlign", "Method · NS-DPO"}
    assert all(sentence.support == "supported" for sentence in answer.sentences)
    shown = message_markdown(answer)
    assert shown.count("\n| ") >= 4
    assert shown.count("#cite-") == 6


def test_the_structure_reaches_json_and_the_terminal(seed_home: Path) -> None:
    runner = CliRunner()
    home = ["--home", str(seed_home), "--writer", "extractive"]
    told = json.loads(runner.invoke(app, ["ask", "--json", "Compare SITAlign and NS-DPO", *home]).stdout)
    assert {sentence["label"] for sentence in told["sentences"]} >= {"Result · SITAlign"}
    drawn = runner.invoke(app, ["ask", "Compare SITAlign and NS-DPO", *home], env={"COLUMNS": "100"}).stdout
    assert "|---|" not in drawn
    assert "Problem" in drawn
    assert "withdrawn" not in drawn


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote the Cape paper?", "Haoqi Wu, Wei Dai, Wang Li and Qiang Yan are the authors of “Cape:"),
        ("When was SITAlign published?", " is 2025."),
        ("Where can I read the MILS paper?", " is https://openreview.net/forum?id=cJeFULIiot."),
    ],
)
def test_a_record_answers_what_it_holds(assistant: Assistant, question: str, said: str) -> None:
    answer = assistant.ask(question)
    assert (answer.outcome, answer.writer, answer.model) == ("answered", "record", None)
    assert said in answer.text
    assert len(answer.citations) == 1
    assert "record" in answer.notes[-1]


def test_what_a_record_does_not_hold_is_not_in_the_corpus(assistant: Assistant) -> None:
    answer = assistant.ask("What is the arXiv id of the NS-DPO paper?")
    assert answer.outcome == "not_in_corpus"
    assert "gives no arXiv id" in answer.notes[0]


def test_nobody_wrote_a_paper_that_is_not_there(assistant: Assistant) -> None:
    assert assistant.ask("Who wrote the paper on wheat genomics?").outcome == "not_in_corpus"


def test_a_vague_question_is_asked_back_with_options_and_its_answer_is_understood(assistant: Assistant) -> None:
    question = "What is the main result?"
    answer = assistant.ask(question)
    assert (answer.outcome, answer.citations, answer.sentences) == ("needs_detail", (), ())
    assert 2 <= len(answer.options) <= 4
    assert answer_to_dict(answer)["options"] == list(answer.options)
    assert all(f"- {option}" in answer.text for option in answer.options)
    again = assistant.ask("Cape", history=[Turn(question, answer.text)])
    assert again.outcome == "answered"
    assert [citation.paper.paper_id for citation in again.citations] == ["cLxLgpMd2v"]
    first = assistant.ask("the first one", history=[Turn(question, answer.text)])
    assert first.citations[0].paper.title == answer.options[0]


def test_the_terminal_says_that_it_asks_back(seed_home: Path) -> None:
    result = CliRunner().invoke(app, ["ask", "What is it about?", "--home", str(seed_home), "--writer", "extractive"])
    assert result.exit_code == 4
    assert "Ask again" in result.stdout


FALSE = [
    ("Why does NS-DPO need two discount parameters?", "single"),
    ("Why does NS-DPO need three separate discount parameters?", "single"),
    ("How do the five types of error affect the convergence of diffusion models?", "four"),
    ("Why does the policy committee problem have three algorithmic solutions?", "two"),
    ("How does SITAlign beat multi-objective decoding by a margin of 32.3%?", "22.3%"),
    ("By which trick does CoLA with RL reach a score of 52.4 on math500?", "42.4"),
    ("How did the transformers achieve a compression ratio of 0.39 on OOD audio data?", "0.49"),
    ("Why does CoLA increase computation time in tasks with enhanced thinking prompts?", "reduces"),
    ("Why does AdvAgent achieve low success rates against GPT-4-based web agents?", "high"),
    ("Why is learning with memory traces less sample efficient?", "more"),
    ("Why does EvFocus fail to outperform existing methods across lighting conditions?", "outperforms"),
    ("Why does MFSC perform worse than existing approaches in MVRL tasks?", "outperforms"),
    ("Why do small transformers lose against gzip and LZMA2?", "outperform"),
    ("Why does Cape have a worse privacy-utility trade-off than prior work?", "better"),
    ("Why does LLaVA-ReID underperform the baselines on Inter-ReID?", "outperforms"),
    ("Why did CoLA use the Llama-2-7B model?", "Llama-3.1-8B"),
    ("On which captioning dataset was MILS fine-tuned to reach its state of the art?", "training-free"),
    ("Which gradients of the LLM does MILS backpropagate?", "gradient-free"),
    ("Which layers' gradients of the GPT-4 web agent does AdvAgent read to craft its attack?", "black-box"),
]


@pytest.mark.parametrize(("question", "truth"), FALSE)
def test_a_false_premise_is_corrected_with_a_quote(assistant: Assistant, question: str, truth: str) -> None:
    answer = assistant.ask(question)
    assert answer.text.startswith("The abstract says ")
    (sentence,) = answer.sentences
    assert truth in sentence.text
    assert sentence.text in answer.citations[0].paper.abstract


@pytest.mark.parametrize(
    "question",
    [
        "Why does NS-DPO need a single discount parameter?",
        "How does SITAlign beat multi-objective decoding by a margin of 22.3%?",
        "How does CoLA reduce computation time?",
        "Is learning with memory traces more sample efficient than windows?",
        "Why is the transfer of small compressors to unseen modalities weak?",
        "How does CoLA with the Llama-3.1-8B model score on math500?",
    ],
)
def test_a_true_premise_is_answered(assistant: Assistant, question: str) -> None:
    answer = assistant.ask(question)
    assert answer.outcome == "answered"
    assert not answer.text.startswith("The abstract says")


@pytest.fixture
def chat(seed_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ScriptedServer, Assistant]]:
    with scripted_server() as server:
        for name, value in {"BASE_URL": server.base_url, "MODEL": "rows", "HOME": str(seed_home)}.items():
            monkeypatch.setenv(f"CITEWISE_{name}", value)
        yield server, Assistant.open()


def test_a_model_gets_more_and_shorter_sources_and_its_table_is_checked_by_cell(
    chat: tuple[ScriptedServer, Assistant],
) -> None:
    server, assistant = chat
    server.script(
        "rows",
        "| | SITAlign | NS-DPO |\n|---|---|---|\n| Method | It satisfies thresholds on secondary criteria [1]. "
        "| It needs seven discount parameters [2]. |",
    )
    answer = assistant.ask("Compare SITAlign and NS-DPO")
    assert (answer.prompt or "").startswith("rows/v1@")
    assert [sentence.label for sentence in answer.sentences] == ["Method · SITAlign", "Method · NS-DPO"]
    assert [sentence.support for sentence in answer.sentences][1] == "unsupported"
    server.script("rows", "- CoLA fine-tunes with RL [1].")
    listed = assistant.ask("Which papers are about reinforcement learning?")
    assert listed.outcome == "answered"
    assert "Looked at 19 of 19 papers in the corpus." in listed.notes
    prompt = server.requests[-1]["messages"][-1]["content"]
    assert prompt.count("\n[") + prompt.startswith("[") >= 15


def test_records_and_questions_asked_back_need_no_model(chat: tuple[ScriptedServer, Assistant]) -> None:
    server, assistant = chat
    assert assistant.ask("Who wrote Cape?").outcome == "answered"
    assert assistant.ask("What is the main result?").outcome == "needs_detail"
    assert server.requests == []

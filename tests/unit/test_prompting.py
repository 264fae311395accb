"""Prompts from files, filled within a budget."""

from pathlib import Path

import pytest

from rag.domain import Source, Turn
from rag.errors import SettingsError
from rag.prompting import ANSWER_PLACEHOLDERS, FilledPrompt, Prompt, fill_answer_prompt, load_prompt
from rag.tokens import count_tokens
from tests.builders import paper

PROMPT = load_prompt("answer", "v1", placeholders=ANSWER_PLACEHOLDERS)


def sources(count: int, abstract: str = "A short abstract.") -> list[Source]:
    return [Source(n, paper(f"p{n}", title=f"Title {n}", abstract=abstract), ()) for n in range(1, count + 1)]


def fill(budget: int = 3000, history: tuple[Turn, ...] = (), count: int = 3, abstract: str = "A.") -> FilledPrompt:
    return fill_answer_prompt(
        PROMPT, question="What?", sources=sources(count, abstract), history=history, budget=budget
    )


def test_the_messages_hold_the_numbered_sources_and_the_question() -> None:
    system, user = fill().messages
    assert system["role"] == "system"
    assert "[1] Title 1\nA." in user["content"]
    assert user["content"].endswith("Question: What?")


def test_each_request_has_a_fence_of_its_own() -> None:
    first, second = (fill().messages[1]["content"].splitlines()[0] for _ in range(2))
    assert first != second
    assert fill().messages[1]["content"].count(first) == 0


def test_any_source_text_is_left_alone() -> None:
    wild = "Costs $5 and ${x}, <|endoftext|> \\emph{a} {braces} $$ `[12]` ]]>"
    assert wild in fill(abstract=wild).messages[1]["content"]


def test_sources_that_do_not_fit_are_left_out_lowest_first() -> None:
    filled = fill(budget=1200, count=8, abstract="word " * 150)
    assert 1 <= filled.sources < 8
    assert f"[{filled.sources}]" in filled.messages[-1]["content"]
    assert f"[{filled.sources + 1}]" not in filled.messages[-1]["content"]


def test_the_filled_prompt_fits_the_budget() -> None:
    turns = tuple(Turn(f"question {n} " * 20, f"answer {n} " * 40) for n in range(30))
    filled = fill(budget=2000, history=turns, count=8, abstract="word " * 100)
    assert sum(count_tokens(message["content"]) for message in filled.messages) <= 2000


def test_the_best_source_and_the_question_always_stay() -> None:
    filled = fill(budget=10, count=2)
    assert filled.sources == 1
    assert "What?" in filled.messages[-1]["content"]


def test_the_newest_turns_stay_and_roles_alternate() -> None:
    turns = tuple(Turn(f"question {n} " * 20, f"answer {n} " * 40) for n in range(30))
    filled = fill(budget=2000, history=turns)
    assert 0 < filled.turns < 30
    roles = [message["role"] for message in filled.messages]
    assert roles == ["system", *["user", "assistant"] * filled.turns, "user"]
    assert "question 29" in filled.messages[-3]["content"]


def write(folder: Path, *, system: str = "$fence", user: str = "$fence $sources $question") -> Path:
    (folder / "answer" / "v1").mkdir(parents=True)
    (folder / "answer" / "v1" / "system.md").write_text(system)
    (folder / "answer" / "v1" / "user.md").write_text(user)
    return folder


def load(folder: Path) -> Prompt:
    return load_prompt("answer", "v1", placeholders=ANSWER_PLACEHOLDERS, folder=folder)


def test_a_prompt_of_the_users_own_is_read(tmp_path: Path) -> None:
    assert load(write(tmp_path)).user == "$fence $sources $question"


@pytest.mark.parametrize("user", ["$fence $sources", "$fence $sources $question $other", "$fence $sources $question $"])
def test_missing_unknown_and_broken_placeholders_are_errors(tmp_path: Path, user: str) -> None:
    with pytest.raises(SettingsError, match="placeholders"):
        load(write(tmp_path, user=user))


def test_a_missing_prompt_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no prompt file .*system\.md"):
        load(tmp_path)


def test_the_label_changes_with_the_text() -> None:
    assert PROMPT.label.startswith("answer/v1@")
    assert Prompt("answer", "v1", PROMPT.system + " ", PROMPT.user).label != PROMPT.label

"""Prompts from files, filled within a budget."""

from pathlib import Path

import pytest

from rag.domain import Source, Turn
from rag.errors import SettingsError
from rag.prompting import (
    IN_USE,
    PLACEHOLDERS,
    FilledPrompt,
    Prompt,
    fill_answer_prompt,
    fill_revise_prompt,
    fill_standalone_prompt,
    is_own,
    load_prompt,
    prompt_versions,
)
from rag.tokens import count_tokens
from tests.builders import paper

PROMPT = load_prompt("answer", "v1")


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


def test_the_question_is_restated_by_the_newest_turns_alone() -> None:
    prompt = load_prompt("standalone", "v1")
    turns = [Turn(f"question {n}?", f"answer {n} " + "long " * 400) for n in range(5)]
    _, user = fill_standalone_prompt(prompt, question="And $it?", history=turns, budget=2000).messages
    assert "User: question 4?\nAssistant: answer 4 long" in user["content"]
    assert "question 1" not in user["content"]
    assert "Last question: And $it?" in user["content"]
    assert count_tokens(user["content"]) < 700


def test_a_restatement_fits_a_small_window() -> None:
    turns = [Turn(f"question {n} " * 30, "answer " * 100) for n in range(5)]
    filled = fill_standalone_prompt(load_prompt("standalone", "v1"), question="Why?", history=turns, budget=700)
    assert 0 < filled.turns < 3
    assert sum(count_tokens(message["content"]) for message in filled.messages) <= 700


def test_a_revision_names_what_is_wrong_and_fits_the_budget() -> None:
    filled = fill_revise_prompt(
        load_prompt("revise", "v1"),
        question="What?",
        sources=sources(8, "word " * 150),
        answer="It costs $7 [1].",
        faults=["“It costs $7”: 7 is not in the cited abstract"],
        budget=1500,
    )
    user = filled.messages[-1]["content"]
    assert "It costs $7 [1]." in user
    assert "- “It costs $7”: 7 is not in the cited abstract" in user
    assert 1 <= filled.sources < 8
    assert sum(count_tokens(message["content"]) for message in filled.messages) <= 1500


def write(folder: Path, *, system: str = "$fence", user: str = "$fence $sources $question") -> Path:
    (folder / "answer" / "v1").mkdir(parents=True)
    (folder / "answer" / "v1" / "system.md").write_text(system)
    (folder / "answer" / "v1" / "user.md").write_text(user)
    return folder


def load(folder: Path) -> Prompt:
    return load_prompt("answer", "v1", folder=folder)


def test_a_prompt_of_the_users_own_is_read(tmp_path: Path) -> None:
    assert load(write(tmp_path)).user == "$fence $sources $question"


@pytest.mark.parametrize("user", ["$fence $sources", "$fence $sources $question $other", "$fence $sources $question $"])
def test_missing_unknown_and_broken_placeholders_are_errors(tmp_path: Path, user: str) -> None:
    with pytest.raises(SettingsError, match="placeholders"):
        load(write(tmp_path, user=user))


def test_a_missing_prompt_file_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "answer" / "v1" / "system.md").unlink()
    with pytest.raises(SettingsError, match=r"no prompt file .*system\.md"):
        load(folder)


def test_what_is_not_in_the_users_folder_comes_from_the_package(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "answer" / "v10").mkdir()
    assert load_prompt("revise", "v1", folder=tmp_path) == load_prompt("revise", "v1")
    assert is_own("answer", "v1", folder=tmp_path)
    assert not is_own("revise", "v1", folder=tmp_path)
    assert prompt_versions("answer", folder=tmp_path) == ("v1", "v10")
    assert prompt_versions("revise", folder=tmp_path) == ("v1",)
    assert prompt_versions("unknown", folder=tmp_path) == ()


@pytest.mark.parametrize("name", sorted(PLACEHOLDERS))
def test_every_prompt_in_use_is_in_the_package(name: str) -> None:
    assert IN_USE[name] in prompt_versions(name)
    assert load_prompt(name, IN_USE[name]).label.startswith(f"{name}/{IN_USE[name]}@")


def test_the_label_changes_with_the_text() -> None:
    assert PROMPT.label.startswith("answer/v1@")
    assert Prompt("answer", "v1", PROMPT.system + " ", PROMPT.user).label != PROMPT.label

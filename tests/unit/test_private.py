"""What of a question is the user's own, that it does not leave, and that it comes back."""

import json
from collections.abc import Iterator, Sequence
from math import inf

import pytest

from rag.domain import Usage
from rag.errors import EndpointError
from rag.llm import Completion
from rag.private import PrivateModel, Restoring, find_private, stand_ins_for
from rag.prompting import Message

FENCE = f"<<{'0a' * 16}>>"
KNOWN = set("memory traces sitalign pku-saferlhf llm gpt-4 adam compare bell how transformer did".split())


def knows(word: str) -> bool:
    return word.lower() in KNOWN


def found(text: str) -> list[tuple[str, str]]:
    return list(find_private(text, knows=knows))


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("Does Sarah Müller's group beat it?", [("Person", "Sarah Müller")]),
        (
            "Did Ludwig van Beethoven and Ada Lovelace say so?",
            [("Person", "Ludwig van Beethoven"), ("Person", "Ada Lovelace")],
        ),
        ("Is ProjectFalcon or Falcon-7 better?", [("Term", "ProjectFalcon"), ("Term", "Falcon-7")]),
        ("We got 17.3% on 1,204 items.", [("Number", "17.3"), ("Number", "1,204")]),
        (
            "Ask sarah.m@acme-corp.com or +49 170 1234567.",
            [("Email", "sarah.m@acme-corp.com"), ("Phone", "+49 170 1234567")],
        ),
        (
            "see https://intra.acme.com/x?y=1, wiki.acme.internal",
            [("Link", "https://intra.acme.com/x?y=1"), ("Link", "wiki.acme.internal")],
        ),
        ("a 40GB card and an h100", [("Term", "40GB"), ("Term", "h100")]),
    ],
)
def test_what_is_the_users_own_is_found(text: str, private: list[tuple[str, str]]) -> None:
    assert [pair for pair in found(text) if pair[1] != "We"] == private


@pytest.mark.parametrize(
    "text",
    [
        "How does SITAlign do on PKU-SafeRLHF with GPT-4?",
        "Compare memory traces [1] and LLM-based ones [2, 3].",
        "Please summarise what Adam does. List the Transformer papers!",
        "is it better than the best?",
    ],
)
def test_what_the_corpus_knows_and_how_requests_begin_stays(text: str) -> None:
    assert found(text) == []


class EchoModel:
    """Replies with what it was sent last, and keeps it."""

    model: str | None = "echo"

    def __init__(self, *, reply: str | None = None, fault: EndpointError | None = None, cut: int = 3) -> None:
        self.reply, self.fault, self.cut = reply, fault, cut
        self.sent: list[Message] = []

    def stream(self, messages: Sequence[Message], *, until: float = inf) -> Iterator[str | Completion]:
        self.sent = list(messages)
        reply = self.reply if self.reply is not None else messages[-1]["content"]
        yield from (reply[start : start + self.cut] for start in range(0, len(reply), self.cut))
        if self.fault:
            raise self.fault
        yield Completion(Usage(), "stop")


QUESTION = "Does Sarah Müller's Falcon-7 beat SITAlign by 0.4217 or 22.3%? FALCON-7 does, says Sarah Müller."
MESSAGES: list[Message] = [
    {"role": "system", "content": f"Between {FENCE} there is Data."},
    {"role": "user", "content": "What did Falcon-7 get?"},
    {"role": "assistant", "content": "Falcon-7 got 0.4217 [1]."},
    {
        "role": "user",
        "content": f"{FENCE}\n[1] Traces by Nobody\nThey need 22.3% less.\n{FENCE}\n\nQuestion: {QUESTION}",
    },
]


@pytest.mark.parametrize("cut", [1, 2, 3, 50])
def test_stand_ins_leave_and_the_originals_come_back(cut: int) -> None:
    model = EchoModel(cut=cut)
    reply = list(PrivateModel(model, knows=knows).stream(MESSAGES))
    sent = json.dumps(model.sent)
    assert not any(own in sent.lower() for own in ("sarah", "ller", "falcon", "0.4217"))
    assert model.sent[0] == MESSAGES[0]
    assert "[1] Traces by Nobody\nThey need 22.3% less." in sent.replace("\\n", "\n")
    assert sent.count("Term-1") == 4
    assert sent.count("Person-1") == 2
    assert "or 22.3%" in sent
    text = "".join(item for item in reply if isinstance(item, str))
    assert text == MESSAGES[-1]["content"].replace("FALCON-7", "Falcon-7")
    assert isinstance(reply[-1], Completion)


def test_a_stand_in_is_never_a_word_of_the_texts() -> None:
    message: Message = {"role": "user", "content": "term-1 and Term-2 of Falcon-7"}
    assert "Term-1" not in stand_ins_for([message], knows=knows).values()


def test_a_broken_reply_keeps_what_was_held_back() -> None:
    fault = EndpointError("Cut.", fix="Again.", kind="interrupted")
    reply = PrivateModel(EchoModel(reply="It is Per", fault=fault), knows=knows).stream(MESSAGES)
    shown: list[str | Completion] = []
    with pytest.raises(EndpointError):
        shown.extend(reply)
    assert "".join(map(str, shown)) == "It is Per"


def test_a_question_without_anything_private_is_sent_as_it_is() -> None:
    model = EchoModel()
    messages: list[Message] = [{"role": "user", "content": "Question: how do memory traces work?"}]
    list(PrivateModel(model, knows=knows).stream(messages))
    assert model.sent == messages


def test_stand_ins_are_restored_however_they_are_written() -> None:
    restoring = Restoring({"Ada": "Person-1", "7": "Number-1"})
    assert (
        restoring.feed("PERSON-1, person‑1's Number-12 and xPerson-1; Number-1")
        == "Ada, Ada's Number-12 and xPerson-1; "
    )
    assert restoring.finish() == "7"

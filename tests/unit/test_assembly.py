"""Putting an answer together: numbers in reading order, spans of markers, whose citation a marker is."""

from rag.assembly import Assembled, Numbering, assemble, insert_citations
from rag.citations import parse_citations
from rag.domain import Abstained, Cite, Piece, Quote, Removed


def assembled(text: str, *, sources: int = 4) -> Assembled:
    return assemble(parse_citations([text], sources=sources))


def cited(answer: Assembled) -> list[tuple[str, tuple[int, ...]]]:
    return [(sentence.text, sentence.sources) for sentence in answer.sentences]


def test_numbers_follow_the_first_appearance_of_each_source() -> None:
    answer = assemble(["One.", Cite(3), " Two.", Cite(1), Cite(3), " Three.", Cite(2)])
    assert answer.text == "One. [1] Two. [2] [1] Three. [3]"
    assert answer.sources == (3, 1, 2)
    assert [sentence.numbers for sentence in answer.sentences] == [(1,), (2, 1), (3,)]


def test_numbering_gives_a_source_its_number_once() -> None:
    numbering = Numbering()
    assert [numbering.number_of(source) for source in (7, 2, 7, 5)] == [1, 2, 1, 3]
    assert numbering.sources == (7, 2, 5)


def test_spans_of_markers_and_sentences_are_those_of_the_text() -> None:
    answer = assembled("  [2] Traces help [1]. They win.[3]\n\n- [1] An item\n- Another [4]\n")
    assert [answer.text[m.span.start : m.span.end] for m in answer.markers] == [f"[{m.number}]" for m in answer.markers]
    assert [answer.text[s.span.start : s.span.end] for s in answer.sentences] == [
        "[1] Traces help [2].",
        "They win. [3]",
        "- [2] An item",
        "- Another [4]",
    ]


def test_a_marker_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert cited(assembled("Traces help. [1] They win [2]. Ok.")) == [
        ("Traces help.", (1,)),
        ("They win.", (2,)),
        ("Ok.", ()),
    ]


def test_a_marker_at_the_start_of_an_item_belongs_to_the_item() -> None:
    assert cited(assembled("Two win:\n- [1] Traces\n- [2] Windows\n\n1. [3] Numbers too")) == [
        ("Two win:", ()),
        ("- Traces", (1,)),
        ("- Windows", (2,)),
        ("1. Numbers too", (3,)),
    ]


def test_a_marker_on_a_line_of_its_own_belongs_to_the_sentence_before() -> None:
    assert cited(assembled("Traces help.\n\n[1]\n\nThey win.")) == [("Traces help.", (1,)), ("They win.", ())]


def test_chinese_sentences_keep_their_own_markers() -> None:
    assert cited(assembled("方法有效。【1】下一句。【2】")) == [("方法有效。", (1,)), ("下一句。", (2,))]


def test_text_of_an_abstract_is_never_read_as_a_marker() -> None:
    abstract = "As in [12] and x[0], **M**ulti-view [1] traces help."
    answer = assemble([abstract, Cite(2)])
    assert answer.text == abstract + " [1]"
    assert [marker.span.start for marker in answer.markers] == [len(abstract) + 1]
    assert answer.plain == abstract


def test_an_answer_of_markers_only_has_no_sentence() -> None:
    answer = assemble([Cite(2), Cite(1)])
    assert (answer.text, answer.sentences) == ("[1] [2]", ())


def test_removed_markers_are_counted_and_other_pieces_passed_over() -> None:
    pieces: list[Piece] = ["Text", Removed("[9]"), ".", Abstained()]
    answer = assemble(pieces)
    assert (answer.text, answer.removed_markers) == ("Text.", 1)


def test_citations_can_be_added_behind_a_sentence() -> None:
    pieces: list[Piece] = ["  One is ", "so. Two", Cite(2), " is not. Three."]
    assembled = assemble(pieces)
    added = {assembled.sentences[0].end: (3,), assembled.sentences[2].end: (2, 1)}
    again = assemble(insert_citations(pieces, added))
    assert again.text == "One is so. [1] Two [2] is not. Three. [2] [3]"
    assert again.sources == (3, 2, 1)
    assert [sentence.numbers for sentence in again.sentences] == [(1,), (2,), (2, 3)]


def test_a_quote_is_one_sentence_whatever_stands_in_it() -> None:
    assembled = assemble([Quote("See x[0]. vs. [12] and more"), Cite(1), " ", Quote("lower case start."), Cite(1)])
    assert [sentence.text for sentence in assembled.sentences] == ["See x[0]. vs. [12] and more", "lower case start."]
    assert [sentence.numbers for sentence in assembled.sentences] == [(1,), (1,)]

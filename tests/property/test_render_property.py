"""Whatever a model, an abstract or a reader writes: the page shows it, and none of it becomes markup."""

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag.domain import Cited, Span, TextPart
from rag.inline import parse_runs
from rag.sentences import split_sentences
from tests.builders import paper
from ui.mathml import to_mathml
from ui.panel import source_card
from ui.render import CiteTarget, cite_href, parse_cite, question_text, streaming_markdown
from ui.rich_text import (
    MATHS_DELIMITERS,
    clean,
    escape_markdown,
    question_markdown,
    rich_html,
    rich_markdown,
)

WORDS = (
    r"* ** _ ` ``` ~~~ # - + 1. 2) > | [ ] ( ) ! < > & &lt; $ $$ \ \( \) \[ \] { } ${ \emph{ \textbf{ \href{ <b> </b> "
    "<img src=x> <!-- --> <script> javascript: https://e.example www.e.example @ [1] [^1] [a]: === --- %%%"
).split()
SPACES = ["\n", "\n\n", "\t", "    ", "\u00a0", "\u202e", "\ue000", "\ue001", "\ud800", "é", "e\u0301", "中。"]
MARKUP = st.sampled_from([*WORDS, *SPACES])
LATEX = (
    r"\frac \sqrt \left \right \begin{matrix} \end{matrix} \text{ \href{ \class{ \style{ \color{ { } ^ _ & \\ ( ) [ ] "
    r"< > a 1 ' <img> \sum \limits \not \substack"
).split()
UNHURRIED = settings(deadline=None)  # the machine may be busy
TEXT = st.lists(MARKUP | st.text(max_size=8), max_size=25).map("".join)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OWN_TAGS = {"strong", "em", "code", "p", "ul", "ol", "li", "br"}
MATHS = re.compile("[\ue000\ue002](.+?)[\ue001\ue003]", re.DOTALL)
MATHML = re.compile(r"m[a-z]+\Z")


class Markup(HTMLParser):
    """The tags, the attributes and the text of some HTML."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "the elements nest"

    def handle_data(self, data: str) -> None:
        self.text += data


def without_maths(markdown: str) -> str:
    """What is left for the Markdown parser: the chat takes the maths out first. No tag is in there either."""
    for maths in MATHS.findall(markdown):
        assert "<" not in maths
    return MATHS.sub("x", markdown)


def squeezed(text: str) -> str:
    return "".join(text.split())


@UNHURRIED
@given(TEXT)
def test_escaped_markdown_shows_exactly_the_text(text: str) -> None:
    shown = Markup(MARKDOWN.renderInline(escape_markdown(text)))
    assert not shown.tags - {"br"}
    assert squeezed(shown.text) == squeezed(clean(text))


@UNHURRIED
@given(TEXT)
def test_an_answer_in_the_chat_holds_no_tag_and_no_link_of_its_own(text: str) -> None:
    shown = Markup(MARKDOWN.render(without_maths(rich_markdown(text, {}, {}))))
    assert shown.tags <= OWN_TAGS
    assert not [name for name, _ in shown.attributes if name != "start"]
    assert not shown.open


@UNHURRIED
@given(TEXT, TEXT, st.integers(1, 99))
def test_a_streamed_citation_is_one_link_whatever_stands_around_it(before: str, behind: str, number: int) -> None:
    cited = paper(before[:20] or "p", title=behind)
    markdown = streaming_markdown([TextPart(before), Cited(number, cited), TextPart(behind)])
    shown = Markup(MARKDOWN.render(without_maths(markdown)))
    links = [value for name, value in shown.attributes if name == "href"]
    assert links == [cite_href(cited.paper_id, (), "pending")]
    assert shown.tags <= OWN_TAGS | {"a"}


@UNHURRIED
@given(st.text(min_size=1).filter(lambda text: text.isprintable()), st.lists(st.integers(1, 400)))
def test_a_citation_address_keeps_any_paper_id(paper_id: str, sentences: list[int]) -> None:
    assert parse_cite(cite_href(paper_id, sentences, "partly")) == CiteTarget(paper_id, tuple(sentences), "partly")


@UNHURRIED
@given(TEXT)
def test_a_question_comes_back_word_for_word(question: str) -> None:
    assert squeezed(question_text(question_markdown(question))) == squeezed(clean(question))


@UNHURRIED
@given(TEXT)
def test_every_character_of_a_text_is_in_a_run_or_in_the_markup_around_it(text: str) -> None:
    position = 0
    for run in parse_runs(text):
        assert position <= run.start <= run.end <= len(text)
        if run.kind == "text" and len(run.text) == run.end - run.start:
            assert text[run.start : run.end] == run.text
        assert re.fullmatch(
            r"[*_`$\\{}()\[\]]*|.*\\[a-z]+\{.*|[{}]*\\[a-z]{2} |\}.*", text[position : run.start], re.DOTALL
        )
        position = run.end


@UNHURRIED
@given(TEXT, st.data())
def test_the_panel_is_well_formed_and_marks_the_evidence(abstract: str, data: st.DataObject) -> None:
    shown_paper = paper(abstract=abstract, title=abstract[:40], authors=(abstract[:10],))
    sentences = split_sentences(abstract)
    numbers = tuple(data.draw(st.sets(st.integers(1, len(sentences) + 1), max_size=3)))
    shown = Markup(source_card(shown_paper, CiteTarget("p1", numbers, "supported"), number=1))
    own = {"article", "span", "h2", "p", "a", "mark", "math"} | OWN_TAGS
    assert not [tag for tag in shown.tags - own if not MATHML.match(tag)]
    assert not [name for name, _ in shown.attributes if name.startswith("on")]
    assert not shown.open
    visible = [n for n in numbers if n <= len(sentences) and clean(abstract[slice(*sentences[n - 1])]).strip()]
    assert ("mark" in shown.tags) >= bool(visible)


@UNHURRIED
@given(TEXT)
def test_text_without_markup_is_shown_as_it_is(text: str) -> None:
    plain = re.sub(r"[*_`$\\{}]", "", text)
    assert squeezed(Markup(rich_html(plain)).text) == squeezed(clean(plain))


@UNHURRIED
@given(TEXT, st.integers(0, 50), st.integers(0, 50))
def test_highlights_lose_no_text(text: str, start: int, length: int) -> None:
    highlighted = Markup(rich_html(text, highlights=[Span(start, start + length)]))
    assert squeezed(clean(highlighted.text)) == squeezed(clean(Markup(rich_html(text)).text))


@UNHURRIED
@given(st.lists(st.sampled_from(LATEX), max_size=12).map(" ".join))
def test_mathml_holds_known_elements_only(latex: str) -> None:
    converted = to_mathml(latex)
    if converted is not None:
        shown = Markup(converted)
        assert all(tag == "math" or MATHML.match(tag) for tag in shown.tags)
        assert not {name for name, _ in shown.attributes} & {"href", "style", "class", "id"}


@UNHURRIED
@given(TEXT)
def test_no_delimiter_of_the_chats_maths_comes_from_outside(text: str) -> None:
    assert not set(escape_markdown(text)) & set(MATHS_DELIMITERS)
    shown = rich_markdown(text, {}, {})
    assert shown.count(MATHS_DELIMITERS[0]) == shown.count(MATHS_DELIMITERS[1])

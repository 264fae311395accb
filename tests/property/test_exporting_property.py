"""Whatever an abstract, a model or a reader writes: an exported file shows it, and none of it becomes markup."""

import re
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag.bibtex import bibtex_entries
from rag.domain import Answer, AnswerSentence, Citation, Evidence, Span
from rag.ris import ris_records
from tests.builders import answer, paper, scored
from tests.property.test_render_property import MARKUP, Markup
from ui.exporting import export

TEXT = st.lists(MARKUP | st.sampled_from(["![x](https://evil.example/q.png)", "$![x](//e.example)$"]), max_size=16).map(
    " ".join
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FROM_HERE = {"html", "head", "meta", "title", "style", "body", "main", "article", "h1", "h2", "p", "sup", "a", "ol"}
TAGS = FROM_HERE | {"li", "ul", "strong", "em", "code", "br", "span", "blockquote"}


def made_of(text: str) -> Answer:
    """An answer, its paper and its question, all of them `text`."""
    held = paper(title=text, authors=(text,), abstract=f"{text} .", venue=text, url=text, arxiv_id=text or None)
    span = Span(0, len(text))
    said = AnswerSentence(text, (1,), "partly", text, ((span,),))
    citation = Citation(1, held, (Evidence(text, span),))
    return replace(
        answer(text), text=text, sentences=(said,), markers=(), citations=(citation,), retrieved=(scored(held),)
    )


@settings(deadline=None)
@given(TEXT)
def test_no_text_becomes_markup_in_html(text: str) -> None:
    for outcome in ("answered", "not_in_corpus", "failed"):
        shown = replace(made_of(text), outcome=outcome, problem=text, fix=text, notes=(text,))  # type: ignore[arg-type]
        document = export([shown, shown], title=text, form="html")
        body = document[document.index("<body>") :]
        tags = set(re.findall(r"<([a-z][a-z0-9]*)", body))
        assert {tag for tag in tags if not re.fullmatch(r"m[a-z]+", tag)} <= TAGS
        assert not re.search(r"<[^>]*\s(?:src|on\w+|style|srcset)=", body)
        for address in re.findall(r'href="([^"]*)"', body):
            assert address.startswith(("#c", "https://"))


@settings(deadline=None)
@given(TEXT)
@example("-      *")
def test_no_text_becomes_markup_in_markdown(text: str) -> None:
    shown = replace(made_of(text), notes=(text,))
    html = MARKDOWN.render(export([shown, shown], title=text, form="md"))
    markup = Markup(re.sub(r"<hr\s*/?>", "", html))
    assert markup.tags <= {"h1", "h2", "p", "strong", "em", "blockquote", "ul", "ol", "li", "a", "code"}
    for name, value in markup.attributes:
        assert (name, str(value)[:8]) == ("href", "https://") or name == "start"


@settings(deadline=None)
@given(TEXT)
def test_no_text_ends_its_field_in_bibtex_or_ris(text: str) -> None:
    held = made_of(text).citations[0].paper
    entry = bibtex_entries([held, held])
    assert entry.count("\n@") == 1
    depth, lowest = 0, 0
    for brace in re.findall(r"[{}]", entry):
        depth += 1 if brace == "{" else -1
        lowest = min(lowest, depth)
    assert (depth, lowest) == (0, 0)
    for line in ris_records([held]).splitlines():
        assert re.match(r"(?:TY|TI|AU|T2|PY|AB|UR|ID|KW|ER)  - ", line)

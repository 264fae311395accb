"""Papers as BibTeX."""

from rag.bibtex import bibtex_entry, citation_key
from tests.builders import paper


def test_an_entry_has_the_known_fields_and_no_other() -> None:
    entry = bibtex_entry(paper("x", title="Traces & $O(n)$ 5% gains", arxiv_id="2505.1", url="https://a.b/c_d"))
    assert entry == "\n".join(
        [
            "@inproceedings{lovelace2025traces,",
            r"  title = {{Traces \& $O(n)$ 5\% gains}},",
            "  author = {Ada Lovelace and Alan Turing},",
            "  booktitle = {ICML 2025},",
            "  year = {2025},",
            "  url = {https://a.b/c_d},",
            "  eprint = {2505.1},",
            "  archiveprefix = {arXiv},",
            "}",
        ]
    )


def test_a_paper_of_which_little_is_known_is_misc() -> None:
    entry = bibtex_entry(paper("x", title="", authors=(), venue=None, year=None, url=None, abstract="Some words."))
    assert entry.startswith("@misc{anon")
    assert "author" not in entry


def test_keys_are_ascii() -> None:
    assert citation_key(paper("x", authors=("Émile Čapek",), title="Über Räume")) == "capek2025uber"

"""Random texts of a weak or hostile model through the parser and the check: `python -m evals.random_outputs`."""

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from evals.support_data import icml_abstracts
from rag.assembly import assemble
from rag.citations import parse_citations
from rag.sentences import split_sentences
from rag.support import check_support

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SOURCES = 4
MARKERS = (
    *(
        "[1]",
        "[2]",
        "[3, 4]",
        "[1-3]",
        "[9]",
        "[0]",
        "[1, 9]",
        "[-1]",
        "[1][2]",
        "【1】",
        "【4:0†source】",
        "[^2]",
        "[^1]: x",
    ),
    *("(1)", "(Source 2)", "[Source 9]", "[citation needed]", "[ref]", "[[1]]", "[[9]1]", "[1](http://x.y)", "[", "]"),
    *(
        "![x](http://x.y/z.png)",
        "\n[1]: http://x.y\n",
        "x[0]",
        "[12",
        "[1,",
        "1]",
        "**[2]**",
        "([3])",
        r"\[1\]",
        "[１]",
    ),
)
NOISE = (
    *(
        "\n",
        "\n\n",
        "\n- ",
        "\n1. ",
        "```",
        "`",
        "$",
        "$$",
        "\\(",
        "\\[",
        '"',
        "“",
        "”",
        "**",
        "_",
        "# ",
        "> ",
        "|",
        "\x00",
    ),
    *(
        "References:\n[1] A",
        "Sources:\n- b",
        "<think>",
        "<b>",
        "&amp;",
        "\u202e",
        "\u200b",
        "😀",
        "不",
        "22.3%",
        "1e999",
        "10^999",
    ),
    *(
        "not",
        "only",
        "However, ",
        "outperforms",
        "9" * 400,
        "A" * 300,
        "(" * 50,
        "[" * 50,
        "The sources do not say it.",
    ),
)


def random_outputs(abstracts: Sequence[str], *, count: int, seed: int) -> Iterator[str]:
    """Texts of words of the abstracts, their sentences, markers of every shape, and what breaks parsers."""
    rng = random.Random(seed)  # noqa: S311
    words = " ".join(abstracts).split()
    sentences = [text[span.start : span.end] for text in abstracts for span in split_sentences(text)]
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(1, 30)):
            kind = rng.random()
            pool = MARKERS if kind < 0.35 else NOISE if kind < 0.5 else sentences if kind < 0.6 else words
            parts.append(rng.choice(pool))
        yield rng.choice(("", " ")).join(parts)


def go_through(output: str, *, abstracts: Sequence[str], cut: int) -> Counter[str]:
    """Parses, assembles and checks one output, cut into pieces of `cut` characters; counts what came of it.

    Raises ValueError where a marker names no given source or stands elsewhere than it is said to.
    """
    deltas = [output[start : start + cut] for start in range(0, len(output), cut)]
    answer = assemble(parse_citations(deltas, sources=len(abstracts)))
    counts = Counter({"markers": len(answer.markers), "removed": answer.removed_markers})
    for marker in answer.markers:
        if answer.text[marker.span.start : marker.span.end] != f"[{marker.number}]":
            raise ValueError(f"a marker is not where it should be in the answer to {output!r}")
    for sentence in answer.sentences:
        if not set(sentence.sources) <= set(range(1, len(abstracts) + 1)):
            raise ValueError(f"an unknown source is cited in the answer to {output!r}")
        verdict = check_support(sentence.text, abstracts=[abstracts[source - 1] for source in sentence.sources])
        counts[verdict.support] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with icml2025_all.jsonl.gz")
    parser.add_argument("--count", type=int, default=10_000)
    arguments = parser.parse_args()
    abstracts = icml_abstracts(arguments.data)[:SOURCES]
    counts: Counter[str] = Counter()
    for number, output in enumerate(random_outputs(abstracts, count=arguments.count, seed=0)):
        counts += go_through(output, abstracts=abstracts, cut=1 + number % 7)
    print(f"{arguments.count} outputs, no exception:", ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))


if __name__ == "__main__":
    main()

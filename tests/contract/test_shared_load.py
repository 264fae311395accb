"""Two pages on one Chroma server under load while a third process ingests: no error, nobody else's answer, new papers.

`pytest --nightly -s` does it for a minute before the ingest, on ICML 2025, and tells the times.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evals.load.run import percentile
from evals.load.server import PageServer
from evals.load.sessions import Sessions, Tally, ask
from evals.perf.queries import derive_queries
from rag.embedding import MiniLMEmbedder
from rag.ingest import ensure_corpus, ingest_files, share_corpus
from rag.recovery import DEFAULT_CORPUS
from tests.contract.chroma_server import Served

PROGRAM = "import sys; from rag.cli import main; sys.exit(main())"
NEW = [
    {"id": f"new{n}", "title": f"ZebraNet-{n}", "abstract": f"ZebraNet-{n} counts the stripes of {n} zebras at dusk."}
    for n in range(100, 140)
]


def told(name: str, tallies: list[Tally]) -> None:
    """Prints the times and asserts that nothing went wrong."""
    seconds = [value for tally in tallies for value in tally.seconds]
    p50, p95 = (percentile(seconds, share) for share in (0.5, 0.95))
    print(f"{name}: {len(seconds)} answers, p50 {p50:.2f} s, p95 {p95:.2f} s, load {os.getloadavg()[0]:.1f}")
    assert [(dict(tally.errors), tally.strangers, dict(tally.refused)) for tally in tallies] == [({}, 0, {})] * 2
    assert all(tally.seconds for tally in tallies)


@pytest.mark.slow
def test_two_pages_on_one_chroma_server_beside_an_ingest(
    home: Path, tmp_path: Path, nightly: bool, request: pytest.FixtureRequest
) -> None:
    corpus = ensure_corpus(home, DEFAULT_CORPUS, embedder=MiniLMEmbedder())
    if nightly:
        papers = request.getfixturevalue("shared_data") / "icml2025_all.jsonl.gz"
        ingest_files(home, DEFAULT_CORPUS, [papers], embedder=MiniLMEmbedder())
        corpus = ensure_corpus(home, DEFAULT_CORPUS, embedder=MiniLMEmbedder())
    questions = derive_queries(corpus, limit=len(corpus))
    source = tmp_path / "new.jsonl"
    source.write_text("\n".join(map(json.dumps, NEW)))
    chroma = Served(tmp_path / "chroma")
    variables = {"CITEWISE_WRITER": "extractive", "CITEWISE_CHROMA": str(chroma.server)}

    def page() -> PageServer:
        return PageServer.chat(home=home, corpus=DEFAULT_CORPUS, variables=variables)

    def sessions() -> list[Sessions]:
        count = 8 if nightly else 2
        started = [
            Sessions(port, questions, count=count, pause=0.0 if nightly else 0.3, scripted=False) for port in ports
        ]
        for each in started:
            each.start()
        return started

    def ended(running: list[Sessions]) -> list[Tally]:
        for each in running:
            each.end()
        return [each.tally for each in running]

    try:
        share_corpus(corpus, chroma.server)  # a page's start would do it, within the time that it is waited for
        with page() as one, page() as two:
            ports = (one.port, two.port)
            running = sessions()
            time.sleep(60 if nightly else 2)
            told("two pages", ended(running))
            running = sessions()
            command = [sys.executable, "-c", PROGRAM, "ingest", str(source), "--home", str(home)]
            done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            for port in ports:
                kind, answer = ask(port, "How many stripes does ZebraNet-117 count?")
                assert kind == "answer"
                assert isinstance(answer, dict)
                assert (answer["outcome"], answer["citations"][0]["paper_id"]) == ("answered", "new117")  # type: ignore[index]
            told("beside the ingest", ended(running))
        with chroma.client() as client:
            held = sorted(collection.count() for collection in client.list_collections())
            assert held == [corpus.manifest.chunks, corpus.manifest.chunks + len(NEW)]
    finally:
        chroma.kill()

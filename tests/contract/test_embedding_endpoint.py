"""Embedding by an endpoint: what is sent, which answers are taken, and how each fault is told."""

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

from rag.errors import CorpusError, EndpointError
from rag.ingest import ensure_corpus, ingest_papers
from rag.llm import Endpoint, EndpointEmbedder, embeddings
from rag.tokens import count_tokens
from tests.builders import paper
from tests.contract.scripted_server import (
    FOREVER,
    RESET,
    Response,
    ScriptedServer,
    head,
    http,
    scripted_server,
    vectors_of,
)

TEXTS = ["graph networks", "drifting preferences", "memory traces", "world models", "policy gradients"]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


def embedder(server: ScriptedServer, model: str = "m", **given: Any) -> EndpointEmbedder:
    limits = {name: given.pop(name, value) for name, value in (("deadline", 4.0), ("first_token_timeout", 2.0))}
    key = given.pop("api_key", None)
    return EndpointEmbedder(
        Endpoint(role="embedding", base_url=server.base_url, model=model, api_key=key, **limits), **given
    )


def test_vectors_have_length_one_and_the_order_of_the_texts(server: ScriptedServer) -> None:
    server.embed("m", dimension=16)
    counts: list[int] = []
    vectors = embedder(server, batch_size=2, api_key="sk-mine").embed(TEXTS, on_batch=counts.append)
    sent = np.array([entry["embedding"] for entry in vectors_of(TEXTS, dimension=16)["data"][::-1]])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, sent / np.linalg.norm(sent, axis=1, keepdims=True), atol=1e-6)
    assert counts == [2, 2, 1]
    assert [request["input"] for request in server.requests] == [TEXTS[:2], TEXTS[2:4], TEXTS[4:]]
    assert server.requests[0] == {"model": "m", "input": TEXTS[:2], "encoding_format": "float"}
    assert server.headers[0]["authorization"] == "Bearer sk-mine"
    assert set(server.paths) == {"/v1/embeddings"}


def test_entries_without_an_index_are_taken_as_they_come(server: ScriptedServer) -> None:
    server.play("m", http(200, {"data": [{"embedding": [3.0, 0.0]}, {"embedding": [0.0, 2.0]}]}))
    assert embedder(server).embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_a_request_holds_no_more_tokens_than_allowed(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.embed("m")
    monkeypatch.setattr(embeddings, "REQUEST_TOKENS", 10)
    embedder(server).embed(["one two three four five six"] * 3 + ["seven"])
    assert [len(request["input"]) for request in server.requests] == [1, 1, 2]


@pytest.mark.parametrize("word", ["graph ", "漢字 ", "🧬"])
def test_long_texts_are_cut_between_characters(server: ScriptedServer, word: str) -> None:
    server.embed("m")
    text = word * 300
    embedder(server, max_tokens=50).embed([text, "short \ud800"])
    cut, short = server.embedded["m"]
    assert text.startswith(cut)
    assert 45 <= count_tokens(cut) <= 50
    assert short == "short \ufffd"


def test_the_dimension_is_asked_for_once(server: ScriptedServer) -> None:
    server.embed("m", dimension=5)
    asked = embedder(server)
    assert (asked.dimension, asked.dimension, asked.embed([]).shape) == (5, 5, (0, 5))
    assert server.hits["m"] == 1
    assert embedder(server, dimension=7).dimension == 7
    assert server.hits["m"] == 1


def test_other_lengths_than_the_settings_are_an_error(server: ScriptedServer) -> None:
    server.embed("m", dimension=5)
    with pytest.raises(EndpointError, match="5 dimensions in place of 7") as caught:
        embedder(server, dimension=7).embed(["a"])
    assert caught.value.kind == "wrong_dimension"


def entries(*vectors: object) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (http(200, entries([1.0, 0.0])), "bad_vectors"),
        (http(200, entries([1.0], [1.0], [1.0])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [1.0])), "bad_vectors"),
        (http(200, entries([], [])), "bad_vectors"),
        (http(200, entries([[1.0]], [[1.0]])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [0.0, 0.0])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [float("nan"), 0.0])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [float("inf"), 0.0])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [1e300, 1e300])), "bad_vectors"),
        (http(200, entries([1.0, 0.0], [None, 0.0])), "bad_vectors"),
        (http(200, entries("AACAPw==", "AACAPw==")), "bad_vectors"),
        (http(200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}), "bad_vectors"),
        (http(200, {"data": [{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}]}), "bad_vectors"),
        (http(200, {"data": [None, 3]}), "bad_vectors"),
        (http(200, {"data": None}), "protocol"),
        (http(200, {}), "protocol"),
        (http(200, []), "protocol"),
        (http(200, "<html>Please log in</html>"), "protocol"),
        (http(200, b"\xff\xfe{"), "protocol"),
        (http(200, {"error": {"message": "quota: insufficient_quota"}}), "quota"),
    ],
)
def test_an_answer_that_is_no_such_vectors_is_an_error(server: ScriptedServer, response: Response, kind: str) -> None:
    server.play("m", response)
    with pytest.raises(EndpointError) as caught:
        embedder(server).embed(["a", "b"])
    assert caught.value.kind == kind
    assert server.hits["m"] == 1


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}


@pytest.mark.parametrize(
    ("response", "kind", "fix"),
    [
        (http(401, error("bad key")), "key_refused", "CITEWISE_EMBEDDING_API_KEY"),
        (http(404, error("model 'm' not found")), "model_not_found", "CITEWISE_EMBEDDING_MODEL"),
        (http(404, "not found"), "no_embedding_api", "CITEWISE_EMBEDDING_BASE_URL"),
        (http(307, Location="/elsewhere"), "redirected", "CITEWISE_EMBEDDING_BASE_URL"),
        (http(400, error("maximum context length is 256")), "context_too_long", "CITEWISE_EMBEDDING_MAX_TOKENS"),
        (http(413, error("batch size 32 > 16")), "request_too_large", "CITEWISE_EMBEDDING_BATCH"),
        (http(422, error("no such input")), "rejected", "CITEWISE_EMBEDDING_MODEL"),
        (http(429, error("slow down"), Retry_After="60"), "rate_limited", "60 s"),
    ],
)
def test_a_refusal_is_told_at_once_with_the_setting_to_change(
    server: ScriptedServer, response: Response, kind: str, fix: str
) -> None:
    server.play("m", response)
    with pytest.raises(EndpointError) as caught:
        embedder(server).embed(["a"])
    assert (caught.value.kind, server.hits["m"]) == (kind, 1)
    assert fix in caught.value.fix
    assert not {"CITEWISE_MODEL", "CITEWISE_BASE_URL", "CITEWISE_K"} & set(caught.value.fix.replace(".", " ").split())


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (http(500, error("out of memory")), "server_error"),
        ((RESET,), "connection_lost"),
        (http(429, error("slow down")), "rate_limited"),
    ],
)
def test_what_may_pass_is_tried_three_times(server: ScriptedServer, response: Response, kind: str) -> None:
    server.play("m", response)
    with pytest.raises(EndpointError) as caught:
        embedder(server).embed(["a"])
    assert (caught.value.kind, server.hits["m"]) == (kind, 3)


def test_a_busy_endpoint_is_waited_for_as_long_as_it_asks(server: ScriptedServer) -> None:
    server.embed("m", http(429, error("slow down"), Retry_After="1"))
    begin = monotonic()
    assert embedder(server).embed(["a"]).shape == (1, 8)
    assert (monotonic() - begin >= 1, server.hits["m"]) == (True, 2)


def test_a_silent_endpoint_is_given_up_at_the_deadline(server: ScriptedServer) -> None:
    server.play("m", (head(200, {"Content-Type": "application/json"}), b"{", FOREVER))
    begin = monotonic()
    with pytest.raises(EndpointError, match=r"within 0\.6 s") as caught:
        embedder(server, deadline=0.6, first_token_timeout=0.6).embed(["a"])
    assert caught.value.kind == "timeout"
    assert monotonic() - begin < 4  # loading the client takes a second where it is the first


def test_nothing_listening_is_unreachable() -> None:
    endpoint = Endpoint(role="embedding", base_url="http://127.0.0.1:9/v1", model="m")
    with pytest.raises(EndpointError, match="nothing takes connections") as caught:
        EndpointEmbedder(endpoint).embed(["a"])
    assert "CITEWISE_EMBEDDING_BASE_URL" in caught.value.fix


def test_the_key_is_in_no_message(server: ScriptedServer) -> None:
    server.play("m", http(400, error("your key zz-secret-key-zz is odd")))
    with pytest.raises(EndpointError) as caught:
        embedder(server, api_key="zz-secret-key-zz").embed(["a"])
    assert "zz-secret" not in str(caught.value)


def test_threads_share_one(server: ScriptedServer) -> None:
    server.embed("m")
    shared, found = embedder(server), []
    threads = [threading.Thread(target=lambda: found.append(shared.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 4
    assert all(np.array_equal(vectors, found[0]) for vectors in found)


PAPERS = [
    paper(f"p{number}", title=f"Study {number}", abstract=f"Alpha {number}. Beta {number}.") for number in range(9)
]


def test_an_ingest_that_broke_off_goes_on_where_it_was(server: ScriptedServer, tmp_path: Path) -> None:
    server.embed("m", None, None, None, http(401, error("expired")))  # the dimension, two batches, a fault
    with pytest.raises(EndpointError):
        ingest_papers(tmp_path, "c", PAPERS, embedder=embedder(server, batch_size=5))
    assert len(server.embedded["m"]) == 11
    report = ingest_papers(tmp_path, "c", PAPERS, embedder=embedder(server, batch_size=5, dimension=8))
    texts = [text for text in server.embedded["m"] if text != embeddings.PROBE]
    assert report.total == 9
    assert len(texts) == len(set(texts)) == 9 * 4


@pytest.mark.parametrize(("model", "dimension"), [("other", 8), ("m", 12)])
def test_another_model_than_the_index_has_is_refused_before_a_question(
    server: ScriptedServer, tmp_path: Path, model: str, dimension: int
) -> None:
    server.embed("m")
    ingest_papers(tmp_path, "c", PAPERS, embedder=embedder(server))
    server.embed(model, dimension=dimension)
    with pytest.raises(CorpusError, match=rf"model m \(8 dimensions\), and {model}") as caught:
        ensure_corpus(tmp_path, "c", embedder=embedder(server, model))
    assert "citewise ingest --rebuild --corpus c" in caught.value.fix
    assert server.hits[model] == (model == "m")  # only the dimension has to be asked for

"""gradio_client and an MCP client, each against the served app: typed arguments, cited answers, errors in words."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from gradio_client import Client as GradioClient
from gradio_client.exceptions import AppError
from mcp.client.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from tests.browser.fake_assistant import FakeAssistant
from tests.live_server import live
from ui.app import PageConfig

if TYPE_CHECKING:
    from rag.assistant import Assistant

QUESTION = "By how much does SITAlign beat the multi-objective decoding baseline on PKU-SafeRLHF?"


@pytest.fixture(scope="module")
def site(assistant: "Assistant") -> Iterator[str]:
    """The app with the real assistant on the packaged papers, MCP included."""
    with live(assistant, PageConfig(mcp=True)) as url:
        yield url


@pytest.fixture(scope="module")
def gradio(site: str) -> Iterator[GradioClient]:
    client = GradioClient(site, verbose=False, analytics_enabled=False)
    yield client
    client.close()


def mcp(url: str, work: Callable[[McpClient], Awaitable[Any]], *, key: str | None = None) -> Any:
    """What `work` gives with a connected client."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            McpClient(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def test_gradio_client_gets_a_cited_answer(gradio: GradioClient) -> None:
    answer = gradio.predict(QUESTION, api_name="/ask")
    assert answer["outcome"] == "answered"
    assert "22.3%" in answer["answer"]
    assert answer["citations"][0]["title"].startswith("Bounded Rationality")


def test_gradio_client_searches_within_filters(gradio: GradioClient) -> None:
    found = gradio.predict("learning", k=3, author=["Yisen Wang"], api_name="/search")
    assert [paper["title"] for paper in found["papers"]] == [
        "An Augmentation-Aware Theory for Self-Supervised Contrastive Learning"
    ]
    assert found["note"] == "Searched only papers by Yisen Wang."


def test_the_endpoints_are_typed(gradio: GradioClient) -> None:
    endpoints = gradio.view_api(return_format="dict")["named_endpoints"]
    assert list(endpoints) == ["/ask", "/search"]
    types = {p["parameter_name"]: p["python_type"]["type"] for p in endpoints["/search"]["parameters"]}
    assert types["query"] == "str"
    assert types["k"] == "int"
    assert types["author"] == "None | list[str]"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"question": ""}, "The question is empty"),
        ({"question": "x" * 4_001}, "4,001 characters"),
        ({"question": 5}, "question: Input should be a valid string"),
        ({"question": "x", "history": "none"}, "history: Input should be a valid list"),
        ({"question": "x", "year": "soon"}, "is no year"),
        ({"question": "x", "ids": ["a"] * 101}, "at most 100"),
    ],
)
def test_wrong_arguments_are_told(gradio: GradioClient, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(AppError, match=told):
        gradio.predict(**arguments, api_name="/ask")


def test_a_search_for_too_many_papers_is_refused(gradio: GradioClient) -> None:
    with pytest.raises(AppError, match="from 1 to 50"):
        gradio.predict("learning", k=51, api_name="/search")


def test_an_mcp_client_finds_two_tools_and_gets_a_cited_answer(site: str) -> None:
    async def work(client: McpClient) -> tuple[list[str], Any, Any]:
        tools = await client.list_tools()
        answer = await client.call_tool("ask", {"question": QUESTION})
        found = await client.call_tool("search", {"query": "memory traces", "k": 2})
        return [tool.name for tool in tools.tools], answer, found

    names, answer, found = mcp(site, work)
    assert names == ["ask", "search"]
    assert not answer.is_error
    assert "22.3%" in answer.structured_content["answer"]
    assert answer.structured_content["citations"][0]["evidence"]
    assert len(found.structured_content["papers"]) == 2


def test_wrong_arguments_are_told_over_mcp(site: str) -> None:
    async def work(client: McpClient) -> list[Any]:
        wrong = [{"question": ""}, {"question": "x", "year": "soon"}, {"history": []}]
        return [await client.call_tool("ask", arguments) for arguments in wrong]

    results = mcp(site, work)
    assert all(result.is_error for result in results)
    assert "The question is empty. Ask something" in results[0].content[0].text
    assert "is no year" in results[1].content[0].text


def test_with_a_password_mcp_asks_for_it() -> None:
    async def names(client: McpClient) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    with live(FakeAssistant(pause=0.0), PageConfig(auth=("reader", "secret"), mcp=True)) as url:
        assert mcp(url, names, key="secret") == ["ask", "search"]
        with httpx2.Client() as http:
            refused = http.post(f"{url}/mcp", json={}, headers={"authorization": "Bearer wrong"}, follow_redirects=True)
        assert refused.status_code == 401


def test_without_the_flag_there_is_no_mcp_server() -> None:
    with live(FakeAssistant(pause=0.0)) as url, httpx2.Client() as http:
        assert http.post(f"{url}/mcp", json={}).status_code in {404, 405}

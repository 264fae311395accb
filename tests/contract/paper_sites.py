"""A real HTTP server on loopback that speaks the interfaces of OpenReview, arXiv and PMLR, and can be made to fail.

with paper_sites(notes=[...]) as sites:
    sites.fail_next.append((429, {"Retry-After": "2"}))
    sites.requests                                            # the paths that were asked for, with their queries
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
  xmlns:arxiv="http://arxiv.org/schemas/atom">
  <title>ArXiv Query</title>
  <opensearch:totalResults>{total}</opensearch:totalResults>
{entries}</feed>"""
ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}v2</id>
    <updated>2025-06-01T00:00:00Z</updated>
    <published>{year}-05-28T17:59:59Z</published>
    <title>{title}</title>
    <summary>  {abstract}
</summary>
    <author><name>Ada Lovelace</name></author>
    <author><name>Alan Turing</name></author>
    <category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
    <arxiv:primary_category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
  </entry>
"""


@dataclass
class Sites:
    """What the server holds, what it was asked, and the answers it gives instead of the next ones."""

    notes: list[Any] = field(default_factory=list)
    entries: list[dict[str, str]] = field(default_factory=list)
    bibliography: str = ""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    fail_next: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    instead: bytes | None = None
    address: str = ""

    def answer(self, path: str, query: dict[str, str]) -> bytes | None:
        """The body for a request, None where there is no such page."""
        if self.instead is not None:
            return self.instead
        if path == "/notes":
            kept = [note for note in self.notes if _venue(note) in {None, query["content.venueid"]}]
            first, limit = int(query["offset"]), min(int(query["limit"]), 1000)
            return json.dumps({"notes": kept[first : first + limit], "count": len(kept)}).encode()
        if path == "/query":
            kept = self.entries
            if "id_list" in query:
                kept = [entry for entry in kept if entry["id"] in query["id_list"].split(",")]
            first, size = int(query["start"]), int(query["max_results"])
            made = (ENTRY.format(**{k: escape(v) for k, v in e.items()}) for e in kept[first : first + size])
            return FEED.format(total=len(kept), entries="".join(made)).encode()
        if path == "/v267/bibliography.bib":
            return self.bibliography.encode()
        return None


def _venue(note: Any) -> str | None:
    return note["content"]["venueid"]["value"] if isinstance(note, dict) else None


@contextmanager
def paper_sites(**held: Any) -> Iterator[Sites]:
    """The server, running; `held` are fields of `Sites`."""
    sites = Sites(**held)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            sites.requests.append((parts.path, query))
            if sites.fail_next:
                status, headers = sites.fail_next.pop(0)
                self._send(status, headers, b"no")
                return
            body = sites.answer(parts.path, query)
            self._send(200 if body is not None else 404, {}, body or b"")

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    sites.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield sites
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def note(number: int, *, venue: str = "ICML.cc/2025/Conference") -> dict[str, Any]:
    """A submission as the API gives it."""
    return {
        "id": f"note{number}",
        "forum": f"note{number}",
        "invitations": [f"{venue}/-/Submission"],
        "content": {
            "title": {"value": f"Title {number}"},
            "authors": {"value": ["Ada Lovelace", "Alan Turing"]},
            "abstract": {"value": f"Abstract {number} says so."},
            "venue": {"value": "ICML 2025 poster"},
            "venueid": {"value": venue},
        },
    }


def entry(number: int) -> dict[str, str]:
    """A paper of arXiv."""
    return {
        "id": f"2505.{number:05}",
        "title": f"On <topic>\n  number {number}",
        "abstract": f"We fold\nlines {number}.\n  And paragraphs.",
        "year": "2025",
    }

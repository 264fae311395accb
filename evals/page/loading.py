"""One load of a page: when its question box can be used, what was fetched for it, and from where."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

_QUIET_SECONDS = 1.0
"""A load is over when nothing has come for so long."""
_NOTE_WHEN_USABLE = """(() => {
  const look = () => {
    const box = document.querySelector(%r);
    if (box?.checkVisibility() && !box.disabled) window.usableAt = performance.now();
    else requestAnimationFrame(look);
  };
  look();
})();"""
_USABLE_AFTER_ANSWER = "window.usableAt - performance.getEntriesByType('navigation')[0].responseStart"


class Load(NamedTuple):
    """`usable` is in milliseconds from the first byte of the server's answer until the box is shown and enabled.

    `sent` are bytes as they came, with headers; `decoded` those of the bodies, unpacked; `document` those of `sent`
    that the HTML took. `outside` are addresses on other hosts.
    """

    usable: float
    requests: int
    sent: int
    decoded: int
    document: int
    outside: tuple[str, ...]


@dataclass
class _Traffic:
    """What came for each request, by its id. Not slotted: Playwright marks whose methods it calls."""

    host: str
    sent: dict[str, int] = field(default_factory=dict)
    decoded: dict[str, int] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    outside: list[str] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)

    def listen(self, page: "Page") -> None:
        network = page.context.new_cdp_session(page)
        network.on("Network.requestWillBeSent", self.asked)
        network.on("Network.dataReceived", self.came)
        network.on("Network.loadingFinished", self.ended)
        network.send("Network.enable")

    def asked(self, event: dict[str, Any]) -> None:
        url: str = event["request"]["url"]
        if not url.startswith((self.host, "data:", "blob:")):
            self.outside.append(url)
        if event.get("type") == "Document":
            self.documents.add(event["requestId"])
        if url.startswith("http"):
            self.sent.setdefault(event["requestId"], 0)

    def came(self, event: dict[str, Any]) -> None:
        name, self.last = event["requestId"], time.monotonic()
        self.sent[name] = self.sent.get(name, 0) + event["encodedDataLength"]
        self.decoded[name] = self.decoded.get(name, 0) + event["dataLength"]

    def ended(self, event: dict[str, Any]) -> None:
        self.last = time.monotonic()
        if event["requestId"] in self.sent:
            self.sent[event["requestId"]] = int(event["encodedDataLength"])


def open_url(page: "Page", url: str, *, box: str) -> None:
    """Opens `url` in a page that is new, and waits until the question box at the selector `box` can be used."""
    page.add_init_script(_NOTE_WHEN_USABLE % box)
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.usableAt")


def load_page(context: "BrowserContext", url: str, *, box: str) -> Load:
    """Opens `url` as `open_url` does, waits until nothing more comes, and closes the page."""
    page, traffic = context.new_page(), _Traffic(host=url)
    traffic.listen(page)
    open_url(page, url, box=box)
    while time.monotonic() - traffic.last < _QUIET_SECONDS:
        page.wait_for_timeout(100)
    usable = page.evaluate(_USABLE_AFTER_ANSWER)
    page.close()
    return Load(
        usable=usable,
        requests=len(traffic.sent),
        sent=sum(traffic.sent.values()),
        decoded=sum(traffic.decoded.values()),
        document=sum(traffic.sent[name] for name in traffic.documents),
        outside=tuple(traffic.outside),
    )

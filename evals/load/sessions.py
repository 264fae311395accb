"""Readers of the page: each asks one question after another by its public endpoint, and looks at what comes back."""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.load.endpoint import scripted_reply

_TIMEOUT = 300.0
_NOTHING_ELSE = [None] * 7
"""No history and no filter: the endpoint takes all its inputs, in order."""


@dataclass(slots=True)
class Tally:
    """What came of questions. `seconds` are those from a question to the end of its answer."""

    seconds: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    strangers: int = 0
    """Answers to another question than was asked."""
    refused: Counter[str] = field(default_factory=Counter)
    """Questions that found the queue full, by what their reader was told."""


def ask(port: int, question: str) -> tuple[str, dict[str, object] | str]:
    """Asks once: ("answer", the answer's JSON), ("refused", what was told) or ("error", what is wrong)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        body = json.dumps({"data": [question, *_NOTHING_ELSE]})
        connection.request("POST", "/gradio_api/call/ask", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        told = response.read().decode()
        if response.status in {429, 503}:
            return "refused", told
        if response.status != 200:
            return "error", f"HTTP {response.status}"
        connection.request("GET", f"/gradio_api/call/ask/{json.loads(told)['event_id']}")
        return _last_event(connection.getresponse())
    except (OSError, http.client.HTTPException, ValueError) as error:
        return "error", type(error).__name__
    finally:
        connection.close()


def _last_event(response: http.client.HTTPResponse) -> tuple[str, dict[str, object] | str]:
    """Read to its end, as a browser does: Gradio keeps what belongs to a stream that is left before."""
    event = ""
    result: tuple[str, dict[str, object] | str] = ("error", "stream ended early")
    for raw in response:
        line = raw.decode().strip()
        if line.startswith("event:"):
            event = line.removeprefix("event:").strip()
        elif line.startswith("data:") and event == "complete":
            result = "answer", json.loads(line.removeprefix("data:"))[0]
        elif line.startswith("data:") and event == "error":
            result = "error", f"event error: {line.removeprefix('data:').strip()[:80]}"
    return result


class Sessions:
    """`count` readers in threads of their own. Questions are dealt out in turns, so that no two ask the same if there
    are enough of them; each waits `pause` seconds between two questions."""

    def __init__(self, port: int, questions: Sequence[str], *, count: int, pause: float, scripted: bool) -> None:
        self._port, self._questions, self._pause, self._scripted = port, questions, pause, scripted
        self.tally, self._lock, self._over = Tally(), threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n, count), daemon=True) for n in range(count)]

    def ask_once(self) -> None:
        """All ask one question at the same time; returns when each has its answer."""
        self._over.set()
        self.start()
        self.end()

    def start(self) -> None:
        """All begin to ask."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Each asks no more once it has the answer that it waits for."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, session: int, count: int) -> None:
        number = session
        while True:
            question = self._questions[number % len(self._questions)]
            begin = time.monotonic()
            kind, value = ask(self._port, question)
            self._take(number % len(self._questions), kind, value, begin)
            number += count
            if self._over.wait(self._pause):
                return

    def _take(self, number: int, kind: str, value: dict[str, object] | str, begin: float) -> None:
        with self._lock:
            if isinstance(value, str):
                (self.tally.refused if kind == "refused" else self.tally.errors)[value] += 1
                return
            self.tally.seconds.append(time.monotonic() - begin)
            self.tally.outcomes[str(value["outcome"])] += 1
            self.tally.strangers += self._is_strange(number, value)

    def _is_strange(self, number: int, answer: dict[str, object]) -> bool:
        """Whether the answer is to another question than that of `number`."""
        if answer["question"] != self._questions[number]:
            return True
        if not self._scripted or not str(answer["answer"]).startswith("The first source is about what question"):
            return False  # quoted, or refused before the model was asked
        twins = (other for other, text in enumerate(self._questions) if text == self._questions[number])
        return not any(str(answer["answer"])[:60] == scripted_reply(other)[:60] for other in twins)

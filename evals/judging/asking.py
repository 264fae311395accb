"""Asks a judge of claims, several at once: a verdict of the exact three words, or why there is none."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from evals.judging.labels import Claim
from evals.running.call_cache import CallCache, recording
from evals.running.records import Calls
from rag.domain import AnswerSentence, Support, Usage
from rag.errors import EndpointError, SettingsError
from rag.judging import ATTEMPTS, Judge, read_verdicts
from rag.settings import Settings
from rag.wiring import build_judge, build_judge_endpoint, guarded

JOBS = 4
OnProgress = Callable[[int, int], object]


class Verdict(NamedTuple):
    """What a judge said of a claim. `reason` says why `support` is None: "parse", or the endpoint's fault."""

    support: Support | None
    reason: str
    calls: tuple[Calls, ...] = ()


class Opened(NamedTuple):
    """A judge with its name: model, where it is served, and prompt; `deadline` is in seconds a claim."""

    judge: Judge
    name: str
    deadline: float


@contextmanager
def opened_judge(settings: Settings, *, cache: CallCache) -> Iterator[Opened]:
    """The judge of the settings, its calls cached. Raises SettingsError where they name none."""
    from rag.llm import ChatModel

    endpoint = build_judge_endpoint(settings)
    models = guarded(settings, connect=cache.connect(ChatModel))
    # The second look of a local model is no judge: it knows what the check by words said.
    is_named = endpoint is not None or settings.entailment_model is not None
    judge = build_judge(settings, models=models) if is_named else None
    if judge is None:
        raise SettingsError(
            "No judge is configured.",
            fix="Set CITEWISE_JUDGE_MODEL, and CITEWISE_JUDGE_BASE_URL to where it is served, or "
            "CITEWISE_ENTAILMENT_MODEL.",
        )
    yield Opened(judge, f"{judge.label} at {endpoint.url}" if endpoint else judge.label, settings.deadline)


def ask_judge(
    claims: Sequence[Claim], *, opened: Opened, jobs: int = JOBS, on_progress: OnProgress | None = None
) -> list[Verdict]:
    """The verdicts on `claims`, one claim a call, in order. An unreadable reply is asked for once more."""
    verdicts = []
    with ThreadPoolExecutor(jobs, thread_name_prefix="judge") as pool:
        for done, verdict in enumerate(pool.map(lambda claim: _ask(claim, opened), claims), start=1):
            verdicts.append(verdict)
            if on_progress is not None:
                on_progress(done, len(claims))
    return verdicts


def dollars(verdicts: Sequence[Verdict]) -> float | None:
    """What the calls that were sent cost; None where a price is not known."""
    spent = [calls.dollars for verdict in verdicts for calls in verdict.calls]
    known = [value for value in spent if value is not None]
    return sum(known) if len(known) == len(spent) else None


def _ask(claim: Claim, opened: Opened) -> Verdict:
    numbers = tuple(range(1, len(claim.papers) + 1))
    sentence = AnswerSentence(claim.sentence, numbers, "unsupported", "")
    until = monotonic() + opened.deadline
    calls: list[Calls] = []
    for attempt in range(ATTEMPTS):
        with recording(attempt) as recorder:
            try:
                pieces = list(
                    opened.judge.judge([sentence], papers=dict(zip(numbers, claim.papers, strict=True)), until=until)
                )
            except EndpointError as error:
                return Verdict(None, error.kind, (*calls, recorder.calls()))
        calls.append(recorder.calls())
        reply = "".join(piece for piece in pieces if not isinstance(piece, Usage))
        if read := read_verdicts(reply, count=1):
            return Verdict(read[0], "", tuple(calls))
    return Verdict(None, "parse", tuple(calls))

"""Is a judge to be trusted? Its agreement with people, and whether it sees negations and changed numbers."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evals.judging.asking import OnProgress, Opened, Verdict, ask_judge, dollars
from evals.judging.controls import make_controls
from evals.judging.labels import Claim, SupportLabel, said_twice, settled
from evals.running.errors import RunError
from evals.running.log import write_whole
from evals.statistics.agreement import Pair, confusion, kappa
from evals.statistics.resampling import Interval
from rag.domain import Support

LABELS = ("supported", "partly", "unsupported")
BINARY = ("supported", "not")
LEAST_KAPPA = 0.6
LEAST_LABELS = 100
LEAST_CAUGHT = 0.8
"""What a judge must reach before a gate may use it: kappa, on how many labels, and share of controls caught."""
FOLDER = "judges"


class Agreement(NamedTuple):
    """How well verdicts agree with people's labels. `kappa` is of "supported" or not, None where it is undefined.

    `table` has people's labels as rows and the verdicts as columns, in the order of LABELS; `judged` counts them all.
    """

    judged: int
    kappa: Interval | None
    table: tuple[tuple[int, ...], ...]


def agreement(agreed: Sequence[tuple[Claim, Support]], verdicts: Sequence[Support | None]) -> Agreement:
    """The agreement of verdicts, None where there is none, with labels of the same claims in the same order."""
    pairs = [
        Pair(label, verdict, claim.papers[0].paper_id)
        for (claim, label), verdict in zip(agreed, verdicts, strict=True)
        if verdict is not None
    ]
    binary = [pair._replace(one=_binary(pair.one), other=_binary(pair.other)) for pair in pairs]
    return Agreement(len(pairs), kappa(binary, labels=BINARY), confusion(pairs, labels=LABELS))


def agreement_of_people(labels: Sequence[SupportLabel]) -> Interval | None:
    """The kappa of two people, None where no two have labelled the same."""
    pairs = [Pair(_binary(one), _binary(other), str(n)) for n, (one, other) in enumerate(said_twice(labels))]
    return kappa(pairs, labels=BINARY)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a judge did: `judged`, `kappa` and `table` as in Agreement; `human` is the kappa of two people.

    `caught` counts controls by kind: those that the judge did not call supported, and all that it judged. `dollars` is
    what this calibration cost.
    """

    judge: str
    labels: str
    judged: int
    kappa: Interval | None
    human: Interval | None
    table: tuple[tuple[int, ...], ...]
    caught: dict[str, tuple[int, int]]
    unscored: dict[str, int]
    dollars: float | None

    def doubts(self) -> list[str]:
        """Why a gate may not use the judge; none where it may."""
        found = []
        if self.judged < LEAST_LABELS:
            found.append(f"{self.judged} labels, {LEAST_LABELS} are needed")
        if self.kappa is None or self.kappa.value < LEAST_KAPPA:
            told = "undefined" if self.kappa is None else f"{self.kappa.value:.2f}"
            found.append(f"kappa is {told}, {LEAST_KAPPA} is needed")
        for kind, (caught, total) in self.caught.items():
            if not total or caught < LEAST_CAUGHT * total:
                found.append(f"{caught} of {total} {kind} controls are caught, {LEAST_CAUGHT:.0%} are needed")
        return found


def calibrate(
    labels: Sequence[SupportLabel], *, opened: Opened, jobs: int, on_progress: OnProgress | None = None
) -> Calibration:
    """Asks the judge of every labelled claim and of the controls made of the supported ones."""
    agreed = settled(labels)
    controls = list(make_controls([claim for claim, label in agreed if label == "supported"]))
    claims = [claim for claim, _ in agreed] + [control.claim for control in controls]
    verdicts = ask_judge(claims, opened=opened, jobs=jobs, on_progress=on_progress)
    found = agreement(agreed, [verdict.support for verdict in verdicts[: len(agreed)]])
    caught = {"negated": (0, 0), "number": (0, 0)}
    for control, verdict in zip(controls, verdicts[len(agreed) :], strict=True):
        if verdict.support is not None:
            hits, total = caught[control.kind]
            caught[control.kind] = (hits + (verdict.support != "supported"), total + 1)
    return Calibration(
        judge=opened.name,
        labels=hashlib.sha256("\n".join(each.model_dump_json() for each in labels).encode()).hexdigest(),
        judged=found.judged,
        kappa=found.kappa,
        human=agreement_of_people(labels),
        table=found.table,
        caught=caught,
        unscored=_unscored(verdicts),
        dollars=dollars(verdicts),
    )


def save_calibration(calibration: Calibration, runs: Path) -> Path:
    """Keeps it where gates look for it, and returns where."""
    path = _path(runs, calibration.judge)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(asdict(calibration), indent=1) + "\n")
    return path


def find_calibration(runs: Path, judge: str) -> Calibration | None:
    """The last calibration of exactly this judge, None where there is none. Raises RunError where it is damaged."""
    path = _path(runs, judge)
    if not path.exists():
        return None
    try:
        stored: dict[str, Any] = json.loads(path.read_bytes())
        intervals = {name: Interval(*stored[name]) if stored[name] else None for name in ("kappa", "human")}
        caught = {kind: (int(hits), int(total)) for kind, (hits, total) in stored["caught"].items()}
        table = tuple(map(tuple, stored["table"]))
        return Calibration(**{**stored, **intervals, "caught": caught, "table": table})
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "Delete it, then: citewise eval judge calibrate"
        raise RunError(f"{path} is damaged: {error!r}.", fix=fix) from error


def _path(runs: Path, judge: str) -> Path:
    return runs / FOLDER / f"{hashlib.sha256(judge.encode()).hexdigest()[:12]}.json"


def _binary(label: str) -> str:
    return label if label == "supported" else "not"


def _unscored(verdicts: Sequence[Verdict]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.support is None:
            counts[verdict.reason] = counts.get(verdict.reason, 0) + 1
    return counts

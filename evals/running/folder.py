"""The folder of a run: run.json, cases.jsonl, papers.jsonl, samples.jsonl, scores.jsonl, and judged.json if it was.

run.json, cases.jsonl are written once; papers.jsonl and samples.jsonl are only appended to; scores.jsonl is made anew
by each scoring, and holds no time, so that the same answers give the same bytes.
"""

import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.cases.case import Case, expand
from evals.cases.schema import ITEM, AnyItem
from evals.prices import load_prices
from evals.running.errors import RunError
from evals.running.identity import Identity, citewise_version, commit
from evals.running.log import read_lines, read_log, write_whole
from evals.running.records import Sample, sample_from
from evals.scoring import Score
from rag.domain import Paper, Support
from rag.private_folder import make_private
from rag.records import from_line

RUN, CASES, PAPERS, SAMPLES, SCORES = "run.json", "cases.jsonl", "papers.jsonl", "samples.jsonl", "scores.jsonl"
SEED = 0
"""Of all resampling."""
JUDGED = "judged.json"
Scores = Mapping[tuple[str, int], Mapping[str, Score]]
"""The scores of each sample, by case and repeat, by metric."""
Verdicts = Mapping[tuple[str, tuple[str, ...]], Support | None]
"""What a judge said, by sentence and ids of the cited papers; None where it gave no verdict."""


class RunFolder:
    """A run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path.name

    @classmethod
    def create(cls, runs: Path, identity: Identity, items: Sequence[AnyItem]) -> "RunFolder":
        """A new run below `runs`. Raises RunError where it cannot be written."""
        now = datetime.now(UTC)
        label = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{identity.suite}-{identity.model or identity.writer}")[:60]
        run = cls(runs / f"{now:%Y%m%d-%H%M%S}-{label}-{secrets.token_hex(2)}")
        about = {
            "identity": asdict(identity),
            "fingerprint": identity.fingerprint,
            "created": now.isoformat(timespec="seconds"),
            "citewise": citewise_version(),
            "commit": commit(),
            "cases": len(expand(items)),
            "planned": len(expand(items)[: identity.limit]) * identity.repeats,
            "seeds": {"bootstrap": SEED},
            "prices": load_prices().date,
        }
        try:
            make_private(run.path.parent)
            run.path.mkdir(mode=0o700)
            write_whole(run.path / CASES, "".join(f"{item.model_dump_json()}\n" for item in items))
            write_whole(run.path / RUN, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise RunError(f"{run.path} cannot be written: {error.strerror}.", fix="Choose another --out.") from error
        return run

    def about(self) -> dict[str, Any]:
        """What run.json says. Raises RunError where it is no run."""
        try:
            about: dict[str, Any] = json.loads((self.path / RUN).read_bytes())
        except (OSError, ValueError) as error:
            raise RunError(f"{self.path} is not a run: {error}.", fix="See: citewise eval list") from error
        return about

    def identity(self) -> Identity:
        """What it is a run of."""
        stored = self.about()["identity"]
        return Identity(**(stored | {"prompts": tuple(stored["prompts"])}))

    def items(self) -> list[AnyItem]:
        """The items of the suite, as they were when the run began."""
        try:
            return [ITEM.validate_python(record) for record in read_log(self.path / CASES)]
        except ValidationError as error:
            raise RunError(f"{self.path / CASES} is damaged: {error}.", fix="Start a new run.") from error

    def cases(self) -> list[Case]:
        """The cases that are asked, in order."""
        return expand(self.items())[: self.identity().limit]

    def papers(self) -> dict[str, Paper]:
        """The papers that its samples name, by id."""
        found = map(from_line, read_lines(self.path / PAPERS))
        return {paper.paper_id: paper for paper in found}

    def samples(self) -> dict[tuple[str, int], Sample]:
        """All whole samples, in the order of the cases. Raises RunError where one cannot be read."""
        papers = self.papers()
        found: dict[tuple[str, int], Sample] = {}
        for number, record in enumerate(read_log(self.path / SAMPLES), start=1):
            try:
                sample = sample_from(record, papers)
            except (KeyError, TypeError, ValueError) as error:
                where = f"{self.path / SAMPLES}:{number}"
                raise RunError(f"{where} is damaged: {error!r}.", fix="Delete that line, then resume.") from error
            found[sample.key] = sample
        order = {case.case_id: place for place, case in enumerate(self.cases())}
        return dict(sorted(found.items(), key=lambda entry: (order[entry[0][0]], entry[0][1])))

    def done(self) -> set[tuple[str, int]]:
        """The cases and repeats that were answered."""
        return {(record["id"], record["repeat"]) for record in read_log(self.path / SAMPLES)}

    def is_complete(self) -> bool:
        """Whether every sample is there and scored."""
        return (self.path / SCORES).exists() and len(self.done()) >= int(self.about()["planned"])

    def scores(self) -> Scores:
        """The scores that were written last. Raises RunError where there are none yet."""
        if not (self.path / SCORES).exists():
            raise RunError(f"{self.name} has no scores yet.", fix=f"Run: citewise eval score {self.name}")
        found: dict[tuple[str, int], dict[str, Score]] = {}
        for record in read_log(self.path / SCORES):
            score = Score(record["value"], record["reason"], record["weight"], record["status"])
            found.setdefault((record["id"], record["repeat"]), {})[record["metric"]] = score
        return found

    def write_scores(self, scores: Scores) -> None:
        """Replaces scores.jsonl: a line a sample and metric, in the order given."""
        lines = [
            json.dumps({"id": name, "repeat": repeat, "metric": metric, **score._asdict()}, ensure_ascii=False)
            for (name, repeat), by_metric in scores.items()
            for metric, score in by_metric.items()
        ]
        write_whole(self.path / SCORES, "".join(f"{line}\n" for line in lines))

    def write_verdicts(self, judge: str, verdicts: Verdicts) -> None:
        """Keeps what a judge said of the run's sentences."""
        rows = [[sentence, papers, said] for (sentence, papers), said in verdicts.items()]
        write_whole(self.path / JUDGED, json.dumps({"judge": judge, "verdicts": rows}, ensure_ascii=False) + "\n")

    def verdicts(self) -> tuple[str | None, Verdicts | None]:
        """The judge and what it said; None and None where nobody judged. Raises RunError where they cannot be read."""
        if not (self.path / JUDGED).exists():
            return None, None
        try:
            stored = json.loads((self.path / JUDGED).read_bytes())
            return stored["judge"], {(text, tuple(papers)): said for text, papers, said in stored["verdicts"]}
        except (ValueError, KeyError, TypeError) as error:
            problem = f"{self.path / JUDGED} is damaged: {error!r}."
            raise RunError(problem, fix=f"Run: citewise eval judge run {self.name}") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the right to add samples. Raises RunError where another process has it."""
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise RunError(f"Another process is at the run {self.name}.", fix="Wait for it, or stop it.") from error
        finally:
            os.close(descriptor)


def list_runs(runs: Path) -> list[RunFolder]:
    """The runs below a folder, oldest first."""
    return [RunFolder(path.parent) for path in sorted(runs.glob(f"*/{RUN}"))]


def find_run(runs: Path, name: str) -> RunFolder:
    """The run of that name, of which the beginning will do, or in that folder; "last" is the newest.

    Raises RunError where there is none, or several begin like that.
    """
    if (Path(name) / RUN).exists():
        return RunFolder(Path(name).resolve())
    known = list_runs(runs)
    if name == "last" and known:
        return known[-1]
    found = [run for run in known if run.name == name] or [run for run in known if run.name.startswith(name)]
    if len(found) != 1:
        problem = f"{len(found)} runs begin with {name!r}" if found else f"There is no run {name!r} in {runs}"
        raise RunError(f"{problem}.", fix="See: citewise eval list")
    return found[0]


def run_in(runs: Path, name: str) -> RunFolder:
    """The run of exactly that name, for names that come from elsewhere. Raises RunError where there is none."""
    found = next((run for run in list_runs(runs) if run.name == name), None)
    if found is None:
        raise RunError("There is no such run any more.", fix="Choose another.")
    return found


def unfinished(runs: Path, identity: Identity) -> RunFolder | None:
    """The newest run of that identity that lacks samples or scores."""
    for run in reversed(list_runs(runs)):
        if run.about()["fingerprint"] == identity.fingerprint:
            return None if run.is_complete() else run
    return None

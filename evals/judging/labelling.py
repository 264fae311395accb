"""One person's way through the sentences of a run: what comes next, what they said, what the check says of it."""

import getpass
import random
from collections.abc import Collection, Sequence
from pathlib import Path

from evals.judging.calibration import Agreement, agreement, agreement_of_people
from evals.judging.labels import Checked, SupportLabel, checked_of, labels_in, settled, write_label
from evals.running.folder import RunFolder
from evals.running.log import Log
from evals.statistics.resampling import Interval
from rag.domain import Support

FILE = "labels.jsonl"
"""Where labels are kept in a run."""


class Labelling:
    """Labels of `annotator` in `file`, by sentences in random order. What is said is on the disk when a call returns.

    Others may add to the file meanwhile. Raises InputError where a line of the file is no label.
    """

    def __init__(self, sentences: Sequence[Checked], *, file: Path, annotator: str, seed: int = 0) -> None:
        self.file, self.annotator = file, annotator
        self._sentences = {checked.claim.claim_id: checked for checked in sentences}
        self._order = list(self._sentences)
        random.Random(seed).shuffle(self._order)  # noqa: S311 - an order, no secret
        self._labels = labels_in(file)

    @property
    def said(self) -> dict[str, Support]:
        """What this person said, by id of the sentence, what they said last at the end."""
        found: dict[str, Support] = {}
        for label in self._labels:
            if label.annotator == self.annotator and label.id in self._sentences:
                found.pop(label.id, None)
                found[label.id] = label.label
        return found

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self._order)

    def sentence(self, claim_id: str) -> Checked | None:
        """The sentence of that id."""
        return self._sentences.get(claim_id)

    def following(self, claim_id: str | None = None, *, skipped: Collection[str] = ()) -> Checked | None:
        """The first sentence without a label behind that one, from the beginning again at the end; None where none is.

        The sentence itself comes last; `skipped` ones do not come.
        """
        start = self._order.index(claim_id) + 1 if claim_id in self._sentences else 0
        left_out = {*self.said, *skipped}
        ordered = (*self._order[start:], *self._order[:start])
        return next((self._sentences[each] for each in ordered if each not in left_out), None)

    def say(self, checked: Checked, label: Support | None) -> None:
        """Keeps what the person says of a sentence, or, with None, that they take it back. Raises RunError."""
        with Log(self.file) as log:
            write_label(log, checked.claim, annotator=self.annotator, label=label)
        self._labels = labels_in(self.file)

    def take_back(self) -> Checked | None:
        """Takes back what was said last, and returns of which sentence; None where nothing was said."""
        last = next(reversed(self.said), None)
        if last is None:
            return None
        self.say(self._sentences[last], None)
        return self._sentences[last]

    def agreement(self) -> tuple[Agreement, Interval | None]:
        """How citewise's own check agrees with all people's labels of these sentences, and the kappa of two people."""
        labels: list[SupportLabel] = [label for label in self._labels if label.id in self._sentences]
        agreed = settled(labels)
        return (
            agreement(agreed, [self._sentences[claim.claim_id].support for claim, _ in agreed]),
            agreement_of_people(labels),
        )


def open_labelling(
    run: RunFolder,
    *,
    annotator: str | None = None,
    file: Path | None = None,
    seed: int = 0,
) -> Labelling:
    """The labelling of a run, by the user of this machine and in the run's folder unless told otherwise."""
    return Labelling(
        checked_of(run.samples().values()), file=file or run.path / FILE, annotator=annotator or user_name(), seed=seed
    )


def user_name() -> str:
    """Who uses this machine; "user" where that is not known, as in a container."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # KeyError and ImportError until Python 3.13
        return "user"

"""Entailment by a model that the user installed: do the sentences of evidence, taken together, say the sentence?

Any sequence classifier for natural language inference that was exported to ONNX will do (for a model of the Hugging
Face hub: `optimum-cli export onnx --model NAME --task text-classification DIR`). The premise is the evidence that the
check by words finds, the hypothesis the sentence.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag.domain import AnswerSentence, Paper, Support
from rag.errors import EndpointError, SettingsError
from rag.support import check_support
from rag.support.check import Verdict

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

_LONGEST = 512
"""Word pieces of premise and hypothesis; the premise is cut."""
_PAIRS = 8
"""Pairs of one forward pass."""
_LIKELY = 0.5
_FIX = "See the README on CITEWISE_ENTAILMENT_MODEL, or unset it."
Weights = NDArray[np.float32]


class _Classes(NamedTuple):
    """Which of the model's outputs is which; `contradiction` is None for a model that tells entailment only."""

    entailment: int
    contradiction: int | None


class EntailmentModel:
    """A classifier in `folder`: model.onnx, tokenizer.json, and config.json, which names its classes (`id2label`).

    Raises SettingsError where one is missing or says nothing of entailment; the model is loaded when first asked.
    """

    def __init__(self, folder: Path) -> None:
        places = (folder / "model.onnx", folder / "onnx" / "model.onnx")
        self._model = next((path for path in places if path.is_file()), places[0])
        self._pieces = folder / "tokenizer.json"
        for path in (self._model, self._pieces, folder / "config.json"):
            if not path.is_file():
                raise SettingsError(f"The entailment model has no {path}.", fix=_FIX)
        self._classes = _read_classes(folder / "config.json")
        self.name = folder.resolve().name

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Weights:
        """Of each premise and hypothesis, the probabilities of entailment and contradiction: float32, (pairs, 2).

        Raises EndpointError where the model cannot be run.
        """
        found = np.zeros((len(pairs), 2), dtype=np.float32)
        try:
            for first in range(0, len(pairs), _PAIRS):
                rows = self._run(pairs[first : first + _PAIRS])
                found[first : first + len(rows), 0] = rows[:, self._classes.entailment]
                if self._classes.contradiction is not None:
                    found[first : first + len(rows), 1] = rows[:, self._classes.contradiction]
        except Exception as error:  # ONNX Runtime and tokenizers raise types of their own
            problem = f"The entailment model {self._model} cannot be run: {error}"
            raise EndpointError(problem, fix=_FIX, kind="entailment") from error
        return found

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._pieces))
        tokenizer.enable_truncation(_LONGEST, strategy="only_first")
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        return tokenizer

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])

    def _run(self, pairs: Sequence[tuple[str, str]]) -> Weights:
        """The probabilities of all classes, (pairs, classes)."""
        encoded = self._tokenizer.encode_batch(list(pairs))
        feed = {
            "input_ids": np.array([row.ids for row in encoded], dtype=np.int64),
            "attention_mask": np.array([row.attention_mask for row in encoded], dtype=np.int64),
            "token_type_ids": np.array([row.type_ids for row in encoded], dtype=np.int64),
        }
        wanted = {node.name for node in self._session.get_inputs()}
        logits = np.asarray(self._session.run(None, {name: feed[name] for name in feed if name in wanted})[0])
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Weights = (exponentials / exponentials.sum(axis=1, keepdims=True)).astype(np.float32)
        return shares


class EntailmentJudge:
    """Judges by an entailment model; what it neither entails nor denies is "partly" at best, as the words say."""

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model

    @property
    def label(self) -> str:
        return f"{self._model.name}, entailment"

    def judge(self, sentences: Sequence[AnswerSentence], *, papers: Mapping[int, Paper], until: float) -> Iterator[str]:
        """See `rag.judging.Judge.judge`. One reply, all at once, however long `until` is."""
        abstracts = [[papers[number].abstract for number in sentence.citations] for sentence in sentences]
        by_words = [
            check_support(sentence.text, abstracts=texts) for sentence, texts in zip(sentences, abstracts, strict=True)
        ]
        pairs = [
            (_premise(verdict, texts), sentence.text)
            for sentence, texts, verdict in zip(sentences, abstracts, by_words, strict=True)
        ]
        for place, (row, verdict) in enumerate(zip(self._model.probabilities(pairs), by_words, strict=True), start=1):
            yield f"{place} {_decide(float(row[0]), float(row[1]), verdict.support)}\n"


def _decide(entailed: float, contradicted: float, by_words: Support) -> Support:
    if entailed >= _LIKELY:
        return "supported"
    if contradicted >= _LIKELY or by_words == "unsupported":
        return "unsupported"
    return "partly"


def _premise(verdict: Verdict, abstracts: Sequence[str]) -> str:
    """The evidence in the order of the abstracts; all of them where the words find none."""
    parts = [
        abstract[span.start : span.end]
        for abstract, spans in zip(abstracts, verdict.evidence, strict=False)
        for span in sorted(spans)
    ]
    return " ".join(parts or abstracts)


def _read_classes(config: Path) -> _Classes:
    try:
        stored = json.loads(config.read_text("utf-8"))
        labels = {str(label).lower(): int(place) for place, label in stored["id2label"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{config} names no classes (id2label): {error}", fix=_FIX) from error
    entailment = [place for label, place in labels.items() if label in {"entailment", "entailed"}]
    if not entailment:
        raise SettingsError(f"{config} has no class named entailment, but {', '.join(labels)}.", fix=_FIX)
    return _Classes(entailment[0], labels.get("contradiction"))

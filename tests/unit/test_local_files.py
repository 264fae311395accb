"""Which model file a name means, and what a machine can run of it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.cli import app
from rag.cli.screen import with_model
from rag.errors import SettingsError
from rag.local import server
from rag.local.catalog import KNOWN_MODELS, known_model
from rag.local.files import DEMO_NAME, ModelFile, demo_model, find_model, list_models, models_folder
from rag.local.machine import GB, Machine, memory_needed, this_machine
from rag.local.pull import HubFile, read_wish
from rag.picking import LOCAL_DEFAULTS, pick_writer
from rag.settings import load_settings
from rag.wiring import build_rewriter, build_writer, local_server


def gguf(path: Path, *, size: int = 100) -> Path:
    """A file that looks like a model; beyond its first bytes it takes no room on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)
    return path


def no_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.local.files.demo_model", lambda: None)


def test_a_path_is_the_file_there(tmp_path: Path, home: Path) -> None:
    path = gguf(tmp_path / "Some-Model.gguf")
    assert find_model(str(path), home=home) == ModelFile("Some-Model", path)


@pytest.mark.parametrize(
    "wanted", ["qwen2.5-1.5b", "qwen2.5-1.5b-instruct-q4_k_m", "Qwen2.5-1.5B-Instruct-q4_k_m.gguf"]
)
def test_a_fetched_model_goes_by_its_short_name_and_by_its_files(wanted: str, home: Path) -> None:
    path = gguf(models_folder(home) / "qwen2.5-1.5b-instruct-q4_k_m.gguf")
    assert find_model(wanted, home=home).path == path


def test_a_known_model_that_is_not_here_says_how_to_fetch_it(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"citewise model pull qwen2\.5-3b"):
        find_model("qwen2.5-3b", home=home)


def test_an_unknown_name_lists_what_is_here(home: Path) -> None:
    gguf(models_folder(home) / "mine.gguf")
    with pytest.raises(SettingsError, match="mine") as caught:
        find_model("theirs", home=home)
    assert "no model file theirs" in caught.value.problem


@pytest.mark.parametrize("content", [b"", b"GG", b"<html>"])
def test_a_file_of_another_kind_is_an_error(content: bytes, tmp_path: Path, home: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="no GGUF file"):
        find_model(str(path), home=home)


def test_without_a_name_it_is_the_demonstration_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_demo(monkeypatch)
    with pytest.raises(SettingsError, match="uv sync --extra local"):
        find_model(None, home=home)


def test_the_demonstration_model_is_weak_and_first() -> None:
    demo = demo_model()
    if demo is None:
        pytest.skip("the extra local is not installed: uv sync --extra local")
    assert list_models(Path("nowhere"))[0] == demo
    assert demo.is_weak
    assert DEMO_NAME in (demo.warning or "")
    assert "weak" in (demo.warning or "")


def test_a_model_of_a_billion_parameters_is_not_called_weak(tmp_path: Path) -> None:
    model = ModelFile("big", gguf(tmp_path / "big.gguf", size=GB))
    assert not model.is_weak
    assert model.warning is None


def test_the_extra_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.importlib.util, "find_spec", lambda name: None)
    settings = load_settings(writer="local", model_file=str(gguf(tmp_path / "one.gguf")))
    with pytest.raises(SettingsError, match="uv sync --extra local"):
        local_server(settings)


def test_a_model_file_is_used_by_auto_and_given_time(tmp_path: Path) -> None:
    path = gguf(tmp_path / "big.gguf", size=GB)
    pick = pick_writer(load_settings(model_file=str(path)))
    assert pick.name == "local"
    assert "CITEWISE_MODEL_FILE" in pick.why
    assert pick.settings.deadline == LOCAL_DEFAULTS["deadline"]
    assert pick_writer(load_settings(model_file=str(path), deadline=7.0)).settings.deadline == 7.0
    assert build_writer(pick.settings, models=lambda endpoint: FakeModel()).name == "local"


def test_a_weak_model_restates_no_questions(tmp_path: Path) -> None:
    small, big = gguf(tmp_path / "small.gguf"), gguf(tmp_path / "big.gguf", size=GB)
    rewriters = [
        build_rewriter(load_settings(writer="local", model_file=str(path)), models=lambda endpoint: FakeModel())
        for path in (small, big)
    ]
    assert rewriters[0] is None
    assert rewriters[1] is not None


class FakeModel:
    """A model that is never asked."""

    model: str | None = None

    def stream(self, messages: object, *, until: float = 0.0) -> object:
        raise AssertionError("asked")


@pytest.mark.parametrize(
    ("writer", "given", "becomes"),
    [
        ("auto", "some.gguf", ("local", None, "some.gguf")),
        ("chat", "qwen3:8b", ("chat", "qwen3:8b", None)),
        ("auto", "qwen3:8b", ("auto", "qwen3:8b", None)),
        ("local", "qwen2.5-1.5b", ("local", None, "qwen2.5-1.5b")),
    ],
)
def test_the_option_names_a_file_or_a_model_at_the_endpoint(
    writer: str, given: str, becomes: tuple[str, str | None, str | None]
) -> None:
    settings = with_model(load_settings(writer=writer), given)
    assert (settings.writer, settings.model, settings.model_file) == becomes


def test_what_a_machine_can_run_follows_its_memory_and_its_cores() -> None:
    small, large = Machine(cores=2, memory=4 * GB), Machine(cores=8, memory=None)
    assert small.can_run(GB)
    assert not small.can_run(5 * GB)
    assert large.can_run(5 * GB)
    assert small.seconds_per_answer(GB) > large.seconds_per_answer(GB)
    assert memory_needed(GB) > GB
    assert this_machine().cores >= 1


def test_names_of_the_catalogue_are_unique_and_mean_gguf_files() -> None:
    assert len({model.name for model in KNOWN_MODELS}) == len(KNOWN_MODELS)
    for model in KNOWN_MODELS:
        assert read_wish(model.name.upper()) == HubFile(model.repo, model.file)
        assert read_wish(f"{model.repo}:{model.file}") == HubFile(model.repo, model.file)
    assert known_model("unknown") is None


def test_the_list_shows_what_is_here_and_what_could_be(home: Path) -> None:
    gguf(models_folder(home) / "qwen2.5-1.5b-instruct-q4_k_m.gguf", size=1_120_000_000)
    shown = CliRunner().invoke(app, ["model", "list"]).stdout
    here, to_fetch = shown.split("To fetch")
    assert "qwen2.5-1.5b-instruct-q4_k_m" in here
    assert "1.12 GB" in here
    assert "cores" in here
    assert "qwen2.5-1.5b " not in to_fetch
    assert "qwen2.5-3b" in to_fetch
    assert "--writer local --model" in to_fetch

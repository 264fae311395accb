"""Who may import whom: dependencies point down only, and each vendor stays in its files."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("rag", "ui", "evals", "prompts")

VENDORS = {
    "chromadb": {"rag/store.py", "rag/remote_store.py"},
    # The last is what citewise's own retrieval is compared with.
    "llama_index": {"rag/chunking.py", "rag/retrieval_llamaindex.py", "evals/perf/llama_index_baseline.py"},
    "openai": {"rag/llm/"},
    "httpx2": {"rag/llm/", "rag/local/pull.py", "rag/fetching/web.py"},  # huggingface_hub raises its errors
    "huggingface_hub": {"rag/local/pull.py"},
    "xllamacpp": {"rag/local/engine.py"},  # which runs in a process of its own
    "tiktoken": {"rag/tokens.py"},
    "gradio": {"ui/", "evals/page/bare.py"},  # which our page is compared with
    "fastapi": {"ui/"},
    "uvicorn": {"ui/"},
    "prometheus_client": {"rag/observing/metrics.py"},
    "opentelemetry": {"rag/observing/traces.py"},
    "bibtexparser": {"rag/readers/bibtex.py"},
    "rispy": {"rag/readers/ris.py"},
    "pyarrow": {"rag/readers/parquet.py"},
    "mcp": {"ui/mcp.py"},
    "bm25s": {"rag/keyword/"},
    "Stemmer": {"rag/keyword/", "rag/glossary.py"},
    "onnxruntime": {"rag/embedding.py", "rag/entailment.py"},
    "tokenizers": {"rag/embedding.py", "rag/entailment.py"},
    "latex2mathml": {"ui/"},
    "typer": {"rag/cli/"},
    "rich": {"rag/cli/", "evals/"},
    "playwright": {"evals/page/"},
    "vl_convert": {"evals/report/plots.py"},
    "pydantic_settings": {"rag/settings.py"},
    "platformdirs": {"rag/settings.py"},
}
MAY_IMPORT = {
    "rag": {"rag", "prompts"},
    "rag/cli": {"rag", "ui", "evals"},
    "ui": {"rag", "ui", "evals"},
    "evals": {"rag", "evals"},
    "prompts": set(),
}
STANDARD_ONLY = ("rag/domain.py", "rag/errors.py")
LONGEST_MODULE = 300


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names.add(node.module or "")
    return names


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_dependencies_point_down_and_vendors_stay_in_their_files(path: Path) -> None:
    name = name_of(path)
    layer = "rag/cli" if name.startswith("rag/cli/") else name.split("/")[0]
    for imported in imports(path):
        top = imported.split(".")[0]
        if top in PACKAGES:
            assert top in MAY_IMPORT[layer], f"{name} imports {imported}"
        if top in VENDORS:
            assert any(name.startswith(allowed) for allowed in VENDORS[top]), f"{name} imports {imported}"
        if name in STANDARD_ONLY:
            assert top in {"collections", "dataclasses", "typing", "enum"}, f"{name} imports {imported}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_opens_with_its_job_and_stays_short(path: Path) -> None:
    text = path.read_text("utf-8")
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{name_of(path)} has no docstring"
    assert text.count("\n") <= LONGEST_MODULE, f"{name_of(path)} is longer than {LONGEST_MODULE} lines"


def test_the_path_of_a_question_is_in_one_file() -> None:
    needed = {"rag.retrieval", "rag.evidence", "rag.followup", "rag.drafting", "rag.abstention"}
    assert needed <= imports(ROOT / "rag" / "answering.py")


def test_a_breach_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def f():\n    import gradio.themes\n    from ui.app import build\n")
    assert imports(file) == {"gradio.themes", "ui.app"}


def test_chromas_unsafe_calls_are_not_made() -> None:
    # Each of them builds whatever embedding function an index file names (CVE-2026-45829's client side).
    tree = ast.parse((ROOT / "rag" / "store.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            assert node.attr != "configuration"
        if isinstance(node, ast.keyword):
            assert node.arg not in {"query_texts", "query_images", "query_uris"}


CODE_FROM_DATA = {"eval", "exec", "compile", "__import__", "extractall", "unpack_archive", "system", "popen"}
"""Calls that run what they are given, or write where it says. `re.compile` is another."""


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_data_is_run_or_unpacked(path: Path) -> None:
    assert not imports(path) & {"pickle", "marshal", "shelve", "dill", "joblib", "yaml"}, name_of(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called == "re.compile" or called.rsplit(".", 1)[-1] not in CODE_FROM_DATA, f"{path}: {called}"
            for keyword in node.keywords:
                unsafe = keyword.arg in {"allow_pickle", "shell"}
                assert not (unsafe and ast.unparse(keyword.value) != "False"), f"{path}: {keyword.arg}"

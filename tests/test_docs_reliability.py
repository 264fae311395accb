"""The figures of the README's table on reliability are those of the tests that they are about."""

import re
import subprocess
import sys

import pytest

from rag.readers.formats import READERS
from tests.property.test_readers_property import SAMPLES
from tests.test_docs import README, ROOT

SECTION = README.split("\n## Reliability\n")[1].split("\nLoad, ")[0]
COUNTED = {
    "19 ways in which Chroma's files": ["contract/test_damage_rows.py::test_damage"],
    "disk full at 7 sizes": ["contract/test_faults.py::test_disk_full_at_build"],
    "5 points of the swap": ["contract/test_faults.py::test_disk_full_at_swap"],
    "109 of 109": [f"unit/{name}.py::" for name in ("test_bad_inputs", "test_bad_input_files", "test_bad_records")],
    "61 faults": ["contract/test_llm_faults.py::test_a_fault_is_named_with_what_to_do"],
    "10 amid": ["contract/test_llm_stream.py::test_a_broken_stream_keeps_its_text"],
    "31 of vectors": [
        "contract/test_embedding_endpoint.py::test_an_answer_that_is_no_such_vectors",
        "contract/test_embedding_endpoint.py::test_a_refusal_is_told_at_once",
        "contract/test_embedding_endpoint.py::test_what_may_pass_is_tried_three_times",
    ],
    "18 of 18: the same answer": ["contract/test_llm_stream.py::test_what_servers_do_differently"],
    "16 of 16: nothing lost": ["contract/test_chroma_rows.py::"],
}
"""What the table says, and the beginnings of the tests' names that it counts, below tests/."""


@pytest.fixture(scope="module")
def collected() -> list[str]:
    """The names of all tests of the files in COUNTED, one for each of their parameters."""
    files = sorted({f"tests/{name.split('::')[0]}" for names in COUNTED.values() for name in names})
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.parametrize("told", COUNTED)
def test_a_figure_is_the_number_of_its_tests(told: str, collected: list[str]) -> None:
    assert told in SECTION
    figure = re.search(r"\d+", told)
    assert figure is not None
    assert int(figure[0]) == sum(name.startswith(tuple(COUNTED[told])) for name in collected)


def test_the_parts_add_up_and_what_was_tried_is_what_held() -> None:
    faults = [int(told.split()[0]) for told in COUNTED if "faults" in told or "amid" in told or "vectors" in told]
    assert f"{sum(faults)} of {sum(faults)}: a message of its own" in SECTION
    for held, tried in re.findall(r"(\d[\d,]*) of (\d[\d,]*)", SECTION):
        assert held == tried


def test_every_format_is_fuzzed() -> None:
    assert set(SAMPLES) == set(READERS)
    assert f"for each of {len(READERS)} formats" in SECTION

"""What this machine has, and what a model file would need of it."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

GB = 1_000_000_000
# Measured on two AVX-512 cores with Qwen2.5 0.5B and 1.5B: 99 and 45 prompt tokens in a second of one core, 27 and 19
# tokens of an answer in a second of both. Both are about in proportion to the file's size.
_SECONDS_PER_PROMPT_TOKEN = 0.020
"""Of one core, for each GB of the file."""
_SECONDS_PER_TOKEN = 0.050
"""Of all cores, which wait for the memory, for each GB of the file."""
_PROMPT_TOKENS, _ANSWER_TOKENS = 800, 100
"""What a local model is sent and says for a question."""
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Machine:
    """`memory` is in bytes, None where the system does not tell it."""

    cores: int
    memory: int | None

    def can_run(self, size: int) -> bool:
        """Whether a model file of `size` bytes fits into the memory with room for others."""
        return self.memory is None or memory_needed(size) <= 0.8 * self.memory

    def seconds_per_answer(self, size: int) -> float:
        """About how long an answer takes with a model file of `size` bytes, without a GPU."""
        prompt = _PROMPT_TOKENS * _SECONDS_PER_PROMPT_TOKEN / self.cores
        return (prompt + _ANSWER_TOKENS * _SECONDS_PER_TOKEN) * size / GB


def this_machine() -> Machine:
    """The cores that this process may use, and the memory of the machine or of the container."""
    return Machine(cores=usable_cores(), memory=_memory())


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_needed(size: int) -> int:
    """About how much memory a model file of `size` bytes takes while it answers: the file, its cache, llama.cpp."""
    return int(size * 1.25 + 0.5 * GB)


def _memory() -> int | None:
    known = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not on Windows
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(OSError, ValueError):  # no container, or "max"
        known.append(int(_CGROUP_LIMIT.read_text("ascii")))
    return min(known, default=None)

"""Folders that only their owner can enter: what is below a home tells what somebody reads and asks."""

from pathlib import Path

OTHERS = 0o077
"""What the modes of a private file or folder do not have: any right of the group and of others."""


def make_private(folder: Path) -> None:
    """Makes `folder` and what is missing above it, of mode 0700 each; what is there keeps its mode. Raises OSError."""
    for path in [*reversed(folder.parents), folder]:
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file

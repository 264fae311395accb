"""The error of runs."""

from rag.errors import CitewiseError


class RunError(CitewiseError):
    """A run, or a file of it, cannot be used as it is."""

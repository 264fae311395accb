"""The errors a caller may see: each says what happened and what to do about it."""


class CitewiseError(Exception):
    """`problem` is one sentence on what is wrong and where, `fix` one on what to do."""

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(f"{problem} {fix}")
        self.problem, self.fix = problem, fix


class SettingsError(CitewiseError):
    """A setting cannot be used as it is."""


class InputError(CitewiseError):
    """A file or a record that was handed in cannot be read."""


class FetchError(CitewiseError):
    """A site that papers are fetched from cannot be reached, refuses, or sends what is not understood."""


class CorpusError(CitewiseError):
    """A corpus is missing, locked, damaged or made with another embedding model."""


class CorpusBusyError(CorpusError):
    """Another process is writing to the corpus."""


class EndpointError(CitewiseError):
    """The model endpoint failed. `kind` names the fault; `retryable` says whether asking again may help."""

    def __init__(self, problem: str, *, fix: str, kind: str, retryable: bool = False) -> None:
        super().__init__(problem, fix=fix)
        self.kind, self.retryable = kind, retryable

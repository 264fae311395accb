"""Fetches a model file from the Hugging Face hub or a mirror: resumed where it broke off, checked by its SHA-256.

Imports huggingface_hub, inside its functions. Its own download begins anew with each run and checks the length alone.
"""

import fcntl
import hashlib
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rag.errors import CitewiseError, EndpointError, InputError
from rag.local.catalog import KNOWN_MODELS, known_model
from rag.local.machine import GB
from rag.private_folder import make_private

if TYPE_CHECKING:
    import httpx2

_FILE = r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.gguf"
_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubFile(NamedTuple):
    """A file of a repository of the hub."""

    repo: str
    file: str


class _Remote(NamedTuple):
    """What the hub says of a file: where this very version is, its SHA-256 and its size in bytes."""

    url: str
    sha256: str
    size: int


def read_wish(wish: str) -> HubFile:
    """The file that NAME or REPO:FILE means. Raises InputError for anything else."""
    known = known_model(wish)
    if known is not None:
        return HubFile(known.repo, known.file)
    repo, colon, file = wish.partition(":")
    if not colon or not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or not re.fullmatch(_FILE, file):
        names = ", ".join(model.name for model in KNOWN_MODELS)
        raise InputError(
            f"{wish} is no model that citewise knows.",
            fix=f"Name one of {names}, or a GGUF file of the hub as OWNER/REPOSITORY:FILE.gguf.",
        )
    return HubFile(repo, file)


def pull(wanted: HubFile, *, folder: Path, endpoint: str | None = None) -> Path:
    """Fetches the file into `folder` and returns its path; one that is there, whole and of this version, is kept.

    A progress bar on stderr shows rate and time left. `endpoint` is the hub's address, without it HF_ENDPOINT's or the
    hub itself. What had come before an interruption is kept and continued. Raises EndpointError where the hub cannot be
    reached or has no such file, where the checksum is wrong (nothing is kept then), or the disk is full.
    """
    with _faults(wanted, folder=folder):
        remote = _look_up(wanted, endpoint=endpoint)
        make_private(folder)
        target = folder / Path(wanted.file).name
        if target.is_file() and target.stat().st_size == remote.size and _sha256(target) == remote.sha256:
            return target
        # Named by its content: what came of another version is never continued.
        partial = folder / f"{target.name}.{remote.sha256[:16]}.partial"
        with _locked(partial):
            _fetch(remote, partial, name=target.name)
            found = _sha256(partial)
            if found != remote.sha256:
                partial.unlink()
                raise EndpointError(
                    f"{target.name} has the SHA-256 {found[:16]}… in place of {remote.sha256[:16]}…; it was deleted.",
                    fix="Fetch it again. If it goes on, the mirror or a proxy changes the file.",
                    kind="checksum",
                    retryable=True,
                )
            partial.replace(target)
        return target


def _look_up(wanted: HubFile, *, endpoint: str | None) -> _Remote:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    constants.HF_HUB_DISABLE_TELEMETRY = True  # the variable of this name is read at import, which gradio may have done
    told = get_hf_file_metadata(hf_hub_url(wanted.repo, wanted.file, endpoint=endpoint), endpoint=endpoint)
    if told.etag is None or not _SHA256.fullmatch(told.etag) or told.size is None:
        raise EndpointError(
            f"The hub tells no SHA-256 for {wanted.file}.",
            fix="Choose a model file (.gguf) that the hub keeps as a large file.",
            kind="no_checksum",
        )
    url = hf_hub_url(wanted.repo, wanted.file, revision=told.commit_hash, endpoint=endpoint)
    return _Remote(url, told.etag, told.size)


def _fetch(remote: _Remote, partial: Path, *, name: str) -> None:
    """Brings `partial` to its full size; retries what breaks off, within reason."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # its warnings on retries show signed addresses
    have = partial.stat().st_size if partial.exists() else 0
    if have > remote.size:
        partial.unlink()
        have = 0
    missing, free = remote.size - have, shutil.disk_usage(partial.parent).free
    if missing > free:
        raise EndpointError(
            f"{name} needs {missing / GB:.1f} GB more and {partial.parent} has {free / GB:.1f} GB free.",
            fix="Free some space, or set CITEWISE_HOME to another disk.",
            kind="disk_full",
        )
    with partial.open("ab") as file:
        try:
            http_get(
                remote.url,
                file,
                resume_size=have,
                headers=build_hf_headers(),
                expected_size=remote.size,
                displayed_filename=name,
            )
        finally:
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _locked(partial: Path) -> Iterator[None]:
    """Holds the right to write `partial`. Raises EndpointError where another process fetches the same."""
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise EndpointError(
            f"Another process is fetching {partial.name.partition('.gguf')[0]}.", fix="Wait for it.", kind="locked"
        ) from error
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _faults(wanted: HubFile, *, folder: Path) -> Iterator[None]:
    """Translates what the hub, the network and the disk raise."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except CitewiseError:
        raise
    except errors.GatedRepoError as error:
        fix = "Accept its terms on the hub's page, then set HF_TOKEN to a token of yours, or choose another model."
        raise _error("gated", f"{wanted.repo} is only for those who accepted its terms.", fix) from error
    except errors.RepositoryNotFoundError as error:
        fix = "Check its spelling (OWNER/REPOSITORY); for a private one set HF_TOKEN."
        raise _error("no_repository", f"The hub has no repository {wanted.repo}.", fix) from error
    except errors.RemoteEntryNotFoundError as error:
        fix = "Look at the repository's list of files."
        raise _error("no_file", f"{wanted.repo} has no file {wanted.file}.", fix) from error
    except errors.HfHubHTTPError as error:
        said = f"The hub answered with status {error.response.status_code}."
        raise _error("hub_failed", said, "Try again later; what had come is kept.", retryable=True) from error
    except errors.OfflineModeIsEnabled as error:
        raise _error("offline", "HF_HUB_OFFLINE forbids it.", "Unset it.") from error
    except httpx2.HTTPError as error:
        raise _unreachable(error, wanted, folder=folder) from error
    except OSError as error:
        fix = "Run it again: it goes on where it was. Check the disk if it happens again."
        raise _error("interrupted", f"{wanted.file} did not come whole: {error}.", fix, retryable=True) from error


def _unreachable(error: "httpx2.HTTPError", wanted: HubFile, *, folder: Path) -> EndpointError:
    from huggingface_hub import constants

    return _error(
        "unreachable",
        f"The hub at {constants.ENDPOINT} cannot be reached, or broke off ({type(error).__name__}).",
        "Check the network and run it again: it goes on where it was. A mirror: HF_ENDPOINT. Without a network, bring "
        f"{Path(wanted.file).name} on another way and put it into {folder}.",
        retryable=True,
    )


def _error(kind: str, problem: str, fix: str, *, retryable: bool = False) -> EndpointError:
    return EndpointError(problem, fix=fix, kind=kind, retryable=retryable)

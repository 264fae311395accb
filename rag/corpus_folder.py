"""Where a corpus lies on disk, who may write to it, and how a new generation takes the place of the old one.

<home>/corpora/<name>/lock       held by the one process that writes; names its pid
                      CURRENT    manifest of the generation that is served
                      gen-N/     a finished generation, never changed
                      build-*/   one being built, or the remains of one that was interrupted
                      rejects.jsonl, near-duplicates.jsonl
"""

import errno
import fcntl
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import CorpusBusyError, CorpusError
from rag.generation import MANIFEST, Manifest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GENERATION = re.compile(r"gen-(\d+)")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class CorpusFolder:
    """The folder of one corpus. Raises CorpusError for a name that could lead out of it."""

    def __init__(self, home: Path, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise CorpusError(
                f"{name!r} cannot be the name of a corpus.",
                fix="Use up to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit.",
            )
        self.name, self.home = name, home
        self.path = home / "corpora" / name
        self.rejects = self.path / "rejects.jsonl"
        self.near_duplicates = self.path / "near-duplicates.jsonl"
        self._current = self.path / "CURRENT"

    def exists(self) -> bool:
        """Whether the corpus was ever built."""
        return self._current.exists() or bool(self.generations())

    def current(self) -> Manifest | None:
        """The manifest of the served generation; None where there is none or CURRENT cannot be read."""
        try:
            return Manifest.from_json(self._current.read_bytes())
        except (OSError, ValueError):
            return None

    def stamp(self) -> tuple[int, int] | None:
        """Changes whenever another generation is served; None where none is. Costs one look at a file."""
        try:
            status = self._current.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def manifest(self, number: int) -> Manifest | None:
        """The manifest that lies in a generation; None where it cannot be read."""
        try:
            return Manifest.from_json((self.generation(number) / MANIFEST).read_bytes())
        except (OSError, ValueError):
            return None

    def generations(self) -> tuple[int, ...]:
        """The numbers of all generations on disk, newest first."""
        if not self.path.is_dir():
            return ()
        matches = (_GENERATION.fullmatch(entry.name) for entry in self.path.iterdir())
        return tuple(sorted((int(match[1]) for match in matches if match), reverse=True))

    def generation(self, number: int) -> Path:
        """The folder of a generation."""
        return self.path / f"gen-{number}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the right to write; what is created meanwhile is readable by this user only.

        Raises CorpusBusyError that names the other process where one holds it, CorpusError where the disk refuses a
        write.
        """
        umask = os.umask(0o077)
        try:
            with disk_errors(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    self._acquire(descriptor)
                    self._remove_builds()
                    yield
                finally:
                    os.close(descriptor)
        finally:
            os.umask(umask)

    def _acquire(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            raise CorpusBusyError(
                f"Process {holder} is writing to the corpus {self.name}.", fix="Try again when it is done."
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)

    @contextmanager
    def new_build(self) -> Iterator[Path]:
        """A new folder to build something in; what is left of it at the end is deleted."""
        build = self.path / f"build-{uuid.uuid4().hex}"
        build.mkdir()
        try:
            yield build
        finally:
            shutil.rmtree(build, ignore_errors=True)

    def next_number(self) -> int:
        """The number of the generation to build: above all that exist, served or not."""
        current = self.current()
        return max([0, *self.generations(), current.generation if current else 0]) + 1

    def publish(self, build: Path, manifest: Manifest) -> None:
        """Makes the finished `build` the served generation; a crash at any moment leaves the old state or the new.

        Keeps one generation back for readers that still have it open.
        """
        served = self.current()
        (build / MANIFEST).write_bytes(manifest.to_json())
        sync_tree(build)
        os.rename(build, self.generation(manifest.generation))
        _sync(self.path)
        self.serve(manifest)
        keep = {manifest.generation, served.generation if served else manifest.generation}
        for number in set(self.generations()) - keep:
            shutil.rmtree(self.generation(number), ignore_errors=True)

    def serve(self, manifest: Manifest) -> None:
        """Writes CURRENT: readers open the generation of `manifest` from now on."""
        temporary = self._current.with_name("CURRENT.tmp")
        temporary.write_bytes(manifest.to_json())
        _sync(temporary)
        os.replace(temporary, self._current)
        _sync(self.path)

    def require_space(self, size: int) -> None:
        """Raises CorpusError unless `size` bytes are free."""
        free = shutil.disk_usage(self.path).free
        if free < size:
            raise CorpusError(
                f"{self.path} has {free:,} bytes free, and {size:,} are needed to build the index.",
                fix="Free some space or set CITEWISE_HOME to another disk.",
            )

    def _remove_builds(self) -> None:
        """Deletes what interrupted builds left; the lock is held, so none is at work."""
        for entry in list(self.path.iterdir()):
            if entry.name.startswith("build-"):
                shutil.rmtree(entry, ignore_errors=True)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns what the file system raises while something is written below `path` into a CorpusError."""
    try:
        yield
    except OSError as error:
        fix = "Free some space." if error.errno in _FULL else "Check the rights of the folder."
        raise CorpusError(f"{error.filename or path} cannot be written: {error.strerror or error}.", fix=fix) from error


def corpus_names(home: Path) -> tuple[str, ...]:
    """The names of all corpora in `home`, sorted."""
    folder = home / "corpora"
    if not folder.is_dir():
        return ()
    names = sorted(entry.name for entry in folder.iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir())
    return tuple(name for name in names if CorpusFolder(home, name).exists())


def sync_tree(folder: Path) -> None:
    """Forces all files and folders below `folder`, and itself, to disk."""
    for root, _, names in os.walk(folder):
        for name in names:
            _sync(Path(root, name))
        _sync(Path(root))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

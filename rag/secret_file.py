"""Secrets in a file of their own, `secrets.env` in the home: lines of NAME=VALUE that only the owner may read."""

import os
import stat
from pathlib import Path

from rag.errors import SettingsError
from rag.private_folder import OTHERS

FILE = "secrets.env"
_MAX_BYTES = 65_536


def read_secrets(path: Path, *, names: frozenset[str]) -> dict[str, str]:
    """The values of `names` in the file at `path`, nothing where there is none. Empty lines and # lines are skipped.

    Raises SettingsError, which shows no value, for a file that others may read, that is another user's or no regular
    file, and for a line that is not NAME=VALUE with one of `names`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", fix="Mend it, or delete it.") from error
    try:
        _require_private(path, os.fstat(descriptor))
        text = os.read(descriptor, _MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8.", fix="Write it anew.") from error
    finally:
        os.close(descriptor)
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or name.strip() not in names:
            raise SettingsError(
                f"Line {number} of {path} is not NAME=VALUE with one of {', '.join(sorted(names))}.",
                fix="Correct it; other settings belong into the environment.",
            )
        found[name.strip()] = value.strip()
    return found


def _require_private(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SettingsError(f"{path} is no regular file.", fix="Replace it by one.")
    if status.st_uid not in {os.getuid(), 0}:
        raise SettingsError(f"{path} belongs to another user.", fix=f"Run: chown $USER {path}")
    if status.st_mode & OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        raise SettingsError(f"Others may read {path}: its mode is {mode:04o}.", fix=f"Run: chmod 600 {path}")

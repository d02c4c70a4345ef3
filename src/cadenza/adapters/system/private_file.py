"""Files that only their owner reads: whole or not at all, and closed to others from the start."""

import os
from pathlib import Path

from cadenza.domain.errors import InstallationError


def write_private(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        raise InstallationError(
            f"{path} cannot be written: {error.strerror}. Let this user write there, or set "
            "CADENZA_DATA_FOLDER to another folder."
        ) from error

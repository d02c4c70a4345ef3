"""The file by which the command line finds its server: address and key, readable by its owner.

The key of the installation's admin has a file of its own beside it.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cadenza.domain.errors import InstallationError

CLIENT_FILE = "client.json"
ADMIN_KEY_FILE = "operator.key"  # its name from before the admin was called so


@dataclass(frozen=True, slots=True)
class Client:
    url: str
    key: str

    def __repr__(self) -> str:
        return f"Client({self.url!r}, ***)"


def find_client(start: Path, folder: str) -> Client | None:
    """In the data folder here, or in that of a folder above."""
    for parent in (start, *start.parents):
        if (client := read_client(parent / folder)) is not None:
            return client
    return None


def read_client(data_folder: Path) -> Client | None:
    path = data_folder / CLIENT_FILE
    try:
        stored: Any = json.loads(path.read_text())
        return Client(str(stored["url"]), str(stored["key"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise InstallationError(
            f"{path} may only be read by its owner: run as the user who made it, or set "
            "CADENZA_API_KEY."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InstallationError(f"{path} cannot be read ({error}). Set CADENZA_API_KEY.") from error


def write_client(data_folder: Path, client: Client) -> None:
    write_private(data_folder / CLIENT_FILE, json.dumps({"url": client.url, "key": client.key}))


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and closed to other users from the start."""
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

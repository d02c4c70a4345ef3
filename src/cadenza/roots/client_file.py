"""The file by which the command line finds its server: address and key, readable by its owner."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cadenza.domain.errors import OperatorError

NAME = "client.json"


@dataclass(frozen=True, slots=True)
class Client:
    url: str
    key: str

    def __repr__(self) -> str:
        return f"Client({self.url!r}, ***)"


def find_client(start: Path, folder: str) -> Client | None:
    """In the data folder here, or in that of a folder above."""
    for parent in (start, *start.parents):
        if (found := read_client(parent / folder)) is not None:
            return found
    return None


def read_client(data_folder: Path) -> Client | None:
    path = data_folder / NAME
    try:
        stored: Any = json.loads(path.read_text())
        return Client(str(stored["url"]), str(stored["key"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise OperatorError(f"{path} may only be read by its owner: run as the user who made it, "
                            "or set CADENZA_API_KEY.") from error  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OperatorError(f"{path} cannot be read ({error}). Set CADENZA_API_KEY.") from error


def write_client(data_folder: Path, client: Client) -> Path:
    """Whole or not at all, and never readable by others, not even for a moment."""
    path, new = data_folder / NAME, data_folder / f"{NAME}.new"
    try:
        data_folder.mkdir(parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump({"url": client.url, "key": client.key}, file)
        new.replace(path)
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error}.") from error
    return path

"""The pages in `docs/`: inside an installed package, or beside the source."""

from pathlib import Path

import cadenza

_PACKAGE = Path(cadenza.__file__).parent
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def documents_folder() -> Path | None:
    return next((folder for folder in _FOLDERS if folder.is_dir()), None)

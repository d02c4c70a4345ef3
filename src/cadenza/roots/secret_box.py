"""The master keys and the box that they open; the commands over them are in `secrets.py`, which a
program does not load at its start."""

from collections.abc import Callable

from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import ConfiguredKeys
from cadenza.roots.settings import Settings

KEY_FILE = "master.key"


def secret_box(settings: Settings, warn: Callable[[str], None]) -> AesGcmBox:
    return AesGcmBox(master_keys(settings, warn))


def master_keys(settings: Settings, warn: Callable[[str], None]) -> ConfiguredKeys | KeyFile:
    """From the setting; where it is not set from a file, which is made at the first start."""
    if settings.master_key is not None:
        return ConfiguredKeys(settings.master_key.get_secret_value())
    return KeyFile(settings.data_folder / KEY_FILE, warn)

"""The JSON schema of a file, for editors: they complete fields, and underline what is wrong."""

from typing import Any

from cadenza.manifest.models import ManifestDocument


def manifest_schema() -> dict[str, Any]:
    """Draft 7, which every editor knows; nothing in it needs a later one."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **ManifestDocument.model_json_schema(),
        "title": "cadenza.yaml",
    }

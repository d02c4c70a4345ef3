"""The file for `apply`, with what could not be taken over said at its head."""

from cadenza.manifest.crontab.convert import Converted
from cadenza.manifest.yaml_writing import documents_to_yaml


def to_file(converted: Converted) -> str:
    return _head(converted) + documents_to_yaml(converted.documents)


def _head(converted: Converted) -> str:
    lines = ["Made from a crontab by `cadenza import crontab`; read it, then: cadenza validate -f"]
    if converted.notes:
        lines += ["", "What is not as it was:", *(f"- {each}" for each in converted.notes)]
    return "".join(f"# {_on_one_line(line)}".rstrip() + "\n" for line in lines)


def _on_one_line(text: str) -> str:
    """A comment ends with its line, and YAML knows more ends of lines than most."""
    return "".join(char if char.isprintable() else " " for char in text)

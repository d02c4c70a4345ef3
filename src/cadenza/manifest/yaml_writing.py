"""Documents of jobs as YAML that a person likes to read, and that reads back as the same."""

from collections.abc import Sequence
from typing import Any

import yaml

from cadenza.manifest.yaml_scalars import reads_as_text

_represent: Any = yaml.SafeDumper.represent_scalar  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
# Line ends to YAML: only double quotes, with escapes, keep them as they are.
_OTHER_LINE_ENDS = frozenset("\r\x85\u2028\u2029")
HEAD = "version: 1\njobs:"


def documents_to_yaml(
    documents: Sequence[dict[str, Any]], schedules: Sequence[dict[str, Any]] = ()
) -> str:
    """In the order given, a blank line between two jobs."""
    jobs = "\n" + "\n".join(map(_item_to_yaml, documents)) if documents else " []\n"
    others = "\nschedules:\n" + "\n".join(map(_item_to_yaml, schedules)) if schedules else ""
    return f"{HEAD}{jobs}{others}"


def _item_to_yaml(document: dict[str, Any]) -> str:
    text: str = yaml.dump(
        {"jobs": [document]},
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return text.removeprefix("jobs:\n")


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists are indented further than their key."""
        del indentless
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """The same value twice is written twice: our reader takes no anchors."""
        del data
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """PyYAML quotes what YAML 1.1 would misread; what 1.2 would is quoted here."""
    style = None
    if not _OTHER_LINE_ENDS.isdisjoint(text):
        style = '"'
    elif "\n" in text.rstrip("\n") and text[0] not in " \n\t" and not text.endswith("\n\n"):
        style = "|"  # with empty lines at its end, PyYAML would end the document after it
    elif not reads_as_text(text):
        style = "'"
    return _represent(dumper, "tag:yaml.org,2002:str", text, style=style)


def _list(dumper: _Dumper, items: list[Any]) -> yaml.SequenceNode:
    """Commands and statuses fit on a line."""
    flat = not any(isinstance(item, dict | list) for item in items)
    tag = "tag:yaml.org,2002:seq"
    return dumper.represent_sequence(tag, items, flow_style=flat)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)

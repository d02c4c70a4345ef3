"""From the lines of a crontab to a file for `apply`, with notes on what could not be taken over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cadenza.domain.definition import MAX_DESCRIPTION
from cadenza.manifest.checking import Checks, check_manifest
from cadenza.manifest.crontab.curl import NotExact, http_target
from cadenza.manifest.crontab.job_names import name_for
from cadenza.manifest.crontab.lines import Entry, Unread, read_lines
from cadenza.manifest.crontab.shell_words import plain_words, shell_script, split_input
from cadenza.manifest.yaml_writing import documents_to_yaml

LONGEST = "30m"  # cron lets a command run for ever; this is the most that Cadenza does
_SILENCED = re.compile(r"(?:(?:\s+(?:[12]|&)|\s*)>\s*/dev/null|\s+2>&1)+\s*$")
_NO_MAIL = "output is not mailed; it is kept with each run"
_COMMANDS = (
    "commands need CADENZA_SHELL_ALLOWED=true, start in the first of CADENZA_SHELL_FOLDERS and "
    f"not in the user's home, never overlap, and end after {LONGEST} at the latest"
)
_USER_HEADING = re.compile(r"^\s*#.*\buser(?:-?name)?\s+command", re.MULTILINE | re.IGNORECASE)
_USERS = (
    "the commands seem to begin with a user, as in /etc/crontab: add --system, else the user's "
    "name is run as a command"
)
_SETTING_NOTES = {
    "MAILTO": _NO_MAIL,
    "MAILFROM": _NO_MAIL,
    "TZ": "given to the commands, as cron does; for the times use CRON_TZ, or --timezone",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is not as it was in the crontab; line 0 is the whole file."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(slots=True)
class Converted:
    documents: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[Note] = field(default_factory=list[Note])
    variables: set[str] = field(default_factory=set[str])  # that hold the secrets

    def note(self, line: int, text: str) -> None:
        self.notes.append(Note(line, text))


def convert(
    text: str, checks: Checks, *, system: bool, timezone: str | None, job: str | None = None
) -> Converted:
    """A job for each line; or one of a given name, with an endpoint for each."""
    converted = Converted()
    entries: list[Entry] = []
    for line in read_lines(text, system=system):
        if isinstance(line, Entry):
            entries.append(line)
            _convert_entry(line, converted, checks, timezone)
        elif isinstance(line, Unread):
            converted.note(line.line, f"cannot be read, and was left out: {line.text[:200]}")
        elif line.name in _SETTING_NOTES and line.value:
            converted.note(line.line, f"{line.name}: {_SETTING_NOTES[line.name]}")
    if timezone is None and any("CRON_TZ" not in entry.settings for entry in entries):
        converted.note(0, "times are taken as UTC: give --timezone where the machine's differs")
    if not system and entries and _seems_to_name_users(text, entries):
        converted.note(0, _USERS)
    if any("command" in job["endpoints"][0] for job in converted.documents):
        converted.note(0, _COMMANDS)
    if job is not None and converted.documents:
        converted.documents = [_joined(converted.documents, job)]
    return converted


def _seems_to_name_users(text: str, entries: Sequence[Entry]) -> bool:
    return bool(_USER_HEADING.search(text)) or any(
        entry.command.startswith(("root ", "root\t")) for entry in entries
    )


def _joined(documents: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """One job, whose description is those of its lines."""
    described = [
        f"{document['name']}: {document['description']}"
        for document in documents
        if "description" in document
    ]
    description = "\n".join(described)[:MAX_DESCRIPTION]
    return {
        "name": name,
        **({"description": description} if description else {}),
        "endpoints": [endpoint for document in documents for endpoint in document["endpoints"]],
    }


def to_file(converted: Converted) -> str:
    """With the notes as comments at its head."""
    lines = ["Made by `cadenza import crontab`; read it, then: cadenza validate FILE"]
    if converted.notes:
        lines += ["", "What is not as it was:", *(f"- {note}" for note in converted.notes)]
    # A comment ends with its line, and YAML knows more ends of lines than most.
    printable = ["".join(c if c.isprintable() else " " for c in line) for line in lines]
    head = "".join(f"# {line}".rstrip() + "\n" for line in printable)
    return head + documents_to_yaml(converted.documents)


def _convert_entry(
    entry: Entry, converted: Converted, checks: Checks, timezone: str | None
) -> None:
    if entry.schedule.lower() == "@reboot":
        converted.note(entry.line, f"@reboot has no counterpart, left out: {entry.command[:200]}")
        return
    zone = entry.settings.get("CRON_TZ") or timezone
    baseline = {"cron": entry.schedule} | ({"timezone": zone} if zone else {})
    target = _target(entry, converted, checks)
    taken = {job["name"] for job in converted.documents}
    name = name_for(target, entry.command, taken)
    endpoint = {"name": name, **baseline, **_with_variables(target, name, entry.line, converted)}
    description = entry.description[:MAX_DESCRIPTION]
    document = {
        "name": name,
        **({"description": description} if description else {}),
        "endpoints": [endpoint],
    }
    errors = check_manifest({"jobs": [document]}, checks).errors
    for error in errors:
        why = f"{error.field.rpartition('.')[2]}: {error.fix}"
        text = f"{entry.schedule} {entry.command}"[:200]
        converted.note(entry.line, f"left out: {text} ({why})")
    if not errors:
        converted.documents.append(document)
        if entry.user is not None and "command" in endpoint:
            note = f"ran as {entry.user}; a command runs as the user of the Cadenza worker"
            converted.note(entry.line, note)


def _target(entry: Entry, converted: Converted, checks: Checks) -> dict[str, Any]:
    command, stdin = split_input(entry.command)
    words = plain_words(_SILENCED.sub("", command))
    if re.match(r"\s*(\S*/)?curl(\s|$)", command):
        try:
            return _http(words, stdin, entry, checks)
        except NotExact as error:
            converted.note(entry.line, f"this curl stays a command: {error}")
    return _command(entry, command, stdin)


def _http(
    words: list[str] | None, stdin: str | None, entry: Entry, checks: Checks
) -> dict[str, Any]:
    if words is None or stdin is not None:
        raise NotExact("a shell has to read it")
    if any(name.lower().endswith("_proxy") for name in entry.settings):
        raise NotExact("it goes through a proxy")
    target = http_target(words)
    document = {"name": "x", "endpoints": [{"name": "x", "on_demand": True, **target}]}
    for error in check_manifest({"jobs": [document]}, checks).errors:
        raise NotExact(error.fix)
    return target


def _command(entry: Entry, command: str, stdin: str | None) -> dict[str, Any]:
    shell = entry.settings.get("SHELL") or "sh"
    words = plain_words(command) if stdin is None else None
    arguments = words or [shell, "-c", shell_script(command, stdin)]
    variables = [
        f"{name}={value}"
        for name, value in entry.settings.items()
        if name not in ("SHELL", "CRON_TZ", "MAILTO", "MAILFROM")
    ]
    return {
        "command": ["env", *variables, *arguments] if variables else arguments,
        "timeout": LONGEST,
    }


def _with_variables(
    target: dict[str, Any], name: str, line: int, converted: Converted
) -> dict[str, Any]:
    """Secrets stay out of the file: `apply` takes them from the environment."""
    secrets: dict[str, str] = target.get("secret_headers", {})
    if not secrets:
        return target
    hidden: dict[str, str] = {}
    for header in secrets:
        variable = re.sub(r"\W+", "_", f"cron_{name}_{header}".upper(), flags=re.ASCII)
        if variable in converted.variables:
            variable += f"_{line}"
        converted.variables.add(variable)
        hidden[header] = f"${{{variable}}}"
        note = f"the value of {header} is not in the file: set {variable} for cadenza apply"
        converted.note(line, note)
    return {**target, "secret_headers": hidden}

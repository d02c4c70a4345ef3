"""One command for one attempt: no shell reads it, and nothing that it started outlives it."""

import json
import os
import shutil
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

from cadenza.adapters.shell.process import GroupProcess, start
from cadenza.application.ports.tracing import present_traceparent
from cadenza.domain.errors import InstallationError
from cadenza.domain.instants import humanize, iso
from cadenza.domain.run import Body, Claim, Outcome, RunStatus
from cadenza.domain.target import ShellTarget

OURS = "CADENZA_"
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
MAX_OUTPUT = 64 * 1024
MAX_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class ShellRules:
    folders: tuple[Path, ...] = ()  # where commands may work; the first is where they do
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    path: str = DEFAULT_PATH
    max_output: int = MAX_OUTPUT  # bytes, of stdout and of stderr
    patience: timedelta = timedelta(seconds=1)  # between asking a command to end and killing it


class _Unfit(Exception):
    """The command cannot be started: how the run ends."""

    def __init__(self, kind: str, message: str) -> None:
        self.outcome = Outcome(RunStatus.FAILURE, kind, message[:MAX_MESSAGE])
        super().__init__(message)


class ShellDispatcher:
    def __init__(self, rules: ShellRules) -> None:
        self._rules = rules

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, ShellTarget)
        try:
            process = self._start(claim, target)
        except _Unfit as unfit:
            return unfit.outcome
        try:
            await process.wait(target.timeout)
            timed_out = not process.exited and not process.flooded
            if not process.exited:
                await process.ask_to_end(self._rules.patience)
        finally:
            code = await process.end()
        if timed_out or code is None:
            message = f"not done within {humanize(target.timeout)}; it was ended"
            body, message = _body(process.stdout.data), _with_stderr(message, process)
            return Outcome(RunStatus.TIMEOUT, "timeout", message, body=body)
        if process.flooded:
            message = f"more than {self._rules.max_output} bytes of output; the command was ended"
            body = _text(process.stdout.data) or None
            return Outcome(RunStatus.FAILURE, "output", message, body=body)
        return _outcome(process, code)

    def _start(self, claim: Claim, target: ShellTarget) -> GroupProcess:
        name = target.command[0] if target.command else ""
        try:
            folder = self._folder(target.folder)
            command = [self._program(name, folder), *target.command[1:]]
            return start(command, str(folder), self._environment(claim), self._rules.max_output)
        except (OSError, ValueError) as error:  # ValueError: NUL, or text that no system takes
            why = error.strerror if isinstance(error, OSError) else error
            script = "; if it is a script, the program in its first line may be missing"
            hint = script if isinstance(error, FileNotFoundError) else ""
            raise _Unfit("not_started", f"{name[:200]!r} cannot be started: {why}{hint}") from error

    def _environment(self, claim: Claim) -> dict[str, str]:
        traceparent = present_traceparent.get()
        return {
            "PATH": self._rules.path,
            **({} if traceparent is None else {"TRACEPARENT": traceparent}),
            **self._rules.environment,
            "CADENZA_IDEMPOTENCY_KEY": claim.idempotency_key,
            "CADENZA_ATTEMPT": str(claim.attempt),
            "CADENZA_SLOT": iso(claim.slot_at),
        }

    def _folder(self, wanted: str | None) -> Path:
        """Inside an allowed one, after every link in it has been followed."""
        roots = self._rules.folders
        if not roots:
            if wanted is None:
                return Path("/")
            raise _Unfit(
                "not_allowed", "the installation's admin allows commands no working folder"
            )
        name = str(wanted or roots[0])[:200]
        try:
            folder = Path(roots[0], wanted or "").resolve(strict=True)
            allowed = any(folder.is_relative_to(root.resolve()) for root in roots)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
            why = error.strerror if isinstance(error, OSError) else error
            raise _Unfit("not_started", f"the folder {name!r} cannot be used: {why}") from error
        if not allowed:
            raise _Unfit("not_allowed", f"the folder {name!r} is not one that commands may use")
        if not folder.is_dir():
            raise _Unfit("not_started", f"{name!r} is not a folder")
        return folder

    def _program(self, name: str, folder: Path) -> str:
        if not name:
            raise _Unfit("not_started", "the command is empty")
        if "/" not in name:
            path = shutil.which(name, path=self._rules.path)
            if path is None:
                where = f"{name[:200]!r} in {self._rules.path}"
                raise _Unfit("not_started", f"there is no program {where}")
            return path
        program = folder / name
        if not program.is_file():
            raise _Unfit("not_started", f"there is no program {name[:200]!r}")
        if not os.access(program, os.X_OK):
            raise _Unfit("not_started", f"{name[:200]!r} is not executable: chmod +x")
        return str(program)


def allowed_environment(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the names that are set, never Cadenza's own settings, which hold its secrets."""
    wanted = [name.strip() for name in names if name.strip()]
    refused = [name for name in wanted if name.startswith(OURS) or "=" in name or "\0" in name]
    if refused:
        raise InstallationError(
            f"Commands cannot be given {', '.join(refused)}: a name in the list of allowed "
            f"variables has no = in it, and settings of Cadenza (those with {OURS}) stay with it."
        )
    return {name: environment[name] for name in wanted if name in environment}


def _outcome(process: GroupProcess, code: int) -> Outcome:
    body = _body(process.stdout.data)
    if code == 0:
        return Outcome(RunStatus.SUCCESS, status_code=0, body=body)
    how = f"exit code {code}" if code > 0 else f"ended by {_signal_name(-code)}"
    status = code if code > 0 else 128 - code  # as shells count signals
    return Outcome(RunStatus.FAILURE, "exit", _with_stderr(how, process), status, body)


def _with_stderr(message: str, process: GroupProcess) -> str:
    stderr = _text(process.stderr.data).strip()
    # Its end: that is where a program says why it gives up.
    return f"{message}: {stderr[-MAX_MESSAGE:]}" if stderr else message


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _body(raw: bytes) -> Body:
    """JSON where it is JSON, text where it is not."""
    if not raw:
        return None
    text = _text(raw)
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

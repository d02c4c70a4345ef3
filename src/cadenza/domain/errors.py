"""Every error that Cadenza raises on purpose.

CadenzaError
├── InvalidInput        a value that cannot be accepted: names the field, the value and the fix
│   ├── InvalidCron     a cron expression or zone that can never be scheduled
│   ├── AlreadyThere    a name that is taken
│   └── NothingThere    an expression asks for a field or element that the values do not have
├── InvalidFields       several values at once, each an InvalidInput
├── Refused             an action that the rules forbid right now, with the reason
│   ├── LeftAlone       somebody of higher authority has set it, and it is in force
│   ├── TooManyChanges  by planners, of one endpoint within an hour
│   ├── AlreadyRunning  a run is in flight or waiting
│   ├── Outdated        somebody else has changed it since it was read
│   ├── NotAllowed      the key may not do this
│   ├── LimitReached    a limit of tokens or money, which it names
│   └── InsufficientCredits  the account that would pay has nothing left
├── NotFound            no such thing, or it belongs to another tenant
├── BrainFailed         an analysis that could not go on, with a reason that holds no secret
│   └── ProviderFailed  the provider is away or refuses: the next sessions would likely fail, too
└── InstallationError     something around us is wrong (database, disk): says what to do
    ├── SecretUnreadable  a sealed value does not open: its key is missing, or it was moved
    └── StoreUnavailable  the database does not answer now; trying again may help
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta

from cadenza.domain.secret import quotable


class CadenzaError(Exception):
    """The root of the tree; its text is meant for a person."""


class InvalidInput(CadenzaError):
    def __init__(self, field: str, value: object, fix: str) -> None:
        self.field = field
        self.value = quotable(field, value)
        self.fix = fix
        super().__init__(f"{field}: {_quoted(self.value)} is not valid: {fix}")


class InvalidCron(InvalidInput): ...


class AlreadyThere(InvalidInput): ...


class NothingThere(InvalidInput): ...


class InvalidFields(CadenzaError):
    def __init__(self, problems: Sequence[InvalidInput]) -> None:
        self.problems = problems
        super().__init__("; ".join(str(problem) for problem in problems[:5]))


class Refused(CadenzaError):
    kind = "refused"  # for whoever counts refusals of the same kind


class LeftAlone(Refused):
    kind = "left-alone"

    def __init__(self, what: str) -> None:
        super().__init__(f"left alone: {what}")


class TooManyChanges(Refused):
    kind = "too-many-changes"


class AlreadyRunning(Refused): ...


class Outdated(Refused): ...


class NotAllowed(Refused): ...


class LimitReached(Refused): ...


class InsufficientCredits(Refused): ...


class NotFound(CadenzaError): ...


class BrainFailed(CadenzaError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class ProviderFailed(BrainFailed):
    def __init__(self, reason: str, retry_after: timedelta | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(reason)


class InstallationError(CadenzaError): ...


class SecretUnreadable(InstallationError):
    def __init__(self, message: str, missing_key_id: str | None = None) -> None:
        self.missing_key_id = missing_key_id
        super().__init__(message)


class StoreUnavailable(InstallationError):
    """The database does not answer now; what was asked of it may or may not have happened."""


def caught(check: Callable[[], object]) -> Iterator[InvalidInput]:
    """What a check raises, to be told with what others raise."""
    try:
        check()
    except InvalidInput as error:
        yield error


def refuse(errors: Iterable[InvalidInput]) -> None:
    """Raise what is wrong, all of it; nothing where nothing is."""
    problems = list(errors)
    if len(problems) > 1:
        raise InvalidFields(problems)
    for problem in problems:
        raise problem


def _quoted(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits
        text = "(a huge number)"
    return text if len(text) <= 80 else f"{text[:77]}…"

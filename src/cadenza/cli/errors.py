"""How a command ends, as a number and as an error that a person can do something with."""

from enum import IntEnum

from cadenza.domain.errors import CadenzaError


class ExitCode(IntEnum):
    OK = 0
    REFUSED = 1  # the server, or a file, says no: invalid, refused, exists already
    USAGE = 2  # the command was not written as it should be
    NOT_FOUND = 3
    NOT_ALLOWED = 4  # no key, one that opens nothing, or one that may not do this
    UNREACHABLE = 5  # no server, or none that can answer now


class CommandError(CadenzaError):
    """Why a command did not do what it was asked, with the fix."""

    def __init__(self, message: str, code: ExitCode = ExitCode.REFUSED) -> None:
        self.exit_code = code
        super().__init__(message)


def usage(message: str) -> CommandError:
    return CommandError(message, ExitCode.USAGE)

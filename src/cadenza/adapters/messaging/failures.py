"""What went wrong with a broker, in sentences of ours: a library's own hold addresses."""

from os import strerror
from ssl import SSLCertVerificationError, SSLError

from cadenza.application.ports.addresses import AddressRefused, NameUnknown
from cadenza.application.ports.messages import BrokerFailure
from cadenza.domain.errors import CadenzaError
from cadenza.domain.run import Outcome, RunStatus

MAX_REASON = 200


def failure(error: Exception) -> Outcome:
    kind, message = _kind_and_message(error)
    return Outcome(RunStatus.FAILURE, kind, message)


def _kind_and_message(error: Exception) -> tuple[str, str]:
    match error:
        case BrokerFailure():
            return error.kind, str(error)
        case AddressRefused():
            return "blocked_address", "the broker's address is not one that may be called"
        case NameUnknown():
            return "dns", f"the name of the broker does not resolve: {short(str(error))}"
        case CadenzaError():
            return "signature", f"the message could not be signed: {error}"
        case _:
            return "internal", f"the dispatcher broke: {type(error).__name__}"


def not_connected(error: BaseException) -> BrokerFailure:
    """Of whatever a library raised while it connected, and what lies behind it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SSLCertVerificationError):
            why = f"the certificate is not valid: {short(cause.verify_message)}"
            return BrokerFailure("tls", why)
        if isinstance(cause, SSLError):
            why = short((cause.reason or "the handshake failed").lower().replace("_", " "))
            return BrokerFailure("tls", f"no secure connection: {why}")
        if isinstance(cause, OSError) and cause.errno:
            return BrokerFailure("connect", f"no connection: {strerror(cause.errno).lower()}")
        cause = cause.__cause__ or cause.__context__
    return BrokerFailure("connect", "no connection: the broker does not answer as one of its kind")


def short(text: str) -> str:
    """The first line, without anything that is not plain text."""
    first = text.strip().partition("\n")[0].strip(" :")
    return "".join(char if " " <= char <= "~" else "?" for char in first)[:MAX_REASON]

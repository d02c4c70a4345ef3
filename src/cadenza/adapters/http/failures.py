"""What went wrong, as one of a few kinds and a sentence of ours.

The library's own texts are not passed on: they hold addresses, and what a target sent.
"""

from os import strerror
from ssl import SSLCertVerificationError, SSLError

from aiohttp import (
    ClientConnectionError,
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientOSError,
    ClientPayloadError,
    ClientResponseError,
    ClientSSLError,
    ServerDisconnectedError,
)

from cadenza.adapters.http.answer import UnreadableAnswer
from cadenza.adapters.http.connections import TooMuchReceived
from cadenza.adapters.http.guard import BlockedAddress, UnknownName
from cadenza.adapters.http.request import UnusableRedirect, UnusableUrl
from cadenza.domain.errors import CadenzaError
from cadenza.domain.run import Outcome, RunStatus


def failure(error: Exception, status_code: int | None) -> Outcome:
    kind, message = _kind_and_message(error)
    # Nothing is revealed about a refused address, not even what the host before it answered.
    code = None if kind == "blocked_address" else status_code
    return Outcome(RunStatus.FAILURE, kind, message, code)


def _kind_and_message(error: Exception) -> tuple[str, str]:  # noqa: C901 - one line for each
    match error:
        case BlockedAddress() | ClientConnectorError(os_error=BlockedAddress()):
            return "blocked_address", "the target's address is not one that may be called"
        case UnknownName():
            return "dns", f"the name of the target does not resolve: {_short(str(error))}"
        case UnusableRedirect():
            return "protocol", f"redirected to a URL that cannot be followed: {error}"
        case UnusableUrl():
            return "invalid_target", f"the URL cannot be called: {error}"
        case ClientConnectorCertificateError():
            return "tls", f"the certificate is not valid: {_tls_reason(error.certificate_error)}"
        case ClientSSLError():
            return "tls", f"no secure connection: {_tls_reason(error.os_error)}"
        case ClientConnectorError():
            return "connect", f"no connection: {_reason(error.os_error)}"
        case TooMuchReceived():
            return "protocol", "the target sends without end"
        case ClientResponseError():
            return "protocol", f"the answer is not HTTP: {_short(error.message)}"
        case UnreadableAnswer():
            return "protocol", str(error)
        case ServerDisconnectedError():
            return "connection", "the connection was closed without an answer"
        case ClientPayloadError():
            return "connection", "the answer broke off"
        case ClientOSError():
            return "connection", f"the connection broke: {_reason(error)}"
        case ClientConnectionError():
            return "connection", "the connection broke"
        case CadenzaError():
            return "signature", f"the request could not be signed: {error}"
        case ValueError():
            return "invalid_target", "the request cannot be sent as it is written"
        case _:
            return "internal", f"the dispatcher broke: {type(error).__name__}"


def _reason(error: OSError) -> str:
    """By its number alone: the text of an error may hold the address."""
    return strerror(error.errno).lower() if error.errno else "it broke"


_NO_TLS = "the target does not answer with TLS; is its address one of http?"
_TLS_REASONS = {
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    "PACKET_LENGTH_TOO_LONG": _NO_TLS,
    "UNSUPPORTED_PROTOCOL": "the target has only versions of TLS that are too old",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the target and we have no version of TLS in common",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the target refused the handshake: no cipher in common, or "
    "it wants a certificate of the caller",
    "TLSV1_UNRECOGNIZED_NAME": "the target has no certificate for this host name",
    "UNEXPECTED_EOF_WHILE_READING": "the target closed the connection during the handshake",
}


def _tls_reason(error: Exception) -> str:
    if isinstance(error, SSLCertVerificationError):
        return _short(error.verify_message)
    if isinstance(error, SSLError) and error.reason in _TLS_REASONS:
        return _TLS_REASONS[error.reason]
    if isinstance(error, SSLError):
        return _short((error.reason or "the handshake failed").lower().replace("_", " "))
    return _short(type(error).__name__)


def _short(text: str) -> str:
    """The first line, without anything that is not plain text."""
    first = text.strip().partition("\n")[0].strip(" :")
    return "".join(char if " " <= char <= "~" else "?" for char in first)[:200]

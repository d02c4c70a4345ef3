"""One message, in a process of its own: what hangs or breaks in there can be ended."""

import json
import logging
import resource
import signal
import sys
from io import StringIO
from typing import Any, TextIO
from urllib.parse import unquote_plus

from cadenza.adapters.notify.guarding import Admits, hold_back

LONGEST_LIFE = 60  # seconds, should the parent be gone
LARGEST = 512 * 1024**2  # bytes of address space: what a service answers is read as a whole
# What would act on this machine, or has no address that could be judged.
LOCAL = frozenset(
    (
        *("syslog", "rsyslog", "dbus", "qt", "kde", "glib", "gio", "gnome", "macosx", "windows"),
        *("growl", "blink1", "smpp", "smpps"),
    )
)
# Options of services that name files of this machine.
FILES = frozenset(
    (
        *("keyfile", "subfile", "template", "attach", "image_path"),
        *("pgpkey", "pgppub", "pgpprv"),
    )
)
NOT_INSTALLED = "this installation cannot send: pip install 'cadenza[notify]' where it runs"
_HOST_ONLY = frozenset(("json", "jsons", "xml", "xmls", "form", "forms"))
_TYPES = {"info": "info", "warning": "warning", "error": "failure", "critical": "failure"}


def run_child(admits: Admits, request: dict[str, Any], answer: TextIO) -> None:
    signal.alarm(LONGEST_LIFE)
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would hold the URL
    try:
        import apprise  # noqa: PLC0415 - only here: nothing else needs it
    except ImportError:
        json.dump({"refused": NOT_INSTALLED}, answer)
        return
    refusals = hold_back(admits)
    warnings = StringIO()
    logging.getLogger("apprise").addHandler(_handler(warnings))
    try:
        result = _handle(apprise, request)
    except Exception as error:  # noqa: BLE001 - whatever a service does
        result = {"error": f"{type(error).__name__}: {error}"}
    if "error" in result:
        last = warnings.getvalue().strip().splitlines()[-3:]
        result["error"] = " ".join([result["error"], *dict.fromkeys(refusals), *last])[:1000]
    json.dump(result, answer)
    answer.flush()


def _handler(stream: StringIO) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.WARNING)
    return handler


def _handle(apprise: Any, request: dict[str, Any]) -> dict[str, Any]:
    url = request["url"]
    refusal = refused(url)
    if refusal is not None:
        return {"refused": refusal}
    asset = apprise.AppriseAsset(
        app_id="Cadenza",
        app_desc="Cadenza",
        app_url="",
        async_mode=False,
        storage_mode="memory",
        allow_templates=False,
        secure_logging=True,
    )
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        return {"refused": "no service is known by it, or a part of it is missing"}
    if request["mode"] == "check":
        return {"service": str(service.service_name), "shown": _shown(service, url)}
    sender = apprise.Apprise(asset=asset)
    sender.add(service)
    taken = sender.notify(
        title=request["title"],
        body=request["body"],
        notify_type=_TYPES[request["severity"]],
        body_format="text",
    )
    return {} if taken else {"error": "the service did not take it."}


def refused(url: str) -> str | None:
    """Why this is no channel; None where it may be one."""
    schema, colon, rest = url.partition("://")
    if not colon or not schema.isascii() or not schema.replace("-", "").isalnum():
        return "it is no URL such as slack://… or mailto://…"
    if schema.lower() in LOCAL:
        return f"{schema}:// would act on this machine, not on a service"
    _, _, query = rest.partition("?")
    pairs = query.replace(";", "&").split("&")
    names = {unquote_plus(pair.partition("=")[0]).strip(" +-:").lower() for pair in pairs}
    if forbidden := sorted(names & FILES):
        return f"the option {forbidden[0]} names a file of this machine"
    return None


def _shown(service: Any, url: str) -> str:
    """The library masks what it knows to be secret; paths and options of plain webhooks are not."""
    schema = url.partition("://")[0].lower()
    if schema in _HOST_ONLY:
        port = f":{service.port}" if service.port else ""
        return f"{schema}://{service.host}{port}/…"
    masked = str(service.url(privacy=True)).partition("?")[0]
    return masked if len(masked) <= 200 else f"{masked[:199]}…"


def read_request() -> dict[str, Any]:
    return json.loads(sys.stdin.read())

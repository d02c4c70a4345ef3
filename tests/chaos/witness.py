"""Reading the witnesses: the tables of the database, and the receiver's log."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
from standardwebhooks import Webhook

from cadenza.adapters.postgres.rows import endpoint_of
from cadenza.domain.endpoint import MAX_SPREAD
from cadenza.domain.plan import SOURCES
from cadenza.domain.run import LateResult, LostAttempt, Run, RunStatus
from tests.chaos.clock_steps import time_at
from tests.chaos.history import (
    MACHINE,
    Charge,
    Delivery,
    EndpointVersion,
    Fault,
    GraphStart,
    History,
    OwnedRow,
    RunVersion,
    Stall,
    key_of,
    slot_of,
)

STALLED = 0.5  # seconds
WITNESS = Path(__file__).with_name("witness.sql")
OWNED = ("runs", "run_attempts", "late_results", "events", "analysis_sessions", "failed_runs")
_RUN_FIELDS = tuple(Run.__dataclass_fields__)


async def watch(connection: asyncpg.Connection) -> None:
    await connection.execute(WITNESS.read_text())


async def read_database(connection: asyncpg.Connection, history: History) -> None:
    """Into a history; in one transaction, so that all of it is of one moment."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        history.runs = [_run(row) for row in await connection.fetch("SELECT * FROM runs")]
        attempts = "SELECT run_id, attempt, noted_at FROM run_attempts"
        history.lost_attempts = [LostAttempt(*row) for row in await connection.fetch(attempts)]
        late = "SELECT run_id, endpoint_id, epoch, status, received_at FROM late_results"
        history.late_results = [LateResult(*row) for row in await connection.fetch(late)]
        versions = "SELECT * FROM chaos_endpoints ORDER BY chaos_seq"
        history.endpoint_versions = [_version(row) for row in await connection.fetch(versions)]
        runs = "SELECT * FROM chaos_runs ORDER BY chaos_seq"
        history.run_versions = [_run_version(row) for row in await connection.fetch(runs)]
        charged = """
            SELECT run.endpoint_id, run.slot_at, charge.reference
            FROM charges AS charge JOIN runs AS run ON run.id = charge.run_id
        """
        history.charges = [_charge(*row) for row in await connection.fetch(charged)]
        for table in OWNED:
            owned = f"SELECT DISTINCT tenant_id, endpoint_id FROM {table}"
            history.owned_rows += [
                OwnedRow(table, *row)
                for row in await connection.fetch(owned)
                if row["endpoint_id"] is not None
            ]


def _run(row: asyncpg.Record) -> Run:
    fields = {name: row[name] for name in _RUN_FIELDS}
    fields["status"] = RunStatus(fields["status"])
    fields["source"] = SOURCES[fields["source"]]
    for name in ("body", "plan"):
        if isinstance(fields[name], str):
            fields[name] = json.loads(fields[name])
    return Run(**fields)


def _version(row: asyncpg.Record) -> EndpointVersion:
    return EndpointVersion(row["chaos_at"], endpoint_of(row, MAX_SPREAD), row["lease_epoch"])


def _run_version(row: asyncpg.Record) -> RunVersion:
    run = None if row["chaos_op"] == "DELETE" else _run(row)
    return RunVersion(row["chaos_at"], row["id"], run, row["chaos_moment"].timestamp())


def _charge(endpoint_id: UUID, slot_at: datetime, reference: str) -> Charge:
    """Its reference is run, attempt and unit."""
    return Charge(key_of(endpoint_id, slot_at), reference, reference.rpartition("/")[2])


def read_heartbeat(log: Path, history: History) -> None:
    """When the machine itself stood still; for longer, that is a fault."""
    for text in log.read_text().splitlines():
        stall = Stall(*json.loads(text))
        history.stalls.append(stall)
        if stall.late > STALLED:
            history.faults.append(Fault(MACHINE, stall.began, stall.ended))


def read_receiver(log: Path, history: History, secrets: Mapping[UUID, str]) -> None:
    for text in log.read_text().splitlines():
        line = json.loads(text)
        if "asked" in line:
            slot_at = slot_of(line["asked"])
            assert slot_at is not None, line
            endpoint_id = UUID(line["asked"].partition(":")[0])
            history.model_calls.append(key_of(endpoint_id, slot_at))
        else:
            history.deliveries.append(_delivery(line, history, secrets))


def _delivery(line: dict[str, Any], history: History, secrets: Mapping[UUID, str]) -> Delivery:
    endpoint_id = line["key"].partition(":")[0]
    return Delivery(
        line["number"],
        UUID(endpoint_id),
        line["key"],
        line["attempt"],
        time_at(history.clock_steps, line["began"]),
        line["began"],
        line["ended"],
        _signer(line, secrets),
    )


def _signer(line: dict[str, Any], secrets: Mapping[UUID, str]) -> UUID | None:
    """The tenant whose secret made the signature; nobody's is a tenant that does not exist."""
    if not line["signature"]:
        return None
    at = datetime.fromtimestamp(int(line["signed_at"]), UTC)
    for tenant_id, secret in secrets.items():
        if Webhook(secret).sign(line["key"], at, "") in line["signature"].split(" "):
            return tenant_id
    return UUID(int=0)


def read_marks(marks: Path, history: History) -> None:
    """What graphs wrote when they were started."""
    for key in marks.read_text().splitlines() if marks.exists() else []:
        slot_at = slot_of(key)
        assert slot_at is not None, key
        history.graph_starts.append(GraphStart(key, slot_at))

"""The state of a graph that waits for a person, as bytes.

The library's saver in memory holds its checkpoints serialised already; these are packed as they
are, without pickle. The library itself may still build classes that a checkpoint names, so a state
is only ever read in a child, never in the worker.
"""

import base64
from collections.abc import Mapping
from typing import Any

import ormsgpack
from langgraph.checkpoint.memory import InMemorySaver

from cadenza.adapters.graphs.failure import GraphFailed
from cadenza.domain.graph import ErrorCode

VERSION = 1


def new_saver() -> Any:
    return InMemorySaver()


def serialise(saver: Any, thread: str) -> bytes:
    checkpoints = [
        (ns, checkpoint_id, *stored)
        for ns, by_id in saver.storage[thread].items()
        for checkpoint_id, stored in by_id.items()
    ]
    writes = [
        (*key, *inner, *value)
        for key, values in saver.writes.items()
        for inner, value in values.items()
    ]
    blobs = [(*key, *value) for key, value in saver.blobs.items()]
    return ormsgpack.packb([VERSION, thread, checkpoints, writes, blobs])


def restore(resume: Mapping[str, Any]) -> tuple[Any, str]:
    saver: Any = InMemorySaver()
    try:
        packed: Any = ormsgpack.unpackb(base64.b64decode(resume["state"]))
        version, thread, checkpoints, writes, blobs = packed
        if version != VERSION:
            raise ValueError(f"version {version}")
        for ns, checkpoint_id, checkpoint, metadata, parent in checkpoints:
            stored = (tuple(checkpoint), tuple(metadata), parent)
            saver.storage[thread][ns][checkpoint_id] = stored
        for of_thread, ns, checkpoint_id, task, index, *value in writes:
            task_id, channel, typed, path = value
            saver.writes[of_thread, ns, checkpoint_id][task, index] = (
                task_id,
                channel,
                tuple(typed),
                path,
            )
        for of_thread, ns, channel, at_version, kind, data in blobs:
            saver.blobs[of_thread, ns, channel, at_version] = (kind, data)
    except (ValueError, TypeError) as error:
        what = f"the kept state cannot be read: {error}"
        raise GraphFailed(ErrorCode.INVALID_REQUEST, what) from error
    return saver, thread

"""Between worker and fork server: when either is gone, nothing of a run goes on.

The fork server finds what its runs start, also in sessions of their own; when it is killed itself,
all that becomes the guardian's, which ends it. A guardian that is killed takes its server along.
"""

import os
import signal

from cadenza.adapters.graphs.processes import adopt_orphans, die_with_parent
from cadenza.adapters.graphs.watchdog import end_descendants

_AWAITED = {signal.SIGCHLD, signal.SIGTERM}


def guard(worker: int, control: int) -> int:
    """Returns in a new process, the one that serves, with the guardian's process id. The present
    one stays behind: it has imported no graph, holds no secret, and only waits."""
    die_with_parent(worker, signal.SIGTERM)
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    guardian = os.getpid()
    server = os.fork()
    if server == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        die_with_parent(guardian, signal.SIGTERM)
        adopt_orphans()
        return guardian
    for fd in (0, control):  # the worker sees its end when the server's copies are gone
        os.close(fd)
    while signal.sigwait(_AWAITED) == signal.SIGCHLD:
        # Without reaping it: until then its number is its own.
        if os.waitid(os.P_PID, server, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
    os.kill(server, signal.SIGKILL)
    end_descendants()
    os._exit(0)
